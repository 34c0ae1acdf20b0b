"""Selling from a screen: the same service as the API, once per filled form (contract S13)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, TypeVar

import streamlit as st

from core import money
from core.covers.cover import Cover
from core.covers.registry import COVERS
from core.covers.request import Request
from core.errors import KeyReused, StateForbids
from core.services.audit import idempotency
from core.services.audit.idempotency import WireResponse
from core.services.catalogue import for_sale
from core.services.catalogue.for_sale import ProductForSale
from core.services.people.staff import Person
from core.services.selling import buying
from core.services.selling.buying import Seller
from core.store.access import Owner, ScopedSession, read_in, reading, transact
from core.ui.frame import frame, page_links

Option = TypeVar("Option")


def show(person: Person) -> None:
    """Say that there is no distributor to sell for, and link administrators to where one is added."""
    st.info(
        "There is no distributor to sell for yet. An administrator adds one under Distributors and insurers.",
        icon=":material/storefront:",
    )
    if person.has_role("admin"):
        page_links.link("admin/partners.py", label="Add a distributor", icon=":material/storefront:")


def choice(
    label: str, options: Sequence[Option], key: str, name: Callable[[Option], str], *, locked: bool = False
) -> Option | None:
    """Draw a pick list with nothing chosen, unless there is one option only; returns the option as it is now."""
    if len(options) == 1:
        st.session_state[key] = options[0]
    chosen: Option | None = st.selectbox(
        label,
        options,
        format_func=name,
        key=key,
        index=None,
        placeholder="Choose",
        bind="query-params",
        disabled=locked,
    )
    # The list keeps what was chosen as it was then, such as a product with the rates of that day.
    return next((option for option in options if chosen is not None and name(option) == name(chosen)), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counter(Owner):
    """Context of a sale at the desk: distributor, mode and person."""

    person: Person

    @property
    def seller(self) -> Seller:
        """Return the desk as the seller."""
        return Seller(**self.columns, actor=self.person.actor, source="desk")


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A sale, stored with the form's token and returned again for the same token."""

    policy_id: str
    purchase_id: str


def list_products(counter: Counter, cover: Cover[Any]) -> list[ProductForSale]:
    """Return the products that a distributor can sell now through a cover's endpoint, by name."""
    return read_in(counter.scope, for_sale.list_products, cover, counter.distributor_id)


def list_offers(counter: Counter | None) -> list[tuple[Cover[Any], ProductForSale]]:
    """Return every product that a distributor can sell now, each with its cover; without a counter all of them."""
    with reading(frame.scope() if counter is None else counter.scope) as session:
        found = for_sale.list_all(session, None if counter is None else counter.distributor_id)
    return [
        (cover, product) for cover in COVERS for endpoint, product in found if endpoint == (cover.prefix, cover.route)
    ]


def title_of(cover: Cover[Any], product: ProductForSale) -> str:
    """Return the name of a cover with its insurer, as it is chosen."""
    return f"{cover.title}, {product.provider_name}"


def sell(cover: Cover[Any], request: Request, counter: Counter, *, token: str, expected: Decimal) -> Receipt:
    """Sell one policy at the premium that was shown, once per token: a second click gets the first one's receipt.

    Raises the API's errors: InvalidInput, DuplicateRisk; also StateForbids when the price has changed since, or when
    the token was used for another sale.
    """

    def work(session: ScopedSession) -> WireResponse:
        print_ = idempotency.fingerprint(cover.key.encode(), request.model_dump_json().encode())
        return idempotency.run_once(
            session, counter.scope, f"desk {token}", print_, lambda: _sold(session, cover, request, counter, expected)
        )

    try:
        answer = transact(counter.scope, work)
    except KeyReused:
        raise StateForbids("This form was sold already, with other figures. Look for it under Purchases") from None
    return Receipt(**json.loads(answer.body))


def _sold(
    session: ScopedSession, cover: Cover[Any], request: object, counter: Counter, expected: Decimal
) -> WireResponse:
    sale = buying.sell(session, cover, request, counter.seller)
    if sale.price.total != expected:
        raise StateForbids(
            f"The price has changed to {money.format_naira(money.to_minor(sale.price.total))}: look again"
        )
    receipt = Receipt(policy_id=str(sale.policy_id), purchase_id=str(sale.purchase_id))
    return WireResponse(201, json.dumps(asdict(receipt)).encode())
