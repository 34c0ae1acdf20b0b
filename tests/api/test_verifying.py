"""`coverdesk verify` replays the whole specification, and sees what is not as documented."""

import copy
from typing import Any

import pytest

from core.api import verifying
from core.api.app import api
from core.errors import NotAllowed
from core.store.engine import Store
from tests.conftest import Partner


def faults(run: verifying.Replay) -> dict[str, str]:
    return {outcome.operation: outcome.fault for outcome in run.outcomes() if outcome.fault}


def test_every_operation_answers_as_documented(store: Store, partner: Partner, server: str) -> None:
    with verifying.replay(server, partner.test_key) as run:
        outcomes = list(run.outcomes())
    assert [outcome for outcome in outcomes if outcome.fault] == []
    assert len(outcomes) == sum(len(methods) for methods in api.openapi()["paths"].values())
    sales = [path for path in api.openapi()["paths"] if "buy-" in path]
    assert len(run.sold) == len(sales) == 13
    renewals = {outcome.operation: outcome.status for outcome in outcomes if "renew" in outcome.operation}
    assert renewals["POST /v1/products/insurer-a/renew-third-party"] == 201
    assert renewals["GET /v1/renewals/{renewal_id}"] == 200


def test_it_can_be_run_again(store: Store, partner: Partner, server: str) -> None:
    for _ in range(2):
        with verifying.replay(server, partner.test_key) as run:
            assert faults(run) == {}


def test_live_key_is_refused_because_it_would_sell() -> None:
    with pytest.raises(NotAllowed, match="test key"), verifying.replay("http://127.0.0.1:9", "cd_live_anything"):
        pytest.fail("it started")


def test_answer_that_is_not_as_documented_is_reported(store: Store, partner: Partner, server: str) -> None:
    with verifying.replay(server, partner.test_key) as run:
        run.document = _changed(api.openapi())
        found = faults(run)
    assert "status 200 is not documented" in found["GET /v1/genders"]
    assert "refused its own example" in found["POST /v1/products/credit-life-price"]
    assert found["GET /v1/lgas"] == "its responseText is not 'Places'"
    assert "'premium' is a required property" in found["GET /v1/purchase"]


def _changed(document: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    paths = changed["paths"]
    paths["/genders"]["get"]["responses"]["299"] = paths["/genders"]["get"]["responses"].pop("200")
    paths["/lgas"]["get"]["responses"]["200"]["content"]["application/json"]["example"]["responseText"] = "Places"
    price = paths["/products/credit-life-price"]["post"]["requestBody"]["content"]["application/json"]
    price["example"] = {**price["example"], "loan_tenure": 1}
    changed["components"]["schemas"]["PurchaseRecord"]["required"].append("premium")
    return changed


def test_server_that_does_not_answer_is_reported() -> None:
    with verifying.replay("http://127.0.0.1:9", "cd_test_anything") as run:
        assert set(faults(run).values()) == {"no answer: ConnectError"}
