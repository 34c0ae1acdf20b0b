"""Reference data: the lists that lookups serve and inputs are validated against (contract L1, L3, S14)."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from typing import Any, Final, Literal

import pycountry

from core import money
from core.settings import ROOT

TravelZone = Literal["africa", "schengen", "usa_canada", "elsewhere"]
_ZONES: Final[tuple[TravelZone, ...]] = ("africa", "schengen", "usa_canada")

_FOLDER: Final = ROOT / "data" / "reference"
_FCT: Final = re.compile("(abuja )?(fct|federal capital territory)( abuja)?|abuja")


@dataclass(frozen=True)
class Country:
    """A country with its subdivisions, or its capital if it has none."""

    name: str
    states: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """A Nigerian state or the FCT, with its local government areas."""

    name: str
    lgas: tuple[str, ...]


@dataclass(frozen=True)
class Make:
    """A vehicle manufacturer."""

    id: str
    name: str


@dataclass(frozen=True)
class Model:
    """A vehicle model; `make` is the name of its make."""

    id: str
    name: str
    make: str


@cache
def _read_json(name: str) -> Any:  # noqa: ANN401 any JSON
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@cache
def _read_strings(name: str) -> tuple[str, ...]:
    return tuple(_read_json(name))


# Each is called without arguments and returns the strings of its file.
colours = partial(_read_strings, "colours")
body_types = partial(_read_strings, "body_types")
genders = partial(_read_strings, "genders")
titles = partial(_read_strings, "titles")
owner_titles = partial(_read_strings, "owner_titles")
identification_types = partial(_read_strings, "identification_types")
marital_statuses = partial(_read_strings, "marital_statuses")


def list_manufacture_years(this_year: int) -> tuple[str, ...]:
    """Return years of manufacture as text, newest first: next year down to 1960 (contract S15)."""
    return tuple(str(year) for year in range(this_year + 1, 1959, -1))


@cache
def _index_options(options: tuple[str, ...]) -> dict[str, str]:
    return {option.casefold(): option for option in options}


def find_option(options: tuple[str, ...], value: str) -> str | None:
    """Return the option equal to the value, ignoring case and surrounding spaces; None if there is none."""
    return _index_options(options).get(value.strip().casefold())


def find_title(value: str) -> str | None:
    """Return the title for a title in any case, with or without a full stop, or its slug ("mr", "high-chief")."""
    return find_option(titles(), re.sub(r"[-_\s]+", " ", value).strip().removesuffix("."))


def find_owner_title(value: str) -> str | None:
    """Return the owner title ("Mrs.") for what `find_title` takes."""
    title = find_title(value)
    return None if title is None else find_option(owner_titles(), f"{title}.")


def _fold(text: str) -> str:
    """Fold case, accents and punctuation, so that spelling variants of a name compare equal."""
    bare = re.sub("['’‘ʼ]", "", unicodedata.normalize("NFKD", text.casefold()))
    return re.sub(r"[\W_]+", " ", "".join(c for c in bare if not unicodedata.combining(c))).strip()


def _get_common_name(entry: Any) -> str:  # noqa: ANN401 the library has no types
    return str(getattr(entry, "common_name", entry.name))


@cache
def countries_with_states() -> tuple[Country, ...]:
    """Return every country with its ISO 3166-2 subdivisions, or its capital if it has none."""
    parts: dict[str, set[str]] = {code: {capital} for code, capital in _read_json("capitals").items()}
    for part in pycountry.subdivisions:
        # ISO appends other languages and codes in square brackets: "Cardiff [Caerdydd GB-CRD]".
        parts.setdefault(part.country_code, set()).add(re.sub(r"\s*\[.*?\]", "", part.name))
    rows = ((_get_common_name(c), sorted(parts[c.alpha_2], key=_fold)) for c in pycountry.countries)
    return tuple(Country(name, tuple(names)) for name, names in sorted(rows, key=lambda row: _fold(row[0])))


@cache
def countries() -> tuple[str, ...]:
    """Return the 249 countries and territories of ISO 3166-1 by their common names, sorted."""
    return tuple(row.name for row in countries_with_states())


@cache
def _index_countries() -> dict[str, Any]:
    forms = ("name", "common_name", "official_name")
    usual = {_fold(name): pycountry.countries.get(alpha_2=code) for name, code in _read_json("country_names").items()}
    return usual | {_fold(getattr(row, form, row.name)): row for form in forms for row in pycountry.countries}


def find_country(value: str) -> str | None:
    """The name in `countries` for a common, short or official ISO name, or for another usual one ("UK")."""
    entry = _index_countries().get(_fold(value))
    return _get_common_name(entry) if entry else None


def get_travel_zone(country_name: str) -> TravelZone:
    """Return the travel zone of a country; KeyError for a name that `find_country` does not know."""
    code = _index_countries()[_fold(country_name)].alpha_2
    return next((zone for zone in _ZONES if code in _read_json("travel_zones")[zone]), "elsewhere")


@cache
def states() -> tuple[State, ...]:
    """Return Nigeria's 36 states and the FCT with their local government areas."""
    return tuple(State(row["name"], tuple(row["lgas"])) for row in _read_json("states"))


def find_state(value: str) -> str | None:
    """Return the name in `states`; accepts "Lagos State" and the usual names of the FCT."""
    name = _fold(value).removesuffix(" state")
    return find_option(tuple(row.name for row in states()), "fct" if _FCT.fullmatch(name) else name)


@cache
def lgas() -> tuple[str, ...]:
    """Return all 774 local government areas as "ABIA-Aba North", because six names recur (contract L1)."""
    return tuple(f"{row.name.upper()}-{name}" for row in states() for name in row.lgas)


@cache
def _index_lgas() -> dict[str, str]:
    bare_names = [_fold(entry.split("-", 1)[1]) for entry in lgas()]
    counts = Counter(bare_names)
    unique = {name: entry for name, entry in zip(bare_names, lgas(), strict=True) if counts[name] == 1}
    return unique | {_fold(entry): entry for entry in lgas()}


def find_lga(value: str) -> str | None:
    """Return the entry of `lgas` for that form in any case, or for a bare name that only one state has."""
    return _index_lgas().get(_fold(value))


def find_lgas_by_name(value: str) -> tuple[str, ...]:
    """The forms of `lgas` that a bare name may mean, in any case."""
    return tuple(entry for entry in lgas() if _fold(entry.split("-", 1)[1]) == _fold(value))


def colour(value: str) -> str | None:
    """The colour in `colours` in any case; "gray" is understood."""
    return find_option(colours(), re.sub(r"\bgray\b", "grey", value, flags=re.IGNORECASE))


@cache
def _load_makes() -> dict[str, Make]:
    return {row["id"]: Make(row["id"], row["name"]) for row in _read_json("vehicle_makes")}


@cache
def _load_models() -> dict[Model, range]:
    """Return every model with its production years; the end is 9998 if it is still produced."""
    rows = [(make["name"], row) for make in _read_json("vehicle_makes") for row in make["models"]]
    return {Model(r["id"], r["name"], m): range(r["from_year"], (r["to_year"] or 9998) + 1) for m, r in rows}


def list_vehicle_makes(year: int | None) -> tuple[Make, ...]:
    """Return the makes that produced a model in that year; all makes if year is None."""
    names = {model.make for model, years in _load_models().items() if year is None or year in years}
    return tuple(make for make in _load_makes().values() if make.name in names)


def list_vehicle_models(make_id: str, year: int | None) -> tuple[Model, ...]:
    """Return the models of a make that were produced in that year; empty for an unknown make."""
    make = find_make_by_id(make_id)
    models = [(m, years) for m, years in _load_models().items() if make and m.make == make.name]
    return tuple(model for model, years in models if year is None or year in years)


def find_make_by_id(value: str) -> Make | None:
    """Return the make with that id."""
    return _load_makes().get(value.strip().lower())


def find_make_by_id_or_name(value: str) -> Make | None:
    """Return the make with that id, or with that name in any case."""
    key = value.strip().casefold()
    return next((make for make in _load_makes().values() if key in (make.id, make.name.casefold())), None)


@cache
def _index_names() -> Mapping[tuple[str, str], Model]:
    """Index every model by its make's name and its own id or name; the first of a make that has one keeps it."""
    named = [((model.make, key), model) for model in _load_models() for key in (model.id, model.name.casefold())]
    return dict(reversed(named))


@cache
def _index_models() -> Mapping[str, Model]:
    return {model.id: model for model in _load_models()}


def find_model_by_id(value: str) -> Model | None:
    """Return the model with that id, of any make."""
    return _index_models().get(value.strip().lower())


def find_model_by_id_or_name(value: str, make: Make) -> Model | None:
    """Return the model of that make with that id, or with that name in any case."""
    return _index_names().get((make.name, value.strip().casefold()))


# The feature lists of insurer-b: the key of each list in the response, and its strings for a given year.
FEATURE_LISTS: Final[Mapping[str, tuple[str, Callable[[int], tuple[str, ...]]]]] = {
    "color-list": ("colorList", lambda _: colours()),
    "body-types": ("bodyTypes", lambda _: body_types()),
    "manufacture-year": ("manufactureYear", list_manufacture_years),
    "titles": ("titles", lambda _: titles()),
    "lgas": ("lgas", lambda _: lgas()),
    "genders": ("genders", lambda _: genders()),
    "countries": ("countries", lambda _: countries()),
}


def get_finance_limit(name: str, roles: Collection[str]) -> int:
    """Return a limit of finance in kobo for a person with these roles; the higher one is the admin's."""
    limits = _load_finance_limits()
    return limits["admin" if "admin" in roles else "finance"][name]


def get_account_code(account: str) -> str:
    """Return the code of an account of the journal in the chart of accounts."""
    return _load_chart_of_accounts()[account]["code"]


@cache
def _load_chart_of_accounts() -> Mapping[str, Mapping[str, str]]:
    chart: Mapping[str, Mapping[str, str]] = json.loads((_FOLDER / "chart_of_accounts.json").read_text("utf-8"))
    return chart


@cache
def _load_finance_limits() -> Mapping[str, Mapping[str, int]]:
    held = json.loads((_FOLDER / "finance_limits.json").read_text(encoding="utf-8"))
    return {role: {name: money.to_minor(Decimal(text)) for name, text in each.items()} for role, each in held.items()}
