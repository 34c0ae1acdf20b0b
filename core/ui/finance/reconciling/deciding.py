"""Actions on a difference, each in a dialog."""

import streamlit as st

from core.services.finance.reconciling import differences
from core.services.finance.reconciling.reading import DifferenceRow
from core.ui.finance.finance_writes import made, submitted
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

LABELS = {"explain": "Explain", "adjust": "It was adjusted", "ask": "Ask to write it off", "write off": "Write it off"}


def build_dialog(row: DifferenceRow, verb: str) -> Decision:
    """Return the dialog of one step of a difference."""
    if verb == "explain":
        return _explaining(row)
    work = {"adjust": differences.adjust, "ask": differences.ask_write_off, "write off": differences.write_off}[verb]
    told = {
        "adjust": "An adjustment of this policy that was confirmed since then ends the difference.",
        "ask": "Somebody else decides whether it is written off.",
        "write off": "It is over then, and nothing is moved.",
    }
    return Decision(
        title=LABELS[verb],
        icon="balance",
        says=f"**{words.naira(row.difference_minor)}** of {words.plain(row.policy_number)}. {told[verb]}",
        confirm=LABELS[verb],
        act=lambda: made(lambda session, by: work(session, row.id, by=by), "Done."),
    )


def _explaining(row: DifferenceRow) -> Decision:
    def ask() -> None:
        key = dialogs.FIELD + "cause"
        st.selectbox("Cause", differences.CAUSES, key=key, on_change="ignore")
        dialogs.blame("cause")
        dialogs.field("note", "What happened", longest=500)

    return Decision(
        title="Explain the difference",
        icon="balance",
        says=f"**{words.naira(row.difference_minor)}** of {words.plain(row.policy_number)} becomes yours.",
        asks=ask,
        given={"cause": row.cause or differences.CAUSES[0], "note": row.note or ""},
        confirm="Explain it",
        act=submitted(
            (
                "cause",
                "note",
            ),
            lambda session, typed, by: differences.explain(session, row.id, typed, by=by),
            "The difference is explained.",
        ),
    )
