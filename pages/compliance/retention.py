"""Retention: records past their period and on hold; and one erasure with who decided it and its certificate."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from core.errors import StateForbids
from core.services.compliance import erasures, remembering, requests, retention
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.retention import CLASSES, Hold, Preview
from core.services.people.staff import Person
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import ERASURES, ROLE, STATES, action, draw_history, read, record, warn_of_open

PREVIEWS: Table[Preview] = Table(
    name="retention",
    noun=("class", "classes"),
    key=lambda row: row.record_class,
    columns={
        "label": columns.text("Records", lambda row: row.label, 280),
        "trigger": columns.text("Kept from", lambda row: row.trigger, 210),
        "period": columns.text("For", lambda row: row.period, 90),
        "count": columns.number("Due", lambda row: row.count),
        "oldest": columns.day("Oldest", lambda row: row.oldest_at),
    },
)


def preparing(preview: Preview) -> Action:
    """Return the dialog that prepares the erasure of what is due of a class."""
    return action(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"**{words.plain(preview.label)}** that were kept for {preview.period}: {words.count(preview.count)} are"
        f" due (people: {retention.MOST_AT_ONCE} at once, the oldest first). Somebody else carries it out.",
        confirm="Prepare it",
        work=lambda session, _, by: erasures.prepare_due(session, preview.record_class, by=by),
        done="The erasure is prepared: somebody else of compliance carries it out.",
    )


def lifting(hold: Hold) -> Action:
    """Return the dialog that lifts somebody else's hold."""
    return action(
        title="Lift the hold",
        icon="lock_open",
        says=f"Set by **{words.plain(hold.setter)}**: {words.plain(hold.reason)}.",
        confirm="Lift it",
        work=lambda session, _, by: retention.lift_hold(session, hold.id, by=by),
        done="The hold is lifted.",
    )


def draw() -> None:
    person = frame.require(ROLE)
    frame.page_header(
        "Retention", "Records past their retention period are erased by two people; sums stay as they were."
    )
    actions.run()
    with st.skeleton(height=240):
        previews = read(retention.list_previews)
    tables.draw_short(PREVIEWS, previews)
    with st.container(horizontal=True, gap="xsmall"):
        for preview in previews:
            if preview.count:
                preparing(preview).button(
                    f"Prepare: {preview.label.lower()}", icon="auto_delete", key=f"prepare.{preview.record_class}"
                )
    st.subheader("Erasures", anchor=False)
    rows = read(erasures.list_erasures)
    if rows:
        tables.draw_held(ERASURES, rows)
    else:
        st.info("Nothing was erased yet. A class above is prepared when something of it is due.")
    st.subheader("Legal holds", anchor=False)
    holds = read(retention.list_holds)
    if not holds:
        st.caption("No record is on hold. A hold is set on the records of a data request.")
    for hold in holds:
        with st.container(border=True, horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(
                f"**{words.plain(hold.customer)}**: {words.plain(hold.reason)} · {words.plain(hold.setter)},"
                f" {words.moment(hold.set_at)}"
            )
            if hold.set_by == person.id:
                st.caption(":material/lock: You set it: somebody else lifts it.", width="content")
            else:
                lifting(hold).button("Lift", icon="lock_open", key=f"lift.{hold.id}")


def deciding(row: ErasureRow) -> Action:
    """Return the dialog that carries an erasure out; its files go once it is written."""
    return action(
        title="Carry the erasure out",
        icon="delete_forever",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}. **This cannot be undone**, not"
        " even by restoring a backup: it is erased again then.",
        confirm="Erase now",
        work=lambda session, _, by: erasures.carry_out(session, row.id, by=by),
        done=lambda files: _remove_files(row, files),
    )


def _remove_files(row: ErasureRow, files: Sequence[str]) -> str:
    erasures.remove_files(files)
    done = f"{row.number} is carried out, with {len(files)} files. The certificate is on this page."
    try:
        return f"{done} {read(remembering.keep_list)} has it for a backup that is restored."
    except StateForbids as refusal:
        return (
            f"{done} Tell whoever makes the backups: until the next one is made, a backup that is restored brings"
            f" the person back. {refusal}."
        )


def refusing(row: ErasureRow) -> Action:
    """Return the dialog that refuses an erasure."""
    return action(
        title="Refuse the erasure",
        icon="block",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}.",
        confirm="Refuse it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: erasures.refuse(session, row.id, reason=typed["reason"], by=by),
        done=f"{row.number} is refused.",
    )


def taking_back(row: ErasureRow) -> Action:
    """Return the dialog that withdraws one's own preparation."""
    return action(
        title="Take the erasure back",
        icon="undo",
        says="Nobody can carry it out any more.",
        confirm="Take it back",
        work=lambda session, _, by: erasures.take_back(session, row.id, by=by),
        done=f"{row.number} is taken back.",
    )


def buttons(row: ErasureRow, person: Person) -> None:
    if row.prepared_by == person.id:
        taking_back(row).button("Take it back", icon="undo")
    else:
        deciding(row).button("Carry it out", icon="delete_forever", type="primary")
        refusing(row).button("Refuse", icon="block")


def certificate(row: ErasureRow) -> None:
    with st.container(border=True):
        st.markdown("**Certificate of erasure**")
        facts.line("Number", row.number)
        facts.line("Carried out", f"{words.moment(row.decided_at)} (Lagos)")
        facts.line("By", f"{row.preparer or 'another store'}, and {row.decider or 'a restore'}")
        for name, count in row.outcome.items():
            facts.line(f"Changed in {words.title(name).lower()}", words.count(count))
        st.code(f"SHA-256 {row.sha256}", language=None, wrap_lines=True)


def draw_people(row: ErasureRow) -> None:
    """Draw whose records would be erased, and the request that asks for it."""
    with st.container(border=True, gap="xsmall"):
        st.markdown("**Whose records are erased**")
        for each in read(lambda session: requests.list_records(session, [UUID(key) for key in row.customers])):
            mode = "" if each.is_live else f" {words.badge('Test')}"
            where = f"{words.plain(each.email)} at {words.plain(each.distributor)}"
            st.markdown(f"{words.plain(each.name)}{mode} · :small[{where}]")
        if request_id := row.request_id:
            asked = read(lambda session: requests.get_request(session, request_id))
            page_links.link_to(
                "compliance/requests.py#request", f"Asked for by {asked.number}", "contact_mail", id=str(asked.id)
            )


def draw_erasure() -> None:
    person = frame.require(ROLE)
    tables.back_link("erasures", "compliance/retention.py", "Back to retention")
    row = record(erasures.get_erasure, "erasure")
    with frame.header_with_buttons(
        f"{row.number} {words.badge(STATES[row.state])}",
        "An erasure is prepared by one person and carried out by another; it cannot be undone.",
        tab=f"{row.number} · Erasure",
    ):
        if row.state == "open":
            buttons(row, person)
    actions.run()
    if row.state == "open":
        if row.prepared_by == person.id:
            st.caption("You prepared it: somebody else of compliance carries it out.")
        warn_of_open(row.customers, besides=row.request_id)
    with st.container(border=True):
        facts.grid(
            {
                "Of": CLASSES[row.record_class][0],
                "Records of people": words.count(len(row.customers)),
                "Reason": row.reason,
                "Prepared": f"{row.preparer or '–'}, {words.moment(row.prepared_at)}",
                **({"Before the end of its time": "Yes"} if row.is_early else {}),
                **({"Refused": row.refusal} if row.refusal else {}),
            },
            columns=3,
        )
    if row.state == "open" and row.customers:
        draw_people(row)
    if row.state == "erased":
        certificate(row)
    draw_history(f"erasure {row.id}")
