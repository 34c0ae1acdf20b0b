"""A product's tariff as a list of editable figures, for the screen that changes rates (contract S4-S7)."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, auto
from typing import Any, Final

from core import money
from core.covers import ages, credit_life, pricing
from core.covers.claims.lines import list_incidents
from core.covers.cover import Cover, Rates
from core.covers.fields import build_example
from core.covers.insurers import insurer_c
from core.covers.request import validate
from core.errors import FieldFault, InvalidInput, raise_faults

HUNDRED: Final = Decimal(100)
MAX_NAIRA: Final = Decimal(10) ** 9


class Kind(Enum):
    """The type of a figure; determines its input widget and validation."""

    NAIRA = auto()
    PERCENT = auto()
    FACTOR = auto()
    COUNT = auto()
    ONE = auto()
    SEVERAL = auto()
    TABLE = auto()
    PHRASES = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One editable figure: its path in the tariff, its current value and its bounds.

    A table holds a list of rows; `columns` are the figures of one row, each with the path of its name.
    """

    path: tuple[str, ...]
    label: str
    kind: Kind
    value: Any
    group: str
    least: Decimal = money.ZERO
    most: Decimal = MAX_NAIRA
    places: int = 2
    above_zero: bool = False
    optional: bool = False
    options: tuple[str, ...] = ()
    columns: tuple["Figure", ...] = ()

    @property
    def field(self) -> str:
        """The figure's name in forms and error messages: "meta.plan_prices.Silver"."""
        return ".".join(self.path)


def naira_figure(path: tuple[str, ...], label: str, value: object, group: str, **rules: Any) -> Figure:
    """An amount in naira."""
    return Figure(path=path, label=label, kind=Kind.NAIRA, value=value, group=group, **rules)


def percent_figure(
    path: tuple[str, ...], label: str, value: object, group: str, *, most: int = 100, **rules: Any
) -> Figure:
    """A percentage."""
    return Figure(path=path, label=label, kind=Kind.PERCENT, value=value, group=group, most=Decimal(most), **rules)


def factor_figure(path: tuple[str, ...], label: str, value: object, group: str) -> Figure:
    """A factor by which a premium is multiplied."""
    return Figure(
        path=path, label=label, kind=Kind.FACTOR, value=value, group=group, most=Decimal(20), places=4, above_zero=True
    )


def count_figure(path: tuple[str, ...], label: str, value: object, group: str, *, least: int = 0, most: int) -> Figure:
    """A whole number."""
    return Figure(
        path=path,
        label=label,
        kind=Kind.COUNT,
        value=value,
        group=group,
        least=Decimal(least),
        most=Decimal(most),
        places=0,
    )


def table_figure(path: tuple[str, ...], label: str, rows: Any, group: str, columns: tuple[Figure, ...]) -> Figure:
    """A list of rows, each with the same columns."""
    return Figure(path=path, label=label, kind=Kind.TABLE, value=tuple(rows), group=group, columns=columns)


# Bounds of exclusions: a claim's description is searched for each of them.
_MOST_PHRASES, _SHORTEST, _LONGEST = 30, 3, 60
Faults = list[FieldFault]
SubmittedFigures = Mapping[str, Any]


def parse_tariff(product: "EditableTariff", submitted: SubmittedFigures) -> "Tariff":
    """Return the tariff of the submitted figures; what was not submitted, or is no figure, is kept.

    `submitted` maps a figure's field to its input: numbers as text or number, tables as lists of rows. InvalidInput
    names every error; fields of table rows are written "meta.rates.2.africa".
    """
    faults: Faults = []
    values = {
        figure.path: _parse_figure(figure, submitted.get(figure.field, figure.value), figure.field, faults)
        for figure in product.figures
    }
    _check_commissions(values, faults)
    raise_faults(faults)
    return replace(
        product.tariff,
        price=values.get((PRICE,), product.tariff.price),
        mca_commission=values[(MCA,)].quantize(money.KOBO),
        distributor_commission=values[(DISTRIBUTOR,)].quantize(money.KOBO),
        cover_months=values[(MONTHS,)],
        meta=_build_meta(product, values),
    )


def _build_meta(product: "EditableTariff", values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    meta: dict[str, Any] = deepcopy(dict(product.tariff.meta))
    for figure in product.figures:
        if len(figure.path) > 1:
            _set_figure(meta, figure, values[figure.path])
    return meta


def _set_figure(meta: dict[str, Any], figure: Figure, value: Any) -> None:
    """Write one figure into `meta` in the catalogue's format; an absent figure is not added at its default."""
    if figure.path == RATE_TABLE:
        meta["days"] = [row["days"] for row in value]
        meta["rates"] = {zone: [_format_figure(row[zone]) for row in value] for zone in meta["rates"]}
        return
    if figure.path == AGE_TABLE:
        meta["age_factors"] = [{"to_age": row["to_age"], "factor": _format_figure(row["factor"])} for row in value]
        return
    *parents, name = figure.path[1:]
    target = meta
    for step in parents:
        if step not in target and value == figure.value:
            return
        target = target.setdefault(step, {})
    if value is None:
        target.pop(name, None)
    elif name in target or not _is_same(value, figure.value):
        target[name] = list(value) if isinstance(value, tuple) else _format_figure(value, target.get(name))


def _is_same(value: Any, stored: Any) -> bool:
    return bool(value == (Decimal(str(stored)) if isinstance(value, Decimal) and stored is not None else stored))


def _format_figure(value: Any, stored: Any = None) -> Any:
    """Return a figure as stored in `meta`: the previous text if it is equal, else with at least two decimals."""
    if not isinstance(value, Decimal):
        return value
    if stored is not None and Decimal(str(stored)) == value:
        return stored
    normalised = value.normalize()
    return f"{normalised:.2f}" if -int(normalised.as_tuple().exponent) <= 2 else f"{normalised:f}"


def _parse_figure(figure: Figure, submitted: Any, field: str, faults: Faults) -> Any:
    return _PARSERS.get(figure.kind, _parse_number)(figure, submitted, field, faults)


def _parse_number(figure: Figure, submitted: Any, field: str, faults: Faults) -> Any:
    text = "" if submitted is None else str(submitted).strip()
    if not text and figure.optional:
        return None
    fault = _find_fault(figure, text)
    if fault:
        faults.append(FieldFault(field, fault))
        return None
    return int(text) if figure.kind is Kind.COUNT else Decimal(text)


def _find_fault(figure: Figure, text: str) -> str | None:
    if not text:
        return "is required"
    number = re.fullmatch(r"(-?)\d{1,15}(?:\.(\d{1,12}))?", text)
    if number is None:
        return "must be a whole number" if figure.kind is Kind.COUNT else "must be a number"
    value, places = Decimal(text), len((number[2] or "").rstrip("0"))
    if figure.kind is Kind.COUNT and "." in text:
        return "must be a whole number"
    if places > figure.places:
        return f"must have at most {figure.places} decimals"
    if value < figure.least or (figure.above_zero and not value):
        return "must be more than 0" if figure.above_zero else f"must be at least {figure.least:f}"
    return f"must be at most {figure.most:,f}" if value > figure.most else None


def _parse_choice(figure: Figure, submitted: Any, field: str, faults: Faults) -> Any:
    if submitted not in figure.options:
        faults.append(FieldFault(field, f"must be one of {', '.join(figure.options)}"))
    return submitted


def _parse_choices(figure: Figure, submitted: Any, field: str, faults: Faults) -> Any:
    chosen = set(submitted or ())
    if not chosen or chosen - set(figure.options):
        faults.append(FieldFault(field, f"must be one or more of {', '.join(figure.options)}"))
    return tuple(option for option in figure.options if option in chosen)


def _parse_phrases(_: Figure, submitted: Any, field: str, faults: Faults) -> Any:
    """Return words and phrases without blanks around them, each once."""
    phrases = {phrase.casefold(): phrase for phrase in (" ".join(str(each).split()) for each in submitted or ())}
    if len(phrases) > _MOST_PHRASES or any(not _SHORTEST <= len(each) <= _LONGEST for each in phrases):
        faults.append(
            FieldFault(
                field, f"must be at most {_MOST_PHRASES} words or phrases of {_SHORTEST} to {_LONGEST} characters"
            )
        )
    return tuple(phrases.values())


def _parse_table(figure: Figure, submitted: Any, field: str, faults: Faults) -> Any:
    rows: Sequence[Mapping[str, Any]] = submitted or ()
    if not rows:
        faults.append(FieldFault(field, "must have a row"))
    parsed = [
        {
            column.field: _parse_figure(column, row.get(column.field), f"{field}.{place}.{column.field}", faults)
            for column in figure.columns
        }
        for place, row in enumerate(rows)
    ]
    _check_ascending(figure.columns[0], parsed, field, faults)
    return parsed


def _check_ascending(column: Figure, rows: Sequence[Mapping[str, Any]], field: str, faults: Faults) -> None:
    """Check that the bands of a table ascend: the first matching band is the one that is used."""
    bands = [row[column.field] for row in rows]
    for place, (before, after) in enumerate(itertools.pairwise(bands), start=1):
        if before is not None and after is not None and after <= before:
            faults.append(FieldFault(f"{field}.{place}.{column.field}", "must be more than in the row above"))


def _check_commissions(values: Mapping[tuple[str, ...], Any], faults: Faults) -> None:
    mca, distributor = values[(MCA,)], values[(DISTRIBUTOR,)]
    if mca is not None and distributor is not None and mca + distributor > HUNDRED:
        faults.append(FieldFault(DISTRIBUTOR, "must leave something of the premium: both together are over 100 %"))


_PARSERS: Mapping[Kind, Callable[[Figure, Any, str, Faults], Any]] = {
    Kind.ONE: _parse_choice,
    Kind.SEVERAL: _parse_choices,
    Kind.TABLE: _parse_table,
    Kind.PHRASES: _parse_phrases,
}


PRICE, MCA, DISTRIBUTOR, MONTHS = "price", "mca_commission", "distributor_commission", "cover_months"
# What claims are checked against: days by incident, and words or phrases.
WAITING_DAYS, EXCLUSIONS = "waiting_days", "exclusions"
# A claim so many days after the sale is looked at closely; what a supervisor approves for a loss from before the sale;
# and what a claim comes to at most where the policy names no sum.
EARLY_CLAIM_DAYS, BACKDATED_LIMIT, CLAIM_CEILING = "early_claim_days", "backdated_limit", "claim_ceiling"
_CLAIM_DEFAULTS: Mapping[str, Any] = {EARLY_CLAIM_DAYS: 30, BACKDATED_LIMIT: "50000.00", CLAIM_CEILING: "3000000.00"}
RATE_TABLE, AGE_TABLE = ("meta", "rates"), ("meta", "age_factors")
# Defaults of the entries that a product's `meta` may omit.
_META_DEFAULTS: Mapping[str, Any] = {
    "minimum_premium": None,
    "rounding_step": None,
    "basis": credit_life.BASES[0],
    "sum_insured_percentage": "100.00",
    "premium_frequencies": list(pricing.FREQUENCIES),
}
_WINDOW_DEFAULTS: Mapping[str, int] = {"days_before": 90, "days_after": 30}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tariff:
    """All rates of one product version; commissions in percent of the premium, price as in `Rates`."""

    price: Decimal
    dynamic: bool
    mca_commission: Decimal
    distributor_commission: Decimal
    cover_months: int
    meta: Mapping[str, Any]

    @property
    def rates(self) -> Rates:
        """The rates used to price a sale."""
        return Rates(price=self.price, dynamic=self.dynamic, cover_months=self.cover_months, meta=self.meta)

    @property
    def mca_bp(self) -> int:
        """The platform's commission in basis points."""
        return money.to_minor(self.mca_commission)

    @property
    def distributor_bp(self) -> int:
        """The distributor's commission in basis points."""
        return money.to_minor(self.distributor_commission)


@dataclass(frozen=True, kw_only=True, slots=True)
class EditableTariff:
    """A tariff with its cover and renewability, which determine its editable figures."""

    tariff: Tariff
    cover: Cover[Any] | None
    renewable: bool

    @property
    def figures(self) -> list[Figure]:
        """All editable figures, in form order."""
        used = find_rates_read(self.cover, self.tariff.rates)
        return [
            *_list_common_figures(self.tariff, is_priced_by_it=PRICE in used),
            *_list_meta_figures(self._meta_with_defaults(used)),
            *self._window_figures(),
            *self._claim_figures(),
            *self._exclusion_figures(),
        ]

    @property
    def other_meta(self) -> dict[str, Any]:
        """The entries of `meta` that are not editable figures; kept as they are."""
        known = {figure.path[1] for figure in self.figures if len(figure.path) > 1} | {"days"}
        return {name: value for name, value in self.tariff.meta.items() if name not in known}

    def with_tariff(self, tariff: Tariff) -> "EditableTariff":
        """Return the same product with another tariff."""
        return replace(self, tariff=tariff)

    def _meta_with_defaults(self, used: frozenset[str]) -> dict[str, Any]:
        defaults = {name: value for name, value in _META_DEFAULTS.items() if name in used}
        if self.cover is not None and self.cover.life_insured is not None:
            defaults[ages.MINIMUM_AGE] = ages.ADULT
        if self.cover is not None and self.cover.starts_by is not None:
            defaults[pricing.MOST_DAYS_AHEAD] = pricing.USUAL_DAYS_AHEAD
        return {**defaults, **self.tariff.meta}

    def _window_figures(self) -> Iterator[Figure]:
        if not self.renewable:
            return
        window = {**_WINDOW_DEFAULTS, **self.tariff.meta.get("renewal_window", {})}
        for name, label in (
            ("days_before", "Opens, days before the end"),
            ("days_after", "Closes, days after the end"),
        ):
            yield count_figure(("meta", "renewal_window", name), label, window[name], "Renewal window", most=365)

    def _claim_figures(self) -> Iterator[Figure]:
        """Yield what claims are checked against: days from the start of the cover, and limits."""
        incidents = list_incidents((self.cover.prefix, self.cover.route)) if self.cover else ()
        days = self.tariff.meta.get(WAITING_DAYS, {})
        for incident in dict.fromkeys((*incidents, *days)):
            yield count_figure(
                ("meta", WAITING_DAYS, incident), incident, days.get(incident, 0), "Waiting period, days", most=365
            )
        if not incidents:
            return
        group, known = "Limits of claims", {name: get_claim_rule(self.tariff.meta, name) for name in _CLAIM_DEFAULTS}
        days_label = "Look closely at a claim so many days after the sale"
        yield count_figure(("meta", EARLY_CLAIM_DAYS), days_label, known[EARLY_CLAIM_DAYS], group, most=365)
        for name, label in (
            (BACKDATED_LIMIT, "Most that a supervisor approves for a loss from before the sale"),
            (CLAIM_CEILING, "Most that a claim comes to where the policy names no sum"),
        ):
            yield naira_figure(("meta", name), label, known[name], group)

    def _exclusion_figures(self) -> Iterator[Figure]:
        if (self.cover and list_incidents((self.cover.prefix, self.cover.route))) or EXCLUSIONS in self.tariff.meta:
            yield Figure(
                path=("meta", EXCLUSIONS),
                label="Words that a claim is searched for",
                kind=Kind.PHRASES,
                value=tuple(self.tariff.meta.get(EXCLUSIONS, ())),
                group="Exclusions",
            )


def get_claim_rule(meta: Mapping[str, Any], name: str) -> Any:
    """Return a rule on the claims of a product: its own, or the usual one."""
    return meta.get(name, _CLAIM_DEFAULTS[name])


def find_rates_read(cover: Cover[Any] | None, rates: Rates) -> frozenset[str]:
    """Return what pricing reads of a product: "price" and names in `meta`; found by pricing the cover's example."""
    names_read: set[str] = set()
    if cover is not None:
        # If the product lacks a plan or an instalment of the example, the reads up to that point count.
        with contextlib.suppress(InvalidInput):
            cover.premium(validate(cover.request, build_example(cover.request)), _RecordingRates(rates, names_read))  # type: ignore[arg-type]
    return frozenset(names_read)


class _RecordingRates:
    """Rates that record which of their values are read."""

    def __init__(self, rates: Rates, names_read: set[str]) -> None:
        self._rates, self._names_read = rates, names_read
        self.dynamic, self.cover_months = rates.dynamic, rates.cover_months
        self.meta = _RecordingMeta(rates.meta, names_read)

    @property
    def price(self) -> Decimal:
        self._names_read.add(PRICE)
        return self._rates.price


class _RecordingMeta(Mapping[str, Any]):
    def __init__(self, meta: Mapping[str, Any], names_read: set[str]) -> None:
        self._meta, self._names_read = meta, names_read

    def __getitem__(self, name: str) -> Any:
        self._names_read.add(name)
        return self._meta[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._meta)

    def __len__(self) -> int:
        return len(self._meta)


def _list_common_figures(tariff: Tariff, *, is_priced_by_it: bool) -> Iterator[Figure]:
    if not pricing.follows(tariff.meta):
        yield _price(tariff, priced_by_it=is_priced_by_it)
    yield count_figure((MONTHS,), "Cover period, months", tariff.cover_months, "Price", least=1, most=120)
    for name, label, value in (
        (MCA, "Platform", tariff.mca_commission),
        (DISTRIBUTOR, "Distributor", tariff.distributor_commission),
    ):
        yield percent_figure((name,), label, value, "Commissions")


def _price(tariff: Tariff, *, priced_by_it: bool) -> Figure:
    where = "" if priced_by_it else " shown in the catalogue"
    label = "Percent of the sum insured" if tariff.dynamic and priced_by_it else f"Price{where}"
    kind, most = (Kind.PERCENT, HUNDRED) if tariff.dynamic else (Kind.NAIRA, MAX_NAIRA)
    return Figure(
        path=(PRICE,), label=label, kind=kind, value=tariff.price, group="Price", most=most, above_zero=priced_by_it
    )


def _list_meta_figures(meta: Mapping[str, Any]) -> Iterator[Figure]:
    yield from _list_prices(meta, "plan_prices", "Plans", "{}")
    for plan, months in meta.get("plan_months", {}).items():
        yield count_figure(
            ("meta", "plan_months", plan), f"{plan}, months of cover", months, "Plans", least=1, most=120
        )
    yield from _list_prices(meta, "category_prices", "Vehicle categories", "{}")
    for stock, factor in meta.get("stock_loadings", {}).items():
        yield factor_figure(("meta", "stock_loadings", stock), f"Stock, {stock}", factor, "Loadings")
    yield from _list_credit_life_figures(meta)
    if "premium_frequencies" in meta:
        yield Figure(
            path=("meta", "premium_frequencies"),
            label="Instalments that are offered",
            kind=Kind.SEVERAL,
            value=tuple(meta["premium_frequencies"]),
            group="Instalments",
            options=pricing.FREQUENCIES,
        )
    if "sum_insured_percentage" in meta:
        value = meta["sum_insured_percentage"]
        yield percent_figure(
            ("meta", "sum_insured_percentage"), "Sum insured, percent of the value", value, "Sum insured", most=200
        )
    yield from _list_travel_figures(meta)
    if ages.MINIMUM_AGE in meta:
        value = meta[ages.MINIMUM_AGE]
        yield count_figure(("meta", ages.MINIMUM_AGE), "Minimum age, years", value, "Insured person", most=100)
    if pricing.MOST_DAYS_AHEAD in meta:
        label, most = "Latest start of cover, days after the sale", pricing.USUAL_DAYS_AHEAD
        ahead = meta[pricing.MOST_DAYS_AHEAD]
        yield count_figure(("meta", pricing.MOST_DAYS_AHEAD), label, ahead, "Start of cover", most=most)
    for name, label in (("minimum_premium", "Minimum premium"), ("rounding_step", "Rounded up to a multiple of")):
        if name in meta:
            yield naira_figure(("meta", name), label, meta[name], "Minimum and rounding", optional=True)


def _list_credit_life_figures(meta: Mapping[str, Any]) -> Iterator[Figure]:
    for benefit, share in meta.get("shares", {}).items():
        label = benefit.replace("_", " ").capitalize()
        yield percent_figure(("meta", "shares", benefit), label, share, "Shares of the loan", places=6, above_zero=True)
    if "basis" in meta:
        yield Figure(
            path=("meta", "basis"),
            label="Basis",
            kind=Kind.ONE,
            value=meta["basis"],
            group="Basis",
            options=credit_life.BASES,
        )


def _list_travel_figures(meta: Mapping[str, Any]) -> Iterator[Figure]:
    if "rates" in meta:
        zones = tuple(meta["rates"])
        rows = [
            {"days": days, **{zone: meta["rates"][zone][place] for zone in zones}}
            for place, days in enumerate(meta["days"])
        ]
        columns = (
            count_figure(("days",), "Up to days", None, "", least=1, most=365),
            *(naira_figure((zone,), insurer_c.ZONE_NAMES.get(zone, zone), None, "", above_zero=True) for zone in zones),
        )
        yield table_figure(RATE_TABLE, "Rates of one passenger, by the days of the trip", rows, "Travel", columns)
    if "age_factors" in meta:
        columns = (
            count_figure(("to_age",), "Up to age", None, "", most=80),
            factor_figure(("factor",), "Times the rate", None, ""),
        )
        yield table_figure(AGE_TABLE, "Factors by age", meta["age_factors"], "Travel", columns)


def _list_prices(meta: Mapping[str, Any], name: str, group: str, label: str) -> Iterator[Figure]:
    for key, price in meta.get(name, {}).items():
        yield naira_figure(("meta", name, key), label.format(key), price, group, above_zero=True)
