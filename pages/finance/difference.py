"""One difference: both sides, what was said of it, and what may be done with it now."""

import streamlit as st

from core.services.finance.reconciling import differences
from core.services.finance.reconciling import reading as reconciliation_reading
from core.services.finance.reconciling.reading import DifferenceRow
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Choice, Text
from core.ui.lists import tables
from pages.finance._shared import ROLE, action

SHOWN = 10
SUPERSEDED = "A newer file of this party and month was reconciled: its differences count."
LABELS = {"explain": "Explain", "adjust": "It was adjusted", "ask": "Ask to write it off", "write off": "Write it off"}
WORK = {"adjust": differences.adjust, "ask": differences.ask_write_off, "write off": differences.write_off}
SAYS = {
    "adjust": "An adjustment of its policy that was confirmed since then ends the difference.",
    "ask": "Somebody else decides whether it is written off.",
    "write off": "The difference is closed, and no money moves.",
}


def changing(row: DifferenceRow, verb: str) -> Action:
    """Return the dialog of one step of a difference."""
    if verb == "explain":
        return explaining(row)
    work = WORK[verb]
    return action(
        title=LABELS[verb],
        icon="balance",
        says=f"**{words.naira(row.difference_minor)}** of {words.plain(row.policy_number)}. {SAYS[verb]}",
        work=lambda session, _, by: work(session, row.id, by=by),
        done="Done.",
    )


def explaining(row: DifferenceRow) -> Action:
    """Return the dialog that explains it, which begins with the usual cause of its result."""
    return action(
        title="Explain the difference",
        icon="balance",
        says=f"**{words.naira(row.difference_minor)}** of {words.plain(row.policy_number)} becomes yours.",
        fields=[
            Choice(
                "cause",
                "Cause",
                options={cause: cause for cause in differences.CAUSES},
                value=row.cause or differences.PROPOSED[row.result],
            ),
            Text("note", "What happened", longest=500, value=row.note or ""),
        ],
        confirm="Explain it",
        work=lambda session, typed, by: differences.explain(session, row.id, typed, by=by),
        done="The difference is explained.",
    )


def sides(row: DifferenceRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Both sides**")
        facts.line("Ours", words.naira(row.ours_minor))
        facts.line("Theirs", words.naira(row.theirs_minor))
        facts.line("Difference", words.naira(row.difference_minor))
        facts.line("Result", row.result)
        if row.detail:
            facts.line("Detail", row.detail)
        if row.rows:
            more = "" if len(row.rows) <= SHOWN else " …"
            facts.line("Rows of their file", ", ".join(map(str, row.rows[:SHOWN])) + more)


def story(row: DifferenceRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Explanation**")
        facts.line("Owner", row.owner or "Nobody yet")
        facts.line("Cause", row.cause or "–")
        facts.line("Note", row.note or "–")
        facts.line("Written off by", row.decider or "–")
        facts.line("Found", f"{words.moment(row.made_at)}, {row.age_days} days ago")


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("differences", "finance/reconcile.py", "Back to the differences")
    row = record_pages.load("difference", reconciliation_reading.get_difference, is_of_mode=True)
    with frame.header_with_buttons(
        f"{words.plain(row.policy_number or 'Without a number')} {words.badge(row.state)}",
        "A difference is explained first, then adjusted by a movement or written off by two people.",
        tab=f"{row.policy_number} · Difference",
    ):
        for verb in differences.list_allowed(row, person):
            changing(row, verb).button(
                LABELS[verb], key=f"difference.{verb}", type="primary" if verb == "write off" else "secondary"
            )
    actions.run()
    if row.is_superseded:
        st.info(SUPERSEDED, icon=":material/history:")
    with st.grid(2, min_column_width=320, gap="small"):
        sides(row)
        story(row)
    subjects = row.subjects[:SHOWN]
    for number, movement in enumerate(subjects, 1):
        page_links.link(
            "finance/movement.py",
            label=f"Open our movement {number} of {len(subjects)}" if len(subjects) > 1 else "Open our movement",
            icon=":material/swap_vert:",
            query_params={"id": movement, **frame.mode_query()},
        )
    st.caption(f"Difference {row.id}")
