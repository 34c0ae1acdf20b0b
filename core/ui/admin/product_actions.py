"""An admin's changes to a product: confirmed in a dialog, made once, on the version that was seen."""

from core.services.catalogue import changes, rate_changes
from core.services.catalogue.product_detail import ProductDetail, ProductSeller, Proposal, RatesVersion
from core.ui.admin.desk import action
from core.ui.kit import words
from core.ui.kit.actions import Action, Text


def switching(product: ProductDetail) -> Action:
    """Return the dialog that starts or stops the sale of the product."""
    on = not product.active
    says = (
        "Every distributor that it is not switched off for can sell it again, at once."
        if on
        else "Nobody can sell it any more, at once: a sale is refused and names `product_id`. Policies that are sold"
        " stay as they are, and can be renewed and claimed on."
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
        f" {words.moment(proposal.effective_at)} on every sale and every price uses the new figures; policies that are"
        " sold keep theirs.",
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
    at = words.moment(version.effective_at)
    return action(
        title="Withdraw the planned change",
        icon="event_busy",
        says=f"The rates that are planned from **{at}** on will never hold. The time line keeps them as withdrawn.",
        confirm="Withdraw it",
        work=lambda session, _, by: rate_changes.withdraw(session, product.id, version.id, seen=product.version, by=by),
        done=f"The change of {at} is withdrawn.",
    )
