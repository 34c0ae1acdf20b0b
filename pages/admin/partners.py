"""Distributors and insurers: lists with connection and sales of each; one distributor; and one insurer."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from core import ids
from core.services.catalogue import changes
from core.services.events.webhooks import endpoints
from core.services.finance import bank_accounts
from core.services.insurers import insurers
from core.services.insurers.insurers import InsurerRow
from core.services.people.staff import Person
from core.services.sales import distributors
from core.services.sales.distributors import (
    ORDERS,
    DistributorDetail,
    DistributorFilter,
    DistributorRow,
    list_distributors,
)
from core.store.access import Scope, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import columns, filter_bar, saved_views, tables
from core.ui.lists.tables import Table
from pages.admin._shared import COMPANY_FIELDS, action, agreement_link, list_business_fields, log_link
from pages.admin.webhooks import ENDPOINTS, EndpointRow

VIEWS = {"distributors": "Distributors", "insurers": "Insurers"}


def adding() -> Action:
    """Return the dialog that adds a distributor; adds one however often the button is clicked."""
    distributor_id = ids.new()
    return action(
        title="Add a distributor",
        icon="add_business",
        says="A business that sells through the API, or for which the desk sells.",
        fields=list_business_fields(),
        confirm="Add the distributor",
        work=lambda session, typed, by: changes.add_distributor(session, distributor_id, typed, by=by),
        done=lambda typed: f"{typed['name'].strip()} is added. Issue its first key under API keys.",
    )


_YEAR = "Purchases and renewals of the last twelve months, before commission."
DISTRIBUTORS: Table[DistributorRow] = Table(
    name="distributors",
    noun=("distributor", "distributors"),
    opens="admin/partners.py#distributor",
    orders={
        "name": "Names from A to Z",
        "name-back": "Names from Z to A",
        "newest": "Newest first",
        "oldest": "Oldest first",
    },
    narrow=("name", "active", "premium"),
    columns={
        "name": columns.text("Distributor", lambda row: row.name, 220, sorts=("name", "name-back")),
        "active": columns.state("State", lambda row: "Active" if row.active else "Off"),
        "premium": columns.naira("Year's premium", lambda row: row.premium_minor, says=_YEAR),
        "policies": columns.number("Policies", lambda row: row.policies),
        "customers": columns.number("Customers", lambda row: row.customers),
        "keys": columns.number("Open keys", lambda row: row.keys),
        "withheld": columns.number("Products off", lambda row: row.withheld),
        "created": columns.day("Since", lambda row: row.created_at, sorts=("oldest", "newest")),
        "email": columns.text("E-mail", lambda row: row.email, 200),
    },
)
INSURERS: Table[InsurerRow] = Table(
    name="insurers",
    noun=("insurer", "insurers"),
    opens="admin/partners.py#insurer",
    narrow=("name", "health", "premium"),
    columns={
        "name": columns.text("Insurer", lambda row: row.name, 220),
        "connection": columns.text("Connection", lambda row: row.connection, 170),
        "health": columns.state("Health", lambda row: row.health.health),
        "queued": columns.number("Queued", lambda row: row.health.queued),
        "dead": columns.number("Set aside", lambda row: row.health.dead),
        "oldest": columns.moment("Oldest waits since", lambda row: row.health.oldest_at),
        "premium": columns.naira("Year's premium", lambda row: row.premium_minor, says=_YEAR),
        "policies": columns.number("Policies", lambda row: row.policies),
        "products": columns.number("Products", lambda row: row.products),
        "class": columns.text("Class", lambda row: row.business_type, 140, usual=False),
        "segment": columns.text("Segment", lambda row: row.segment, 90, usual=False),
    },
)


def draw_distributors(person: Person) -> None:
    wanted = filter_bar.read(DistributorFilter)
    filter_bar.draw_chips(wanted, beside=lambda: saved_views.draw("admin/partners.py", person))
    with st.skeleton(height=300), reading(frame.scope()) as session:
        page = list_distributors(
            session, wanted, DISTRIBUTORS.paging(url_state.page()), order=DISTRIBUTORS.order_among(ORDERS)
        )
    if not page.total_count:
        nothing(narrowed=wanted != DistributorFilter())
        return
    tables.draw_page(DISTRIBUTORS, page)


def nothing(*, narrowed: bool) -> None:
    if narrowed:
        tables.show_no_match(DISTRIBUTORS)
    else:
        st.info("There is no distributor yet. Add the first one above, then issue its key under API keys.")


def draw_insurers(_: Person) -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = insurers.list_insurers(session)
    tables.head(INSURERS.count_text(len(rows)), INSURERS)
    tables.draw(INSURERS, rows, number=1, total=len(rows))
    st.caption(
        "An insurer without a connection is served under delegated authority: issued here, to be reported by bordereau."
    )


def draw_waiting() -> None:
    """Draw a line for each account, share and set of terms that waits for a second admin, with a link to it."""
    waiting = read_in(Scope.system(), bank_accounts.list_waiting)
    for party, name, what in waiting:
        page_links.link_to(
            "admin/agreement.py",
            f"A new {what} waits for a second admin: {words.plain(name)}",
            "how_to_reg",
            party=party.account,
            id=str(party.id),
        )


def draw() -> None:
    person = frame.require("admin")
    with frame.header_with_buttons("Distributors and insurers", "Who sells, who insures, and how each of them does."):
        actions.button("Add a distributor", adding, type="primary", icon="add_business")
    actions.run()
    draw_waiting()
    {"distributors": draw_distributors, "insurers": draw_insurers}[url_state.choose_view(VIEWS)](person)


def changing(of: DistributorRow) -> Action:
    """Return the dialog that changes a distributor's name or e-mail."""
    return action(
        title="Change the distributor",
        icon="edit",
        says="The new name shows everywhere, also on what was sold before.",
        fields=list_business_fields(of.name, of.email or ""),
        confirm="Save",
        work=lambda session, typed, by: changes.change_distributor(session, of.id, typed, seen_at=of.updated_at, by=by),
        done=lambda typed: f"{typed['name'].strip()} is saved.",
    )


def switching(of: DistributorRow) -> Action:
    """Return the dialog that enables or disables a distributor."""
    on, name = not of.active, words.plain(of.name)
    return action(
        title=f"Switch {'on' if on else 'off'}",
        icon="toggle_on" if on else "toggle_off",
        says=f"Every key of **{name}** that is not revoked works again, at once."
        if on
        else f"Every key of **{name}**, live and test, is refused with 401 at once, and the desk cannot sell for it."
        " Its policies and claims stay, and are served as before.",
        work=lambda session, _, by: changes.set_distributor_active(
            session, of.id, active=on, seen_at=of.updated_at, by=by
        ),
        done=f"{of.name} is switched {'on' if on else 'off'}.",
    )


def buttons(of: DistributorDetail) -> None:
    row = of.row
    changing(row).button("Change")
    switching(row).button(icon="toggle_off" if row.active else "toggle_on")
    agreement_link("distributor", row.id)
    log_link("distributor", row.id)


def withheld(of: DistributorDetail) -> None:
    st.subheader("Products switched off for it", anchor=False)
    if not of.withheld:
        st.caption("None: it can sell every product that is on sale. A product is switched off on its own screen.")
    for product_id, name in of.withheld:
        page_links.link_to("admin/product.py", words.plain(name), "inventory_2", id=str(product_id))


def webhooks(of: DistributorDetail) -> None:
    st.subheader("Webhooks of this mode", anchor=False)
    with reading(frame.scope()) as session:
        rows = [
            EndpointRow(each.id, of.row.name, each)
            for each in endpoints.list_endpoints(session, distributor_id=of.row.id)
        ]
    if rows:
        tables.draw_short(replace(ENDPOINTS, home=("admin/partners.py#distributor", "Back to the distributor")), rows)
    else:
        st.caption("No endpoint: it gets no webhooks, and can read the feed of events.")
    page_links.link_to("admin/webhooks.py", "Register an endpoint", "webhook", distributor=str(of.row.id))


def draw_distributor() -> None:
    frame.require("admin")
    tables.back_link("distributors", "admin/partners.py", "Back to the distributors")
    found = page_links.load_record("distributor", distributors.get_distributor)
    row = found.row
    with frame.header_with_buttons(
        f"{words.plain(row.name)} {words.badge('Active' if row.active else 'Off')}",
        "A distributor: it sells through the API, or the desk sells for it.",
        tab=f"{row.name} · Distributor",
    ):
        buttons(found)
    actions.run()
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            facts.line("E-mail", row.email or "–")
            facts.line("Since", words.day(row.created_at))
            facts.line("Open keys of this mode", words.count(row.keys))
            page_links.link_to("admin/keys.py", "Its API keys", "key", distributor=str(row.id))
        with st.container(border=True, height="stretch"):
            facts.line("Premium of 12 months", words.naira(row.premium_minor))
            facts.line("Policies", words.count(row.policies))
            facts.line("Customers", words.count(row.customers))
            page_links.link_to("sales/purchases.py", "Its purchases", "receipt_long", distributor=str(row.id))
    withheld(found)
    webhooks(found)
    st.caption(f"Distributor {row.id}")


CONTACT: Mapping[str, Callable[[InsurerRow], str]] = {
    "Contact": lambda row: f"{row.first_name} {row.last_name}",
    "E-mail": lambda row: row.email,
    "Phone": lambda row: words.phone(row.phone_number) or "–",
    "Office": lambda row: row.business_email or "–",
    "Claims": lambda row: row.claim_email or "–",
    "Support": lambda row: row.support_email or "–",
}


def changing_insurer(of: InsurerRow) -> Action:
    """Return the dialog that changes an insurer's name, class and addresses."""
    held = {name: getattr(of, "name" if name == "company_name" else name) or "" for name in COMPANY_FIELDS}
    return action(
        title="Change the insurer",
        icon="edit",
        says="The name shows everywhere, also on certificates. The connection is a setting of the server.",
        fields=[Text(name, label, longest=200, value=held[name]) for name, label in COMPANY_FIELDS.items()],
        confirm="Save",
        work=lambda session, typed, by: changes.change_insurer(session, of.id, typed, seen_at=of.updated_at, by=by),
        done=lambda typed: f"{typed['company_name'].strip()} is saved.",
    )


def connection(of: InsurerRow) -> None:
    health = of.health
    with facts.card(f"**Connection** {words.badge(health.health)}"):
        facts.line("Policies go to", of.connection)
        facts.line("Queued", words.count(health.queued))
        facts.line("Set aside", words.count(health.dead))
        facts.line("Oldest waits since", words.moment(health.oldest_at))
        facts.line("Last answer", words.moment(health.last_success_at))
        if health.last_error:
            st.caption(words.plain(health.last_error))
        page_links.link("policies/awaiting.py", label="What waits for insurers", icon=":material/hourglass_top:")


def business(of: InsurerRow) -> None:
    with facts.card("**Business**"):
        facts.line("Segment of the path", of.segment)
        facts.line("Class", of.business_type or "–")
        facts.line("Products", words.count(of.products))
        facts.line("Policies", words.count(of.policies))
        facts.line("Premium of 12 months", words.naira(of.premium_minor))
        page_links.link_to("admin/products.py", "Its products", "inventory_2", provider=str(of.id))


def draw_insurer() -> None:
    frame.require("admin")
    tables.back_link("insurers", "admin/partners.py", "Back to the insurers")
    insurer = page_links.load_record("insurer", insurers.get_insurer)
    with frame.header_with_buttons(
        words.plain(insurer.name),
        "An insurer: it carries the risk of what is sold here.",
        tab=f"{insurer.name} · Insurer",
    ):
        changing_insurer(insurer).button("Change")
        agreement_link("provider", insurer.id)
        log_link("insurer", insurer.id)
    actions.run()
    with st.grid(3, min_column_width=300, gap="small"):
        connection(insurer)
        business(insurer)
        with facts.card("**People**"):
            for label, of in CONTACT.items():
                facts.line(label, of(insurer))
    st.caption(f"Insurer {insurer.id}")
