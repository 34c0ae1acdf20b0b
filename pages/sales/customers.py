"""Customers with the total bought by each; and one customer: contact, data, merged records, notes and purchases."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final
from uuid import UUID

import streamlit as st

from core.desk import customer as customer_view
from core.desk.customer import ClaimLine, CustomerDetail
from core.errors import InvalidInput
from core.services.customers import merging, notes
from core.services.customers import table as customers_table
from core.services.customers.customers import CustomerFilter
from core.services.customers.merging import OtherRecord
from core.services.customers.notes import KINDS, add_note, list_notes
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Page
from core.services.mail.mail import takes_mail
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.renewals import records
from core.services.renewals.due import DueRow
from core.services.sales import purchases
from core.states.claims import CLAIMS_ROLES
from core.store.access import ScopedSession, read_in, reading
from core.ui.buying import known_customer
from core.ui.frame import frame, menu, page_links
from core.ui.kit import actions, facts, figure_tiles, policy_actions, reveal_dialog, url_state, words
from core.ui.kit.actions import Action, Choice, Text, Values
from core.ui.lists import columns, export_panel, filter_bar, saved_views, tables
from core.ui.lists.tables import Table
from pages.sales._shared import ROLES, follow_click, list_acts, of_due

CUSTOMERS = tables.of(
    customers_table.CUSTOMERS,
    opens="sales/customers.py#customer",
    home=("sales/customers.py", "Back to the customers"),
    narrow=("name", "email", "phone", "premium"),
    only_wide=("force",),
)


def found(criteria: CustomerFilter, names: Choices) -> Page[Row]:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        return customers_table.list_customers(
            session,
            criteria,
            names,
            shown=CUSTOMERS.shown_columns,
            order=CUSTOMERS.order,
            paging=CUSTOMERS.paging(url_state.page()),
        )


def nothing(criteria: CustomerFilter) -> None:
    if criteria != CustomerFilter():
        tables.show_no_match(CUSTOMERS)
    else:
        st.info(
            "There is no customer in this mode yet: the first sale makes one. Look at the other mode with the switch"
            " in the menu.",
            icon=":material/rocket_launch:",
        )


def results(page: Page[Row], criteria: CustomerFilter) -> None:
    total, line = page.total_count, CUSTOMERS.count_text(page.total_count)
    offer = partial(export_panel.offer, "customers", criteria.address(), rows=total, line=line, table=CUSTOMERS)
    tables.draw_page(CUSTOMERS, page, above=offer)


def draw() -> None:
    person = frame.require("operations", "claims")
    frame.page_header("Customers", "Find a customer, with everything they bought and claimed.")
    names = read_in(frame.scope(), load_choices)
    criteria = filter_bar.read(CustomerFilter, names.names)
    filter_bar.draw_chips(criteria, names.names, beside=lambda: saved_views.draw("sales/customers.py", person))
    page = found(criteria, names)
    if page.total_count:
        results(page, criteria)
    else:
        nothing(criteria)


_HOME = ("sales/customers.py#customer", "Back to the customer")
# The short lists of one customer, without what is the same in every row.
_SAME = ("customer", "email", "distributor")
OWN_POLICIES = tables.of(
    policies.POLICIES,
    name="customer-policies",
    without=_SAME,
    home=_HOME,
    opens="policies/policy.py",
    narrow=("number", "product", "state", "ends"),
)
OWN_DUE: Table[DueRow] = of_due(name="customer-due", without=("customer", "phone", "email", "distributor"), home=_HOME)
OWN_PURCHASES = tables.of(
    purchases.PURCHASES,
    name="customer-purchases",
    without=_SAME,
    home=_HOME,
    opens="sales/purchases.py#purchase",
    narrow=("policy", "product", "sold", "total"),
)
OWN_RENEWALS = tables.of(
    records.RENEWALS,
    name="customer-renewals",
    without=_SAME,
    home=_HOME,
    opens="policies/policy.py",
    key=lambda row: row["policy_id"],
)
OWN_CLAIMS: Table[ClaimLine] = Table(
    name="customer-claims",
    noun=("claim", "claims"),
    opens="claims/claim.py",
    home=_HOME,
    columns={
        "lodged": columns.moment("Lodged", lambda row: row.created_at),
        "type": columns.text("Type", lambda row: row.claim_type, 110),
        "status": columns.state("Status", lambda row: row.status),
        "policy": columns.text("Policy number", lambda row: row.policy_number, 175),
        "claimed": columns.naira("Claimed", lambda row: row.claimed_minor),
        "offered": columns.naira("Offered", lambda row: row.offered_minor),
    },
)
_BUY = "buy/buy.py"
_DUE: Final = "Due for renewal"
_NONE_DUE: Final = "None that can be renewed ends within 90 days or has ended within 30."


def draw_head(customer: CustomerDetail, person: Person) -> None:
    """Draw the name, and beside it what is done for a customer: sell, lodge a claim, renew."""
    with frame.header_with_buttons(
        words.plain(customer.name),
        f"Customer of {words.plain(customer.distributor)}",
        tab=f"{customer.name} · Customer",
    ):
        if page_links.can_open(_BUY) and st.button("Sell", icon=":material/add_shopping_cart:", type="primary"):
            known_customer.begin(customer.id)
            page_links.go(_BUY, on_behalf_of=customer.distributor)
        if person.has_role(*CLAIMS_ROLES):
            _offer_to_lodge(customer)
        if person.has_role(*ROLES):
            _offer_to_renew(customer)


def _offer_to_lodge(customer: CustomerDetail) -> None:
    """Draw the way to lodge a claim on each of the listed policies that has a number."""
    numbered = [(row, row["number"]) for row in customer.policies.items if row["number"]]
    with st.popover(
        "Lodge a claim",
        icon=":material/note_add:",
        disabled=not numbered,
        help=None if numbered else "No policy of this customer has a number yet",
    ):
        for row, number in numbered:
            label = f"{words.plain(number)}, {words.plain(row['product'])} ({row['state'].lower()})"
            page_links.link("claims/lodge.py", label=label, query_params={"policy": number})


def _offer_to_renew(customer: CustomerDetail) -> None:
    """Draw the way to renew each policy that is due and can have one more term today."""
    renewable = [row for row in customer.due if row.next_minor is not None]
    with st.popover(
        "Renew",
        icon=":material/autorenew:",
        disabled=not renewable,
        help=None if renewable else "No policy of this customer can be renewed today",
    ):
        for row in renewable:
            named = words.plain(f"{row.policy_number}, {row.product}: {words.naira(row.next_minor)}")
            begin = partial(policy_actions.begin_renewal, row.id)
            st.button(named, key=f"renew {row.id}", type="tertiary", on_click=begin)


def draw_figures(customer: CustomerDetail) -> None:
    """Draw the customer's premium, policies in force or about to start, and claims."""
    bought = customer.bought
    shown = (
        ("Premium", words.naira(bought.premium_minor), "All purchases, and the renewals that took effect."),
        (
            "In force or about to start",
            words.count(bought.in_force),
            f"Of {words.count(bought.policies)} bought in all.",
        ),
        ("Claims", words.count(customer.claims.total_count), "Every claim that was lodged, whatever became of it."),
        ("Claims paid", words.naira(customer.claims_paid_minor), "Every payment on them, less what came back."),
    )
    tiles = [figure_tiles.plain_tile(*each) for each in shown]
    figure_tiles.draw(tiles, first=len(tiles), alt="Figures of the customer", key="customer figures")


def draw_contact(customer: CustomerDetail) -> None:
    """Draw the contact details; newer sales replace older details (contract S2)."""
    with st.container(border=True, gap="xsmall"):
        facts.grid(
            {
                "Phone": words.phone(customer.phone) or "–",
                "E-mail": words.email(customer.email),
                "Address": ", ".join(customer.place) or "–",
                "Name": " ".join(filter(None, (customer.title, customer.name))),
                "Distributor": customer.distributor,
                "Customer since": words.moment(customer.created_at),
            },
            columns=3,
        )
        for other in customer.same_email_customers:
            page_links.link_to(
                "sales/customers.py#customer",
                f"Also a customer of {words.plain(other.distributor)}",
                "group",
                id=str(other.id),
            )


def draw_personal(customer: CustomerDetail, person: Person) -> None:
    """Draw the personal data, masked; one value at a time can be revealed for a reason."""
    with st.container(border=True, gap="xsmall"):
        st.markdown("**Personal data**")
        facts.grid({"Gender": customer.gender or "–", "Born": words.day(customer.date_of_birth)}, columns=3)
        for known in customer.personal:
            reveal_dialog.value(words.title(known.label.replace(".", " ")), known.masked, of=known.hidden, by=person)
        if customer.personal:
            st.caption("As given with the newest policies; each value once.")
        else:
            st.caption("No numbers, pictures or papers were given with the policies.")


def draw_policies(customer: CustomerDetail, person: Person) -> None:
    """Draw the policies, and those of them that are due for renewal."""
    beneficiary = sum(row["role"] == "beneficiary" for row in customer.policies.items)
    note = f"{beneficiary} of them bought by somebody else" if beneficiary else ""
    _draw_list("Policies", OWN_POLICIES, customer.policies, person, note=note)
    table = replace(OWN_DUE, act=list_acts if person.has_role(*ROLES) else None)
    _draw_list(_DUE, table, Page(customer.due, len(customer.due)), person)
    follow_click(table, customer.due, person)


def draw_lists(customer: CustomerDetail, person: Person) -> None:
    """Draw the other records of the customer, newest first; a row is a link if the person may open its screen."""
    _draw_list("Claims", OWN_CLAIMS, customer.claims, person)
    _draw_list("Purchases", OWN_PURCHASES, customer.purchases, person)
    _draw_list("Renewals", OWN_RENEWALS, customer.renewals, person)


def _draw_list(title: str, table: Table[tables.Row], page: Page[tables.Row], person: Person, *, note: str = "") -> None:
    total, shown = page.total_count, len(page.items)
    newest = f"The newest {shown} are listed" if total > shown else ""
    with st.container(gap="xsmall"):
        st.subheader(f"{title} · {words.count(total)}", anchor=False)
        if line := " · ".join(filter(None, (newest, note))):
            st.caption(line)
        if total:
            may_open = any(screen.path == table.opens for screen in menu.allowed_screens(person))
            tables.draw_short(table if may_open else replace(table, opens=None), page.items)
        else:
            st.caption(_NONE_DUE if title == _DUE else f"No {table.noun[1]} yet.")


# Records of one person on a customer's page: those merged into it, and others that may be the same.

_FIND, _PAGE = "same_person", "sales/customers.py#customer"


def draw_merged(customer: CustomerDetail, person: Person) -> None:
    """Draw the records that the person has beside this one."""
    may_merge = person.has_role(*merging.ROLES)
    if customer.group.kept_id != customer.id:
        _part_of(customer, may_merge=may_merge)
    else:
        for record in customer.group.merged:
            _draw_one_merged(record, may_merge=may_merge)


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


def _draw_one_merged(record: OtherRecord, *, may_merge: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key=f"rec {record.id}"):
        st.markdown(
            f":material/merge: **{words.plain(record.name)}** · {words.plain(_describe_contact(record))}",
            width="content",
        )
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
    found = read_in(frame.scope(), merging.list_candidates, customer.id, text.strip())
    if not found:
        st.caption("No other record has this name or phone." if not text else "No other record matches.")
    elif not text:
        st.caption("The same name or phone:")
    for record in found:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"may {record.id}"):
            st.markdown(f"**{words.plain(record.name)}** · {words.plain(_describe_contact(record))}", width="content")
            st.caption(f"Customer since {words.day(record.created_at)}", width="content")
            _link(record.id, "Look at it")
            _merging(customer, record).button("Merge", key=f"merge {record.id}")


def _describe_contact(person: OtherRecord | CustomerDetail) -> str:
    """Return the e-mail and phone that there are; a dash where there is neither."""
    email = person.email if takes_mail(person.email) else None
    return " · ".join(filter(None, (email, person.phone))) or "–"


def _link(customer_id: UUID, label: str) -> None:
    page_links.link_to(_PAGE, label, "person", id=str(customer_id))


def _merging(customer: CustomerDetail, record: OtherRecord) -> Action:
    return Action(
        title="Merge these records",
        icon="merge",
        says=f"**{words.plain(record.name)}** ({words.plain(_describe_contact(record))}) becomes part of"
        f" **{words.plain(customer.name)}** ({words.plain(_describe_contact(customer))}). If one of them wants no"
        " reminders, none goes to either.",
        confirm="Merge",
        roles=merging.ROLES,
        work=lambda session, _, by: merging.merge(session, customer.id, record.id, by=by),
        done=f"{record.name} ({_describe_contact(record)}) is shown here from now on.",
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


# Notes on a customer's page: the form for a new one, and those before it.

_PLACE, _PREFIX = "customer_notes", "note_"
_TEXT, _KIND = f"{_PREFIX}text", f"{_PREFIX}kind"


def draw_notes(customer_id: UUID, *, also: Sequence[UUID] = ()) -> None:
    """Draw the notes on a customer, the newest first, below the form for another; `also` are merged records."""
    with reading(frame.scope()) as session:
        written = list_notes(session, customer_id, *also)
    st.subheader(f"Notes · {words.count(len(written))}", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.selectbox("Kind", list(KINDS), key=_KIND, format_func=KINDS.__getitem__, width=150)
        st.text_input("Note", key=_TEXT, max_chars=1_000, autocomplete="off", placeholder="What was said or done")
        add = _adding(customer_id)
        st.button(add.title, key="add_note", icon=":material/add:", on_click=add.do, args=(_PLACE, _PREFIX))
    actions.blame(_PLACE, "text")
    actions.complain(_PLACE, "text")
    for note in written:
        with st.container(border=True, gap="xsmall"):
            st.text(note.text)
            st.caption(f"{KINDS[note.kind]} · {words.plain(note.author)}, {words.moment(note.created_at)}")


def _adding(customer_id: UUID) -> Action:
    return Action(
        title="Add",
        fields=[Text("text", "Note", longest=1_000), Choice("kind", "Kind", options=KINDS)],
        roles=notes.ROLES,
        work=partial(_add_note, customer_id),
        done="The note is saved.",
    )


def _add_note(customer_id: UUID, session: ScopedSession, typed: Values, by: Person) -> None:
    text = typed["text"].strip()
    if not text:
        raise InvalidInput.for_field("text", "write what was said or done")
    add_note(session, customer_id, {"text": text, "kind": typed["kind"] or "note"}, by=by)


def draw_customer() -> None:
    person = frame.require("operations", "claims", "supervisor")
    tables.back_link("customers", "sales/customers.py", "Back to the customers")
    customer = page_links.load_record(
        "customer",
        lambda session, id_: customer_view.get_customer(session, id_, load_choices(session)),
        is_of_mode=True,
    )
    draw_head(customer, person)
    draw_merged(customer, person)
    draw_figures(customer)
    draw_contact(customer)
    draw_policies(customer, person)
    actions.run()
    draw_notes(customer.id, also=[record.id for record in customer.group.merged])
    draw_lists(customer, person)
    draw_personal(customer, person)
    policy_actions.draw_switch(customer.id, person)
    draw_search(customer, person)
    st.caption(f"Customer {customer.id} · details last changed {words.moment(customer.updated_at)}")
