"""The charts of the sales screens: values in naira; each bar knows its member and days, so that a click can filter."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from core import clock
from core.services.sales.breakdowns import Grain, MonthPair, Series, Slice, get_bucket_start
from core.ui.kit import charts, colours, words
from core.ui.kit.charts import Chart

MOST_SERIES: Final = colours.SERIES_COUNT - 1
_HEIGHT: Final = 320
# As high as a year of cohorts, which stands beside it.
_YEAR_HEIGHT: Final = 440


@dataclass(frozen=True, slots=True)
class Clicked:
    """The meaning of a bar for a click: the member's id and the first day of the bucket, where it has them."""

    member: str | None
    bucket: date | None


def over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str, ticks: int = 10) -> Chart:
    """Return stacked bars, one colour per series; the smallest series are added up into one.

    A member keeps its colour across periods, and its pattern where there are more members than colours.
    """
    totals = [sum(column) for column in zip(*(line.amounts_minor for line in lines), strict=True)]
    stacked = _folded(lines)
    series = [
        charts.bars(line.name, _naira_bars(line.amounts_minor, when, grain), stack="premium", **_looks(line, rank))
        for rank, line in enumerate(stacked)
    ]
    return Chart(
        option=build_over_time(
            series,
            when,
            grain,
            names=name_buckets(when, grain, totals),
            up=_naira_axis(max(totals, default=0)),
            most_labels=ticks,
        ),
        alt=_told(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]),
        height=_HEIGHT,
        targets=[[Clicked(str(line.id) if line.id else None, day) for day in when] for line in stacked],
    )


def lines_over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str) -> Chart:
    """Return one line per series, distinguished by dashes as well as by colour.

    A bucket under way is a ring apart: a line to it would dive.
    """
    totals = [sum(column) for column in zip(*(line.amounts_minor for line in lines), strict=True)]
    series = []
    for colour, dash, line in zip(colours.series(), ("solid", "dotted", "dashed"), lines, strict=False):
        amounts = [minor / 100 for minor in line.amounts_minor]
        series += draw_line(line.name, amounts, when, grain, colour=colour, dash=dash)
    highest = max((max(line.amounts_minor, default=0) for line in lines), default=0)
    return Chart(
        option=build_over_time(
            series,
            when,
            grain,
            names=name_buckets(when, grain, totals),
            up=_naira_axis(highest),
            most_labels=5,
        ),
        alt=_told(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]),
        height=_HEIGHT,
    )


def draw_line(
    name: str, amounts: Sequence[float], when: Sequence[date], grain: Grain, *, colour: str, dash: str
) -> list[dict[str, Any]]:
    """Return the line of the buckets that are over, and the ring of the one under way."""
    whole = len(when) - is_under_way(when, grain)
    drawn = [charts.line(name, amounts[:whole], colour, dash=dash, showSymbol=len(when) < 70)]
    if whole < len(when):
        drawn.append(charts.line(name, [[whole, amounts[whole]]], colour, symbol="emptyCircle", symbolSize=9))
    return drawn


def year_on_year(pairs: Sequence[MonthPair]) -> Chart:
    """Return the premium of each month beside that of the same month a year before."""
    when = [pair.month for pair in pairs]
    series = [
        charts.bars("A year before", [pair.before_minor / 100 for pair in pairs], colours.faint(), barGap="5%"),
        charts.bars(
            "Last 12 months", _naira_bars([pair.now_minor for pair in pairs], when, "month"), colours.series()[0]
        ),
    ]
    names = [f"{month:%B %Y} and {clock.add_months(month, -12):%B %Y}" for month in when]
    highest = max((max(pair.now_minor, pair.before_minor) for pair in pairs), default=0)
    parts = [(f"{pair.month:%b %Y}", pair.now_minor, pair.before_minor) for pair in pairs]
    told = "; ".join(f"{name} {words.naira(now)}, a year before {words.naira(before)}" for name, now, before in parts)
    return Chart(
        option=charts.build_option(
            series,
            across=charts.named_axis(names, [f"{month:%b}" for month in when], most_labels=12),
            up=_naira_axis(highest),
            tooltip=charts.over_axis(charts.NAIRA),
            legend=[each["name"] for each in series],
        ),
        alt=f"Premium by month, year on year. {told}.",
        height=_YEAR_HEIGHT,
        targets=[[Clicked(None, clock.add_months(month, -12)) for month in when], [Clicked(None, m) for m in when]],
    )


def ranked_bars(slices: Sequence[Slice], *, whole: int, what: str) -> Chart:
    """Return horizontal bars, the largest on top, each labelled with its share of the `whole` (kobo)."""
    values = [
        charts.labelled(
            part.totals.premium_minor / 100,
            f"{words.short_naira(part.totals.premium_minor)} · {_percent(part, whole)}",
            f"{html.escape(part.name)}<br>{words.naira(part.totals.premium_minor)}"
            f"<br>{words.count(part.totals.written)} policies",
        )
        for part in slices
    ]
    largest = max((part.totals.premium_minor for part in slices), default=0) / 100
    return Chart(
        option=charts.build_option(
            [charts.bars(what, values, colours.series()[0], label=charts.label_bars("right"), barWidth=22)],
            # Leaves room for the label beside the longest bar.
            across=[charts.hidden_axis(largest * 1.75)],
            up=[charts.category_axis([_short(part.name) for part in slices], inverse=True, axisLine={"show": False})],
            tooltip={"trigger": "item"},
        ),
        alt=_told(what, [(part.name, part.totals.premium_minor) for part in slices]),
        height=len(slices) * charts.BAR_HEIGHT + 30,
        targets=[[Clicked(str(part.id), None) if part.id else None for part in slices]],
    )


def build_over_time(
    series: Sequence[Mapping[str, Any]],
    when: Sequence[date],
    grain: Grain,
    *,
    names: Sequence[str],
    up: Sequence[Mapping[str, Any]],
    most_labels: int,
    values: str = charts.NAIRA,
) -> dict[str, Any]:
    """Return the option of series over time buckets; `names` are the buckets as the tooltip tells them."""
    labels = [f"{day:%b %Y}" if grain == "month" else f"{day.day} {day:%b}" for day in when]
    return charts.build_option(
        series,
        across=charts.named_axis(names, labels, most_labels=most_labels),
        up=up,
        tooltip=charts.over_axis(values),
        legend=list(dict.fromkeys(each["name"] for each in series)),
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


def _naira_bars(amounts_minor: Sequence[int], when: Sequence[date], grain: Grain) -> list[Any]:
    """Return kobo as naira, the bucket under way as an unfinished bar."""
    naira: list[Any] = [minor / 100 for minor in amounts_minor]
    if naira and len(when) > 1 and is_under_way(when, grain):
        naira[-1] = charts.unfinished(naira[-1])
    return naira


def _naira_axis(most_minor: int) -> list[dict[str, Any]]:
    """Return an axis in the units of the page: ₦500k, ₦2.5m."""
    step = _round_step(most_minor)
    marks = range(0, max(most_minor, 1) + step, step)
    return charts.marked_axis([mark // 100 for mark in marks], [_mark(mark) for mark in marks])


def _round_step(most_minor: int) -> int:
    """Return a step of 1, 2 or 5 times a power of ten kobo that makes about five marks."""
    rough = max(most_minor // 5, 100)
    power: int = 10 ** (len(str(rough)) - 1)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def _mark(minor: int) -> str:
    short = words.short_naira(minor)
    return re.sub(r"\.0+(?=[a-z])", "", short)


def _looks(line: Series, rank: int) -> dict[str, Any]:
    """Return the colour and pattern of a member by its rank; grey for the sum of the remaining ones."""
    if rank >= MOST_SERIES and line.position is None:
        return {"colour": colours.faint()}
    turn, colour = divmod(rank if line.position is None else line.position, colours.SERIES_COUNT)
    return {"colour": colours.series()[colour], "pattern": turn % len(charts.DECALS)}


def _folded(lines: Sequence[Series]) -> list[Series]:
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


def _told(what: str, parts: Sequence[tuple[str, int]]) -> str:
    largest = "; ".join(f"{name} {words.naira(minor)}" for name, minor in parts[:5])
    return f"{what}. Largest: {largest}." if parts else f"{what}: nothing."
