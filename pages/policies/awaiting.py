"""Awaiting insurer: policies not yet accepted or answered by insurers, the reasons, and each insurer's health."""

from collections.abc import Mapping
from uuid import UUID

import streamlit as st

from core import clock
from core.services.dimensions import Choices, load_choices
from core.services.insurers import awaiting, owners
from core.services.insurers.awaiting import OpenSubmission
from core.services.insurers.filter import SubmissionFilter
from core.services.paging import Page
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import actions, url_state, words
from core.ui.lists import table_choices, tables
from core.ui.policies import awaiting_view, insurer_health
from pages.policies import _endorsements

TABLE = awaiting_view.WAITING


def found(asked: SubmissionFilter, names: Choices) -> tuple[Page[OpenSubmission], int]:
    """Return the page of policies that wait, and the premium of all of them in kobo."""
    with st.skeleton(height=300), reading(frame.scope()) as session:
        order, paging = TABLE.order_among(awaiting_view.ORDERS), TABLE.paging(url_state.page())
        page = awaiting.list_open(session, names, asked, order=order, paging=paging)
        return page, awaiting.sum_premium(session, asked)


def nothing(asked: SubmissionFilter) -> None:
    if asked != SubmissionFilter():
        st.info("Nothing that waits matches.", icon=":material/search_off:")
        st.button("Show all that waits", type="primary", on_click=url_state.reset)
    else:
        st.info(
            "Nothing waits for an insurer: every policy of this mode is settled with its insurer.",
            icon=":material/task_alt:",
        )


def results(page: Page[OpenSubmission], premium_minor: int, people: Mapping[UUID, str], person: Person) -> None:
    number = tables.page_of(TABLE, page.total_count)
    if number is None:
        return
    premium = words.plain(words.naira(premium_minor))
    table_choices.head(f"{TABLE.count_text(page.total_count)} waiting · {premium} of premium", TABLE)
    above = st.container()
    picked = tables.draw(TABLE, page.items, number=number, total=page.total_count, chosen=())
    with above:
        awaiting_view.bulk(picked, people, person)


def draw() -> None:
    person = frame.require("operations")
    awaiting_view.follow()
    frame.page_header("Awaiting insurer", "Policies that their insurer has not taken or answered yet, and why.")
    actions.run()
    with reading(frame.scope()) as session:
        names, insurers, people = load_choices(session), awaiting.list_health(session), owners.list_candidates(session)
    insurer_health.draw(insurers)
    insurer_health.confirmation()
    _endorsements.draw_untold()
    asked = awaiting_view.read(insurers)
    awaiting_view.filters(asked, insurers, people, person)
    page, premium_minor = found(asked, names)
    if page.total_count:
        results(page, premium_minor, people, person)
    else:
        nothing(asked)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(f"As of {words.moment(clock.now())}", width="content")
        st.button("Refresh", icon=":material/refresh:", type="tertiary")
