"""A product's tariff as a list of editable figures, for the screen that changes rates (contract S4-S7)."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from core import money
from core.covers import ages, credit_life, instalments, list_prices
from core.covers.claims.registry import list_incidents
from core.covers.cover import Cover, Rates
from core.covers.fields import build_example
from core.covers.figures import (
    HUNDRED,
    MAX_NAIRA,
    Figure,
    Kind,
    count_figure,
    factor_figure,
    naira_figure,
    percent_figure,
    table_figure,
)
from core.covers.insurers import insurer_c
from core.covers.request import validate
from core.errors import InvalidInput

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
    "premium_frequencies": list(instalments.FREQUENCIES),
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
    if not list_prices.follows(tariff.meta):
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
            options=instalments.FREQUENCIES,
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
