"""Claims paid from a file: judged row by row, paid whole or not at all, and never twice (contract C10)."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, StateForbids, TooLarge
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import paying as claim_paying
from core.services.finance import claim_payment_files as payment_files
from core.services.finance import proofs
from core.services.finance.claim_payment_files import MAX_LINES, PaymentLine
from core.store.access import Scope
from core.store.schema.tables import AuditEntry, ClaimPayment, ClaimPaymentFile, Transfer
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.services.races import run_at_once

pytestmark = pytest.mark.frozen_at(NOON)

ACCEPTED = ("Approved", "Offer sent", "Offer accepted")
PAYEE = {"name": "Ada Eze", "bank_name": "First Bank", "account_number": "0123456789", "reason": "As she asked"}
COLUMNS = {"claim": "Claim", "amount": "Amount", "reference": "Reference"}
FULL = {**COLUMNS, "date": "Day", "account": "Account"}
OWED = "70,000.00"


def handed(office: Office, *, by: str = "sade", payee: bool = False) -> UUID:
    """A claim of 70,000.00 that was handed to finance."""
    claim_id = office.lodge(at=NOON - timedelta(days=2), incident_date="2026-11-17")
    office.name_account(claim_id)
    office.walk(claim_id, *ACCEPTED)
    if payee:
        office.do(claim_corrections.set_payee, claim_id, by="sade", version=office.claim(claim_id).version, **PAYEE)
        office.approve_anew(claim_id)
    office.do(claim_paying.hand_over, claim_id, by=by, version=office.claim(claim_id).version)
    return claim_id


def named(claim_id: UUID) -> str:
    return f"C-{claim_id.hex[-8:].upper()}"


def made_of(*rows: tuple[str, ...], heading: str = "Claim;Amount;Reference") -> bytes:
    return "\n".join([heading, *(";".join(row) for row in rows)]).encode()


def preview(office: Office, content: bytes, columns: dict[str, str] = COLUMNS, by: str = "funmi") -> list[PaymentLine]:
    with office.store.reading(DESK) as session:
        return payment_files.preview(session, "pay.csv", content, columns, by=office.people[by])


def pay(
    office: Office,
    content: bytes,
    columns: dict[str, str] = COLUMNS,
    *,
    by: str = "funmi",
    seen: dict[UUID, int] | None = None,
) -> Any:
    """Pay a file as it was previewed now, unless other versions were seen."""
    if seen is None:
        with office.store.reading(DESK) as session:
            seen = {each.id: each.version for each in claim_paying.list_open(session)}
    return office.store.transact(
        DESK,
        lambda session: payment_files.pay(session, "pay.csv", content, columns, seen=seen, by=office.people[by]),
    )


def nothing_is_kept(office: Office, *claim_ids: UUID) -> None:
    with office.store.reading(Scope.system()) as session:
        for table in (ClaimPayment, ClaimPaymentFile):
            assert session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() == 0
        actions = sa.select(sa.func.count()).where(col(AuditEntry.action) == "claims paid from a file")
        assert session.execute(actions).scalar_one() == 0
    assert {office.claim(claim_id).claim_status for claim_id in claim_ids} <= {"Offer accepted"}


@pytest.mark.both_databases
def test_a_file_pays_every_claim_in_it_and_says_so_in_the_log(office: Office) -> None:
    with clock.freeze(NOON - timedelta(days=1)):
        claims = [handed(office), handed(office, payee=True), handed(office)]
    first, second, left = claims
    rows = ((named(first), OWED, "F-1", "2026-11-19", ""), (str(second), "70000", "F-2", "20/11/2026", "0123456789"))
    content = made_of(*rows, heading="Claim;Amount;Reference;Day;Account")
    lines = preview(office, content, FULL)
    assert [(line.number, line.refusal) for line in lines] == [(2, None), (3, None)]
    assert {office.claim(each).claim_status for each in claims} == {"Offer accepted"}
    file_id = pay(office, content, FULL)
    assert [office.claim(each).claim_status for each in claims] == ["Paid", "Paid", "Offer accepted"]
    with office.store.reading(DESK) as session:
        query = sa.select(ClaimPayment, col(Transfer.reference)).join(Transfer, ClaimPayment.transfer_id == Transfer.id)
        rows_ = session.execute(query.order_by(col(Transfer.reference))).all()
        found = [(row.claim_id, name, str(row.value_on), row.amount_minor, row.file_id) for row, name in rows_]
        (kept,) = payment_files.list_files(session)
        assert [each.id for each in claim_paying.list_open(session)] == [left]
    assert found == [
        (first, "F-1", "2026-11-19", 7_000_000, file_id),
        (second, "F-2", "2026-11-20", 7_000_000, file_id),
    ]
    assert (kept.id, kept.payments, kept.amount_minor, kept.by) == (file_id, 2, 14_000_000, "funmi")
    with office.store.reading(Scope.system()) as session:
        entry = session.execute(sa.select(AuditEntry).where(col(AuditEntry.subject) == f"batch {file_id}")).scalar_one()
        assert (entry.actor, entry.after["payments"], entry.after["amount"]) == (
            "staff funmi@x.example",
            2,
            "140000.00",
        )
        assert list(proofs.find_file_faults(session)) == []
        assert [fault for fault in store_check.list_faults(session) if "payment" in fault] == []


def test_the_same_file_is_never_paid_twice(office: Office) -> None:
    content = made_of((named(handed(office)), OWED, "F-1"))
    pay(office, content)
    for verb in (preview, pay):
        with pytest.raises(StateForbids, match="paid already"):
            verb(office, content)
    (line,) = preview(office, content + b"\n")
    assert line.refusal == "names no claim that waits for finance"


def test_every_row_that_cannot_be_paid_is_refused_by_name_and_then_nothing_is_paid(office: Office) -> None:
    good, less, more, twice, day, text, own, account = (handed(office) for _ in range(8))
    not_handed = office.lodge(incident_date="2026-11-18")
    office.walk(not_handed, *ACCEPTED)
    rows = (
        (named(good), OWED, "F-1", "", ""),
        (named(less), "69,999.99", "F-2", "", ""),
        (named(more), "70,000.01", "F-3", "", ""),
        (named(twice), OWED, "F-4", "", ""),
        (named(twice), OWED, "F-5", "", ""),
        (named(day), OWED, "F-6", "2027-01-01", ""),
        (named(text), "a lot", "F-7", "", ""),
        (named(not_handed), OWED, "F-8", "", ""),
        ("C-00000000", OWED, "F-9", "", ""),
        (named(own), OWED, " f-9 ", "", ""),
        (named(account), OWED, "F-10", "", "9999999999"),
        (named(account)[:-1], "-5", "", "", ""),
    )
    content = made_of(*rows, heading="Claim;Amount;Reference;Day;Account")
    refusals = {line.number: line.refusal or "" for line in preview(office, content, FULL)}
    expected = {
        2: "",
        3: "amount must be the offer that was accepted",
        4: "amount must be the offer that was accepted",
        5: "a claim is paid once",
        6: "a claim is paid once",
        7: "date must not be in the future",
        8: "has no amount",
        9: "names no claim that waits",
        10: "names no claim that waits",
        11: "has the reference of another row",
        12: "another account",
        13: "not above 0",
    }
    assert refusals.keys() == expected.keys()
    assert all(
        words in refusals[number] and bool(words) == bool(refusals[number]) for number, words in expected.items()
    )
    with pytest.raises(InvalidInput) as refused:
        pay(office, content, FULL)
    assert "row 5" in str(refused.value)
    nothing_is_kept(office, good, less, more, twice, day, text, own, not_handed)


def test_what_only_paying_finds_undoes_the_whole_file(office: Office) -> None:
    first, second = handed(office), handed(office)
    content = made_of((named(first), OWED, "F-1"), (named(second), "69,999.99", "F-2"))
    with pytest.raises(InvalidInput, match=r"row 3 amount must be the offer"):
        pay(office, content)
    nothing_is_kept(office, first, second)


def test_a_reference_that_was_used_is_refused_in_the_preview_and_at_the_payment(office: Office) -> None:
    first, second = handed(office), handed(office)
    pay(office, made_of((named(first), OWED, "F-1")))
    content = made_of((named(second), OWED, "f - 1"))
    assert "was used for another payment" in str(preview(office, content)[0].refusal)
    with pytest.raises(InvalidInput, match="row 2 reference was used"):
        pay(office, content)
    assert office.claim(second).claim_status == "Offer accepted"


def test_only_finance_pays_from_a_file_and_who_took_part_in_a_claim_does_not(office: Office) -> None:
    claim_id = handed(office, payee=True, by="root")
    content = made_of((named(claim_id), OWED, "F-1"))
    for by in ("ada", "bola", "sade"):
        for verb in (preview, pay):
            with pytest.raises(NotAllowed, match="Only finance pays"):
                verb(office, content, by=by)
    for name, words in (("bola", "a payer other than the approver"), ("root", "cannot pay it")):
        office.people[name] = replace(office.people[name], roles=(*office.people[name].roles, "finance"))
        assert words in str(preview(office, content, by=name)[0].refusal)
        with pytest.raises(InvalidInput, match=f"row 2 is refused.*{words}"):
            pay(office, content, by=name)
    office.people["bola"] = replace(office.people["bola"], roles=("supervisor", "finance"))
    office.do(claim_corrections.set_payee, claim_id, by="bola", version=office.claim(claim_id).version, **PAYEE)
    office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    assert "has not set its payee" in str(preview(office, content, by="bola")[0].refusal)
    nothing_is_kept(office, claim_id)


def test_a_claim_that_changed_since_the_preview_is_not_paid(office: Office) -> None:
    claim_id = handed(office)
    content = made_of((named(claim_id), OWED, "F-1"))
    seen = {claim_id: office.claim(claim_id).version}
    office.do(claim_corrections.set_payee, claim_id, by="sade", version=seen[claim_id], **PAYEE)
    office.approve_anew(claim_id)
    with pytest.raises(InvalidInput, match="names no claim that waits"):
        pay(office, content, seen=seen)
    office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    for given in (seen, {}):
        with pytest.raises(InvalidInput, match="row 2 is refused: This claim was changed"):
            pay(office, content, seen=given)
    nothing_is_kept(office, claim_id)


def test_what_the_bank_paid_before_the_payee_was_set_is_no_payment_to_that_payee(office: Office) -> None:
    """The rows went to the bank with the account of before, and another payee was set while they were out."""
    claim_id = handed(office)
    with clock.freeze(NOON + timedelta(days=2)):
        office.do(claim_corrections.set_payee, claim_id, by="sade", version=office.claim(claim_id).version, **PAYEE)
        office.approve_anew(claim_id)
        office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
        rows = {day: ((named(claim_id), OWED, "F-1", f"2026-11-{day}", ""),) for day in (21, 22)}
        paid = {day: made_of(*each, heading="Claim;Amount;Reference;Day;Account") for day, each in rows.items()}
        early = "date must not be before 22 November 2026, on which the payee was set: the bank paid another one then"
        assert early in str(preview(office, paid[21], FULL)[0].refusal)
        with pytest.raises(InvalidInput, match=early):
            pay(office, paid[21], FULL)
        nothing_is_kept(office, claim_id)
        pay(office, paid[22], FULL)


@every_case(
    ("name", "content", "words"),
    [
        ("pay.csv", b"Claim,Amount,Reference\nC-1,=1+1,F", "has a formula"),
        ("pay.csv", "Claim,Amount,Reference\nC-1,1,Fé".encode("latin-1"), "is not in UTF-8"),
        ("pay.csv", b"Claim,Sum,Reference\nC-1,1,F", "amount is mapped to a column that the file does not have"),
        ("pay.csv", b"Claim,Amount,Amount\nC-1,1,F", "two columns of the same name"),
        ("pay.csv", b"Claim,Amount,Reference", "has no rows"),
        ("pay.csv", b"", "is empty"),
        ("pay.csv", b"Claim,Amount,Reference\nC-1,1,F\nC-1,1,F", "is the same as row 2"),
        ("pay.xls", b"Claim,Amount,Reference\nC-1,1,F", "must end in .xlsx or .csv"),
        ("pay.xlsx", b"PK\x03\x04", "is damaged"),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_file_that_is_none_of_payments_is_refused(office: Office, name: str, content: bytes, words: str) -> None:
    with office.store.reading(DESK) as session, pytest.raises(InvalidInput, match=words):
        payment_files.preview(session, name, content, COLUMNS, by=office.people["funmi"])


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_file_that_is_too_long_is_refused(office: Office) -> None:
    content = made_of(*((f"C-{number}", "1", f"F-{number}") for number in range(MAX_LINES + 1)))
    with pytest.raises(TooLarge, match="divide it"):
        preview(office, content)


@pytest.mark.both_databases
def test_two_payers_of_one_file_have_one_winner(office: Office) -> None:
    claims = [handed(office) for _ in range(3)]
    content = made_of(*((named(each), OWED, f"F-{number}") for number, each in enumerate(claims)))
    office.people["femi"] = replace(office.people["bola"], roles=("finance",))
    seen = {each: office.claim(each).version for each in claims}
    found = run_at_once(*(partial(pay, office, content, by=by, seen=seen) for by in ("funmi", "femi")))
    assert sum(each is None for each in found) == 1
    with office.store.reading(DESK) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(ClaimPayment)).scalar_one() == 3


@pytest.mark.both_databases
def test_two_files_with_the_same_claims_in_another_order_have_one_winner(office: Office) -> None:
    claims = [handed(office) for _ in range(3)]
    forth, back = (
        made_of(*((named(each), OWED, f"{name}-{number}") for number, each in enumerate(order)))
        for name, order in (("A", claims), ("B", claims[::-1]))
    )
    seen = {each: office.claim(each).version for each in claims}
    found = run_at_once(*(partial(pay, office, content, seen=seen) for content in (forth, back)))
    assert [type(each).__name__ for each in found if each] == ["InvalidInput"]
    with office.store.reading(DESK) as session:
        rows = session.execute(sa.select(col(Transfer.reference))).scalars().all()
    assert {reference[0] for reference in rows} in ({"A"}, {"B"})


@pytest.mark.parametrize("database", ["sqlite"])
def test_the_rows_to_complete_are_paid_once_they_have_references(office: Office) -> None:
    claims = [handed(office), handed(office, payee=True)]
    with office.store.reading(DESK) as session:
        form = payment_files.build_form(session).decode()
    assert "Ada" not in form
    lines = form.split("\r\n")
    filled = [line.replace(",,2026", f",F-{number},2026") for number, line in enumerate(lines)]
    columns = {name: name for name in ("claim", "amount", "account")}
    columns |= {"reference": "payment_reference", "date": "value_date"}
    pay(office, "\n".join(filled).encode(), columns)
    assert {office.claim(each).claim_status for each in claims} == {"Paid"}


@pytest.mark.both_databases
def test_the_store_keeps_a_paid_file_and_the_file_of_a_payment(office: Office) -> None:
    pay(office, made_of((named(handed(office)), OWED, "F-1")))
    for statement in (
        "UPDATE claim_payment_file SET amount_minor = 1",
        "DELETE FROM claim_payment_file",
        "UPDATE claim_payment SET file_id = NULL",
        "UPDATE claim_payment SET amount_minor = 1",
    ):
        with (
            pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"),
            office.store.writing(Scope.system()) as session,
        ):
            session.connection().exec_driver_sql(statement)
