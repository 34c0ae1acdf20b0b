"""One distributor: its sales, the products switched off for it, and whether it is enabled."""

from dataclasses import replace

import streamlit as st

from core.services.catalogue import changes
from core.services.events.webhooks import endpoints
from core.services.sales import distributors
from core.services.sales.distributors import DistributorDetail, DistributorRow
from core.store.access import reading
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action
from core.ui.lists import tables
from pages.admin._shared import action, agreement_link, list_business_fields, log_link
from pages.admin._webhooks import ENDPOINTS, EndpointRow


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
        page_links.link(
            "admin/product.py",
            label=words.plain(name),
            icon=":material/inventory_2:",
            query_params={"id": str(product_id), **frame.mode_query()},
        )


def webhooks(of: DistributorDetail) -> None:
    st.subheader("Webhooks of this mode", anchor=False)
    with reading(frame.scope()) as session:
        rows = [
            EndpointRow(each.id, of.row.name, each)
            for each in endpoints.list_endpoints(session, distributor_id=of.row.id)
        ]
    if rows:
        tables.draw_short(replace(ENDPOINTS, home=("admin/distributor.py", "Back to the distributor")), rows)
    else:
        st.caption("No endpoint: it gets no webhooks, and can read the feed of events.")
    page_links.link(
        "admin/webhooks.py",
        label="Register an endpoint",
        icon=":material/webhook:",
        query_params={"distributor": str(of.row.id), **frame.mode_query()},
    )


def draw() -> None:
    frame.require("admin")
    tables.back_link("distributors", "admin/partners.py", "All distributors")
    found = record_pages.load("distributor", distributors.get_distributor)
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
            page_links.link("admin/keys.py", label="API keys", icon=":material/key:", query_params=frame.mode_query())
        with st.container(border=True, height="stretch"):
            facts.line("Premium of 12 months", words.naira(row.premium_minor))
            facts.line("Policies", words.count(row.policies))
            facts.line("Customers", words.count(row.customers))
            page_links.link(
                "sales/purchases.py",
                label="Its purchases",
                icon=":material/receipt_long:",
                query_params={"distributor": str(row.id), **frame.mode_query()},
            )
    withheld(found)
    webhooks(found)
    st.caption(f"Distributor {row.id}")
