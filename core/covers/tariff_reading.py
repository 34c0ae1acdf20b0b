"""Parsing of a tariff form: every figure is validated, all errors are reported at once, the rest is kept."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from decimal import Decimal
from typing import Any

from core.covers.figures import HUNDRED, Figure, Kind
from core.covers.tariff import AGE_TABLE, DISTRIBUTOR, MCA, MONTHS, PRICE, RATE_TABLE, EditableTariff, Tariff
from core.errors import FieldFault, InvalidInput

# Bounds of exclusions: a claim's description is searched for each of them.
_MOST_PHRASES, _SHORTEST, _LONGEST = 30, 3, 60
Faults = list[FieldFault]
SubmittedFigures = Mapping[str, Any]


def parse_tariff(product: EditableTariff, submitted: SubmittedFigures) -> Tariff:
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
    if faults:
        raise InvalidInput(faults)
    return replace(
        product.tariff,
        price=values.get((PRICE,), product.tariff.price),
        mca_commission=values[(MCA,)],
        distributor_commission=values[(DISTRIBUTOR,)],
        cover_months=values[(MONTHS,)],
        meta=_build_meta(product, values),
    )


def _build_meta(product: EditableTariff, values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
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
