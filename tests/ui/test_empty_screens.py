"""Screens of a store without claims and policies: no less than the truth, and no more."""

import pytest

from core.store.access import Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.claim_office import Office
from tests.ui.conftest import Screen, texts

DUE, QUEUE = "sales/due.py", "claims/queue.py"


def test_due_does_not_send_anybody_to_tiles_that_are_empty_too(screen: Screen) -> None:
    text = texts(screen("operations", path=DUE))
    assert "Nothing is due" in text
    assert "other tiles" not in text
    assert "Tick customers" not in text


def test_a_dashboard_without_any_sale_says_how_the_first_one_comes_and_has_no_empty_charts(screen: Screen) -> None:
    at = screen("operations")
    text = texts(at)
    assert "There is no sale in this mode yet. Record a first sale under Buy" in text
    assert not {"Year on year", "Renewal cohorts"} & {word.strip("*") for word in text.splitlines()}
    assert "Show the last year" not in {button.label for button in at.button}


def test_claims_to_pay_offers_no_file_where_nothing_waits(screen: Screen) -> None:
    at = screen("finance", path="finance/claim_payments.py")
    assert "No payment of a claim waits for finance" in texts(at)
    assert not at.expander


@every_case("view", ["mine", "unassigned", "near", "waiting", "open", "all"])
def test_the_queue_speaks_of_open_claims_only_where_there_are_some(screen: Screen, view: str) -> None:
    at = screen("claims", path=QUEUE)
    at.query_params["view"] = view
    text = texts(at.run())
    assert "There is no claim in this mode yet" in text
    assert "every open claim" not in text.lower()
    assert not {"Show all open claims", "Show all claims"} & {button.label for button in at.button}


@pytest.mark.parametrize("view", ["mine", "unassigned", "near", "waiting", "open"])
def test_the_queue_of_decided_claims_says_that_none_is_open(
    screen: Screen, store: Store, partner: Partner, view: str
) -> None:
    office = Office(store, partner)
    office.walk(office.lodge(), "Declined")
    at = screen("claims", path=QUEUE, mode="test")
    at.query_params["view"] = view
    text = texts(at.run())
    assert "No claim is open" in text
    assert "every open claim" not in text.lower()
    assert "Show all claims" in {button.label for button in at.button}
