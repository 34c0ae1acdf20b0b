"""Sales of the examples of covers, for the tests of services."""

from typing import Any
from uuid import UUID

import pytest

from core.covers.cover import Cover
from core.covers.registry import COVERS
from core.errors import DuplicateRisk
from core.services.sales import api_purchases
from core.services.selling import buying
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case

# The product that the example of insurer-a's third-party cover buys.
CAR = UUID("01900000-0000-7000-8000-000000010201")
every_cover = every_case("cover", COVERS, ids=lambda cover: cover.key)
every_auto_cover = every_case(
    "cover", [cover for cover in COVERS if "auto" in cover.title], ids=lambda cover: cover.key
)


def sell(
    store: Store,
    partner: Partner,
    cover: Cover[Any],
    *,
    is_live: bool = False,
    scope: Scope | None = None,
    **changed: Any,
) -> Sale:
    """One sale of a cover's example, with some fields changed."""
    request = shipped.request(cover, **changed)
    with store.writing(scope or partner.scope(is_live=is_live)) as session:
        return buying.sell(session, cover, request, partner.seller(is_live=is_live))


def kept(store: Store, partner: Partner, sale: Sale) -> Policy:
    with store.reading(partner.scope()) as session:
        policy = session.get_one(Policy, sale.policy_id)
        session.expunge(policy)
        return policy


def plate_field(cover: Cover[Any]) -> str:
    return (
        "registration_number" if "registration_number" in cover.request.model_fields else "vehicle_registration_number"
    )


def refusal(store: Store, partner: Partner, cover: Cover[Any], **changed: Any) -> Any:
    with pytest.raises(DuplicateRisk) as refused:
        sell(store, partner, cover, **changed)
    assert refused.value.status == 409
    return refused.value.detail


def sold(store: Store, scope: Scope) -> int:
    with store.reading(scope) as session:
        return api_purchases.list_purchases(session).total_count
