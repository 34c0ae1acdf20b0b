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
        assert (answer.status_code in {400, 404}, answer.headers[HEADER]) == (True, "%CE%A9,aa,zzz")


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
        ("purchase", "PAGE", "page"),
        ("purchase", "Limit", "limit"),
        ("renewals", "STATUS", "status"),
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


@every_case(
    ("query", "named"),
    [
        ("purchase?limit=5&limit=6", "limit"),
        ("purchase?limit=5&limit=5", "limit"),
        ("purchase/search?customer_email=a@x.example&customer_email=b@x.example&zzz=1", "customer_email"),
        ("countries?feature=titles&feature=genders", "feature"),
        ("events?types=purchase.created&types=claim.*", "types"),
        ("claims?claim_status=Viewed&claim_status=Pending", "claim_status"),
        ("loan-books?page=1&page=2", "page"),
    ],
)
def test_a_parameter_of_one_value_is_given_once(client: Client, partner: Partner, query: str, named: str) -> None:
    answer = client.get(f"/v1/{query}", key=partner.test_key)
    assert answer.status_code == 400, answer.text
    assert answer.json()["errorData"] == [{"field": named, "message": "must be given once"}]
    assert answer.headers.get(HEADER) == ("zzz" if "zzz" in query else None)


def test_repeated_and_malformed_parameters_are_named_at_once(client: Client, partner: Partner) -> None:
    answer = client.get("/v1/purchase?limit=5&limit=6&page=x&zzz=1&zzz=2", key=partner.test_key)
    assert sorted(broken(answer)) == ["limit", "page"]
    # Nobody reads the one that is not known, and a parameter of several values is repeated as one likes.
    assert client.get("/v1/purchase?zzz=1&zzz=2", key=partner.test_key).status_code == 200
    several = f"category_id={UNKNOWN}&category_id={UNKNOWN}"
    assert client.get(f"/v1/products/get-all-products?{several}", key=partner.test_key).status_code == 200


def test_two_names_of_one_filter_say_the_same(client: Client, partner: Partner) -> None:
    wrong = client.get("/v1/claims/search?status=Pending&claim_status=Viewed", key=partner.test_key)
    assert wrong.status_code == 400, wrong.text
    assert wrong.json()["errorData"] == [{"field": "claim_status", "message": "must say the same as status"}]
    for alike in (
        "status=Pending&claim_status=pending",
        "status=&claim_status=Viewed",
        "status=Viewed&claim_status=%20",
    ):
        assert client.get(f"/v1/claims?{alike}", key=partner.test_key).status_code == 200


def test_a_refused_question_names_what_nobody_knows(client: Client, partner: Partner) -> None:
    answer = client.get("/v1/products/get-vehicle-make?yaer=2019&provider=insurer-a", key=partner.test_key)
    assert (broken(answer), answer.headers[HEADER]) == (["year"], "yaer")


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
