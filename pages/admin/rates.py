"""Change of a product's prices, rates and commissions from a given instant: entered, compared, proposed once."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock
from core.covers.tariff import Tariff
from core.covers.tariff_reading import parse_tariff
from core.errors import FieldFault, InvalidInput
from core.services.catalogue import product_detail, rate_changes
from core.services.catalogue.product_detail import ProductDetail, RatesVersion
from core.ui.admin import product_form, product_page, product_preview, product_words
from core.ui.admin.desk import action
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, words

KEY = product_page.FORM


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
        product_form.complain([*error.faults, *kept], changeable.figures, slots)
        return None
    too_much = rate_changes.check_insurer_share(tariff)
    product_form.complain(too_much or kept, changeable.figures, slots)
    return None if too_much else tariff


def signed(product: ProductDetail, start: RatesVersion) -> str:
    return product_form.signature(KEY, product.get_editable_tariff(start).figures, "day", "time")


def propose(product: ProductDetail, start: RatesVersion, typed: Mapping[str, Any], at: datetime, shown: str) -> None:
    """Propose the change, once: a second click finds the form closed. Only figures already compared can be proposed."""
    seen = st.session_state.get(f"{KEY}.seen")
    if seen is None:
        return
    if signed(product, start) != shown:
        actions.refuse(KEY, "You changed a figure as you proposed it: compare once more, and propose.")
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
    st.session_state[product_page.DONE] = product_id


def look_again(product_id: UUID) -> None:
    st.session_state[f"{KEY}.seen"] = product_page.now(product_id).version
    actions.refuse(KEY, f"{product_page.CHANGED}compare it with the rates of now, and propose it again.")


def draw() -> None:
    frame.require("admin")
    product = record_pages.load("product", product_detail.get_product)
    if st.session_state.get(product_page.DONE) == product.id:
        # The browser's Back from the product skips the form, which is finished.
        page_links.go("admin/product.py", replaces=True, id=str(product.id))
    product_page.way_back(product)
    frame.page_header(
        f"Change the rates of {words.plain(product.name)}",
        "Type the new figures, say from when they hold, compare what a sale costs, and propose them to another admin.",
        tab=f"{product.name} · Rates",
    )
    if st.session_state.get(f"{KEY}.of") != product.id:
        product_form.forget(KEY)
        st.session_state[f"{KEY}.of"], st.session_state[f"{KEY}.start"] = product.id, product.latest.id
        st.session_state[f"{KEY}.seen"] = product.version
    start = next(version for version in product.versions if version.id == st.session_state[f"{KEY}.start"])
    product_page.say_start(product, start)
    at = when()
    product_page.say_floor()
    figures = product.get_editable_tariff(start).figures
    typed, slots = product_form.draw_figures(KEY, figures)
    slots["effective_at"] = st.container()
    product_page.say_untouched(product.get_editable_tariff(start).other_meta)
    tariff = judged(product, start, typed, slots)
    before = product.get_rates_at(at)
    if tariff is None:
        st.info("Put right what is marked above to see what a sale would cost.", icon=":material/edit:")
        return
    was, new = product.get_editable_tariff(before), product.get_editable_tariff(before).with_tariff(tariff)
    changes = product_words.differences(was, new)
    product_page.say_changes(changes)
    named = ("Until then", before.tariff), (f"From {product_words.since(at)}", tariff)
    product_preview.draw(f"{KEY}.sale", product.cover, *named)
    if text := actions.get_refusal(KEY).text:
        st.error(words.plain(text), icon=":material/error:")
    st.button(
        f"Propose: {words.plain(product_words.headline(was, new, at))}",
        type="primary",
        key=f"{KEY}.confirm",
        disabled=not changes,
        on_click=propose,
        args=(product, start, typed, at, signed(product, start)),
    )
