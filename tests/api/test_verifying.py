"""`coverdesk verify` replays the whole specification, and sees what is not as documented."""

import copy
from typing import Any

import pytest
import sqlalchemy as sa

from core.api import contract_replay
from core.api.app import api
from core.covers.registry import COVERS
from core.desk import queues
from core.errors import NotAllowed
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, Customer, LoanBook, Policy, Renewal, UploadedFile
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.every_case import every_case


def faults(run: contract_replay.Replay) -> dict[str, str]:
    return {outcome.operation: outcome.fault for outcome in run.outcomes() if outcome.fault}


@pytest.mark.long
def test_every_operation_answers_as_documented_and_what_it_leaves_behind_is_told_and_it_can_be_run_again(
    store: Store, partner: Partner, server: str
) -> None:
    before = _counted(store)
    with contract_replay.prepare_replay(server, partner.test_key) as run:
        outcomes = list(run.outcomes())
    assert [outcome for outcome in outcomes if outcome.fault] == []
    assert len(outcomes) == sum(len(methods) for methods in api.openapi()["paths"].values())
    sales = [path for path in api.openapi()["paths"] if "buy-" in path]
    assert len(run.left["policies"]) == len(sales) == len(COVERS)
    renewals = {outcome.operation: outcome.status for outcome in outcomes if "renew" in outcome.operation}
    assert renewals["POST /v1/products/insurer-a/renew-third-party"] == 201
    assert renewals["GET /v1/renewals/{renewal_id}"] == 200
    made = {name: count - before[name] for name, count in _counted(store).items()}
    assert {kind: len(names) for kind, names in run.left.items()} == made
    assert (made["policies"], made["endpoints"]) == (len(COVERS), 0)
    assert min(made["claims"], made["files"], made["customers"]) > 0
    of_endpoint = {each.operation: each.status for each in outcomes if "{endpoint_id}" in each.operation}
    assert {name for name, status in of_endpoint.items() if status == 404} == {
        "POST /v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver"
    }
    with contract_replay.prepare_replay(server, partner.test_key) as again:
        assert faults(again) == {}


def _counted(store: Store) -> dict[str, int]:
    kinds = {"customers": Customer, "policies": Policy, "renewals": Renewal, "claims": Claim, "files": UploadedFile}
    with store.reading(Scope.system()) as session:
        counted = {
            name: session.execute(sa.select(sa.func.count()).select_from(entity)).scalar_one()
            for name, entity in kinds.items()
        }
        counted["loan books"] = session.execute(sa.select(sa.func.count()).select_from(LoanBook)).scalar_one()
        return {**counted, "endpoints": sum(queues.count_endpoints(session).values())}


def test_live_key_is_refused_because_it_would_sell() -> None:
    with (
        pytest.raises(NotAllowed, match="test key"),
        contract_replay.prepare_replay("http://127.0.0.1:9", "cd_live_anything"),
    ):
        pytest.fail("it started")


def test_answer_that_is_not_as_documented_is_reported(store: Store, partner: Partner, server: str) -> None:
    with contract_replay.prepare_replay(server, partner.test_key) as run:
        run.document = _changed(api.openapi())
        found = faults(run)
    assert "status 200 is not documented" in found["GET /v1/genders"]
    assert "refused its own example" in found["POST /v1/products/credit-life-price"]
    assert found["GET /v1/lgas"] == "its responseText is not 'Places'"
    assert "by a text that none has" in found["GET /v1/claims"]
    assert "'premium' is a required property" in found["GET /v1/purchase"]


CHANGED = ("/genders", "/lgas", "/products/credit-life-price", "/claims", "/purchase")
# What there is to find in the lists that were changed.
SOLD_AND_CLAIMED = ("/products/buy-credit-life", "/claims/credit-life")


def _changed(document: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    paths = changed["paths"] = {path: changed["paths"][path] for path in (*CHANGED, *SOLD_AND_CLAIMED)}
    paths["/genders"]["get"]["responses"]["299"] = paths["/genders"]["get"]["responses"].pop("200")
    paths["/lgas"]["get"]["responses"]["200"]["content"]["application/json"]["example"]["responseText"] = "Places"
    price = paths["/products/credit-life-price"]["post"]["requestBody"]["content"]["application/json"]
    price["example"] = {**price["example"], "loan_tenure": 1}
    changed["components"]["schemas"]["PurchaseRecord"]["required"].append("premium")
    paths["/claims"]["get"]["parameters"].append({"name": "search", "in": "query"})
    return changed


@every_case(
    ("place", "words"),
    [
        ("http://127.0.0.1:9", "--base-url must be where a server answers: ConnectError"),
        ("127.0.0.1:9", "--base-url must be where a server answers: UnsupportedProtocol"),
        ("{server}/v1", "--base-url must be the address without /v1 at its end"),
        ("{server}/v1/", "--base-url must be the address without /v1 at its end"),
        ("{server}/healthz?", "--base-url must be where Coverdesk answers: something else does there"),
    ],
    beside_threads=True,
)
def test_wrong_address_is_said_once(server: str, place: str, words: str) -> None:
    refused = coverdesk("verify", "--base-url", place.format(server=server), "--key", "cd_test_anything")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"Refused. {words}\n"


def test_key_of_another_server_is_said_once(store: Store, server: str) -> None:
    with (
        pytest.raises(NotAllowed, match="does not take the key"),
        contract_replay.prepare_replay(server, "cd_test_anything"),
    ):
        pytest.fail("it started")
