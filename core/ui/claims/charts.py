"""The charts of claims performance: counts, distinguished by patterns and dashes as well as by colours."""

import html
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from core.services.claims.reports.breakdowns import AgeBucket, TurnaroundBucket, TypeDecisions
from core.services.sales.breakdowns import Grain
from core.states.claims import ClaimStatus
from core.ui.kit import charts, colours, words
from core.ui.kit.charts import Chart
from core.ui.sales import charts as sales_charts

_HEIGHT: Final = 260
# Above the highest bar, for its label.
_ROOM: Final = 1.2


def over_time(when: Sequence[date], lodged: Sequence[int], decided: Sequence[int], grain: Grain) -> Chart:
    """Chart claims lodged and decided; a lower second line means that a backlog is building up."""
    first, second, *_ = colours.series()
    series = [
        charts.line("Lodged", lodged, first, showSymbol=len(when) < 70),
        charts.line("Decided", decided, second, dash="dashed", showSymbol=len(when) < 70),
    ]
    return Chart(
        option=sales_charts.build_over_time(
            series,
            when,
            grain,
            names=[sales_charts.name_bucket(day, grain) for day in when],
            up=[{"type": "value", "min": 0, "minInterval": 1}],
            most_labels=8,
            values=charts.COUNT,
        ),
        alt=f"Claims by {grain}: {sum(lodged):,} lodged, {sum(decided):,} decided.",
        height=_HEIGHT,
    )


def turnaround(took: Sequence[TurnaroundBucket]) -> Chart:
    """Chart the number of paid claims by days taken: in calendar time, and in our own time."""
    labels = [each.days.label for each in took]
    series = [
        ("By the calendar", [each.calendar for each in took]),
        ("Our own time", [each.net for each in took]),
    ]
    told = ", ".join(f"{each.days.label} days {each.calendar:,} ({each.net:,})" for each in took)
    return _beside(
        labels, series, "Days from lodging to paid", f"Paid claims by days, in brackets our own time: {told}."
    )


def ageing(aged: Sequence[AgeBucket]) -> Chart:
    """Chart open claims by age; a click on a bar gives the index of its age class."""
    values = [
        charts.labelled(each.number, words.count(each.number), f"{each.days.label} days: {each.number:,} open")
        for each in aged
    ]
    highest = max((each.number for each in aged), default=0)
    told = ", ".join(f"{each.days.label} days {each.number:,}" for each in aged)
    return Chart(
        option=charts.build_option(
            [charts.bars("Open", values, colours.series()[0], label=charts.label_bars("top"), barWidth="70%")],
            across=[_titled_axis([each.days.label for each in aged], "Days since lodging")],
            up=[charts.hidden_axis(highest * _ROOM)],
            tooltip={"trigger": "item"},
        ),
        alt=f"Open claims by age: {told}.",
        height=_HEIGHT,
        targets=[range(len(aged))],
    )


def reasons(rows: Sequence[tuple[str, int]]) -> Chart:
    """Chart declines by reason, the most frequent on top; a click on a bar gives the reason."""
    titles = [words.title(name) for name, _ in rows]
    values = [
        charts.labelled(number, words.count(number), f"{html.escape(title)}: {number:,} declined")
        for title, (_, number) in zip(titles, rows, strict=True)
    ]
    most = max((number for _, number in rows), default=0)
    told = ", ".join(f"{name} {number:,}" for name, number in rows)
    return Chart(
        option=charts.build_option(
            [
                charts.bars(
                    ClaimStatus.DECLINED, values, colours.series()[1], label=charts.label_bars("right"), barWidth=22
                )
            ],
            across=[charts.hidden_axis(most * _ROOM)],
            up=[charts.category_axis(titles, inverse=True, axisLine={"show": False})],
            tooltip={"trigger": "item"},
        ),
        alt=f"Declines by reason: {told}." if told else "Declines by reason: none.",
        height=max(120, len(rows) * charts.BAR_HEIGHT + 30),
        targets=[[name for name, _ in rows]],
    )


def by_type(rows: Sequence[TypeDecisions]) -> Chart:
    """Chart approvals and declines of each claim type."""
    series = [
        (ClaimStatus.APPROVED, [row.approved for row in rows]),
        (ClaimStatus.DECLINED, [row.declined for row in rows]),
    ]
    told = ", ".join(f"{row.claim_type} {row.approved:,} approved and {row.declined:,} declined" for row in rows)
    labels = [row.claim_type for row in rows]
    return _beside(labels, series, "", f"By type of claim: {told}." if told else "By type of claim: none.")


def _beside(labels: Sequence[str], series: Sequence[tuple[str, list[int]]], axis: str, alt: str) -> Chart:
    """Return a chart of two bars side by side, the second one hatched."""
    drawn = [
        charts.bars(
            str(name),
            [charts.labelled(number, words.count(number)) for number in numbers],
            colour,
            pattern=pattern,
            label=charts.label_bars("top"),
        )
        for pattern, ((name, numbers), colour) in enumerate(zip(series, colours.series(), strict=False))
    ]
    highest = max((number for _, numbers in series for number in numbers), default=0)
    return Chart(
        option=charts.build_option(
            drawn,
            across=[_titled_axis(labels, axis)],
            up=[charts.hidden_axis(highest * _ROOM)],
            tooltip=charts.over_axis(charts.COUNT),
            legend=[each["name"] for each in drawn],
        ),
        alt=alt,
        height=_HEIGHT,
    )


def _titled_axis(labels: Sequence[str], title: str) -> dict[str, Any]:
    if not title:
        return charts.category_axis(labels)
    return charts.category_axis(labels, name=title, nameLocation="middle", nameGap=26)
