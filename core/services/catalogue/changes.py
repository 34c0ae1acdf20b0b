"""Changes of the catalogue by an admin: what is offered and how it reads, distributors and insurers."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import nh3
import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import distributors
from core.services.people import four_eyes
from core.services.people.accounts import require_admin
from core.services.people.four_eyes import Parties
from core.services.people.staff import Person
from core.states.finance import CLOSING
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Product, ProductBlock, Provider

_ALLOWED_TAGS = {"p", "br", "ul", "ol", "li", "b", "strong", "i", "em", "a"}


def set_active(session: ScopedSession, product_id: UUID, *, active: bool, seen_version: int, by: Person) -> None:
    """Activate or deactivate a product for everybody, from now on; policies in force stay so (contract S3)."""
    require_admin(by)
    row = next_version(session, product_id, seen_version)
    before, row.active = row.active, active
    session.flush()
    action = "product switched on" if active else "product switched off"
    audit_change(session, product_id, action, by=by, before={"active": before}, after={"active": active})


def get_distributor_name(session: ScopedSession, distributor_id: UUID) -> str:
    """Return the name of a distributor; NotFound for an unknown id."""
    query = sa.select(col(Distributor.business_name)).where(col(Distributor.id) == distributor_id)
    return session.find_scalar(query, otherwise="There is no such distributor")


def set_offered(
    session: ScopedSession, product_id: UUID, distributor_id: UUID, *, offered: bool, seen_version: int, by: Person
) -> None:
    """Offer a product to one distributor or withhold it, from now on (contract M2)."""
    require_admin(by)
    next_version(session, product_id, seen_version)
    name = get_distributor_name(session, distributor_id)
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
    query = query.with_for_update().execution_options(populate_existing=True)
    row = session.find_scalar(query, otherwise="There is no such product")
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


# Changes to distributors and insurers by an admin, each audited with before and after (contract M2, A4).

_MIN_STEP = timedelta(milliseconds=1)
_NAME_TAKEN = "belongs to another distributor already"
Row = TypeVar("Row", Distributor, Provider)


class DistributorInput(Request):
    """The editable fields of a distributor; the name is shown on screens, statements and certificates."""

    name: fields.Name
    email: fields.Email | None = None


class InsurerInput(Request):
    """The editable fields of an insurer: name and contact details."""

    company_name: fields.Name
    first_name: fields.Name
    last_name: fields.Name
    email: fields.Email
    phone_number: fields.Phone
    business_email: fields.Email | None = None
    claim_email: fields.Email | None = None
    support_email: fields.Email | None = None
    business_type: str | None = Field(default=None, max_length=60)


def add_distributor(session: ScopedSession, distributor_id: UUID, inputs: Mapping[str, Any], *, by: Person) -> None:
    """Add a distributor; its keys are issued separately.

    The caller generates `distributor_id`, so that repeating the call adds it once. InvalidInput names every invalid
    field.
    """
    require_admin(by)
    validated: DistributorInput = request.validate(DistributorInput, dict(inputs))
    distributors.hold_names(session)
    if session.get(Distributor, distributor_id) is not None:
        return
    if distributors.find_by_name(session, validated.name):
        raise InvalidInput.for_field("name", _NAME_TAKEN)
    row = Distributor(id=distributor_id, business_name=validated.name, email=validated.email)
    session.insert(row)
    _record(session, "distributor", row.id, "distributor added", by=by, before=None, after=_describe_distributor(row))


def change_distributor(
    session: ScopedSession, distributor_id: UUID, inputs: Mapping[str, Any], *, seen_at: datetime, by: Person
) -> None:
    """Change a distributor's name and e-mail; `seen_at` is the `updated_at` that the caller saw.

    NotAllowed for whoever takes their own e-mail off it.
    """
    require_admin(by)
    validated: DistributorInput = request.validate(DistributorInput, dict(inputs))
    # A month that is closed at this instant has the names of its journal.
    session.next_in_transaction(CLOSING)
    distributors.hold_names(session)
    row = _get_for_update(session, Distributor, distributor_id, seen_at)
    if distributors.find_by_name(session, validated.name, but=distributor_id):
        raise InvalidInput.for_field("name", _NAME_TAKEN)
    before = _describe_distributor(row)
    _refuse_hiding(row, validated, by)
    row.business_name, row.email = validated.name, validated.email
    _save_change(
        session, row, "distributor", "distributor changed", by=by, before=before, after=_describe_distributor(row)
    )


def set_distributor_active(
    session: ScopedSession, distributor_id: UUID, *, active: bool, seen_at: datetime, by: Person
) -> None:
    """Activate or deactivate a distributor: when inactive, all its keys are refused at once with 401 (contract M3).

    Its policies, claims and renewals stay, and the desk goes on serving them.
    """
    require_admin(by)
    row = _get_for_update(session, Distributor, distributor_id, seen_at)
    before, row.active = _describe_distributor(row), active
    action = "distributor switched on" if active else "distributor switched off"
    _save_change(session, row, "distributor", action, by=by, before=before, after=_describe_distributor(row))


def change_insurer(
    session: ScopedSession, provider_id: UUID, inputs: Mapping[str, Any], *, seen_at: datetime, by: Person
) -> None:
    """Change an insurer's name, class and contact details; its connection is a server setting.

    NotAllowed for whoever takes their own e-mail or phone off it.
    """
    require_admin(by)
    validated: InsurerInput = request.validate(InsurerInput, dict(inputs))
    session.next_in_transaction(CLOSING)
    row = _get_for_update(session, Provider, provider_id, seen_at)
    before = _describe_insurer(row)
    _refuse_hiding(row, validated, by)
    for name, value in validated.model_dump().items():
        setattr(row, name, value)
    _save_change(session, row, "insurer", "insurer changed", by=by, before=before, after=_describe_insurer(row))


def _refuse_hiding(row: Distributor | Provider, given: Any, by: Person) -> None:
    """NotAllowed for whoever takes their own e-mail or phone off a party, which would tell that it is theirs (K12)."""
    contacts = {**dict.fromkeys(four_eyes.EMAILS, "emails"), "phone_number": "phones"}
    for name, held in contacts.items():
        before = getattr(row, name, None)
        own = Parties(**{held: frozenset({before.lower()} if before else ())})
        if before and getattr(given, name, before) != before and own.is_own(by):
            raise NotAllowed("It has your own e-mail or phone: another admin changes it")


def _describe_distributor(row: Distributor) -> dict[str, Any]:
    return {"name": row.business_name, "email": row.email, "active": row.active}


def _describe_insurer(row: Provider) -> dict[str, Any]:
    return {name: getattr(row, name) for name in InsurerInput.model_fields}


def _get_for_update(session: ScopedSession, entity: type[Row], row_id: UUID, seen_at: datetime) -> Row:
    """Return the row locked for update; StaleVersion if it changed since `seen_at`."""
    query = sa.select(entity).where(col(entity.id) == row_id, col(entity.deleted_at).is_(None))
    unknown = f"There is no such {'distributor' if entity is Distributor else 'insurer'}"
    query = query.with_for_update().execution_options(populate_existing=True)
    row = session.find_scalar(query, otherwise=unknown)
    if row.updated_at != seen_at:
        raise StaleVersion("Somebody else changed this meanwhile")
    return row


def _save_change(
    session: ScopedSession,
    row: Distributor | Provider,
    kind: str,
    action: str,
    *,
    by: Person,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    if before == after:
        raise StateForbids("This is the present text: nothing would change")
    # Two changes within a millisecond need different timestamps.
    row.updated_at = max(clock.now(), row.updated_at + _MIN_STEP)
    session.flush()
    _record(session, kind, row.id, action, by=by, before=before, after=after)


def _record(
    session: ScopedSession,
    kind: str,
    row_id: UUID,
    action: str,
    *,
    by: Person,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
) -> None:
    audit.write(
        session, actor=by.actor, action=action, subject=audit.subject_of(kind, row_id), before=before, after=after
    )
