"""Records of one person on a customer's page: those merged into it, and others that may be the same."""

from uuid import UUID

import streamlit as st

from core.services.customers import merging
from core.services.customers.merging import OtherRecord
from core.services.people.staff import Person
from core.services.views.customer import CustomerDetail
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import words
from core.ui.kit.actions import Action

_FIND, _PAGE = "same_person", "sales/customer.py"


def draw(customer: CustomerDetail, person: Person) -> None:
    """Draw the records that the person has beside this one."""
    may_merge = person.has_role(*merging.ROLES)
    if customer.group.kept_id != customer.id:
        _part_of(customer, may_merge=may_merge)
    else:
        for record in customer.group.merged:
            _merged(record, may_merge=may_merge)


def draw_search(customer: CustomerDetail, person: Person) -> None:
    """Draw the search for another record of the person, for operations."""
    if person.has_role(*merging.ROLES) and customer.group.kept_id == customer.id:
        with st.expander("The same person under another record?", icon=":material/merge:"):
            _search(customer)


def _part_of(customer: CustomerDetail, *, may_merge: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.info("This record is part of another one, which shows everything of this person.", icon=":material/merge:")
        _link(customer.group.kept_id, "Open that one")
        if may_merge:
            _apart_button(customer.id, customer.name)


def _merged(record: OtherRecord, *, may_merge: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key=f"rec {record.id}"):
        st.markdown(f":material/merge: **{words.plain(record.name)}** · {_contact(record)}", width="content")
        by = words.plain(record.merged_by)
        st.caption(f"Merged by {by}, {words.moment(record.merged_at)}", width="content")
        _link(record.id, "Its own page")
        if may_merge:
            _apart_button(record.id, record.name)


def _search(customer: CustomerDetail) -> None:
    st.caption(
        "Merged records are shown together here. Nothing is moved: each keeps its sales and e-mail, the API shows what"
        " it always showed, and they can be taken apart again."
    )
    text = st.text_input("Find a record of the same distributor", key=_FIND, type="search", max_chars=100)
    with reading(frame.scope()) as session:
        found = merging.list_candidates(session, customer.id, text.strip())
    if not found:
        st.caption("No other record has this name or phone." if not text else "No other record matches.")
    elif not text:
        st.caption("The same name or phone:")
    for record in found:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"may {record.id}"):
            st.markdown(f"**{words.plain(record.name)}** · {_contact(record)}", width="content")
            st.caption(f"Customer since {words.day(record.created_at)}", width="content")
            _link(record.id, "Look at it")
            _merging(customer, record).button("Merge", key=f"merge {record.id}")


def _contact(record: OtherRecord) -> str:
    return " · ".join(words.plain(each) for each in (record.email, record.phone) if each)


def _link(customer_id: UUID, label: str) -> None:
    query = {"id": str(customer_id), **frame.mode_query()}
    page_links.link(_PAGE, label=label, icon=":material/person:", query_params=query)


def _merging(customer: CustomerDetail, record: OtherRecord) -> Action:
    return Action(
        title="Merge these records",
        icon="merge",
        says=f"**{words.plain(record.name)}** ({_contact(record)}) becomes part of **{words.plain(customer.name)}**"
        f" ({words.plain(customer.email)}). If one of them wants no reminders, none goes to either.",
        confirm="Merge",
        roles=merging.ROLES,
        work=lambda session, _, by: merging.merge(session, customer.id, record.id, by=by),
        done=f"{record.name} ({record.email}) is shown here from now on.",
    )


def _apart_button(record_id: UUID, name: str) -> None:
    apart = Action(
        title="Take apart",
        icon="call_split",
        says=f"**{words.plain(name)}** is shown as a customer apart again, with what was always its own.",
        roles=merging.ROLES,
        work=lambda session, _, by: merging.undo(session, record_id, by=by),
        done=f"{name} is a customer apart again.",
    )
    apart.button(key=f"apart {record_id}")
