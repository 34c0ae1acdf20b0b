"""Controls on money in the review of a claim: reasons, duplicates in red, reserve, referral, payee and returns."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core.services.claims.review import review as claim_review
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import tasks as claim_tasks
from core.states.claims import ClaimStatus
from core.store.schema.tables import ClaimOverride, ClaimReserve
from tests.services.claim_office import DESK, Office
from tests.ui.conftest import Screen, confirm, lists, texts

Opens = Callable[..., AppTest]
KNOWN = {"incident_date": "2026-11-10"}


@pytest.fixture
def opens(office: Office, screen: Screen) -> Opens:
    def open_(claim_id: UUID, by: str = "bola", page: str = "claims/claim.py") -> AppTest:
        return screen(path=page, signed_in=office.people[by], id=str(claim_id), mode="test")

    return open_


def key(claim_id: UUID, name: str) -> str:
    return f"claim.{claim_id.hex}.{name}"


def click(at: AppTest, claim_id: UUID, name: str) -> AppTest:
    done: AppTest = at.button(key=key(claim_id, name)).click().run()
    assert not done.exception
    return done


def test_an_approval_against_a_check_asks_for_its_reason_and_keeps_it(opens: Opens, office: Office) -> None:
    office.lodge(**KNOWN)
    claim_id = office.lodge_again(**KNOWN)
    at = opens(claim_id)
    assert "has the same kind of incident on this policy" in texts(at)
    assert at.button(key=key(claim_id, "to Approved")).disabled
    at = click(opens(claim_id, "sade"), claim_id, "to Approved")
    at = click(at, claim_id, "confirm")
    assert "Give the reason, as “No other claim for this loss” is not met" in texts(at)
    at.text_input(key=key(claim_id, "reasons duplicate")).set_value("Two jobs, two losses")
    at = click(at, claim_id, "confirm")
    assert office.claim(claim_id).claim_status == "Approved"
    assert "Two jobs, two losses" in texts(at)
    with office.store.reading(DESK) as session:
        assert session.execute(sa.select(ClaimOverride.check_key)).scalars().all() == ["duplicate"]


def test_the_reserve_is_changed_from_the_amounts(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    assert "Exposure: what is still owed" in texts(opens(claim_id))
    office.move(claim_id, "Reviewing")
    at = opens(claim_id)
    shown = [str(getattr(node, "value", "")) for node in at.main]
    assert shown[shown.index("Offer") + 1] == "–", "no offer was made, and none is of nothing"
    at.text_input(key=key(claim_id, "reserve")).set_value("₦200,000")
    at.text_input(key=key(claim_id, "reserve_reason")).set_value("More is owed")
    at = click(at, claim_id, "keep reserve")
    assert "Must not be above ₦100,000.00, what is insured" in texts(at)
    at.text_input(key=key(claim_id, "reserve")).set_value("₦60,000")
    at.text_input(key=key(claim_id, "reserve_reason")).set_value("Part was repaid")
    at = click(at, claim_id, "keep reserve")
    assert "The reserve is changed." in texts(at)
    assert "Part was repaid" in texts(at)
    with office.store.reading(DESK) as session:
        assert session.execute(sa.select(ClaimReserve.change_minor)).scalars().all() == [7_500_000, -1_500_000]


def test_an_officer_refers_and_a_supervisor_opens_what_was_prepared(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = opens(claim_id, "ada")
    at.selectbox(key=key(claim_id, "referred_to")).set_value("Approved")
    at.text_input(key=key(claim_id, "referral_amount")).set_value("₦70,000")
    at = click(at, claim_id, "refer")
    assert office.log(claim_id)[-1].action != "claim referred"
    at.text_area(key=key(claim_id, "referral_note")).set_value("The letter looks *odd*")
    at = click(at, claim_id, "refer")
    assert "The claim is referred" in texts(at)
    # What is referred is not referred again, before it is decided or given back.
    assert all(button.key != key(claim_id, "refer") for button in at.button)
    at = opens(claim_id, "sade")
    assert "Referred by ada" in texts(at)
    without = office.lodge(**KNOWN)
    meta = office.claim(without).credit_life_claim_meta or {}
    office.put(without, credit_life_claim_meta={**meta, "employment_termination_letter": None})
    opens(without, "ada")
    with office.store.writing(DESK) as session:
        given = {"to": "Approved", "note": "Its letter is owed", "person": office.people["ada"]}
        given["version"] = office.claim(without).version
        claim_tasks.refer_claim(session, without, amount="1", **given)
    buttons = {button.key for button in opens(without, "sade").button}
    assert key(without, "give back") in buttons
    assert key(without, "prepared") not in buttons, "what is refused anyway is not offered"
    at = click(at, claim_id, "prepared")
    assert at.text_input(key=key(claim_id, "amount Approved")).value == "70,000.00"
    at = click(at, claim_id, "confirm")
    assert office.claim(claim_id).approved_amount_minor == 7_000_000
    assert "Referred by" not in texts(at)


def test_a_supervisor_gives_a_referral_back_with_a_question(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    at = opens(claim_id, "ada")
    at.text_area(key=key(claim_id, "referral_note")).set_value("The letter looks odd")
    at = click(at, claim_id, "refer")
    assert "Fill this in" in texts(at), "no decision is chosen for the officer"
    assert office.log(claim_id)[-1].action != "claim referred"
    at.selectbox(key=key(claim_id, "referred_to")).set_value("Approved")
    at = click(at, claim_id, "refer")
    at = click(opens(claim_id, "sade"), claim_id, "give back")
    assert "Fill this in" in texts(at)
    at.text_area(key=key(claim_id, "back task")).set_value("Has the employer confirmed it?")
    at = click(at, claim_id, "give back")
    assert "The referral is back with ada, who has your question as a task." in texts(at)
    assert "Referred by ada" not in texts(at)
    at = opens(claim_id, "ada")
    assert "Has the employer confirmed it?" in texts(at)
    assert any(button.key == key(claim_id, "refer") for button in at.button)
    assert "1** task, 0 overdue" in texts(opens(claim_id, "ada", "claims/tasks.py"))


def test_an_amount_above_the_limit_offers_to_refer_it_as_it_is_typed(opens: Opens, office: Office) -> None:
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=5_000_000)
    claim_id = office.lodge(**KNOWN)
    at = click(opens(claim_id, "ada"), claim_id, "to Approved")
    at.text_input(key=key(claim_id, "amount Approved")).set_value("₦75,000.01").run()
    assert at.button(key=key(claim_id, "confirm")).label == "Confirm: approve", "no supervisor approves that either"
    assert ":red[:material/error: At most ₦75,000.00, what is still owed" in texts(at)
    at.text_input(key=key(claim_id, "amount Approved")).set_value("a lot").run()
    at = click(at, claim_id, "confirm")
    assert "Must be a number" in texts(at)
    at.text_input(key=key(claim_id, "amount Approved")).set_value("₦50,000").run()
    assert "Must be a number" not in texts(at), "it is another amount by now"
    assert at.button(key=key(claim_id, "confirm")).label == "Confirm: approve"
    at.text_input(key=key(claim_id, "amount Approved")).set_value("₦60,000").run()
    assert at.button(key=key(claim_id, "confirm")).label == "Refer to a supervisor"
    assert "₦60,000.00 is above the limit of ₦50,000.00" in texts(at)
    assert at.text_area(key=key(claim_id, "note")).label == "Note"
    at = click(at, claim_id, "confirm")
    assert office.claim(claim_id).version == 1 + (office.claim(claim_id).claim_status == "Viewed")
    at.text_area(key=key(claim_id, "note")).set_value("Above what I may decide")
    at = click(at, claim_id, "confirm")
    assert "The claim is referred" in texts(at)
    assert office.log(claim_id)[-1].after["referred_amount"] == "60000.00"
    assert office.claim(claim_id).claim_status == "Viewed"


def test_the_reason_against_a_check_goes_along_with_what_is_referred(opens: Opens, office: Office) -> None:
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=5_000_000)
    undated = office.lodge()
    at = click(opens(undated, "ada"), undated, "to Approved")
    at.text_input(key=key(undated, "amount Approved")).set_value("₦60,000").run()
    reasons = [each for each in at.text_input if (each.key or "").startswith(key(undated, "reasons "))]
    for each in reasons:
        each.set_value(f"The employer's letter: {each.key.rpartition(' ')[2]}")
    at.text_area(key=key(undated, "note")).set_value("Above what I may decide")
    at = click(at, undated, "confirm")
    note = office.log(undated)[-1].after["note"]
    assert reasons
    assert all(each.value in note for each in reasons)


def test_a_payment_is_handed_to_finance_and_paid_there(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    assert all(button.key != key(claim_id, "hand over") for button in opens(claim_id, "bola").button)
    at = opens(claim_id, "sade")
    at.text_area(key=key(claim_id, "hand_over_note")).set_value("By noon, please")
    at = click(at, claim_id, "hand over")
    assert "With finance: ₦70,000.00" in texts(at).replace("*", "")
    # What is with finance is not referred: the officer is not asked to.
    assert all(button.key != key(claim_id, "refer") for button in opens(claim_id, "ada").button)
    at = opens(claim_id, "funmi", page="finance/claim_payments.py")
    assert "1 payment · ₦70,000.00" in texts(at).replace("*", "")
    (row,) = lists(at)[0].to_dict("records")
    assert (row["Amount"], row["Account"], row["Waits"], row["Note"]) == (
        "₦70,000.00",
        "Not named: a supervisor sets it",
        "0 days",
        "By noon, please",
    )
    at.session_state["claims_to_pay_act"] = claim_id, "Cheque or credit"
    at.run()
    assert "No account is named, so nothing can be transferred" in texts(at)
    method = at.selectbox(key="decision.field.method")
    assert (method.value, method.options) == (None, ["Cheque", "Credit to the loan"])
    method.select("Credit to the loan")
    at.button(key="decision.confirm").click().run()
    assert office.claim(claim_id).claim_status == "Offer accepted"
    at.text_input(key="decision.field.payment_reference").set_value("FIN-1")
    at.button(key="decision.confirm").click().run()
    assert not at.exception
    assert office.claim(claim_id).payment_reference == "FIN-1"
    assert "No payment of a claim waits for finance." in texts(at)


def test_who_is_paid_is_shown_before_paying_and_a_return_can_be_noted(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    at = click(opens(claim_id), claim_id, "to Paid")
    with office.store.reading(DESK) as session:
        lender = claim_review.get_review(session, claim_id, person=office.people["bola"]).distributor
    assert f"To {lender}, account not named." in texts(at)
    at.text_input(key=key(claim_id, f"amount {ClaimStatus.PAID}")).set_value("30,000")
    at.text_input(key=key(claim_id, "payment_reference")).set_value("PART-1")
    at = click(at, claim_id, "confirm")
    assert "A part is paid" in texts(at)
    assert office.claim(claim_id).claim_status == "Offer accepted"
    office.walk(claim_id, "Paid")
    at = click(opens(claim_id, "root"), claim_id, "to Offer accepted")
    at.text_input(key=key(claim_id, "payment_reference")).set_value("RET-1")
    at.text_area(key=key(claim_id, "note")).set_value("The account was closed")
    at = click(at, claim_id, "confirm")
    assert "Came back: " in texts(at)
    assert office.claim(claim_id).claim_status == "Offer accepted"


def test_claims_are_paid_from_a_file_that_is_shown_row_by_row_before(opens: Opens, office: Office) -> None:
    claims = [office.lodge(**KNOWN), office.lodge(**KNOWN)]
    for claim_id in claims:
        office.name_account(claim_id)
        office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
        version = office.claim(claim_id).version
        office.do(claim_paying.hand_over, claim_id, by="sade", version=version)
    first, second = (f"C-{claim_id.hex[-8:].upper()}" for claim_id in claims)
    at = opens(claims[0], "funmi", page="finance/claim_payments.py")
    place = at.file_uploader(key="payment file.file")
    place.upload("pay.csv", b"Claim,Amount\nC-1,1").run()
    assert "Payment reference must be mapped to a column" in texts(at)
    wrong = f"Claim,Amount,Payment reference\n{first},70000,FIN-1\n{second},70001,FIN-2"
    at.file_uploader(key="payment file.file").upload("pay.csv", wrong.encode()).run()
    assert not at.exception
    assert "1 of 2 rows cannot be paid" in texts(at)
    assert at.button(key="payment file.pay").disabled
    at.file_uploader(key="payment file.file").upload("pay.csv", wrong.replace("70001", "70000").encode()).run()
    button = at.button(key="payment file.pay")
    assert button.label == "Pay 2 claims, ₦140,000.00"
    button.click().run()
    assert not at.exception
    assert "2 paid, ₦140,000.00." in texts(at)
    assert "This very file was paid already" in texts(at)
    assert at.table[-1].value["SHA-256"].str.endswith("…").all(), "a part of it is not taken for the whole"
    assert [office.claim(claim_id).payment_reference for claim_id in claims] == ["FIN-1", "FIN-2"]


def test_several_claims_are_paid_by_one_transfer(opens: Opens, office: Office) -> None:
    claims = [office.lodge(**KNOWN), office.lodge(**KNOWN)]
    for claim_id in claims:
        office.name_account(claim_id)
        office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
        office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    at = opens(claims[0], "funmi", page="finance/claim_payments.py")
    at.session_state["claims_to_pay_act"] = claims[0], "Account"
    at.run()
    at.selectbox(key="reveal.reason").set_value("Paying or giving back")
    at.text_input(key="reveal.details").set_value("the bank asks for it")
    at.button(key="reveal.confirm").click().run()
    assert [code.value for code in at.code] == ["0123456789"]
    assert office.log(claims[0])[-1].after["field"] == "payee.account_number"
    at.button(key="reveal.close").click().run()
    at = next(button for button in at.button if button.label.startswith("One transfer for 2 claims")).click().run()
    assert "2 chosen, ₦140,000.00" in texts(at)
    at = confirm(at, payment_reference="BULK-1", total="139,999")
    assert "Must be what the 2 claims come to, ₦140,000.00" in texts(at)
    at = confirm(at, total="₦140,000.00")
    assert "2 claims are Paid by one transfer." in texts(at)
    assert [office.claim(claim_id).payment_reference for claim_id in claims] == ["BULK-1"] * 2


def test_one_transfer_is_offered_of_claims_with_an_account_alone(opens: Opens, office: Office) -> None:
    claims = [office.lodge(**KNOWN) for _ in range(5)]
    for place, claim_id in enumerate(claims):
        if place < 3:
            office.name_account(claim_id)
        office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
        office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    at = opens(claims[0], "funmi", page="finance/claim_payments.py")
    labels = [button.label for button in at.button if "claims of" in button.label]
    assert [label.partition(" of ")[0] for label in labels] == [
        "One transfer for 3 claims",
        "One cheque or credit for 2 claims",
    ]
    at = next(button for button in at.button if button.label == labels[1]).click().run()
    method = at.selectbox(key="decision.field.method")
    assert (method.value, method.options) == (None, ["Cheque", "Credit to the loan"])
    assert len(at.multiselect(key="decision.field.claims").options) == 2


def test_claims_to_pay_are_no_screen_of_who_works_claims(opens: Opens, office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    for by in ("ada", "bola", "sade"):
        with pytest.raises(ValueError, match="claim_payments"):
            opens(claim_id, by, page="finance/claim_payments.py")
