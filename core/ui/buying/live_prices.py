"""The live price of a form that is still being filled in, calculated by the function used for sales."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.covers.cover import Cover, Price, Rates
from core.covers.fields import build_example
from core.covers.request import validate
from core.errors import FieldFault, InvalidInput
from core.ui.buying import prices
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.kit import words


@dataclass(frozen=True, kw_only=True, slots=True)
class SoFar:
    """The price as far as known: `reads` are the fields that it depends on, `missing` those not yet filled in."""

    reads: frozenset[str]
    missing: frozenset[str] = frozenset()
    price: Price | None = None
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
    return so_far(cover, {"product_id": product_id}, rates).reads


def so_far(cover: Cover[Any], typed: Mapping[str, Any], rates: Rates) -> SoFar:
    """Return the price of the typed values.

    Missing or invalid fields are filled from the example, so that the others can be priced; a price that depends on one
    of them is left out.
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
        price = cover.premium(watched, rates)
    except InvalidInput as error:
        return SoFar(reads=frozenset(watched.read), missing=wanting & watched.read, faults=error.faults)
    missing = wanting & watched.read
    return SoFar(reads=frozenset(watched.read), missing=missing, price=None if missing else price)


def _wanting(cover: Cover[Any], given: Mapping[str, Any]) -> frozenset[str]:
    try:
        validate(cover.request, dict(given))
    except InvalidInput as error:
        return frozenset(fault.field.partition(".")[0] for fault in error.faults)
    return frozenset()


def show(form: Form, known: SoFar) -> None:
    """Show the price with its steps below the form, and in a bar that stays at the foot of the screen."""
    if known.price is not None and len(known.price.steps) > 1:
        with st.container(border=True):
            prices.show_steps(known.price.steps)
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.metric("Price", words.naira_of(known.price.total if known.price else None), width="content")
        with st.container(gap="xxsmall", width="stretch"):
            _say_what_is_needed(form, known)


def _say_what_is_needed(form: Form, known: SoFar) -> None:
    if known.price is not None:
        st.caption(f"{words.plain(known.price.steps[-1].label)}: {words.plain(known.price.steps[-1].working)}.")
    if known.missing:
        needed = [question.label for question in form.questions if question.name in known.missing]
        st.caption(f"Still needed for the price: {words.plain(', '.join(needed))}.")
    for fault in known.faults if not known.missing else ():
        st.markdown(forms.complaint(f"{words.title(fault.field)} {fault.message}"))
