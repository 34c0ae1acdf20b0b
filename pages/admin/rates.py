"""Change of a product's prices, rates and commissions from a given instant: entered, compared, proposed once."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn

from core import clock
from core.covers.tariff import Figure, Kind, Tariff, parse_tariff
from core.errors import FieldFault, InvalidInput
from core.services.catalogue import product_list, rate_changes
from core.services.catalogue.product_list import ProductDetail, RatesVersion
from core.ui.forms import forms
from core.ui.frame import frame, page_links
from core.ui.kit import actions, words
from pages.admin import products
from pages.admin._shared import action
from pages.admin.products import Difference

KEY = products.FORM
Slots = dict[str, Any]


def draw_figures(key: str, figures: Sequence[Figure]) -> tuple[dict[str, Any], Slots]:
    """Draw every figure, by group; return the typed values, and the placeholder for the error below each."""
    typed: dict[str, Any] = {}
    slots: Slots = {}
    tables = [figure for figure in figures if figure.kind is Kind.TABLE]
    grid = st.grid(3, min_column_width=225, gap="small")
    for group, members in groupby((f for f in figures if f.kind is not Kind.TABLE), key=lambda f: f.group):
        with grid.container(border=True, height="stretch"):
            st.markdown(f"**{group}**")
            for figure in members:
                _ask(key, figure, typed, slots)
    for figure in tables:
        with st.container(border=True):
            _ask(key, figure, typed, slots)
    return typed, slots


def complain_of_figures(faults: Sequence[FieldFault], figures: Sequence[Figure], slots: Mapping[str, Any]) -> None:
    """Show errors below their figures; errors without a figure appear above the end of the form."""
    by_field = {figure.field: figure for figure in figures}
    for fault in faults:
        field = next((name for name in slots if fault.field == name or fault.field.startswith(f"{name}.")), None)
        if field is None:
            st.error(f"{words.title(fault.field)} {words.plain(fault.message)}", icon=":material/error:")
        else:
            inside = fault.field[len(field) + 1 :] if by_field.get(field) else ""
            where = _place(by_field[field], inside) if inside else ""
            slots[field].markdown(forms.complaint(where + fault.message))


def signature(key: str, figures: Sequence[Figure], *others: str) -> str:
    """Return a fingerprint of the values of the form and of these other widgets; it changes with any of them."""
    return repr([st.session_state.get(f"{key}.{name}") for name in (*(figure.field for figure in figures), *others)])


def forget(key: str) -> None:
    """Clear the form."""
    for name in [name for name in st.session_state if str(name).startswith(f"{key}.")]:
        del st.session_state[name]


def _ask(key: str, figure: Figure, typed: dict[str, Any], slots: Slots) -> None:
    with st.container(gap="xxsmall"):
        typed[figure.field] = _WIDGETS.get(figure.kind, _number)(f"{key}.{figure.field}", figure)
        slots[figure.field] = st.container(gap=None)


def _number(key: str, figure: Figure) -> str:
    st.session_state.setdefault(key, products.format_typed(figure))
    given = st.text_input(products.label(figure), key=key, autocomplete="off", persist_state="page")
    return words.read_naira(given)


def _one(key: str, figure: Figure) -> Any:  # noqa: ANN401 of the figure's type
    st.session_state.setdefault(key, figure.value)
    return st.selectbox(
        figure.label, figure.options, key=key, format_func=words.title, persist_state="page", required=True
    )


def _several(key: str, figure: Figure) -> Any:  # noqa: ANN401 of the figure's type
    st.session_state.setdefault(key, list(figure.value))
    return st.pills(
        figure.label, figure.options, key=key, selection_mode="multi", format_func=words.title, persist_state="page"
    )


def _phrases(key: str, figure: Figure) -> list[str]:
    st.session_state.setdefault(key, list(figure.value))
    return st.multiselect(
        figure.label,
        figure.value,
        key=key,
        accept_new_options=True,
        placeholder="Type a word and press Enter",
        persist_state="page",
    )


def _table(key: str, figure: Figure) -> list[dict[str, Any]]:
    st.markdown(f"**{figure.label}**")
    names = [column.field for column in figure.columns]
    start = pd.DataFrame([{name: float(row[name]) for name in names} for row in figure.value])
    table = st.data_editor(
        start,
        key=key,
        num_rows="dynamic",
        hide_index=True,
        column_config={column.field: _column(column) for column in figure.columns},
        alt=f"{figure.label}: {', '.join(column.label for column in figure.columns)}",
    )
    return [{name: _cell(row[name]) for name in names} for row in table.to_dict("records")]


def _column(figure: Figure) -> Any:  # noqa: ANN401 a column of Streamlit's
    formats = {Kind.NAIRA: "%,.2f", Kind.COUNT: "%d"}
    return NumberColumn(products.label(figure), format=formats.get(figure.kind, "%.4g"), required=True)


def _cell(value: object) -> str:
    """Format a cell as it would be typed; the table holds floats, of which ten decimals restore the typed number."""
    if value is None or pd.isna(value):
        return ""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def _place(figure: Figure, inside: str) -> str:
    row, _, name = inside.partition(".")
    column = next((column.label for column in figure.columns if column.field == name), name)
    return f"Row {int(row) + 1}, {column.lower()}: "


_WIDGETS = {Kind.ONE: _one, Kind.SEVERAL: _several, Kind.TABLE: _table, Kind.PHRASES: _phrases}


def show_floor() -> None:
    """Show the minimum share that commissions must leave to the insurer, and who decides on changes."""
    st.caption(
        f"Other rates hold from tomorrow at the earliest, once another admin has confirmed them. Commissions together"
        f" must leave the insurer at least {rate_changes.floor().normalize():f} % of the premium."
    )


def show_start(product: ProductDetail, start: RatesVersion) -> None:
    """Show the rates that the form starts from, and any planned change."""
    for version in product.planned_changes:
        st.warning(
            f"A change is planned from {products.since(version.effective_at)} on. It takes the place of yours then,"
            " unless it is withdrawn or yours begins later.",
            icon=":material/event_upcoming:",
        )
    if start.state == "Planned":
        st.caption(f"The form starts with the rates that are planned from {products.since(start.effective_at)} on.")


def show_changes(changes: Sequence[Difference]) -> None:
    """Show the changes, figure by figure."""
    st.subheader("What changes", anchor=False)
    if not changes:
        st.caption("Nothing yet: these are the rates that hold at that time.")
        return
    products.draw_changes(changes, "Until then", "From then on")


def when() -> datetime:
    """Return the instant from which the new figures apply."""
    tomorrow = clock.add_days(clock.today(), 1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        day = st.date_input(
            "The new figures hold from",
            tomorrow,
            min_value=tomorrow,
            max_value=clock.add_months(clock.today(), 59),
            format="DD/MM/YYYY",
            key=f"{KEY}.day",
            required=True,
            width=220,
        )
        hour = st.time_input("Time in Lagos", time(), key=f"{KEY}.time", required=True, width=140)
    return clock.lagos_midnight(day) + timedelta(hours=hour.hour, minutes=hour.minute)


def judged(
    product: ProductDetail, start: RatesVersion, typed: Mapping[str, Any], slots: Mapping[str, Any]
) -> Tariff | None:
    """Return the entered tariff; show errors beside their figures, including those of the last refused attempt.

    Commissions that leave the insurer too little are reported here at once; the service refuses them in any case.
    """
    kept = [FieldFault(*fault) for fault in actions.get_refusal(KEY).faults.items()]
    changeable = product.get_editable_tariff(start)
    try:
        tariff = parse_tariff(changeable, typed)
    except InvalidInput as error:
        complain_of_figures([*error.faults, *kept], changeable.figures, slots)
        return None
    too_much = rate_changes.check_insurer_share(tariff)
    complain_of_figures(too_much or kept, changeable.figures, slots)
    return None if too_much else tariff


def signed(product: ProductDetail, start: RatesVersion) -> str:
    return signature(KEY, product.get_editable_tariff(start).figures, "day", "time")


def propose(product: ProductDetail, start: RatesVersion, typed: Mapping[str, Any], at: datetime, shown: str) -> None:
    """Propose the change, once: a second click finds the form closed. Only figures already compared can be proposed."""
    seen = st.session_state.get(f"{KEY}.seen")
    if seen is None:
        return
    if signed(product, start) != shown:
        actions.refuse(KEY, "A figure changed while you proposed it: compare once more, then propose.")
        return
    proposing = action(
        title="Propose",
        work=lambda session, _, by: rate_changes.propose(
            session, product.id, typed, start=start.id, effective_at=at, seen=seen, by=by
        ),
        done=f"The new rates of {product.name} are proposed: another admin confirms them.",
        then=lambda _: close(product.id),
        on_stale=lambda: look_again(product.id),
    )
    proposing.do(KEY)


def close(product_id: UUID) -> None:
    del st.session_state[f"{KEY}.seen"]
    st.session_state[products.DONE] = product_id


def look_again(product_id: UUID) -> None:
    st.session_state[f"{KEY}.seen"] = products.read_now(product_id).version
    actions.refuse(KEY, f"{products.CHANGED}compare it with the rates of now, and propose it again.")


def draw() -> None:
    frame.require("admin")
    product = page_links.load_record("product", product_list.get_product)
    if st.session_state.get(products.DONE) == product.id:
        # The browser's Back from the product skips the form, which is finished.
        page_links.go("admin/product.py", replaces=True, id=str(product.id))
    page_links.link_to("admin/product.py", "Back without a change", "arrow_back", id=str(product.id))
    frame.page_header(
        f"Change the rates of {words.plain(product.name)}",
        "Type the new figures, say from when they hold, compare what a sale costs, and propose them to another admin.",
        tab=f"{product.name} · Rates",
    )
    if st.session_state.get(f"{KEY}.of") != product.id:
        forget(KEY)
        st.session_state[f"{KEY}.of"], st.session_state[f"{KEY}.start"] = product.id, product.latest.id
        st.session_state[f"{KEY}.seen"] = product.version
    start = next(version for version in product.versions if version.id == st.session_state[f"{KEY}.start"])
    show_start(product, start)
    at = when()
    show_floor()
    figures = product.get_editable_tariff(start).figures
    typed, slots = draw_figures(KEY, figures)
    slots["effective_at"] = st.container()
    products.show_untouched(product.get_editable_tariff(start).other_meta)
    tariff = judged(product, start, typed, slots)
    before = product.get_rates_at(at)
    if tariff is None:
        st.info("Correct what is marked above to see what a sale would cost.", icon=":material/edit:")
        return
    was, new = product.get_editable_tariff(before), product.get_editable_tariff(before).with_tariff(tariff)
    changes = products.differences(was, new)
    show_changes(changes)
    named = ("Until then", before.tariff), (f"From {products.since(at)}", tariff)
    products.draw_preview(f"{KEY}.sale", product.cover, *named)
    if text := actions.get_refusal(KEY).text:
        st.error(words.plain(text), icon=":material/error:")
    st.button(
        f"Propose: {words.plain(products.headline(was, new, at))}",
        type="primary",
        key=f"{KEY}.confirm",
        disabled=not changes,
        on_click=propose,
        args=(product, start, typed, at, signed(product, start)),
    )
