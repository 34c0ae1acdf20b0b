"""The review of one claim: opening it, the moves of each person, refusals that lose nothing, two officers at once."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from core import clock, seal
from core.desk import pii_reveal
from core.services.claims.lists import records
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.settings import settings
from core.states import claims as claim_states
from core.ui.kit import actions, words
from pages.claims import _actions as review_actions
from tests import papers
from tests.every_case import every_case
from tests.services.claim_office import DESK, Office
from tests.ui.conftest import Screen, labels, press, texts

PAGE = "claims/claim.py"
Opens = Callable[..., AppTest]
KNOWN = {"incident_date": "2026-11-10"}
ODD = "The letter is *not* signed"
NO_LETTER = {"employment_termination_letter": None}


@pytest.fixture
def opens(office: Office, screen: Screen) -> Opens:
    """Opens the review of a claim as one of the office's people."""

    def open_(claim_id: Any, by: str = "bola", *, page: str = PAGE, **query: str) -> AppTest:
        return screen(path=page, signed_in=office.people[by], id=str(claim_id), **{"mode": "test", **query})

    return open_


def key(claim_id: UUID, name: str) -> str:
    return f"claim.{claim_id.hex}.{name}"


def choose(at: AppTest, claim_id: UUID, to: str) -> AppTest:
    """Open the form of a move."""
    chosen: AppTest = at.button(key=key(claim_id, f"to {to}")).click().run()
    assert not chosen.exception
    return chosen


def confirm(at: AppTest, claim_id: UUID) -> AppTest:
    done: AppTest = at.button(key=key(claim_id, "confirm")).click().run()
    assert not done.exception
    return done


def moves(at: AppTest, claim_id: UUID) -> dict[str, bool]:
    """The moves on the screen, and whether each can be chosen."""
    start = key(claim_id, "to ")
    buttons = (button for button in at.button if str(button.key).startswith(start))
    return {str(button.key).removeprefix(start): not button.disabled for button in buttons}


@every_case(
    ("id_", "message"),
    [("nonsense", "open it from its list"), ("01900000-0000-7000-8000-0000000000ff", "Claim not found")],
)
def test_an_address_that_names_no_claim_says_so(opens: Opens, id_: str, message: str) -> None:
    assert message in opens(id_).error[0].value


def test_a_claim_of_the_other_mode_is_not_found(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    assert "Claim not found" in opens(claim_id, mode="live").error[0].value
    assert office.claim(claim_id).claim_status == "Pending"


def test_who_works_no_claims_has_no_review(opens: Opens, office: Office) -> None:
    with pytest.raises(ValueError, match="claim"):
        opens(office.lodge(), by="funmi")


def test_opening_a_pending_claim_makes_it_viewed_once(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = opens(claim_id).run()
    assert ":blue-badge[Viewed]" in at.title[0].value
    opens(claim_id, by="sade")
    assert [(event.status, event.staff_id) for event in office.events(claim_id)] == [
        ("Pending", None),
        ("Viewed", office.people["bola"].id),
    ]
    assert [entry.action for entry in office.log(claim_id)] == ["claim lodged", "claim moved"]


def test_what_was_submitted_stands_beside_the_document_and_the_policy_once(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = opens(claim_id)
    assert [tab.label.partition(" (")[0] for tab in at.tabs] == [
        *("Document", "Claimant", "Money", "Talk", "Letters", "History")
    ]
    assert "**The loan**" in [each.value for each in at.markdown]
    assert all("**The loan**" not in [each.value for each in tab.markdown] for tab in at.tabs)
    number = str(office.desk.sale.policy["meta"]["policy_number"])
    links = [link.proto.label for link in at.get("page_link")]
    shown = [*(str(each.value) for each in (*at.caption, *at.text, *at.markdown)), *links]
    assert [text for text in shown if number in text.replace("\\", "")] == [words.plain(number)]


def test_review_shows_checks_documents_and_other_claims(opens: Opens, office: Office) -> None:
    office.lodge(incident_date="2026-11-01")
    claim_id = office.lodge_again(incident_type="Burglary", loan_amount="120000")
    at = opens(claim_id)
    text = texts(at)
    assert "No benefit answers for Burglary" in text
    assert "The loan amount is not the one that was insured" in text
    assert "₦120,000.00, insured ₦100,000.00" in text
    assert "Loan offer letter** · required" in text
    assert "same policy, same customer" in text
    assert any('src = "/files/' in html.proto.body.replace("frame.src", "src") for html in at.get("html"))
    assert ":small[Owed] **₦75,000.00**" in text


def test_a_medical_report_is_opened_for_a_reason_alone(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    letter = meta["loan_offer_letter"]
    office.put(claim_id, credit_life_claim_meta={**meta, "incident_type": "Death", "medical_report": letter})
    at = opens(claim_id)
    at.segmented_control(key=key(claim_id, "document")).set_value("medical_report").run()
    assert not any("/files/" in html.proto.body for html in at.get("html"))
    assert not [link for link in at.get("link_button") if "/files/" in link.proto.url]
    at.button(key=f"reveal.claim.{claim_id}.credit_life_claim_meta.medical_report").click().run()
    at.selectbox(key="reveal.reason").set_value(pii_reveal.REASONS[1])
    at.text_input(key="reveal.details").set_value("is it a disability")
    at.button(key="reveal.confirm").click().run()
    assert [link.proto.url for link in at.get("link_button")] == ["/files/" + letter.rpartition("/")[2]]
    entry = office.log(claim_id)[-1]
    assert (entry.action, (entry.after or {})["field"]) == (
        pii_reveal.REVEALED_ACTION,
        "credit_life_claim_meta.medical_report",
    )


def test_a_medical_report_opens_inside_the_page_after_the_desk_moved(
    opens: Opens, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_id = office.lodge()
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    letter = meta["loan_offer_letter"]
    office.put(claim_id, credit_life_claim_meta={**meta, "incident_type": "Death", "medical_report": letter})
    monkeypatch.setenv("COVERDESK_BASE_URL", "https://desk.elsewhere.example")
    settings.cache_clear()
    at = opens(claim_id)
    at.segmented_control(key=key(claim_id, "document")).set_value("medical_report").run()
    at.button(key=f"reveal.claim.{claim_id}.credit_life_claim_meta.medical_report").click().run()
    at.selectbox(key="reveal.reason").set_value(pii_reveal.REASONS[1])
    at.text_input(key="reveal.details").set_value("is it a disability")
    at.button(key="reveal.confirm").click().run()
    paper = f"/files/{letter.rpartition('/')[2]}"
    assert any(paper in html.proto.body for html in at.get("html"))
    assert not at.get("dialog")
    with clock.freeze(clock.now() + timedelta(minutes=15)):
        assert not any(paper in html.proto.body for html in at.run().get("html"))
    settings.cache_clear()


def test_gadget_claim_shows_its_facts_and_only_the_end_of_the_account(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    device = {"account_number": "0123456789", "bank_name": "Lagoon Bank", "cost_of_repair": "60000.00"}
    kept = {**device, "account_number": seal.mask(device["account_number"])}
    sealed = seal.seal({"gadget_claim_meta.account_number": device["account_number"]})
    office.put(claim_id, claim_type="Gadget", credit_life_claim_meta=None, gadget_claim_meta=kept, sealed=sealed)
    at = opens(claim_id)
    shown = [line.value for line in at.text]
    assert {"******6789", "Lagoon Bank", "₦60,000.00"} <= set(shown)
    assert shown.index("₦60,000.00") < shown.index("Lagoon Bank"), "the account stands below what happened"
    assert "**Account given with the claim**" in texts(at)
    assert "0123456789" not in str(shown) + texts(at)
    assert "Show" in labels(at)


def list_of_a_loan(status: str) -> list[str]:
    """The moves from a status; nobody inspects anything for a loan, or estimates a repair."""
    seen = ("Inspection submitted", "Repair estimate submitted")
    return [move.to for move in claim_states.TRANSITIONS.list_from(status) if move.to not in seen]


PEOPLE = ("ada", "sade", "root")
# What each of an officer with a limit, a supervisor and an administrator may do; "no" is shown and cannot be chosen.
MATRIX: dict[str, dict[str, tuple[str, ...]]] = {
    "Viewed": dict.fromkeys(list_of_a_loan("Viewed"), PEOPLE),
    "Approved": dict.fromkeys(list_of_a_loan("Approved"), PEOPLE),
    # Sade has approved it, and it is above the limit of Ada.
    "Offer accepted": {"Paid": ("root",), "Reviewing": ("sade", "root")},
    "Declined": {"Reviewing": ("sade", "root")},
    "Settled": {"Reviewing": ("sade", "root")},
}


@pytest.mark.parametrize("status", MATRIX)
def test_each_person_may_choose_just_the_moves_that_are_theirs(opens: Opens, office: Office, status: str) -> None:
    claim_id, sade = office.lodge(), office.people["sade"].id
    amounts = {"approved_amount_minor": 7_000_000, "offer_amount_minor": 7_000_000, "approved_by": sade}
    office.put(claim_id, claim_status=status, **amounts)
    office.certify(claim_id)
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=6_000_000)
    for by in PEOPLE:
        at = opens(claim_id, by)
        assert moves(at, claim_id) == {to: by in who for to, who in MATRIX[status].items()}, by
        blocked = [to for to, who in MATRIX[status].items() if by not in who]
        for to in blocked:
            assert f"**{claim_states.TRANSITIONS.find(status, to).label}** needs" in texts(at)


def test_claim_is_approved_with_the_amount_that_the_records_suggest(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = choose(opens(claim_id), claim_id, "Approved")
    assert at.text_input(key=key(claim_id, "amount Approved")).value == "75,000.00"
    at.text_input(key=key(claim_id, "amount Approved")).set_value("₦99,999,999").run()
    assert "The offer would be ₦75,000.00" in texts(at)
    confirm(at, claim_id)
    assert "Must not be above ₦75,000.00, what is still owed" in texts(at)
    assert office.claim(claim_id).claim_status == "Viewed"
    at.text_input(key=key(claim_id, "amount Approved")).set_value("₦70,000").run()
    at.text_area(key=key(claim_id, "note")).set_value("Complete")
    confirm(at, claim_id)
    assert "Status changed to Approved" in texts(at)
    claim = office.claim(claim_id)
    assert (claim.claim_status, claim.approved_amount_minor, claim.version) == ("Approved", 7_000_000, 3)
    assert office.events(claim_id)[-1].note == "Complete"
    assert not [button for button in at.button if button.key == key(claim_id, "confirm")]
    assert at.button(key=key(claim_id, "next")).proto.type == "secondary", "the offer comes before the next claim"
    # The offer is prepared, and nothing is sent before it is confirmed.
    assert at.text_input(key=key(claim_id, "amount Offer sent")).value == "70,000.00"
    # Asking for the form that is open already does not replace the button that a click may be on its way to.
    choose(at, claim_id, "Offer sent")
    at.button(key=key(claim_id, "confirm Offer sent")).click().run()
    assert "Status changed to Offer sent" in texts(at)
    assert not [button for button in at.button if (button.label or "").startswith("Confirm")]


def test_a_supervisor_sees_how_much_of_a_cover_bought_after_the_loss_an_admin_approves(
    opens: Opens, office: Office
) -> None:
    claim_id = office.lodge_on_cover_bought_after()
    at = choose(opens(claim_id, by="sade"), claim_id, "Approved")
    assert "bought after the loss: a supervisor approves up to ₦50,000.00, above it an admin does" in texts(at)


def test_amount_beyond_the_limit_is_refused_beside_it_and_stays(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = choose(opens(claim_id, by="ada"), claim_id, "Approved")
    assert "You may decide up to ₦100,000.00" in texts(at)
    at.text_input(key=key(claim_id, "amount Approved")).set_value("100000.01")
    at.text_area(key=key(claim_id, "note")).set_value(ODD)
    confirm(at, claim_id)
    assert "₦100,000.01 is above the limit of ₦100,000.00" in texts(at)
    assert not at.error
    assert at.text_input(key=key(claim_id, "amount Approved")).value == "100000.01"
    assert at.text_area(key=key(claim_id, "note")).value == ODD
    assert office.claim(claim_id).claim_status == "Viewed"


def test_a_reference_that_paid_another_claim_is_refused_beside_its_field(opens: Opens, office: Office) -> None:
    first, second = office.lodge(), office.lodge()
    office.walk(first, "Approved", "Offer sent", "Offer accepted", "Paid")
    office.walk(second, "Approved", "Offer sent", "Offer accepted")
    assert "The deductions stand with the offer" in texts(opens(second))
    at = confirm(choose(opens(second), second, "Paid"), second)
    assert "Give the payment reference: each payment of the insurer has its own" in texts(at)
    at.text_input(key=key(second, "payment_reference")).set_value("trf-0001")
    confirm(at, second)
    assert "Was used for another payment already" in texts(at)
    assert office.claim(second).claim_status == "Offer accepted"
    at.text_input(key=key(second, "payment_reference")).set_value("TRF-0009")
    confirm(at, second)
    assert "reference TRF-0009" in texts(at)
    assert office.claim(second).claim_status == "Paid"
    paid = words.naira(office.claim(first).offer_amount_minor)
    office.walk(first, "Settled", "Reviewing")
    at = choose(opens(first, "sade"), first, "Approved")
    assert f":small[Paid] **{paid}**" in texts(at), "no offer stands"
    assert f"Of it {paid} was paid before." in texts(at), "what may be approved is the whole"


def test_decline_needs_its_code_and_its_note_and_loses_neither(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = choose(opens(claim_id), claim_id, "Declined")
    at.text_area(key=key(claim_id, "note")).set_value(ODD)
    confirm(at, claim_id)
    assert "Give the reason code: a claim that is declined has one" in texts(at)
    assert at.text_area(key=key(claim_id, "note")).value == ODD
    at.selectbox(key=key(claim_id, "reason")).set_value("documents missing")
    confirm(at, claim_id)
    assert (office.claim(claim_id).claim_status, office.claim(claim_id).decline_reason) == (
        "Declined",
        "documents missing",
    )
    assert office.events(claim_id)[-1].note == ODD
    assert moves(at, claim_id) == {"Reviewing": False}
    assert ":small[Owed] **₦0.00**" in texts(at)
    assert at.button(key=key(claim_id, "next")).proto.type == "primary"
    at.button(key=key(claim_id, "letter decline decided")).click().run()
    assert "The letter is in the file of the claim" in texts(at)
    assert texts(at).count("[Decline](/files/") == 2, "at the decision too"


def test_offer_follows_the_rule_and_shows_its_steps(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Approved", amount="72000")
    at = opens(claim_id)
    at.text_input(key=key(claim_id, "excess")).set_value("5,000")
    press(at, "Save the deductions")
    choose(at, claim_id, "Offer sent")
    assert at.text_input(key=key(claim_id, "amount Offer sent")).value == "67,000.00"
    assert "the lower of ₦72,000.00 and ₦75,000.00" in texts(at)
    assert "₦72,000.00 - ₦5,000.00" in texts(at)
    confirm(at, claim_id)
    claim = office.claim(claim_id)
    assert (claim.claim_status, claim.offer_amount_minor) == ("Offer sent", 6_700_000)
    at.button(key=key(claim_id, "letter offer decided")).click().run()
    assert texts(at).count("[Offer with discharge form](/files/") == 2, "at the decision too"
    assert re.search(r"Paused, \d+ (left|days over)", texts(at)), "the clock waits for the claimant"


def test_steps_of_an_offer_stay_what_they_were_once_it_is_paid(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved")
    office.move(claim_id, "Offer sent")
    office.walk(claim_id, "Offer accepted", "Paid")
    shown = texts(opens(claim_id))
    assert "**:small[what remains]** | **:small[₦75,000.00]**" in shown
    assert "Less what was paid" not in shown


def test_an_offer_below_the_rule_is_a_step_with_its_reason(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved", "Offer sent")
    shown = texts(opens(claim_id))
    assert "| :small[At most] | :small[what remains] | :small[₦75,000.00] |" in shown
    assert "| **:small[Offer]** | **:small[As agreed by phone]** | **:small[₦70,000.00]** |" in shown
    office.walk(claim_id, "Offer rejected", "Reviewing", "Approved")
    assert "As agreed by phone]**" not in texts(opens(claim_id)), "what is offered next follows the rule"


def test_offer_beside_the_rule_is_refused_beside_its_field(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Approved", amount="75000")
    at = choose(opens(claim_id), claim_id, "Offer sent")
    assert "The offer is at most ₦75,000.00" in texts(at)
    for typed, refusal in (
        ("75,000.01", "above the approved amount, ₦75,000.00"),
        ("74,000", "an offer below ₦75,000.00"),
    ):
        at.text_input(key=key(claim_id, "amount Offer sent")).set_value(typed)
        confirm(at, claim_id)
        assert refusal in texts(at).replace("\\", "")
    at.text_area(key=key(claim_id, "note")).set_value(ODD)
    confirm(at, claim_id)
    assert (office.claim(claim_id).offer_amount_minor, office.events(claim_id)[-1].note) == (7_400_000, ODD)


def test_somebody_elses_change_is_told_with_its_author_and_nothing_typed_is_lost(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = choose(opens(claim_id), claim_id, "Declined")
    at.text_area(key=key(claim_id, "note")).set_value(ODD)
    at.selectbox(key=key(claim_id, "reason")).set_value("exclusion")
    office.move(claim_id, "Reviewing", by="sade", note="I take it")
    confirm(at, claim_id)
    assert office.claim(claim_id).claim_status == "Reviewing"
    assert "was changed while you had it open" in at.warning[0].value
    assert "sade" in at.warning[0].value
    assert "confirm again if it holds" in at.warning[0].value
    assert at.text_area(key=key(claim_id, "note")).value == ODD
    assert at.selectbox(key=key(claim_id, "reason")).value == "exclusion"
    confirm(at, claim_id)
    assert (office.claim(claim_id).claim_status, office.events(claim_id)[-1].note) == ("Declined", ODD)
    assert not at.warning


def test_move_that_somebody_else_has_ruled_out_is_not_made_and_can_still_be_copied(
    opens: Opens, office: Office
) -> None:
    claim_id = office.lodge()
    at = choose(opens(claim_id), claim_id, "Approved")
    at.text_area(key=key(claim_id, "note")).set_value(ODD)
    office.move(claim_id, "Declined", by="sade", reason="other", note="Withdrawn")
    at.run()
    assert "cannot become Approved now" in texts(at)
    assert "It rules out what you were about to do" in at.warning[0].value
    assert "confirm again" not in texts(at), "there is nothing to confirm"
    assert ODD in [area.value for area in at.text_area]
    at.button(key=key(claim_id, "put away")).click().run()
    assert office.claim(claim_id).claim_status == "Declined"


def test_a_second_click_moves_once_and_blames_nobody(opens: Opens, office: Office) -> None:
    """The run of the first click may be stopped after the commit: the next one must find its answer."""
    claim_id = office.lodge()
    at = opens(claim_id)
    bola = office.people["bola"]
    seen = review_actions.open_review(claim_id, person=bola, is_live=False)
    _, first = actions.perform(review_actions.moving(seen, "Reviewing"), {}, bola)
    choose(at, claim_id, "Reviewing")
    assert first in texts(at)
    assert not at.warning
    assert [event.status for event in office.events(claim_id)] == ["Pending", "Viewed", "Reviewing"]


def test_claim_is_taken_given_away_and_put_back(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = press(opens(claim_id), "Assign to me")
    assert office.claim(claim_id).assigned_to == office.people["bola"].id
    assert "Assigned to bola" in texts(at)
    for to in (office.people["ada"].id, "Nobody"):
        at.selectbox(key=key(claim_id, "assignee")).set_value(to).run()
        assert not at.exception
        assert office.claim(claim_id).assigned_to == (None if to == "Nobody" else to)


def test_the_head_names_whose_claim_it_is_its_days_and_the_workload_of_each_colleague(
    opens: Opens, office: Office
) -> None:
    claim_id = office.lodge()
    lodged = office.claim(claim_id).created_at
    with clock.freeze(lodged + timedelta(days=98, hours=1)):
        at = press(opens(claim_id), "Assign to me")
    assert at.title[0].value.startswith("Ngozi Okafor · Credit life claim")
    assert ":red[:material/warning: **38 days over**]" in texts(at)
    assert {"ada (0 open)", "bola (1 open)", "Nobody"} <= set(at.selectbox(key=key(claim_id, "assignee")).options)
    # The next claim can be gone to before this one is decided.
    assert "Next claim" in labels(at)


def test_the_claimant_leads_to_the_customer(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    [tab] = [tab for tab in opens(claim_id).tabs if tab.label == "Claimant"]
    [link] = tab.get("page_link")
    assert (link.proto.label, link.proto.page) == ("Open the customer", "customer")
    assert link.proto.query_string == f"id={office.claim(claim_id).customer_id}&mode=test"


def test_what_is_met_is_folded_below_what_is_not(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = opens(claim_id)
    met = next(each for each in at.expander if each.label.endswith("checks met"))
    folded = [line.value for line in met.markdown]
    assert met.label == f"{len(folded)} checks met"
    assert all(line.startswith(":green[") for line in folded)
    against = [
        line.value
        for line in at.markdown
        if line.value.startswith((":red[:material/cancel:] ", ":orange[:material/help:]"))
    ]
    assert against
    assert not set(against) & set(folded)


def test_question_stops_the_clock_and_its_answer_starts_it(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = opens(claim_id)
    at.button_group(key=key(claim_id, "kind")).set_value("Question to the claimant").run()
    at.text_area(key=key(claim_id, "text")).set_value("Please send the original")
    press(at, "Ask")
    assert "Waiting for the claimant" in texts(at)
    assert at.text_area(key=key(claim_id, "text")).value == ""
    press(at, "The answer is in")
    assert "the clock runs again" in texts(at)
    at.text_area(key=key(claim_id, "text")).set_value("For us alone")
    press(at, "Save the note")
    with office.store.reading(DESK) as session:
        (comment,) = records.get_claim(session, claim_id)["comments"]
    assert comment["text"] == "Please send the original"


def test_day_of_the_incident_is_filled_in(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = opens(claim_id)
    assert "is not known yet" in texts(at)
    press(at, "Save the day")
    assert "Fill this in" in texts(at)
    at.date_input(key=key(claim_id, "day incident_date")).set_value(clock.today())
    press(at, "Save the day")
    assert office.claim(claim_id).incident_date == clock.today().isoformat()
    assert "the checks use it" in texts(at)
    at.date_input(key=key(claim_id, "day incident_date")).set_value(clock.add_days(clock.today(), -1))
    press(at, "Save the day")
    assert "Say why: the day is known, and this is another one" in texts(at)
    at.text_input(key=key(claim_id, "day correction_reason")).set_value("The letter says so")
    press(at, "Save the day")
    assert office.claim(claim_id).incident_date == clock.add_days(clock.today(), -1).isoformat()


def test_what_is_typed_on_one_claim_does_not_follow_to_another(opens: Opens, office: Office) -> None:
    first, second = office.lodge(), office.lodge()
    at = choose(opens(first), first, "Declined")
    at.text_area(key=key(first, "note")).set_value(ODD)
    office.do(claim_moves.open_claim, second)
    at.query_params["id"] = str(second)
    at.run()
    assert not [button for button in at.button if str(button.key).endswith("confirm")]
    assert ODD not in [area.value for area in at.text_area]


def test_policy_lists_its_claims_and_only_who_works_them_can_open_one(opens: Opens, office: Office) -> None:
    claim_id, policy_id = office.lodge(), office.desk.sale.policy_id
    for by, linked in (("bola", True), ("funmi", False)):
        at = opens(policy_id, by, page="policies/policy.py")
        table = next(element.value for element in at.markdown if "C\\-" in element.value)
        assert ":orange-badge[Pending]" in table
        assert (f"/claim?id={claim_id}" in table) is linked
        assert bool([link for link in at.get("page_link") if link.proto.label == "Lodge a claim"]) is linked


def test_document_of_another_kind_is_refused_by_the_name_that_the_screen_gives_it(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    at = opens(claim_id)
    at.file_uploader(key=key(claim_id, "upload 2")).upload("letter.pdf", b"no such thing")
    at.selectbox(key=key(claim_id, "place 2")).set_value("loan_offer_letter")
    press(at, "Save the document")
    assert "Loan offer letter must be a JPEG" in texts(at)
    assert "loan_offer_letter" not in texts(at)


def test_missing_document_is_added_and_approval_is_possible_then(opens: Opens, office: Office) -> None:
    claim_id = office.lodge()
    office.put(claim_id, credit_life_claim_meta={**(office.claim(claim_id).credit_life_claim_meta or {}), **NO_LETTER})
    at = press(opens(claim_id), "Save the document")
    assert "choose one first" in texts(at)
    assert moves(at, claim_id)["Approved"] is False
    at.file_uploader(key=key(claim_id, "upload 2")).upload("letter.pdf", papers.pdf())
    press(at, "Save the document")
    assert "The document is saved with the claim" in texts(at)
    assert moves(at, claim_id)["Approved"] is True
    assert "letter.pdf" in texts(at)


def test_a_lapsed_approval_says_why_and_is_given_again_where_the_claim_stands(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    account = {"name": "Musa Bello", "bank_name": "Lagoon Bank", "account_number": "0123456789", "reason": "He moved"}
    office.do(claim_corrections.set_payee, claim_id, by="root", version=office.claim(claim_id).version, **account)
    day = words.day(clock.today())
    at = opens(claim_id)
    assert at.warning[0].value.replace("\\", "") == (
        f"The approval lapsed: the payee and the account were changed by root on {day}. It needs a new approval."
    )
    assert moves(at, claim_id)["Paid"] is False
    at.button(key=key(claim_id, "approve again")).click().run()
    assert not at.exception
    assert office.claim(claim_id).approved_by == office.people["bola"].id
    at = choose(opens(claim_id, "ada"), claim_id, "Paid")
    assert f"Approved by bola, {day}" in texts(at)
    assert f"Payee set by root, {day}" in texts(at)


def test_a_second_submission_is_closed_from_its_review(opens: Opens, office: Office) -> None:
    first, second = office.lodge(**KNOWN), office.lodge_again(**KNOWN)
    at = opens(second)
    at.button(key=key(second, "link second")).click().run()
    assert not at.exception
    assert (office.claim(second).claim_status, office.claim(second).second_of) == ("Declined", first)
