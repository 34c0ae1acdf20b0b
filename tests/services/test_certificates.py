"""Certificates: what they say, for which term, as a PDF that anybody can print and read (contract S10)."""

import hashlib
import io
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pikepdf
import pytest

from core import clock
from core.covers import credit_life
from core.covers.insurers import insurer_a
from core.errors import NotFound
from core.services.policies import certificates, changes
from core.services.policies.certificates import CertificateFacts
from core.services.renewals import renewals
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import every_cover, sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)

NAME = "Olúwatóyìn Ẹ̀bùn Ṣóyínká-Ọ̀ṣúnlàjà"
needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="SKIPPED LOUDLY: no pdftotext here")


def code_of(policy: object) -> str:
    url = policy["meta"]["certificate_url"]  # type: ignore[index]
    return str(url).rsplit("/", 1)[1].removesuffix(".pdf")


def facts_of(store: Store, code: str) -> CertificateFacts:
    with store.reading(Scope.system()) as session:
        return certificates.get_by_code(session, code)


def sold(store: Store, partner: Partner) -> tuple[Sale, str]:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    return sale, code_of(sale.policy)


def printed(pdf: bytes, tmp_path: Path) -> str:
    """The text of a PDF as a reader copies it."""
    path = tmp_path / "certificate.pdf"
    path.write_bytes(pdf)
    return subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def certified(store: Store, partner: Partner) -> None:
    """The store has a certificate."""
    sold(store, partner)


@pytest.fixture
def facts() -> CertificateFacts:
    return CertificateFacts(
        code="a" * 26,
        policy_number="ACC/AR/11/26/HQ/5300",
        insurer="Anchorline Insurance",
        title="Certificate of third-party auto insurance",
        product="Third-party auto, private",
        distributor="Swift Lenders",
        holder=NAME,
        covered=(("Registration number", "LSD-123AB"), ("Vehicle", "Toyota Camry")),
        start_at=clock.midnight(date(2026, 11, 20)),
        expiration_at=clock.midnight(date(2027, 11, 20)),
        sum_insured_minor=4_000_000_00,
        premium_minor=15_000_00,
        issued_at=shipped.STILL,
        cancelled_at=None,
        is_live=True,
    )


@every_cover
def test_every_active_policy_has_a_certificate_that_opens(store: Store, partner: Partner, cover: object) -> None:
    sale = sell(store, partner, cover)  # type: ignore[arg-type]
    if not sale.policy["active"]:
        assert sale.policy["meta"]["certificate_url"] is None
        return
    facts = facts_of(store, code_of(sale.policy))
    assert facts.policy_number == sale.policy["meta"]["policy_number"]
    assert facts.covered
    assert facts.premium_minor == int(sale.price.total * 100)
    with pikepdf.open(io.BytesIO(certificates.render_certificate(facts))) as pdf:
        assert len(pdf.pages) == 1
        assert [round(float(x)) for x in pdf.pages[0].mediabox] == [0, 0, 595, 842]


def test_certificate_says_what_is_covered(store: Store, partner: Partner) -> None:
    _, code = sold(store, partner)
    facts = facts_of(store, code)
    assert facts.title == "Certificate of third-party auto insurance"
    assert facts.insurer == "Anchorline Insurance"
    assert facts.distributor == "Swift Lenders"
    assert ("Registration number", "LSD-123AB") in facts.covered
    assert ("Vehicle", "Toyota Camry") in facts.covered
    loan = facts_of(store, code_of(sell(store, partner, credit_life.CREDIT_LIFE).policy))
    assert ("Loan amount", "₦100,000.00") in loan.covered
    assert ("Benefits", "Death, permanent disability, temporary disability, loss of job") in loan.covered


@every_case("code", ["", "a" * 26, "A" * 26, "../" * 9, "x", "%00", "a" * 27])
@pytest.mark.usefixtures("certified")
def test_other_codes_open_nothing(store: Store, code: str) -> None:
    with pytest.raises(NotFound):
        facts_of(store, code)


def test_status_follows_the_clock(store: Store, partner: Partner) -> None:
    _, code = sold(store, partner)
    for days, status in ((-2, "Not started"), (0, "In force"), (364, "In force"), (366, "Expired")):
        with clock.freeze(shipped.STILL + timedelta(days=days)):
            assert facts_of(store, code).status == status


def test_each_term_keeps_its_own_certificate(store: Store, partner: Partner) -> None:
    sale, first = sold(store, partner)
    with clock.freeze(shipped.STILL + timedelta(days=340)):
        with store.writing(partner.scope()) as session:
            second = code_of(renewals.renew(session, sale.policy_id, partner.seller()).policy)
        old, new = facts_of(store, first), facts_of(store, second)
    assert (old.start_at, old.expiration_at, old.status) == (
        clock.midnight(date(2026, 11, 20)),
        clock.midnight(date(2027, 11, 20)),
        "In force",
    )
    assert (new.start_at, new.expiration_at, new.status) == (
        clock.midnight(date(2027, 11, 20)),
        clock.midnight(date(2028, 11, 20)),
        "Not started",
    )


def test_cancelled_policy_cancels_the_terms_that_it_cuts_short(store: Store, partner: Partner) -> None:
    sale, first = sold(store, partner)
    with clock.freeze(shipped.STILL + timedelta(days=360)), store.writing(partner.scope()) as session:
        second = code_of(renewals.renew(session, sale.policy_id, partner.seller()).policy)
    with clock.freeze(shipped.STILL + timedelta(days=400)):
        with store.writing(partner.scope()) as session:
            changes.cancel(session, sale.policy_id, actor="desk", reason="sold", by_insurer=False, expected_version=2)
        assert [facts_of(store, code).status for code in (first, second)] == ["Expired", "Cancelled"]


def test_same_facts_give_the_same_bytes_in_another_process_too(facts: CertificateFacts) -> None:
    certificates.render_certificate.cache_clear()
    first = certificates.render_certificate(facts)
    certificates.render_certificate.cache_clear()
    with clock.freeze(shipped.STILL + timedelta(days=100)):
        assert certificates.render_certificate(facts) == first
    program = (
        "import hashlib, pickle, sys; from core.services.policies import certificates;"
        "facts = pickle.loads(sys.stdin.buffer.read());"
        "print(hashlib.sha256(certificates.render_certificate(facts)).hexdigest())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(facts), capture_output=True, check=True
    )
    assert elsewhere.stdout.decode().strip() == hashlib.sha256(first).hexdigest()


@needs_poppler
def test_pdf_can_be_read_and_copied(facts: CertificateFacts, tmp_path: Path) -> None:
    text = printed(certificates.render_certificate(facts), tmp_path)
    for words in (
        "Anchorline Insurance",
        "Certificate of third-party auto insurance",
        "ACC/AR/11/26/HQ/5300",
        NAME,
        "LSD-123AB",
        "20 November 2026 to 20 November 2027",
        "₦4,000,000.00",
        "₦15,000.00",
        facts.verification_url,
    ):
        assert words in text
    assert certificates.TEST_MODE not in text


@needs_poppler
def test_test_mode_and_cancellation_are_printed(facts: CertificateFacts, tmp_path: Path) -> None:
    test = printed(certificates.render_certificate(replace(facts, is_live=False)), tmp_path)
    assert "Test mode - not a certificate of insurance" in test
    ended = replace(facts, cancelled_at=shipped.STILL + timedelta(days=42))
    assert "1 January 2027" in printed(certificates.render_certificate(ended), tmp_path)


@needs_poppler
def test_long_values_stay_on_one_page(facts: CertificateFacts, tmp_path: Path) -> None:
    long = replace(
        facts,
        insurer="Insurance " * 20,
        holder="Ade " * 100,
        covered=tuple((f"Line {n}", "word " * 400) for n in range(7)),
    )
    pdf = certificates.render_certificate(long)
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert len(opened.pages) == 1
    assert "₦15,000.00" in printed(pdf, tmp_path)


def test_qr_code_leads_to_the_verification_page_at_our_own_address(facts: CertificateFacts) -> None:
    assert facts.verification_url == f"http://127.0.0.1:8501/verify/{'a' * 26}"
    with pikepdf.open(io.BytesIO(certificates.render_certificate(facts))) as pdf:
        (link,) = [a for a in pdf.pages[0].Annots if a.Subtype == "/Link"]  # type: ignore[attr-defined]
        assert str(link.A.URI) == facts.verification_url


def test_pdf_names_its_title_and_language(facts: CertificateFacts) -> None:
    with pikepdf.open(io.BytesIO(certificates.render_certificate(facts))) as pdf:
        assert str(pdf.docinfo["/Title"]) == f"{facts.title} {facts.policy_number}"
        assert str(pdf.Root.Lang) == "en-NG"
