"""Rates of VAT and withholding tax: proposed by one of finance, confirmed by another, from an unstated month on."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock, ids, money
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, tax, tax_rates
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import Statement, TaxRate
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance import independent
from tests.services.finance_office import LIVE, OUTSIDERS, Finance, change, refuse_statement, state
from tests.services.races import run_while_open

pytestmark = pytest.mark.frozen_at(NOW)

AUGUST, SEPTEMBER, OCTOBER, NOVEMBER = (date(2026, month, 1) for month in (8, 9, 10, 11))
TERMS = {"number": "AG/1", "starts_on": "2026-01-01", "tin": "12345678-0001", "charges_vat": True}
VAT = {"effective_on": "2026-09-01", "resident": "10", "source": "Tax Act 2026, section 7"}
WITHHOLDING = {
    **VAT,
    "resident": "2.5",
    "non_resident": "12.5",
    "without_tin_factor": "3",
    "small_limit": "500000",
    "source": "Withholding Regulations 2026, schedule 1",
}
# The rules of the check.
CONFIRMED = "Every rate of tax is what two of finance confirmed"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    made = Finance(store)
    made.agree(Party("distributor", partner.id), TERMS)
    return made


@pytest.fixture
def party(partner: Partner) -> Party:
    return Party("distributor", partner.id)


def agree(finance: Finance, kind: str, typed: Mapping[str, Any]) -> UUID:
    """A rate that Wale has proposed and Femi confirmed."""
    made: UUID = finance.do(tax_rates.propose, kind, typed, by="wale")
    finance.do(tax_rates.confirm, made, by="femi")
    return made


@pytest.fixture
def agreed(finance: Finance) -> UUID:
    return agree(finance, "vat", VAT)


@pytest.fixture
def stated(finance: Finance, party: Party) -> UUID:
    return state(finance, party, AUGUST)


def paper(finance: Finance, statement_id: UUID) -> Statement:
    with finance.reading() as session:
        row: Statement = session.get_one(Statement, statement_id)
        session.expunge_all()
        return row


def refusal(finance: Finance, kind: str, **typed: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        finance.do(tax_rates.propose, kind, {**(VAT if kind == "vat" else WITHHOLDING), **typed}, by="wale")
    return {fault.field: fault.message for fault in refused.value.faults}


def test_a_rate_holds_for_the_statements_from_its_month_on(finance: Finance, party: Party) -> None:
    august = state(finance, party, AUGUST)
    agree(finance, "vat", VAT)
    agree(finance, "withholding", WITHHOLDING)
    september = state(finance, party, SEPTEMBER)
    for made, vat, withheld in ((august, 750, 500), (september, 1000, 250)):
        row = paper(finance, made)
        base = row.earned_minor + row.clawback_minor
        assert base > 0
        assert (row.vat_minor, row.withheld_minor) == (money.share(base, vat), money.share(base, withheld))
    (line,) = finance.read(tax.list_lines, "withholding", SEPTEMBER)
    assert line.source == "Withholding Regulations 2026, schedule 1"
    assert finance.money_faults() == []
    with finance.store.engine.connect() as connection:
        assert [each for each in independent.find_faults(connection) if "tax" in each] == []


def test_each_figure_of_withholding_tax_counts(finance: Finance, party: Party) -> None:
    agree(finance, "withholding", WITHHOLDING)
    rates, terms = finance.read(tax.load_rates, SEPTEMBER), finance.read(agreements.get_in_force, party, SEPTEMBER)
    held = {name: getattr(terms, name) for name in ("tin", "is_small", "is_resident", "charges_vat")}
    for given, earned, basis_points in (
        ({}, 10, 250),
        ({"is_resident": False}, 10, 1_250),
        ({"is_resident": False, "tin": None}, 10, 3_750),
        ({"tin": None}, 10, 750),
        ({"is_small": True}, 50_000_000, 0),
        ({"is_small": True}, 50_000_001, 250),
        ({"is_small": True, "tin": None}, 10, 750),
    ):
        of = type(terms)(**{**terms.model_dump(), **held, **given})
        assert tax.assess(rates, of, earned).withheld_bp == basis_points, (given, earned)


@every_case(
    ("kind", "typed", "field", "says"),
    [
        ("vat", {"effective_on": "2026-09-15"}, "effective_on", "must be the first day of a month"),
        ("vat", {"effective_on": "2031-12-01"}, "effective_on", "must be within five years"),
        ("vat", {"effective_on": "2026-08-01"}, "effective_on", "must be 1 Sep 2026 or later: August 2026 is stated"),
        ("vat", {"resident": "50.01"}, "resident", "50"),
        ("vat", {"resident": "-1"}, "resident", "0"),
        ("vat", {"resident": "7.555"}, "resident", "2 decimal"),
        ("vat", {"source": "An Act"}, "source", "10"),
        ("withholding", {"non_resident": ""}, "non_resident", "required"),
        ("withholding", {"without_tin_factor": "0"}, "without_tin_factor", "1"),
        ("withholding", {"non_resident": "40"}, "without_tin_factor", "must not make more than the whole commission"),
        ("withholding", {"small_limit": "-5"}, "small_limit", "must"),
    ],
)
@pytest.mark.usefixtures("stated")
def test_a_wrong_rate_names_its_field(
    finance: Finance, kind: str, typed: dict[str, str], field: str, says: str
) -> None:
    found = refusal(finance, kind, **typed)
    assert list(found) == [field]
    assert says in found[field]


def test_a_rate_takes_the_whole_commission_at_the_most(finance: Finance) -> None:
    whole = {**WITHHOLDING, "non_resident": "25", "without_tin_factor": "4"}
    assert list(refusal(finance, "withholding", **{**whole, "non_resident": "25.01"})) == ["without_tin_factor"]
    finance.do(tax_rates.propose, "withholding", whole, by="wale")


def test_a_statement_of_an_insurer_has_no_tax_and_stands_against_no_rate(finance: Finance) -> None:
    insurer = next(party for party, _ in finance.read(statements.list_due, AUGUST) if party.account == "provider")
    month = finance.read(statements.find_due_month, insurer)
    state(finance, insurer, month)
    agree(finance, "vat", {**VAT, "effective_on": str(month)})


def test_two_of_finance_decide_and_nobody_else(finance: Finance, partner: Partner) -> None:
    for by in OUTSIDERS:
        with pytest.raises(NotAllowed, match="Only finance proposes and confirms"):
            finance.do(tax_rates.propose, "vat", VAT, by=by)
    made = finance.do(tax_rates.propose, "vat", VAT, by="wale")
    with pytest.raises(StateForbids, match="A new rate of VAT waits for somebody else of finance"):
        finance.do(tax_rates.propose, "vat", {**VAT, "resident": "11"}, by="femi")
    assert finance.read(tax_rates.list_waiting) == ["VAT"]
    for verb in (tax_rates.confirm, tax_rates.refuse):
        with pytest.raises(NotAllowed, match="You proposed this rate: somebody else of finance confirms or refuses"):
            finance.do(verb, made, by="wale")
    with pytest.raises(NotAllowed, match="Only who proposed this rate takes it back"):
        finance.do(tax_rates.take_back, made, by="femi")
    with pytest.raises(NotAllowed):
        finance.do(tax_rates.confirm, made, by=finance.rest("femi", NOW + timedelta(hours=1)))
    for by in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(tax_rates.confirm, made, by=by)
    assert finance.read(tax.get_rate, "vat", SEPTEMBER).resident_bp == 750, "it holds once it is confirmed"
    finance.do(tax_rates.take_back, made, by="wale")
    other = finance.do(tax_rates.propose, "vat", VAT, by="wale")
    finance.do(tax_rates.refuse, other, by="femi")
    with pytest.raises(StateForbids, match="does not wait for a decision any more"):
        finance.do(tax_rates.confirm, other, by="femi")
    assert sorted(row.state for row in finance.read(tax_rates.list_rates)) == [
        *("confirmed", "confirmed"),
        *("refused", "withdrawn"),
    ]
    actions = [entry.action for entry in finance.read(audit.list_history, audit.subject_of("tax_rate", made))]
    refused_ones = ["tax rate confirmation refused"] * 2
    assert actions == ["tax rate proposed", *refused_ones, "tax rate taken back"]
    noted = [entry.after for entry in finance.read(audit.list_history, audit.subject_of("tax_rate", other))]
    assert [facts["rate"] for facts in noted] == ["10.00 %", "10.00 %"]


def test_a_month_that_was_stated_meanwhile_keeps_its_rate(finance: Finance, party: Party) -> None:
    state(finance, party, AUGUST)
    made = finance.do(tax_rates.propose, "vat", VAT, by="wale")
    stated = state(finance, party, SEPTEMBER)
    with pytest.raises(StateForbids, match="must be 1 Oct 2026 or later: September 2026 is stated"):
        finance.do(tax_rates.confirm, made, by="femi")
    finance.do(statements.move, stated, "Approved", by="femi")
    reversal = finance.do(statements.reverse, stated, reason="Its rate is another", by="funmi")
    finance.do(statements.move, reversal, "Approved", by="femi")
    finance.do(tax_rates.confirm, made, by="femi")
    row = paper(finance, state(finance, party, SEPTEMBER))
    assert row.vat_minor == money.share(row.earned_minor + row.clawback_minor, 1000)


def test_a_newer_rate_of_the_same_day_takes_the_place_of_a_mistaken_one(finance: Finance) -> None:
    mistaken = agree(finance, "vat", {**VAT, "resident": "1"})
    with clock.freeze(NOW + timedelta(minutes=1)):
        with pytest.raises(StateForbids, match="nothing would change"):
            finance.do(tax_rates.propose, "vat", {**VAT, "resident": "1"}, by="wale")
        right = agree(finance, "vat", VAT)
    assert finance.read(tax.get_rate, "vat", SEPTEMBER).id == right
    assert [(row.id, row.is_held) for row in finance.read(tax_rates.list_rates) if row.kind == "vat"][:2] == [
        (right, True),
        (mistaken, False),
    ]


def test_who_proposed_a_rate_approves_no_statement_of_the_month_in_which_it_begins(
    finance: Finance, party: Party
) -> None:
    agree(finance, "vat", VAT)
    august = state(finance, party, AUGUST)
    finance.do(statements.move, august, "Approved", by="wale")
    september = state(finance, party, SEPTEMBER)
    with pytest.raises(NotAllowed, match="You proposed a rate of tax that begins in its month"):
        finance.do(statements.move, september, "Approved", by="wale")
    finance.do(statements.move, september, "Approved", by="femi")
    october = state(finance, party, OCTOBER)
    finance.do(statements.move, october, "Approved", by="wale")
    assert finance.money_faults() == []
    mine = sa.update(TaxRate).values(proposed_by=finance.people["femi"].id, decided_by=finance.people["wale"].id)
    change(finance, "tax_rate", "tax_rate_figures", sa.select(sa.literal(1)))
    change(finance, "tax_rate", "tax_rate_decision", mine.where(col(TaxRate.proposed_by).is_not(None)))
    (found,) = [each for each in finance.money_faults() if "proposed a rate of tax of its month" in each]
    assert "Femi proposed a rate of tax of its month, and approved it" in found


def test_who_approved_what_was_void_before_a_rate_was_proposed_is_not_named(finance: Finance, party: Party) -> None:
    state(finance, party, AUGUST)
    stated = state(finance, party, SEPTEMBER)
    finance.do(statements.move, stated, "Approved", by="wale")
    reversal = finance.do(statements.reverse, stated, reason="Its rate is another", by="funmi")
    finance.do(statements.move, reversal, "Approved", by="femi")
    with clock.freeze(NOW + timedelta(minutes=1)):
        agree(finance, "vat", VAT)
    with clock.freeze(NOW + timedelta(minutes=2)):
        state(finance, party, SEPTEMBER, "Approved")
    assert finance.money_faults() == []


@pytest.mark.both_databases
def test_a_rate_that_two_did_not_confirm_is_found(finance: Finance) -> None:
    made = agree(finance, "vat", VAT)
    assert finance.faults(CONFIRMED) == []
    change(finance, "tax_rate", "tax_rate_figures", sa.select(sa.literal(1)))
    lower = sa.update(TaxRate).where(col(TaxRate.id) == made).values(resident_bp=1)
    change(finance, "tax_rate", "tax_rate_decision", lower)
    with finance.store.writing(Scope.system()) as session:
        figures = {"effective_on": OCTOBER, "resident_bp": 0, "non_resident_bp": 0, "source": "None"}
        session.insert(TaxRate(id=ids.new(), kind="withholding", state="confirmed", **figures))
    assert finance.faults(CONFIRMED) == [
        "the rate of 0.01 % of VAT from 1 Sep 2026: the rate was changed past the desk",
        "the rate of 0.00 % of withholding tax from 1 Oct 2026: it was not given on this desk: tell an admin",
    ]


@pytest.mark.both_databases
def test_a_rate_that_was_put_in_past_the_desk_is_adopted_by_two(finance: Finance, party: Party) -> None:
    state(finance, party, AUGUST)
    figures = {"effective_on": AUGUST, "resident_bp": 800, "non_resident_bp": 800, "source": "None"}
    with finance.store.writing(Scope.system()) as session:
        session.insert(TaxRate(id=ids.new(), kind="vat", state="confirmed", **figures))
    (by_hand,) = [rate for rate in finance.read(tax_rates.list_rates) if rate.is_unconfirmed]
    assert finance.faults(CONFIRMED), "nobody confirmed it"
    proposed = finance.do(tax_rates.adopt, by_hand.id, by="wale")
    with pytest.raises(NotAllowed):
        finance.do(tax_rates.confirm, proposed, by="wale")
    finance.do(tax_rates.confirm, proposed, by="femi")
    assert finance.faults(CONFIRMED) == []
    assert not [rate for rate in finance.read(tax_rates.list_rates) if rate.is_unconfirmed]
    with finance.reading() as session:
        held = tax.get_rate(session, "vat", AUGUST)
        assert held is not None
        assert (held.id, held.resident_bp) == (proposed, 800)
    with pytest.raises(StateForbids, match="two people have confirmed"):
        finance.do(tax_rates.adopt, proposed, by="wale")
    # What holds is another rate of that day: to adopt this one would change the months that were stated.
    with finance.store.writing(Scope.system()) as session:
        replaced = ids.new()
        session.insert(TaxRate(id=replaced, kind="vat", state="confirmed", **{**figures, "resident_bp": 900}))
    with pytest.raises(StateForbids, match="no rate that holds"):
        finance.do(tax_rates.adopt, replaced, by="wale")


@pytest.mark.both_databases
@every_case(
    "statement",
    [
        "UPDATE tax_rate SET resident_bp = 1",
        "UPDATE tax_rate SET state = 'open', decided_at = NULL, decided_by = NULL",
        "UPDATE tax_rate SET effective_on = '2020-01-01'",
        "DELETE FROM tax_rate",
    ],
)
@pytest.mark.usefixtures("agreed")
def test_the_store_itself_keeps_what_was_agreed(finance: Finance, statement: str) -> None:
    refuse_statement(finance, statement)


@pytest.mark.both_databases
def test_a_rate_and_a_statement_of_its_month_do_not_pass_each_other(finance: Finance, party: Party) -> None:
    state(finance, party, AUGUST)
    made = finance.do(tax_rates.propose, "vat", VAT, by="wale")
    refused = run_while_open(
        finance.store,
        LIVE,
        lambda session: statements.prepare(session, party, SEPTEMBER, by=finance.people["funmi"]),
        lambda: finance.do(tax_rates.confirm, made, by="femi"),
    )
    assert isinstance(refused, StateForbids)
    assert "September 2026 is stated" in str(refused)
    finance.do(tax_rates.take_back, made, by="wale")
    following = finance.do(tax_rates.propose, "vat", {**VAT, "effective_on": "2026-10-01"}, by="wale")
    stated: list[UUID] = []
    refused = run_while_open(
        finance.store,
        LIVE,
        lambda session: tax_rates.confirm(session, following, by=finance.people["femi"]),
        lambda: stated.append(finance.do(statements.prepare, party, OCTOBER, by="funmi")),
    )
    assert refused is None
    row = paper(finance, stated[0])
    assert row.vat_minor == money.share(row.earned_minor + row.clawback_minor, 1000)


@pytest.mark.both_databases
def test_rates_of_before_are_kept_by_the_migration_and_back(finance: Finance) -> None:
    agree(finance, "vat", VAT)
    store = finance.store
    read = "SELECT kind, effective_on, resident_bp, without_tin_factor, small_limit_minor FROM tax_rate ORDER BY 1, 2"
    with store.writers.begin() as connection:
        before = connection.exec_driver_sql(read).all()
        command.downgrade(migrating._config(connection), "0094")
        assert connection.exec_driver_sql(read).all() == before
    migrating.migrate(store)
    assert migrating.differences(store) == []
    with store.writers.begin() as connection:
        assert connection.exec_driver_sql(read).all() == before
        states = connection.exec_driver_sql("SELECT DISTINCT state FROM tax_rate").all()
    assert states == [("confirmed",)]
