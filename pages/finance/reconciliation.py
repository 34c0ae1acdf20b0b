"""A reconciliation: both sides and its differences; and one difference with what was said of it."""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import InvalidInput
from core.services.finance.reconciling import differences, reconciliations
from core.services.finance.reconciling.reconciliations import DifferenceRow, ReconciliationRow
from core.services.lists.paging import Paging
from core.services.people import staff
from core.services.people.staff import Person
from core.states.finance import ENDED, UNEXPLAINED
from core.store.access import Scope, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Choice, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.finance._shared import AMOUNTS, ROLE, action

TICKED: Final = "differences.ticked"
# What is done with several, with the labels of the buttons and what their dialogs say.
OF_MANY: Final[Mapping[str, str]] = {
    "adjust": "Mark {} as adjusted",
    "ask": "Ask to write off {}",
    "write off": "Write off {}",
}
SAYS_OF_MANY: Final[Mapping[str, str]] = {
    "adjust": "Each is ended by an adjustment of its policy that was confirmed since the file was compared.",
    "ask": "Somebody else of finance decides whether they are written off.",
    "write off": "They are closed, and no money moves.",
}
DONE: Final[Mapping[str, str]] = {
    "adjust": "ended by their adjustments",
    "ask": "somebody else decides on the write-off",
    "write off": "written off",
}

DIFFERENCES: Table[DifferenceRow] = Table(
    name="differences",
    noun=("difference", "differences"),
    opens="finance/reconciliation.py#difference",
    narrow=("number", "result", "difference", "state"),
    columns={
        "number": columns.text("Policy or reference", lambda row: row.policy_number or "Without a number", 200),
        "transaction": columns.text("Transaction", lambda row: row.kind, 100),
        "result": columns.text("Result", lambda row: row.result.capitalize(), 130),
        "ours": columns.naira("Ours", lambda row: row.ours_minor),
        "theirs": columns.naira("Theirs", lambda row: row.theirs_minor),
        "difference": columns.naira("Difference", lambda row: row.difference_minor),
        "state": columns.state("State", lambda row: row.state),
        "owner": columns.text("Owner", lambda row: row.owner, 120),
        "age": columns.number("Days old", lambda row: row.age_days),
    },
)


def sides(row: ReconciliationRow, results: list[tuple[str, int, int]]) -> None:
    with facts.card("**From their balance to ours**"):
        facts.line("Ours", f"{words.naira(row.ours_minor)} in {words.counted(row.ours_rows, 'row', 'rows')}")
        facts.line("Theirs", f"{words.naira(row.theirs_minor)} in {words.counted(row.theirs_rows, 'row', 'rows')}")
        for result, number, minor in results:
            facts.line(f"{result.capitalize()}: {number}", words.naira(minor))
        if row.passed_rows:
            facts.line(f"Within the tolerance: {row.passed_rows}", words.naira(row.passed_minor))
        if row.tolerated_minor:
            facts.line("Net effect of the tolerance", words.naira(row.tolerated_minor))
        facts.line("Ours less theirs", words.naira(row.ours_minor - row.theirs_minor))


def explaining(rows: Sequence[DifferenceRow]) -> Action:
    """Return the dialog that explains several, each by the usual cause of its result or all by one."""
    usual = {differences.PROPOSED[row.result] for row in rows}
    options: dict[str, str] = {cause: cause for cause in differences.CAUSES}
    if is_mixed := len(usual) > 1:
        options = {differences.AS_PROPOSED: "For each the usual cause of its result", **options}
    return action(
        title=f"Explain {count_of(rows)}",
        icon="balance",
        says=f"{by_result(rows)}\n\nThey become yours.",
        fields=[
            Choice("cause", "Cause", options=options, value=differences.AS_PROPOSED if is_mixed else next(iter(usual))),
            Text("note", "What happened", longest=500),
        ],
        confirm="Explain them",
        work=lambda session, typed, by: differences.explain_each(session, [row.id for row in rows], typed, by=by),
        done=lambda number: f"{words.counted(number, 'difference is', 'differences are')} explained.",
        then=lambda _: untick(),
    )


def assigning(rows: Sequence[DifferenceRow]) -> Action:
    """Return the dialog that gives several to a colleague."""
    with reading(Scope.system()) as session:
        colleagues = {str(key): name for key, name in staff.list_active(session, ROLE).items()}
    return action(
        title=f"Assign {count_of(rows)}",
        icon="person_add",
        says=by_result(rows),
        fields=[Choice("owner", "To", options=colleagues)],
        confirm="Assign them",
        work=lambda session, typed, by: differences.assign(
            session, [row.id for row in rows], read_owner(typed["owner"]), by=by
        ),
        done=lambda number: f"{words.counted(number, 'difference is', 'differences are')} assigned.",
        then=lambda _: untick(),
    )


def read_owner(given: str) -> UUID:
    """Return the id that was chosen; InvalidInput for none."""
    if not given:
        raise InvalidInput.for_field("owner", "must be chosen")
    return ids.parse(given)


def moving(rows: Sequence[DifferenceRow], verb: str) -> Action:
    """Return the dialog that adjusts, asks to write off or writes off several; what is refused is named."""
    label, work = LABELS[verb].replace(" it", " them"), WORK[verb]
    return action(
        title=f"{label}: {count_of(rows)}",
        icon="balance",
        says=f"{by_result(rows)}\n\n{SAYS_OF_MANY[verb]}",
        confirm=label,
        items=lambda: ((row.policy_number or row.result, row.id) for row in rows),
        work=lambda session, difference_id, by: work(session, difference_id, by=by),
        done=lambda number: f"{words.counted(number, 'difference', 'differences')}: {DONE[verb]}",
        then=lambda _: untick(),
    )


def count_of(rows: Sequence[DifferenceRow]) -> str:
    return f"{words.count(len(rows))} {DIFFERENCES.noun[len(rows) != 1]}"


def by_result(rows: Sequence[DifferenceRow]) -> str:
    """Return number and sum of each result, and of all of them."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        sums.setdefault(row.result, []).append(row.difference_minor)
    lines = [f"{result.capitalize()}: {len(each)}, {words.naira(sum(each))}" for result, each in sums.items()]
    total = f"Together **{words.naira(sum(row.difference_minor for row in rows))}**"
    return "  \n".join([*lines, *([total] if len(lines) > 1 else [])])


def untick() -> None:
    st.session_state.pop(TICKED, None)
    tables.let_go(DIFFERENCES)


def buttons(rows: Sequence[DifferenceRow], person: Person, *, is_ticked: bool) -> None:
    """Draw what may be done with the ticked rows, or with all of the chosen result where none is ticked."""
    allowed = {
        verb: [row for row in rows if verb in differences.list_allowed(row, person)] for verb in ("explain", *WORK)
    }
    open_rows = allowed["explain"] if is_ticked else [row for row in rows if row.state in UNEXPLAINED]
    with tables.ticked_bar() if is_ticked else st.container(horizontal=True, gap="xsmall"):
        if is_ticked:
            total = words.naira(sum(row.difference_minor for row in rows))
            st.markdown(f"**{words.count(len(rows))}** ticked, {total}", width="content")
        if open_rows:
            explaining(open_rows).button(f"Explain {words.count(len(open_rows))}", key="many.explain", type="primary")
        if not_ended := [row for row in rows if row.state not in ENDED and not row.is_superseded]:
            actions.button(
                f"Assign {words.count(len(not_ended))}",
                lambda: assigning(not_ended),
                key="many.assign",
                icon="person_add",
            )
        for verb, label in OF_MANY.items():
            if found := allowed[verb]:
                moving(found, verb).button(label.format(words.count(len(found))), key=f"many.{verb}")
    large = [row for row in allowed["write off"] if abs(row.difference_minor) > differences.WRITE_OFF_LIMIT]
    if large and not person.has_role("admin"):
        st.caption(f"{count_of(large)} above {words.naira(differences.WRITE_OFF_LIMIT)}: an admin writes them off.")


def list_of(row: ReconciliationRow, results: Sequence[tuple[str, int, int]], person: Person) -> None:
    """Draw the differences of a result, a page with ticks, and above it what may be done with them."""
    names = {result: f"{result.capitalize()}: {number}" for result, number, _ in results}
    chosen = url_state.choose_one("result", "Result", names)
    total = sum(number for result, number, _ in results if chosen in (None, result))
    minor = sum(minor for result, _, minor in results if chosen in (None, result))
    with reading(frame.scope()) as session:
        rows = reconciliations.list_differences(session, row.id, DIFFERENCES.paging(url_state.page()), result=chosen)
        most = Paging(1, differences.MOST_AT_ONCE)
        every = reconciliations.list_differences(session, row.id, most, result=chosen)
    st.markdown(f"{DIFFERENCES.count_text(total)} · {words.naira(minor)}")
    above = st.container()
    number = tables.page_of(DIFFERENCES, total)
    if number is None:
        return
    ticked: set[UUID] = st.session_state.get(TICKED, set())
    picked = tables.draw(DIFFERENCES, rows, number=number, total=total, chosen=ticked)
    ticked = (ticked - {each.id for each in rows}) | {each.id for each in picked}
    st.session_state[TICKED] = ticked
    with above:
        mine = [each for each in every if each.id in ticked]
        buttons(mine or every, person, is_ticked=bool(mine))


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("reconciliations", "finance/reconcile.py", "Back to Reconcile")
    row = page_links.load_record("reconciliation", reconciliations.get_reconciliation, is_of_mode=True)
    frame.page_header(
        f"{words.plain(row.party)}, {row.month:%B %Y}",
        f"{row.verdict}. Both sides of the month, compared number by number.",
        tab=f"{row.party} · Reconciliation",
    )
    actions.run()
    if row.is_superseded:
        st.info(SUPERSEDED, icon=":material/history:")
    with reading(frame.scope()) as session:
        results = reconciliations.sum_results(session, row.id)
    with st.grid(2, min_column_width=320, gap="small"):
        sides(row, results)
        basis = {
            "File": row.file_name,
            **{meaning.replace("_", " ").capitalize(): name for meaning, name in row.columns.items()},
            "The amount is": AMOUNTS[row.amount_is] if row.provider_id else None,
            "Their rows matched": f"{words.count(row.matched_rows)} of {words.count(row.theirs_rows)}",
            "Equal within": words.naira(row.tolerance_minor),
            "Made": f"{row.maker}, {words.moment(row.made_at)}",
        }
        facts.card("**What was compared**", basis)
    st.link_button("Differences, CSV", f"/reconciliations/{row.id}.csv", icon=":material/download:")
    if row.differences:
        list_of(row, results, person)
    else:
        st.success("Both sides are complete, and every row is matched.", icon=":material/task_alt:")
    st.caption(f"SHA-256 of their file {row.sha256}")


SHOWN = 10
SUPERSEDED = "A newer file of this party and month was reconciled: its differences count."
LABELS = {
    "explain": "Explain",
    "adjust": "Mark it as adjusted",
    "ask": "Ask to write it off",
    "write off": "Write it off",
}
WORK = {"adjust": differences.adjust, "ask": differences.ask_write_off, "write off": differences.write_off}
SAYS = {
    "adjust": "An adjustment of its policy that was confirmed since then ends the difference.",
    "ask": "Somebody else decides whether it is written off.",
    "write off": "The difference is closed, and no money moves.",
}


def changing(row: DifferenceRow, verb: str) -> Action:
    """Return the dialog of one step of a difference."""
    if verb == "explain":
        return explaining_one(row)
    work = WORK[verb]
    return action(
        title=LABELS[verb],
        icon="balance",
        says=f"**{words.naira(row.difference_minor)}** of {words.plain(row.policy_number)}. {SAYS[verb]}",
        work=lambda session, _, by: work(session, row.id, by=by),
        done="Done.",
    )


def explaining_one(row: DifferenceRow) -> Action:
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


def describe_age(days: int) -> str:
    return f"{words.counted(days, 'day', 'days')} ago" if days else "today"


def draw_difference() -> None:
    person = frame.require(ROLE)
    tables.back_link("differences", "finance/reconcile.py", "Back to the differences")
    row = page_links.load_record("difference", reconciliations.get_difference, is_of_mode=True)
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
        both = {
            "Ours": words.naira(row.ours_minor),
            "Theirs": words.naira(row.theirs_minor),
            "Difference": words.naira(row.difference_minor),
            "Result": row.result.capitalize(),
            "Detail": row.detail,
            "Rows of their file": ", ".join(map(str, row.rows[:SHOWN])) + (" …" if len(row.rows) > SHOWN else ""),
        }
        facts.card("**Both sides**", both)
        explanation = {
            "Owner": row.owner or "Nobody yet",
            "Cause": row.cause or "–",
            "Note": row.note or "–",
            "Written off by": row.decider or "–",
            "Found": f"{words.moment(row.made_at)}, {describe_age(row.age_days)}",
        }
        facts.card("**Explanation**", explanation)
    subjects = row.subjects[:SHOWN]
    for number, movement in enumerate(subjects, 1):
        page_links.link_to(
            "finance/movements.py#movement",
            f"Open our movement {number} of {len(subjects)}" if len(subjects) > 1 else "Open our movement",
            "swap_vert",
            id=movement,
        )
    st.caption(f"Difference {row.id}")
