"""Preview of a sale's price before and after a change of rates, calculated by the function used for sales."""

from datetime import date
from decimal import Decimal
from typing import Any

import streamlit as st

from core import money
from core.covers.cover import Cover, Price
from core.covers.fields import build_example
from core.covers.tariff import Tariff
from core.services.catalogue import product_detail
from core.ui.buying import live_prices, prices
from core.ui.buying.live_prices import SoFar
from core.ui.forms import forms, items
from core.ui.forms.forms import Form
from core.ui.forms.questions import Kind, Question
from core.ui.kit import facts, words

Named = tuple[str, Tariff]


def draw(key: str, cover: Cover[Any] | None, before: Named, after: Named) -> None:
    """Draw both prices of one sale, each with its steps and split; the inputs start with the example's values."""
    st.subheader("What a sale would cost", anchor=False)
    if cover is None:
        st.info("No endpoint sells this product, so there is no sale to price.", icon=":material/block:")
        return
    typed = _typed(key, cover, before[1])
    priced = [(name, tariff, live_prices.price_so_far(cover, typed, tariff.rates)) for name, tariff in (before, after)]
    was = priced[0][2].value
    grid = st.grid(2, min_column_width=330, gap="small")
    for name, tariff, known in priced:
        with grid.container(border=True, height="stretch"):
            _one(name, tariff, known, was)


def _typed(key: str, cover: Cover[Any], tariff: Tariff) -> dict[str, Any]:
    """Return the sale's inputs: those that its price depends on are asked for, the others come from the example."""
    samples = build_example(cover.request)
    reads = live_prices.reads(cover, str(samples.get("product_id", "")), tariff.rates)
    given = {name: value for name, value in samples.items() if name not in reads}
    given |= {name: None for name in cover.request.model_fields if name not in reads and name not in given}
    form = Form(key=key, model=cover.request, given=given)
    if not form.questions:
        return samples
    for question in form.questions:
        _begin(form.key_of(question), question, samples.get(question.name))
    st.caption("Starts as the example of the interface; type other figures to see what they would cost.")
    return forms.draw(form, columns=3, live=reads)


def _begin(key: str, question: Question, sample: Any) -> None:  # noqa: ANN401 of the question's type
    """Prefill a widget with the example's value before it is drawn for the first time."""
    if question.kind is Kind.ITEMS:
        items.begin(key, len(sample))
        for line, row in enumerate(sample):
            for column in question.columns:
                _begin(f"{key}.{line}.{column.name}", column, row.get(column.name))
        return
    if sample is None:
        return
    if question.kind in {Kind.DAY, Kind.BIRTH_DAY}:
        sample = date.fromisoformat(sample)
    if question.kind is Kind.MONEY:
        sample = words.as_typed(str(sample))
    if question.kind is Kind.FLAG:
        sample = "Yes" if sample else "No"
    st.session_state.setdefault(key, sample)


def _one(name: str, tariff: Tariff, known: SoFar[Price], was: Price | None) -> None:
    st.markdown(f"**{name}**")
    price = known.value
    if price is None:
        _say_why(known)
        return
    change = price.total - was.total if was and was is not price else None
    st.metric(
        "Premium",
        words.naira_of(price.total),
        delta=None if change is None else _signed(change),
        delta_color="off",
        delta_arrow="auto" if change else "off",
    )
    prices.show_steps(price.steps)
    split = product_detail.split_price(price, tariff)
    facts.line(f"Platform, {tariff.mca_commission} %", words.naira(split.mca_profit_minor))
    facts.line(f"Distributor, {tariff.distributor_commission} %", words.naira(split.distributor_profit_minor))
    facts.line("Insurer, the rest", words.naira(split.provider_share_minor))


def _signed(change: Decimal) -> str:
    minor = money.to_minor(change)
    return f"{'+' if minor > 0 else ''}{words.naira(minor)}" if minor else "No change"


def _say_why(known: SoFar[Price]) -> None:
    if known.missing:
        missing = ", ".join(sorted(words.title(name).lower() for name in known.missing))
        st.caption(f"Still needed for the price: {words.plain(missing)}.")
    for fault in known.faults if not known.missing else ():
        st.markdown(forms.complaint(f"{words.title(fault.field)} {fault.message}"))
