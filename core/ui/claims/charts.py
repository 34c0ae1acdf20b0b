"""The charts of claims performance: counts, distinguished by patterns and dashes as well as by colours."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

import pandas as pd

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
    mode = "lines+markers" if len(when) < 70 else "lines"
    table = pd.DataFrame({"Lodged": lodged, "Decided": decided}, index=pd.Index(when, name=grain.title()))
    series = [
        charts.line(name, list(table[name]), colour, dash=dash, mode=mode, hovertemplate=charts.COUNT)
        for name, colour, dash in (("Lodged", first, "solid"), ("Decided", second, "dash"))
    ]
    return Chart(
        figure=sales_charts.build_over_time(
            series,
            when,
            grain,
            names=[sales_charts.name_bucket(day, grain) for day in when],
            up=charts.count_axis(max(*lodged, *decided, 1)),
            most_labels=8,
            height=_HEIGHT,
            hovermode="x unified",
        ),
        table=table,
        is_money=False,
        alt=f"Claims by {grain}: {sum(lodged):,} lodged, {sum(decided):,} decided.",
    )


def turnaround(took: Sequence[TurnaroundBucket]) -> Chart:
    """Chart the number of paid claims by days taken: in calendar time, and in our own time."""
    labels = [each.days.label for each in took]
    series = [
        ("By the calendar", [each.calendar for each in took]),
        ("Our own time", [each.net for each in took]),
    ]
    told = ", ".join(f"{each.days.label} days {each.calendar:,} ({each.net:,})" for each in took)
    return _beside("Days", labels, series, f"Paid claims by days, in brackets our own time: {told}.")


def ageing(aged: Sequence[AgeBucket]) -> Chart:
    """Chart open claims by age; a click on a bar gives the index of its age class."""
    numbers = pd.Series([each.number for each in aged], index=[each.days.label for each in aged], dtype="int64")
    hover = [f"{each.days.label} days: {each.number:,} open" for each in aged]
    told = ", ".join(f"{each.days.label} days {each.number:,}" for each in aged)
    series = _labelled(
        "Open", list(numbers), colours.series()[0], hovertext=hover, hovertemplate="%{hovertext}<extra></extra>"
    )
    return Chart(
        figure=_upright([series], list(numbers.index)),
        table=numbers.to_frame("Open").rename_axis("Days"),
        is_money=False,
        alt=f"Open claims by age: {told}.",
        targets=[range(len(aged))],
    )


def reasons(rows: Sequence[tuple[str, int]]) -> Chart:
    """Chart declines by reason, the most frequent on top; a click on a bar gives the reason."""
    titles = [words.title(name) for name, _ in rows]
    numbers = [number for _, number in rows]
    hover = [f"{charts.plain(title)}: {number:,} declined" for title, number in zip(titles, numbers, strict=True)]
    series = charts.rows(
        ClaimStatus.DECLINED, numbers, [words.count(number) for number in numbers], hover, colours.series()[1]
    )
    told = ", ".join(f"{name} {number:,}" for name, number in rows)
    return Chart(
        figure=sales_charts.build_ranked(series, titles),
        table=pd.DataFrame({str(ClaimStatus.DECLINED): numbers}, index=pd.Index(titles, name="Reason"), dtype="int64"),
        is_money=False,
        alt=f"Declines by reason: {told}." if told else "Declines by reason: none.",
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
    return _beside("Type", labels, series, f"By type of claim: {told}." if told else "By type of claim: none.")


def _beside(place: str, labels: Sequence[str], series: Sequence[tuple[str, list[int]]], alt: str) -> Chart:
    """Return a chart of two bars side by side, the second one hatched; `place` heads the labels in the table."""
    drawn = [
        _labelled(str(name), numbers, colour, pattern=pattern, hovertemplate=charts.COUNT)
        for pattern, ((name, numbers), colour) in enumerate(zip(series, colours.series(), strict=False))
    ]
    table = pd.DataFrame(
        {str(name): numbers for name, numbers in series}, index=pd.Index(labels, name=place), dtype="int64"
    )
    return Chart(
        figure=_upright(drawn, labels, legend=True, hovermode="x unified"), table=table, is_money=False, alt=alt
    )


def _labelled(name: str, numbers: Sequence[int], colour: str, **more: Any) -> dict[str, Any]:
    """Return bars with their numbers above them."""
    texts = [words.count(number) for number in numbers]
    look: dict[str, Any] = {
        "text": texts,
        "textposition": "outside",
        "textangle": 0,
        "constraintext": "none",
        "cliponaxis": False,
    }
    return charts.bars(name, numbers, colour, **look, **more)


def _upright(drawn: Sequence[Mapping[str, Any]], labels: Sequence[str], **layout: Any) -> dict[str, Any]:
    highest = max((number for each in drawn for number in each["y"]), default=0)
    across = charts.category_axis(labels)
    # There is little room across.
    across["ticktext"] = [_break(label) for label in across["ticktext"]]
    return charts.build_figure(
        drawn, height=_HEIGHT, across=across, up=charts.hidden_axis(highest * _ROOM), bargap=0.3, **layout
    )


def _break(label: str, longest: int = 10) -> str:
    """Return a long label of several words in two lines."""
    return label.replace(" ", "<br>", 1) if len(label) > longest else label
