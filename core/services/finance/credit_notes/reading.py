"""Credit notes as screens and their PDF show them: the refund, its term and arithmetic, and the people."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock, money
from core.money import Split
from core.services.files import printing
from core.services.files.printing import INK, LEFT
from core.services.finance.credit_notes import givers
from core.services.finance.credit_notes.givers import number_of
from core.services.lists import listing
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import Filter, Ids, found_by_any, mentions, of
from core.services.lists.filters.fields import Days, members_of, parse_naira, states_of
from core.services.lists.listing import Column, Derived, Listing, Order, by_time
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import COUNT, DATE, DAY, ID, INSTANT, MASKED, STATE, TEXT, WORD
from core.services.lists.windows import Span
from core.services.people.staff import join_names
from core.services.sales.filter import declare_search
from core.services.sales.search import select_policies
from core.states.finance import UNPAID, CreditNoteState
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import (
    CreditNote,
    CreditNotePayment,
    Distributor,
    PaymentPayee,
    Policy,
    Product,
    Provider,
    Refund,
    Renewal,
    Staff,
    Transfer,
)

# "CN-0003", which each insurer may have.
_NUMBER: Final = re.compile(r"CN[- ]?0*([0-9]{1,9})", re.IGNORECASE)


def is_number(text: str) -> bool:
    """Return True for a text that is the number of a credit note."""
    return _NUMBER.fullmatch(text) is not None


def _build_searches(text: str) -> Iterator[AnySelect]:
    found: AnySelect = sa.select(col(CreditNote.id))
    if number := _NUMBER.fullmatch(text):
        yield found.where(col(CreditNote.number) == int(number[1]))
        return
    is_paid_so = sa.or_(*(mentions(column, text) for column in (col(PaymentPayee.name), col(Transfer.reference))))
    yield join_payment(found).where(is_paid_so)
    of_policy = col(Refund.policy_id).in_(select_policies(Policy.id, text))
    yield found.join(Refund, col(Refund.id) == col(CreditNote.refund_id)).where(of_policy)
    if amount := parse_naira(text):
        yield found.where(col(CreditNote.total_minor) == money.to_minor(amount))


class CreditNoteFilter(Filter, on=(CreditNote,)):
    """Filter of the list of credit notes."""

    find: str | None = declare_search(
        found_by_any(col(CreditNote.id), _build_searches),
        help="A number, an amount, a part of a payee or a bank reference, or what finds the policy.",
        placeholder="Number, policy, customer, payee, reference or amount",
    )
    created: Span = of(Days, label="Made", column="created_at", address="from to", screen="Made")
    provider_ids: Ids = of(members_of, "provider")
    distributor_ids: Ids = of(members_of, "distributor")
    states: tuple[str, ...] = of(states_of, CreditNoteState)


UNFILTERED = CreditNoteFilter()
_KEY, _AMOUNT = col(CreditNote.id), col(CreditNote.total_minor)
_BY_AMOUNT = (
    Order("largest", "Most given back first", (_AMOUNT.desc(), _KEY.desc()), is_descending=True),
    Order("smallest", "Least given back first", (_AMOUNT, _KEY)),
)
# The last payment of each note, with the return of it if it came back.
LAST = CreditNotePayment
BACK, _MADE = orm.aliased(CreditNotePayment), orm.aliased(CreditNotePayment)
_LAST_ID = (
    sa.select(col(_MADE.id))
    .where(col(_MADE.credit_note_id) == col(CreditNote.id), col(_MADE.reverses).is_(None))
    .order_by(col(_MADE.created_at).desc(), col(_MADE.id).desc())
    .limit(1)
    .correlate(CreditNote)
    .scalar_subquery()
)
_MAKER = orm.aliased(Staff)
_PAYMENT = {
    "payee": col(PaymentPayee.name),
    "payee_bank": col(PaymentPayee.bank_name),
    "payee_hint": col(PaymentPayee.hint),
    "payee_id": col(PaymentPayee.id),
    "paid_by": col(LAST.paid_by),
    "paid_at": col(LAST.created_at),
    "reference": col(Transfer.reference),
    "value_on": col(LAST.value_on),
    "returned_by": col(BACK.paid_by),
    "returned_on": col(BACK.value_on),
    "note": col(BACK.reason),
}


def join_payment(query: AnySelect) -> AnySelect:
    """Join the payee of each credit note, its last payment, that one's transfer, and its return."""
    joined: AnySelect = (
        query.outerjoin(PaymentPayee, col(PaymentPayee.id) == col(CreditNote.payee_id))
        .outerjoin(LAST, col(LAST.id) == _LAST_ID)
        .outerjoin(Transfer, col(Transfer.id) == col(LAST.transfer_id))
        .outerjoin(BACK, col(BACK.reverses) == col(LAST.id))
    )
    return joined


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditNoteRow:
    """One credit note; `parts` are what goes back and its three shares, `explained` the steps of the arithmetic."""

    id: UUID
    is_live: bool
    number: str
    provider: str
    product: str
    distributor: str
    policy_id: UUID
    policy_number: str | None
    customer: str
    total_minor: int
    parts: Split
    method: str
    reason: str
    explained: Sequence[dict[str, str]]
    term_start_at: datetime | None
    term_end_at: datetime | None
    created_at: datetime
    made_by: str
    maker: str
    state: str
    first_by: UUID | None
    first: str | None
    first_at: datetime | None
    approved_by: UUID | None
    approver: str | None
    approved_at: datetime | None
    paid_by: UUID | None
    payer: str | None
    paid_at: datetime | None
    payee: str | None
    payee_bank: str | None
    payee_hint: str | None
    payee_id: UUID | None
    reference: str | None
    value_on: date | None
    returned_by: UUID | None
    returned_on: date | None
    note: str | None

    @property
    def age_days(self) -> int:
        """The days in Lagos since it was made."""
        return count_days(self.created_at)


def count_days(made_at: datetime) -> int:
    """Return the days in Lagos since a moment."""
    return (clock.today() - clock.to_lagos_day(made_at)).days


def count(session: ScopedSession, criteria: CreditNoteFilter) -> tuple[int, int]:
    """Return the number of credit notes of a selection and their sum in kobo."""
    return session.count_and_sum(col(CreditNote.total_minor), *criteria.conditions(CreditNote))


def list_notes(
    session: ScopedSession, criteria: CreditNoteFilter, paging: Paging, *, order: str = "newest"
) -> list[CreditNoteRow]:
    """Return a page of credit notes."""
    query = _query(order).where(*criteria.conditions(CreditNote)).limit(paging.limit).offset(paging.offset)
    return [_build(row) for row in session.execute(query)]


def get_note(session: ScopedSession, note_id: UUID) -> CreditNoteRow:
    """Return one credit note; NotFound for one that does not exist in the session's scope."""
    row = session.find_row(_query().where(col(CreditNote.id) == note_id), otherwise="There is no such credit note")
    return _build(row)


def list_unpaid(session: ScopedSession, before: datetime) -> list[CreditNoteRow]:
    """List the credit notes made before an instant that wait for us to pay them; a distributor pays some itself."""
    conditions = (col(CreditNote.state).in_(UNPAID), col(CreditNote.created_at) < before)
    others = givers.list_given_by_distributors(session, *conditions)
    rows = [_build(row) for row in session.execute(_query().where(*conditions))]
    return [row for row in rows if row.id not in others]


def _query(order: str = "newest") -> AnySelect:
    start = sa.case((col(Refund.renewal_id).is_not(None), col(Renewal.start_at)), else_=col(Policy.start_at))
    end = sa.case((col(Refund.renewal_id).is_not(None), col(Renewal.expiration_at)), else_=col(Policy.expiration_at))
    query: AnySelect = join_payment(
        sa.select(
            *(CreditNote, Refund, col(Policy.policy_number), col(Policy.first_name), col(Policy.last_name)),
            *(col(Provider.company_name).label("provider"), col(Distributor.business_name).label("distributor")),
            *(col(Product.name).label("product"), col(_MAKER.name).label("maker_name")),
            *(start.label("term_start_at"), end.label("term_end_at")),
            *(column.label(name) for name, column in _PAYMENT.items()),
        )
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .join(Provider, col(Provider.id) == col(CreditNote.provider_id))
        .join(Distributor, col(Distributor.id) == col(CreditNote.distributor_id))
        .join(Product, col(Product.id) == col(Refund.product_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Refund.renewal_id))
        .outerjoin(_MAKER, sa.literal("staff ") + col(_MAKER.email) == col(CreditNote.made_by))
    )
    people = {"first": CreditNote.first_by, "approver": CreditNote.approved_by, "payer": LAST.paid_by}
    return join_names(query, **people).order_by(*CREDIT_NOTES.orders[order].keys)


def _build(row: Any) -> CreditNoteRow:
    note, refund = row.CreditNote, row.Refund
    return build_row(
        CreditNoteRow,
        note,
        row,
        refund,
        number=number_of(note.number),
        maker=row.maker_name or note.made_by.removeprefix("staff "),
        customer=f"{row.first_name} {row.last_name}",
        parts=build_row(Split, refund),
    )


def _rows(columns: Sequence[Any], criteria: CreditNoteFilter, _: Choices) -> AnySelect:
    rows: AnySelect = (
        sa.select(*columns)
        .select_from(CreditNote)
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .where(*criteria.conditions(CreditNote))
    )
    return join_payment(rows)


def _split() -> dict[str, Column]:
    found = listing.money_columns(Refund)
    shares = {name: replace(found[name], of=f"parts.{of}") for name, of in listing.SHARES.items()}
    back = replace(found["total"], label="Given back", of="total_minor", machine="total", orders=_BY_AMOUNT)
    return {"back": back, "insurer": shares.pop("share"), **shares}


CREDIT_NOTES: Listing[CreditNoteFilter] = Listing(
    name="credit-notes",
    title="Credit notes",
    noun=("credit note", "credit notes"),
    roles=("finance",),
    filter=CreditNoteFilter,
    key=_KEY,
    usual=("number", "provider", "made", "policy", "customer", "back", "state", "age"),
    row_type=CreditNoteRow,
    columns={
        "id": Column("Reference", ID, _KEY),
        "number": Column(
            *("Number", WORD, Derived((col(CreditNote.number),), lambda _, number: number_of(number), is_cached=False)),
            machine="reference_number",
            for_machines=False,
            width=90,
        ),
        "plain_number": Column("Plain number", COUNT, col(CreditNote.number), machine="number"),
        "made": Column(
            *("Made", INSTANT, col(CreditNote.created_at)),
            of="created_at",
            machine="created_at",
            orders=by_time(CreditNote),
        ),
        "made_on": Column("Made on", DAY, col(CreditNote.created_at), of="created_at", machine="created_on"),
        "state": Column("State", STATE, col(CreditNote.state)),
        "policy": replace(listing.policy_number(width=170)["policy"], of="policy_number"),
        "customer": replace(listing.customer_columns()["customer"], width=160),
        **_split(),
        "method": Column("Method", WORD, col(Refund.method)),
        "payee": Column("Payee", TEXT, col(PaymentPayee.name), width=130),
        "payee_account": Column("Payee's account", MASKED, col(PaymentPayee.hint), of="payee_hint"),
        "reference": Column("Bank reference", TEXT, col(Transfer.reference), width=150),
        "value_date": Column("Value date", DATE, sa.cast(col(LAST.value_on), sa.String), of="value_on"),
        "age": Column(
            *("Days", COUNT),
            Derived((col(CreditNote.created_at),), lambda _, made_at: count_days(made_at)),
            of="age_days",
            machine="age_days",
        ),
        **listing.sale_names(Refund),
        # Numbers are counted within an insurer, whose name is never cut short beside them.
        "provider": replace(listing.sale_names(Refund)["provider"], width=180),
        **listing.mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: count(session, criteria)[0],
    summed=col(CreditNote.total_minor),
    sum_title="Given back",
)


if TYPE_CHECKING:
    from fpdf import FPDF

# Commissions are no business of the customer's.
COPIES: Final = ("customer", "insurer")
_UNAPPROVED: Final = (CreditNoteState.COMPUTED, CreditNoteState.SECOND_PERSON)
_LABEL, _WORKING, _AMOUNT_WIDTH = 46.0, 80.0, printing.AMOUNT


def render(note: CreditNoteRow, copy: str) -> bytes:
    """Return the PDF of a credit note; `copy` is one of `COPIES`."""
    page = printing.create(f"Credit note {note.number}", created_at=note.created_at)
    issued = f"{clock.to_lagos_day(note.created_at):%-d %B %Y}"
    printing.head(page, title="Credit note", number=note.number, left=note.provider, right=issued)
    _lines(page, _parties(note))
    _total(page, note)
    _arithmetic(page, note)
    if copy == "insurer":
        _shares(page, note)
    printing.heading(page, "Payment")
    _lines(page, _payment(note))
    if text := _find_stamp(note):
        printing.stamp(page, text)
    return printing.finish(page, f"Credit note {note.number} · {note.id} · {note.provider}")


def _parties(note: CreditNoteRow) -> list[tuple[str, str]]:
    term = "Cover never began"
    if note.term_start_at and note.term_end_at:
        days = (clock.to_lagos_day(note.term_start_at), clock.to_lagos_day(note.term_end_at))
        term = " to ".join(f"{day:%-d %B %Y}" for day in days)
    return [
        ("To", note.customer),
        ("Policy", note.policy_number or "without a number"),
        ("Product", note.product),
        ("Insurer", note.provider),
        ("Sold by", note.distributor),
        ("Term", term),
        ("Ended on", f"{clock.to_lagos_day(note.created_at):%-d %B %Y}"),
        ("Reason", note.reason),
    ]


def _payment(note: CreditNoteRow) -> list[tuple[str, str]]:
    if not note.is_live:
        return [("State", "Test mode: no money moves")]
    if note.state in _UNAPPROVED:
        return [("State", "Not approved yet")]
    if note.state == CreditNoteState.NOT_RECORDED:
        return [("State", "Made before payments of credit notes were noted")]
    if note.state == CreditNoteState.RETURNED:
        return [("State", "The bank returned the payment; it is approved again, and paid once more")]
    if note.state in UNPAID:
        return [("State", "Not paid yet")]
    value = f"{note.value_on:%-d %B %Y}" if note.value_on else ""
    return [("Paid to", note.payee or ""), ("Bank reference", note.reference or ""), ("Value date", value)]


def _lines(page: "FPDF", lines: list[tuple[str, str]]) -> None:
    page.set_font("Roboto", "", 9.5)
    for label, value in lines:
        printing.fact(page, [(label, _LABEL), (value, printing.width_of(page) - _LABEL)], height=6)
    page.set_y(page.get_y() + 4)


def _total(page: "FPDF", note: CreditNoteRow) -> None:
    printing.require_height(page, 19)
    top, width = page.get_y(), printing.width_of(page)
    page.set_fill_color("#F2F6F5")
    page.rect(LEFT, top, width, 14, style="F")
    page.set_xy(LEFT + 3, top)
    page.set_text_color(INK)
    page.set_font("Roboto", "", 11)
    page.cell(width / 2 - 3, 14, "Premium given back")
    page.set_font("Roboto", "B", 15)
    page.cell(width / 2 - 3, 14, money.format_naira(note.total_minor), align="R")
    page.set_xy(LEFT, top + 19)


def _arithmetic(page: "FPDF", note: CreditNoteRow) -> None:
    if not note.explained:
        return
    printing.heading(page, "How it was computed")
    page.set_font("Roboto", "", 9.5)
    for step in note.explained:
        working = money.sign_amounts(step["working"])
        texts = [(working, _WORKING), (step["step"], printing.width_of(page) - _WORKING - _AMOUNT_WIDTH)]
        _amount(page, texts[::-1], f"₦{Decimal(step['amount']):,.2f}")
    _end_amounts(page)


def _shares(page: "FPDF", note: CreditNoteRow) -> None:
    printing.heading(page, "Borne by")
    shares = (
        (f"{note.provider}, insurer", note.parts.provider_share_minor),
        ("Platform, commission", note.parts.mca_profit_minor),
        (f"{note.distributor}, commission", note.parts.distributor_profit_minor),
        ("Together", note.parts.total_minor),
    )
    for label, minor in shares:
        page.set_font("Roboto", "B" if label == "Together" else "", 9.5)
        _amount(page, [(label, printing.width_of(page) - _AMOUNT_WIDTH)], money.format_naira(minor))
    _end_amounts(page)


def _amount(page: "FPDF", texts: list[tuple[str, float]], amount: str) -> None:
    printing.fact(page, texts, height=6, amount=amount, quiet=False, ruled=True)


def _end_amounts(page: "FPDF") -> None:
    printing.rule(page, printing.width_of(page))
    page.set_y(page.get_y() + 5)


def _find_stamp(note: CreditNoteRow) -> str | None:
    if not note.is_live:
        return "Test mode"
    return "Not approved" if note.state in _UNAPPROVED else None
