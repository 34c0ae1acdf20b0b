"""What an admin changes of a product: rates from an instant on, on and off, its texts (contract S4, M2, A4).

Every change names the version of the product that was seen, and makes the next one.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

import nh3
import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import list_prices, request
from core.covers.request import Request
from core.covers.tariff import Tariff
from core.covers.tariff_reading import typed_tariff
from core.errors import InvalidInput, NotFound, StaleVersion, StateForbids
from core.services.office import audit
from core.services.people.staff import Person
from core.services.people.staff_changes import refuse_unless_admin
from core.services.products import product_detail
from core.services.products.product_detail import ProductDetail, RatesFrom
from core.store.scope import ScopedSession
from core.store.tables import Distributor, Product, ProductBlock, ProductVersion

FARTHEST = timedelta(days=5 * 365)
_TAGS = {"p", "br", "ul", "ol", "li", "b", "strong", "i", "em", "a"}


def plan(
    session: ScopedSession,
    product_id: UUID,
    typed: Mapping[str, Any],
    *,
    start: UUID,
    effective_at: datetime | None,
    seen: int,
    by: Person,
) -> UUID:
    """Charge other figures from an instant on; none means from now. The id of the new version.

    `typed` are figures by their fields (`covers.tariff_reading`); what is not typed is that of the version
    `start`. InvalidInput names every fault, StateForbids says that nothing would change, StaleVersion that the
    product is not what was seen. Policies that are sold already keep what they were sold at (contract S4).
    """
    refuse_unless_admin(by)
    row = _next(session, product_id, seen)
    product = product_detail.one(session, product_id)
    tariff = typed_tariff(product.changeable(_version(product, start)), typed)
    at = effective_at or clock.now()
    _refuse_time(product, at)
    before = product.charged_at(at)
    if before.tariff == tariff:
        raise StateForbids("These are the rates that hold at that time already: nothing would change")
    version = ProductVersion(
        id=ids.new(),
        product_id=row.id,
        effective_at=at,
        price_minor=money.to_minor(tariff.price),
        mca_commission_bp=tariff.mca_bp,
        distributor_commission_bp=tariff.distributor_bp,
        cover_months=tariff.cover_months,
        meta=dict(tariff.meta),
        created_at=clock.now(),
    )
    session.insert(version)
    after = {"effective_at": clock.wire(at), "version_id": str(version.id), **facts_of(tariff)}
    _note(session, product_id, "rates planned", by=by, before=facts_of(before.tariff), after=after)
    return version.id


def withdraw(session: ScopedSession, product_id: UUID, version_id: UUID, *, seen: int, by: Person) -> None:
    """Take a planned change back; StateForbids once it is in force, or was withdrawn already."""
    refuse_unless_admin(by)
    _next(session, product_id, seen)
    planned = _version(product_detail.one(session, product_id), version_id)
    if planned.state != "Planned":
        raise StateForbids("Only a change that is still to come can be withdrawn")
    session.execute(
        sa.update(ProductVersion)
        .where(col(ProductVersion.id) == version_id)
        .values(withdrawn_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    before = {"effective_at": clock.wire(planned.effective_at), **facts_of(planned.tariff)}
    after = {"version_id": str(version_id), "withdrawn": True}
    _note(session, product_id, "rates withdrawn", by=by, before=before, after=after)


def switch(session: ScopedSession, product_id: UUID, *, on: bool, seen: int, by: Person) -> None:
    """Sell a product, or sell it no more, from now on and to everybody; policies in force stay so (contract S3)."""
    refuse_unless_admin(by)
    row = _next(session, product_id, seen)
    before, row.active = row.active, on
    session.flush()
    action = "product switched on" if on else "product switched off"
    _note(session, product_id, action, by=by, before={"active": before}, after={"active": on})


def offer(
    session: ScopedSession, product_id: UUID, distributor_id: UUID, *, offered: bool, seen: int, by: Person
) -> None:
    """Let one distributor sell a product, or no more, from now on (contract M2)."""
    refuse_unless_admin(by)
    _next(session, product_id, seen)
    name = session.execute(
        sa.select(col(Distributor.business_name)).where(col(Distributor.id) == distributor_id)
    ).scalar_one_or_none()
    if name is None:
        raise NotFound("There is no such distributor")
    block = ProductBlock(product_id=product_id, distributor_id=distributor_id, created_at=clock.now())
    if offered:
        mine = sa.and_(col(ProductBlock.product_id) == product_id, col(ProductBlock.distributor_id) == distributor_id)
        session.execute(sa.delete(ProductBlock).where(mine).execution_options(synchronize_session=False))
    else:
        session.insert_once(block)
    said = {"distributor_id": str(distributor_id), "distributor": name}
    action = "product offered to a distributor" if offered else "product withheld from a distributor"
    _note(
        session,
        product_id,
        action,
        by=by,
        before={**said, "offered": not offered},
        after={**said, "offered": offered},
    )


class Texts(Request):
    """What customers read about a product; the key benefits are HTML of a few harmless elements."""

    prose: ClassVar[frozenset[str]] = frozenset({"description", "key_benefits", "how_it_works", "how_to_claim"})
    suggests: ClassVar[bool] = False
    description: str = Field(min_length=10, max_length=2000)
    key_benefits: str = Field(min_length=1, max_length=5000)
    how_it_works: str | None = Field(default=None, max_length=4000)
    how_to_claim: str | None = Field(default=None, max_length=4000)


def describe(session: ScopedSession, product_id: UUID, said: Mapping[str, Any], *, seen: int, by: Person) -> None:
    """Change the texts of a product; InvalidInput names every fault. What is not harmless HTML is taken out."""
    refuse_unless_admin(by)
    wanted: Texts = request.read(Texts, dict(said))
    new = {**wanted.model_dump(), "key_benefits": harmless(wanted.key_benefits)}
    if not nh3.clean(new["key_benefits"], tags=set()).strip():
        raise InvalidInput.one("key_benefits", "must say something")
    row = _next(session, product_id, seen)
    before = {name: getattr(row, name) for name in new}
    changed = [name for name in new if new[name] != before[name]]
    if not changed:
        raise StateForbids("These are the texts that stand there already: nothing would change")
    for name in changed:
        setattr(row, name, new[name])
    session.flush()
    _note(
        session,
        product_id,
        "product described",
        by=by,
        before={name: before[name] for name in changed},
        after={name: new[name] for name in changed},
    )


def harmless(html: str) -> str:
    """HTML of which only paragraphs, lists, emphasis and https links are left."""
    return nh3.clean(html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes={"https"})


def facts_of(tariff: Tariff) -> dict[str, Any]:
    """What the log tells of rates, as plain data."""
    return {
        "price": list_prices.written(list_prices.list_price(tariff.rates)),
        "platform_commission": f"{tariff.mca_commission:.2f}",
        "distributor_commission": f"{tariff.distributor_commission:.2f}",
        "cover_months": tariff.cover_months,
        "meta": dict(tariff.meta),
    }


def _next(session: ScopedSession, product_id: UUID, seen: int) -> Product:
    """The row of a product, held, as its next version."""
    query = sa.select(Product).where(col(Product.id) == product_id, col(Product.deleted_at).is_(None))
    found = session.execute(query.with_for_update().execution_options(populate_existing=True))
    row: Product | None = found.scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such product")
    if row.version != seen:
        raise StaleVersion("Somebody else changed this product meanwhile", detail={"version": row.version})
    row.version += 1
    row.updated_at = clock.now()
    session.flush()
    return row


def _version(product: ProductDetail, version_id: UUID) -> RatesFrom:
    for version in product.versions:
        if version.id == version_id:
            return version
    raise NotFound("The product has no such rates")


def _refuse_time(product: ProductDetail, at: datetime) -> None:
    now = clock.now()
    if at < now:
        raise InvalidInput.one("effective_at", "must not be in the past: choose At once, or a later time")
    if at > now + FARTHEST:
        raise InvalidInput.one("effective_at", "must be within five years")
    if any(version.effective_at == at and version.withdrawn_at is None for version in product.versions):
        raise InvalidInput.one("effective_at", "must be another time: a change is planned for this one already")


def _note(
    session: ScopedSession,
    product_id: UUID,
    action: str,
    *,
    by: Person,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    subject = audit.subject_of("product", product_id)
    audit.write(session, actor=by.actor, action=action, subject=subject, before=before, after=after)
