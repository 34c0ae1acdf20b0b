"""Whoever polls by `created_at` sees every sale, as long as each poll reaches back five seconds (contract P4)."""

from contextlib import ExitStack
from datetime import datetime, timedelta
from uuid import UUID

import httpx
import pytest

from core import clock
from core.api import contract_replay
from core.api.app import api
from core.api.http import queries
from core.commands import verify
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.services.audit import log
from core.services.policies import changes
from core.services.selling import buying
from core.store.access import Store
from core.store.rollups import day_totals
from tests.api.conftest import Client
from tests.api.selling import buy, data_of
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case


def test_a_poll_with_the_overlap_misses_no_sale_while_others_sell(store: Store, partner: Partner, server: str) -> None:
    with contract_replay.prepare_replay(server, partner.test_key) as run:
        (outcome,) = verify.outcomes(run)
    assert outcome.fault is None
    assert f"{verify.SALES} sales" in outcome.operation
    assert len(run.left["policies"]) == verify.SALES + 1


@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_sale_that_is_committed_after_a_later_one_is_found_by_the_overlap(
    store: Store, client: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite it cannot happen: there, who creates a record has the only right to write until it is committed."""
    with ExitStack() as stack:
        put_sales_apart(monkeypatch, 0)
        session = stack.enter_context(store.writing(partner.scope()))
        request = shipped.request(PERSONAL_ACCIDENT, email="slow@example.com")
        slow = str(buying.sell(session, PERSONAL_ACCIDENT, request, partner.seller()).purchase_id)
        put_sales_apart(monkeypatch, 1)
        newest = buy(client, partner.test_key, PERSONAL_ACCIDENT, email="fast@example.com")["created_at"]
        assert ids_since(client, partner, newest) & {slow} == set()
    assert slow not in ids_since(client, partner, newest)
    begun = datetime.fromisoformat(newest) - queries.OVERLAP
    assert slow in ids_since(client, partner, begun.isoformat())


def test_a_list_is_read_whole_while_others_sell_and_cancel_by_the_moment_at_which_it_was_begun(
    store: Store, client: Client, partner: Partner
) -> None:
    with clock.freeze(clock.now() - timedelta(minutes=1)):
        before = [buy(client, partner.test_key, PERSONAL_ACCIDENT, email=f"b{at}@example.com") for at in range(9)]
    begun = clock.to_wire(clock.now() - queries.OVERLAP)
    for end_date, comes_twice in (("", True), (f"&end_date={begun}", False)):
        seen: list[str] = []
        for page in range(1, 6):
            found = data_of(client, partner.test_key, f"purchase?limit=3&page={page}{end_date}")["purchases"]
            seen += [row["id"] for row in found]
            sold = buy(client, partner.test_key, PERSONAL_ACCIDENT, email=f"{page}{comes_twice}@example.com")
            with store.writing(partner.scope()) as session:
                inputs = {"actor": "desk", "reason": "asked for", "by_insurer": True, "expected_version": 1}
                changes.cancel(session, UUID(sold["id"]), **inputs)
        assert (len(seen) > len(set(seen))) == comes_twice
        if not comes_twice:
            assert sorted(seen) == sorted(each["purchase_id"] for each in before)


def put_sales_apart(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    """Write totals and audit entries to one part: two sales share one of the sixteen by chance, and would wait."""
    monkeypatch.setattr(day_totals, "part_of", lambda *_: part)
    monkeypatch.setattr(log, "chain_of", lambda _: part)


def ids_since(client: Client, partner: Partner, start: str) -> set[str]:
    start = start.replace("+", "%2B")
    found = data_of(client, partner.test_key, f"purchase/search?start_date={start}")
    return {row["id"] for row in found["purchases"]}


def test_a_poll_that_misses_a_sale_is_reported(
    store: Store, partner: Partner, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From the future no sale is ever seen.
    monkeypatch.setattr(verify, "OVERLAP", timedelta(days=-1))
    with contract_replay.prepare_replay(server, partner.test_key) as run:
        (outcome,) = verify.outcomes(run)
    assert outcome.fault == f"{verify.SALES} sales were never seen"


def test_a_server_that_does_not_answer_is_reported() -> None:
    with httpx.Client(base_url="http://127.0.0.1:9") as client:
        (outcome,) = verify.outcomes(contract_replay.Replay(client))
    assert outcome.fault == "no answer: ConnectError"


@every_case("path", ["/purchase/search", "/renewals/search", "/policies/search", "/claims/search", "/customers"])
def test_the_document_says_how_to_poll(path: str) -> None:
    descriptions = {
        each["name"]: each.get("description", "") for each in api.openapi()["paths"][path]["get"]["parameters"]
    }
    assert "5 seconds before the newest one" in descriptions["start_date"]
