"""Taxes of Payments: the schedules of VAT and withholding tax of a month, and their rates, which two people change."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import clock, money
from core.services.finance import tax, tax_rates
from core.services.finance.statements import reading as statement_reading
from core.services.finance.tax import TaxLine
from core.services.finance.tax_rates import DatedRate
from core.services.people.four_eyes import OPEN
from core.services.people.staff import Person
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import proposals, words
from core.ui.kit.actions import Action, Day, Field, Naira, Segments, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.finance._shared import action, choose_month, downloads

TAXES: Table[TaxLine] = Table(
    name="taxes",
    noun=("payee", "payees with base, rate and tax"),
    key=lambda row: f"{row.statement} {row.payee}",
    narrow=("payee", "rate", "tax"),
    columns={
        "payee": columns.text("Payee", lambda row: row.payee, 230),
        "tin": columns.text("Tax number", lambda row: row.tax_number, 150),
        "statement": columns.text("Statement", lambda row: row.statement, 110),
        "base": columns.naira("Base", lambda row: row.base_minor),
        "rate": columns.text("Rate", lambda row: _percent(row.rate_bp), 90, right=True),
        "tax": columns.naira("Tax", lambda row: row.tax_minor),
    },
)
_WORK = {"Confirm": tax_rates.confirm, "Refuse": tax_rates.refuse, "Take back": tax_rates.take_back}
_TWICE = 2
_WITHOUT_TIN = {"1": "The same", "2": "Twice as much"}


def draw(person: Person) -> None:
    """Draw what waits for a second person, both schedules of the chosen month, and below them the rates."""
    with reading(frame.scope()) as session:
        rates, months = tax_rates.list_rates(session), statement_reading.list_months(session)
    for rate in rates:
        if rate.state == OPEN:
            _draw_proposal(rate, _find_before(rates, rate), person)
    month = choose_month(months)
    with reading(frame.scope()) as session:
        found = {kind: tax.list_lines(session, kind, month) for kind in tax.KINDS}
    for kind, lines in found.items():
        _draw_schedule(kind, lines, f"{month:%B %Y}", f"{month:%Y-%m}")
    st.caption(
        "From the statements that are not void. Premium is exempt; a schedule may be filed once all are approved."
    )
    _draw_rates(rates)


def draw_waiting() -> None:
    """Draw a line for each tax of which a rate waits for its second person, with the way there."""
    waiting = read_in(frame.scope(), tax_rates.list_waiting)
    for name in waiting:
        label = f"A new rate of {name} waits for somebody else of finance"
        page_links.link_to("finance/payments.py", label, "how_to_reg", view="taxes")


def _draw_schedule(kind: str, lines: Sequence[TaxLine], month: str, path: str) -> None:
    st.subheader(tax.KINDS[kind], anchor=False)
    if not lines:
        st.caption(f"None on the statements of {month}.")
        return
    total = words.naira(sum(line.tax_minor for line in lines))
    st.markdown(f"**{total}** on {words.counted(len(lines), 'statement', 'statements')} of {month}")
    tables.draw_short(replace(TAXES, name=f"{TAXES.name}_{kind}"), lines)
    st.caption(words.plain(lines[0].source))
    downloads(f"/taxes/{kind}/{path}", "xlsx", "csv", title=tax.KINDS[kind])


def _draw_rates(rates: Sequence[DatedRate]) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader("Rates", anchor=False, width="content")
        with st.container(horizontal=True, gap="xsmall", width="content"):
            for kind in tax.KINDS:
                held = next((rate for rate in rates if rate.kind == kind and rate.is_held), None)
                proposing(kind, held).button(f"New rate of {tax.IN_TEXT[kind]}", icon="percent")
    waiting = {rate.kind for rate in rates if rate.state == OPEN}
    for rate in rates:
        if rate.is_unconfirmed:
            _draw_unconfirmed(rate, can_propose=rate.kind not in waiting)
    st.table([_build_row(rate) for rate in rates if rate.state != OPEN], border="horizontal")


def _draw_unconfirmed(rate: DatedRate, *, can_propose: bool) -> None:
    """Say of a rate that two people did not confirm it, with the button by which the first of them proposes it."""
    named = f"{tax.KINDS[rate.kind]} from {words.day(rate.effective_on)}, {_describe_rate(rate)},"
    st.warning(f"{named} was put into the store past the desk: two of finance adopt it.", icon=":material/gpp_maybe:")
    if can_propose:
        adopting(rate, named).button(key=f"adopt {rate.id}")


def adopting(rate: DatedRate, named: str) -> Action:
    """Return the dialog that proposes a rate as it stands."""
    return action(
        title="Propose it as it stands",
        icon="how_to_reg",
        says=f"**{named.removesuffix(',')}**. {words.plain(rate.source)}. No figure changes, also not of a month that"
        " was stated; somebody else of finance confirms it.",
        confirm="Propose it",
        work=lambda session, _, by: tax_rates.adopt(session, rate.id, by=by),
        done="The rate is proposed: somebody else of finance confirms it.",
    )


def _find_before(rates: Sequence[DatedRate], proposed: DatedRate) -> DatedRate | None:
    """Return the rate of which a proposed one would take the place."""
    of_kind = (rate for rate in rates if (rate.kind, rate.state) == (proposed.kind, "confirmed"))
    return next((rate for rate in of_kind if rate.effective_on <= proposed.effective_on), None)


def _draw_proposal(rate: DatedRate, before: DatedRate | None, person: Person) -> None:
    source, proposer, headline = (words.plain(text) for text in (rate.source, rate.proposer, _describe(rate, before)))
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"{words.badge('Proposed')} **{headline}**")
        st.caption(
            f"{source}. Proposed by {proposer}, {words.moment(rate.proposed_at)}: it holds only once somebody else of"
            " finance has confirmed it."
        )
        says = f"**{headline}**\n\n{source}. Proposed by {proposer}."
        proposals.draw_decisions(rate, person, action=action, noun="rate", icon="percent", says=says, work=_WORK)


def _build_row(rate: DatedRate) -> dict[str, str]:
    return {
        "From": words.day(rate.effective_on),
        "Tax": tax.KINDS[rate.kind],
        "Rate": words.plain(_describe_rate(rate)),
        "State": words.badge(_name_state(rate)),
        "Law": words.plain(rate.source),
        "By": words.plain(f"{rate.proposer}, {rate.decider}" if rate.proposer else "Came with the release"),
    }


def _name_state(rate: DatedRate) -> str:
    if rate.state != "confirmed":
        return {"refused": "Refused", "withdrawn": "Taken back"}[rate.state]
    if rate.is_held:
        return "Active"
    return "Planned" if rate.effective_on > clock.today() else "Past"


def _describe(rate: DatedRate, before: DatedRate | None) -> str:
    instead = f" instead of {_describe_rate(before)}" if before else ""
    return f"{tax.KINDS[rate.kind]} from {words.day(rate.effective_on)}: {_describe_rate(rate)}{instead}"


def _describe_rate(rate: DatedRate) -> str:
    """Return a rate as one reads it: "5.00 %, non-residents 10.00 %, twice without a tax number, ..."."""
    parts = [_percent(rate.resident_bp)]
    if rate.kind == "withholding":
        parts += [f"non-residents {_percent(rate.non_resident_bp)}"]
        times = "twice" if rate.without_tin_factor == _TWICE else f"{rate.without_tin_factor} times"
        parts += [f"{times} that without a tax number"] if rate.without_tin_factor > 1 else []
        limit = rate.small_limit_minor
        parts += [f"a small company free up to {words.naira(limit)} a month"] if limit is not None else []
    return ", ".join(parts)


def _percent(basis_points: int) -> str:
    return f"{money.to_naira(basis_points):.2f} %"


def proposing(kind: str, held: DatedRate | None) -> Action:
    """Return the dialog that proposes a rate; its fields begin with the one that holds today."""
    next_month = clock.add_months(clock.today().replace(day=1), 1)
    resident, elsewhere, limit = _list_figures(held)
    fields: list[Field] = [
        Day("effective_on", "Holds from the first day of a month", value=next_month),
        Text("resident", "Rate in percent of the commission", longest=6, value=resident),
    ]
    if kind == "withholding":
        factor = str(held.without_tin_factor) if held else "1"
        fields += [
            Text("non_resident", "For non-residents, in percent", longest=6, value=elsewhere),
            Segments("without_tin_factor", "Without a tax number", options=_WITHOUT_TIN, value=factor),
            Naira("small_limit", "A small company is free up to, in naira a month (optional)", value=limit),
        ]
    fields += [Text("source", "The law that says so, with its section", longest=300)]
    return action(
        title=f"New rate of {tax.IN_TEXT[kind]}",
        icon="percent",
        says="It holds for the statements of whole months, from one on that nobody has stated yet. Somebody else of"
        " finance confirms it; who proposed it does not approve the statements of the month in which it begins.",
        fields=fields,
        confirm="Propose the rate",
        work=lambda session, typed, by: tax_rates.propose(session, kind, typed, by=by),
        done="The rate is proposed: it holds once somebody else of finance has confirmed it.",
    )


def _list_figures(rate: DatedRate | None) -> list[str]:
    """Return both percentages and the limit of a rate as one types them; empty without."""
    figures = (rate.resident_bp, rate.non_resident_bp, rate.small_limit_minor) if rate else (None, None, None)
    return ["" if figure is None else f"{money.to_naira(figure):.2f}" for figure in figures]
