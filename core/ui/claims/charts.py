"""The charts of claims performance: counts, distinguished by patterns and dashes as well as by colours."""

from collections.abc import Sequence
from datetime import date

from core.services.claims.reports.breakdowns import AgeBucket, TurnaroundBucket, TypeDecisions
from core.services.sales.breakdowns import Grain
from core.states.claims import ClaimStatus
from core.ui.kit import colours, words
from core.ui.sales import charts
from core.ui.sales.charts import Chart

_HEIGHT = 260
_BAR = 34


def over_time(when: Sequence[date], lodged: Sequence[int], decided: Sequence[int], grain: Grain) -> Chart:
    """Chart claims lodged and decided; a lower second line means that a backlog is building up."""
    figure = charts.across_time(when, grain, ticks=8)
    for name, numbers, dash, colour in (
        ("Lodged", lodged, "solid", colours.SERIES[0]),
        ("Decided", decided, "dash", colours.SERIES[1]),
    ):
        figure.add_scatter(
            x=[str(day) for day in when],
            y=list(numbers),
            name=name,
            mode="lines+markers" if len(when) < 70 else "lines",
            line={"color": colour, "width": 2.5, "dash": dash},
            marker={"size": 6},
            hovertemplate="%{y:,}",
        )
    figure.update_yaxes(tickprefix="", tickformat=",d")
    figure.update_layout(height=_HEIGHT)
    return Chart(figure, f"Claims by {grain}: {sum(lodged):,} lodged, {sum(decided):,} decided.")


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
    figure = charts.base()
    figure.add_bar(
        x=[each.days.label for each in aged],
        y=[each.number for each in aged],
        customdata=[str(place) for place in range(len(aged))],
        text=[words.count(each.number) for each in aged],
        textposition="outside",
        cliponaxis=False,
        textfont={"color": colours.TEXT},
        marker={"color": colours.SERIES[0], "line": {"width": 0}},
        hovertemplate="%{x} days: %{y:,} open<extra></extra>",
    )
    highest = max((each.number for each in aged), default=0)
    figure.update_xaxes(type="category", title={"text": "Days since lodging", "font": {"color": colours.TEXT}})
    figure.update_yaxes(visible=False, range=[0, highest * 1.2 or 1])
    figure.update_layout(height=_HEIGHT, bargap=0.3, hovermode="closest", showlegend=False)
    told = ", ".join(f"{each.days.label} days {each.number:,}" for each in aged)
    return Chart(figure, f"Open claims by age: {told}.")


def reasons(rows: Sequence[tuple[str, int]]) -> Chart:
    """Chart declines by reason, the most frequent on top; a click on a bar gives the reason."""
    upwards = list(reversed(rows))
    figure = charts.base()
    figure.add_bar(
        orientation="h",
        y=[words.title(name) for name, _ in upwards],
        x=[number for _, number in upwards],
        customdata=[name for name, _ in upwards],
        text=[words.count(number) for _, number in upwards],
        textposition="outside",
        cliponaxis=False,
        textfont={"color": colours.TEXT},
        marker={"color": colours.SERIES[1], "line": {"width": 0}},
        hovertemplate="%{y}: %{x:,} declined<extra></extra>",
    )
    figure.update_xaxes(visible=False, range=[0, max((number for _, number in rows), default=0) * 1.2 or 1])
    figure.update_yaxes(automargin=True, ticklabelstandoff=8)
    figure.update_layout(height=max(120, len(rows) * _BAR + 30), bargap=0.35, hovermode="closest", showlegend=False)
    told = ", ".join(f"{name} {number:,}" for name, number in rows)
    return Chart(figure, f"Declines by reason: {told}." if told else "Declines by reason: none.")


def by_type(rows: Sequence[TypeDecisions]) -> Chart:
    """Chart approvals and declines of each claim type."""
    series = [
        (ClaimStatus.APPROVED, [row.approved for row in rows]),
        (ClaimStatus.DECLINED, [row.declined for row in rows]),
    ]
    told = ", ".join(f"{row.claim_type} {row.approved:,} approved and {row.declined:,} declined" for row in rows)
    labels = [charts.plain(row.claim_type) for row in rows]
    return _beside(labels, series, "", f"By type of claim: {told}." if told else "By type of claim: none.")


def _beside(labels: Sequence[str], series: Sequence[tuple[str, list[int]]], axis: str, alt: str) -> Chart:
    """Return a chart of two bars side by side, the second one hatched."""
    figure = charts.base()
    for (name, numbers), colour, shape in zip(series, colours.SERIES, ("", "/"), strict=False):
        figure.add_bar(
            x=list(labels),
            y=numbers,
            name=name,
            text=[words.count(number) for number in numbers],
            textposition="outside",
            cliponaxis=False,
            textfont={"color": colours.TEXT},
            marker={"color": colour, "line": {"width": 0}, "pattern": {"shape": shape, "solidity": 0.25}},
            hovertemplate=f"{name}: %{{y:,}}<extra></extra>",
        )
    highest = max((number for _, numbers in series for number in numbers), default=0)
    figure.update_xaxes(type="category", title={"text": axis, "font": {"color": colours.TEXT}})
    figure.update_yaxes(visible=False, range=[0, highest * 1.2 or 1])
    figure.update_layout(height=_HEIGHT, barmode="group", bargap=0.3, hovermode="closest")
    return Chart(figure, alt)
