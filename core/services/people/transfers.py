"""Payments of whatever kind: transfers with their references, payments and returns as rows, and frozen payees (K2, K9).

Claims, credit notes and parties are paid by rows of `Paid`, each of a transfer. A reference names one transfer in its
mode, whatever it paid; the store keeps it unique. A transfer may pay several claims.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, TypeVar
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core import ids, seal
from core.covers.fields import fault
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.store.access import ScopedSession
from core.store.schema.finance import Paid
from core.store.schema.tables import ClaimPayment, CreditNotePayment, PartyPayment, PaymentPayee, Transfer

LONGEST_REFERENCE: Final = 60
TAKEN: Final = "was used for another payment already: give the reference of this one"
ACCOUNT: Final = "account_number"
OWN_PAYMENT: Final = "You noted this payment: somebody else notes that it came back"
# Begins the key of a transfer whose reference named somebody who was erased; no reference that is typed has the sign.
ERASED_KEY: Final = "erased:"
PaidRow = TypeVar("PaidRow", ClaimPayment, CreditNotePayment, PartyPayment)
_SIGNS: Final = "-/._#"
_ALLOWED: Final = "only letters A to Z, digits, blanks and - / . _ #"


def reference_key(reference: str) -> str:
    """A bank's reference without case and blanks: two that differ in nothing else are the same.

    References from before `find_fault` may hold other characters, so those that look alike are made the same as well.
    """
    plain = unicodedata.normalize("NFKC", reference).casefold()
    return "".join(each for each in plain if not each.isspace() and unicodedata.category(each) != "Cf")


def strip_reference(reference: str) -> str:
    """Return the letters and digits of a reference: one bank row is typed as TRF/1, TRF-1 or TRF 1."""
    return "".join(each for each in reference_key(reference) if each.isalnum())


def find_fault(reference: str) -> str | None:
    """Return what is wrong with a typed reference, with the character that is refused; None where nothing is."""
    for each in reference:
        if not (each.isascii() and (each.isalnum() or each == " " or each in _SIGNS)):
            name = unicodedata.name(each, "a character without a name").lower()
            return f"has a character that a reference cannot have, {name} (U+{ord(each):04X}): use {_ALLOWED}"
    if not any(each.isalnum() for each in reference):
        return "must have a letter or a digit"
    return None


def _check_reference(value: str) -> str:
    if found := find_fault(value):
        raise fault(found)
    return value


Reference = Annotated[str, Field(max_length=LONGEST_REFERENCE), AfterValidator(_check_reference)]


@dataclass(frozen=True, slots=True)
class TypedReference:
    """A reference as it was typed into a field; None is no other one than that of the payment, for a return.

    A party that pays us chooses its reference itself: what is `received_from` it has a name among those of that party.
    """

    text: str | None
    field: str
    received_from: UUID | None = None

    @property
    def key(self) -> str:
        """The key that names a transfer; InvalidInput for a reference that no bank gives."""
        text = self.text or ""
        if found := find_fault(text):
            raise InvalidInput.for_field(self.field, found)
        return f"received:{self.received_from.hex}:{reference_key(text)}" if self.received_from else reference_key(text)

    def taken(self) -> InvalidInput:
        """Return the refusal of a reference that another payment has."""
        return InvalidInput.for_field(self.field, TAKEN)


def register(
    session: ScopedSession,
    typed: TypedReference,
    *,
    is_live: bool,
    amount_minor: int,
    by: UUID | None,
    at: datetime,
    lines: int = 1,
) -> UUID:
    """Write a transfer and return its id; InvalidInput for a reference that is wrong, or is taken.

    Whoever registers the same reference at the same instant waits here, and one of the two is refused.
    """
    values: dict[str, Any] = {"is_live": is_live, "amount_minor": amount_minor, "lines": lines, "made_by": by}
    row = Transfer(id=ids.new(), reference=typed.text or "", reference_key=typed.key, created_at=at, **values)
    if not session.insert_if_absent(row):
        raise typed.taken()
    return row.id


def check_free(session: ScopedSession, typed: TypedReference, *, is_live: bool) -> None:
    """InvalidInput for a reference that is wrong or taken now; `register` alone knows of who comes at this instant."""
    query = sa.select(col(Transfer.id)).where(
        col(Transfer.reference_key) == typed.key, col(Transfer.is_live).is_(is_live)
    )
    if session.execute(query).first() is not None:
        raise typed.taken()


def register_return(
    session: ScopedSession, paid_id: UUID, typed: TypedReference, *, amount_minor: int, by: UUID, at: datetime
) -> UUID:
    """Return the id of the transfer by which an amount of a transfer came back.

    It is that transfer itself where the bank booked the return under its reference or gave none, else one of its own.
    """
    paid = session.get_one(Transfer, paid_id)
    if not typed.text or reference_key(typed.text) == reference_key(paid.reference):
        return paid.id
    return register(session, typed, is_live=paid.is_live, amount_minor=-amount_minor, by=by, at=at)


def pay(
    session: ScopedSession,
    kind: type[PaidRow],
    typed: TypedReference,
    *,
    transfer_id: UUID | None = None,
    **values: Any,
) -> None:
    """Write a payment as a transfer of its own under this reference, or as a line of one that was registered.

    What has no mode of its own, as the money of parties, is live.
    """
    of = {"is_live": values.get("is_live", True), "amount_minor": values["amount_minor"]}
    made = transfer_id or register(session, typed, **of, by=values["paid_by"], at=values["created_at"])
    if not session.insert_if_absent(kind(id=ids.new(), transfer_id=made, **values)):
        raise typed.taken()


def take_back(
    session: ScopedSession,
    paid: PaidRow,
    typed: TypedReference,
    *,
    reason: str | None,
    by: UUID,
    at: datetime,
    value_on: date | None = None,
    by_anybody: bool = False,
) -> None:
    """Write that a payment came back, with the evidence of it; InvalidInput for a day before it was paid.

    NotAllowed for who noted the payment: one person alone would pay it again and again. What two others prepare and
    approve before it is paid again may come back `by_anybody`.
    """
    if value_on and paid.value_on and value_on < paid.value_on:
        raise InvalidInput.for_field("returned_on", "must not be before the day on which it was paid")
    if paid.paid_by == by and not by_anybody:
        raise NotAllowed(OWN_PAYMENT)
    minor = paid.amount_minor
    made = register_return(session, paid.transfer_id, typed, amount_minor=minor, by=by, at=at)
    values = paid.model_dump() | {"id": ids.new(), "transfer_id": made, "reverses": paid.id, "amount_minor": -minor}
    values |= {"value_on": value_on, "reason": reason, "paid_by": by, "created_at": at}
    if "file_id" in values:
        values["file_id"] = None
    if not session.insert_if_absent(type(paid)(**values)):
        raise StateForbids("This payment came back already")


def find_standing(session: ScopedSession, kind: type[PaidRow], *conditions: Any) -> PaidRow:
    """Return the last payment that did not come back; StateForbids where there is none."""
    back = sa.select(col(kind.reverses)).where(col(kind.reverses).is_not(None))
    query = sa.select(kind).where(*conditions, col(kind.reverses).is_(None), col(kind.id).not_in(back))
    latest = query.order_by(col(kind.created_at).desc(), col(kind.id).desc()).limit(1)
    found: PaidRow | None = session.execute(latest).scalar_one_or_none()
    if found is None:
        raise StateForbids("No payment stands: there is nothing to take back")
    return found


def sum_paid(session: ScopedSession, kind: type[Paid], *conditions: Any) -> int:
    """Return what was paid less what came back, in kobo."""
    return session.count_and_sum(col(kind.amount_minor), *conditions)[1]


def freeze_account(number: str | None) -> Mapping[str, Any]:
    """Return the columns that keep an account: sealed, its last four digits, and its key."""
    if not number:
        return {"hint": None, "sealed": None, "account_key": None}
    return {"hint": number[-4:], "sealed": seal.seal({ACCOUNT: number}), "account_key": seal.build_account_key(number)}


def open_account(sealed: str | None) -> str | None:
    """Return the number of an account that was kept so; None where there is none."""
    return seal.unseal(sealed).get(ACCOUNT)


def keep_payee(session: ScopedSession, of: Any, link: str, number: str | None, **values: Any) -> UUID:
    """Write a payee of a claim or a credit note, whose id is in the column `link`, and return the id of the row."""
    owned = {"distributor_id": of.distributor_id, "is_live": of.is_live, link: of.id}
    row = PaymentPayee(id=ids.new(), **owned, **{**freeze_account(number), **values})
    session.insert(row)
    return row.id
