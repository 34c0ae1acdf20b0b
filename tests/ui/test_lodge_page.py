"""Lodging a claim for a caller: the rules of the API on a form, faults beside the fields, one claim for one form."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.claims.lines import get_line_of
from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers.insurer_a import THIRD_PARTY
from core.covers.insurers.insurer_b import HOME
from core.covers.insurers.insurer_c import TRAVEL
from core.covers.insurers.insurer_e import MARINE_IMPORT
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.services.claims.intake import submitted
from core.services.claims.review import fraud_flags
from core.services.people import staff
from core.services.people.staff import Person
from core.services.selling.buying import Sale
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import Claim, Policy, SaleDraft, Staff, UploadedFile
from core.ui.buying import sale_drafts
from core.ui.kit import words
from tests import papers
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell
from tests.ui.conftest import Screen, press, sent, texts

PAGE = "claims/lodge.py"
DOCUMENTS = ("loan_offer_letter", "police_report", "medical_report", "employment_termination_letter")


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, CREDIT_LIFE, is_live=True, loan_amount="100000")


@pytest.fixture
def page(screen: Screen, sale: Sale) -> AppTest:
    """The form of a claim on that policy."""
    at = screen("claims", path=PAGE)
    at.text_input(key="policy").set_value(sale.policy["meta"]["policy_number"]).run()
    assert not at.exception
    return at


def field(sale: Sale, name: str) -> str:
    return f"lodge {sale.policy_id.hex}.{name}"


def fill(at: AppTest, sale: Sale, *, accidental: str = "No") -> AppTest:
    at.selectbox(key=field(sale, "incident_type")).set_value("Loss of job").run()
    at.button_group(key=field(sale, "accidental")).set_value(accidental).run()
    at.text_input(key=field(sale, "pending_repayment_amount")).set_value("75,000")
    return at


def attach(at: AppTest, sale: Sale, *names: str) -> None:
    for name in names:
        at.file_uploader(key=field(sale, f"{name}.chosen")).upload(f"{name}.pdf", papers.pdf(text=name))


def count(store: Store, table: Any) -> int:
    with store.reading(Scope.system()) as session:
        return int(session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def test_who_works_no_claims_cannot_lodge(screen: Screen) -> None:
    with pytest.raises(ValueError, match="lodge"):
        screen("operations", path=PAGE)


def test_unknown_number_says_where_to_look(screen: Screen) -> None:
    at = screen("supervisor", path=PAGE)
    assert "Find the caller's policy" in texts(at)
    assert "Ask the caller for the policy number or the plate" in texts(at)
    assert "Search all policies by insurer, product or day" in [link.proto.label for link in at.get("page_link")]
    at.text_input(key="policy").set_value("NO/SUCH/1").run()
    assert "no policy “NO/SUCH/1” in this mode" in texts(at)


def test_of_several_policies_none_is_chosen_beforehand(
    screen: Screen, sale: Sale, store: Store, partner: Partner
) -> None:
    other = sell(store, partner, CREDIT_LIFE, is_live=True, loan_amount="200000", first_name="Ngozi")
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Policy).where(col(Policy.id) == other.policy_id).values(cancelled_at=clock.now()))
    at = screen("claims", path=PAGE)
    at.text_input(key="policy").set_value(sale.policy["meta"]["policy_number"][:4]).run()
    assert at.radio[0].value is None
    marked = [label.endswith("-badge[Cancelled]") for label in at.radio[0].options]
    assert sorted(marked) == [False, True], "what is not in force is marked before it is chosen"
    assert all("Ngozi Okafor, 0803 123 4567" in label for label in at.radio[0].options), "who calls is told by phone"
    assert not at.selectbox
    at.radio[0].set_value(other.policy_id).run()
    assert not at.radio, "the others leave the form their room"
    assert at.text_input(key="policy 1").value == other.policy["meta"]["policy_number"]
    assert field(other, "incident_type") in {each.key for each in at.selectbox}


def test_incident_decides_which_documents_are_called_for(page: AppTest, sale: Sale) -> None:
    assert "Choose the incident to see what it calls for" in texts(page)
    fill(page, sale, accidental="Yes")
    assert "calls for: loan offer letter, police report, employment termination letter" in texts(page)
    shown = [text.value for text in page.text]
    assert shown[shown.index("12 months") + 1] == words.day(clock.today()), "when the loan starts, not as on paper"
    assert page.text_input(key=field(sale, "loan_amount")).value == "100,000.00"


def test_faults_stand_beside_the_fields_and_nothing_typed_is_lost(page: AppTest, sale: Sale, store: Store) -> None:
    fill(page, sale)
    attach(page, sale, "loan_offer_letter")
    page.text_input(key=field(sale, "pending_repayment_amount")).set_value("200000")
    press(page, "Lodge the claim")
    assert "Must not be more than “Loan amount”" in texts(page)
    assert "Nothing is lodged yet." in texts(page)
    labels_of = {
        payload["says"]: [each["label"] for each in payload["fields"]]
        for payload in sent(page)
        if payload.get("fields")
    }
    assert labels_of["To correct (1):"] == ["Pending repayment amount (₦)"], "what is filled in wrongly is not missing"
    assert not [
        says for says, labels in labels_of.items() if "Still to fill in" in says and "Pending" in " ".join(labels)
    ]
    assert "loan_amount" not in texts(page)
    assert page.text_input(key=field(sale, "pending_repayment_amount")).value == "200000"
    assert page.selectbox(key=field(sale, "incident_type")).value == "Loss of job"
    assert (count(store, Claim), count(store, UploadedFile)) == (0, 0)


def test_a_policy_that_names_no_sum_shows_none(screen: Screen, store: Store, partner: Partner) -> None:
    number = sell(store, partner, THIRD_PARTY, is_live=True).policy["meta"]["policy_number"]
    insured = sell(store, partner, HOME, is_live=True).policy["meta"]["policy_number"]
    assert "Sum insured" not in texts(screen("claims", path=PAGE, policy=number))
    assert "Sum insured" in texts(screen("claims", path=PAGE, policy=insured))


def test_incident_outside_of_the_cover_is_warned_of_while_it_is_typed(page: AppTest, sale: Sale, store: Store) -> None:
    with store.reading(Scope.system()) as session:
        start, last = fraud_flags.get_cover_days(session.get_one(Policy, sale.policy_id))
    assert start
    assert last
    day = page.date_input(key=field(sale, "incident_date"))
    for happened, warned in (
        (clock.add_days(start, -1), f"before the cover, which begins on {words.day(start)}"),
        (start, ""),
        (min(last, clock.today()), ""),
    ):
        day.set_value(happened).run()
        shown = [each.value for each in page.markdown if "This day is" in each.value]
        assert len(shown) == bool(warned)
        assert all(warned in each for each in shown)
    with store.writing(Scope.system()) as session:
        began, ended = (clock.midnight(clock.add_days(clock.today(), days)) for days in (-100, -1))
        session.execute(sa.update(Policy).values(start_at=began, expiration_at=ended))
    page.date_input(key=field(sale, "incident_date")).set_value(clock.today()).run()
    assert f"after the last day of the cover, {words.day(clock.add_days(clock.today(), -2))}" in texts(page)


def test_incident_in_the_future_is_warned_of_and_taken_in(page: AppTest, sale: Sale, store: Store) -> None:
    fill(page, sale)
    attach(page, sale, "loan_offer_letter", "employment_termination_letter")
    day = page.date_input(key=field(sale, "incident_date"))
    day.set_value(clock.today()).run()
    assert "in the future" not in texts(page)
    page.date_input(key=field(sale, "incident_date")).set_value(clock.add_days(clock.today(), 3)).run()
    assert "This day is in the future" in texts(page)
    press(page, "Lodge the claim")
    assert "is lodged" in page.success[0].value
    with store.reading(Scope.system()) as session:
        assert "future_incident" in session.execute(sa.select(Claim.flags)).scalar_one()


def test_what_the_policy_says_is_filled_in_and_the_owners_phone_is_nobody_elses(page: AppTest, sale: Sale) -> None:
    phone = page.text_input(key=field(sale, "claimant_phone_number"))
    assert phone.value == shipped.request(CREDIT_LIFE).phone_number
    page.selectbox(key=field(sale, "claimant")).set_value("Next of kin").run()
    assert page.text_input(key=field(sale, "claimant_phone_number")).value == ""
    assert page.text_input(key=field(sale, "claimant_first_name"))
    # The loan is as it was insured, and folded with the papers.
    assert {"Loan", "Papers"} <= {each.label for each in page.expander}


def test_what_was_typed_is_there_after_another_sign_in(sale: Sale, screen: Screen, store: Store) -> None:
    number = sale.policy["meta"]["policy_number"]
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session, email="c@x.example", name="C", roles=["claims"], password="correct horse battery", actor="tests"
        )
        staff_id = session.execute(sa.select(Staff.id).where(Staff.email == "c@x.example")).scalar_one()
    author = Person(id=staff_id, email="c@x.example", name="C", roles=("claims",), claim_limit_minor=None)
    fill(screen(signed_in=author, path=PAGE, policy=number), sale).run()
    assert "unfinished" not in texts(screen("claims", path=PAGE)), "of others"
    assert "1 unfinished claim" in texts(screen(signed_in=author, path=PAGE))
    [draft] = sale_drafts.list_mine(counter_is_live=True, person=author)
    at = screen(signed_in=author, path=PAGE, policy=number, draft=str(draft.id))
    assert at.selectbox(key=field(sale, "incident_type")).value == "Loss of job"
    assert at.text_input(key=field(sale, "pending_repayment_amount")).value == "75,000"
    press(at, "Lodge the claim")
    assert "is lodged" in at.success[0].value
    assert "unfinished" not in texts(screen(signed_in=author, path=PAGE))


def test_bad_file_is_said_with_every_other_broken_field(page: AppTest, sale: Sale, store: Store) -> None:
    fill(page, sale)
    attach(page, sale, "employment_termination_letter")
    page.file_uploader(key=field(sale, "loan_offer_letter.chosen")).upload("letter.pdf", b"no paper")
    page.text_input(key=field(sale, "pending_repayment_amount")).set_value("200000")
    press(page, "Lodge the claim")
    assert "Must be a JPEG, PNG, WebP or PDF file" in texts(page)
    assert "Must not be more than “Loan amount”" in texts(page)
    assert (count(store, Claim), count(store, UploadedFile)) == (0, 0)


def test_claim_is_lodged_once_and_leads_to_its_review(page: AppTest, sale: Sale, store: Store) -> None:
    fill(page, sale)
    attach(page, sale, "loan_offer_letter", "employment_termination_letter")
    press(page, "Lodge the claim")
    assert not page.exception
    assert "is lodged" in page.success[0].value
    page.run()
    assert "is lodged" in page.success[0].value
    with store.reading(Scope.system()) as session:
        claim = session.execute(
            sa.select(Claim.id, Claim.distributor_id, Claim.policy_id, Claim.claim_status, Claim.is_live)
        ).one()
        owners = session.execute(sa.select(UploadedFile.distributor_id, UploadedFile.is_live, UploadedFile.claim_id))
        assert set(map(tuple, owners)) == {(claim.distributor_id, True, claim.id)}
    assert (claim.claim_status, claim.policy_id, claim.is_live) == ("Pending", sale.policy_id, True)
    assert f"C-{claim.id.hex[-8:].upper()}" in [line.value for line in page.text]
    # The receipt has its address, and the letter that says what was taken in is one click away.
    assert page.query_params["id"] in (str(claim.id), [str(claim.id)])
    press(page, "Acknowledgement")
    assert "[Acknowledgement](/files/" in texts(page)
    assert {button.label for button in page.button} >= {"Open the claim", "Lodge another"}


def test_a_run_that_was_asked_for_before_the_claim_was_lodged_leads_to_its_receipt(
    page: AppTest, sale: Sale, store: Store
) -> None:
    fill(page, sale).run()
    with store.reading(Scope.system()) as session:
        draft = session.execute(sa.select(SaleDraft.id)).scalar_one()
    press(page, "Lodge the claim")
    # The tab stores what was typed last a moment after the press, with the address that it had then.
    page.query_params.clear()
    page.query_params.update(policy=sale.policy["meta"]["policy_number"], draft=str(draft))
    page.run()
    assert "is lodged" in page.success[0].value
    assert (count(store, Claim), count(store, SaleDraft)) == (1, 0)


def test_claims_that_the_policy_has_are_shown_before_another_is_lodged(page: AppTest, sale: Sale) -> None:
    assert "This policy has" not in texts(page)
    fill(page, sale)
    attach(page, sale, "loan_offer_letter", "employment_termination_letter")
    press(page, "Lodge the claim")
    press(page, "Lodge another")
    assert page.text_input[0].value == "", "the last caller's policy is not found again"
    page.text_input[0].set_value(sale.policy["meta"]["policy_number"]).run()
    assert "This policy has 1 claim already: is this another loss?" in texts(page)
    assert "Loss of job" in texts(page)


def test_first_notice_of_a_death_needs_no_papers_but_a_claimant(page: AppTest, sale: Sale, store: Store) -> None:
    fill(page, sale)
    page.selectbox(key=field(sale, "incident_type")).set_value("Death").run()
    assert "calls for: loan offer letter, medical report, death certificate" in texts(page)
    press(page, "Lodge the claim")
    assert "Must be another than the owner after a death" in texts(page)
    page.selectbox(key=field(sale, "claimant")).set_value("Next of kin").run()
    for name, typed in (("first_name", "Bisi"), ("last_name", "Okafor"), ("phone_number", "08027654321")):
        page.text_input(key=field(sale, f"claimant_{name}")).set_value(typed)
    press(page, "Lodge the claim")
    assert "is lodged" in page.success[0].value
    assert f"send by {words.day(clock.add_days(clock.today(), 7))} (7 days)" in texts(page)
    assert "- Medical report" in texts(page)
    with store.reading(Scope.system()) as session:
        claim = session.execute(sa.select(Claim)).scalar_one()
        assert (claim.claim_owner, claim.claim_owner_first_name) == ("Next of kin", "Bisi")
        assert submitted.list_missing_documents(claim) == ("loan_offer_letter", "medical_report", "death_certificate")


@pytest.mark.parametrize(
    "cover", [THIRD_PARTY, TRAVEL, HOME, MARINE_IMPORT, PERSONAL_ACCIDENT], ids=lambda cover: cover.key
)
def test_every_line_is_lodged_by_its_own_form(
    screen: Screen, store: Store, partner: Partner, cover: Cover[Any]
) -> None:
    bought = sell(store, partner, cover, is_live=True)
    line = get_line_of((cover.prefix, cover.route))
    assert line is not None
    at = screen("claims", path=PAGE)
    at.text_input(key="policy").set_value(bought.policy["meta"]["policy_number"]).run()
    incident = min(line.covers[cover.prefix, cover.route])
    at.selectbox(key=field(bought, "incident_type")).set_value(incident).run()
    at.date_input(key=field(bought, "incident_date")).set_value(clock.today()).run()
    at.text_input(key=field(bought, "incident_place")).set_value("Third Mainland Bridge, Lagos")
    press(at, "Lodge the claim")
    assert "Enter the incident description" in texts(at)
    at.text_area(key=field(bought, "incident_description")).set_value("Told on the phone")
    if incident == "Death":
        at.selectbox(key=field(bought, "claimant")).set_value("Next of kin").run()
        for name, typed in (("first_name", "Bisi"), ("last_name", "Okafor"), ("phone_number", "08027654321")):
            at.text_input(key=field(bought, f"claimant_{name}")).set_value(typed)
    press(at, "Lodge the claim")
    assert not at.exception
    assert "is lodged" in at.success[0].value
    with store.reading(Scope.system()) as session:
        claim = session.execute(sa.select(Claim)).scalar_one()
        assert (claim.claim_type, claim.incident_date) == (line.title, clock.today().isoformat())
        assert submitted.get_meta(claim)["incident_type"] == incident


def test_a_run_that_is_stopped_once_its_draft_is_stored_leaves_one_draft(
    page: AppTest, sale: Sale, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = [StopException()]

    @contextmanager
    def stopped(scope: Scope) -> Iterator[ScopedSession]:
        with store.writing(scope) as session:
            yield session
        if stops:
            raise stops.pop()

    monkeypatch.setattr(sale_drafts, "writing", stopped)
    page.selectbox(key=field(sale, "incident_type")).set_value("Loss of job").run()
    page.run()
    assert not stops
    assert count(store, SaleDraft) == 1
