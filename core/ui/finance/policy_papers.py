"""The statements and bordereaux of a policy, on its own screen."""

from uuid import UUID

import streamlit as st

from core.services.finance import papers
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import words


def draw(policy_id: UUID, person: Person) -> None:
    """Name the bordereaux that reported a policy and the statements its money is on; finance can open them."""
    with reading(frame.scope()) as session:
        found = papers.list_of_policy(session, policy_id)
    st.markdown("**Papers of finance**")
    if not frame.mode():
        st.caption("Test records are on no statement and in no bordereau.")
        return
    for report in found.bordereaux:
        label = f"Reported by bordereau {report.number} of {report.month:%B %Y} ({report.state.lower()})"
        _paper(label, "finance/bordereau.py", report.id, person)
    if found.unreported:
        st.caption(f"Movements that no bordereau has reported yet: {found.unreported}")
    for statement_id, number, party, month in found.statements:
        label = f"Statement {number} of {words.plain(party)}, {month:%B %Y}"
        _paper(label, "finance/statement.py", statement_id, person)
    if not found.statements:
        st.caption("On no statement yet: the month is stated when it is over.")


def _paper(label: str, page: str, paper_id: UUID, person: Person) -> None:
    if person.has_role("finance"):
        query = {"id": str(paper_id), **frame.mode_query()}
        page_links.link(page, label=label, icon=":material/request_quote:", query_params=query)
    else:
        st.markdown(f":material/request_quote: {label}")
