"""Search across all kinds of records from one text, as far as a person may open them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.claims.lists import queue
from core.services.claims.lists.filter import ClaimFilter
from core.services.customers import table as customer_table
from core.services.customers.customers import CustomerFilter
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.reading import CreditNoteFilter
from core.services.finance.payments import payouts
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.reading import PaymentFilter
from core.services.finance.statements import reading as statement_reading
from core.services.lists.dimensions import Choices, Dimension, load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.mail.mail import takes_mail
from core.services.people.personal import format_phone
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.sales import search as sales_search
from core.store.access import ScopedSession
from core.store.schema.tables import Policy

_Paper = Literal["statement", "payout", "payment", "credit_note"]
Kind = Literal["policy", "purchase", "customer", "claim", "product", "distributor", "insurer"] | _Paper
MAX_LENGTH: Final = sales_search.MAX_LENGTH
_FIRST = Paging(1, 6)
_MOST_NAMED = 4
# So many policies are named to the next statement; a text that finds more is asked for anew.
_MOST_FOUND: Final = 1_000
_OF_CUSTOMER = ("name", "phone", "email", "distributor", "policies")
_SHOWN = ("number", "plate", "customer", "phone", "product", "state")
# Finance may open the purchase of a policy, others the policy itself (contract A1).
_SALE_ROLES: Final = ("operations", "claims", "supervisor", "finance")
_POLICY_ROLES: Final = ("operations", "claims", "supervisor")
_CLAIM_ROLES: Final = ("claims", "supervisor")
_PAPER_ROLES: Final = ("finance",)
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

    A text is any part of a name, a policy number, claim reference, plate, e-mail, phone or id, for finance the number
    of a paper, a bank reference or an amount as well; InvalidInput when it is too short or too long.
    """
    bare = sales_search.normalise_text(text)
    if not bare:
        return []
    names = load_choices(session)
    on_policies = _Policies(session, bare)
    sources: tuple[tuple[tuple[str, ...], Callable[[], Iterator[Hit]]], ...] = (
        (_SALE_ROLES, lambda: _find_policies(session, bare, names, person, on_policies)),
        (_POLICY_ROLES, lambda: _find_customers(session, bare, names)),
        (_CLAIM_ROLES, lambda: _find_claims(session, bare, on_policies)),
        (_PAPER_ROLES, lambda: _find_papers(session, bare)),
    )
    found = [hit for roles, find in sources if person.has_role(*roles) for hit in find()]
    return [*found, *_find_in_catalogue(bare, names, person)]


class _Policies:
    """The policies that a text finds, looked for once: each time walks an index of every policy."""

    def __init__(self, session: ScopedSession, text: str) -> None:
        self._session, self._text = session, text

    @cached_property
    def numbered(self) -> list[UUID] | None:
        """Those with such a number or plate; None if they are too many to be named."""
        return self._find(is_on_policy=True)

    @cached_property
    def others(self) -> list[UUID] | None:
        """Those that are found by anything else; None if they are too many."""
        return self._find(is_on_policy=False)

    def _find(self, *, is_on_policy: bool) -> list[UUID] | None:
        every = sales_search.detect_kinds(self._text)
        kinds = [kind for kind in every if (kind in sales_search.ON_POLICY) is is_on_policy]
        if not kinds:
            return []
        return policies.find_among(self._session, sales_search.select_by_kind(self._text, kinds), _MOST_FOUND)


def _find_policies(
    session: ScopedSession, text: str, names: Choices, person: Person, found: _Policies
) -> Iterator[Hit]:
    rows = _read_policies(session, text, names, found)
    if person.has_role(*_POLICY_ROLES):
        yield from (_build_policy_hit("policy", row.id, row) for row in rows)
        return
    query = sa.select(col(Policy.id), col(Policy.purchase_id)).where(col(Policy.id).in_([row.id for row in rows]))
    purchases = {row.id: row.purchase_id for row in session.execute(query)}
    yield from (_build_policy_hit("purchase", purchases[row.id], row) for row in rows)


def _read_policies(session: ScopedSession, text: str, names: Choices, found: _Policies) -> Sequence[Row]:
    """Return the newest of the policies; what finds very many is asked for by its page alone."""
    parts = (found.numbered, found.others)
    # The newest of all are among the newest of each.
    ids_ = [key for part in parts if part is not None for key in part[: _FIRST.limit]]
    if None not in parts:
        return policies.read_policies(session, list(dict.fromkeys(ids_)), names, _SHOWN)[: _FIRST.limit]
    return policies.search_policies(session, PolicyFilter(find=text), names, shown=_SHOWN, paging=_FIRST).items


def _build_policy_hit(kind: Kind, key: UUID, row: Row) -> Hit:
    number, plate = row["number"], row["plate"]
    parts = (row["customer"], format_phone(row["phone"]), row["product"], row["state"], plate if number else None)
    return Hit(kind=kind, id=key, title=number or plate or "Without a number", detail=" · ".join(filter(None, parts)))


def _find_customers(session: ScopedSession, text: str, names: Choices) -> Iterator[Hit]:
    page = customer_table.list_customers(session, CustomerFilter(search=text), names, shown=_OF_CUSTOMER, paging=_FIRST)
    for row in page.items:
        policies = f"{row['policies']} {'policy' if row['policies'] == 1 else 'policies'}"
        email = row["email"] if takes_mail(row["email"]) else None
        parts = (format_phone(row["phone"]), email, row["distributor"], policies)
        yield Hit(kind="customer", id=row.id, title=row["name"], detail=" · ".join(filter(None, parts)))


def _find_claims(session: ScopedSession, text: str, found: _Policies) -> Iterator[Hit]:
    for row in queue.list_rows(session, ClaimFilter(search=text), paging=_FIRST, policy_ids=found.numbered):
        parts = (row.claimant, format_phone(row.phone), row.claim_type, row.status)
        yield Hit(kind="claim", id=row.id, title=row.reference, detail=" · ".join(filter(None, parts)))


def _find_papers(session: ScopedSession, text: str) -> Iterator[Hit]:
    """Yield credit notes, statements and payouts by their numbers, for any other text payments; all but the first are
    of live records alone.
    """
    if credit_note_reading.is_number(text):
        for note in credit_note_reading.list_notes(session, CreditNoteFilter(find=text), _FIRST):
            title, detail = f"{note.number} of {note.provider}", _describe(note.customer, note.total_minor, note.state)
            yield Hit(kind="credit_note", id=note.id, title=title, detail=detail)
    elif session.scope.is_live is False:
        return
    elif statement_reading.match_number(text):
        for row in statement_reading.list_numbered(session, text, _FIRST.limit):
            detail = _describe(f"{row.paper.month:%B %Y}", row.paper.closing_minor, row.paper.state)
            yield Hit(kind="statement", id=row.id, title=f"{row.paper.number} of {row.paper.party}", detail=detail)
    elif is_meant := payouts.match_number(text):
        for batch in payment_reading.list_batches(session, *is_meant):
            detail = _describe(f"{batch.payments} payments", batch.net_minor, batch.progress)
            yield Hit(kind="payout", id=batch.id, title=batch.number, detail=detail)
    else:
        for paid in payment_reading.list_payments(session, PaymentFilter(find=text), _FIRST):
            detail = _describe(paid.bank_reference, paid.net_minor, paid.state)
            yield Hit(kind="payment", id=paid.id, title=paid.name, detail=detail)


def _describe(what: str | None, minor: int, state: str) -> str:
    return " · ".join(filter(None, (what, money.format_naira(minor), state)))


def _find_in_catalogue(text: str, names: Choices, person: Person) -> Iterator[Hit]:
    searched = text.casefold()
    for kind, (dimension, roles) in _CATALOGUE.items():
        if not person.has_role(*roles):
            continue
        matches = [(key, name) for key, name in names.names[dimension].items() if searched in name.casefold()]
        for key, name in matches[:_MOST_NAMED]:
            insurer = names.names["provider"].get(names.provider_of[key], "") if kind == "product" else ""
            yield Hit(kind=kind, id=key, title=name, detail=insurer)
