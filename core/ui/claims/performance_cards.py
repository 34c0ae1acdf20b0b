"""The cards of claims performance: tiles, one chart each, and the workload of each officer."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from core.services.claims.reports.breakdowns import AgeBucket, OfficerWorkload, TurnaroundBucket, TypeDecisions
from core.services.claims.reports.figures import ClaimSummary
from core.services.claims.reports.metrics import CLAIM_METRICS, OPEN_NOW
from core.services.windows import Window
from core.states.claims import ClaimStatus
from core.ui.claims import charts as claim_charts
from core.ui.frame import page_links
from core.ui.kit import charts, words
from core.ui.kit.charts import Chart
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from core.ui.sales import dashboard_cards, tiles

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
        "overdue": columns.number("Overdue now", lambda work: work.overdue),
    },
)


def follow() -> None:
    """Open the claims behind the chart element that was just clicked."""
    if query := st.session_state.pop(_GO, None):
        page_links.go(QUEUE, **query)


def draw_tiles(summary: ClaimSummary) -> None:
    """Draw every tile; its help says what the figure counts, leaves out and is dated by."""
    with st.grid(4, min_column_width=215, gap="xsmall"):
        for metric in CLAIM_METRICS:
            tiles.tile(
                metric,
                now=metric.compute(summary.current),
                then=metric.compute(summary.previous),
                compared=summary.compared,
            )


def draw_ageing(aged: Sequence[AgeBucket]) -> None:
    """Draw open claims by age, as of now."""

    def claims_of(place: int) -> dict[str, str]:
        found = aged[place]
        days = {"from": found.first, "to": found.last}
        return {"view": "open", **{name: str(day) for name, day in days.items() if day}}

    number, chart = sum(each.number for each in aged), claim_charts.ageing(aged)
    with st.container(border=True, height="stretch"):
        charts.draw_head(
            "Open claims by age",
            chart,
            file_name="open-claims-by-age",
            about=f"**{words.count(number)}** open now, by days in Lagos since lodging. Click a bar to see its claims.",
            explanation=OPEN_NOW.definition,
        )
        if number:
            _clickable("ageing", chart, claims_of)
        else:
            st.info("No claim is open.", icon=":material/inbox:")


def draw_over_time(summary: ClaimSummary) -> None:
    """Draw claims lodged and decided over time."""
    grain = dashboard_cards.read_cut(summary.window).grain
    chart = claim_charts.over_time(*summary.count_by_bucket(grain), grain)
    with st.container(border=True, height="stretch"):
        about = f"By {grain}. When more are lodged than decided, the desk falls behind."
        charts.draw_head("Lodged and decided", chart, file_name="claims-lodged-and-decided", about=about)
        charts.draw(chart, key="claims over time")


def draw_turnaround(took: Sequence[TurnaroundBucket]) -> None:
    """Draw how long paid claims took."""
    about = "Claims paid in the period, by days; our own time leaves out waiting for the claimant."
    chart, is_empty = claim_charts.turnaround(took), not any(each.calendar for each in took)
    _draw_card("From lodged to paid", about, chart, otherwise="No claim was paid" if is_empty else "")


def draw_reasons(rows: Sequence[tuple[str, int]], window: Window) -> None:
    """Draw declines by reason."""

    def claims_of(reason: str) -> dict[str, str]:
        days = {"decided_from": str(window.start), "decided_to": str(window.last)}
        return {"view": "all", "status": ClaimStatus.DECLINED, "reason": reason, **days}

    chart = claim_charts.reasons(rows)
    with st.container(border=True, height="stretch"):
        about = "Declined in the period. Click a bar to see its claims."
        charts.draw_head("Declines by reason", chart, file_name="declines-by-reason", about=about)
        if rows:
            _clickable(f"reasons {window}", chart, claims_of)
        else:
            st.info("No claim was declined in this period.", icon=":material/thumb_up:")


def draw_types(rows: Sequence[TypeDecisions]) -> None:
    """Draw approvals and declines by type."""
    about = "Approvals given in the period that still stand, and declines."
    otherwise = "" if rows else "No claim was approved or declined"
    _draw_card("Approvals and declines by type", about, claim_charts.by_type(rows), otherwise=otherwise)


def draw_officers(rows: Sequence[OfficerWorkload]) -> None:
    """Draw each officer's decisions in the period and current open claims."""
    with st.container(border=True):
        _title("By officer", "Decided in the period by whom it is assigned to; open and overdue as of now.")
        if not rows:
            st.info("Nobody has a claim, and none was decided in this period.", icon=":material/group:")
            return
        tables.draw_short(OFFICERS, rows)


def _days(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds / 86_400_000:,.1f}"


def _title(title: str, about: str) -> None:
    with st.container(gap=None, width="content"):
        st.markdown(f"**{title}**")
        st.caption(about)


def _draw_card(title: str, about: str, chart: Chart, *, otherwise: str) -> None:
    """Draw a chart in its card; `otherwise` says that there is nothing to draw."""
    with st.container(border=True, height="stretch"):
        charts.draw_head(title, chart, file_name=title.lower().replace(" ", "-"), about=about)
        if otherwise:
            st.info(f"{otherwise} in this period.", icon=":material/hourglass_empty:")
        else:
            charts.draw(chart, key=f"claims {title}")


def _clickable(name: str, chart: Chart, claims_of: Callable[..., Any]) -> None:
    # The chart gets a new key after each visit to the queue, so that the click that led there is forgotten.
    key = f"claims {name} {st.session_state.get('performance_visit', 0)}"

    def on_click(target: object) -> None:
        st.session_state["performance_visit"] = st.session_state.get("performance_visit", 0) + 1
        st.session_state[_GO] = claims_of(target)

    charts.draw(chart, key=key, on_click=on_click)
