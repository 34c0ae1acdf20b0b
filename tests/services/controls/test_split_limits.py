"""A limit of finance is not split over several acts, also not at one instant (contract K8, K10)."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, money, reference
from core.errors import NotAllowed
from core.services.audit import log as audit
from core.services.finance import adjustments
from core.services.finance.reconciling import differences, reconciliations
from core.store.access import Scope, Store
from core.store.schema.tables import Movement, Policy
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import LIVE, Finance
from tests.services.races import run_while_open
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
SPLIT = "No limit of finance is split over several acts"

WHY = {"premium": "0", "platform_commission": "0", "reason": "The insurer charged another rate than agreed"}
SOLD = {"finance": {"adjustment": 1_000}, "admin": {"adjustment": 100_000}}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> Finance:
    """Finance corrects up to ten naira without an admin."""
    limits = reference._load_finance_limits()
    small = {role: {**limits[role], **SOLD[role]} for role in limits}
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: small)
    return Finance(store)


def list_write_offs_to_approve(finance: Finance, minor: int) -> list[UUID]:
    """Two differences of one insurer, each of which somebody asked to write off."""
    query = (
        sa.select(Movement.provider_id, Policy.policy_number, sa.func.sum(Movement.provider_share_minor).label("minor"))
        .join(Policy, Policy.purchase_id == Movement.purchase_id)
        .where(Policy.policy_number.is_not(None), Movement.created_at >= clock.lagos_midnight(date(2026, 9, 1)))
        .where(Movement.created_at < clock.lagos_midnight(date(2026, 10, 1)))
        .group_by(Movement.provider_id, Policy.policy_number)
        .order_by(Movement.provider_id, Policy.policy_number)
    )
    with finance.reading() as session:
        rows = session.execute(query).all()
    insurer = max(row.provider_id for row in rows if [each.provider_id for each in rows].count(row.provider_id) > 1)
    mine = {row.policy_number: int(row.minor) for row in rows if row.provider_id == insurer}
    chosen = list(mine)[:2]
    lines = [f"{number},{money.to_wire(total + minor * (number in chosen))}" for number, total in mine.items()]
    typed = {"kind": "insurer", "month": "2026-09-01", "file_name": "a.csv"}
    typed |= {"columns": {"policy_number": "Policy No", "amount": "Net"}}
    content = "\r\n".join(["Policy No,Net", *lines]).encode()
    made = finance.do(reconciliations.run, typed, content, by="funmi", provider_id=insurer)
    found = [row.id for row in finance.read(reconciliations.list_differences, made) if row.policy_number in chosen]
    for each in found:
        finance.do(differences.explain, each, {"cause": "Other", "note": "Nobody knows"}, by="funmi")
        finance.do(differences.ask_write_off, each, by="funmi")
    return found


def proposed_corrections(finance: Finance, minor: int) -> list[UUID]:
    """Corrections of two sales of one distributor, proposed by one person."""
    rows = [row for row in finance.rows(kind="purchase") if row.provider_share_minor > minor][:2]
    typed = WHY | {"distributor_commission": money.to_wire(minor)}
    return [finance.do(adjustments.propose, row.id, typed, by="funmi") for row in rows]


def split(finance: Finance) -> list[str]:
    return [each for each in finance.faults(SPLIT) if "without an admin" in each]


def refused(finance: Finance, subject: str) -> list[tuple[str, str]]:
    with finance.store.reading(Scope.system()) as session:
        entries = audit.list_history(session, subject)
    return [(entry.actor, entry.action) for entry in entries if entry.action.endswith("refused")]


@pytest.mark.both_databases
def test_two_who_decide_at_one_instant_are_judged_with_each_other(finance: Finance) -> None:
    """Each of the two is within the limit of finance, and both together are above it."""
    acts: tuple[tuple[Any, list[UUID], str], ...] = (
        (differences.write_off, list_write_offs_to_approve(finance, 3_000_000), r"with the ₦30,000\.00 of this party"),
        (adjustments.confirm, proposed_corrections(finance, 600), r"with the ₦6\.00 corrected before of this distr"),
    )
    for verb, (first, second), words in acts:
        refusal = run_while_open(
            finance.store,
            LIVE,
            lambda session, verb=verb, one=first: verb(session, one, by=finance.people["femi"]),
            lambda verb=verb, other=second: finance.do(verb, other, by="wale"),
        )
        with pytest.raises(NotAllowed, match=words):
            raise refusal or AssertionError("both were decided on")
    assert refused(finance, f"difference {acts[0][1][1]}") == [("staff wale@f.example", "difference write-off refused")]
    assert split(finance) == []


@pytest.mark.both_databases
def test_who_made_the_password_of_who_asked_writes_nothing_off(finance: Finance) -> None:
    choose_by_link(finance.store, finance.people["funmi"], by=finance.people["root"])
    first, _ = list_write_offs_to_approve(finance, 3_000_000)
    refusal = "One of you and Funmi, who asked for this write-off, has a password by a link"
    with pytest.raises(NotAllowed, match=refusal):
        finance.do(differences.write_off, first, by="root")
    # Nor once Funmi has a password of another link, whoever gives the difference to somebody then.
    choose_by_link(finance.store, finance.people["funmi"], by=finance.people["second"], days_ago=-1)
    with clock.freeze(NOW + timedelta(days=2)):
        finance.do(differences.assign, [first], finance.people["femi"].id, by="root")
        with pytest.raises(NotAllowed, match=refusal):
            finance.do(differences.write_off, first, by="root")
    finance.do(differences.write_off, first, by="second")


def test_what_finance_decided_counts_as_such_once_the_person_is_an_admin(finance: Finance) -> None:
    """A promotion between the two made the first half of a split limit count in none."""
    write_offs, corrections = list_write_offs_to_approve(finance, 3_000_000), proposed_corrections(finance, 600)
    finance.do(differences.write_off, write_offs[0], by="wale")
    finance.do(adjustments.confirm, corrections[0], by="wale")
    finance.change_person("wale", roles=["admin"])
    with pytest.raises(NotAllowed, match=r"with the ₦30,000\.00 of this party"):
        finance.do(differences.write_off, write_offs[1], by="femi")
    with pytest.raises(NotAllowed, match=r"with the ₦6\.00 corrected before of this distributor"):
        finance.do(adjustments.confirm, corrections[1], by="femi")
    for verb, row in ((differences.write_off, write_offs[1]), (adjustments.confirm, corrections[1])):
        finance.do(verb, row, by="wale")
    assert split(finance) == []


def test_the_check_names_a_limit_that_was_split_with_its_sum(finance: Finance, monkeypatch: pytest.MonkeyPatch) -> None:
    write_offs, corrections = list_write_offs_to_approve(finance, 3_000_000), proposed_corrections(finance, 600)
    # As a version without the rules did it.
    monkeypatch.setattr(differences, "_refuse_above_limit", lambda *_: None)
    monkeypatch.setattr(adjustments, "_refuse_above_limit", lambda *_: None)
    for by in ("femi", "root"):
        # What an admin decides on counts in no limit of finance.
        finance.do(differences.write_off, write_offs.pop(), by=by)
        finance.do(adjustments.confirm, corrections.pop(), by=by)
    write_offs, corrections = list_write_offs_to_approve(finance, 3_000_100), proposed_corrections(finance, 700)
    with clock.freeze(NOW + timedelta(days=31)):
        finance.do(adjustments.confirm, corrections.pop(), by="wale")
    assert split(finance) == []
    finance.do(differences.write_off, write_offs.pop(), by="wale")
    finance.do(adjustments.confirm, corrections.pop(), by="wale")
    by_write_offs, by_corrections = split(finance)
    assert by_write_offs.startswith("what was written off of ")
    assert "comes to ₦60,001.00 within 30 days without an admin: finance decides on ₦50,000.00" in by_write_offs
    assert by_corrections.endswith("comes to ₦13.00 within 30 days without an admin: finance decides on ₦10.00")
