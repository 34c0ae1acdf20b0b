"""Endorsements and loan books for the demonstration, one in each state that lasts, and sample files of new loans."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput
from core.services.files import table_reader
from core.services.lists.filters import declaration
from core.services.people import staff
from core.services.people.staff import Person
from core.services.selling import endorsing
from core.services.selling.loan_books import books, carrying_out, reading, row_values
from core.services.selling.loan_books.books import Expected, Uploader
from core.services.selling.loan_books.judging import Tally
from core.services.selling.loan_books.reading import Job
from core.states.loan_books import LoanBookState, RowOutcome
from core.store.access import Owner, ScopedSession
from core.store.schema.tables import Claim, LoanBook, LoanBookRow, Policy, PolicyEndorsement

_MOST, _OF_PRODUCT, _LOOKED_AT = 12, 2, 500
# What is changed, under the names that forms give it: the new value, and why.
_CHANGES: Final[Sequence[tuple[tuple[str, ...], Sequence[str], str]]] = (
    (("vehicle_color",), ("Wine", "Ash"), "Resprayed after a repair"),
    (("address",), ("14 Adeola Hopewell Street, Victoria Island", "3 Oba Akran Avenue, Ikeja"), "Moved house"),
    (("phone_number", "phone"), [f"0803445{number}" for number in range(5601, 5601 + _MOST)], "A new number"),
    (("last_name",), ("Adeyemi-Cole", "Nwosu-Bright", "Danladi-Yusuf"), "Married; the certificate was shown"),
)


def write_endorsements(session: ScopedSession) -> int:
    """Endorse some policies in force, once; returns the number. NotFound when the account is disabled.

    Every second one waits for somebody to tell its insurer.
    """
    if session.execute(sa.select(col(PolicyEndorsement.id)).limit(1)).first():
        return 0
    desk, made = staff.get_by_email(session, _DESK), 0
    for policy in _find_policies(session):
        _, present, _ = endorsing.list_values(session, policy.id)
        wishes = [*_CHANGES[made % len(_CHANGES) :], *_CHANGES]
        takes = ((name, values[made % len(values)], why) for names, values, why in wishes for name in names)
        wish = next((wish for wish in takes if present.get(wish[0], wish[1]) != wish[1]), None)
        if wish is None or policy.start_at is None:
            continue
        name, value, why = wish
        endorsing.endorse(
            session,
            policy.id,
            {name: value},
            effective_on=max(clock.to_lagos_day(policy.start_at), clock.add_days(clock.today(), -3)),
            reason=why,
            requested_by="The customer, by phone",
            expected_version=policy.version,
            by=desk,
        )
        made += 1
        if made % 2:
            query = sa.select(col(PolicyEndorsement.id)).where(col(PolicyEndorsement.policy_id) == policy.id)
            endorsed = session.execute(query).scalar_one()
            endorsing.note_told(session, endorsed, note="E-mail to the underwriting desk", by=desk)
    return made


def _find_policies(session: ScopedSession) -> list[Policy]:
    """Return the newest policies in force without a claim, two of a product at the most."""
    claimed = sa.exists().where(col(Claim.policy_id) == col(Policy.id))
    begun = col(Policy.start_at) <= clock.now()
    query = sa.select(Policy).where(col(Policy.is_live), declaration.in_force(), begun, ~claimed)
    found, of_product = list[Policy](), Counter[object]()
    for policy in session.execute(query.order_by(col(Policy.created_at).desc()).limit(_LOOKED_AT)).scalars():
        of_product[policy.product_id] += 1
        if of_product[policy.product_id] <= _OF_PRODUCT and len(found) < _MOST:
            found.append(policy)
    return found


PRODUCT: Final = UUID("01900000-0000-7000-8000-000000080101")
_DESK, _SECOND = "operations@coverdesk.example", "supervisor@coverdesk.example"
_DAYS_AGO: Final = 6


def write_books(session: ScopedSession) -> int:
    """Write a book in each state that lasts, by the people who would; returns their number, 0 if there is one.

    NotFound when an account is disabled.
    """
    lender = _find_lender(session)
    if lender is None or session.execute(sa.select(col(LoanBook.id)).limit(1)).first():
        return 0
    desk = _Desk(session, lender, staff.get_by_email(session, _DESK), staff.get_by_email(session, _SECOND))
    desk.start(b"Name,Phone\nNgozi Okafor,08030000000\n")
    # Some days ago, so that lists do not begin with one lender's loans, and in this month, as the one before is stated.
    with clock.freeze(clock.now() - timedelta(days=min(_DAYS_AGO, clock.today().day - 1))):
        done = desk.carry_out(desk.start(build_sample(30, ["child", "zeros"], prefix="SL")))
    desk.start(_build_exits(session, done), kind=row_values.EXITS, is_over=True)
    desk.start(_list_accounts(session, done), kind=row_values.SNAPSHOT)
    with clock.freeze(clock.now() - timedelta(days=min(_DAYS_AGO - 2, clock.today().day - 1))):
        paused = desk.start(build_sample(36, ["missing"], seed=2, prefix="BR"))
        desk.carry_out(paused, size=15, chunks=1)
    books.pause(session, paused.id, actor=desk.second.actor, reason="The lender sends a corrected file on Monday")
    books.cancel(session, desk.start(build_sample(24, ["amount"], seed=3, prefix="WK")).id, actor=desk.maker.actor)
    with clock.freeze(clock.now() - books.EXPIRES_AFTER - timedelta(days=1)):
        desk.start(build_sample(20, seed=4, prefix="OK"))
    books.expire(session)
    desk.start(build_sample(48, ["child", "amount", "zeros", "contact"], seed=5, prefix="LG"))
    return desk.count


def _find_lender(session: ScopedSession) -> UUID | None:
    """Return the distributor that sold the newest loan's cover."""
    query = sa.select(col(Policy.distributor_id)).where(col(Policy.product_id) == PRODUCT, col(Policy.is_live))
    found: UUID | None = session.execute(query.order_by(col(Policy.created_at).desc()).limit(1)).scalar()
    return found


class _Desk:
    """Two people of the desk, and the work that a worker does between them, here in one transaction."""

    def __init__(self, session: ScopedSession, lender: UUID, maker: Person, second: Person) -> None:
        self._session, self.maker, self.second = session, maker, second
        self._owner = Owner(distributor_id=lender, is_live=True)
        self.count = 0

    def start(self, content: bytes, kind: str = row_values.ADDITIONS, *, is_over: bool = False) -> LoanBook:
        """Upload and read a file; `is_over` carries it out as well."""
        self.count += 1
        uploader = Uploader(owner=self._owner, actor=self.maker.actor, staff_id=self.maker.id)
        name = f"{kind}-{clock.today():%B}-{self.count}.csv".lower()
        book_id = books.upload(self._session, self._build_upload(kind), name, content, uploader).id
        job = reading.lease(self._session, [LoanBookState.UPLOADED])
        assert job is not None, "it was uploaded a moment ago"  # noqa: S101 for the type checker
        self._read(job, name, content)
        book = books.get(self._session, book_id)
        return self.carry_out(book) if is_over else book

    def _build_upload(self, kind: str) -> dict[str, Any]:
        stated = {"kind": kind, "product_id": str(PRODUCT), "month": f"{clock.today():%Y-%m}"}
        attested = {
            "attested_by": "Ngozi Okafor",
            "attested_on": str(clock.today()),
            "attestation_url": "https://files.example.com/attestation.pdf",
        }
        return {**stated, **attested} if kind == row_values.ADDITIONS else stated

    def _read(self, job: Job, name: str, content: bytes) -> None:
        rules, tally = reading.get_rules(self._session, job.book), Tally()
        try:
            # The file is our own: it is read here, without the process that strangers' files are read by.
            for heading, rows in reading.list_chunks(
                job.book.kind, job.book.date_order, table_reader.read(table_reader.FORMS["loans"], name, content)
            ):
                reading.judge(self._session, job.book, rules, rows)
                for row in rows:
                    tally.add(row, rules.product, rules.benefits)
                job = reading.keep(self._session, job, heading, rows) or job
        except InvalidInput as fault:
            reading.refuse(self._session, job, str(fault))
            return
        reading.finish(self._session, job, tally, rules)

    def carry_out(self, book: LoanBook, *, size: int = 500, chunks: int = 2) -> LoanBook:
        """Confirm a book by the second person and carry out so many chunks; the one after the last row ends it."""
        preview = book.preview
        seen = Expected(rows=preview["valid"], premium=Decimal(preview["premium"]), preview_hash=str(book.preview_hash))
        books.confirm_by_person(self._session, book.id, accept="valid", expected=seen, by=self.second)
        job = reading.lease(self._session, [LoanBookState.CONFIRMED])
        for _ in range(chunks):
            assert job is not None, "nobody else works at it"  # noqa: S101 for the type checker
            chunk = carrying_out.prepare(self._session, job.book, size, job.book.done_to)
            job = carrying_out.carry_out(self._session, job, chunk)
        return book


def _list_covered(session: ScopedSession, book: LoanBook) -> list[str]:
    query = sa.select(col(LoanBookRow.account)).where(
        col(LoanBookRow.book_id) == book.id, col(LoanBookRow.outcome) == RowOutcome.COVERED
    )
    return [str(account) for account in session.execute(query.order_by(col(LoanBookRow.line))).scalars()]


def _build_exits(session: ScopedSession, book: LoanBook) -> bytes:
    """Three loans that ended, and one that nobody knows."""
    reasons = (*row_values.EXIT_REASONS[:3], "settled_early")
    accounts = (*_list_covered(session, book)[:3], "SL-0000-000001")
    lines = [f"{account},{clock.today()},{reason}" for account, reason in zip(accounts, reasons, strict=True)]
    return "\n".join(["Loan Number,End Date,Reason", *lines]).encode()


def _list_accounts(session: ScopedSession, book: LoanBook) -> bytes:
    """The live book of a lender that has forgotten two loans and has one without cover."""
    return "\n".join(["Loan Number", *_list_covered(session, book)[5:], "SL-0000-000002"]).encode()


_FIRST: Final = ("Ngozi", "Tunde", "Amina", "Chidi", "Yetunde", "Ibrahim", "Efe", "Halima", "Emeka", "Bisi")
_LAST: Final = ("Okafor", "Bakare", "Yusuf", "Eze", "Adeyemi", "Danladi", "Oghene", "Bello", "Nwosu", "Alabi")
_BRANCHES: Final = ("Ikeja", "Wuse", "Aba", "Kano")
HEADING: Final = (
    *("Loan Number", "First Name", "Surname", "DOB", "Principal", "Tenor", "Start Date", "Sex", "Phone", "Email"),
    "Branch",
)
Row = dict[str, str]
# What each fault does to a row; `duplicate` is given the row before it.
FAULTS: Final[Mapping[str, Callable[[Row, Row], Row]]] = {
    "missing": lambda row, _: {**row, "Surname": ""},
    "amount": lambda row, _: {**row, "Principal": "12,5"},
    "date": lambda row, _: {**row, "Start Date": "31/02/2026"},
    "child": lambda row, _: {**row, "DOB": f"{clock.today().year - 9}-04-12"},
    "ahead": lambda row, _: {**row, "Start Date": str(clock.add_days(clock.today(), 20))},
    "over": lambda row, _: {**row, "Start Date": str(clock.add_months(clock.today(), -14)), "Tenor": "12"},
    "duplicate": lambda row, before: {**row, "Loan Number": before["Loan Number"]},
    "zeros": lambda row, _: {**row, "Phone": row["Phone"].lstrip("0")},
    "contact": lambda row, _: {**row, "Phone": "", "Email": ""},
}
# Every so many rows one has a fault.
_EVERY: Final = 12


def build_sample(loans: int, faults: Sequence[str] = (), *, seed: int = 1, prefix: str = "LN") -> bytes:
    """Return a CSV file of new loans as a lender keeps it; the named faults stand in every twelfth row in turn."""
    dice, rows = Random(f"{seed} loan book"), list[Row]()  # noqa: S311 - a demonstration has no secrets
    for number in range(loans):
        row = _build_row(dice, number, prefix)
        place, is_faulty = divmod(number, _EVERY)
        rows.append(FAULTS[faults[place % len(faults)]](row, rows[-1]) if faults and is_faulty == _EVERY - 1 else row)
    file = io.StringIO()
    writer = csv.DictWriter(file, HEADING)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def _build_row(dice: Random, number: int, prefix: str) -> Row:
    first, last = dice.choice(_FIRST), dice.choice(_LAST)
    born = date(dice.randint(1966, 2001), dice.randint(1, 12), dice.randint(1, 28))
    started = clock.add_days(clock.today(), -dice.randint(0, 9))
    account = f"{prefix}-{clock.today():%y%m}-{number + 1:06d}"
    values = (
        *(account, first, last, born, f"{dice.randint(6, 150) * 10_000}.00", dice.choice((6, 9, 12, 18, 24)), started),
        *(dice.choice(("F", "M")), f"0803{dice.randint(0, 9_999_999):07d}"),
        *(f"{first}.{last}.{account}@example.com".lower(), dice.choice(_BRANCHES)),
    )
    return dict(zip(HEADING, map(str, values), strict=True))
