"""The tolerance of a reconciliation is bounded for a row and for a file, and shown (contract K8)."""

from datetime import date
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, money, reference
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.finance import parties
from core.services.finance.reconciling import matching, reconciliations
from core.store.access import Scope, Store
from core.store.schema.tables import Movement, Policy
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
BOTH_SIDES = "Every reconciliation's differences make both sides equal"

FORM = {
    "kind": "insurer",
    "month": "2026-09-01",
    "file_name": "september.csv",
    "columns": {"policy_number": "Policy No", "amount": "Net"},
}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=21, size=120),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def shares(finance: Finance) -> tuple[UUID, dict[str, int]]:
    """An insurer, and its shares of September by policy number."""
    found: dict[UUID, dict[str, int]] = {}
    start, end = (clock.lagos_midnight(date(2026, month, 1)) for month in (9, 10))
    query = (
        sa.select(Movement.provider_id, Policy.policy_number, sa.func.sum(Movement.provider_share_minor))
        .join(Policy, Policy.purchase_id == Movement.purchase_id)
        .where(Movement.created_at >= start, Movement.created_at < end, Policy.policy_number.is_not(None))
        .group_by(Movement.provider_id, Policy.policy_number)
    )
    with finance.reading() as session:
        for provider_id, number, minor in session.execute(query):
            found.setdefault(provider_id, {})[number] = int(minor)
    assert {party.id for party, _ in finance.read(parties.list_parties)} >= set(found)
    return max(found.items(), key=lambda each: len(each[1]))


def file_of(rows: dict[str, int]) -> bytes:
    lines = ["Policy No,Net", *(f"{number},{money.to_wire(minor)}" for number, minor in rows.items())]
    return "\r\n".join(lines).encode()


def test_a_tolerance_of_ten_million_is_refused_with_what_the_role_may(
    finance: Finance, shares: tuple[UUID, dict[str, int]]
) -> None:
    insurer, mine = shares
    content = file_of({number: minor + 999_999_999 for number, minor in mine.items()})
    for by, tolerance, message in (
        ("funmi", "10000000", "must be at most ₦100.00 a row, or ₦1,000.00 for an admin"),
        ("funmi", "100.01", "written off by two people"),
        ("root", "1000.01", "must be at most ₦1,000.00 a row: a larger difference"),
    ):
        with pytest.raises(InvalidInput) as refused:
            finance.do(reconciliations.run, {**FORM, "tolerance": tolerance}, content, by=by, provider_id=insurer)
        (fault,) = refused.value.faults
        assert fault.field == "tolerance"
        assert message in fault.message
    assert finance.read(reconciliations.list_reconciliations) == []
    with finance.store.reading(Scope.system()) as session:
        entries = audit.list_history(session, f"provider {insurer}")
    kept = [entry for entry in entries if entry.action == "reconciliation refused"]
    assert len(kept) == 3
    assert {entry.actor for entry in kept} == {"staff funmi@f.example", "staff root@f.example"}
    assert all("larger difference is explained" in entry.after["refused"] for entry in kept)


def test_what_a_file_may_let_pass_has_a_sum_and_the_rest_are_differences(
    finance: Finance, shares: tuple[UUID, dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    insurer, mine = shares
    known = reference._load_finance_limits()
    limits = {"finance": {**known["finance"], "tolerance_row": 10_000, "tolerance_file": 25_000}}
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: {**limits, "admin": limits["finance"]})
    theirs = {number: minor + (10_000 if place % 2 else -10_000) for place, (number, minor) in enumerate(mine.items())}
    assert len(theirs) > 2
    made = finance.do(
        reconciliations.run,
        {**FORM, "tolerance": "100", "timing_days": 0},
        file_of(theirs),
        by="funmi",
        provider_id=insurer,
    )
    row = finance.read(reconciliations.get_reconciliation, made)
    assert (row.passed_rows, row.passed_minor) == (2, 20_000)
    found = [each for each in finance.read(reconciliations.list_differences, made) if each.detail]
    assert {each.result for each in found if "at most ₦250.00 of a file" in each.detail} == {matching.AMOUNT}
    total = sum(each.difference_minor for each in finance.read(reconciliations.list_differences, made))
    assert total + row.tolerated_minor == row.ours_minor - row.theirs_minor
    assert finance.money_faults() == []


def test_only_what_is_equal_to_the_kobo_has_no_differences(
    finance: Finance, shares: tuple[UUID, dict[str, int]]
) -> None:
    insurer, mine = shares
    verdicts = []
    for off in (0, 1):
        theirs = {number: minor + off for number, minor in mine.items()}
        made = finance.do(
            reconciliations.run, {**FORM, "timing_days": 0}, file_of(theirs), by="funmi", provider_id=insurer
        )
        row = finance.read(reconciliations.get_reconciliation, made)
        verdicts.append((row.verdict, row.passed_rows) if not row.differences else (None, row.passed_rows))
    assert verdicts[0][1] == 0
    assert verdicts[1] in (("No differences above the tolerance", len(mine)), (None, len(mine)))


def test_the_check_names_a_reconciliation_beyond_every_limit_with_its_sum(
    finance: Finance, shares: tuple[UUID, dict[str, int]]
) -> None:
    insurer, mine = shares
    made = finance.do(reconciliations.run, FORM, file_of(mine), by="funmi", provider_id=insurer)
    on = "" if finance.store.is_sqlite else " ON reconciliation"
    with finance.store.writers.begin() as connection:
        connection.exec_driver_sql(f"DROP TRIGGER reconciliation_update{on}")
        connection.exec_driver_sql("UPDATE reconciliation SET tolerance_minor = 1000000000, passed_minor = 99999900")
    (found,) = [fault for fault in finance.faults(BOTH_SIDES) if "tolerance" in fault]
    assert f"reconciliation {made} of September 2026 let pass ₦999,999.00 within ₦10,000,000.00 a row" in found
