"""Lodging a claim for a caller: the rules of the API on a form, faults beside the fields, one claim for one form."""

from typing import Any

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, UploadedFile
from tests import papers
from tests.conftest import Partner
from tests.services.selling import sell
from tests.ui.conftest import Screen, press, texts

PAGE = "claims/lodge.py"
DOCUMENTS = ("loan_offer_letter", "police_report", "medical_report", "employment_termination_letter")


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, CREDIT_LIFE, is_live=True, loan_amount="100000")


@pytest.fixture
def page(screen: Screen, sale: Sale) -> AppTest:
    """The form of a claim on that policy."""
    at = screen("claims", page=PAGE)
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
        screen("operations", page=PAGE)


def test_unknown_number_says_where_to_look(screen: Screen) -> None:
    at = screen("supervisor", page=PAGE)
    assert "Type the number" in texts(at)
    at.text_input(key="policy").set_value("NO/SUCH/1").run()
    assert "no credit life policy “NO/SUCH/1” in this mode" in texts(at)


def test_incident_decides_which_documents_are_required(page: AppTest, sale: Sale) -> None:
    fill(page, sale, accidental="Yes")
    labels = {name: page.file_uploader(key=field(sale, f"{name}.chosen")).label for name in DOCUMENTS}
    assert [name for name, label in labels.items() if "(optional)" not in label] == [
        "loan_offer_letter",
        "police_report",
        "employment_termination_letter",
    ]
    assert page.text_input(key=field(sale, "loan_amount")).value == "100,000.00"


def test_faults_stand_beside_the_fields_and_nothing_typed_is_lost(page: AppTest, sale: Sale, store: Store) -> None:
    fill(page, sale)
    attach(page, sale, "loan_offer_letter")
    page.text_input(key=field(sale, "pending_repayment_amount")).set_value("200000")
    press(page, "Lodge the claim")
    assert "Must not be more than “Loan amount”" in texts(page)
    assert "loan_amount" not in texts(page)
    assert "Is required for Loss of job" in texts(page)
    assert page.text_input(key=field(sale, "pending_repayment_amount")).value == "200000"
    assert page.selectbox(key=field(sale, "incident_type")).value == "Loss of job"
    assert (count(store, Claim), count(store, UploadedFile)) == (0, 0)


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
    assert page.metric[0].value == f"C-{claim.id.hex[-8:].upper()}"
    assert {button.label for button in page.button} >= {"Open the claim", "Lodge another"}


def test_claims_that_the_policy_has_are_shown_before_another_is_lodged(page: AppTest, sale: Sale) -> None:
    assert "This policy has" not in texts(page)
    fill(page, sale)
    attach(page, sale, "loan_offer_letter", "employment_termination_letter")
    press(page, "Lodge the claim")
    press(page, "Lodge another")
    page.text_input(key="policy").set_value(sale.policy["meta"]["policy_number"]).run()
    assert "This policy has 1 claim already: is this another loss?" in texts(page)
    assert "Loss of job" in texts(page)
