"""The cards of one product: facts, current rates, history of rates, and the distributors that may sell it."""

import streamlit as st

from core.services.catalogue.product_detail import ProductDetail, Proposal, RatesVersion
from core.services.people.staff import Person
from core.ui.admin import product_actions, product_page, product_preview, product_words
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, words

_MOST = 30


def product(of: ProductDetail) -> None:
    """Draw the product's facts and insurer."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Product**")
        facts.line("Insurer", of.insurer)
        facts.line("Category", of.category)
        facts.line("Endpoint", of.endpoint if of.cover else f"{of.endpoint} (not offered)")
        facts.line("Renewable", _yes(yes=of.renewable))
        facts.line("Claims", _yes(yes=of.claimable))
        facts.line("Inspection before cover", _yes(yes=of.inspectable))


def draw_rates(of: ProductDetail) -> None:
    """Draw the current rates."""
    version = of.in_force
    with st.container(border=True, height="stretch"):
        st.markdown(f"**In force since {words.moment(version.effective_at)}**")
        facts.line("Price or rate", product_words.price(version.tariff))
        facts.line("Platform", f"{version.tariff.mca_commission} %")
        facts.line("Distributor", f"{version.tariff.distributor_commission} %")
        facts.line("Cover period", f"{version.tariff.cover_months} months")
        for planned in of.planned_changes[:1]:
            facts.line("Changes", product_words.since(planned.effective_at))


def draw_proposal(of: ProductDetail, person: Person) -> None:
    """Draw the proposal awaiting a second admin, with the buttons to decide on it."""
    proposal = of.proposal
    if proposal is None:
        return
    before, after = of.get_editable_tariff(of.get_rates_at(proposal.effective_at)), of.get_editable_tariff(proposal)
    headline = product_words.headline(before, after, proposal.effective_at)
    with st.container(border=True):
        st.markdown(f"{words.badge('Proposed')} **{words.plain(headline)}**")
        st.caption(
            f"Proposed by {words.plain(proposal.proposer)} on {words.moment(proposal.proposed_at)}. It holds only once"
            " another admin has confirmed it."
        )
        product_page.table(product_words.differences(before, after), "Until then", "From then on")
        with st.expander("What a sale would cost"):
            named = ("Until then", before.tariff), (f"From {product_words.since(proposal.effective_at)}", after.tariff)
            product_preview.draw("proposal.sale", of.cover, *named)
        _decisions(of, proposal, headline, person)


def _decisions(of: ProductDetail, proposal: Proposal, headline: str, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if proposal.proposed_by == person.id:
            product_actions.taking_back(of, proposal, headline).button("Take it back", key="proposal Take it back")
        else:
            product_actions.confirming(of, proposal, headline).button(
                "Confirm", key="proposal Confirm", type="primary", disabled=not person.may_approve
            )
            product_actions.refusing(of, proposal, headline).button("Refuse", key="proposal Refuse")
    if proposal.proposed_by != person.id and not person.may_approve:
        st.caption(
            ":material/lock: Somebody else has reset your password: you can approve again from"
            f" {words.moment(person.approves_from)} on."
        )


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
            f"{words.badge(version.state)} **from {words.moment(version.effective_at)}** · "
            f"{words.plain(product_words.price(version.tariff))} · commissions "
            f"{words.plain(product_words.commissions(version.tariff))}",
            width="content",
        )
        if version.state == "Planned" and person.has_role("admin"):
            product_actions.withdrawing(of, version).button("Withdraw", key=f"withdraw {version.id}")
    said = [f"Decided {words.moment(version.created_at)}"]
    said += [f"withdrawn {words.moment(version.withdrawn_at)}"] if version.withdrawn_at else []
    st.caption(", ".join(said))


def _changed(of: ProductDetail, version: RatesVersion, earlier: RatesVersion | None) -> None:
    if earlier is None:
        st.caption("The first rates of this product.")
        changes = []
    else:
        changes = product_words.differences(of.get_editable_tariff(earlier), of.get_editable_tariff(version))
    if changes:
        product_page.table(changes, "Before", "From then on")
    with st.expander("All figures"):
        for figure in of.get_editable_tariff(version).figures:
            facts.line(f"{figure.group}: {figure.label}", product_words.format_figure(figure))
        product_page.say_untouched(of.get_editable_tariff(version).other_meta)


def sellers(of: ProductDetail, person: Person) -> None:
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
            actions.button("Offer again", product_actions.offering(of, seller), key=f"offer {seller.id}")
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
            on_click=lambda: actions.open_(product_actions.offering(of, chosen)) if chosen else None,
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
        on_click=product_page.open_form,
    ):
        page_links.go("admin/rates.py", id=str(of.id))
    product_actions.switching(of).button(icon="toggle_off" if of.active else "toggle_on")
    page_links.link(
        "admin/audit_log.py",
        label="In the audit log",
        icon=":material/history:",
        query_params={"kind": "product", "id": str(of.id), **frame.mode_query()},
    )


def _yes(*, yes: bool) -> str:
    return "Yes" if yes else "No"
