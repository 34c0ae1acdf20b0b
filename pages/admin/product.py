"""One product: current, past and planned rates, its sellers, the texts for customers, and the history of changes."""

from collections.abc import Mapping
from uuid import UUID

import streamlit as st

from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.catalogue import changes, product_list, rate_changes
from core.services.catalogue.product_list import ProductDetail, ProductSeller, Proposal, RatesVersion
from core.services.catalogue.shipped import SHIPPED_AT
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.admin import products
from pages.admin._shared import action, log_link, show_no_second


def switching(product: ProductDetail) -> Action:
    """Return the dialog that starts or stops the sale of the product."""
    on = not product.active
    says = (
        "Every distributor that it is not switched off for can sell it again, at once."
        if on
        else "Nobody can sell it any more, at once: each sale is refused. Policies that are sold stay as they are,"
        " and can be renewed and claimed on."
    )
    return action(
        title=f"Switch {'on' if on else 'off'}",
        icon="toggle_on" if on else "toggle_off",
        says=says,
        confirm=f"Switch {'on' if on else 'off'} for everybody",
        work=lambda session, _, by: changes.set_active(
            session, product.id, active=on, seen_version=product.version, by=by
        ),
        done=f"{product.name} is switched {'on' if on else 'off'}.",
    )


def offering(product: ProductDetail, seller: ProductSeller) -> Action:
    """Return the dialog that allows or forbids one distributor to sell the product."""
    offered = seller.blocked
    name = words.plain(seller.name)
    return action(
        title="Offer again" if offered else "Switch off for one distributor",
        icon="storefront",
        says=f"**{name}** can {'sell it again' if offered else 'not sell it any more'}, at once."
        + ("" if offered else " Its policies stay as they are."),
        confirm=f"{'Offer to' if offered else 'Switch off for'} {name}",
        work=lambda session, _, by: changes.set_offered(
            session, product.id, seller.id, offered=offered, seen_version=product.version, by=by
        ),
        done=f"{product.name} is {'offered to' if offered else 'switched off for'} {seller.name}.",
    )


def confirming(product: ProductDetail, proposal: Proposal, headline: str) -> Action:
    """Return the dialog that confirms another admin's proposal; its title names the changes."""
    return action(
        title=words.plain(headline),
        icon="fact_check",
        says=f"**{words.plain(proposal.proposer)}** proposed it on {words.moment(proposal.proposed_at)}. From"
        f" {products.since(proposal.effective_at)} on every sale and every price uses the new figures; policies that"
        " are sold keep theirs.",
        confirm="Confirm the change",
        work=lambda session, _, by: rate_changes.confirm(session, product.id, proposal.id, seen=product.version, by=by),
        done=f"Confirmed: {headline}.",
    )


def refusing(product: ProductDetail, proposal: Proposal, headline: str) -> Action:
    """Return the dialog that rejects another admin's proposal, with a reason."""
    return action(
        title="Refuse the change",
        icon="block",
        says=f"{words.plain(headline)}: proposed by **{words.plain(proposal.proposer)}**. The rates stay as they are.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Refuse it",
        work=lambda session, typed, by: rate_changes.refuse(
            session, product.id, proposal.id, seen=product.version, by=by, **typed
        ),
        done="The change is refused, and the rates stay as they are.",
    )


def taking_back(product: ProductDetail, proposal: Proposal, headline: str) -> Action:
    """Return the dialog that withdraws one's own proposal."""
    return action(
        title="Take the proposal back",
        icon="undo",
        says=f"{words.plain(headline)}: nobody can confirm it any more. The rates stay as they are.",
        confirm="Take it back",
        work=lambda session, _, by: rate_changes.take_back(
            session, product.id, proposal.id, seen=product.version, by=by
        ),
        done="The proposal is taken back.",
    )


def withdrawing(product: ProductDetail, version: RatesVersion) -> Action:
    """Return the dialog that withdraws a planned change of rates."""
    at = products.since(version.effective_at)
    return action(
        title="Withdraw the planned change",
        icon="event_busy",
        says=f"The rates that are planned from **{at}** on will never hold. The time line keeps them as withdrawn.",
        confirm="Withdraw it",
        work=lambda session, _, by: rate_changes.withdraw(session, product.id, version.id, seen=product.version, by=by),
        done=f"The change of {at} is withdrawn.",
    )


_MOST = 30


def draw_product(of: ProductDetail) -> None:
    """Draw the product's facts and insurer, and beside them the current rates."""
    values = {
        "Insurer": of.insurer,
        "Category": of.category,
        "Endpoint": of.endpoint if of.cover else f"{of.endpoint} (not offered)",
        "Renewable": "Yes" if of.renewable else "No",
        "Claims": "Yes" if of.claimable else "No",
        "Inspection before cover": "Yes" if of.inspectable else "No",
    }
    facts.card("**Product**", values)
    version = of.in_force
    rates = {
        "Price or rate": products.price(version.tariff),
        "Platform": f"{version.tariff.mca_commission} %",
        "Distributor": f"{version.tariff.distributor_commission} %",
        "Cover period": f"{version.tariff.cover_months} months",
        "Changes": products.since(of.planned_changes[0].effective_at) if of.planned_changes else None,
    }
    facts.card(f"**In force since {products.since(version.effective_at)}**", rates)


def draw_proposal(of: ProductDetail, person: Person) -> None:
    """Draw the proposal awaiting a second admin, with the buttons to decide on it."""
    proposal = of.proposal
    if proposal is None:
        return
    before, after = of.get_editable_tariff(of.get_rates_at(proposal.effective_at)), of.get_editable_tariff(proposal)
    headline = products.headline(before, after, proposal.effective_at)
    with st.container(border=True):
        st.markdown(f"{words.badge('Proposed')} **{words.plain(headline)}**")
        st.caption(
            f"Proposed by {words.plain(proposal.proposer)} on {words.moment(proposal.proposed_at)}. It holds only once"
            " another admin has confirmed it."
        )
        products.draw_changes(products.differences(before, after), "Until then", "From then on")
        with st.expander("What a sale would cost"):
            named = ("Until then", before.tariff), (f"From {products.since(proposal.effective_at)}", after.tariff)
            products.draw_preview("proposal.sale", of.cover, *named)
        _decisions(of, proposal, headline, person)


def _decisions(of: ProductDetail, proposal: Proposal, headline: str, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if proposal.proposed_by == person.id:
            taking_back(of, proposal, headline).button("Take it back", key="proposal Take it back")
        else:
            confirming(of, proposal, headline).button(
                "Confirm", key="proposal Confirm", type="primary", disabled=not person.may_approve
            )
            refusing(of, proposal, headline).button("Refuse", key="proposal Refuse")
    if proposal.proposed_by != person.id:
        facts.show_resting(person)
    else:
        show_no_second(person)


def time_line(of: ProductDetail, person: Person) -> None:
    """Draw every version of the rates, newest first, with its changes."""
    for place, version in enumerate(of.versions[:_MOST]):
        earlier = next((old for old in of.versions[place + 1 :] if old.withdrawn_at is None), None)
        with st.container(border=True, gap="xsmall"):
            _head(of, version, person)
            _changed(of, version, earlier)
    if len(of.versions) > _MOST:
        st.caption(f"{len(of.versions) - _MOST} older ones are in the audit log.")


def _head(of: ProductDetail, version: RatesVersion, person: Person) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(
            f"{words.badge(version.state)} **from {products.since(version.effective_at)}** · "
            f"{words.plain(products.price(version.tariff))} · commissions "
            f"{words.plain(products.commissions(version.tariff))}",
            width="content",
        )
        if version.state == "Planned" and person.has_role("admin"):
            withdrawing(of, version).button("Withdraw", key=f"withdraw {version.id}")
    is_shipped = version.created_at == SHIPPED_AT
    parts = ["Came with the catalogue" if is_shipped else f"Decided {words.moment(version.created_at)}"]
    parts += [f"withdrawn {words.moment(version.withdrawn_at)}"] if version.withdrawn_at else []
    st.caption(", ".join(parts))


def _changed(of: ProductDetail, version: RatesVersion, earlier: RatesVersion | None) -> None:
    if earlier is None:
        st.caption("The first rates of this product.")
        changes = []
    else:
        changes = products.differences(of.get_editable_tariff(earlier), of.get_editable_tariff(version))
    if changes:
        products.draw_changes(changes, "Before", "From then on")
    with st.expander("All figures"):
        for figure in of.get_editable_tariff(version).figures:
            facts.line(f"{figure.group}: {figure.label}", products.format_figure(figure))
        products.show_untouched(of.get_editable_tariff(version).other_meta)


def draw_sellers(of: ProductDetail, person: Person) -> None:
    """Draw the distributors for which the product is switched off, and the control that switches off another."""
    if not of.active:
        st.info("The product is switched off for everybody.", icon=":material/toggle_off:")
    off = [seller for seller in of.sellers if seller.blocked]
    st.markdown(f"**Switched off for {len(off)} of {len(of.sellers)} distributors**")
    for seller in off:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.text(seller.name, width="content")
            if not person.has_role("admin"):
                continue
            actions.button("Offer again", offering(of, seller), key=f"offer {seller.id}")
    others = [seller for seller in of.sellers if not seller.blocked]
    if not others or not person.has_role("admin"):
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Distributor", others, index=None, format_func=lambda seller: seller.name, key="product.seller", width=320
        )
        st.button(
            "Switch off for it",
            icon=":material/block:",
            disabled=chosen is None,
            on_click=lambda: actions.open_(offering(of, chosen)) if chosen else None,
        )
    st.caption("A distributor for whom it is switched off is refused at once; policies that it sold stay as they are.")


def buttons(of: ProductDetail) -> None:
    """Draw the actions on the product."""
    if st.button(
        "Change rates",
        icon=":material/price_change:",
        type="primary",
        disabled=of.proposal is not None,
        help="A change waits for a second admin: it has to be decided first." if of.proposal else None,
        on_click=open_form,
    ):
        page_links.go("admin/rates.py", id=str(of.id))
    switching(of).button(icon="toggle_off" if of.active else "toggle_on")
    log_link("product", of.id)


def open_form() -> None:
    """Begin a change of rates, as the callback of its button; clears earlier input."""
    st.session_state.pop(products.DONE, None)
    st.session_state.pop(f"{products.FORM}.of", None)


_TEXTS = "texts"
_TEXTS_PREFIX = f"{_TEXTS}."
_FIELDS = {
    "description": ("Description", 2000, 110),
    "key_benefits": ("Key benefits (HTML: p, br, ul, ol, li, b, strong, i, em, a)", 5000, 150),
    "how_it_works": ("How it works (optional)", 4000, 110),
    "how_to_claim": ("How to claim (optional)", 4000, 110),
}


def saving_texts(product: ProductDetail, seen: int) -> Action:
    """Return the action that saves the texts over the version that was seen."""
    return action(
        title="Save the texts",
        icon="save",
        fields=[
            Text(name, label, longest=longest, height=height, is_long=True, is_live=True)
            for name, (label, longest, height) in _FIELDS.items()
        ],
        work=lambda session, typed, by: changes.change_texts(session, product.id, typed, seen_version=seen, by=by),
        done=f"The texts of {product.name} are saved.",
        then=lambda _: st.session_state.pop(f"{_TEXTS}.of"),
        on_stale=lambda: _look_again(product.id),
    )


def _look_again(product_id: UUID) -> None:
    """Take the present version over, with the texts in which nothing was typed."""
    found, product = st.session_state[f"{_TEXTS}.found"], products.read_now(product_id)
    typed = {key: st.session_state[key] for key in found if st.session_state[key] != found[key]}
    _begin(product)
    st.session_state.update(typed)
    actions.refuse(_TEXTS, f"{products.CHANGED}save it again to let it stand.")


def draw_texts(product: ProductDetail) -> None:
    """Draw the form on the left and the preview on the right."""
    # Streamlit drops the fields when the person has left the page.
    if st.session_state.get(f"{_TEXTS}.of") != product.id or f"{_TEXTS}.description" not in st.session_state:
        _begin(product)
    save = saving_texts(product, st.session_state[f"{_TEXTS}.seen"])
    grid = st.grid(2, min_column_width=330, gap="medium")
    with grid.container():
        actions.draw_fields(save, _TEXTS, _TEXTS_PREFIX)
    with grid.container(border=True):
        st.caption("As customers see it")
        _as_customers_see({name: st.session_state[f"{_TEXTS}.{name}"] for name in _FIELDS})
    actions.complain(_TEXTS, *_FIELDS)
    changed = any(st.session_state[_TEXTS_PREFIX + name] != (getattr(product, name) or "") for name in _FIELDS)
    st.button(
        save.title,
        type="primary",
        icon=":material/save:",
        disabled=not changed,
        on_click=save.do,
        args=(_TEXTS, _TEXTS_PREFIX),
    )


def _begin(product: ProductDetail) -> None:
    found = {f"{_TEXTS_PREFIX}{name}": getattr(product, name) or "" for name in _FIELDS}
    st.session_state.update(found)
    st.session_state[f"{_TEXTS}.found"] = found
    st.session_state[f"{_TEXTS}.of"], st.session_state[f"{_TEXTS}.seen"] = product.id, product.version
    actions.forget(_TEXTS)


def _as_customers_see(texts: Mapping[str, str]) -> None:
    st.text(texts["description"])
    html = changes.sanitise_html(texts["key_benefits"])
    if html.strip():
        st.html(html)
    for name in ("how_it_works", "how_to_claim"):
        if texts[name]:
            st.markdown(f"**{words.title(name)}**")
            st.text(texts[name])


def history(product: ProductDetail) -> None:
    with reading(frame.scope()) as session:
        entries = audit.list_history(session, audit.subject_of("product", product.id))
        events = [AuditEvent(at=e.created_at, actor=e.actor, action=e.action, facts={}) for e in reversed(entries)]
    facts.log(events)
    st.caption("Before and after of each change are in the audit log.")


def draw() -> None:
    person = frame.require("operations")
    is_admin = person.has_role("admin")
    tables.back_link("products", "admin/products.py", "Back to the products")
    product = page_links.load_record("product", product_list.get_product)
    with frame.header_with_buttons(
        f"{words.plain(product.name)} {words.badge('On sale' if product.active else 'Off')}",
        f"{words.plain(product.category)} of {words.plain(product.insurer)}",
        tab=f"{product.name} · Product",
    ):
        if is_admin:
            buttons(product)
    actions.run()
    if is_admin:
        draw_proposal(product, person)
    with st.grid(2, min_column_width=320, gap="small"):
        draw_product(product)
    rates, sellers, texts, changes = url_state.tabs("Rates over time", "Who sells it", "Texts", "History")
    with rates:
        time_line(product, person)
    with sellers:
        draw_sellers(product, person)
    with texts:
        if is_admin:
            draw_texts(product)
        else:
            with st.container(border=True):
                _as_customers_see({name: getattr(product, name) or "" for name in _FIELDS})
    with changes:
        history(product)
    st.caption(f"Product {product.id} · version {product.version}")
