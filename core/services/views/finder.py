"""Search across all kinds of records from one text, as far as a person may open them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import InvalidInput
from core.services.claims.lists import queue
from core.services.claims.lists.filter import ClaimFilter
from core.services.customers import table as customer_table
from core.services.customers.customers import CustomerFilter
from core.services.lists.dimensions import Choices, Dimension, load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.sales import filter as sales_filter
from core.store.access import ScopedSession
from core.store.schema.tables import Policy

Kind = Literal["policy", "purchase", "customer", "claim", "product", "distributor", "insurer"]
MAX_LENGTH: Final = sales_filter.MAX_LENGTH
_FIRST = Paging(1, 6)
_MOST_NAMED = 4
_OF_CUSTOMER = ("name", "email", "distributor", "policies")
_SHOWN = ("number", "plate", "customer", "product", "state")
# Finance may open the purchase of a policy, others the policy itself (contract A1).
_POLICY_ROLES: Final = ("operations", "claims", "supervisor")
_CLAIM_ROLES: Final = ("claims", "supervisor")
_CATALOGUE: Final[Mapping[Kind, tuple[Dimension, tuple[str, ...]]]] = {
    "product": ("product", ("operations",)),
    "distributor": ("distributor", ("admin",)),
    "insurer": ("provider", ("admin",)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One record that was found: its kind and id, its name, and a line that tells it from others."""

    kind: Kind
    id: UUID
    title: str
    detail: str


def find_records(session: ScopedSession, text: str, person: Person) -> list[Hit]:
    """Return the first records of each kind that a text finds, only of kinds that the person may open.

    A text is any part of a name, a policy number, claim reference, plate, e-mail, phone or id; InvalidInput when it
    is too short or too long.
    """
    bare = sales_filter.normalise_text(text)
    if not bare:
        return []
    names = load_choices(session)
    sources: tuple[tuple[tuple[str, ...], Callable[[], Iterator[Hit]]], ...] = (
        (("operations", "claims", "supervisor", "finance"), lambda: _find_policies(session, bare, names, person)),
        (_POLICY_ROLES, lambda: _find_customers(session, bare, names)),
        (_CLAIM_ROLES, lambda: _find_claims(session, bare)),
    )
    found = [hit for roles, find in sources if person.has_role(*roles) for hit in find()]
    return [*found, *_find_in_catalogue(bare, names, person)]


def _find_policies(session: ScopedSession, text: str, names: Choices, person: Person) -> Iterator[Hit]:
    try:
        page = policies.search_policies(session, PolicyFilter(find=text), names, shown=_SHOWN, paging=_FIRST)
    except InvalidInput:
        return
    rows = page.items
    if person.has_role(*_POLICY_ROLES):
        yield from (_build_policy_hit("policy", row.id, row) for row in rows)
        return
    query = sa.select(col(Policy.id), col(Policy.purchase_id)).where(col(Policy.id).in_([row.id for row in rows]))
    purchases = {row.id: row.purchase_id for row in session.execute(query)}
    yield from (_build_policy_hit("purchase", purchases[row.id], row) for row in rows)


def _build_policy_hit(kind: Kind, key: UUID, row: Row) -> Hit:
    number, plate = row["number"], row["plate"]
    parts = (row["customer"], row["product"], row["state"], plate if number else None)
    return Hit(kind=kind, id=key, title=number or plate or "Without a number", detail=" · ".join(filter(None, parts)))


def _find_customers(session: ScopedSession, text: str, names: Choices) -> Iterator[Hit]:
    page = customer_table.list_customers(session, CustomerFilter(search=text), names, shown=_OF_CUSTOMER, paging=_FIRST)
    for row in page.items:
        policies = f"{row['policies']} {'policy' if row['policies'] == 1 else 'policies'}"
        detail = f"{row['email']} · {row['distributor']} · {policies}"
        yield Hit(kind="customer", id=row.id, title=row["name"], detail=detail)


def _find_claims(session: ScopedSession, text: str) -> Iterator[Hit]:
    for row in queue.list_rows(session, ClaimFilter(search=text), paging=_FIRST):
        yield Hit(
            kind="claim",
            id=row.id,
            title=row.reference,
            detail=f"{row.claimant} · {row.claim_type} · {row.status}",
        )


def _find_in_catalogue(text: str, names: Choices, person: Person) -> Iterator[Hit]:
    searched = text.casefold()
    for kind, (dimension, roles) in _CATALOGUE.items():
        if not person.has_role(*roles):
            continue
        matches = [(key, name) for key, name in names.names[dimension].items() if searched in name.casefold()]
        for key, name in matches[:_MOST_NAMED]:
            insurer = names.names["provider"].get(names.provider_of[key], "") if kind == "product" else ""
            yield Hit(kind=kind, id=key, title=name, detail=insurer)
