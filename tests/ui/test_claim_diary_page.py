"""Tasks, letters, payees and corrections on the review of a claim, and the tasks of a person (contract C10 to C18)."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import ids
from core.services.claims.workflow import letters
from core.services.mail import mail
from core.store.access import Scope
from core.store.schema.tables import ClaimTask, PaymentPayee
from core.ui.lists import tables
from tests.pages import turn_to
from tests.services.claim_desk import Desk
from tests.services.claim_office import DESK, Office
from tests.ui.conftest import Screen, lists, press, texts

Opens = Callable[..., AppTest]
KNOWN = {"incident_date": "2026-11-10"}


@pytest.fixture
def opens(office: Office, screen: Screen) -> Opens:
    def open_(page: str, by: str = "bola", **address: str) -> AppTest:
        return screen(path=f"claims/{page}.py", signed_in=office.people[by], **{"mode": "test", **address})

    return open_


def key(claim_id: UUID, name: str) -> str:
    return f"claim.{claim_id.hex}.{name}"


def click(at: AppTest, claim_id: UUID, name: str) -> AppTest:
    done: AppTest = at.button(key=key(claim_id, name)).click().run()
    assert not done.exception
    return done


def click_done(*, key: str, data: dict[str, Any], on_acted_change: Callable[[], None], **_: object) -> None:
    """Click the button of the first row, as the browser tells it."""
    st.session_state[key] = {"acted": {"key": data["rows"][0]["key"], "act": "Done"}}
    on_acted_change()


def test_a_task_is_made_on_the_claim_and_done_on_the_page_of_its_person(
    opens: Opens, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_id = office.lodge(**KNOWN)
    assert "Nothing is due" in texts(opens("tasks", "ada"))
    at = opens("claim", id=str(claim_id))
    assert "New task" in [node.proto.popover.label for node in at.main if getattr(node, "type", "") == "popover"]
    at = click(at, claim_id, "keep task")
    assert "Fill this in" in texts(at)
    at.text_input(key=key(claim_id, "task")).set_value("Call the lender")
    at.selectbox(key=key(claim_id, "task_for")).set_value(str(office.people["ada"].id))
    at = click(at, claim_id, "keep task")
    assert "The task is saved." in texts(at)
    assert "Call the lender" in texts(at)
    at = opens("tasks", "ada")
    assert "1** task, 0 overdue" in texts(at)
    [rows] = lists(at)
    assert list(rows.columns) == ["Task", "Claimant", "Cover", "Amount", "Due", "Claim", "Act"]
    assert rows["Task"][0] == "Call the lender"
    turn_to(at, "claims/claim.py")
    at.query_params["id"] = str(claim_id)
    assert "Back to my tasks" in [link.proto.label for link in at.run().get("page_link")]
    at = opens("tasks", "ada")
    with monkeypatch.context() as patched:
        patched.setattr(tables, "draw_component", click_done)
        at.run()
    at.run()
    assert not at.exception
    assert "The task is done." in texts(at)
    assert "Nothing is due" in texts(at)
    with office.store.reading(DESK) as session:
        assert session.execute(sa.select(ClaimTask.done_by)).scalars().all() == [office.people["ada"].id]


def test_a_letter_is_written_from_the_diary_where_the_claim_stands_so(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = opens("claim", id=str(claim_id))
    assert at.button(key=key(claim_id, "letter decline")).disabled
    assert not [each for each in at.button if each.key == key(claim_id, "letter decline decided")]
    [letters_tab] = [tab for tab in at.tabs if tab.label.startswith("Letters")]
    reasons = [each.value for each in letters_tab.caption if "needs" in each.value]
    assert [line for line in reasons if "Decline needs a claim that is declined" in line], "not below the pointer alone"
    at = click(at, claim_id, "letter acknowledgement")
    assert "The letter is in the file of the claim" in texts(at)
    assert "[Acknowledgement](/files/" in texts(at)


def test_a_paper_that_is_missing_is_asked_for_where_it_is_missed(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    office.put(claim_id, credit_life_claim_meta={**meta, "employment_termination_letter": None})
    at = opens("claim", id=str(claim_id))
    assert texts(at).count("Missing: ") == 1, "where it is missed"
    assert "the required documents: " not in texts(at), "named once"
    at = click(at, claim_id, "letter documents missing")
    assert texts(at).count("[Request for documents](/files/") == 2
    shown = [tab.label for tab in at.tabs if any("[Request for documents]" in each.value for each in tab.markdown)]
    assert shown == ["Letters (1)"], "the other one stands at the decision"
    complete = office.lodge(**KNOWN)
    names = {str(button.key) for button in opens("claim", id=str(complete)).button}
    assert key(complete, "letter documents") in names
    assert key(complete, "letter documents missing") not in names


def test_the_payee_and_the_amounts_are_changed_with_a_reason(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = opens("claim", id=str(claim_id))
    at = click(at, claim_id, "keep payee")
    assert "Fill this in" in texts(at)
    typed = {"payee": "Musa Bello", "payee_bank": "Lagoon Bank", "payee_account": "0123456789"}
    for name, value in {**typed, "payee_reason": "New account"}.items():
        at.text_input(key=key(claim_id, name)).set_value(value)
    at = click(at, claim_id, "keep payee")
    assert "somebody else makes the payment" in texts(at)
    assert any("account ending in 6789" in each.value for each in at.text)
    assert not any("0123456789" in each.value for each in at.text)
    at.text_input(key=key(claim_id, "right pending_repayment_amount")).set_value("80,000")
    at.text_input(key=key(claim_id, "right correction_reason")).set_value("The lender wrote again")
    at = click(at, claim_id, "keep amounts")
    assert "Raising what is owed needs a supervisor" in texts(at)
    at.text_input(key=key(claim_id, "right pending_repayment_amount")).set_value("60,000")
    at = click(at, claim_id, "keep amounts")
    assert "The amounts are corrected" in texts(at)
    assert (office.claim(claim_id).credit_life_claim_meta or {})["pending_repayment_amount"] == "60000.00"
    with office.store.reading(DESK) as session:
        assert session.execute(sa.select(PaymentPayee.hint)).scalars().all() == ["6789"]


def test_a_letter_is_marked_as_sent_once_by_a_button(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = click(opens("claim", id=str(claim_id)), claim_id, "letter acknowledgement")
    assert "[To be sent]" in texts(at)
    labels = {button.label for button in at.button}
    assert {"E-mail", "Post", "By hand", "Message"} <= labels
    assert "Send by e-mail" not in labels, "nothing of test mode goes to anybody"
    with office.store.reading(DESK) as session:
        (letter,) = letters.list_letters(session, claim_id)
    at = click(at, claim_id, f"sent {letter.code} Post")
    assert "The letter is marked as sent." in texts(at)
    assert "[Post, " in texts(at)
    assert "by bola]" in texts(at)
    assert "Post" not in {button.label for button in at.button}
    assert office.log(claim_id)[-1].after == {"letter": "Acknowledgement", "way": "Post"}


def test_a_letter_goes_to_the_claimant_by_a_button_where_e_mail_is_set(
    opens: Opens, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(office.store, office.partner, is_live=True)
    claim_id = ids.parse(desk.lodge(incident_type="Loss of job")[0]["id"])
    at = click(opens("claim", id=str(claim_id), mode="live"), claim_id, "letter acknowledgement")
    assert "Send by e-mail" not in {button.label for button in at.button}
    monkeypatch.setattr("core.outbound.mail.can_send", lambda: True)
    at = press(opens("claim", id=str(claim_id), mode="live"), "Send by e-mail")
    assert "The text of the letter goes to the claimant by e-mail." in texts(at)
    assert "[E-mail, " in texts(at)
    with office.store.reading(Scope.system()) as session:
        (line,) = mail.list_about(session, f"claim:{claim_id}")
    assert (line.recipient, line.sent_by) == ("ngozi.okafor@example.com", "staff bola@x.example")


def test_a_comment_leaves_the_tab_open_in_which_it_was_written(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = opens("claim", id=str(claim_id), tab="talk")
    at.text_area(key=key(claim_id, "text")).set_value("The lender was called")
    at = click(at, claim_id, "say")
    assert "The lender was called" in [each.value for each in at.text]
    assert at.query_params["tab"] in ("talk", ["talk"])
    assert str(at.session_state["record_tabs"]).startswith("Talk (1)")
