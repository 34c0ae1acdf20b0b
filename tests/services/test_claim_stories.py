"""A whole claim of every line of cover, from the first notice to Settled, and one to a declined appeal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request as requests
from core.covers.claims.line import ClaimLine
from core.covers.claims.lines import LINES, MOTOR
from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.registry import COVERS
from core.errors import InvalidInput
from core.services.claims.intake import lodging
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import paying as claim_paying
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.finance.payments import proofs
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import Policy, Product
from tests import papers
from tests.conftest import fresh_store
from tests.services.claim_office import DESK, Office
from tests.services.selling import sell

LINE_NAMES = ["credit-life", *(line.route for line in LINES)]


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """On SQLite: each step of these stories is tested on both databases by itself."""
    with fresh_store(request, "sqlite", tmp_path, monkeypatch) as made:
        yield made


def get_line(name: str) -> ClaimLine | None:
    return next((line for line in LINES if line.route == name), None)


def sell_policy(office: Office, line: ClaimLine) -> str:
    """The number of a policy of the line; devices are sold elsewhere, and their policy is one of another product."""
    cover = next((cover for cover in COVERS if (cover.prefix, cover.route) in line.covers), CREDIT_LIFE)
    cover = next((each for each in COVERS if each.key == "insurer-a/buy-thirdparty"), cover) if line is MOTOR else cover
    sale = sell(office.store, office.partner, cover)
    if cover is CREDIT_LIFE:
        with office.store.writing(Scope.system()) as session:
            device = sa.select(col(Product.id)).where(col(Product.route_name) == "buy-gadget").scalar_subquery()
            session.execute(sa.update(Policy).where(col(Policy.id) == sale.policy_id).values(product_id=device))
    return str(sale.policy["meta"]["policy_number"])


def give_notice(office: Office, name: str) -> UUID:
    """A first notice without papers, over the door of its line; credit life comes with its documents."""
    line = get_line(name)
    if line is None:
        return office.lodge(incident_type="Death", incident_date=clock.today().isoformat())
    fields: dict[str, Any] = {**build_example(line.request), "policy_number": sell_policy(office, line)}
    given = requests.validate(line.request, {name: value for name, value in fields.items() if value is not None})
    owner = Owner(distributor_id=office.partner.id, is_live=False)
    with office.store.writing(office.partner.scope()) as session:
        return ids.parse(lodging.lodge_claim(session, given, [], owner=owner, actor="tests")["id"])


def look(office: Office, claim_id: UUID) -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people["sade"])


def send_papers(office: Office, claim_id: UUID) -> None:
    """Attach every paper that is owed."""
    for name in look(office, claim_id).missing_documents:
        arriving = ReceivedFile(field=name, file_name="a.pdf", content=papers.pdf(text=ids.new_code()))
        with files.store_files([arriving]) as (file,):
            version = office.claim(claim_id).version
            office.do(lodging.attach_document, claim_id, file=file, version=version)


def settle(office: Office, claim_id: UUID) -> int:
    """Work a claim to Settled with what it can come to at most; finance pays. Returns the amount in kobo."""
    found = look(office, claim_id)
    most = found.amounts.limits.most_minor
    assert most
    reasons = {check.key: "Seen with the papers" for check in found.unmet_checks}
    office.move(claim_id, "Approved", by="sade", amount=f"{most / 100:.2f}", reasons=reasons)
    office.move(claim_id, "Offer sent", by="sade")
    office.move(claim_id, "Offer accepted", by="sade")
    office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    reference = f"FIN-{claim_id.hex[:8]}"
    office.do(
        claim_paying.pay,
        claim_id,
        by="funmi",
        payment_reference=reference,
        version=office.claim(claim_id).version,
        payment={"method": "Credit to the loan" if found.payee.hint is None else "Bank transfer"},
    )
    office.move(claim_id, "Settled", by="bola")
    return most


@pytest.mark.parametrize("name", LINE_NAMES)
def test_claim_of_every_line_goes_from_first_notice_to_settled(office: Office, name: str) -> None:
    claim_id, line = give_notice(office, name), get_line(name)
    assert look(office, claim_id).status == "Pending"
    office.move(claim_id, "Reviewing", by="bola")
    if line is None:
        changed = {"claimant": "Next of kin", "claimant_relation": "Sister", "claimant_first_name": "Ada"}
        claimant = {**changed, "claimant_last_name": "Eze", "claimant_phone_number": "08031234567"}
        version = office.claim(claim_id).version
        office.do(
            claim_corrections.set_claimant, claim_id, claimant=claimant, reason="The borrower has died", version=version
        )
    assert look(office, claim_id).missing_documents
    send_papers(office, claim_id)
    paid_minor = settle(office, claim_id)
    found = look(office, claim_id)
    assert (found.status, found.reserve_minor, found.amounts.limits.paid_minor) == ("Settled", 0, paid_minor)
    assert [step.status for step in found.status_steps] == [
        *("Pending", "Reviewing", "Approved", "Offer sent", "Offer accepted", "Paid", "Settled")
    ]
    assert [(payment.by, payment.reference) for payment in found.payments] == [("funmi", found.payment_reference)]
    with office.store.reading(Scope.system()) as session:
        assert list(proofs.find_claim_payment_faults(session)) == []


def test_declined_claim_is_appealed_and_declined_again(office: Office) -> None:
    claim_id = give_notice(office, "motor")
    office.move(claim_id, "Declined", by="bola", reason="documents-missing", note="No papers came")
    office.move(claim_id, "Reviewing", by="sade", note="An appeal with new papers")
    send_papers(office, claim_id)
    assert look(office, claim_id).reserve_minor > 0
    office.move(claim_id, "Declined", by="sade", reason="misrepresentation", note="The papers are of another car")
    found = look(office, claim_id)
    assert (found.status, found.decline_reason, found.reserve_minor) == ("Declined", "misrepresentation", 0)
    assert found.payments == []
    assert [step.note for step in found.status_steps] == [
        *(None, "No papers came", "An appeal with new papers", "The papers are of another car")
    ]


def test_what_no_sum_insured_bounds_is_approved_with_a_reason_for_the_amount(office: Office) -> None:
    claim_id = give_notice(office, "personal-accident")
    send_papers(office, claim_id)
    (check,) = [check for check in look(office, claim_id).unmet_checks if check.key == "sum_insured"]
    assert (check.passed, check.detail) == (None, "Claimed ₦35,000.00, the policy names no sum")
    reasons = {each.key: "Seen" for each in look(office, claim_id).unmet_checks if each.key != "sum_insured"}
    with pytest.raises(InvalidInput, match=r"reasons\.sum_insured must be given"):
        office.move(claim_id, "Approved", by="sade", amount="35000", reasons=reasons)
    office.move(claim_id, "Approved", by="sade", amount="35000", reasons={**reasons, "sum_insured": "Silver pays it"})
