"""Products with their rates, status and planned changes; and rates and prices in words, for the other screens too."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock, money
from core.covers.cover import Cover, Price
from core.covers.fields import build_example
from core.covers.tariff import EditableTariff, Figure, Kind, Tariff
from core.services.catalogue import product_list
from core.services.catalogue.product_list import ProductDetail, ProductFilter, ProductRow
from core.services.catalogue.shipped import SHIPPED_AT
from core.services.lists.dimensions import load_choices
from core.store.access import read_in, reading
from core.ui.buying import prices
from core.ui.buying.prices import SoFar
from core.ui.forms import forms, questions, widgets
from core.ui.forms.forms import Form
from core.ui.forms.questions import Question
from core.ui.frame import frame, page_links
from core.ui.kit import facts, url_state, words
from core.ui.lists import columns, filter_bar, saved_views, tables
from core.ui.lists.tables import Table

_COMMISSIONS = "Commissions: "
_IN_A_HEADLINE = 3
_LONGEST_IN_A_HEADLINE = 50
_UNITS = {Kind.NAIRA: " (₦)", Kind.PERCENT: " (%)"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure that differs between two tariffs, with both values formatted."""

    label: str
    before: str
    after: str


def price(tariff: Tariff) -> str:
    """Return the price in short form: "₦15,000.00", "5.00 %", "from ₦350.00", "0.575 % of the loan"."""
    meta = tariff.meta
    if "shares" in meta:
        total = sum((Decimal(str(share)) for share in meta["shares"].values()), Decimal(0))
        return f"{total.normalize():f} % of the loan"
    amounts = prices.list_amounts(tariff)
    return prices.from_lowest(amounts) if amounts else f"{tariff.price:f} %"


def commissions(tariff: Tariff) -> str:
    """Return both commissions: "12.50 % and 5.00 %"."""
    return f"{tariff.mca_commission:f} % and {tariff.distributor_commission:f} %"


def label(figure: Figure) -> str:
    """Return a figure's label with its unit, for a form."""
    return figure.label + _UNITS.get(figure.kind, "") + (" (optional)" if figure.optional else "")


def format_typed(figure: Figure) -> str:
    """Return a number's current value as it would be typed."""
    value = figure.value
    if value is None:
        return ""
    return words.as_typed(str(value)) if figure.kind is Kind.NAIRA else str(value)


def format_figure(figure: Figure) -> str:
    """Return a figure's value, formatted for display."""
    value = figure.value
    if value is None:
        return "–"
    if figure.kind is Kind.TABLE:
        return "; ".join(", ".join(map(str, row.values())) for row in value)
    if figure.kind is Kind.NAIRA:
        return words.naira_of(str(value))
    if figure.kind in {Kind.SEVERAL, Kind.PHRASES}:
        return ", ".join(value) or "none"
    return f"{value} %" if figure.kind is Kind.PERCENT else words.title(str(value))


def differences(before: EditableTariff, after: EditableTariff) -> list[Difference]:
    """Return the differences between two tariffs, in the order of the form."""
    was: dict[str, Figure] = {figure.field: figure for figure in before.figures}
    found: list[Difference] = []
    for figure in after.figures:
        old = was.get(figure.field)
        if figure.kind is Kind.TABLE:
            found.extend(_cells(old, figure))
        elif old is None or old.value != figure.value:
            named = figure.label if figure.group == "Price" else f"{figure.group}: {figure.label}"
            found.append(Difference(named, format_figure(old) if old else "–", format_figure(figure)))
    return found


def headline(before: EditableTariff, after: EditableTariff, at: datetime) -> str:
    """Return a change in one line: "Platform commission 20 % → 25 %, Price ₦15,000.00 → ₦16,000.00 from 1 Dec 2026"."""
    changes = sorted(differences(before, after), key=lambda one: not one.label.startswith(_COMMISSIONS))
    parts = [_in_short(one) for one in changes[:_IN_A_HEADLINE]]
    more = len(changes) - len(parts)
    text = ", ".join(parts) + (f" and {more} more" if more else "")
    return f"{text or 'No change'} from {since(at)}"


def _in_short(change: Difference) -> str:
    """Return a change in one line; of long texts, which the table shows, only that they changed."""
    if len(change.before) + len(change.after) > _LONGEST_IN_A_HEADLINE:
        return f"{change.label.partition(':')[0]} changed"
    return f"{_short(change.label)} {_bare(change.before)} → {_bare(change.after)}"


def since(at: datetime) -> str:
    """Return the instant from which rates apply; or its date if they start with a day, or are the catalogue's."""
    is_day = at in (SHIPPED_AT, clock.lagos_midnight(clock.to_lagos_day(at)))
    return words.day(at).lstrip("0") if is_day else words.moment(at)


def _short(label: str) -> str:
    return f"{label.removeprefix(_COMMISSIONS)} commission" if label.startswith(_COMMISSIONS) else label


def _bare(value: str) -> str:
    return value.replace(".00 %", " %")


def _cells(old: Figure | None, new: Figure) -> Iterator[Difference]:
    """Yield the table cells that differ, named by their band and column."""
    band, *columns = new.columns
    was, now = ({row[band.field]: row for row in (figure.value if figure else ())} for figure in (old, new))
    for key in sorted({*was, *now}):
        for column in columns:
            before, after = (side.get(key, {}).get(column.field) for side in (was, now))
            if before != after:
                cells = (format_figure(replace(column, value=value)) for value in (before, after))
                yield Difference(f"{new.group}: {band.label.lower()} {key}, {column.label}", *cells)


Named = tuple[str, Tariff]


def draw_preview(key: str, cover: Cover[Any] | None, before: Named, after: Named) -> None:
    """Draw both prices of one sale, each with its steps and split; the inputs start with the example's values."""
    st.subheader("What a sale would cost", anchor=False)
    if cover is None:
        st.info("No endpoint sells this product, so there is no sale to price.", icon=":material/block:")
        return
    typed = _typed(key, cover, before[1])
    priced = [(name, tariff, prices.price_so_far(cover, typed, tariff.rates)) for name, tariff in (before, after)]
    was = priced[0][2].value
    grid = st.grid(2, min_column_width=330, gap="small")
    for name, tariff, known in priced:
        with grid.container(border=True, height="stretch"):
            _one(name, tariff, known, was)


def _typed(key: str, cover: Cover[Any], tariff: Tariff) -> dict[str, Any]:
    """Return the sale's inputs: those that its price depends on are asked for, the others come from the example."""
    samples = build_example(cover.request)
    reads = prices.reads(cover, str(samples.get("product_id", "")), tariff.rates)
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
    if question.kind is questions.Kind.ITEMS:
        widgets.begin_items(key, len(sample))
        for line, row in enumerate(sample):
            for column in question.columns:
                _begin(f"{key}.{line}.{column.name}", column, row.get(column.name))
        return
    if sample is None:
        return
    if question.kind in {questions.Kind.DAY, questions.Kind.BIRTH_DAY}:
        sample = date.fromisoformat(sample)
    if question.kind is questions.Kind.MONEY:
        sample = words.as_typed(str(sample))
    if question.kind is questions.Kind.FLAG:
        sample = "Yes" if sample else "No"
    st.session_state.setdefault(key, sample)


def _one(name: str, tariff: Tariff, known: SoFar[Price], was: Price | None) -> None:
    st.markdown(f"**{name}**")
    price = known.value
    if price is None:
        prices.show_lacking(known, sorted(words.title(name).lower() for name in known.missing))
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
    split = product_list.split_price(price, tariff)
    facts.line(f"Platform, {tariff.mca_commission} %", words.naira(split.mca_profit_minor))
    facts.line(f"Distributor, {tariff.distributor_commission} %", words.naira(split.distributor_profit_minor))
    facts.line("Insurer, the rest", words.naira(split.provider_share_minor))


def _signed(change: Decimal) -> str:
    minor = money.to_minor(change)
    return f"{'+' if minor > 0 else ''}{words.naira(minor)}" if minor else "No change"


# The product whose change was confirmed: until the form is opened again, its URL redirects to the product. A second
# click may arrive after the first has closed the form, and must be redirected too.
DONE = "product.done"
FORM = "rates"


def read_now(product_id: UUID) -> ProductDetail:
    """Return the current state of the product."""
    return read_in(frame.scope(), product_list.get_product, product_id)


def show_untouched(meta: Mapping[str, Any]) -> None:
    """Show the product's other parameters, which the form does not change."""
    if meta:
        with st.expander("Kept as it is", icon=":material/lock:"):
            for name, value in meta.items():
                facts.line(words.title(name), value if isinstance(value, str) else ", ".join(map(str, value)))
            st.json(dict(meta), expanded=False)


def draw_changes(changes: Sequence[Difference], before: str, after: str) -> None:
    """Draw a table of the figures that differ."""
    rows = [
        {"Figure": words.plain(one.label), before: words.plain(one.before), after: f"**{words.plain(one.after)}**"}
        for one in changes
    ]
    st.table(rows, border="horizontal", hide_index=True, alt=f"Figures that change: {before}, {after}")


CHANGED = (
    "Somebody else changed this product while you had it open. Nothing of yours was written, and all that you typed is"
    " still here: "
)


def _withheld(row: ProductRow) -> str:
    return "–" if not row.withheld else f"{row.withheld} distributor{'s' if row.withheld > 1 else ''}"


PRODUCTS: Table[ProductRow] = Table(
    name="products",
    noun=("product", "products"),
    opens="admin/product.py",
    orders={
        "name": "Products from A to Z",
        "name-back": "Products from Z to A",
        "insurer": "Insurers from A to Z",
        "insurer-back": "Insurers from Z to A",
        "category": "Categories from A to Z",
        "category-back": "Categories from Z to A",
    },
    narrow=("name", "insurer", "on", "price"),
    columns={
        "name": columns.text("Product", lambda row: row.name, 220, sorts=("name", "name-back")),
        "insurer": columns.text("Insurer", lambda row: row.insurer, 170, sorts=("insurer", "insurer-back")),
        "on": columns.state("Sold", lambda row: "On sale" if row.active else "Off"),
        "price": columns.text("Price or rate", lambda row: price(row.tariff), 130),
        "commissions": columns.text("Commissions", lambda row: commissions(row.tariff), 130),
        "changes": columns.moment("Changes on", lambda row: row.changes_at),
        "withheld": columns.text("Switched off for", _withheld, 110, usual=False),
        "category": columns.text(
            "Category", lambda row: row.category, 160, usual=False, sorts=("category", "category-back")
        ),
        "endpoint": columns.text("Endpoint", lambda row: row.endpoint, 210, usual=False),
    },
)


def draw() -> None:
    person = frame.require("operations")
    is_admin = person.has_role("admin")
    todo = "open one to change it" if is_admin else "an admin changes them"
    frame.page_header("Products", f"What is sold and at which prices, rates and commissions; {todo}.")
    with reading(frame.scope()) as session:
        names = load_choices(session).names
        waiting = product_list.list_proposed(session) if is_admin else []
    for product_id, name in waiting:
        page_links.link_to(
            "admin/product.py",
            f"A change of rates waits for a second admin: {words.plain(name)}",
            "fact_check",
            id=str(product_id),
        )
    wanted = filter_bar.read(ProductFilter)
    filter_bar.draw_chips(wanted, names, beside=lambda: saved_views.draw("admin/products.py", person))
    with st.skeleton(height=300), reading(frame.scope()) as session:
        page = product_list.list_products(
            session, wanted, PRODUCTS.paging(url_state.page()), order=PRODUCTS.order_among(product_list.ORDERS)
        )
    if not page.total_count:
        tables.show_no_match(PRODUCTS)
        return
    if tables.draw_page(PRODUCTS, page):
        st.caption(
            "Commissions are the platform's and the distributor's part of the premium; the rest is the insurer's."
        )
