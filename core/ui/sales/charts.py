"""The charts of the sales screens: values in naira; each bar knows its member and days, so that a click can filter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import pandas as pd

from core import clock
from core.services.sales.breakdowns import Grain, MonthPair, Series, Slice, get_bucket_start
from core.ui.kit import charts, colours, words
from core.ui.kit.charts import Chart

MOST_SERIES: Final = colours.SERIES_COUNT - 1
_HEIGHT: Final = 320
# As high as a year of cohorts, which stands beside it.
_YEAR_HEIGHT: Final = 440
_FIRST_DAYS: Final[Mapping[Grain, str]] = {"day": "Day", "week": "Week from", "month": "Month from"}


@dataclass(frozen=True, slots=True)
class Clicked:
    """The meaning of a bar for a click: the member's id and the first day of the bucket, where it has them."""

    member: str | None
    bucket: date | None


def over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str, ticks: int = 6) -> Chart:
    """Return stacked bars, one colour per series; the smallest series are added up into one.

    A member keeps its colour across periods, and its pattern where there are more members than colours.
    """
    every, stacked = tabulate(when, lines), _fold(lines)
    table = tabulate(when, stacked)
    unfinished = len(when) > 1 and is_under_way(when, grain)
    series = [
        charts.bars(line.name, list(table[rank] / 100), **_looks(line, rank), unfinished=unfinished)
        for rank, line in enumerate(stacked)
    ]
    named = every.set_axis([line.name for line in lines], axis="columns").assign(Total=every.sum(axis="columns"))
    return Chart(
        figure=build_over_time(
            series,
            when,
            grain,
            names=name_buckets(when, grain, list(table.sum(axis="columns"))),
            up=charts.amount_axis(_highest(table), _lowest(table)),
            most_labels=ticks,
            # Amounts below nothing, as of a day with more refunds than sales, are stacked downwards.
            barmode="relative",
        ),
        table=named.rename_axis(_FIRST_DAYS[grain]),
        alt=_describe_largest(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]),
        targets=[[Clicked(str(line.id) if line.id else None, day) for day in when] for line in stacked],
    )


def tabulate(when: Sequence[date], lines: Sequence[Series]) -> pd.DataFrame:
    """Return the amounts of some series in kobo: a row for each bucket, a column for each series by its rank."""
    return pd.DataFrame({rank: line.amounts_minor for rank, line in enumerate(lines)}, index=list(when), dtype="int64")


def year_on_year(pairs: Sequence[MonthPair]) -> Chart:
    """Return the premium of each month beside that of the same month a year before."""
    when = [pair.month for pair in pairs]
    before, now = "A year before", "Last 12 months"
    table = pd.DataFrame(
        {before: [pair.before_minor for pair in pairs], now: [pair.now_minor for pair in pairs]},
        index=pd.Index(when, name="Month from"),
        dtype="int64",
    )
    series = [
        charts.bars(before, list(table[before] / 100), colours.faint()),
        charts.bars(now, list(table[now] / 100), colours.series()[0], unfinished=is_under_way(when, "month")),
    ]
    names = [f"{month:%B %Y} and {clock.add_months(month, -12):%B %Y}" for month in when]
    parts = [(f"{pair.month:%b %Y}", pair.now_minor, pair.before_minor) for pair in pairs]
    pairs_in_words = "; ".join(
        f"{name} {words.naira(new)}, a year before {words.naira(old)}" for name, new, old in parts
    )
    return Chart(
        figure=charts.build_figure(
            series,
            height=_YEAR_HEIGHT,
            across=charts.category_axis(names, labels=[f"{month:%b}" for month in when]),
            up=charts.amount_axis(int(table.max(axis=None))),
            left=charts.AMOUNT_ROOM,
            legend=True,
            bargap=0.3,
            bargroupgap=0.05,
        ),
        table=table,
        alt=f"Premium by month, year on year. {pairs_in_words}.",
        targets=[[Clicked(None, clock.add_months(month, -12)) for month in when], [Clicked(None, m) for m in when]],
    )


def ranked_bars(slices: Sequence[Slice], *, whole: int, what: str) -> Chart:
    """Return horizontal bars, the largest on top, each labelled with its share of the `whole` (kobo)."""
    table = pd.DataFrame(
        {"Premium": [part.totals.premium_minor for part in slices]},
        index=pd.Index([part.name for part in slices], name="Name"),
        dtype="int64",
    )
    names = [_short(name) for name in table.index]
    texts = [f"{words.short_naira(part.totals.premium_minor)} · {_percent(part, whole)}" for part in slices]
    hover = [
        f"{charts.plain(part.name)}<br>{words.naira(part.totals.premium_minor)}"
        f"<br>{words.count(part.totals.written)} policies"
        for part in slices
    ]
    return Chart(
        figure=build_ranked(charts.rows(what, list(table["Premium"] / 100), texts, hover, colours.series()[0]), names),
        table=table,
        alt=_describe_largest(what, list(table["Premium"].items())),
        targets=[[Clicked(str(part.id), None) if part.id else None for part in slices]],
    )


def build_ranked(series: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the figure of horizontal bars beside their names, the first on top."""
    up = charts.category_axis(names) | {"range": [len(names) - 0.5, -0.5], "tickvals": list(range(len(names)))}
    # Leaves room for the text beside the longest bar.
    across = charts.hidden_axis(max(series["x"], default=0) * 1.75)
    return charts.build_figure(
        [series],
        height=len(names) * charts.BAR_HEIGHT + 30,
        across=across,
        up=up,
        left=charts.room_for(names),
        bargap=0.35,
    )


def build_over_time(
    series: Sequence[Mapping[str, Any]],
    when: Sequence[date],
    grain: Grain,
    *,
    names: Sequence[str],
    up: Mapping[str, Any],
    most_labels: int,
    height: int = _HEIGHT,
    **layout: object,
) -> dict[str, Any]:
    """Return the figure of series over time buckets; `names` are the buckets as the pointer tells them."""
    labels = [f"{day:%b %Y}" if grain == "month" else f"{day.day} {day:%b}" for day in when]
    return charts.build_figure(
        series,
        height=height,
        across=charts.category_axis(names, labels=labels, most_labels=most_labels),
        up=up,
        left=charts.AMOUNT_ROOM,
        legend=True,
        bargap=0.25,
        **layout,
    )


def name_buckets(when: Sequence[date], grain: Grain, totals_minor: Sequence[int]) -> list[str]:
    """Return the name of each bucket with its total, as the tooltip shows it."""
    totals = [*totals_minor, *[0] * (len(when) - len(totals_minor))]
    under_way = when[-1] if is_under_way(when, grain) else None
    return [
        f"{name_bucket(day, grain)} · {words.naira(total)} in all{' so far' if day == under_way else ''}"
        for day, total in zip(when, totals, strict=True)
    ]


def name_bucket(day: date, grain: Grain) -> str:
    """Return a bucket in words: "Sun 1 Nov 2026", "Week of 2 Nov 2026", "November 2026"."""
    if grain == "month":
        return f"{day:%B %Y}"
    return f"Week of {words.day(day)}" if grain == "week" else f"{day:%a} {words.day(day)}"


def is_under_way(when: Sequence[date], grain: Grain) -> bool:
    """Return True if the last bucket holds today, so that more may come."""
    return bool(when) and get_bucket_start(clock.today(), grain) == when[-1]


def _highest(table: pd.DataFrame) -> int:
    """Return the height of the highest stack."""
    return int(table.clip(lower=0).sum(axis="columns").max())


def _lowest(table: pd.DataFrame) -> int:
    """Return the depth of the lowest stack, nothing or less."""
    return int(table.clip(upper=0).sum(axis="columns").min())


def _looks(line: Series, rank: int) -> dict[str, Any]:
    """Return the colour and pattern of a member by its rank; grey for the sum of the remaining ones."""
    if rank >= MOST_SERIES and line.position is None:
        return {"colour": colours.faint()}
    turn, colour = divmod(rank if line.position is None else line.position, colours.SERIES_COUNT)
    return {"colour": colours.series()[colour], "pattern": turn % len(charts.PATTERNS)}


def _fold(lines: Sequence[Series]) -> list[Series]:
    if len(lines) <= MOST_SERIES + 1:
        return list(lines)
    kept, rest = lines[:MOST_SERIES], lines[MOST_SERIES:]
    others = [sum(column) for column in zip(*(line.amounts_minor for line in rest), strict=True)]
    return [*kept, Series(None, f"{len(rest)} others", others)]


def _percent(part: Slice, whole: int) -> str:
    share = part.totals.premium_minor / (whole or 1)
    return words.percent(share, 0 if share >= 0.1 else 1)


def _short(name: str, most: int = 32) -> str:
    return name if len(name) <= most else f"{name[: most - 1].rstrip()}…"


def _describe_largest(what: str, parts: Sequence[tuple[str, int]]) -> str:
    largest = "; ".join(f"{name} {words.naira(minor)}" for name, minor in parts[:5])
    return f"{what}. Largest: {largest}." if parts else f"{what}: nothing."
