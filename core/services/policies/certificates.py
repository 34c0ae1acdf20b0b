"""Certificates: what one says, who may see it, its drawing as a PDF, and the mail that brings it (contract W1)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic.fields import FieldInfo
from sqlmodel import col

from core import clock, money
from core.covers import fields, registry
from core.covers.request import Request
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.files import printing
from core.services.files.printing import AMBER, INK, LINE, QUIET, RED, TEAL
from core.services.lists import records
from core.services.mail import mail
from core.services.people.staff import Person
from core.services.policies import policies
from core.settings import settings
from core.states.policies import PolicyStage
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import (
    Certificate,
    Distributor,
    Policy,
    PolicyEndorsement,
    Product,
    Provider,
    Purchase,
    Renewal,
)

CERTIFICATE: Final = "policy certificate"
ROLES: Final = ("operations",)
_ONCE_WITHIN: Final = timedelta(minutes=1)


def send_certificate(session: ScopedSession, policy_id: UUID, *, by: Person) -> UUID:
    """Queue the e-mail with the link to a policy's certificate, to the policyholder; returns its id.

    Asked for again within a minute, it is the same e-mail. StateForbids for a test policy and one without certificate.
    """
    by.require_role(*ROLES, otherwise="Certificates are sent by operations")
    policy = policies.get_for_update(session, policy_id)
    check_sendable(policy)
    url = records.certificate_url(policy.certificate_code)
    if url is None:
        raise StateForbids("There is no certificate yet: it comes as the policy becomes active")
    premium = session.execute(
        sa.select(col(Purchase.total_minor)).where(col(Purchase.id) == policy.purchase_id)
    ).scalar_one()
    values = {**describe(session, policy), "premium": naira(premium), "certificate": url}
    return queue(session, policy, CERTIFICATE, values, by=by.actor)


def check_sendable(policy: Policy) -> None:
    """Raise StateForbids for a test policy: its e-mail address may be anybody's."""
    if not policy.is_live:
        raise StateForbids("Test policies send no e-mail: the address may be a stranger's")


def queue(session: ScopedSession, policy: Policy, template: str, values: Mapping[str, str], *, by: str) -> UUID:
    """Queue one e-mail to the policyholder with an entry in the audit log; returns its id."""
    about = audit.subject_of("policy", policy.id)
    sent = mail.find_recent(session, policy.email, template, about, _ONCE_WITHIN)
    if sent:
        return sent
    mail_id = mail.send(session, policy.email, template, values, about=about, by=by)
    audit.write(session, actor=by, action="e-mail queued", subject=about, after={"text": template})
    return mail_id


def describe(session: ScopedSession, policy: Policy) -> dict[str, str]:
    """Return the values that every letter about a policy may use, by name."""
    query = (
        sa.select(col(Product.name), col(Provider.company_name), col(Distributor.business_name))
        .join(Provider, col(Provider.id) == col(Product.provider_id))
        .join(Distributor, col(Distributor.id) == policy.distributor_id)
        .where(col(Product.id) == policy.product_id)
    )
    product, insurer, seller = session.execute(query).one()
    return {
        "name": f"{policy.first_name} {policy.last_name}",
        "policy_number": policy.policy_number or "",
        "cover": product,
        "insurer": insurer,
        "seller": seller,
        "starts": _day(policy.start_at),
        "ends": _day(policy.expiration_at),
    }


def naira(minor: int) -> str:
    """Return an amount as letters show it: "₦1,068.75"."""
    return money.format_naira(minor)


def _day(at: datetime | None) -> str:
    return clock.format_lagos(at, "%-d %b %Y") if at else "–"


if TYPE_CHECKING:
    from fpdf import FPDF


def list_certificate_lines(
    endpoint: tuple[str, str], submitted: Mapping[str, Any], *, is_shown: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield label and value of everything insured, in reading order, as the request of its endpoint declares them.

    Days are written in full, as on paper, or as on screens where it `is_shown` there.
    """
    write_day = clock.format_day if is_shown else format_day
    model = registry.get_request(*endpoint) or Request
    lines: dict[str, list[str]] = {}
    for name, mark in fields.list_insured(model):
        if mark.line and submitted.get(name):
            text = _describe_value(submitted[name], model.model_fields[name], mark, write_day)
            lines.setdefault(mark.line, []).append(text)
    yield from ((label, " ".join(texts)) for label, texts in lines.items())


def _describe_value(value: Any, field: FieldInfo, mark: fields.Insured, write_day: Callable[[date], str]) -> str:
    """Word a submitted value: an amount in naira, a day as it is written there, all else as its mark does."""
    type_ = fields.get_bare_type(field.annotation)
    if type_ is Decimal:
        return money.format_naira(money.to_minor(Decimal(str(value))))
    return write_day(date.fromisoformat(value[:10])) if type_ is date else mark.describe(value)


def format_day(day: date) -> str:
    """Format a day for a certificate: 5 March 2027."""
    return f"{day.day} {day:%B %Y}"


# Certificates: one per paid term of a policy, opened and verified by its code (contract S10).

TEST_MODE = "Test mode - not a certificate of insurance"
_CODE = re.compile(r"[a-z2-7]{26}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CertificateFacts:
    """The content of one certificate: its term, policy, insurer and distributor.

    It shows the policy as it was last endorsed within the term: `endorsement` is the number and day of that one.
    """

    code: str
    policy_number: str
    insurer: str
    title: str
    product: str
    distributor: str
    holder: str
    covered: tuple[tuple[str, str], ...]
    start_at: datetime
    expiration_at: datetime
    sum_insured_minor: int | None
    premium_minor: int
    issued_at: datetime
    cancelled_at: datetime | None
    is_live: bool
    endorsement: tuple[int, date] | None = None

    @property
    def status(self) -> PolicyStage:
        """The current status of its term; a cancellation after its end does not change it."""
        if self.cancelled_at is not None:
            return PolicyStage.CANCELLED
        if self.expiration_at <= clock.now():
            return PolicyStage.EXPIRED
        return PolicyStage.NOT_STARTED if self.start_at > clock.latest_start() else PolicyStage.IN_FORCE

    @property
    def file_name(self) -> str:
        """The name of its file, by the policy's number: "certificate-ACC-AR-11-26-HQ-5300.pdf"."""
        return f"certificate-{'-'.join(re.findall('[A-Za-z0-9]+', self.policy_number))}.pdf"

    @property
    def verification_url(self) -> str:
        """The URL of the page that verifies this certificate; encoded in its QR code."""
        return f"{settings().base_url}/verify/{self.code}"


def get_by_code(session: ScopedSession, code: str) -> CertificateFacts:
    """Return the content of the certificate with this code, which is typed in any case; NotFound for an unknown one."""
    code = code.lower()
    found = session.execute(_build_query(code)).one_or_none() if _CODE.fullmatch(code) else None
    if found is None:
        raise NotFound("Certificate not found")
    end_on = clock.to_lagos_day(found.Certificate.expiration_at)
    made = policies.find_rows(session, found.Policy.id)
    return _build_facts(found, [row for row in made if row.effective_on < end_on])


def _build_query(code: str) -> AnySelect:
    """Build the query for a certificate and its related rows, with the renewal that paid for its term, if any."""
    paid_by_renewal = sa.and_(
        col(Renewal.policy_id) == col(Certificate.policy_id), col(Renewal.start_at) == col(Certificate.start_at)
    )
    return (
        sa.select(Certificate, Policy, Product, Provider, Distributor, Purchase, Renewal)
        .join(Policy, col(Policy.id) == col(Certificate.policy_id))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .join(Provider, col(Provider.id) == col(Policy.provider_id))
        .join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .outerjoin(Renewal, paid_by_renewal)
        .where(col(Certificate.code) == code)
    )


def _build_facts(row: AnyRow, endorsed: Sequence[PolicyEndorsement]) -> CertificateFacts:
    certificate, policy = row.Certificate, row.Policy
    cancelled_at = policy.cancelled_at
    return CertificateFacts(
        code=certificate.code,
        policy_number=policy.policy_number,
        insurer=row.Provider.company_name,
        title=_build_title(row.Product),
        product=row.Product.name,
        distributor=row.Distributor.business_name,
        holder=f"{policy.first_name} {policy.last_name}",
        covered=tuple(
            list_certificate_lines(
                (row.Product.prefix, row.Product.route_name), policies.apply(policy.submitted, endorsed)
            )
        ),
        start_at=certificate.start_at,
        expiration_at=certificate.expiration_at,
        sum_insured_minor=policy.sum_insured_minor,
        premium_minor=(row.Renewal or row.Purchase).total_minor,
        issued_at=certificate.created_at,
        cancelled_at=cancelled_at if cancelled_at and cancelled_at < certificate.expiration_at else None,
        is_live=certificate.is_live,
        endorsement=(endorsed[-1].number, endorsed[-1].effective_on) if endorsed else None,
    )


def _build_title(product: Product) -> str:
    cover = registry.get_cover(product.prefix, product.route_name)
    name = (cover.title if cover else product.name).lower()
    for ending in (" insurance", " cover"):
        name = name.removesuffix(ending)
    return f"Certificate of {name} insurance"


# Certificates as PDF: one A4 page, byte-identical for the same facts.

_TINT = "#F2F6F5"
_LEFT, _WIDTH, _LABEL = 18.0, 174.0, 52.0
_FOOT = 255.0
_EVIDENCE = (
    "This certificate is evidence that the insurer named above covers what is described here, for the period stated "
    "and on the terms of its policy. It does not change those terms. Scan the code or open its address to see whether "
    "the cover is in force."
)


@lru_cache(maxsize=128)
def render_certificate(facts: CertificateFacts) -> bytes:
    """Return the PDF of a certificate; it depends on the facts only, never on the time of printing."""
    from fpdf import ViewerPreferences  # noqa: PLC0415 as slow to load as the rest of its library

    page = printing.create(f"{facts.title} {facts.policy_number}", created_at=facts.issued_at, left=_LEFT, top=18)
    page.set_author(facts.insurer)
    # Otherwise a viewer may show the last part of the address, which is the code.
    page.viewer_preferences = ViewerPreferences(display_doc_title=True)
    page.c_margin = 0
    _draw_heading(page, facts)
    _draw_number(page, facts)
    _draw_table(page, "Insured", [("Policyholder", facts.holder), ("Product", facts.product), *facts.covered])
    _draw_table(page, "Cover", _list_cover_lines(facts))
    _draw_verification(page, facts)
    if not facts.is_live or facts.cancelled_at:
        _draw_stamp(page, PolicyStage.CANCELLED if facts.is_live else TEST_MODE)
    return bytes(page.output())


def _draw_heading(page: "FPDF", facts: CertificateFacts) -> None:
    page.set_fill_color(TEAL)
    page.rect(0, 0, page.w, 36, style="F")
    page.set_fill_color(AMBER)
    page.rect(0, 36, page.w, 1.4, style="F")
    page.set_text_color("#FFFFFF")
    page.set_xy(_LEFT, 10)
    _draw_fitted(page, facts.insurer, _WIDTH, size=21, bold=True)
    page.set_x(_LEFT)
    page.set_font("Roboto", "", 11.5)
    page.cell(_WIDTH, 8, facts.title)
    if not facts.is_live:
        page.set_xy(_LEFT, 39.5)
        page.set_text_color(RED)
        page.set_font("Roboto", "B", 10)
        page.cell(_WIDTH, 6, TEST_MODE, align="R")


def _draw_fitted(page: "FPDF", value: str, width: float, *, size: float, bold: bool) -> None:
    """Print one line of text, in a smaller font if it would not fit, and move to the next line."""
    page.set_font("Roboto", "B" if bold else "", size)
    needed = page.get_string_width(value)
    if needed > width:
        page.set_font_size(max(7.0, size * width / needed))
    page.cell(width, size * 0.45, value, new_x="LMARGIN", new_y="NEXT")


def _draw_number(page: "FPDF", facts: CertificateFacts) -> None:
    page.set_xy(_LEFT, 47)
    page.set_text_color(QUIET)
    page.set_font("Roboto", "", 9)
    page.cell(_WIDTH, 5, "Policy number", new_x="LMARGIN", new_y="NEXT")
    page.set_text_color(INK)
    _draw_fitted(page, facts.policy_number, _WIDTH, size=19, bold=True)
    page.set_y(page.get_y() + 5)


def _list_cover_lines(facts: CertificateFacts) -> list[tuple[str, str]]:
    insured = facts.sum_insured_minor
    return [
        ("Period of insurance", f"{_format_day(facts.start_at)} to {_format_day(facts.expiration_at)}"),
        *([("Sum insured", money.format_naira(insured))] if insured is not None else []),
        ("Premium", money.format_naira(facts.premium_minor)),
        ("Date of issue", _format_day(facts.issued_at)),
        *([("Endorsement", f"No. {made[0]}, from {format_day(made[1])}")] if (made := facts.endorsement) else []),
        *([(PolicyStage.CANCELLED, _format_day(facts.cancelled_at))] if facts.cancelled_at else []),
    ]


def _format_day(instant: datetime) -> str:
    return format_day(clock.to_lagos_day(instant))


def _draw_table(page: "FPDF", heading: str, lines: list[tuple[str, str]]) -> None:
    page.set_text_color(TEAL)
    page.set_font("Roboto", "B", 11)
    page.cell(_WIDTH, 8, heading, new_x="LMARGIN", new_y="NEXT")
    for label, value in lines:
        _draw_line(page, label, value)
    page.set_y(page.get_y() + 5)


def _draw_line(page: "FPDF", label: str, value: str) -> None:
    page.set_draw_color(LINE)
    page.set_line_width(0.2)
    page.line(_LEFT, page.get_y(), _LEFT + _WIDTH, page.get_y())
    top = page.get_y() + 1.4
    page.set_xy(_LEFT, top)
    page.set_text_color(QUIET)
    page.set_font("Roboto", "", 9.5)
    page.cell(_LABEL, 5, label)
    page.set_text_color(INK)
    page.set_font("Roboto", "", 10.5)
    page.multi_cell(_WIDTH - _LABEL, 5, _shorten(page, value), align="L", new_x="LMARGIN", new_y="NEXT")
    page.set_y(page.get_y() + 1.4)


def _shorten(page: "FPDF", value: str) -> str:
    """Truncate a text to two lines, so that everything stays on one page."""
    max_width = 2 * (_WIDTH - _LABEL) * 0.92
    if page.get_string_width(value) <= max_width:
        return value
    while page.get_string_width(f"{value}…") > max_width:
        value = value[: int(len(value) * 0.95)]
    return f"{value.rstrip()}…"


def _draw_verification(page: "FPDF", facts: CertificateFacts) -> None:
    page.set_fill_color(_TINT)
    page.rect(0, _FOOT - 7, page.w, page.h - _FOOT + 7, style="F")
    _draw_qr_code(page, facts.verification_url, x=_LEFT, y=_FOOT, size=30)
    left = _LEFT + 36
    page.set_xy(left, _FOOT)
    page.set_text_color(INK)
    page.set_font("Roboto", "B", 10.5)
    page.cell(_WIDTH - 36, 5, "Check this certificate")
    page.set_xy(left, _FOOT + 6)
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(TEAL)
    page.cell(_WIDTH - 36, 4.5, facts.verification_url, link=facts.verification_url)
    page.set_xy(left, _FOOT + 12)
    page.set_text_color(QUIET)
    page.multi_cell(_WIDTH - 36, 4.2, _EVIDENCE, align="L")
    page.set_x(left)
    page.cell(_WIDTH - 36, 6, f"Arranged by {facts.distributor} through Coverdesk")


def _draw_qr_code(page: "FPDF", address: str, *, x: float, y: float, size: float) -> None:
    """Draw a QR code as rectangles: sharp at every size, byte-identical every time."""
    import segno  # noqa: PLC0415 - as above

    rows = segno.make(address, error="m", micro=False, boost_error=False).matrix
    side = size / len(rows)
    page.set_fill_color("#FFFFFF")
    page.rect(x - 4 * side, y - 4 * side, size + 8 * side, size + 8 * side, style="F")
    page.set_fill_color(INK)
    for down, row in enumerate(rows):
        across = 0
        for dark, run in groupby(row):
            length = len(list(run))
            if dark:
                page.rect(x + across * side, y + down * side, length * side, side, style="F")
            across += length


def _draw_stamp(page: "FPDF", text: str) -> None:
    """Print large diagonal text across the page, light enough to read through."""
    with page.local_context(fill_opacity=0.14), page.rotation(54, page.w / 2, page.h / 2):
        page.set_text_color(RED)
        page.set_font("Roboto", "B", 40)
        page.set_font_size(min(90, 40 * 260 / page.get_string_width(text)))
        page.text((page.w - page.get_string_width(text)) / 2, page.h / 2, text)
