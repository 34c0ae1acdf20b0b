"""Lookups over the API: the shapes, names and refusals of every list (contract L1-L3)."""

from datetime import UTC, datetime
from typing import Any

from core import clock, reference
from core.api.v1.lookups import LOOKUPS
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case

MAKE = reference.list_vehicle_makes(None)[0]
PARAMETERS = {
    "/products/get-vehicle-make": {"year": "2019", "provider": "insurer-a"},
    "/products/get-vehicle-model": {"year": "2019", "provider": "insurer-a", "make_id": MAKE.id},
}
PATHS = {
    "/products/insurer-b/get-feature-list": "Ok",
    "/countries": "Countries",
    "/countries-with-states": "Countries with states",
    "/states-with-lga": "States with local government areas",
    "/lgas": "Local government areas",
    "/color-list": "Colours",
    "/vehicle-body-types": "Vehicle body types",
    "/manufacture-year": "Manufacture years",
    "/genders": "Genders",
    "/identification-types": "Identification types",
    "/products/insurer-d/owner-titles": "Owner titles",
    "/products/get-vehicle-make": "Vehicle makes",
    "/products/get-vehicle-model": "Vehicle models",
}
STRINGS = [path for path in PATHS if path not in PARAMETERS and not path.endswith(("-list", "-states", "-lga"))]


def data_of(client: Client, partner: Partner, path: str, **parameters: str) -> Any:
    answer = client.get(f"/v1{path}", key=partner.test_key, params=parameters or PARAMETERS.get(path, {}))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_every_lookup_of_the_specification_answers_under_its_own_name(client: Client, partner: Partner) -> None:
    assert [lookup.path for lookup in LOOKUPS] == list(PATHS)
    for path, text in PATHS.items():
        answer = client.get(f"/v1{path}", key=partner.test_key, params=PARAMETERS.get(path, {})).json()
        assert (answer["responseCode"], answer["responseText"]) == (1, text)
        assert answer["data"]


def test_lookups_need_a_key(client: Client) -> None:
    for path in PATHS:
        assert client.get(f"/v1{path}").status_code == 401


def test_plain_lists_are_strings(client: Client, partner: Partner) -> None:
    for path in [*STRINGS, "/color-list"]:
        data = data_of(client, partner, path)
        assert isinstance(data, list)
        assert all(isinstance(entry, str) and entry for entry in data)


def test_countries_and_states_carry_their_parts(client: Client, partner: Partner) -> None:
    countries = {row["name"]: row["states"] for row in data_of(client, partner, "/countries-with-states")}
    assert len(countries) == 249
    assert all(countries.values())
    assert "Lagos" in countries["Nigeria"]
    states = {row["name"]: row["lgas"] for row in data_of(client, partner, "/states-with-lga")}
    assert sum(map(len, states.values())) == 774
    assert data_of(client, partner, "/lgas")[0] == "ABIA-Aba North"


def test_feature_list_has_the_seven_arrays_of_the_specification(client: Client, partner: Partner) -> None:
    data = data_of(client, partner, "/products/insurer-b/get-feature-list")
    assert list(data) == ["colorList", "bodyTypes", "manufactureYear", "titles", "lgas", "genders", "countries"]
    assert all(isinstance(rows, list) and rows for rows in data.values())


@every_case("feature", ["genders", " GENDERS "])
def test_one_feature_is_answered_alone_in_any_case(client: Client, partner: Partner, feature: str) -> None:
    path = "/products/insurer-b/get-feature-list"
    assert data_of(client, partner, path, feature=feature) == {"genders": ["Male", "Female"]}
    answer = client.get("/v1/countries", key=partner.test_key, params={"feature": feature}).json()
    assert (answer["responseText"], answer["data"]) == ("Genders", ["Male", "Female"])


@every_case("path", ["/products/insurer-b/get-feature-list", "/countries"])
def test_unknown_feature_is_refused_and_a_blank_one_is_none(client: Client, partner: Partner, path: str) -> None:
    refused = client.get(f"/v1{path}", key=partner.test_key, params={"feature": "planets"})
    assert refused.status_code == 400
    assert refused.json()["errorData"][0]["field"] == "feature"
    assert data_of(client, partner, path, feature=" ") == data_of(client, partner, path)


def test_makes_are_objects_and_models_name_their_make(client: Client, partner: Partner) -> None:
    makes = data_of(client, partner, "/products/get-vehicle-make")
    assert all(set(make) == {"id", "name"} for make in makes)
    models = data_of(client, partner, "/products/get-vehicle-model")
    assert all(set(model) == {"id", "name", "make"} and model["make"] == MAKE.name for model in models)


@every_case("provider", ["insurer-d", "INSURER-D", "Some Other Mutual"])
def test_every_provider_gets_the_common_list(client: Client, partner: Partner, provider: str) -> None:
    common = data_of(client, partner, "/products/get-vehicle-make")
    assert data_of(client, partner, "/products/get-vehicle-make", year="2019", provider=provider) == common


def test_a_year_without_models_gets_all_of_the_make(client: Client, partner: Partner) -> None:
    late = next(make for make in reference.list_vehicle_makes(None) if not reference.list_vehicle_models(make.id, 1960))
    parameters = {"year": "1960", "provider": "insurer-a", "make_id": late.id}
    assert data_of(client, partner, "/products/get-vehicle-model", **parameters)


@every_case(
    ("field", "value"),
    [
        ("year", None),
        ("year", "19"),
        ("year", "1959"),
        ("year", "next"),
        ("provider", None),
        ("provider", " "),
        ("make_id", None),
        ("make_id", "Toyota"),
    ],
)
def test_missing_or_malformed_question_is_refused_by_name(
    client: Client, partner: Partner, field: str, value: str | None
) -> None:
    path = "/products/get-vehicle-model"
    parameters = {name: text for name, text in {**PARAMETERS[path], field: value}.items() if text is not None}
    answer = client.get(f"/v1{path}", key=partner.test_key, params=parameters)
    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["errorData"]] == [field]


def test_unknown_make_is_not_found(client: Client, partner: Partner) -> None:
    parameters = {**PARAMETERS["/products/get-vehicle-model"], "make_id": "01900000-0000-7000-8000-0000000000ff"}
    answer = client.get("/v1/products/get-vehicle-model", key=partner.test_key, params=parameters)
    assert answer.status_code == 404
    assert answer.json()["responseText"] == "Vehicle make not found"


def test_unknown_parameters_are_ignored(client: Client, partner: Partner) -> None:
    assert data_of(client, partner, "/countries", list="genders", x="1")[0] == "Afghanistan"


def test_years_of_manufacture_grow_with_the_calendar(client: Client, partner: Partner) -> None:
    data_of(client, partner, "/manufacture-year")
    with clock.freeze(datetime(2031, 1, 2, tzinfo=UTC)):
        assert data_of(client, partner, "/manufacture-year")[0] == "2032"
