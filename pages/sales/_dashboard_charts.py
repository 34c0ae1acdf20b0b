"""The charts of the dashboard: a card each, whose bars offer the sales or movements behind them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, Literal

import pandas as pd
import streamlit as st

from core import clock
from core.services.finance import movements
from core.services.lists.dimensions import DIMENSIONS, Choices, Dimension
from core.services.lists.windows import Window
from core.services.sales import breakdowns
from core.services.sales.breakdowns import Amount, Breakdown, Cohort, Grain, MonthPair, Series, Slice, get_bucket_start
from core.services.sales.figures import Summary
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import SalesTotals
from core.ui.frame import page_links
from core.ui.kit import charts, figure_cache, url_state, words
from core.ui.kit.charts import Chart
from core.ui.kit.figure_cache import StoreState
from core.ui.lists import columns, periods, tables
from core.ui.lists.periods import GRAINS, LABELS, Selection

MOST_SERIES: Final = charts.SERIES_COUNT - 1
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
        figure=charts.build_over_time(
            series,
            when,
            grain,
            names=name_buckets(when, grain, list(table.sum(axis="columns"))),
            up=charts.amount_axis(
                int(table.clip(lower=0).sum(axis="columns").max()), int(table.clip(upper=0).sum(axis="columns").min())
            ),
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
        charts.bars(before, list(table[before] / 100), charts.faint_colour()),
        charts.bars(now, list(table[now] / 100), charts.series_colours()[0], unfinished=is_under_way(when, "month")),
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
        figure=charts.build_ranked(
            charts.rows(what, list(table["Premium"] / 100), texts, hover, charts.series_colours()[0]), names
        ),
        table=table,
        alt=_describe_largest(what, list(table["Premium"].items())),
        targets=[[Clicked(str(part.id), None) if part.id else None for part in slices]],
    )


def name_buckets(when: Sequence[date], grain: Grain, totals_minor: Sequence[int]) -> list[str]:
    """Return the name of each bucket with its total, as the tooltip shows it."""
    totals = [*totals_minor, *[0] * (len(when) - len(totals_minor))]
    under_way = when[-1] if is_under_way(when, grain) else None
    return [
        f"{charts.name_bucket(day, grain)} · {words.naira(total)} in all{' so far' if day == under_way else ''}"
        for day, total in zip(when, totals, strict=True)
    ]


def is_under_way(when: Sequence[date], grain: Grain) -> bool:
    """Return True if the last bucket holds today, so that more may come."""
    return bool(when) and get_bucket_start(clock.today(), grain) == when[-1]


def _looks(line: Series, rank: int) -> dict[str, Any]:
    """Return the colour and pattern of a member by its rank; grey for the sum of the remaining ones."""
    if rank >= MOST_SERIES and line.position is None:
        return {"colour": charts.faint_colour()}
    turn, colour = divmod(rank if line.position is None else line.position, charts.SERIES_COUNT)
    return {"colour": charts.series_colours()[colour], "pattern": turn % len(charts.PATTERNS)}


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


# What a click on a bar offers.

PURCHASES, RENEWALS = "sales/purchases.py", "sales/renewals.py"
MOVEMENTS = "finance/movements.py"
# The chart whose bars are commissions: behind them is every movement, not only what was sold.
PREMIUM, COMMISSIONS = "premium", "commissions"
_DRILL = "drill"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drill:
    """A clicked segment: the chart, a member of a dimension and the days of a bucket, and the URL it was clicked at."""

    chart: str
    dimension: Dimension | None
    member: str | None
    days: Window | None
    address: Mapping[str, object]


def remember(chart: str, dimension: Dimension | None, clicked: Clicked | None, grain: Grain, window: Window) -> None:
    """Store a click for the next drawing of its chart; a second one on the same bar, or on no bar, closes the offer."""
    before = st.session_state.pop(_DRILL, None)
    if clicked is None:
        return
    days = days_of_bucket(clicked.bucket, grain, window) if clicked.bucket else None
    member = clicked.member if dimension else None
    drill = Drill(chart=chart, dimension=dimension, member=member, days=days, address=url_state.all_parameters())
    if drill != before:
        st.session_state[_DRILL] = drill


def days_of_bucket(day: date, grain: Grain, window: Window) -> Window:
    """Return the days of a bucket that lie within the window."""
    after = {"day": clock.add_days(day, 1), "week": clock.add_days(day, 7), "month": clock.add_months(day, 1)}[grain]
    return Window(max(day, window.start), min(after, window.end)) if day < window.end else Window(day, after)


def offer(chart: str, selection: Selection[SalesFilter], at: StoreState, names: Choices) -> None:
    """Draw the offer below the chart that was clicked, unless the page shows something else by now."""
    drill: Drill | None = st.session_state.get(_DRILL)
    if drill is None or drill.chart != chart or drill.address != url_state.all_parameters():
        return
    narrowed = _narrow(selection.criteria, drill, names)
    totals = figure_cache.totals(at, narrowed)
    amount = _describe_commission(totals) if chart == COMMISSIONS else words.naira(totals.premium_minor)
    with st.container(border=True, gap="xsmall", key=f"drill_{chart}"):
        st.markdown(f"**{words.plain(_name(drill, names))}** · {words.plain(amount)}")
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if chart == COMMISSIONS:
                _link_to_movements(narrowed, movements.count(totals))
            else:
                link_to_sales(narrowed, totals.sold, totals.renewed)
            st.button("Filter by this", icon=":material/filter_alt:", on_click=_filter_by, args=(drill, narrowed))
            st.button("Close", type="tertiary", on_click=st.session_state.pop, args=(_DRILL, None))


def has_open_premium() -> bool:
    """Return True if the offer of the first chart is open."""
    drill: Drill | None = st.session_state.get(_DRILL)
    return drill is not None and drill.chart == PREMIUM


def link_to_sales(selection: SalesFilter, purchases: int, renewals: int) -> None:
    """Draw the links to the purchases and renewals of a selection, with their numbers."""
    query = selection.address()
    for path, number, noun in ((PURCHASES, purchases, "purchase"), (RENEWALS, renewals, "renewal")):
        those = f"this {noun}" if number == 1 else f"these {words.count(number)} {noun}s"
        # Renewals that failed wrote no premium.
        status = {"status": ["true"]} if path == RENEWALS else {}
        page_links.link(
            path,
            label=f"See {those}" if number else f"No {noun}s",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=not number,
            query_params={**query, **status},
        )


def _describe_commission(totals: SalesTotals) -> str:
    whole = totals.mca_minor + totals.distributor_minor
    parts = f"platform {words.naira(totals.mca_minor)}, distributors {words.naira(totals.distributor_minor)}"
    return f"commission {words.naira(whole)}: {parts}"


def _link_to_movements(selection: SalesFilter, number: int) -> None:
    those = "this movement" if number == 1 else f"these {words.count(number)} movements"
    page_links.link(
        MOVEMENTS,
        label=f"See {those} with their shares" if number else "No movements",
        icon=":material/arrow_forward:",
        icon_position="right",
        disabled=not number,
        query_params=selection.address(),
    )


def _narrow(selection: SalesFilter, drill: Drill, names: Choices) -> SalesFilter:
    if drill.days:
        selection = replace(selection, created=drill.days.span)
    if drill.dimension and drill.member:
        member = next(key for key in names.names[drill.dimension] if str(key) == drill.member)
        chosen: dict[str, Any] = {f"{drill.dimension}_ids": (member,)}
        selection = replace(selection, **chosen)
    return selection


def _name(drill: Drill, names: Choices) -> str:
    parts = []
    if drill.dimension and drill.member:
        parts.append(next(name for key, name in names.names[drill.dimension].items() if str(key) == drill.member))
    if drill.days:
        parts.append(periods.describe_period(drill.days))
    return ", ".join(parts)


def _filter_by(drill: Drill, selection: SalesFilter) -> None:
    parameters: dict[str, list[str]] = {}
    if drill.dimension and drill.member:
        parameters[drill.dimension] = [drill.member]
    if drill.days:
        parameters |= {"period": [], **selection.FIELDS["created"].write(selection.created)}
    url_state.change(parameters)


# The cards.

_YEAR = "year"
_OF_PERIOD = ("period", "from", "to")


Earning = Literal["share"] | Dimension
EARNINGS: dict[Earning, str] = {"share": "Platform and distributors", **LABELS}


@dataclass(frozen=True, slots=True)
class Cut:
    """Breakdown of the charts over time: the time bucket, and what premium and commissions are stacked by."""

    grain: Grain
    split: Dimension
    earned: Earning


def read_cut(window: Window) -> Cut:
    """Return the breakdown given in the URL."""
    split, earned = st.query_params.get("split", "provider"), st.query_params.get("earned", "share")
    return Cut(
        periods.read_grain(window),
        next((known for known in DIMENSIONS if known == split), "provider"),
        next((known for known in EARNINGS if known == earned), "share"),
    )


@dataclass(frozen=True, slots=True)
class Page:
    """Inputs of every card: the filters, the window, the breakdown over time, and the scope of the figures."""

    selection: Selection[SalesFilter]
    window: Window
    cut: Cut
    at: StoreState
    names: Choices


def draw_premium(page: Page) -> None:
    """Draw premium over time, stacked, below the choices of bucket and dimension."""
    cut = page.cut
    chart = over_time(
        breakdowns.list_buckets(page.window, cut.grain),
        _load_lines(page, breakdowns.PREMIUM, cut.split),
        cut.grain,
        what=f"Gross written premium stacked by {LABELS[cut.split].lower()}",
    )

    def choices() -> None:
        _choice("by", "By", GRAINS, cut.grain)
        _choice("split", "Stacked by", LABELS, cut.split)

    with st.container(border=True, gap="xsmall"):
        charts.draw_head(
            "Gross written premium over time",
            chart,
            file_name=_name_file(f"premium by {cut.split}", page.window),
            explanation=f"Click a bar for the sales of one {LABELS[cut.split].lower()}.",
            choices=choices,
        )
        _draw(PREMIUM, chart, page, cut.split)


def draw_commissions(page: Page, summary: Summary) -> None:
    """Draw the commissions over time, stacked by who earns them or by a dimension of their sales."""
    cut = page.cut
    split = None if cut.earned == "share" else cut.earned
    if split:
        lines = _load_lines(page, breakdowns.COMMISSION, split)
    else:
        lines = [
            _bucketed(summary, cut, "Platform", lambda takings: takings.mca_minor),
            _bucketed(summary, cut, "Distributors", lambda takings: takings.distributor_minor),
        ]
    chart = over_time(
        breakdowns.list_buckets(page.window, cut.grain),
        lines,
        cut.grain,
        what=f"Commissions stacked by {EARNINGS[cut.earned].lower()}",
    )

    def choices() -> None:
        _choice("by", "By", GRAINS, cut.grain, key="by_too")
        _choice("earned", "Stacked by", EARNINGS, cut.earned)

    with st.container(border=True, gap="xsmall"):
        charts.draw_head(
            "Commissions over time",
            chart,
            file_name=_name_file(f"commissions by {cut.earned}", page.window),
            explanation="Of the platform and the distributors, less refunds. Click a bar for its movements.",
            choices=choices,
        )
        _draw(COMMISSIONS, chart, page, split)


def _load_lines(page: Page, amount: Amount, split: Dimension) -> list[Series]:
    return figure_cache.over_time(
        page.at, page.window, page.selection.criteria, amount=amount, grain=page.cut.grain, split=split
    )


def draw_new_against_renewal(page: Page, summary: Summary) -> None:
    """Draw premium of new policies and of renewals."""
    lines = [
        _bucketed(summary, page.cut, "New", lambda takings: takings.sold_minor),
        _bucketed(summary, page.cut, "Renewal", lambda takings: takings.renewed_minor),
    ]
    when = breakdowns.list_buckets(summary.window, page.cut.grain)
    chart = over_time(when, lines, page.cut.grain, what="Premium of new policies and renewals", ticks=5)
    with st.container(border=True, height="stretch"):
        _draw_head("New against renewal", "By premium. Click a bar for its sales.", chart, page.window)
        _draw("mix", chart, page, None)


def draw_shares(page: Page, parts: Breakdown) -> None:
    """Draw the shares of insurers and categories, and the top distributors and products."""
    cards: list[tuple[str, str, Dimension, list[Slice]]] = [
        ("Share by insurer", "Of the premium.", "provider", parts.list_shares("provider")),
        ("Share by category", "Of the premium.", "category", parts.list_shares("category")),
        ("Top distributors", "By premium.", "distributor", parts.get_top_members("distributor")),
        ("Top products", "By premium.", "product", parts.get_top_members("product")),
    ]
    with st.grid(2, min_column_width=380, gap="small"):
        for title, about, dimension, slices in cards:
            chart = ranked_bars(slices, whole=parts.premium_minor, what=title)
            with st.container(border=True, height="stretch"):
                _draw_head(title, f"{about} Click a bar for its sales.", chart, page.window)
                _draw(title, chart, page, dimension)


def draw_instalments(page: Page, parts: Breakdown) -> None:
    """Draw the premium by how often the customer pays it."""
    chart = ranked_bars(parts.list_instalments(), whole=parts.premium_minor, what="Instalments")
    with st.container(border=True, height="stretch"):
        _draw_head("Instalments", "Premium by how often the customer pays it.", chart, page.window)
        charts.draw(chart, key=_key_of("instalments", page))


def draw_year_on_year(page: Page) -> None:
    """Draw the premium of the last 12 months beside that of the 12 before, where there is any, whatever the period."""
    if not has_sales(page):
        return
    chart = year_on_year(figure_cache.year_on_year(page.at, page.selection.criteria))
    with st.container(border=True, height="stretch"):
        _draw_head("Year on year", "Premium by month, whatever the period above; the other filters apply.", chart, None)
        _draw(_YEAR, chart, page, None, "month")


def has_sales(page: Page) -> bool:
    """Return True if anything was sold in the last 24 months, with the filters of the page."""
    pairs = figure_cache.year_on_year(page.at, page.selection.criteria)
    return any(pair.now_minor or pair.before_minor for pair in pairs)


def draw_cohorts(page: Page) -> None:
    """Draw the renewal cohorts, where a term has ended: those of each month and how many of them were renewed."""
    cohorts = figure_cache.cohorts(page.at, page.selection.criteria)
    if not any(row.ended for row in cohorts):
        return
    with st.container(border=True, height="stretch"):
        with st.container(gap=None, width="content"):
            st.markdown("**Renewal cohorts**")
            st.caption("Terms that ended in each month, and how many were renewed since.")
        tables.draw_short(COHORTS, cohorts)
        st.caption("A term can be renewed for some weeks after its end, so the latest months still rise.")


COHORTS: tables.Table[Cohort] = tables.Table(
    name="renewal_cohorts",
    noun=("month", "renewal cohorts, one row a month"),
    key=lambda row: str(row.month),
    columns={
        "month": columns.text("Ended in", lambda row: f"{row.month:%B %Y}"),
        "renewed": columns.text("Renewed", lambda row: f"{words.count(row.renewed)} of {words.count(row.ended)}"),
        "rate": columns.text("Rate", lambda row: None if row.rate is None else words.percent(row.rate), right=True),
    },
)


def _bucketed(summary: Summary, cut: Cut, name: str, of: Callable[[Any], int]) -> Series:
    return breakdowns.build_bucket_series(summary.window, summary.days, cut.grain, of, name)


def _draw_head(title: str, about: str, chart: Chart, window: Window | None) -> None:
    charts.draw_head(title, chart, file_name=_name_file(title, window), about=about)


def _name_file(of: str, window: Window | None) -> str:
    """Return the name of a chart's file, with the days of its figures: "premium-by-provider-2026-11-01-2026-11-20"."""
    days = f" {window.start} {window.last}" if window else ""
    return f"{of}{days}".lower().replace(" ", "-")


def _choice(name: str, label: str, options: Mapping[Any, str], value: str, *, key: str | None = None) -> None:
    key = key or name
    st.session_state[key] = value
    st.segmented_control(
        label,
        list(options),
        key=key,
        required=True,
        format_func=lambda option: options[option],
        label_visibility="collapsed",
        on_change=lambda: url_state.change({name: [st.session_state[key]]}),
    )


def _draw(name: str, chart: Chart, page: Page, dimension: Dimension | None, grain: Grain | None = None) -> None:
    """Draw a chart whose bars are clickable, and below it the offer for the clicked one."""

    def on_click(clicked: Clicked | None) -> None:
        remember(name, dimension, clicked, grain or page.cut.grain, page.window)

    charts.draw(chart, key=_key_of(name, page), on_click=on_click)
    offer(name, page.selection, page.at, page.names)


def _key_of(name: str, page: Page) -> str:
    # The key changes with the selection, so that a click is forgotten once the page shows something else; a chart that
    # does not depend on the period keeps its key, and is not drawn anew.
    without = _OF_PERIOD if name == _YEAR else ()
    return f"{name} {sorted(item for item in page.selection.link.items() if item[0] not in without)}"
