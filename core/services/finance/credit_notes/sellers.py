"""Sellers and enders of a policy whose premium goes back: at the desk, by a key, by a loan book (contract K2)."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.services.audit import log as audit
from core.services.people import role_grants
from core.services.people.staff import Person
from core.services.policies import sellers
from core.states.loan_books import RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import CreditNote, LoanBook, Refund

# In the log of an approval: the number of loan books that sold or ended the policy.
BOOKS: Final = "loan_books"


def has_part(session: ScopedSession, row: CreditNote, by: Person) -> bool:
    """True for who sold or renewed the policy, or may act as who did, or as who ended it, by a key or an account.

    Whoever uploaded the loan book that sold or ended it counts as who did. True for everybody where somebody of the
    desk did both, or may have, as an admin who made the password links of both: a premium that nobody paid would come
    back in good faith. A key of the command line may be anybody's.
    """
    sold_by, enders = list_sellers(session, row), _list_enders(session, row)
    holders = role_grants.list_holders(session, sold_by | enders)
    at_desk = {seller for seller in sold_by if seller.startswith(sellers.STAFF)}
    may_have_sold, may_have_ended = ({*each, *role_grants.list_holders(session, each)} for each in (at_desk, enders))
    if find_seller_and_ender(session, row) or may_have_sold & may_have_ended:
        return True
    return by.actor in {*sold_by, *holders} or any(each.startswith(f"{audit.COMMAND_LINE}, ") for each in holders)


def find_seller_and_ender(session: ScopedSession, row: CreditNote, *, by_book: bool = True) -> str | None:
    """Return who of the desk ended a policy who sold or renewed it too, or may have by a key or a link.

    With `by_book` also who uploaded the loan books that did.
    """
    enders = {each for each in _list_enders(session, row, by_book=by_book) if each.startswith(sellers.STAFF)}
    sold_by = list_sellers(session, row, by_book=by_book) if enders else set()
    held = role_grants.list_holders(session, sold_by) if sold_by else set()
    return min(enders & (sold_by | held), default=None)


def list_sellers(session: ScopedSession, row: CreditNote, *, by_book: bool = True) -> set[str]:
    """Return the actors who sold or renewed the policy of a refund, or uploaded the loan book that sold it."""
    return sellers.list_sellers(session, _find_policy(session, row), by_book=by_book)


def _list_enders(session: ScopedSession, row: CreditNote, *, by_book: bool = True) -> set[str]:
    books = list_books(session, row, RowOutcome.ENDED) if by_book else ()
    return {row.made_by, *(book.uploaded_by for book in books)}


def list_books(session: ScopedSession, row: CreditNote, *outcomes: RowOutcome) -> Sequence[LoanBook]:
    """Return the loan books that sold or ended the policy of a refund, or those that did one of both."""
    return sellers.list_books(session, _find_policy(session, row), *outcomes)


def _find_policy(session: ScopedSession, row: CreditNote) -> UUID:
    policy_id: UUID = session.get_one(Refund, row.refund_id).policy_id
    return policy_id
