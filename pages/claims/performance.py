"""Performance: time to settlement, age of open claims, decline reasons, and decisions by officer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pandas as pd
import streamlit as st

from core import clock
from core.services.claims.reports import figures as claim_figures
from core.services.claims.reports import loss_ratios
from core.services.claims.reports.figures import (
    CLAIM_METRICS,
    FIRST_METRICS,
    OPEN_NOW,
    AgeBucket,
    ClaimSummary,
    OfficerWorkload,
    TurnaroundBucket,
    TypeDecisions,
)
from core.services.claims.reports.loss_ratios import LOSS_DIMENSIONS, LossDimension, LossFigures, LossTable
from core.services.lists import windows
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.windows import Window
from core.services.sales.filter import SalesFilter
from core.states.claims import ClaimStatus
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import charts, figure_tiles, words
from core.ui.kit.charts import Chart
from core.ui.lists import columns, export_panel, periods, tables
from core.ui.lists.tables import Table

_HEIGHT: Final = 260
# Above the highest bar, for its label.
_ROOM: Final = 1.2


def chart_ageing(aged: Sequence[AgeBucket]) -> Chart:
    """Chart open claims by age; a click on a bar gives the index of its age class."""
    numbers = pd.Series([each.number for each in aged], index=[each.days.label for each in aged], dtype="int64")
    hover = [f"{each.days.label} days: {each.number:,} open" for each in aged]
    parts = ", ".join(f"{each.days.label} days {each.number:,}" for each in aged)
    series = _labelled(
        "Open", list(numbers), charts.series_colours()[0], hovertext=hover, hovertemplate="%{hovertext}<extra></extra>"
    )
    return Chart(
        figure=_upright([series], list(numbers.index)),
        table=numbers.to_frame("Open").rename_axis("Days"),
        is_money=False,
        alt=f"Open claims by age: {parts}.",
        targets=[range(len(aged))],
    )


def chart_reasons(rows: Sequence[tuple[str, int]]) -> Chart:
    """Chart declines by reason, the most frequent on top; a click on a bar gives the reason."""
    titles = [words.title(name) for name, _ in rows]
    numbers = [number for _, number in rows]
    hover = [f"{charts.plain(title)}: {number:,} declined" for title, number in zip(titles, numbers, strict=True)]
    series = charts.rows(
        ClaimStatus.DECLINED, numbers, [words.count(number) for number in numbers], hover, charts.series_colours()[1]
    )
    parts = ", ".join(f"{name} {number:,}" for name, number in rows)
    return Chart(
        figure=charts.build_ranked(series, titles),
        table=pd.DataFrame({str(ClaimStatus.DECLINED): numbers}, index=pd.Index(titles, name="Reason"), dtype="int64"),
        is_money=False,
        alt=f"Declines by reason: {parts}." if parts else "Declines by reason: none.",
        targets=[[name for name, _ in rows]],
    )


def _beside(place: str, labels: Sequence[str], series: Sequence[tuple[str, list[int]]], alt: str) -> Chart:
    """Return a chart of two bars side by side, the second one hatched; `place` heads the labels in the table."""
    drawn = [
        _labelled(str(name), numbers, colour, pattern=pattern, hovertemplate=charts.COUNT)
        for pattern, ((name, numbers), colour) in enumerate(zip(series, charts.series_colours(), strict=False))
    ]
    table = pd.DataFrame(
        {str(name): numbers for name, numbers in series}, index=pd.Index(labels, name=place), dtype="int64"
    )
    return Chart(
        figure=_upright(drawn, labels, legend=True, hovermode="x unified"), table=table, is_money=False, alt=alt
    )


def _labelled(name: str, numbers: Sequence[int], colour: str, **more: Any) -> dict[str, Any]:
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
    across["ticktext"] = [label.replace(" ", "<br>", 1) if len(label) > 10 else label for label in across["ticktext"]]
    return charts.build_figure(
        drawn, height=_HEIGHT, across=across, up=charts.hidden_axis(highest * _ROOM), bargap=0.3, **layout
    )


# The cards of claims performance: tiles, one chart each, and the workload of each officer.

QUEUE: Final = "claims/queue.py"
_GO: Final = "performance_go"
_NOBODY: Final = "nobody"
OFFICERS: Final[Table[OfficerWorkload]] = Table(
    name="officers",
    noun=("officer", "officers"),
    opens=QUEUE,
    key=lambda work: work.officer or _NOBODY,
    query=lambda officer: {"view": "open", "assigned": str(officer)},
    columns={
        "officer": columns.text("Officer", lambda work: work.name, says="Click to see the open claims"),
        "decided": columns.number("Decided", lambda work: work.decided),
        "half": columns.text("Our own time, median, days", lambda work: _days(work.median_net_ms), right=True),
        "open": columns.number("Open now", lambda work: work.open),
        "overdue": replace(
            columns.number("Overdue now", lambda work: work.overdue), colour=lambda work: "red" if work.overdue else ""
        ),
    },
)


def follow() -> None:
    """Open the claims behind the chart element that was just clicked."""
    if query := st.session_state.pop(_GO, None):
        page_links.go(QUEUE, **query)


def draw_tiles(summary: ClaimSummary) -> None:
    """Draw the figures as tiles, the less asked ones under More; the help of each says what it counts."""
    now, before = summary.current, summary.previous
    tiles = [
        figure_tiles.tile(
            metric,
            metric.compute(now),
            metric.compute(before),
            rests_on=before.decided,
            compared=periods.describe_comparison(summary.compared),
        )
        for metric in CLAIM_METRICS
    ]
    figure_tiles.draw(tiles, first=FIRST_METRICS, alt="Figures of the period", key="claim figures")


def draw_ageing(aged: Sequence[AgeBucket]) -> None:
    """Draw open claims by age, as of now."""

    def claims_of(place: int) -> dict[str, str]:
        found = aged[place]
        days = {"from": found.first, "to": found.last}
        return {"view": "open", **{name: str(day) for name, day in days.items() if day}}

    number = sum(each.number for each in aged)
    _draw_card(
        "Open claims by age",
        f"**{words.count(number)}** open now, by days in Lagos since lodging. Click a bar to see its claims.",
        chart_ageing(aged),
        otherwise="" if number else "No claim is open.",
        icon="inbox",
        explanation=OPEN_NOW.definition,
        draw_chart=lambda chart: _clickable("ageing", chart, claims_of),
    )


def draw_over_time(summary: ClaimSummary) -> None:
    """Draw claims lodged and decided over time; a lower second line means that a backlog is building up."""
    grain = periods.read_grain(summary.window)
    when, lodged, decided = summary.count_by_bucket(grain)
    first, second, *_ = charts.series_colours()
    mode = "lines+markers" if len(when) < 70 else "lines"
    table = pd.DataFrame({"Lodged": lodged, "Decided": decided}, index=pd.Index(when, name=grain.title()))
    series = [
        charts.line(name, list(table[name]), colour, dash=dash, mode=mode, hovertemplate=charts.COUNT)
        for name, colour, dash in (("Lodged", first, "solid"), ("Decided", second, "dash"))
    ]
    names, up = [charts.name_bucket(day, grain) for day in when], charts.count_axis(max(*lodged, *decided, 1))
    look: dict[str, Any] = {"most_labels": 8, "height": _HEIGHT, "hovermode": "x unified"}
    figure = charts.build_over_time(series, when, grain, names=names, up=up, **look)
    alt = f"Claims by {grain}: {sum(lodged):,} lodged, {sum(decided):,} decided."
    chart = Chart(figure=figure, table=table, is_money=False, alt=alt)
    with st.container(border=True, height="stretch"):
        about = f"By {grain}. When more are lodged than decided, the desk falls behind."
        charts.draw_head("Lodged and decided", chart, file_name="claims-lodged-and-decided", about=about)
        charts.draw(chart, key="claims over time")


def draw_turnaround(took: Sequence[TurnaroundBucket]) -> None:
    """Draw how many paid claims took how many days: in calendar time, and in our own time."""
    labels = [each.days.label for each in took]
    series = [("By the calendar", [each.calendar for each in took]), ("Our own time", [each.net for each in took])]
    parts = ", ".join(f"{each.days.label} days {each.calendar:,} ({each.net:,})" for each in took)
    chart = _beside("Days", labels, series, f"Paid claims by days, in brackets our own time: {parts}.")
    about = "Claims paid in the period, by days; our own time leaves out waiting for the claimant."
    otherwise = "" if any(each.calendar for each in took) else "No claim was paid in this period."
    _draw_card("From lodged to paid", about, chart, otherwise=otherwise)


def draw_reasons(rows: Sequence[tuple[str, int]], window: Window) -> None:
    """Draw declines by reason."""

    def claims_of(reason: str) -> dict[str, str]:
        days = {"decided_from": str(window.start), "decided_to": str(window.last)}
        return {"view": "all", "status": ClaimStatus.DECLINED, "reason": reason, **days}

    _draw_card(
        "Declines by reason",
        "Declined in the period. Click a bar to see its claims.",
        chart_reasons(rows),
        otherwise="" if rows else "No claim was declined in this period.",
        icon="thumb_up",
        draw_chart=lambda chart: _clickable(f"reasons {window}", chart, claims_of),
    )


def draw_types(rows: Sequence[TypeDecisions]) -> None:
    """Draw approvals and declines of each type of claim."""
    approved, declined = [row.approved for row in rows], [row.declined for row in rows]
    parts = ", ".join(f"{row.claim_type} {row.approved:,} approved and {row.declined:,} declined" for row in rows)
    labels = [row.claim_type for row in rows]
    series = [(ClaimStatus.APPROVED, approved), (ClaimStatus.DECLINED, declined)]
    chart = _beside("Type", labels, series, f"By type of claim: {parts}." if parts else "By type of claim: none.")
    about = "Approvals given in the period that still stand, and declines."
    otherwise = "" if rows else "No claim was approved or declined in this period."
    _draw_card("Approvals and declines by type", about, chart, otherwise=otherwise)


def draw_officers(rows: Sequence[OfficerWorkload]) -> None:
    """Draw each officer's decisions in the period and current open claims."""
    with st.container(border=True):
        with st.container(gap=None, width="content"):
            st.markdown("**By officer**")
            st.caption("Decided in the period by whom it is assigned to; open and overdue as of now.")
        if not rows:
            st.info("Nobody has a claim, and none was decided in this period.", icon=":material/group:")
            return
        tables.draw_short(OFFICERS, rows)


def _days(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds / 86_400_000:,.1f}"


def _draw_card(
    title: str,
    about: str,
    chart: Chart,
    *,
    otherwise: str,
    icon: str = "hourglass_empty",
    explanation: str | None = None,
    draw_chart: Callable[[Chart], object] | None = None,
) -> None:
    """Draw a chart in its card; `otherwise` says that there is nothing to draw."""
    with st.container(border=True, height="stretch"):
        file_name = title.lower().replace(" ", "-")
        charts.draw_head(title, chart, file_name=file_name, about=about, explanation=explanation)
        if otherwise:
            st.info(otherwise, icon=f":material/{icon}:")
        elif draw_chart:
            draw_chart(chart)
        else:
            charts.draw(chart, key=f"claims {title}")


def _clickable(name: str, chart: Chart, claims_of: Callable[..., Any]) -> None:
    # The chart gets a new key after each visit to the queue, so that the click that led there is forgotten.
    key = f"claims {name} {st.session_state.get('performance_visit', 0)}"

    def on_click(target: object) -> None:
        st.session_state["performance_visit"] = st.session_state.get("performance_visit", 0) + 1
        st.session_state[_GO] = claims_of(target)

    charts.draw(chart, key=key, on_click=on_click)


# Loss ratios on claims performance: a table by product, insurer, distributor or month of the incident.

_LABELS: Final[Mapping[LossDimension, str]] = {
    "product": "Product",
    "provider": "Insurer",
    "distributor": "Distributor",
    "month": "Month of incident",
}
Line = tuple[str, LossFigures]
_CHOSEN: Final = "loss_dimension"


def draw_losses(table: LossTable, choices: Choices, window: Window) -> None:
    """Draw the table with its total, the choice of its lines, and its export."""
    with st.container(border=True):
        with st.container(gap=None):
            st.markdown(f"**Loss ratio** · **{words.percent(table.total.ratio)}**")
            st.caption(
                "Incurred (paid and outstanding, as of now) of losses whose incident lies in the period, of the premium"
                " earned in it: evenly over each term, credit life by the sum of the digits, less refunds."
            )
        dimension: LossDimension = (
            st.segmented_control(
                "By", LOSS_DIMENSIONS, key=_CHOSEN, default="product", required=True, format_func=_LABELS.__getitem__
            )
            or "product"
        )
        if not table.cells:
            st.info("No premium was earned and no loss happened in this period.", icon=":material/hourglass_empty:")
            return
        # The total first: a long list is scrolled, and its end would be out of sight.
        lines = [("Total", table.total), *table.list_lines(dimension, choices)]
        tables.draw_short(_build_table(dimension), lines)
        pairs = {key[:2] for key in table.cells}
        address = {"from": [window.start.isoformat()], "to": [window.last.isoformat()]}
        export_panel.offer("loss-ratios", address, rows=len(pairs), sum_minor=table.total.incurred_minor)


def _build_table(dimension: LossDimension) -> Table[Line]:
    label = _LABELS[dimension]
    return Table(
        name=f"losses_{dimension}",
        noun=("line", f"loss ratios by {label.lower()}, their total and one row each"),
        key=lambda line: line[0],
        narrow=("name", "incurred", "ratio"),
        columns={
            "name": columns.text(label, lambda line: line[0], 230),
            "losses": columns.number("Losses", lambda line: line[1].claims),
            "paid": columns.naira(ClaimStatus.PAID, lambda line: line[1].paid_minor),
            "outstanding": columns.naira("Outstanding", lambda line: line[1].outstanding_minor),
            "incurred": columns.naira("Incurred", lambda line: line[1].incurred_minor),
            "earned": columns.naira("Earned premium", lambda line: line[1].earned_minor),
            "ratio": columns.text("Loss ratio", lambda line: words.percent(line[1].ratio), 100, right=True),
        },
    )


DEFAULT = "6m"
PERIODS = [name for name in periods.NAMES if name != periods.ALL]


def draw() -> None:
    frame.require("claims", "supervisor")
    follow()
    frame.page_header(
        "Performance", "How fast claims are settled, how old the open ones are, and why and by whom they are decided."
    )
    choices = read_in(frame.scope(), load_choices)
    selection = periods.read(SalesFilter, choices, usual=DEFAULT, offer=PERIODS)
    window = selection.window or windows.named_window(DEFAULT, clock.today())
    periods.draw_period(selection, offer=PERIODS)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        summary = claim_figures.build_summary(session, window, compared=periods.comparison_of(selection.period, window))
    st.caption(
        f":material/calendar_month: **{periods.describe_period(window)}**, compared with"
        f" {periods.describe_comparison(summary.compared)}."
        " Days are those of Lagos."
    )
    # The tiles are drawn before the figures of the charts are queried.
    draw_tiles(summary)
    with st.skeleton(height=400), reading(frame.scope()) as session:
        aged = claim_figures.count_by_age(session)
        reasons = claim_figures.count_decline_reasons(session, window)
        types = claim_figures.count_by_type(session, window)
        officers = claim_figures.list_workloads(session, summary.decisions)
    if not (summary.current.lodged or summary.current.decided or officers):
        st.info(
            "No claim was lodged or decided in this period, and none is open. Choose a longer one above, lodge a claim"
            " on a caller's behalf, or look at the other mode with the switch in the menu.",
            icon=":material/inbox:",
        )
        page_links.link("claims/lodge.py", label="Lodge a claim", icon=":material/note_add:")
        return
    draw_over_time(summary)
    with st.grid(2, min_column_width=380, gap="small"):
        draw_turnaround(claim_figures.count_by_turnaround(summary.decisions))
        draw_ageing(aged)
        draw_reasons(reasons, window)
        draw_types(types)
    draw_officers(officers)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        losses = loss_ratios.build_table(session, window)
    draw_losses(losses, choices, window)
