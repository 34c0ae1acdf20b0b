"""Dashboard: figures of sales beside those of the period before, what moved, what is stuck, charts and targets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Final
from uuid import UUID

import streamlit as st

from core import clock
from core.desk.backlog import Backlog, BacklogItem, Item
from core.errors import InvalidInput
from core.services.lists import windows
from core.services.lists.dimensions import Choices, Dimension
from core.services.lists.windows import Comparison, Window
from core.services.people.staff import Person
from core.services.sales import breakdowns, targets
from core.services.sales.breakdowns import Breakdown, Mover, SilentDistributor
from core.services.sales.figures import METRICS, METRICS_BY_KEY, Summary
from core.services.sales.filter import SalesFilter
from core.services.sales.targets import MEMBERS, Member, Progress
from core.store.access import Scope, ScopedSession
from core.ui.frame import frame, menu, page_links
from core.ui.kit import actions, charts, facts, figure_cache, figure_tiles, url_state, words
from core.ui.kit.actions import Action, Choice, Naira, Values
from core.ui.kit.figure_cache import StoreState
from core.ui.lists import columns, filter_bar, periods, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.periods import LABELS, PLURALS, Selection
from pages.sales import _dashboard_charts
from pages.sales._dashboard_charts import Page

DEFAULT = "30d"
PERIODS = [name for name in periods.NAMES if name != periods.ALL]
AGAINST = "against"
# As high as the charts below take, in pixels.
_BELOW: Final = 2_300


def draw_tiles(summary: Summary, *, is_compared: bool = True) -> None:
    """Draw the tiles, those of the money under More."""
    # A day under way would make every line dive at its end.
    is_under_way = summary.window.last >= clock.today() and len(summary.days) > 1
    compared = periods.describe_comparison(summary.compared) if is_compared else ""
    tiles = [
        figure_tiles.tile(
            metric,
            summary.value(metric),
            summary.previous(metric),
            rests_on=summary.before.totals.written,
            compared=compared,
            trend=summary.trend(metric)[: -1 if is_under_way else None],
        )
        for metric in METRICS_BY_KEY.values()
    ]
    figure_tiles.draw(tiles, first=len(METRICS), alt="Figures of the period", key="figures")


# What is stuck today.


@dataclass(frozen=True, slots=True)
class _StuckKind:
    """Name of one kind of stuck work, and the list behind it; `amount` says what its amount is.

    What `is_late` is red, as it is wherever it is listed.
    """

    label: tuple[str, str]
    icon: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    amount: str = ""
    is_late: bool = False


_AWAITING, _QUEUE, _NEAR = "policies/awaiting.py", "claims/queue.py", {"view": "near"}
_STUCK: Final[Mapping[Item, _StuckKind]] = {
    "set_aside": _StuckKind(
        ("policy set aside", "policies set aside"),
        "error",
        _AWAITING,
        {"state": "dead"},
        amount="premium",
        is_late=True,
    ),
    "awaiting": _StuckKind(
        ("policy awaiting its insurer", "policies awaiting their insurer"), "hourglass_top", _AWAITING, amount="premium"
    ),
    "unplaced": _StuckKind(
        ("other policy unplaced", "other policies unplaced"), "money_off", "finance/movements.py", amount="premium"
    ),
    "due": _StuckKind(
        ("renewal due within 7 days", "renewals due within 7 days"), "event_upcoming", "sales/due.py", amount="at risk"
    ),
    "overdue_claims": _StuckKind(
        ("claim past its 60 days", "claims past their 60 days"), "alarm", _QUEUE, _NEAR, amount="claimed", is_late=True
    ),
    "near_claims": _StuckKind(
        ("claim with 7 days left or less", "claims with 7 days left or less"), "timer", _QUEUE, _NEAR, amount="claimed"
    ),
    "endpoints": _StuckKind(("webhook endpoint fails", "webhook endpoints fail"), "webhook", "admin/webhooks.py"),
}


def draw_stuck(backlog: Backlog, person: Person) -> None:
    """Draw the strip; one line says so when nothing is stuck."""
    with st.container(border=True, gap="xsmall", key="stuck_today"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown("**Stuck today**", width="content")
            if not backlog.items:
                st.caption("Nothing: no policy, renewal or claim waits for somebody here.", width="content")
            for item in backlog.items:
                _draw_stuck(item, person)
        for distributor in backlog.silent:
            _draw_silent(distributor)


def _draw_stuck(item: BacklogItem, person: Person) -> None:
    kind = _STUCK[item.key]
    amount = f", {words.short_naira(item.amount_minor)} {kind.amount}" if item.amount_minor is not None else ""
    label = f"{words.count(item.count)} {kind.label[item.count != 1]}{words.plain(amount)}"
    label = f":red[{label}]" if kind.is_late else label
    screen = menu.screen_of(kind.path)
    if person.has_role(*screen.roles):
        page_links.link_to(kind.path, label, kind.icon, **kind.query)
    else:
        # As small as the links beside it.
        st.markdown(
            f":small[:material/{kind.icon}: {label}]", width="content", help=f"{screen.title}: {menu.open_to(screen)}."
        )


def _draw_silent(distributor: SilentDistributor) -> None:
    usual = distributor.usual_days
    rhythm = "every day" if usual <= 1 else f"every {usual:g} days"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(
            f":orange[:material/notifications_paused:] **{words.plain(distributor.name)}** has sold nothing for"
            f" {words.count(distributor.silent_days)} days; it usually sells {rhythm}.",
            width="content",
        )
        query = {"distributor": str(distributor.id), "period": "all"}
        page_links.link("sales/purchases.py", label="Its purchases", query_params=query)


# What moved.

_MOVING: Final[tuple[Dimension, ...]] = ("provider", "product", "distributor")
_EACH_WAY = 3
# From this share on, percents are told without decimals.
_WHOLE: Final = Decimal("0.1")
_MOST: Final = 10


def draw_movers(now: Breakdown, before: Breakdown, compared: Comparison) -> None:
    """Draw the greatest rises and falls of each dimension; a row filters the page."""
    with st.container(border=True):
        with st.container(gap=None):
            st.markdown("**What moved**")
            st.caption(
                f"Premium against {periods.describe_comparison(compared)}, the greatest changes up and down."
                " A row narrows the page."
            )
        with st.grid(3, min_column_width=260, gap="small"):
            for dimension in _MOVING:
                _draw_moved(dimension, breakdowns.list_movers(now, before, dimension))


def _draw_moved(dimension: Dimension, movers: list[Mover]) -> None:
    risen = [mover for mover in movers if mover.change_minor > 0][:_EACH_WAY]
    fallen = [mover for mover in movers if mover.change_minor < 0][-_EACH_WAY:]
    with st.container(gap="xxsmall"):
        st.caption(PLURALS[dimension].capitalize())
        if risen or fallen:
            tables.draw_short(_moved_table(dimension), [*risen, *fallen])
        else:
            st.caption(f"No change among {PLURALS[dimension]}.")


def _moved_table(dimension: Dimension) -> tables.Table[Mover]:
    kept = {name: given for name, given in url_state.all_parameters().items() if name not in (dimension, "mode")}
    return tables.Table(
        name=f"moved_{dimension}",
        noun=(LABELS[dimension], f"{PLURALS[dimension]} by change in premium"),
        columns={
            "name": columns.text(LABELS[dimension], lambda mover: mover.name, 130),
            "change": TableColumn(
                "Change",
                _describe_change,
                is_right=True,
                colour=lambda mover: "green" if mover.change_minor > 0 else "red",
            ),
        },
        opens=tables.HOME,
        query=lambda key: {**kept, dimension: str(key)},
    )


def _describe_change(mover: Mover) -> str:
    """Return the change as value and percent: "▲ ₦5.6m · 45 %"; "new" for what had no premium before."""
    sign = "▲ " if mover.change_minor > 0 else "▼ "
    value = sign + words.short_naira(abs(mover.change_minor))
    share = Decimal(abs(mover.change_minor)) / mover.before_minor if mover.before_minor else None
    if share is None:
        return f"{value} · new"
    # Beyond that the share says nothing but that there was hardly any premium before.
    part = words.percent(min(share, Decimal(_MOST)), 0 if share >= _WHOLE else 1)
    return f"{value} · {'over ' if share > _MOST else ''}{part}"


# The monthly targets.

_TARGET_ROLES = ("operations",)
_MEMBER_NOUNS: dict[Member, str] = {"distributor": "Distributor", "provider": "Insurer"}


def draw_targets(at: StoreState, names: Choices, person: Person) -> None:
    """Draw the targets of this month; operations set them."""
    month = at.today.replace(day=1)
    found = figure_cache.progress(at, month)
    may_change = person.has_role(*_TARGET_ROLES)
    with st.container(border=True, height="stretch", key="targets"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            with st.container(gap=None, width="content"):
                st.markdown(f"**Targets of {month:%B %Y}**")
                st.caption(f"Premium written so far; {_share_of_month(at.today)} of the month has passed.")
            if may_change:
                actions.button("Set a target", lambda: setting(names, month), icon="flag")
        if not found:
            ask = "Set one to see how far it is." if may_change else "Operations set them."
            st.caption(f"No distributor and no insurer has a target for this month. {ask}")
        for progress in found:
            _draw_progress(progress, month, may_change=may_change)


def _share_of_month(today: date) -> str:
    length = (clock.add_months(today.replace(day=1), 1) - today.replace(day=1)).days
    return words.percent((today.day - 1) / length, 0)


def _draw_progress(progress: Progress, month: date, *, may_change: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        written, target = words.short_naira(progress.written_minor), words.short_naira(progress.target_minor)
        st.progress(
            min(1.0, float(progress.reached)),
            text=f"{words.plain(progress.name)}: {words.percent(progress.reached, 0)}, "
            f"{words.plain(written)} of {words.plain(target)}",
        )
        if may_change:
            removing(progress, month).button(
                "Remove", key=f"remove target {progress.id}", type="tertiary", icon="close"
            )


def setting(names: Choices, month: date) -> Action:
    """Return the dialog that sets or changes a target of this month."""
    options = {
        f"{member} {key}": f"{name} ({_MEMBER_NOUNS[member].lower()})"
        for member in MEMBERS
        for key, name in names.names[member].items()
    }

    def set_target(session: ScopedSession, typed: Values, by: Person) -> str:
        if not typed["member"]:
            raise InvalidInput.for_field("member", "Choose a distributor or an insurer")
        member, member_id = _member(typed["member"])
        targets.set_target(session, member, member_id, month, {"amount": typed["amount"]}, by=by)
        return names.names[member][member_id]

    return Action(
        title=f"Set a target for {month:%B %Y}",
        icon="flag",
        says="Gross written premium: purchases and renewals of live records, before commission and refunds.",
        fields=[
            Choice("member", "Distributor or insurer", options=options),
            Naira("amount", "Premium to write this month (₦)"),
        ],
        confirm="Save the target",
        roles=_TARGET_ROLES,
        scope=Scope.system,
        work=set_target,
        done=lambda name: f"The target of {name} for {month:%B %Y} is saved.",
    )


def removing(progress: Progress, month: date) -> Action:
    """Return the dialog that removes a target of this month."""
    return Action(
        title="Remove the target",
        icon="flag",
        says=f"**{words.plain(progress.name)}** has no target for {month:%B %Y} then. The audit log keeps what it was.",
        roles=_TARGET_ROLES,
        scope=Scope.system,
        work=lambda session, _, by: targets.remove_target(session, progress.member, progress.id, month, by=by),
        done=f"The target of {progress.name} is removed.",
    )


def _member(option: str) -> tuple[Member, UUID]:
    member, _, key = option.partition(" ")
    return next(each for each in MEMBERS if each == member), UUID(key)


# The screen.


def header(window: Window, compared: Comparison, at: StoreState, against: str) -> None:
    as_of = f" Figures as of **{clock.format_lagos(at.as_of, '%H:%M:%S')}**, later sales follow." if at.as_of else ""
    before = "" if against == periods.NOTHING else f", compared with {periods.describe_comparison(compared)}"
    st.caption(
        f":material/calendar_month: **{periods.describe_period(window)}**{before}. Days are those of Lagos.{as_of}",
        width="content",
    )


def filters(selection: Selection[SalesFilter], against: str, about: Callable[[], None], names: Choices) -> None:
    """Draw the filters, and `about` the period in the same row: the figures begin higher."""

    def beside() -> None:
        comparison(against)
        about()

    periods.draw_period(selection, offer=PERIODS, also_changed=against != periods.PREVIOUS)
    filter_bar.draw_chips(selection.criteria, names.names, reset=lambda: None, beside=beside)


def comparison(against: str) -> None:
    """Draw the choice of what the figures are compared with."""
    st.session_state[AGAINST] = against
    st.selectbox(
        "Compared with",
        list(periods.AGAINST),
        key=AGAINST,
        label_visibility="collapsed",
        width=270,
        format_func=lambda name: f"Compared with: {periods.AGAINST[name].lower()}",
        on_change=_against_changed,
    )


def _against_changed() -> None:
    chosen = st.session_state[AGAINST]
    url_state.change({AGAINST: [] if chosen == periods.PREVIOUS else [chosen]})


def sum_of_parts(selection: Selection[SalesFilter], summary: Summary) -> None:
    """Draw the premium as the sum of its parts, the refunds, and the links to the purchases and renewals."""
    taken = summary.current.totals
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f"Gross written premium **{words.naira(taken.premium_minor)}** = purchases"
            f" **{words.naira(taken.sold_minor)}** ({words.count(taken.sold)}) + renewals"
            f" **{words.naira(taken.renewed_minor)}** ({words.count(taken.renewed)})"
        )
        facts.draw_amounts(
            {
                "Purchases": taken.purchases,
                "Renewals": taken.renewals,
                **facts.list_balance(taken.gross, taken.refunds_split, taken.adjusted),
            }
        )
        with st.container(horizontal=True, gap="small"):
            _dashboard_charts.link_to_sales(selection.criteria, taken.sold, taken.renewed)
            page_links.link(
                "finance/movements.py",
                label="Show these movements",
                icon=":material/swap_vert:",
                help="Purchases, renewals, refunds and adjustments, with every filter kept.",
                query_params=selection.link,
            )


def nothing_sold(page: Page, person: Person) -> None:
    """Say that there are no sales to show, and what to do next."""
    selection = page.selection
    if selection.is_filtered:
        st.info("Nothing was sold in this selection.", icon=":material/filter_alt_off:")
        st.button("Start again without filters", on_click=url_state.reset, type="primary")
    elif not _dashboard_charts.has_sales(page):
        first = "Record a first sale under Buy, let" if person.has_role("operations") else "Let"
        st.info(
            f"There is no sale in this mode yet. {first} a distributor sell through the API, or look at the other mode"
            " with the switch in the menu.",
            icon=":material/rocket_launch:",
        )
    else:
        first = ", or record a sale under Buy" if person.has_role("operations") else ""
        st.info(
            "Nothing was sold in this period. Choose a longer one above, look at the other mode with the switch"
            f" in the menu{first}.",
            icon=":material/rocket_launch:",
        )
        if selection.period != "1y":
            st.button("Show the last year", on_click=url_state.change, args=({"period": ["1y"]},), type="primary")


def draw_money(page: Page, summary: Summary) -> None:
    """Draw whose the premium of the selection is, and what it is made of."""
    parts = figure_cache.breakdown(page.at, page.window, page.selection.criteria)
    _dashboard_charts.draw_commissions(page, summary)
    with st.grid(2, min_column_width=380, gap="small"):
        _dashboard_charts.draw_new_against_renewal(page, summary)
        _dashboard_charts.draw_instalments(page, parts)
    _dashboard_charts.draw_shares(page, parts)


def draw_below(page: Page, summary: Summary, has_offer_above: bool) -> None:  # noqa: FBT001 of the run of the page
    """Draw what nobody sees before scrolling."""
    if has_offer_above and not _dashboard_charts.has_open_premium():
        # The click was on a chart here: the page is drawn without the offer of the one before.
        st.rerun()
    if summary.current.totals.written:
        draw_money(page, summary)
    # A list in less room would be one of a telephone, without the headings of its figures.
    with st.grid(2, min_column_width=530, gap="small"):
        _dashboard_charts.draw_year_on_year(page)
        _dashboard_charts.draw_cohorts(page)


def draw() -> None:
    person = frame.require("operations", "finance")
    frame.page_header(
        "Dashboard", "How sales go, against the period before, and which insurer, product or distributor moved."
    )
    actions.run()
    at = figure_cache.standing()
    names = figure_cache.names(at)
    selection = periods.read(SalesFilter, names, usual=DEFAULT, offer=PERIODS)
    against = url_state.one_of(AGAINST, periods.AGAINST) or periods.PREVIOUS
    window = selection.window or windows.named_window(DEFAULT, clock.today())
    compared = periods.comparison_of(selection.period, window, against)
    filters(selection, against, lambda: header(window, compared, at, against), names)
    cut = _dashboard_charts.read_cut(window)
    wanted = selection.criteria
    with st.skeleton(height=240):
        summary = figure_cache.summary(at, window, compared, wanted)
    draw_tiles(summary, is_compared=against != periods.NOTHING)
    page = Page(selection, window, cut, at, names)
    if summary.current.totals.written:
        # Computed where its place is held; the cards below find it in the cache.
        with st.skeleton(height=400):
            figure_cache.breakdown(at, window, wanted)
        _dashboard_charts.draw_premium(page)
    else:
        nothing_sold(page, person)
    draw_stuck(figure_cache.stuck(at, int(clock.now().timestamp()) // 60), person)
    if against != periods.NOTHING and (summary.current.totals.written or summary.before.totals.written):
        draw_movers(
            figure_cache.breakdown(at, window, wanted), figure_cache.get_comparison(at, compared, wanted), compared
        )
    if summary.current.totals.written:
        sum_of_parts(selection, summary)
    charts.draw_below(partial(draw_below, page, summary, _dashboard_charts.has_open_premium()), height=_BELOW)
    if at.is_live:
        draw_targets(at, names, person)
