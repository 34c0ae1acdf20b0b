"""The cards of a statement: its account, its people, its files and its lines."""

from uuid import UUID

import streamlit as st

from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.files import Paper
from core.services.finance.statements.reading import StatementRow
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import facts, words

_SHOWN = 200


def account(paper: Paper) -> None:
    """Draw the balances and what changed them, each a sum of lines."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Account**")
        for label, minor in paper.trailer:
            facts.line(label, words.naira(minor))
        owed = "It is owed to the platform, and carried." if paper.closing_minor < 0 else "It is owed by the platform."
        st.caption(owed)


def history(row: StatementRow) -> None:
    """Draw each step with its person, time and note, and what the statement rests on."""
    with reading(frame.scope()) as session:
        steps = statement_reading.list_steps(session, row.id)
    with st.container(border=True, height="stretch"):
        st.markdown("**Who and on what terms**")
        for step in steps:
            note = f": {step.note}" if step.note else ""
            facts.line(step.name, f"{step.person}, {words.moment(step.at)}{note}")
        for label, value in row.paper.facts.get("said", {}).items():
            facts.line(label, str(value))


def files(row: StatementRow) -> None:
    """Draw the links to the three files, and the hash of the CSV."""
    with st.container(horizontal=True, gap="xsmall"):
        for format_ in ("pdf", "xlsx", "csv"):
            st.link_button(format_.upper(), f"/statements/{row.id}.{format_}", icon=":material/download:")
    st.code(f"SHA-256 {row.paper.sha256}", language=None)


def lines(statement_id: UUID, paper: Paper) -> None:
    """Draw the first lines; the files have all of them."""
    if not paper.lines:
        return
    with reading(frame.scope()) as session:
        found = next(iter(statement_reading.batches_of(session, statement_id)), ())[:_SHOWN]
    names = paper.names
    st.subheader(f"Lines: {words.count(paper.lines)}", anchor=False)
    st.table(
        [
            {
                "No.": str(line.position),
                "Date": words.day(line.occurred_at),
                "Transaction": line.kind,
                "Policy number": words.plain(line.policy_number or "–"),
                "Customer": words.plain(line.customer),
                "Product": words.plain(names.get(line.product_id, "")),
                "Premium": words.naira(line.premium_minor),
                "Commission": words.naira(line.commission_minor),
                "Net": words.naira(line.net_minor),
            }
            for line in found
        ],
        border="horizontal",
    )
    if paper.lines > len(found):
        st.caption(f"The first {len(found)} lines. The files have all {words.count(paper.lines)}.")
