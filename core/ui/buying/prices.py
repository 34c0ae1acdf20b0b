"""Prices: an amount with its calculation steps; and the live price of a form that is still being filled in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

import streamlit as st

from core import money
from core.covers.cover import Cover, Price, Rates, Step
from core.covers.fields import build_example
from core.covers.request import validate
from core.covers.tariff import Tariff
from core.errors import FieldFault, InvalidInput
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.kit import words


def show(price: Price, *, label: str = "Premium") -> None:
    """Show the premium in large type, above its calculation steps."""
    st.metric(label, words.naira_of(price.total))
    show_steps(price.steps)


def list_amounts(rates: Rates | Tariff) -> list[Decimal]:
    """Return the prices in naira that rates name, one for each plan, category or cell of a table; none of a share."""
    for lists in (rates.meta.get("plan_prices"), rates.meta.get("category_prices")):
        if lists:
            return [Decimal(str(amount)) for amount in lists.values()]
    if "rates" in rates.meta:
        return [Decimal(str(amount)) for row in rates.meta["rates"].values() for amount in row]
    return [] if rates.dynamic else [rates.price]


def from_lowest(amounts: Sequence[Decimal]) -> str:
    """Return the lowest of several prices: "from ₦350.00", or "₦350.00" where all are the same."""
    return ("from " if len(set(amounts)) > 1 else "") + words.naira_of(min(amounts))


def show_steps(steps: Sequence[Step]) -> None:
    """Show calculation steps as a table; the last one is the result."""
    rows = [(step.label, money.sign_amounts(step.working), words.naira_of(step.amount)) for step in steps]
    lines = [[f":small[{words.plain(cell)}]" for cell in row] for row in rows]
    lines[-1] = [f"**{cell}**" for cell in lines[-1]]
    # A Markdown table, because it can align money to the right.
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    st.markdown(f"| :small[Step] | :small[How] | :small[Amount] |\n|:---|:---|---:|\n{table}")


Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True, slots=True)
class SoFar(Generic[Found]):
    """A result as far as it is known: `reads` are the fields that it depends on, `missing` those not yet filled in."""

    reads: frozenset[str]
    missing: frozenset[str] = frozenset()
    value: Found | None = None
    faults: Sequence[FieldFault] = ()


class _Watched:
    """A proxy of a request that records which of its fields are read."""

    def __init__(self, request: object) -> None:
        self._request = request
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 of the request's field
        self.read.add(name)
        return getattr(self._request, name)


def reads(cover: Cover[Any], product_id: str, rates: Rates) -> frozenset[str]:
    """Return the fields that the price of a product depends on, found by pricing its example."""
    return price_so_far(cover, {"product_id": product_id}, rates).reads


def price_so_far(cover: Cover[Any], typed: Mapping[str, Any], rates: Rates) -> SoFar[Price]:
    """Return the price of the typed values."""
    return so_far(cover, typed, lambda request: cover.premium(request, rates))


def so_far(cover: Cover[Any], typed: Mapping[str, Any], work_out: Callable[[Any], Found]) -> SoFar[Found]:
    """Return what a function of a request makes of the typed values.

    Missing or invalid fields are filled from the example, so that the others can be worked with; what depends on one of
    them is left out.
    """
    given = {name: value for name, value in typed.items() if value is not None}
    wanting = _wanting(cover, given)
    filled = {name: value for name, value in given.items() if name not in wanting}
    samples = {name: value for name, value in build_example(cover.request).items() if name in wanting}
    try:
        watched = _Watched(validate(cover.request, {**filled, **samples}))
    except InvalidInput:
        return SoFar(reads=frozenset())
    try:
        found = work_out(watched)
    except InvalidInput as error:
        return SoFar(reads=frozenset(watched.read), missing=wanting & watched.read, faults=error.faults)
    missing = wanting & watched.read
    return SoFar(reads=frozenset(watched.read), missing=missing, value=None if missing else found)


def _wanting(cover: Cover[Any], given: Mapping[str, Any]) -> frozenset[str]:
    try:
        validate(cover.request, dict(given))
    except InvalidInput as error:
        return frozenset(fault.field.partition(".")[0] for fault in error.faults)
    return frozenset()


def show_live(form: Form, known: SoFar[Price] | None, typed: Mapping[str, Any]) -> bool:
    """Show the price with its steps below the form, and a bar that stays at the foot of the screen.

    The bar has the price, what is missing as links to its fields, and the button Review; returns True when that was
    pressed. `known` is None where the page shows the price already.
    """
    if known is not None and known.value is not None and len(known.value.steps) > 1:
        with st.container(border=True):
            show_steps(known.value.steps)
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if known is not None:
            st.metric("Price", words.naira_of(known.value.total if known.value else None), width="content")
        with st.container(gap="xxsmall", width="stretch"):
            if known is not None:
                _show_what_is_needed(form, known)
            forms.link_gaps(form, typed, complete="Everything that is needed is filled in.")
        pressed = _press(form)
        st.button(
            "Review",
            type="primary",
            icon=":material/arrow_forward:",
            icon_position="right",
            on_click=st.session_state.update,
            args=({pressed: True},),
        )
    # Kept until it is taken: the run of a press may be stopped by the one that typing asked for just before.
    return bool(st.session_state.get(pressed, False))


def take_press(form: Form) -> None:
    """Forget a press of Review, once what it asked for is done."""
    st.session_state.pop(_press(form), None)


def _press(form: Form) -> str:
    return f"{form.key} review pressed"


def _show_what_is_needed(form: Form, known: SoFar[Price]) -> None:
    if known.value is not None:
        last = known.value.steps[-1]
        st.caption(f"{words.plain(last.label)}: {words.plain(money.sign_amounts(last.working))}.")
    show_lacking(known, [question.label for question in form.questions if question.name in known.missing])


def show_lacking(known: SoFar[Price], needed: Sequence[str]) -> None:
    """Show why there is no price: what is `needed` for it, by its labels, or else what is wrong."""
    if needed:
        st.caption(f"Still needed for the price: {words.plain(', '.join(needed))}.")
    for fault in known.faults if not known.missing else ():
        st.markdown(forms.complaint(f"{words.title(fault.field)} {fault.message}"))
