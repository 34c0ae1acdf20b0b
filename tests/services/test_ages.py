"""Nobody too young is sold, or renewed, a cover of life or accident, by whichever door (contract S17)."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import credit_life
from core.covers.cover import Cover
from core.covers.insurers import insurer_f, insurer_g
from core.errors import InvalidInput, NotRenewable
from core.services.renewals import renewals
from core.services.renewals.renewals import RenewalResult
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, ProductVersion
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import sell, sold

pytestmark = pytest.mark.frozen_at(shipped.STILL)

LIVES = (credit_life.CREDIT_LIFE, insurer_f.PERSONAL_ACCIDENT, insurer_g.PERSONAL_ACCIDENT)
every_life = every_case("cover", LIVES, ids=lambda cover: cover.key)


def says(store: Store, cover: Cover[Any], years: int, *, from_days: int = 0) -> None:
    """A version of the example's product with another bound, in force so many days from the frozen one."""
    product_id = UUID(shipped.body(cover)["product_id"])
    with store.writing(Scope.system()) as session:
        query = sa.select(ProductVersion).where(col(ProductVersion.product_id) == product_id)
        first = session.execute(query.order_by(col(ProductVersion.effective_at))).scalars().first()
        assert first is not None
        changed = {
            "id": uuid4(),
            "effective_at": shipped.STILL + timedelta(days=from_days),
            "meta": {**first.meta, "minimum_age": years},
        }
        session.insert(ProductVersion(**{**first.model_dump(), **changed}))


def renew(store: Store, partner: Partner, policy_id: UUID) -> RenewalResult:
    with store.writing(partner.scope()) as session:
        return renewals.renew(session, policy_id, partner.seller())


@every_life
@every_case("is_live", [False, True], ids=["test", "live"])
def test_a_child_is_not_insured_and_nothing_is_left_behind(
    store: Store, partner: Partner, cover: Cover[Any], *, is_live: bool
) -> None:
    field = str(cover.life_insured)
    with pytest.raises(InvalidInput) as refusal:
        sell(store, partner, cover, is_live=is_live, **{field: "2020-01-01"})
    assert [fault.field for fault in refusal.value.faults] == [field]
    assert "2020" not in str(refusal.value)
    assert sold(store, Scope.system()) == 0
    with store.reading(Scope.system()) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(Customer)).scalar_one() == 0


@every_life
def test_the_bound_of_the_product_holds_from_its_instant_on(store: Store, partner: Partner, cover: Cover[Any]) -> None:
    field = str(cover.life_insured)
    says(store, cover, 16, from_days=1)
    with pytest.raises(InvalidInput):
        sell(store, partner, cover, **{field: "2010-06-01"})
    with clock.freeze(shipped.STILL + timedelta(days=2)):
        assert sell(store, partner, cover, **{field: "2010-06-01"}).policy["dob"] == "2010-06-01"


def test_a_renewal_asks_for_the_age_of_the_new_term(store: Store, partner: Partner) -> None:
    cover = insurer_g.PERSONAL_ACCIDENT
    says(store, cover, 16)
    sale = sell(store, partner, cover, dob="2010-06-01")
    says(store, cover, 18, from_days=30)
    with clock.freeze(clock.midnight(date(2027, 11, 18))), pytest.raises(NotRenewable) as refusal:
        renew(store, partner, sale.policy_id)
    assert [fault["field"] for fault in refusal.value.detail["faults"]] == ["dob"]
    with clock.freeze(clock.midnight(date(2028, 11, 18))):
        assert renew(store, partner, sale.policy_id).policy["active"] is True
