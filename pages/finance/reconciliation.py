"""One reconciliation: both sides, what the differences make, and each of them."""

import streamlit as st

from core.services.finance.reconciling import reading as reconciliation_reading
from core.services.finance.reconciling.reading import DifferenceRow, ReconciliationRow
from core.store.access import reading
from core.ui.frame import frame, record_pages
from core.ui.kit import facts, url_state, words
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE

DIFFERENCES: Table[DifferenceRow] = Table(
    name="differences",
    noun=("difference", "differences"),
    opens="finance/difference.py",
    narrow=("number", "result", "difference", "state"),
    columns={
        "number": columns.text("Policy or reference", lambda row: row.policy_number, 200),
        "transaction": columns.text("Transaction", lambda row: row.kind, 100),
        "result": columns.text("Result", lambda row: row.result, 130),
        "ours": columns.naira("Ours", lambda row: row.ours_minor),
        "theirs": columns.naira("Theirs", lambda row: row.theirs_minor),
        "difference": columns.naira("Difference", lambda row: row.difference_minor),
        "state": columns.state("State", lambda row: row.state),
        "owner": columns.text("Owner", lambda row: row.owner, 120),
        "age": columns.number("Days old", lambda row: row.age_days),
    },
)


def sides(row: ReconciliationRow, results: list[tuple[str, int, int]]) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**From their balance to ours**")
        facts.line("Ours", f"{words.naira(row.ours_minor)} in {words.count(row.ours_rows)} rows")
        facts.line("Theirs", f"{words.naira(row.theirs_minor)} in {words.count(row.theirs_rows)} rows")
        for result, number, minor in results:
            facts.line(f"{result.capitalize()}: {number}", words.naira(minor))
        if row.passed_rows:
            facts.line(f"Let pass by the tolerance: {row.passed_rows}", words.naira(row.passed_minor))
        if row.tolerated_minor:
            facts.line("Of it with its signs", words.naira(row.tolerated_minor))
        facts.line("Ours less theirs", words.naira(row.ours_minor - row.theirs_minor))


def basis(row: ReconciliationRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**What was compared**")
        facts.line("File", row.file_name)
        for meaning, name in row.columns.items():
            facts.line(meaning.replace("_", " ").capitalize(), name)
        facts.line("Their rows matched", f"{words.count(row.matched_rows)} of {words.count(row.theirs_rows)}")
        facts.line("Equal within", words.naira(row.tolerance_minor))
        facts.line("Made", f"{row.maker}, {words.moment(row.made_at)}")


def draw() -> None:
    frame.require(ROLE)
    tables.back_link("reconciliations", "finance/reconcile.py", "Back to Reconcile")
    row = record_pages.load("reconciliation", reconciliation_reading.get_reconciliation, is_of_mode=True)
    frame.page_header(
        f"{words.plain(row.party)}, {row.month:%B %Y}",
        f"{row.verdict}. Every number and amount of the month on either side is here.",
        tab=f"{row.party} · Reconciliation",
    )
    with reading(frame.scope()) as session:
        results = reconciliation_reading.sum_results(session, row.id)
    with st.grid(2, min_column_width=320, gap="small"):
        sides(row, results)
        basis(row)
    st.link_button("Differences, CSV", f"/reconciliations/{row.id}.csv", icon=":material/download:")
    st.code(f"SHA-256 of their file {row.sha256}", language=None)
    if not row.differences:
        st.success("Both sides are complete, and every row is matched.", icon=":material/task_alt:")
        return
    names = {result: f"{result.capitalize()}: {number}" for result, number, _ in results}
    chosen = url_state.one_of("result", names)
    st.session_state["result"] = chosen
    st.pills(
        "Result",
        list(names),
        key="result",
        format_func=names.__getitem__,
        label_visibility="collapsed",
        on_change=lambda: url_state.change(
            {"result": [st.session_state["result"]] if st.session_state["result"] else []}
        ),
    )
    total = sum(number for result, number, _ in results if chosen in (None, result))
    with reading(frame.scope()) as session:
        paging = DIFFERENCES.paging(url_state.page())
        rows = reconciliation_reading.list_differences(session, row.id, paging, result=chosen)
    st.markdown(DIFFERENCES.count_text(total))
    number = tables.page_of(DIFFERENCES, total)
    if number is not None:
        tables.draw(DIFFERENCES, rows, number=number, total=total)
