"""Distributors and insurers: lists with connection and sales of each."""

from typing import Any

import streamlit as st

from core import ids
from core.services.catalogue import changes
from core.services.insurers import awaiting
from core.services.insurers.awaiting import InsurerRow
from core.services.people.staff import Person
from core.services.sales.distributors import ORDERS, DistributorFilter, DistributorRow, list_distributors
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import actions, url_state
from core.ui.kit.actions import Action
from core.ui.lists import columns, filter_bar, saved_views, table_choices, tables
from core.ui.lists.tables import Table
from pages.admin._shared import action, list_business_fields

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
    opens="admin/distributor.py",
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
    opens="admin/insurer.py",
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
        "class": columns.text("Class", lambda row: row.business_type, 140),
        "segment": columns.text("Segment", lambda row: row.segment, 90),
    },
)


def distributors(person: Person) -> None:
    wanted = filter_bar.read(DistributorFilter)
    filter_bar.draw_chips(wanted, beside=lambda: add_button(person))
    with st.skeleton(height=300), reading(frame.scope()) as session:
        page = list_distributors(
            session,
            wanted,
            DISTRIBUTORS.paging(url_state.page()),
            order=DISTRIBUTORS.order_among(ORDERS),
        )
    if not page.total_count:
        nothing(narrowed=wanted != DistributorFilter())
        return
    number = tables.page_of(DISTRIBUTORS, page.total_count)
    if number is not None:
        heading(DISTRIBUTORS, page.total_count)
        tables.draw(DISTRIBUTORS, page.items, number=number, total=page.total_count)


def add_button(person: Person) -> None:
    saved_views.draw("admin/partners.py", person)
    actions.button("Add a distributor", adding, type="primary", icon="add_business")


def nothing(*, narrowed: bool) -> None:
    if narrowed:
        st.info("No distributor matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all distributors", type="primary", on_click=url_state.reset)
    else:
        st.info("There is no distributor yet. Add the first one above, then issue its key under API keys.")


def insurers(_: Person) -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = awaiting.list_insurers(session)
    heading(INSURERS, len(rows))
    tables.draw(INSURERS, rows, number=1, total=len(rows))
    st.caption(
        "An insurer without a connection is served under delegated authority: issued here, to be reported by bordereau."
    )


def heading(table: tables.Table[Any], total: int) -> None:
    table_choices.head(table.count_text(total), table)


def draw() -> None:
    person = frame.require("admin")
    frame.page_header("Distributors and insurers", "Who sells, who insures, and how each of them does.")
    actions.run()
    {"distributors": distributors, "insurers": insurers}[url_state.choose_view(VIEWS)](person)
