"""Targets: set by operations for this month or a later one, audited, and measured by the premium of live records."""

from datetime import date

import pytest

from core import clock, ids
from core.errors import InvalidInput, NotAllowed
from core.services.audit import log as audit
from core.services.lists.dimensions import load_choices
from core.services.lists.windows import Window
from core.services.people.staff import Person
from core.services.sales import targets, totals
from core.services.sales.filter import SalesFilter
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, lagos

pytestmark = pytest.mark.frozen_at(NOW)

MONTH = lagos(NOW).replace(day=1)
LIVE = Scope.staff(is_live=True)


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)


def set_to(store: Store, partner: Partner, amount: str, *, month: date = MONTH, by: Person | None = None) -> None:
    with store.writing(Scope.system()) as session:
        targets.set_target(
            session, "distributor", partner.id, month, {"amount": amount}, by=by or somebody("operations")
        )


def progress(store: Store, month: date = MONTH) -> list[targets.Progress]:
    with store.reading(LIVE) as session:
        return targets.list_progress(session, load_choices(session), month)


def test_progress_is_the_premium_of_the_month_in_live_records(
    store: Store, partner: Partner, stranger: Partner
) -> None:
    Portfolio(seed=31, size=90, sellers=(partner.id, stranger.id)).write(store)
    Portfolio(seed=32, size=20, sellers=(partner.id,), is_live=False).write(store)
    set_to(store, partner, "5000000")
    with store.reading(LIVE) as session:
        names = load_choices(session)
        insurer = next(iter(names.names["provider"]))
    with store.writing(Scope.system()) as session:
        targets.set_target(session, "provider", insurer, MONTH, {"amount": "100"}, by=somebody("admin"))
    found = {each.id: each for each in progress(store)}
    span = Window(MONTH, clock.add_months(MONTH, 1)).span
    with store.reading(LIVE) as session:
        for key, criteria in (
            (partner.id, SalesFilter(created=span, distributor_ids=(partner.id,))),
            (insurer, SalesFilter(created=span, provider_ids=(insurer,))),
        ):
            assert found[key].written_minor == totals.compute_total(session, criteria).premium_minor
    assert found[partner.id].target_minor == 5_000_000_00
    assert progress(store, clock.add_months(MONTH, 1)) == []


def test_a_target_is_changed_and_removed_and_the_log_keeps_each_amount(store: Store, partner: Partner) -> None:
    for amount in ("100", "250.50", "250.50"):
        set_to(store, partner, amount)
    assert [each.target_minor for each in progress(store)] == [25050]
    with store.writing(Scope.system()) as session:
        targets.remove_target(session, "distributor", partner.id, MONTH, by=somebody("operations"))
        targets.remove_target(session, "distributor", partner.id, MONTH, by=somebody("operations"))
    assert progress(store) == []
    with store.reading(Scope.system()) as session:
        entries = audit.list_history(session, audit.subject_of("distributor", partner.id))
    changes = [(entry.action, entry.before, entry.after) for entry in entries if entry.action.startswith("target")]
    first, second = ({"month": "2026-11", "premium": amount} for amount in ("100.00", "250.50"))
    assert changes == [("target set", None, first), ("target changed", first, second), ("target removed", second, None)]


@every_case("amount", ["0", "-5", "much", "", "0.001"])
def test_an_amount_that_is_no_target_is_refused_by_its_field(store: Store, partner: Partner, amount: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        set_to(store, partner, amount)
    assert [fault.field for fault in refused.value.faults] == ["amount"]
    assert progress(store) == []


@every_case("role", ["claims", "finance", "supervisor"])
def test_others_than_operations_set_and_remove_nothing(store: Store, partner: Partner, role: str) -> None:
    set_to(store, partner, "100")
    with pytest.raises(NotAllowed):
        set_to(store, partner, "200", by=somebody(role))
    with pytest.raises(NotAllowed), store.writing(Scope.system()) as session:
        targets.remove_target(session, "distributor", partner.id, MONTH, by=somebody(role))
    assert [each.target_minor for each in progress(store)] == [10000]


@every_case("month", [date(2026, 10, 1), date(2026, 11, 2)])
def test_a_month_that_is_over_or_no_month_has_no_target(store: Store, partner: Partner, month: date) -> None:
    with pytest.raises(InvalidInput) as refused:
        set_to(store, partner, "100", month=month)
    assert [fault.field for fault in refused.value.faults] == ["month"]
