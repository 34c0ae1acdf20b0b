"""The reference lists are real, complete and matched without regard to case (contract L1, L3, S14)."""

import re
from collections import Counter
from uuid import UUID

import pytest

from core import reference
from tests.every_case import every_case

KNOWN_COUNTS = """
Abia 17, Adamawa 21, Akwa Ibom 31, Anambra 21, Bauchi 20, Bayelsa 8, Benue 23, Borno 27, Cross River 18
Delta 25, Ebonyi 13, Edo 18, Ekiti 16, Enugu 17, FCT 6, Gombe 11, Imo 27, Jigawa 27, Kaduna 23, Kano 44
Katsina 34, Kebbi 21, Kogi 21, Kwara 16, Lagos 20, Nasarawa 13, Niger 25, Ogun 20, Ondo 18, Osun 30
Oyo 33, Plateau 17, Rivers 23, Sokoto 23, Taraba 16, Yobe 17, Zamfara 14
"""
LGAS_BY_STATE = {name: int(count) for name, count in re.findall(r"(\w[\w ]*) (\d+)", KNOWN_COUNTS)}
YEARS = range(1995, 2028)
SIMPLE_LISTS = [
    *(reference.colours, reference.body_types, reference.genders, reference.titles, reference.owner_titles),
    *(reference.identification_types, reference.marital_statuses, reference.countries, reference.lgas),
]


def make_named(name: str) -> reference.Make:
    make = reference.find_make_by_id_or_name(name)
    assert make is not None
    return make


def test_every_state_has_its_known_number_of_local_government_areas() -> None:
    assert {row.name: len(row.lgas) for row in reference.states()} == LGAS_BY_STATE


def test_there_are_37_states_and_774_areas() -> None:
    assert len(reference.states()) == 37
    assert len(reference.lgas()) == len(set(reference.lgas())) == 774
    assert all(re.fullmatch(r"[A-Z ]+-\S.*\S", entry) for entry in reference.lgas())


def test_exactly_six_area_names_recur_across_states() -> None:
    times = Counter(name for row in reference.states() for name in row.lgas)
    recurring = {name for name, count in times.items() if count > 1}
    assert recurring == {"Bassa", "Ifelodun", "Irepodun", "Nasarawa", "Obi", "Surulere"}
    assert max(times.values()) == 2


@every_case("value", ["ABIA-Aba North", "abia-aba north", "  Abia-ABA NORTH ", "aba north"])
def test_an_area_is_known_in_any_case_and_by_its_bare_name(value: str) -> None:
    assert reference.find_lga(value) == "ABIA-Aba North"


@every_case("value", ["Eti-Osa", "eti osa", "LAGOS-Eti-Osa", "Lagos-Eti Osa"])
def test_punctuation_does_not_hide_an_area(value: str) -> None:
    assert reference.find_lga(value) == "LAGOS-Eti-Osa"


def test_a_recurring_area_name_needs_its_state() -> None:
    assert reference.find_lga("Surulere") is None
    assert reference.find_lga("oyo-surulere") == "OYO-Surulere"
    assert reference.find_lga("Lagos-Surulere") == "LAGOS-Surulere"


@every_case("value", ["", "  ", "Atlantis", "ABIA-Ikeja", "Lagos"])
def test_an_unknown_area_is_refused(value: str) -> None:
    assert reference.find_lga(value) is None


def test_every_area_finds_itself() -> None:
    assert [reference.find_lga(entry) for entry in reference.lgas()] == list(reference.lgas())


@every_case(
    "value",
    [
        "FCT",
        "Abuja",
        "Abuja FCT",
        "FCT, Abuja",
        "federal capital territory",
        "Abuja Federal Capital Territory",
    ],
)
def test_the_federal_capital_territory_goes_by_many_names(value: str) -> None:
    assert reference.find_state(value) == "FCT"


@every_case(("value", "name"), [("lagos", "Lagos"), ("Lagos State", "Lagos"), (" AKWA IBOM ", "Akwa Ibom")])
def test_a_state_is_known_in_any_case_and_with_the_word_state(value: str, name: str) -> None:
    assert reference.find_state(value) == name


def test_an_unknown_state_is_refused() -> None:
    assert {reference.find_state(value) for value in ("", "State", "Capital", "Texas")} == {None}


def test_every_nigerian_subdivision_of_the_country_list_is_a_known_state() -> None:
    nigeria = next(row for row in reference.countries_with_states() if row.name == "Nigeria")
    assert {reference.find_state(name) for name in nigeria.states} == set(LGAS_BY_STATE)


def test_there_are_249_countries_and_none_without_a_state_or_capital() -> None:
    rows = reference.countries_with_states()
    assert tuple(row.name for row in rows) == reference.countries()
    assert len(set(reference.countries())) == 249
    assert all(row.states and all(name.strip() for name in row.states) for row in rows)
    assert all(len(set(row.states)) == len(row.states) for row in rows)


def test_a_country_without_subdivisions_shows_its_capital() -> None:
    capitals = {row.name: row.states for row in reference.countries_with_states() if len(row.states) == 1}
    assert len(capitals) == 49
    assert capitals["Bermuda"] == ("Hamilton",)


def test_countries_carry_their_common_names_in_order_without_accents() -> None:
    names = reference.countries()
    assert {"Bolivia", "South Korea", "Vietnam", "Nigeria"} <= set(names)
    assert names[:3] == ("Afghanistan", "Åland Islands", "Albania")


def test_no_subdivision_carries_a_bracketed_note() -> None:
    assert not any("[" in name for row in reference.countries_with_states() for name in row.states)


@every_case(
    ("value", "name"),
    [
        ("nigeria", "Nigeria"),
        (" GHANA ", "Ghana"),
        ("Viet Nam", "Vietnam"),
        ("Cote d'Ivoire", "Côte d'Ivoire"),
        ("Federal Republic of Nigeria", "Nigeria"),
    ],
)
def test_a_country_is_known_in_any_case_and_by_its_iso_names(value: str, name: str) -> None:
    assert reference.find_country(value) == name


def test_an_unknown_country_is_refused() -> None:
    assert {reference.find_country(value) for value in ("", "Wakanda", "NG", "Nigeri")} == {None}


def test_every_country_finds_itself() -> None:
    assert tuple(reference.find_country(name) for name in reference.countries()) == reference.countries()


@every_case(
    ("country", "zone"),
    [
        ("Nigeria", "africa"),
        ("Egypt", "africa"),
        ("France", "schengen"),
        ("bulgaria", "schengen"),
        ("Switzerland", "schengen"),
        ("United States", "usa_canada"),
        ("Canada", "usa_canada"),
        ("United Kingdom", "elsewhere"),
        ("Ireland", "elsewhere"),
        ("Cyprus", "elsewhere"),
        ("Japan", "elsewhere"),
    ],
)
def test_a_country_lies_in_its_travel_zone(country: str, zone: str) -> None:
    assert reference.get_travel_zone(country) == zone


def test_zones_have_their_known_sizes() -> None:
    sizes = Counter(reference.get_travel_zone(name) for name in reference.countries())
    assert sizes == {"africa": 60, "schengen": 29, "usa_canada": 2, "elsewhere": 158}


def test_an_unknown_country_has_no_travel_zone() -> None:
    with pytest.raises(KeyError):
        reference.get_travel_zone("Wakanda")


@every_case(("value", "title"), [("mr", "Mr"), ("DR", "Dr"), ("Mr.", "Mr"), ("high-chief", "High Chief")])
def test_a_title_is_known_by_its_name_and_by_its_slug(value: str, title: str) -> None:
    assert reference.find_title(value) == title


def test_an_unknown_title_is_refused() -> None:
    assert {reference.find_title(value) for value in ("", ".", "Mr..", "Lord High Admiral")} == {None}


def test_owner_titles_end_in_a_full_stop_and_are_titles_without_it() -> None:
    assert all(entry.endswith(".") for entry in reference.owner_titles())
    assert {entry[:-1] for entry in reference.owner_titles()} <= set(reference.titles())


def test_a_value_is_matched_trimmed_and_in_any_case_to_its_canonical_spelling() -> None:
    assert reference.find_option(reference.genders(), "  fEMALE ") == "Female"
    assert reference.find_option(reference.identification_types(), "drivers license") == "Drivers License"
    assert reference.find_option(reference.genders(), "Fem") is None


def test_the_fixed_lists_are_those_of_the_specification() -> None:
    assert reference.genders() == ("Male", "Female")
    assert reference.identification_types() == (
        "Drivers License",
        "NIN",
        "International Passport",
        "Phone number",
    )
    assert reference.marital_statuses() == ("Single", "Married", "Divorced", "Widowed", "Separated")


@every_case("values", SIMPLE_LISTS)
def test_a_list_is_not_empty_and_no_entry_occurs_twice(values: object) -> None:
    assert callable(values)
    entries = values()
    folded = {entry.strip().casefold() for entry in entries}
    assert entries
    assert "" not in folded
    assert len(folded) == len(entries)


def test_manufacture_years_run_from_next_year_down_to_1960() -> None:
    years = reference.list_manufacture_years(2026)
    assert (years[0], years[1], years[-1]) == ("2027", "2026", "1960")
    assert len(years) == 68


def test_the_feature_list_has_the_keys_of_the_specification() -> None:
    assert {feature: key for feature, (key, _) in reference.FEATURE_LISTS.items()} == {
        "color-list": "colorList",
        "body-types": "bodyTypes",
        "manufacture-year": "manufactureYear",
        "titles": "titles",
        "lgas": "lgas",
        "genders": "genders",
        "countries": "countries",
    }
    assert all(load(2026) for _, load in reference.FEATURE_LISTS.values())


@every_case("year", YEARS)
def test_every_make_offered_for_a_year_has_models_of_that_year(year: int) -> None:
    makes = reference.list_vehicle_makes(year)
    assert len(makes) > 40
    for make in makes:
        models = reference.list_vehicle_models(make.id, year)
        assert models
        assert {model.make for model in models} == {make.name}


def test_a_make_is_offered_even_for_the_oldest_year_of_manufacture() -> None:
    assert all(reference.list_vehicle_makes(int(year)) for year in reference.list_manufacture_years(2026))


def test_vehicle_ids_are_uuids_and_never_repeat() -> None:
    makes = reference.list_vehicle_makes(None)
    models = [model for make in makes for model in reference.list_vehicle_models(make.id, None)]
    ids = [make.id for make in makes] + [model.id for model in models]
    assert len(makes) >= 45
    assert len(models) >= 500
    assert len(set(ids)) == len(ids)
    assert all(str(UUID(value)) == value for value in ids)


def test_names_of_makes_and_of_models_within_a_make_never_repeat() -> None:
    makes = reference.list_vehicle_makes(None)
    assert len({make.name.casefold() for make in makes}) == len(makes)
    for make in makes:
        models = reference.list_vehicle_models(make.id, None)
        assert len({model.name.casefold() for model in models}) == len(models)


def test_a_model_is_offered_only_for_the_years_of_its_production() -> None:
    peugeot = make_named("Peugeot")
    names = {year: {m.name for m in reference.list_vehicle_models(peugeot.id, year)} for year in (2006, 2007)}
    assert "504" in names[2006]
    assert "504" not in names[2007]


def test_a_make_is_found_by_id_or_by_name() -> None:
    toyota = make_named(" toyota ")
    assert reference.find_make_by_id(toyota.id.upper()) == toyota
    assert reference.find_make_by_id_or_name(toyota.id) == toyota
    assert reference.find_make_by_id("Toyota") is None
    assert reference.find_make_by_id_or_name("Batmobile") is None


def test_a_model_is_found_by_id_or_by_name_within_its_make() -> None:
    toyota, honda = make_named("Toyota"), make_named("Honda")
    corolla = reference.find_model_by_id_or_name("COROLLA", toyota)
    assert corolla is not None
    assert corolla.make == "Toyota"
    assert reference.find_model_by_id(corolla.id) == corolla
    assert reference.find_model_by_id_or_name(corolla.id, toyota) == corolla
    assert reference.find_model_by_id_or_name(corolla.id, honda) is None
    assert reference.find_model_by_id_or_name("Corolla", honda) is None
    assert reference.find_model_by_id("Corolla") is None


def test_an_unknown_make_has_no_models() -> None:
    assert reference.list_vehicle_models("nothing", None) == ()
