"""Loan books: uploaded, confirmed by another person or the lender's own key, given up, paused and resumed (B1, B5)."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import BeforeValidator, Field, WithJsonSchema
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.credit_life import BENEFITS, CREDIT_LIFE
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, StateForbids, TooLarge, run_checks
from core.services.audit import log as audit
from core.services.catalogue import distributor_terms, for_sale
from core.services.catalogue.for_sale import ProductForSale
from core.services.files import links as file_links
from core.services.people import role_grants
from core.services.people.four_eyes import FirstStep, require_other
from core.services.people.staff import Person
from core.services.selling.loan_books import row_values
from core.states.loan_books import GIVEN_UP, TRANSITIONS, WORKED, LoanBookState, RowOutcome
from core.store.access import Owner, ScopedSession
from core.store.expressions import sum_of
from core.store.schema import sales as schema
from core.store.schema.tables import Agreement, LoanBook, LoanBookFile, LoanBookRow, Policy, Purchase, Staff

MAX_BYTES: Final = 25 * 1024 * 1024
KINDS, DATE_ORDERS = schema.KINDS, schema.DATE_ORDERS
EXPIRES_AFTER: Final = timedelta(days=7)
# What operations confirm of a lender counts together for so long.
COUNTS_FOR: Final = timedelta(days=30)
# A lender's key ends loans that ended within so long; the desk looks at those of before.
EXITS_WITHIN: Final = timedelta(days=60)
# How long the report of a done book says who was left without cover.
ROWS_KEPT_FOR: Final = timedelta(days=180)
SUBJECT: Final = "loan_book"
_IS_LEFT: Final = col(LoanBookRow.outcome).not_in([RowOutcome.COVERED, RowOutcome.ENDED])


def _parse_month(value: object) -> Any:
    written = f"{value}-01" if isinstance(value, str) and len(value) == 7 else value
    try:
        month = date.fromisoformat(written) if isinstance(written, str) else written
    except ValueError:
        month = None
    if not isinstance(month, date) or month.day != 1 or month > clock.today():
        raise fault("must be a month as YYYY-MM, this one at the latest")
    return month


def _split_benefits(value: object) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class LoanBookRequest(Request):
    """The header of a book, said once at its upload; the file lies beside it."""

    kind: Literal["additions", "exits", "snapshot"] = Field(
        examples=["additions"],
        description="`additions` are covered, `exits` end, a `snapshot` of the whole live book is compared.",
    )
    product_id: fields.ProductId = Field(
        examples=["01900000-0000-7000-8000-000000080101"], description="The credit life product of all rows."
    )
    month: Annotated[
        date, BeforeValidator(_parse_month), WithJsonSchema({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"})
    ] = Field(examples=["2026-11"], description="YYYY-MM.")
    date_format: Literal["YYYY-MM-DD", "DD/MM/YYYY"] = Field(
        default="YYYY-MM-DD", examples=["YYYY-MM-DD"], description="How the days in the file are written."
    )
    benefit_coverage: Annotated[
        list[Annotated[str, fields.one_of(*BENEFITS)]] | None,
        BeforeValidator(_split_benefits),
        WithJsonSchema({"type": "string"}),
    ] = Field(
        default=None,
        examples=["death,permanent_disability"],
        description="Of the rows that name none, divided by commas; without it all of the product.",
    )
    free_cover_limit: fields.PositiveNaira | None = Field(
        default=None, examples=["5000000.00"], description="Loans above it are referred, and not covered by the book."
    )
    attested_by: fields.Name | None = Field(
        default=None, examples=["Ngozi Okafor"], description="Who attests that the lender knows its borrowers."
    )
    attested_on: Annotated[fields.TodayOrEarlier | None, fields.ExampleInDays(0)] = Field(default=None)
    attestation_url: fields.Document | None = Field(
        default=None,
        examples=["https://files.example.com/attestation.pdf"],
        description="The attestation; it stands for the picture of an identity document of each row.",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Uploader:
    """The uploader: a key of the lender, or a person of the desk on its behalf."""

    owner: Owner
    actor: str
    staff_id: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """The preview as it was seen before the confirmation: number of rows, premium in naira and hash."""

    rows: int
    premium: Decimal
    preview_hash: str


def upload(session: ScopedSession, typed: Mapping[str, Any], name: str, content: bytes, by: Uploader) -> LoanBook:
    """Keep a file that is to be read; InvalidInput for what is said of it, StateForbids for the same file again."""
    given: LoanBookRequest = request.validate(LoanBookRequest, typed)
    if len(content) > MAX_BYTES:
        raise TooLarge(f"A loan book has at most {MAX_BYTES // (1 << 20)} MiB: divide it, by branch or by days")
    product, _, _ = run_checks(
        lambda: for_sale.get_product(session, CREDIT_LIFE, given.product_id, by.owner.distributor_id),
        lambda: file_links.require_own_files(session, given, by.owner),
        lambda: _check_said(given, content),
    )
    digest = hashlib.sha256(content).hexdigest()
    _refuse_again(session, digest, by.owner)
    row = _build(given, product, name, content, digest, by)
    session.insert(row)
    session.insert(LoanBookFile(book_id=row.id, content=content, **by.owner.columns))
    note(session, row, "loan book uploaded", actor=by.actor, file=row.file_name, sha256=digest, kind=row.kind)
    return row


def _check_said(given: LoanBookRequest, content: bytes) -> None:
    needed = {name: getattr(given, name) for name in ("attested_by", "attested_on", "attestation_url")}
    faults = [
        (given.kind != row_values.ADDITIONS or value is not None, name, "is required: the lender attests its borrowers")
        for name, value in needed.items()
    ]
    request.refuse_unless([*faults, (bool(content), "file", "must not be empty")])


def _refuse_again(session: ScopedSession, digest: str, owner: Owner) -> None:
    query = sa.select(LoanBook).where(
        col(LoanBook.sha256) == digest,
        *owner.owns(LoanBook),
        col(LoanBook.state).not_in([str(state) for state in GIVEN_UP]),
    )
    first: LoanBook | None = session.execute(query).scalar()
    if first is None:
        return
    again = (
        "; give that book up to have the file read in another way"
        if any(each.to == LoanBookState.CANCELLED for each in TRANSITIONS.list_from(first.state))
        else ""
    )
    uploaded_on = clock.format_day(clock.to_lagos_day(first.created_at))
    raise StateForbids(
        f"This very file was uploaded already, as {first.file_name} on {uploaded_on}{again}",
        detail={"loan_book_id": str(first.id)},
    )


def _build(
    given: LoanBookRequest, product: ProductForSale, name: str, content: bytes, digest: str, by: Uploader
) -> LoanBook:
    shares = product.rates.meta["shares"]
    unknown = [each for each in given.benefit_coverage or () if each not in shares]
    if unknown:
        raise InvalidInput.for_field("benefit_coverage", f"must be offered by the product: {', '.join(shares)}")
    now, chosen = clock.now(), given.benefit_coverage or list(shares)
    return LoanBook(
        id=ids.new(),
        **by.owner.columns,
        kind=given.kind,
        product_id=product.id,
        month=given.month,
        date_order=given.date_format,
        benefits=[each for each in BENEFITS if each in chosen],
        free_cover_minor=None if given.free_cover_limit is None else money.to_minor(given.free_cover_limit),
        attested_by=given.attested_by,
        attested_on=given.attested_on,
        attestation_url=given.attestation_url,
        file_name=" ".join(name.split())[:200] or "loan book",
        sha256=digest,
        size=len(content),
        product_version_id=product.version_id,
        batch_id=ids.new(),
        uploaded_by=by.actor[:120],
        uploader_id=by.staff_id,
        created_at=now,
        updated_at=now,
        done_minor=0,
    )


def note(session: ScopedSession, book: LoanBook, action: str, *, actor: str, **after: Any) -> None:
    """Write what happened to a book into the log."""
    audit.note(session, SUBJECT, book.id, action, actor=actor, **{"status": book.state, **after})


def get(session: ScopedSession, book_id: UUID, *, for_update: bool = False) -> LoanBook:
    """Return a book of the session's scope; NotFound for none."""
    query = sa.select(LoanBook).where(col(LoanBook.id) == book_id)
    query = query.with_for_update().execution_options(populate_existing=True) if for_update else query
    return session.find_scalar(query, otherwise="There is no such loan book")


def move(session: ScopedSession, book: LoanBook, to: LoanBookState, **values: Any) -> None:
    """Bring a locked book to another state; StateForbids where it cannot follow."""
    TRANSITIONS.get(book.state, to)
    book.state, book.updated_at, book.version = str(to), clock.now(), book.version + 1
    for name, value in values.items():
        setattr(book, name, value)
    session.flush()


_OFFICER, _SUPERVISOR = _ROLES = ("operations", "supervisor")
_CONFIRMED: Final = "loan book confirmed"


def confirm_by_person(session: ScopedSession, book_id: UUID, *, accept: str, expected: Expected, by: Person) -> None:
    """Confirm a book on the desk; NotAllowed for who uploaded it, or where its premium is above the person's limit."""
    with _refusals(book_id, by.actor):
        book = get(session, book_id, for_update=True)
        if not by.has_role("supervisor"):
            # Whoever confirms another book under a limit at this instant waits here.
            session.next_in_transaction("loan books confirmed under a limit")
        require_authority(session, book, by)
        role = _SUPERVISOR if by.has_role(_SUPERVISOR) else _OFFICER
        _confirm(session, book, accept, expected, actor=by.actor, staff_id=by.id, role=role)


def _refusals(book_id: UUID, actor: str) -> AbstractContextManager[None]:
    """Keep a refused confirmation in the log."""
    return audit.keep_refusal(actor=actor, action="loan book confirmation", subject=audit.subject_of(SUBJECT, book_id))


def require_authority(session: ScopedSession, book: LoanBook, by: Person) -> None:
    """NotAllowed for who may not confirm a book on the desk: its uploader, or operations above their limit.

    Whoever issued the key that uploaded it may have been its uploader. StateForbids for what was uploaded in the name
    of somebody whose password was just reset.
    """
    by.require_role(*_ROLES, otherwise="Operations or a supervisor confirms a loan book")
    step = FirstStep(
        by=book.uploader_id,
        at=book.created_at,
        did="uploaded this loan book",
        does="confirms it",
        roles=_ROLES,
        instead="give it up, and upload it anew",
    )
    require_other(session, step, by)
    if book.uploader_id is None and by.actor in role_grants.list_holders(session, {book.uploaded_by}):
        raise NotAllowed("You issued the key that uploaded this loan book: somebody else confirms it")
    if not by.has_role("supervisor"):
        _require_limit(book, by.claim_limit_minor, before=_sum_confirmed(session, book))


def _require_limit(book: LoanBook, limit: int | None, *, before: int) -> None:
    """NotAllowed where the premium of a book, with the kobo confirmed `before`, is above a limit; None is none."""
    minor = money.to_minor(Decimal(book.preview.get("premium", "0")))
    if limit is not None and minor + before <= limit:
        return
    own_limit = "you have none" if limit is None else f"yours is {money.format_naira(limit)}"
    days = COUNTS_FOR.days
    added = f" with the {money.format_naira(before)} confirmed for this lender within {days} days" if before else ""
    raise NotAllowed(
        f"{money.format_naira(minor)}{added} takes a supervisor, or somebody with a limit that covers it: {own_limit}"
    )


def _sum_confirmed(session: ScopedSession, book: LoanBook) -> int:
    """Return the kobo that operations confirmed lately of the lender's other books: a limit is not split over them."""
    since = clock.now() - COUNTS_FOR
    by_officers = audit.list_decided_as(session, _CONFIRMED, _OFFICER, since=since)
    rows = session.execute(sa.select(Staff)).scalars()
    unlimited = [row.id for row in rows if not {_SUPERVISOR, "admin"}.isdisjoint(row.roles)]
    earlier = sa.select(col(LoanBook.preview)).where(
        *Owner.of(book).owns(LoanBook),
        col(LoanBook.kind) == book.kind,
        col(LoanBook.id) != book.id,
        col(LoanBook.confirmed_at) > since,
        col(LoanBook.confirmer_id).is_not(None),
        sa.or_(col(LoanBook.confirmer_id).not_in(unlimited), col(LoanBook.id).in_(by_officers)),
    )
    return sum(money.to_minor(Decimal(each.get("premium", "0"))) for each in session.execute(earlier).scalars())


def confirm_by_key(session: ScopedSession, book_id: UUID, *, accept: str, expected: Expected, actor: str) -> None:
    """Confirm what the lender uploaded itself, up to the premium of a month that its agreement allows.

    NotAllowed for what the desk uploaded, and above that premium: the desk confirms it then. A test key always may.
    """
    with _refusals(book_id, actor):
        book = get(session, book_id, for_update=True)
        if book.uploader_id is not None:
            raise NotAllowed("The desk uploaded this loan book, and confirms it")
        if book.is_live and book.kind == row_values.ADDITIONS:
            _require_allowance(session, book)
        if book.is_live and book.kind == row_values.EXITS:
            _refuse_late_exits(session, book)
        _confirm(session, book, accept, expected, actor=actor, staff_id=None)


def _require_allowance(session: ScopedSession, book: LoanBook) -> None:
    """NotAllowed above the premium of a month; whoever confirms another book of the lender at this instant waits."""
    today = clock.today()
    query = distributor_terms.select_agreement(book.distributor_id, clock.today()).with_for_update()
    terms: Agreement | None = session.execute(query).scalar_one_or_none()
    allowed = 0 if terms is None or distributor_terms.has_ended(terms, today) else terms.book_premium_minor or 0
    month = clock.lagos_midnight(today.replace(day=1))
    earlier = sa.select(col(LoanBook.preview)).where(
        *Owner.of(book).owns(LoanBook),
        col(LoanBook.kind) == row_values.ADDITIONS,
        col(LoanBook.confirmed_at) >= month,
        col(LoanBook.confirmer_id).is_(None),
    )
    previews = [book.preview, *session.execute(earlier).scalars()]
    total = sum(money.to_minor(Decimal(each.get("premium", "0"))) for each in previews)
    if total > allowed:
        raise NotAllowed(
            f"With this book the premium of {today:%B %Y} is {money.format_naira(total)}, of which your agreement lets"
            f" you confirm {money.format_naira(allowed)}: the desk confirms it"
        )


def _refuse_late_exits(session: ScopedSession, book: LoanBook) -> None:
    """NotAllowed for loans that ended long ago: a lender would be covered for months whose premium goes back to it."""
    earliest = sa.select(sa.func.min(col(LoanBookRow.facts)["exit_date"].as_string())).where(
        col(LoanBookRow.book_id) == book.id, col(LoanBookRow.outcome) == RowOutcome.VALID
    )
    day, bound = session.execute(earliest).scalar(), clock.add_days(clock.today(), -EXITS_WITHIN.days)
    if day is not None and date.fromisoformat(day) < bound:
        raise NotAllowed(
            f"A loan of this book ended on {clock.format_day(date.fromisoformat(day))}, more than"
            f" {EXITS_WITHIN.days} days ago: the desk confirms it"
        )


def get_agreed_from(session: ScopedSession, distributor_id: UUID) -> date | None:
    """Return the first day of the first agreement with a distributor; None where there is none."""
    query = sa.select(sa.func.min(col(Agreement.starts_on))).where(col(Agreement.distributor_id) == distributor_id)
    first: date | None = session.execute(query).scalar()
    return first


def _confirm(
    session: ScopedSession,
    book: LoanBook,
    accept: str,
    expected: Expected,
    *,
    actor: str,
    staff_id: UUID | None,
    **authority: str,
) -> None:
    TRANSITIONS.get(book.state, LoanBookState.CONFIRMED)
    if book.expires_at is not None and book.expires_at <= clock.now():
        raise StateForbids("This loan book has expired: upload it again")
    _require_seen(book, accept, expected)
    _require_unmoved(session, book, actor)
    move(
        session,
        book,
        LoanBookState.CONFIRMED,
        accept=accept,
        confirmed_by=actor[:120],
        confirmer_id=staff_id,
        confirmed_at=clock.now(),
        expires_at=None,
    )
    drop_file(session, book.id)
    note(
        session,
        book,
        _CONFIRMED,
        actor=actor,
        accept=accept,
        rows=book.preview["valid"],
        premium=book.preview["premium"],
        **authority,
    )


def _require_seen(book: LoanBook, accept: str, expected: Expected) -> None:
    preview = book.preview
    seen = (expected.rows, money.to_minor(expected.premium), expected.preview_hash)
    if seen != (preview["valid"], money.to_minor(Decimal(preview["premium"])), book.preview_hash):
        detail = {"rows": preview["valid"], "premium": preview["premium"], "preview_hash": book.preview_hash}
        raise StateForbids("The preview is another one than was seen: look at it again", detail=detail)
    if not preview["valid"]:
        raise StateForbids("There is no row to carry out")
    if accept == "all_or_nothing" and preview["valid"] != preview["rows"]:
        left = preview["rows"] - preview["valid"]
        rows = f"{left:,} {'row' if left == 1 else 'rows'}"
        raise StateForbids(f"{rows} cannot be carried out: correct the file, or accept the valid rows alone")


def _require_unmoved(session: ScopedSession, book: LoanBook, actor: str) -> None:
    """StateForbids where rates or loans have moved since the preview; the book is read again then."""
    if book.kind != row_values.ADDITIONS:
        return
    moved = _describe_moved(session, book)
    if moved is None:
        return
    error = StateForbids(f"{moved} since the preview: the book is read again, look at the new preview")
    book_id = book.id

    def read_again(later: ScopedSession) -> None:
        row = get(later, book_id, for_update=True)
        if row.state == LoanBookState.VALIDATED:
            move(later, row, LoanBookState.UPLOADED, preview_hash=None)
            note(later, row, "loan book read again", actor=actor, reason=moved)

    error.kept = read_again
    raise error


def _describe_moved(session: ScopedSession, book: LoanBook) -> str | None:
    try:
        product = for_sale.get_product(session, CREDIT_LIFE, str(book.product_id), book.distributor_id)
    except InvalidInput:
        return "The product was taken off sale"
    if (str(product.version_id), str(product.share_id or "")) != tuple(book.preview["rates"]):
        return "The rates have changed"
    insured = (
        sa.select(sa.func.count())
        .select_from(LoanBookRow)
        .join(Policy, sa.and_(Policy.risk_hash == LoanBookRow.risk_hash, Policy.product_id == book.product_id))  # type: ignore[arg-type]
        .where(
            col(LoanBookRow.book_id) == book.id,
            col(LoanBookRow.outcome) == RowOutcome.VALID,
            col(Policy.distributor_id) == book.distributor_id,
            col(Policy.is_live) == book.is_live,
            col(Policy.created_at) >= book.updated_at - timedelta(hours=1),
            col(Policy.cancelled_at).is_(None),
            col(Policy.declined_at).is_(None),
            col(Policy.expiration_at) > clock.now(),
        )
    )
    count = session.execute(insured).scalar_one()
    return f"{count:,} {'loan was' if count == 1 else 'loans were'} covered" if count else None


def drop_file(session: ScopedSession, book_id: UUID) -> None:
    """Forget the bytes of a book that is not read again."""
    session.execute(
        sa.delete(LoanBookFile).where(col(LoanBookFile.book_id) == book_id).execution_options(synchronize_session=False)
    )


def cancel(session: ScopedSession, book_id: UUID, *, actor: str) -> None:
    """Give a book up: its rows that have no policy go with it, its counts stay. What was sold stays sold."""
    book = get(session, book_id, for_update=True)
    _give_up(session, book, LoanBookState.CANCELLED, action="loan book cancelled", actor=actor)


def _give_up(session: ScopedSession, book: LoanBook, to: LoanBookState, *, action: str, actor: str) -> None:
    move(session, book, to, leased_until=None)
    drop_file(session, book.id)
    drop_rows(session, book.id)
    note(session, book, action, actor=actor, rows=book.done_rows)


def drop_rows(session: ScopedSession, book_id: UUID) -> None:
    """Forget the rows that were neither sold nor ended: people who are no customers."""
    session.execute(
        sa.delete(LoanBookRow)
        .where(col(LoanBookRow.book_id) == book_id, _IS_LEFT)
        .execution_options(synchronize_session=False)
    )


def forget_rows(session: ScopedSession) -> int:
    """Forget the rows without a policy of books that were done long ago; returns the number of books."""
    before = clock.now() - ROWS_KEPT_FOR
    has_rows = sa.exists().where(col(LoanBookRow.book_id) == col(LoanBook.id), _IS_LEFT)
    query = sa.select(LoanBook).where(col(LoanBook.done_at) < before, has_rows).with_for_update(skip_locked=True)
    found = list(session.execute(query).scalars())
    for book in found:
        drop_rows(session, book.id)
        note(session, book, "loan book rows forgotten", actor="system")
    return len(found)


def expire(session: ScopedSession) -> int:
    """Give up the books that nobody confirmed in time; returns their number."""
    query = sa.select(LoanBook).where(
        col(LoanBook.state) == LoanBookState.VALIDATED, col(LoanBook.expires_at) <= clock.now()
    )
    found = list(session.execute(query.with_for_update(skip_locked=True)).scalars())
    for book in found:
        _give_up(session, book, LoanBookState.EXPIRED, action="loan book expired", actor="system")
    return len(found)


def pause(session: ScopedSession, book_id: UUID, *, actor: str, reason: str) -> None:
    """Stop a book that is being sold after the chunk that is under way."""
    book = get(session, book_id, for_update=True)
    move(session, book, LoanBookState.PAUSED, leased_until=None, refusal=reason[:1000])
    note(session, book, "loan book paused", actor=actor, refusal=book.refusal, rows=book.done_rows)


def resume(session: ScopedSession, book_id: UUID, *, actor: str) -> None:
    """Go on with a paused book where it stopped."""
    book = get(session, book_id, for_update=True)
    move(session, book, LoanBookState.SELLING, refusal=None)
    note(session, book, "loan book resumed", actor=actor, rows=book.done_rows)


def has_work(session: ScopedSession) -> bool:
    """Return True when a book waits for a worker; needs the system's scope."""
    free = sa.or_(col(LoanBook.leased_until).is_(None), col(LoanBook.leased_until) < clock.now())
    overdue = sa.and_(col(LoanBook.state) == LoanBookState.VALIDATED, col(LoanBook.expires_at) <= clock.now())
    worked = sa.and_(col(LoanBook.state).in_([str(state) for state in WORKED]), free)
    query = sa.select(sa.literal(1)).select_from(LoanBook).where(sa.or_(worked, overdue))
    return session.execute(query.limit(1)).first() is not None


_DONE = col(LoanBookRow.outcome).in_([str(RowOutcome.COVERED), str(RowOutcome.ENDED)])


def find_book_faults(session: ScopedSession) -> Iterator[str]:
    """Books whose sums are not those of their rows, and sales of a book that no row or the wrong row has."""
    yield from _find_wrong_sums(session)
    yield from _find_left_rows(session)
    yield from _find_foreign_policies(session)
    yield from _find_sold_past_rows(session)


def _find_wrong_sums(session: ScopedSession) -> Iterator[str]:
    count, total = sa.func.count(col(LoanBookRow.line)), sum_of(LoanBookRow.premium_minor)
    query = (
        sa.select(col(LoanBook.id), col(LoanBook.done_rows), col(LoanBook.done_minor), count, total)
        .outerjoin(LoanBookRow, sa.and_(col(LoanBookRow.book_id) == col(LoanBook.id), _DONE))
        .group_by(col(LoanBook.id), col(LoanBook.done_rows), col(LoanBook.done_minor))
        .having(sa.or_(count != col(LoanBook.done_rows), total != col(LoanBook.done_minor)))
    )
    for book_id, rows, minor, found, summed in session.execute(query):
        yield (
            f"loan book {book_id} says {rows:,} rows and {money.format_naira(minor)},"
            f" its rows say {found:,} and {money.format_naira(int(summed))}"
        )


def _find_left_rows(session: ScopedSession) -> Iterator[str]:
    left = (
        sa.select(col(LoanBook.id), sa.func.count())
        .join(LoanBookRow, col(LoanBookRow.book_id) == col(LoanBook.id))
        .where(col(LoanBookRow.outcome) == RowOutcome.VALID)
        .where(sa.or_(col(LoanBook.state) == LoanBookState.DONE, col(LoanBookRow.line) <= col(LoanBook.done_to)))
        .group_by(col(LoanBook.id))
    )
    for book_id, rows in session.execute(left):
        yield f"{rows:,} valid rows of loan book {book_id} were passed over"


def _find_foreign_policies(session: ScopedSession) -> Iterator[str]:
    owned: Any = sa.or_(
        col(Policy.distributor_id) != col(LoanBook.distributor_id),
        col(Policy.is_live) != col(LoanBook.is_live),
        col(Policy.product_id) != col(LoanBook.product_id),
    )
    other_sale = sa.and_(
        col(LoanBookRow.outcome) == RowOutcome.COVERED,
        sa.or_(col(Purchase.batch_id) != col(LoanBook.batch_id), col(Policy.risk_hash) != col(LoanBookRow.risk_hash)),
    )
    query = (
        sa.select(col(LoanBook.id), col(LoanBookRow.line))
        .join(LoanBookRow, col(LoanBookRow.book_id) == col(LoanBook.id))
        .join(Policy, col(Policy.id) == col(LoanBookRow.policy_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .where(_DONE, sa.or_(owned, other_sale))
    )
    for book_id, line in session.execute(query.limit(20)):
        yield f"line {line:,} of loan book {book_id} has the policy of another sale"


def _find_sold_past_rows(session: ScopedSession) -> Iterator[str]:
    has_row = sa.exists().where(
        col(LoanBookRow.book_id) == col(LoanBook.id),
        col(LoanBookRow.policy_id) == col(Policy.id),
        col(LoanBookRow.outcome) == RowOutcome.COVERED,
    )
    query = (
        sa.select(col(LoanBook.id), col(Policy.id))
        .join(Purchase, col(Purchase.batch_id) == col(LoanBook.batch_id))
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .where(sa.not_(has_row))
    )
    for book_id, policy_id in session.execute(query.limit(20)):
        yield f"policy {policy_id} was sold from loan book {book_id} without a line of it"
