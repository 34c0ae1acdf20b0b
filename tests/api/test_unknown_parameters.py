"""Names in an address that nobody uses: told in a header, and refused where one looks like a misspelling."""

from core.api.app import api
from core.covers.credit_life import CREDIT_LIFE
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN, broken
from tests.conftest import Partner
from tests.covers.shipped import body
from tests.every_case import every_case

HEADER = "x-ignored-fields"
READS = [path for path, methods in api.openapi()["paths"].items() if "get" in methods]
QUERY = {"year": "2019", "provider": "insurer-a", "make_id": UNKNOWN, "format": "csv"}


@every_case("path", READS)
def test_every_read_names_the_parameters_that_it_passes_over(client: Client, partner: Partner, path: str) -> None:
    parameters = api.openapi()["paths"][path]["get"].get("parameters", [])
    needed = {p["name"]: QUERY[p["name"]] for p in parameters if p["in"] == "query" and p.get("required")}
    address = f"/v1{path}".replace("{", "").replace("}", "")
    answer = client.get(address, key=partner.test_key, params={**needed, "zzz": "1", "Ω": "2", "aa": ""})
    if answer.status_code == 200:
        assert answer.headers[HEADER] == "%CE%A9,aa,zzz"
        assert HEADER not in client.get(address, key=partner.test_key, params=needed).headers
    else:
        # Nothing was read: no parameter was passed over.
        assert answer.status_code in {400, 404}


@every_case(
    ("path", "name", "meant"),
    [
        ("purchase/search", "custmer_email", "customer_email"),
        ("purchase", "pge", "page"),
        ("policies/search", "statu", "status"),
        ("claims/search", "claim_typ", "claim_type"),
        ("customers", "serch", "search"),
        ("products/get-all-products", "product_id", "product_ids"),
        ("countries", "featur", "feature"),
    ],
)
def test_a_misspelt_parameter_is_refused_with_the_right_one(
    client: Client, partner: Partner, path: str, name: str, meant: str
) -> None:
    answer = client.get(f"/v1/{path}", key=partner.test_key, params={name: "secret"})
    assert broken(answer) == [name]
    assert answer.json()["errorData"][0]["message"] == f"is not known, did you mean {meant}?"
    assert "secret" not in answer.text


def test_a_parameter_of_another_list_is_told_to_be_passed_over(client: Client, partner: Partner) -> None:
    answer = client.get("/v1/purchase?incident_start_date=2026-01-01&status=true", key=partner.test_key)
    assert answer.status_code == 200
    assert answer.headers[HEADER] == "incident_start_date,status"


def test_both_spellings_at_once_are_not_a_misspelling(client: Client, partner: Partner) -> None:
    answer = client.get("/v1/purchase?page=1&pge=2", key=partner.test_key)
    assert (answer.status_code, answer.headers[HEADER]) == (200, "pge")


def test_the_address_of_a_sale_and_its_body_are_named_together(client: Client, partner: Partner) -> None:
    sent = body(CREDIT_LIFE, channel="app")
    answer = client.post(f"/v1{CREDIT_LIFE.path}?debug=1", key=partner.test_key, json=sent)
    assert answer.status_code == 201
    assert answer.headers[HEADER] == "channel,debug"


def test_many_unknown_parameters_take_no_longer_header_than_fits(client: Client, partner: Partner) -> None:
    query = "&".join(f"{n:03d}{'x' * 90}=1" for n in range(300))
    answer = client.get(f"/v1/genders?{query}", key=partner.test_key)
    assert answer.status_code == 200
    assert len(answer.headers[HEADER]) <= 4000
