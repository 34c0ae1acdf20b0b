"""Display of a record: facts, amounts by their shares, steps, submitted values, history, and papers embedded."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import clock, money
from core.desk.sale import Papers, PremiumShare, SaleDetail
from core.money import Split
from core.services.audit.log import AuditEvent
from core.services.people import approvals
from core.services.people.staff import Person
from core.states.policies import PolicyStage
from core.ui.frame import frame, page_links
from core.ui.kit import words

# An instant as the log stores it. Terms start and end at midnight UTC, so such an instant is shown as a date.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3,6})?(Z|\+00:00)")
_MIDNIGHT = "T00:00:00.000Z"
_DAY, _MONTH = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d{4}-\d\d")
_SHOWN_DAY = re.compile(r"\b\d{1,2} [A-Z][a-z]{2} \d{4}\b")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AMOUNT, _EXACT = re.compile(r"-?\d{1,14}(\.\d\d)?"), re.compile(r"-?\d{1,14}\.\d\d")
_NUMBER = re.compile(r"\d{1,3}(\.\d+)?")
# The last word of names that hold naira, of those that hold it where it is written with kobo, and of those that hold
# percent; the structures that hold the one or the other under names of their own; and the names whose values are
# options rather than user input.
_MONEY: Final = frozenset({"amount", "cost", "value", "total", "refund", "premium", "limit"})
_EXACT_MONEY: Final = frozenset({"paid", "reversed", "pay", "alone", "reserve", "estimate", "repair", "ceiling"}) | {
    *("difference", "balance", "step")
}
_HOLDS_MONEY: Final = frozenset({"plan_prices", "category_prices", "benefits", "rates"})
_PERCENT: Final = frozenset({"commission", "percentage"})
_HOLDS_PERCENT: Final = frozenset({"shares"})
# A price in percent of what is insured is at most this.
_MOST_PERCENT: Final = 100
_TITLES: Final = {
    "by_insurer": "Ended by the insurer",
    "insurer_accepted": "Accepted by the insurer",
    "submitted_to_provider": "Reported to the insurer",
}
_OPTIONS: Final = frozenset(
    {"premium_frequency", "stock_taking_interval", "benefit_coverage", "nature_of_stock"}
    | {"method", "state", "answer", "field", "fields", "roles", "kind", "category", "record_class"}
)


# Beyond that an eye loses the line between a label and its value.
_LINE_WIDTH: Final = 520
# As many letters of a label and its value have room side by side in a card of half the page at 1280 pixels.
_ONE_LINE: Final = 56


def card(heading: str, values: Mapping[str, str | None] | None = None, **look: Any) -> DeltaGenerator:
    """Draw a part of a record, as high as those beside it, and return its container; `look` is that of Streamlit's.

    Its facts are drawn line by line, without those that have no value.
    """
    place = st.container(border=True, height="stretch", **look)
    place.markdown(heading)
    with place:
        for label, value in (values or {}).items():
            if value:
                line(label, value)
    return place


def line(label: str, value: str) -> None:
    """Show one fact: the label on the left, the value on the right, near it also where there is more room.

    A sentence stands below its label, and begins where that does.
    """
    if len(label) + len(value) > _ONE_LINE:
        grid({label: value}, columns=1)
        return
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="small", width=_LINE_WIDTH):
        st.caption(words.plain(label), width="content")
        st.text(value, width="content", text_alignment="right")


def grid(values: Mapping[str, str], *, columns: int = 2) -> DeltaGenerator:
    """Show facts as label over value, side by side as the width allows; return the grid, for more of them."""
    place = st.grid(columns, min_column_width=150, gap="xsmall")
    for label, value in values.items():
        with place.container(gap=None):
            st.caption(words.plain(label))
            st.text(value)
    return place


def policy_title(sale: SaleDetail) -> str:
    """Return the policy number of a sale, or why it has none, with its state."""
    unnumbered = "Policy awaiting its number" if sale.ended_at is None else "Policy without a number"
    return f"{words.plain(sale.policy_number or unnumbered)} {words.badge(sale.stage)}"


def list_days_of_cover(sale: SaleDetail) -> dict[str, str]:
    """Return the days of cover of a policy by what they are; of a cancelled or declined one, when that happened too."""
    starts = {"Starts": words.day(sale.start_at)}
    if sale.ended_at is None:
        return {**starts, _name_end(sale.expiration_at): words.day(sale.expiration_at)}
    ended = {**starts, str(sale.stage): words.day(sale.ended_at)}
    return {**ended, "Term would have ended": words.day(sale.expiration_at)} if sale.expiration_at else ended


def _name_end(expiration_at: datetime | None) -> str:
    """Return what the day is on which cover ends or ended; today is worded as in the list of due renewals."""
    is_over = expiration_at is not None and expiration_at <= clock.now()
    today = expiration_at is not None and clock.to_lagos_day(expiration_at) == clock.today()
    return words.until(0, is_over=is_over) if today else "Ended" if is_over else "Ends"


def draw_steps(steps: Sequence[Mapping[str, str]]) -> None:
    """Show the steps of the price calculation."""
    if steps:
        with st.expander("How the price was calculated", icon=":material/calculate:"):
            table_of(steps)


def own_interest(names: Sequence[str]) -> None:
    """Draw in red the staff whose own a sum of money is, if there are any."""
    if names:
        st.error(
            f"It has the e-mail, phone or account of {words.plain(', '.join(names))}: somebody else works on it.",
            icon=":material/person_alert:",
        )


def lapsed_approval(fault: str | None) -> None:
    """Draw that an approval does not stand any more, with why and what to do; nothing where it stands."""
    if fault:
        st.warning(words.plain(approvals.describe_lapsed(fault)), icon=":material/history_toggle_off:")


def table_of(steps: Sequence[Mapping[str, str]]) -> None:
    """Show the stored steps of a calculation as a table; say so where none were kept."""
    rows = [
        {
            "Step": words.plain(step["step"]),
            "Working": words.plain(money.sign_amounts(step["working"])),
            "Amount": words.naira_of(step["amount"]),
        }
        for step in steps
    ]
    if rows:
        ledger(rows, right={"Amount"})
    else:
        st.caption("The steps were not kept.")


def ledger(
    rows: Sequence[Mapping[str, str]], *, right: Collection[str], total: Mapping[str, str] | None = None
) -> None:
    """Show rows of Markdown with the columns in `right` aligned there, and their total as the last row in bold."""
    names = list(rows[0])
    last = [{name: f"**{total[name]}**" if total.get(name) else "" for name in names}] if total else []
    lines = [
        f"| {' | '.join(names)} |",
        f"| {' | '.join('---:' if name in right else ':---' for name in names)} |",
        *(f"| {' | '.join(row[name].replace('|', '/') for name in names)} |" for row in [*rows, *last]),
    ]
    # A day in a narrow column would take two lines, and each row with it.
    st.markdown(_SHOWN_DAY.sub(lambda day: day.group().replace(" ", "\N{NO-BREAK SPACE}"), "\n".join(lines)))


def draw_submitted(values: Mapping[str, Any]) -> None:
    """Show the submitted values; personal numbers masked to the last four digits, documents and images left out."""
    with st.expander("What was submitted", icon=":material/description:"):
        draw_masked(values)


def draw_masked(values: Mapping[str, Any], *, named: Callable[[str], str] | None = None) -> None:
    """Show values that contain personal data, masked.

    `named` returns the label of a name that is not one of ours (an insurer's payload); its values are then shown
    unchanged.
    """
    st.caption("Personal numbers show their last four; pictures and papers are kept and not shown here.")
    rows = {
        words.plain((named or words.title)(name)): words.plain(_text(value) if named else format_value(name, value))
        for name, value in values.items()
    }
    st.table(rows, border="horizontal", width="content") if rows else st.caption("Nothing was kept.")


def history(events: Sequence[AuditEvent]) -> None:
    """Show the log entries of the record, oldest first."""
    with st.expander("History", icon=":material/history:", expanded=True):
        log(events)


def log(events: Sequence[AuditEvent]) -> None:
    """Show log entries: action, time and actor, with the changed facts below."""
    if not events:
        st.caption("The audit log has no entry about this.")
    for event in events:
        who = event.actor_name or event.actor.removeprefix("staff ")
        st.markdown(f"**{words.title(event.action)}** · {words.moment(event.at)} · {words.plain(who)}")
        known = {name: value for name, value in event.facts.items() if value not in (None, "")}
        ids = {name: value for name, value in known.items() if isinstance(value, str) and _UUID.fullmatch(value)}
        sentence = _listed({name: value for name, value in known.items() if name not in ids})
        if sentence or ids:
            st.caption(
                words.plain(sentence or _listed(ids)), help=words.plain(_listed(ids)) if sentence and ids else None
            )


def _listed(known: Mapping[str, Any]) -> str:
    return " · ".join(f"{name_fact(name)}: {format_value(name, value)}" for name, value in known.items())


def name_fact(name: str) -> str:
    """Return what one of our own values is called: "book_premium_minor" -> "Book premium"."""
    return _TITLES.get(name) or words.title(name.removesuffix("_minor"))


def format_value(name: str, value: object, *, within: Collection[str] = ()) -> str:
    """Format one of our own values for display: naira, percent, dates, options; it stands `within` these structures."""
    if isinstance(value, Mapping):
        # `before` and `after` have the type of the fact itself; all other nested values have names of their own.
        is_change = value.keys() <= {"before", "after"}
        held_in = within if is_change else (*within, name)
        parts = (
            (part, format_value(name if is_change else part, held, within=held_in)) for part, held in value.items()
        )
        return ", ".join(f"{words.title(part).lower()} {sentence}" for part, sentence in parts)
    if isinstance(value, list | tuple):
        return "; ".join(format_value(name, part, within=within) for part in value)
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("_minor"):
        return words.naira(value)
    if not isinstance(value, str):
        return _text(value)
    return _format_number(name, value, within) or _format_day(name, value) or _format_text(name, value)


def _format_number(name: str, text: str, within: Collection[str]) -> str | None:
    """Return an amount in naira or a percentage; None for what is neither."""
    last = name.removesuffix("_before").rpartition("_")[2]
    is_exact = _EXACT.fullmatch(text) is not None
    if last in _MONEY and _AMOUNT.fullmatch(text):
        return words.naira_of(text)
    if is_exact and (last in _EXACT_MONEY or not _HOLDS_MONEY.isdisjoint(within)):
        return words.naira_of(text)
    if is_exact and name == "price" and Decimal(text) > _MOST_PERCENT:
        return words.naira_of(text)
    is_share = last in _PERCENT or not _HOLDS_PERCENT.isdisjoint(within)
    return f"{text} %" if is_share and _NUMBER.fullmatch(text) else None


def _format_day(name: str, text: str) -> str | None:
    if ("date" in name or name == "dob" or name.endswith("_on")) and _DAY.fullmatch(text):
        return words.day(text)
    return f"{date.fromisoformat(f'{text}-01'):%B %Y}" if name == "month" and _MONTH.fullmatch(text) else None


def _format_text(name: str, text: str) -> str:
    return words.title(text) if name in _OPTIONS else _text(text)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, Mapping):
        return ", ".join(f"{words.title(name).lower()} {_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(_text, value))
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return words.day(value) if value.endswith(_MIDNIGHT) else words.moment(value)
    return "–" if value in (None, "") else str(value)


_HEIGHT = "640px"
# In a block: the page may be redrawn, and scripts share one global scope.
_FRAME = """<div id="{name}"></div>
<script>
{{
  const frame = document.createElement("iframe");
  frame.src = "{address}#navpanes=0&view=FitH"; frame.title = "{title}";
  frame.style.cssText = "width: 100%; height: {height}; border: 0; border-radius: 0.4rem";
  document.getElementById("{name}").replaceChildren(frame);
}}
</script>"""
_PICTURE = """<img src="{address}" alt="{title}"
  style="display: block; max-width: 100%; max-height: {height}; margin: 0 auto; border-radius: 0.4rem">"""


def embed_pdf(address: str, *, title: str, name: str, height: str = _HEIGHT) -> None:
    """Embed a PDF in the browser's own viewer, which does not work in a sandboxed frame like Streamlit's.

    All arguments must be the application's own text, never user input; `name` identifies the place on the page.
    """
    st.html(_FRAME.format(address=address, title=title, name=name, height=height), unsafe_allow_javascript=True)


def show_picture(address: str, *, title: str, height: str = _HEIGHT) -> None:
    """Show a picture; the browser fetches it with the session of the signed-in person."""
    st.html(_PICTURE.format(address=address, title=title, height=height))


def show_resting(person: Person) -> None:
    """Say why somebody cannot approve or confirm anything now."""
    if not person.may_approve:
        until = words.moment(person.approves_from)
        st.caption(
            f":material/lock: Somebody else gave you your password, or the link to it, less than 24 hours"
            f" ago: you can approve from {until} on."
        )


def name_shares(parts: Any) -> dict[str, str]:  # noqa: ANN401 whatever has these amounts
    """Return the three shares of an amount, a Split or a row with its fields, each by what it is called."""
    return {
        "Insurer's share": words.naira(parts.provider_share_minor),
        "Platform commission": words.naira(parts.mca_profit_minor),
        "Distributor commission": words.naira(parts.distributor_profit_minor),
    }


def draw_split(sale: SaleDetail) -> None:
    """Draw the shares as lines; after a refund, a table of written, refunded and kept with sums in both directions."""
    if not sale.refunded_minor:
        for part in sale.premium_shares:
            line(_share_label(part), words.naira(part.amount_minor))
        return
    whole = PremiumShare(name="Premium", amount_minor=sale.total_minor, refunded_minor=sale.refunded_minor)
    rows = "\n".join(map(_split_row, (*sale.premium_shares, whole)))
    st.markdown(f"| | Written | Given back | Kept |\n|:---|---:|---:|---:|\n{rows}")
    if sale.stage == PolicyStage.DECLINED:
        st.caption(
            f"The insurer declined this sale on {words.day(sale.ended_at)}: cover never began, the whole premium"
            " went back, and nobody keeps a commission."
        )
    elif whole.net_minor:
        st.caption("Insurer, platform and distributor each gave back their share.")
    else:
        st.caption("The whole premium went back, and nobody keeps a commission.")


def _split_row(part: PremiumShare) -> str:
    amounts = (part.amount_minor, part.refunded_minor, part.net_minor)
    return f"| {words.plain(_share_label(part))} | {' | '.join(map(words.naira, amounts))} |"


def _share_label(part: PremiumShare) -> str:
    rate = f" · {words.percent(part.basis_points / 10_000, 2)}" if part.basis_points is not None else ""
    return f"{part.name}{rate}"


_NONE = Split(0, 0, 0)
_AMOUNTS_HEAD = (
    "| | Premium | Insurers' share | Platform commission | Distributor commission |\n|:---|---:|---:|---:|---:|"
)


def draw_amounts(rows: Mapping[str, Split]) -> None:
    """Draw one row per amount: its total, and the three shares that add up to it."""
    lines = [
        (label, parts.total_minor, parts.provider_share_minor, parts.mca_profit_minor, parts.distributor_profit_minor)
        for label, parts in rows.items()
    ]
    shown = (f"| {label} | {' | '.join(map(words.naira, amounts))} |" for label, *amounts in lines)
    with st.container(key="amounts"):
        st.markdown("\n".join((_AMOUNTS_HEAD, *shown)))


def list_balance(gross: Split, given_back: Split, adjusted: Split = _NONE) -> dict[str, Split]:
    """Return the amounts written, refunded, adjusted (if any) and remaining."""
    corrected = {"Adjusted": adjusted} if adjusted != _NONE else {}
    return {"Written": gross, "Given back": given_back, **corrected, "Net": gross - given_back + adjusted}


def papers(found: Papers, person: Person) -> None:
    """Name the bordereaux and statements that hold some movements; finance can open them."""
    st.markdown("**Papers of finance**")
    if not frame.mode():
        st.caption("Test records are on no statement and in no bordereau.")
        return
    for report in found.bordereaux:
        label = f"Reported by bordereau {report.number} of {report.month:%B %Y} ({report.state.lower()})"
        _paper(label, "finance/bordereaux.py#bordereau", report.id, person)
    if not found.bordereaux:
        st.caption("In no bordereau yet: the month is reported when it is over.")
    elif found.unreported:
        st.caption(f"Movements that no bordereau has reported yet: {found.unreported}")
    for statement_id, number, party, month in found.statements:
        label = f"Statement {number} of {words.plain(party)}, {month:%B %Y}"
        _paper(label, "finance/statements.py#statement", statement_id, person)
    if not found.statements:
        st.caption("On no statement yet: the month is stated when it is over.")


def _paper(label: str, page: str, paper_id: UUID, person: Person) -> None:
    if person.has_role("finance"):
        page_links.link_to(page, label, "request_quote", id=str(paper_id))
    else:
        st.markdown(f":material/request_quote: {label}")
