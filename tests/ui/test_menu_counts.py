"""The menu counts new claims, a person's tasks and payments for finance; the tab counts new claims on every page."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import tasks
from core.ui.frame import navigation
from tests.services.claim_office import Office
from tests.ui.conftest import Screen

Opens = Callable[[str], AppTest]


@pytest.fixture
def opens(office: Office, screen: Screen) -> Opens:
    def open_(by: str) -> AppTest:
        return screen(signed_in=office.people[by], mode="test")

    return open_


def test_menu_counts_what_waits_for_each_role(opens: Opens, office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []
    monkeypatch.setattr("core.ui.frame.navigation.st.navigation", _recording(titles))
    claim_id, _ = office.lodge(incident_date="2026-11-10"), office.lodge()
    due_on = clock.add_days(clock.today(), 1)
    to = office.people["bola"].id
    office.do(tasks.add_task, claim_id, text="Call the lender", to=to, due_on=due_on)
    at = opens("bola")
    assert at.session_state["waiting_claims"] == 2
    assert {"Queue (2)", "My tasks (1)"} <= set(titles)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    titles.clear()
    opens("funmi")
    assert "Claims to pay (1)" in titles
    assert not any(title.startswith("Queue (") for title in titles)
    titles.clear()
    opens("ada")
    assert "My tasks" in titles


def _recording(titles: list[str]) -> Callable[..., object]:
    import streamlit

    honest = streamlit.navigation

    def navigation(pages: dict[str, list[streamlit.Page]], **options: object) -> object:
        titles.extend(page.title for section in pages.values() for page in section)
        return honest(pages, **options)

    return navigation


def test_new_claims_are_announced_once_a_page_has_stood_for_a_while(
    opens: Opens, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    toasts: list[str] = []
    monkeypatch.setattr(navigation.st, "toast", lambda text, **_: toasts.append(text))
    monkeypatch.setattr("core.ui.frame.frame.mode", lambda: False)
    bola = office.people["bola"]
    before = navigation.load_counts(bola)
    navigation.announce_new(bola, before)
    assert toasts == []
    office.lodge()
    navigation.announce_new(bola, before)
    assert toasts == ["1 new claim waits in the queue."]
    assert navigation.load_counts(office.people["funmi"]) == {navigation.CLAIM_PAYMENTS: 0}
