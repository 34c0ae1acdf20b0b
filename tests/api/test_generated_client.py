"""A client that a generator makes of the OpenAPI document does a distributor's whole work over a real socket."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints
from uuid import UUID

import pytest

from core.api.app import api
from core.covers import credit_life
from core.covers.insurers import insurer_a
from core.covers.registry import COVERS
from core.store.access import Store
from tests import papers
from tests.conftest import Partner
from tests.covers import shipped

pytestmark = pytest.mark.long

PACKAGE = "generated_coverdesk"


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The generated package, importable; the generator had nothing to complain of."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "document.json").write_text(json.dumps(api.openapi()))
    # Its default is to have the code formatted, which takes longer than to write it.
    (folder / "config.json").write_text(json.dumps({"post_hooks": []}))
    words = ("--path", "document.json", "--config", "config.json", "--output-path", PACKAGE, "--meta", "none")
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "WARNING" not in made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    invalidate_caches()
    yield PACKAGE
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


class Desk:
    """The code that a distributor's engineer writes around the generated package."""

    def __init__(self, package: str, server: str, key: str) -> None:
        self.package = package
        client = import_module(package).AuthenticatedClient
        self.client = client(base_url=f"{server}/v1", token=key, raise_on_unexpected_status=True)

    def operation(self, name: str) -> ModuleType:
        """The module of an operation, by its name."""
        (found,) = Path(str(import_module(self.package).__file__)).parent.glob(f"api/*/{name}.py")
        return import_module(f"{self.package}.api.{found.parent.name}.{name}")

    def model(self, name: str) -> Any:
        return getattr(import_module(f"{self.package}.models"), name)

    def file(self, content: bytes, name: str = "paper.pdf") -> Any:
        return import_module(f"{self.package}.types").File(io.BytesIO(content), name, "application/pdf")

    def call(self, name: str, *given: Any, **options: Any) -> Any:
        """The parsed answer of an operation that went well."""
        answer = self.operation(name).sync_detailed(*given, client=self.client, **options)
        assert answer.status_code < 300, answer.content
        return answer.parsed

    def post(self, name: str, body: dict[str, Any]) -> Any:
        """The data of a POST whose body is made of plain values by its model."""
        model = get_type_hints(self.operation(name)._get_kwargs)["body"]
        answer = self.call(name, body=model.from_dict(body))
        assert answer.response_code == 1
        return answer.data


@pytest.fixture
def desk(package: str, server: str, store: Store, partner: Partner) -> Iterator[Desk]:
    desk = Desk(package, server, partner.test_key)
    with desk.client:
        yield desk


def bought(desk: Desk, cover: Any, **changed: Any) -> Any:
    """The policy of a purchase, wherever the answer carries it."""
    data = desk.post(
        "_".join(("buy", *cover.key.replace("buy-", "").replace("/", "-").split("-"))), shipped.body(cover, **changed)
    )
    return getattr(data, "policy", data)


def test_every_operation_is_generated_under_a_readable_name(package: str) -> None:
    folder = Path(str(import_module(package).__file__)).parent / "api"
    generated = {path.stem for path in folder.glob("*/*.py")} - {"__init__"}
    assert generated == {
        operation["operationId"] for methods in api.openapi()["paths"].values() for operation in methods.values()
    }
    assert {"list_purchases", "search_policies", "get_claim", "buy_credit_life", "download_file"} <= generated


# The client in TypeScript is compiled by an ordinary test.
@pytest.mark.exhaustive
def test_its_types_hold(package: str) -> None:
    root = Path(str(import_module(package).__file__)).parents[1]
    words = ("--config-file=", "--strict", f"--cache-dir={root / 'types'}", "-p", package)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *words], cwd=root, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_it_sells_every_cover_and_finds_all_of_them_again(desk: Desk) -> None:
    policies = [bought(desk, cover) for cover in COVERS]
    assert all(isinstance(policy.id, UUID) and policy.created_at.tzinfo for policy in policies)
    assert {policy.status.value for policy in policies} == {"active", "pending"}
    for name, found in (("list_purchases", "purchases"), ("list_policies", "policies")):
        data = desk.call(name, limit=100).data
        assert data.total_count == data.total == data.total_result == len(getattr(data, found)) == len(COVERS)
    listed = desk.call("list_policies", limit=100).data.policies
    assert {policy.id for policy in listed} == {policy.id for policy in policies}
    one = desk.call("get_policy", policies[0].id).data.policy
    assert (one.id, one.policy_number) == (policies[0].id, policies[0].policy_number)
    assert desk.call("get_purchase", one.purchase_id).data.purchase.policy_id == one.id


def test_it_searches_by_days_ids_and_enums(desk: Desk) -> None:
    policy = bought(desk, insurer_a.THIRD_PARTY)
    bought(desk, credit_life.CREDIT_LIFE)
    today = datetime.now(UTC)
    yesterday, tomorrow = (today + timedelta(days=days) for days in (-1, 1))
    status, kind = desk.model("SearchPoliciesStatus").TRUE, desk.model("SearchPoliciesCustomerType").PRINCIPAL
    near = {"start_date": f"{yesterday:%Y-%m-%d}", "end_date": tomorrow.isoformat()}
    found = desk.call("search_policies", customer_id=policy.customer_id, status=status, customer_type=kind, **near)
    assert [each.id for each in found.data.policies] == [policy.id]
    found = desk.call("search_purchases", customer_email=policy.email, provider_id=policy.provider_id)
    assert [each.id for each in found.data.purchases] == [policy.purchase_id]
    assert desk.call("search_purchases", end_date="2020-01-01").data.purchases == []
    (customer,) = desk.call("list_customers", search=policy.email).data.customers
    assert desk.call("list_policies_of_customer", customer.id).data.policies[0].id == policy.id
    shelf = desk.call("list_products", product_ids=[policy.product_id]).data.products
    assert shelf[0].meta.to_dict()["mca_price"]["annually"] == shelf[0].price
    categories = desk.call("list_product_categories").data.product_category
    assert sum(category.product_count for category in categories) == desk.call("list_products").data.total_count


def test_it_renews_prices_and_reads_the_lookups(desk: Desk) -> None:
    policy = bought(desk, insurer_a.THIRD_PARTY)
    renewed = desk.post("renew_third_party", {"policy_id": str(policy.id)}).policy
    assert renewed.expiration_date > policy.expiration_date
    (renewal,) = desk.call("search_renewals", status=desk.model("SearchRenewalsStatus").TRUE).data.renewals
    assert (renewal.policy_id, renewal.start_date) == (policy.id, policy.expiration_date)
    body = {**shipped.body(credit_life.CREDIT_LIFE), "benefit_coverage": ["death"]}
    assert desk.post("compute_credit_life_price", body).price == 275.0
    assert desk.call("get_genders").data == ["Male", "Female"]
    make = desk.call("get_vehicle_make", year="2019", provider="insurer-a").data[0]
    models = desk.call("get_vehicle_model", year="2019", provider="insurer-a", make_id=make.id).data
    assert {model.make for model in models} == {make.name}


def test_it_uploads_a_file_and_gets_its_bytes_back(desk: Desk) -> None:
    body = desk.model("UploadForm")(file=desk.file(papers.picture("PNG"), "id card.png"))
    uploaded = desk.call("upload_file", body=body).data
    assert (uploaded.file_name, uploaded.content_type.value) == ("id card.png", "image/png")
    again = desk.call("download_file", uploaded.file_url.rsplit("/", 1)[-1]).payload.read()
    assert (len(again), papers.opened(again).size) == (uploaded.size, (64, 48))


def test_it_lodges_a_claim_with_files_and_with_addresses(desk: Desk) -> None:
    number = bought(desk, credit_life.CREDIT_LIFE).policy_number
    upload = desk.model("UploadForm")
    address = desk.call("upload_file", body=upload(file=desk.file(papers.pdf()))).data.file_url
    facts: dict[str, Any] = {
        "policy_number": number,
        "loan_offer_date": "2026-08-01",
        "loan_repayment_date": "2027-08-01",
        "loan_amount": "100000",
        "pending_repayment_amount": "75000.50",
        "incident_date": "2026-11-01",
        "accidental": desk.model("CreditLifeClaimFormAccidental").FALSE,
    }
    lost = {"incident_type": desk.model("CreditLifeClaimFormIncidentType").LOSS_OF_JOB}
    paper = desk.file(papers.pdf(text="offer"))
    form = desk.model("CreditLifeClaimForm")(
        **facts, **lost, loan_offer_letter=paper, employment_termination_letter=desk.file(papers.pdf(text="letter"))
    )
    first = desk.call("lodge_credit_life_claim", body=form).data.claim
    # What the document says in words is no part of the generated package: JSON in place of the form.
    died = {**form.to_dict(), "incident_type": "Death", "loan_offer_letter": address, "medical_report": address}
    del died["employment_termination_letter"]
    answer = desk.client.get_httpx_client().post("/claims/credit-life", json=died)
    second = desk.model("OneClaimAnswer").from_dict(answer.json()).data.claim
    assert desk.call("get_claim", first.id).data.claim.to_dict() == first.to_dict()
    assert [claim.id for claim in desk.call("list_claims").data.claims] == [second.id, first.id]
    found = desk.call("search_claims", status=desk.model("SearchClaimsStatus").PENDING, claim_amount="0.00")
    assert found.data.total == 2
    assert second.credit_life_claim_meta.incident_type.value == "Death"


def test_a_refusal_is_parsed_with_its_fields(desk: Desk, package: str, server: str) -> None:
    operation, model = desk.operation("buy_credit_life"), desk.model("CreditLifeRequest")
    child = {**shipped.body(credit_life.CREDIT_LIFE), "date_of_birth": "2020-01-01"}
    answer = operation.sync_detailed(client=desk.client, body=model.from_dict(child))
    assert (answer.status_code, answer.parsed.response_code) == (400, 0)
    assert [fault.field for fault in answer.parsed.error_data] == ["date_of_birth"]
    unknown = Desk(package, server, "cd_test_nobody")
    with unknown.client as client:
        refused = unknown.operation("list_purchases").sync_detailed(client=client)
    assert (refused.status_code, refused.parsed.response_text) == (401, "Unauthorized")
