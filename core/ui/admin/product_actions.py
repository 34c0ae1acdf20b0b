"""An admin's changes to a product: confirmed in a dialog, made once, on the version that was seen."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from core.services.people.staff import Person
from core.services.products import changes as product_changes
from core.services.products import rate_changes
from core.services.products.detail import ProductDetail, ProductSeller, Proposal, RatesVersion
from core.store.access import Scope, ScopedSession, transact
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision


def carry_out(work: Callable[[ScopedSession], object], sentence: str) -> str:
    """Run the work in a transaction of its own and return the success message."""
    transact(Scope.system(), work)
    return sentence


def switching(product: ProductDetail, by: Person) -> Decision:
    """Return the dialog that starts or stops the sale of the product."""
    on = not product.active
    says = (
        "Every distributor that it is not switched off for can sell it again, at once."
        if on
        else "Nobody can sell it any more, at once: a sale is refused and names `product_id`. Policies that are sold"
        " stay as they are, and can be renewed and claimed on."
    )
    return Decision(
        title=f"Switch {'on' if on else 'off'}",
        icon="toggle_on" if on else "toggle_off",
        says=says,
        confirm=f"Switch {'on' if on else 'off'} for everybody",
        act=lambda: carry_out(
            lambda session: product_changes.set_active(
                session, product.id, active=on, seen_version=product.version, by=by
            ),
            f"{product.name} is switched {'on' if on else 'off'}.",
        ),
    )


def offering(product: ProductDetail, seller: ProductSeller, by: Person) -> Decision:
    """Return the dialog that allows or forbids one distributor to sell the product."""
    offered = seller.blocked
    name = words.plain(seller.name)
    return Decision(
        title="Offer again" if offered else "Switch off for one distributor",
        icon="storefront",
        says=f"**{name}** can {'sell it again' if offered else 'not sell it any more'}, at once."
        + ("" if offered else " Its policies stay as they are."),
        confirm=f"{'Offer to' if offered else 'Switch off for'} {name}",
        act=lambda: carry_out(
            lambda session: product_changes.set_offered(
                session, product.id, seller.id, offered=offered, seen_version=product.version, by=by
            ),
            f"{product.name} is {'offered to' if offered else 'switched off for'} {seller.name}.",
        ),
    )


def confirming(product: ProductDetail, proposal: Proposal, headline: str, by: Person) -> Decision:
    """Return the dialog that confirms another admin's proposal; its title names the changes."""
    return Decision(
        title=words.plain(headline),
        icon="fact_check",
        says=f"**{words.plain(proposal.proposer)}** proposed it on {words.moment(proposal.proposed_at)}. From"
        f" {words.moment(proposal.effective_at)} on every sale and every price uses the new figures; policies that are"
        " sold keep theirs.",
        confirm="Confirm the change",
        act=lambda: carry_out(
            lambda session: rate_changes.confirm(session, product.id, proposal.id, seen=product.version, by=by),
            f"Confirmed: {headline}.",
        ),
    )


def refusing(product: ProductDetail, proposal: Proposal, headline: str, by: Person) -> Decision:
    """Return the dialog that rejects another admin's proposal, with a reason."""

    def act() -> str:
        # Read here: the work may run in a thread without access to the Streamlit session.
        told = dialogs.get_values("reason")
        return carry_out(
            lambda session: rate_changes.refuse(session, product.id, proposal.id, seen=product.version, by=by, **told),
            "The change is refused, and the rates stay as they are.",
        )

    return Decision(
        title="Refuse the change",
        icon="block",
        says=f"{words.plain(headline)}: proposed by **{words.plain(proposal.proposer)}**. The rates stay as they are.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        confirm="Refuse it",
        act=act,
    )


def taking_back(product: ProductDetail, proposal: Proposal, headline: str, by: Person) -> Decision:
    """Return the dialog that withdraws one's own proposal."""
    return Decision(
        title="Take the proposal back",
        icon="undo",
        says=f"{words.plain(headline)}: nobody can confirm it any more. The rates stay as they are.",
        confirm="Take it back",
        act=lambda: carry_out(
            lambda session: rate_changes.take_back(session, product.id, proposal.id, seen=product.version, by=by),
            "The proposal is taken back.",
        ),
    )


def withdrawing(product: ProductDetail, version: RatesVersion, by: Person) -> Decision:
    """Return the dialog that withdraws a planned change of rates."""
    at = words.moment(version.effective_at)
    return Decision(
        title="Withdraw the planned change",
        icon="event_busy",
        says=f"The rates that are planned from **{at}** on will never hold. The time line keeps them as withdrawn.",
        confirm="Withdraw it",
        act=lambda: carry_out(
            lambda session: rate_changes.withdraw(session, product.id, version.id, seen=product.version, by=by),
            f"The change of {at} is withdrawn.",
        ),
    )


def describe(product_id: UUID, said: Mapping[str, Any], *, seen: int, by: Person) -> None:
    """Store the texts of a product."""
    transact(
        Scope.system(),
        lambda session: product_changes.change_texts(session, product_id, said, seen_version=seen, by=by),
    )
