"""A product's tariff as a list of editable figures, for the screen that changes rates (contract S4-S7)."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, auto
from typing import Any, Final

from core import money
from core.covers import ages, credit_life, instalments, insurer_c, list_prices
from core.covers.cover import Cover, Rates
from core.covers.fields import example
from core.covers.request import read
from core.errors import InvalidInput

PRICE, MCA, DISTRIBUTOR, MONTHS = "price", "mca_commission", "distributor_commission", "cover_months"
RATE_TABLE, AGE_TABLE = ("meta", "rates"), ("meta", "age_factors")
HUNDRED: Final = Decimal(100)
_LARGEST: Final = Decimal(10) ** 9
# Defaults of the entries that a product's `meta` may omit.
_UNSAID: Mapping[str, Any] = {
    "minimum_premium": None,
    "rounding_step": None,
    "basis": credit_life.BASES[0],
    "sum_insured_percentage": "100.00",
    "premium_frequencies": list(instalments.FREQUENCIES),
}
_WINDOW: Mapping[str, int] = {"days_before": 90, "days_after": 30}


class Kind(Enum):
    """The type of a figure; determines its input widget and validation."""

    NAIRA = auto()
    PERCENT = auto()
    FACTOR = auto()
    COUNT = auto()
    ONE = auto()
    SEVERAL = auto()
    TABLE = auto()


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
    most: Decimal = _LARGEST
    places: int = 2
    above_zero: bool = False
    optional: bool = False
    options: tuple[str, ...] = ()
    columns: tuple["Figure", ...] = ()

    @property
    def field(self) -> str:
        """The figure's name in forms and error messages: "meta.plan_prices.Silver"."""
        return ".".join(self.path)


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
class Changeable:
    """A tariff with its cover and renewability, which determine its editable figures."""

    tariff: Tariff
    cover: Cover[Any] | None
    renewable: bool

    @property
    def figures(self) -> list[Figure]:
        """All editable figures, in form order."""
        used = read_by_sale(self.cover, self.tariff.rates)
        return [*_of_all(self.tariff, priced_by_it=PRICE in used), *_of_meta(self._known(used)), *self._window()]

    @property
    def untouched(self) -> dict[str, Any]:
        """The entries of `meta` that are not editable figures; kept as they are."""
        known = {figure.path[1] for figure in self.figures if len(figure.path) > 1} | {"days"}
        return {name: value for name, value in self.tariff.meta.items() if name not in known}

    def on(self, tariff: Tariff) -> "Changeable":
        """Return the same product with another tariff."""
        return replace(self, tariff=tariff)

    def _known(self, used: frozenset[str]) -> dict[str, Any]:
        unsaid = {name: value for name, value in _UNSAID.items() if name in used}
        if self.cover is not None and self.cover.life_insured is not None:
            unsaid[ages.MINIMUM_AGE] = ages.ADULT
        return {**unsaid, **self.tariff.meta}

    def _window(self) -> Iterator[Figure]:
        if not self.renewable:
            return
        held = {**_WINDOW, **self.tariff.meta.get("renewal_window", {})}
        for name, label in (
            ("days_before", "Opens, days before the end"),
            ("days_after", "Closes, days after the end"),
        ):
            yield _count(("meta", "renewal_window", name), label, held[name], "Renewal window", most=365)


def read_by_sale(cover: Cover[Any] | None, rates: Rates) -> frozenset[str]:
    """Return what pricing reads of a product: "price" and names in `meta`; found by pricing the cover's example."""
    seen: set[str] = set()
    if cover is not None:
        # If the product lacks a plan or an instalment of the example, the reads up to that point count.
        with contextlib.suppress(InvalidInput):
            cover.premium(read(cover.request, example(cover.request)), _Watched(rates, seen))  # type: ignore[arg-type]
    return frozenset(seen)


class _Watched:
    """Rates that record which of their values are read."""

    def __init__(self, rates: Rates, seen: set[str]) -> None:
        self._rates, self._seen = rates, seen
        self.dynamic, self.cover_months = rates.dynamic, rates.cover_months
        self.meta = _WatchedMeta(rates.meta, seen)

    @property
    def price(self) -> Decimal:
        self._seen.add(PRICE)
        return self._rates.price


class _WatchedMeta(Mapping[str, Any]):
    def __init__(self, meta: Mapping[str, Any], seen: set[str]) -> None:
        self._meta, self._seen = meta, seen

    def __getitem__(self, name: str) -> Any:
        self._seen.add(name)
        return self._meta[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._meta)

    def __len__(self) -> int:
        return len(self._meta)


def _of_all(tariff: Tariff, *, priced_by_it: bool) -> Iterator[Figure]:
    if not list_prices.follows(tariff.meta):
        yield _price(tariff, priced_by_it=priced_by_it)
    yield _count((MONTHS,), "Cover period, months", tariff.cover_months, "Price", least=1, most=120)
    for name, label, value in (
        (MCA, "Platform", tariff.mca_commission),
        (DISTRIBUTOR, "Distributor", tariff.distributor_commission),
    ):
        yield _percent((name,), label, value, "Commissions")


def _price(tariff: Tariff, *, priced_by_it: bool) -> Figure:
    where = "" if priced_by_it else " shown in the catalogue"
    label = "Percent of the sum insured" if tariff.dynamic and priced_by_it else f"Price{where}"
    kind, most = (Kind.PERCENT, HUNDRED) if tariff.dynamic else (Kind.NAIRA, _LARGEST)
    return Figure(
        path=(PRICE,), label=label, kind=kind, value=tariff.price, group="Price", most=most, above_zero=priced_by_it
    )


def _of_meta(meta: Mapping[str, Any]) -> Iterator[Figure]:
    yield from _prices(meta, "plan_prices", "Plans", "{}")
    for plan, months in meta.get("plan_months", {}).items():
        yield _count(("meta", "plan_months", plan), f"{plan}, months of cover", months, "Plans", least=1, most=120)
    yield from _prices(meta, "category_prices", "Vehicle categories", "{}")
    for stock, factor in meta.get("stock_loadings", {}).items():
        yield _factor(("meta", "stock_loadings", stock), f"Stock, {stock}", factor, "Loadings")
    yield from _of_credit_life(meta)
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
        yield _percent(
            ("meta", "sum_insured_percentage"), "Sum insured, percent of the value", value, "Sum insured", most=200
        )
    yield from _of_travel(meta)
    if ages.MINIMUM_AGE in meta:
        value = meta[ages.MINIMUM_AGE]
        yield _count(("meta", ages.MINIMUM_AGE), "Minimum age, years", value, "Insured person", most=100)
    for name, label in (("minimum_premium", "Minimum premium"), ("rounding_step", "Rounded up to a multiple of")):
        if name in meta:
            yield _naira(("meta", name), label, meta[name], "Minimum and rounding", optional=True)


def _of_credit_life(meta: Mapping[str, Any]) -> Iterator[Figure]:
    for benefit, share in meta.get("shares", {}).items():
        label = benefit.replace("_", " ").capitalize()
        yield _percent(("meta", "shares", benefit), label, share, "Shares of the loan", places=6, above_zero=True)
    if "basis" in meta:
        yield Figure(
            path=("meta", "basis"),
            label="Basis",
            kind=Kind.ONE,
            value=meta["basis"],
            group="Basis",
            options=credit_life.BASES,
        )


def _of_travel(meta: Mapping[str, Any]) -> Iterator[Figure]:
    if "rates" in meta:
        zones = tuple(meta["rates"])
        rows = [
            {"days": days, **{zone: meta["rates"][zone][place] for zone in zones}}
            for place, days in enumerate(meta["days"])
        ]
        columns = (
            _count(("days",), "Up to days", None, "", least=1, most=365),
            *(_naira((zone,), insurer_c.ZONE_NAMES.get(zone, zone), None, "", above_zero=True) for zone in zones),
        )
        yield _table(RATE_TABLE, "Rates of one passenger, by the days of the trip", rows, "Travel", columns)
    if "age_factors" in meta:
        columns = (
            _count(("to_age",), "Up to age", None, "", most=80),
            _factor(("factor",), "Times the rate", None, ""),
        )
        yield _table(AGE_TABLE, "Factors by age", meta["age_factors"], "Travel", columns)


def _prices(meta: Mapping[str, Any], name: str, group: str, label: str) -> Iterator[Figure]:
    for of, price in meta.get(name, {}).items():
        yield _naira(("meta", name, of), label.format(of), price, group, above_zero=True)


def _naira(path: tuple[str, ...], label: str, value: Any, group: str, **rules: Any) -> Figure:
    return Figure(path=path, label=label, kind=Kind.NAIRA, value=value, group=group, **rules)


def _percent(path: tuple[str, ...], label: str, value: Any, group: str, *, most: int = 100, **rules: Any) -> Figure:
    return Figure(path=path, label=label, kind=Kind.PERCENT, value=value, group=group, most=Decimal(most), **rules)


def _factor(path: tuple[str, ...], label: str, value: Any, group: str) -> Figure:
    return Figure(
        path=path, label=label, kind=Kind.FACTOR, value=value, group=group, most=Decimal(20), places=4, above_zero=True
    )


def _count(path: tuple[str, ...], label: str, value: Any, group: str, *, least: int = 0, most: int) -> Figure:
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


def _table(path: tuple[str, ...], label: str, rows: Any, group: str, columns: tuple[Figure, ...]) -> Figure:
    return Figure(path=path, label=label, kind=Kind.TABLE, value=tuple(rows), group=group, columns=columns)
