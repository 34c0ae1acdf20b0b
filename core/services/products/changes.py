"""Changes of a product by an admin: on and off, distributors, texts (contract M2, A4); rates are in `rate_changes`.

Every change names the product version that the caller saw, and increments it.
"""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

import nh3
import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock
from core.covers import request
from core.covers.request import Request
from core.errors import InvalidInput, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.people.account_changes import require_admin
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Product, ProductBlock

_ALLOWED_TAGS = {"p", "br", "ul", "ol", "li", "b", "strong", "i", "em", "a"}


def set_active(session: ScopedSession, product_id: UUID, *, active: bool, seen_version: int, by: Person) -> None:
    """Activate or deactivate a product for everybody, from now on; policies in force stay so (contract S3)."""
    require_admin(by)
    row = next_version(session, product_id, seen_version)
    before, row.active = row.active, active
    session.flush()
    action = "product switched on" if active else "product switched off"
    audit_change(session, product_id, action, by=by, before={"active": before}, after={"active": active})


def set_offered(
    session: ScopedSession, product_id: UUID, distributor_id: UUID, *, offered: bool, seen_version: int, by: Person
) -> None:
    """Offer a product to one distributor or withhold it, from now on (contract M2)."""
    require_admin(by)
    next_version(session, product_id, seen_version)
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
        session.insert_if_absent(block)
    distributor_facts = {"distributor_id": str(distributor_id), "distributor": name}
    action = "product offered to a distributor" if offered else "product withheld from a distributor"
    audit_change(
        session,
        product_id,
        action,
        by=by,
        before={**distributor_facts, "offered": not offered},
        after={**distributor_facts, "offered": offered},
    )


class ProductTexts(Request):
    """The texts that customers read about a product; the key benefits are HTML of a few safe elements."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset(
        {"description", "key_benefits", "how_it_works", "how_to_claim"}
    )
    suggests_spelling: ClassVar[bool] = False
    description: str = Field(min_length=10, max_length=2000)
    key_benefits: str = Field(min_length=1, max_length=5000)
    how_it_works: str | None = Field(default=None, max_length=4000)
    how_to_claim: str | None = Field(default=None, max_length=4000)


def change_texts(
    session: ScopedSession, product_id: UUID, inputs: Mapping[str, Any], *, seen_version: int, by: Person
) -> None:
    """Change the texts of a product; InvalidInput names every invalid field. Unsafe HTML is removed."""
    require_admin(by)
    validated: ProductTexts = request.validate(ProductTexts, dict(inputs))
    new = {**validated.model_dump(), "key_benefits": sanitise_html(validated.key_benefits)}
    if not nh3.clean(new["key_benefits"], tags=set()).strip():
        raise InvalidInput.for_field("key_benefits", "must say something")
    row = next_version(session, product_id, seen_version)
    before = {name: getattr(row, name) for name in new}
    changed = [name for name in new if new[name] != before[name]]
    if not changed:
        raise StateForbids("These are the texts that stand there already: nothing would change")
    for name in changed:
        setattr(row, name, new[name])
    session.flush()
    audit_change(
        session,
        product_id,
        "product described",
        by=by,
        before={name: before[name] for name in changed},
        after={name: new[name] for name in changed},
    )


def sanitise_html(html: str) -> str:
    """Sanitise HTML: only paragraphs, lists, emphasis and https links remain."""
    return nh3.clean(html, tags=_ALLOWED_TAGS, attributes={"a": {"href"}}, url_schemes={"https"})


def next_version(session: ScopedSession, product_id: UUID, seen: int) -> Product:
    """The row of a product, held, as its next version; StaleVersion when it is not what was `seen`."""
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


def audit_change(
    session: ScopedSession,
    product_id: UUID,
    action: str,
    *,
    by: Person,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    """Write a change of a product down, with the state before and after."""
    subject = audit.subject_of("product", product_id)
    audit.write(session, actor=by.actor, action=action, subject=subject, before=before, after=after)
