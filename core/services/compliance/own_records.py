"""The records of a person, column by column: what an erasure puts in the place of each, and what it leaves."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, seal
from core.covers import fields, registry
from core.covers.request import Request
from core.covers.request_parts import normalise_registration
from core.seal import ERASED
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.compliance.personal_values import ERASED_DOMAIN, PersonalValues, keep_figures
from core.store.access import ScopedSession
from core.store.expressions import matches
from core.store.schema.tables import (
    Adjustment,
    AdjustmentProposal,
    Claim,
    ClaimComment,
    ClaimEvent,
    ClaimOverride,
    ClaimPayment,
    ClaimQuestion,
    ClaimReferral,
    ClaimReserve,
    ClaimTask,
    Complaint,
    CreditNotePayment,
    Customer,
    CustomerNote,
    DataRequest,
    EndorsementNotice,
    LoanBookRow,
    PaymentPayee,
    Policy,
    PolicyEndorsement,
    Product,
    Refund,
    RenewalCall,
    StatementLine,
    Submission,
)

_CHUNK: Final = 400
# Texts about a person in the tables that hang on their records: the table, its link, and its columns.
OWN_TEXTS: Final[tuple[tuple[Any, str, tuple[str, ...]], ...]] = (
    (ClaimEvent, "claim_id", ("note",)),
    (ClaimReserve, "claim_id", ("reason",)),
    (ClaimReferral, "claim_id", ("note",)),
    (ClaimOverride, "claim_id", ("detail", "reason")),
    (ClaimComment, "claim_id", ("text",)),
    (ClaimQuestion, "claim_id", ("text", "answer")),
    (ClaimTask, "claim_id", ("text",)),
    (PaymentPayee, "claim_id", ("name", "bank_name", "reason")),
    (PaymentPayee, "credit_note_id", ("name", "bank_name", "reason")),
    (ClaimPayment, "claim_id", ("reason",)),
    (CustomerNote, "customer_id", ("text",)),
    (Refund, "policy_id", ("reason",)),
    (Adjustment, "policy_id", ("reason",)),
    (RenewalCall, "policy_id", ("note",)),
    (PolicyEndorsement, "policy_id", ("reason", "requested_by")),
    (EndorsementNotice, "policy_id", ("note",)),
    (Submission, "policy_id", ("last_error", "insurer_certificate_url")),
    (CreditNotePayment, "credit_note_id", ("reason",)),
    (AdjustmentProposal, "corrects_id", ("reason", "refusal")),
    (StatementLine, "movement_id", ("customer",)),
    (Complaint, "customer_id", ("name", "contact", "text", "outcome", "sent_acknowledgement", "sent_answer")),
    (Complaint, "policy_id", ("name", "contact", "text", "outcome", "sent_acknowledgement", "sent_answer")),
)
# Columns of everybody's records in which a value may be somebody else's too: a shared phone, an equal name.
IDENTITY: Final[Mapping[str, frozenset[str]]] = {
    "customer": frozenset({"email", "email_key", "name_key", "first_name", "last_name", "phone_number", "address"}),
    "policy": frozenset({"email", "first_name", "last_name", "phone", "plate_key", "device_serial_number"}),
    "claim": frozenset(
        {
            *("claim_owner_first_name", "claim_owner_last_name", "claim_owner_name_key"),
            *("claim_owner_email", "claim_owner_phone_number"),
        }
    ),
    "data_request": frozenset({"name", "email", "phone"}),
    "complaint": frozenset({"name", "contact"}),
}

# Of these tables of the business these columns alone are searched, which somebody types or a file has. The others are
# its figures, its codes, and words about itself, its partners and what it sells; triggers keep most of them.
TYPED: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            *("agreement", "api_key", "approval", "bank_account", "commission_share", "compliance_figure"),
            *("credit_note", "distributor", "mail_text", "payment_settlement", "product", "product_category"),
            *("product_version", "provider", "purchase", "renewal", "role_grant", "staff", "staff_detail"),
            *("staff_session", "tax_rate", "terms_proposal"),
        ),
        frozenset(),
    ),
    "approval_lapse": frozenset({"reason"}),
    "bordereau": frozenset({"note"}),
    "claim_payment_file": frozenset({"file_name"}),
    "difference": frozenset({"note", "policy_number"}),
    "erasure": frozenset({"reason", "refusal"}),
    "loan_book": frozenset({"file_name", "heading", "refusal", "unknown"}),
    "month_step": frozenset({"note"}),
    "party_payment": frozenset({"reason"}),
    "payment": frozenset({"note", "received_reference", "refused_reference"}),
    "payout_batch": frozenset({"note"}),
    "rate_proposal": frozenset({"reason"}),
    "reconciliation": frozenset({"columns", "file_name"}),
    "statement": frozenset({"note"}),
    "statement_payment": frozenset({"reference"}),
    "statement_step": frozenset({"note"}),
    "webhook_endpoint": frozenset({"description", "last_error"}),
}
# Data that only grows and in which nobody typed a word: claims by their ids, steps of arithmetic, codes.
COMPUTED: Final[Mapping[str, frozenset[str]]] = {
    "claim_override": frozenset({"duplicates"}),
    "refund": frozenset({"explained"}),
    "loan_book_row": frozenset({"also"}),
}
# Policy numbers, states, hashes and who of the staff did it stay; a person's number may occur in a hash by chance.
_CODE: Final = re.compile(
    r"(^|_)(number|key|hash|sha256|code|seal|sealed|mark|fingerprint|kind|state|status|id|actor|changed_by|sent_by"
    r"|role|method|format)$"
)
# A check of the store that a column holds one of a few words.
_ONE_OF: Final = re.compile(r"\b(\w+) IN \(")


def list_searched_columns(table: sa.Table) -> list[sa.Column[Any]]:
    """Return the columns in which an erasure looks for a person's values: data, and texts that are no codes."""
    texts = [column for column in table.c if is_text(column) and not column.primary_key]
    if table.name in TYPED:
        return [column for column in texts if column.name in TYPED[table.name]]
    left = {*IDENTITY.get(table.name, ()), *COMPUTED.get(table.name, ()), *_list_words(table)}
    return [
        column for column in texts if column.name not in left and (_is_data(column) or not _CODE.search(column.name))
    ]


def is_text(column: sa.Column[Any]) -> bool:
    """Return True for a column of text or of plain data."""
    return isinstance(_type_of(column), sa.String | sa.JSON)


def _is_data(column: sa.Column[Any]) -> bool:
    return isinstance(_type_of(column), sa.JSON)


def _type_of(column: sa.Column[Any]) -> Any:
    return column.type.impl if isinstance(column.type, sa.TypeDecorator) else column.type


def _list_words(table: sa.Table) -> set[str]:
    """Return the columns that hold one of a few words."""
    checks = (each for each in table.constraints if isinstance(each, sa.CheckConstraint))
    words = {name for check in checks for name in _ONE_OF.findall(str(check.sqltext))}
    return words | {column.name for column in table.c if _is_short(column)}


def _is_short(column: sa.Column[Any]) -> bool:
    """Return True for a column too short for a person's value, and for the text that replaces one."""
    longest = getattr(_type_of(column), "length", None)
    return longest is not None and longest < len(ERASED)


def search(session: ScopedSession, table: sa.Table, values: PersonalValues) -> list[tuple[Any, ...]]:
    """Take the person's values out of every text of a table; the keys of the changed rows."""
    changes = find_changes(session, table, values)
    for key, left in changes.items():
        where = [column == part for column, part in zip(table.primary_key, key, strict=True)]
        session.connection().execute(sa.update(table).where(*where).values(left))
    return list(changes)


def find_changes(
    session: ScopedSession, table: sa.Table, values: PersonalValues
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return what is left of the texts of a table that hold a value of the person, by the key of the row."""
    texts, keys = list_searched_columns(table), list(table.primary_key)
    if not texts or not values.distinct:
        return {}
    patterns = [sa.literal(f"%{escape(pattern)}%") for pattern in values.patterns()]
    anywhere = sa.or_(*(matches(sa.cast(c, sa.String), pattern) for c in texts for pattern in patterns))
    changes: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in session.connection().execute(sa.select(*keys, *texts).where(anywhere)).all():
        key, held = tuple(row[: len(keys)]), zip(texts, row[len(keys) :], strict=True)
        taken = ((column, text, values.take_out_of(text)) for column, text in held)
        if left := {column.name: _fit(column, key, new) for column, text, new in taken if new != text}:
            changes[key] = left
    return changes


def _fit(column: sa.Column[Any], key: tuple[Any, ...], text: Any) -> Any:
    """Return what is left of a text as its column takes it: no longer than that, and no two alike that may not be."""
    if _is_data(column):
        return text
    mark = f" {str(key[0])[-8:]}" if column.name in _list_unique(column.table) else ""
    longest = _type_of(column).length
    return text[: longest - len(mark) if longest else None] + mark


def _list_unique(table: Any) -> set[str]:
    return {
        name
        for each in table.constraints
        if isinstance(each, sa.UniqueConstraint)
        for name in each.columns.keys()  # noqa: SIM118 a collection of columns is not its names
    }


def escape(pattern: str) -> str:
    """Return a text as it stands for itself in a pattern of the database."""
    return pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


@dataclass(frozen=True, slots=True)
class PersonRows:
    """The records of one or several people; `movements` are the ids of purchases, renewals, refunds, adjustments.

    `numbers` are those of what the policies insure.
    """

    customers: Sequence[Customer]
    policies: Sequence[Policy]
    claims: Sequence[Claim]
    purchases: Sequence[UUID]
    movements: Sequence[UUID]
    endorsements: Sequence[PolicyEndorsement] = ()
    numbers: Sequence[str] = ()

    def ids(self, link: str) -> list[UUID]:
        """Return the ids that a column of this name may hold."""
        rows: Mapping[str, Any] = {"customer_id": self.customers, "policy_id": self.policies, "claim_id": self.claims}
        return [row.id for row in rows[link]] if link in rows else list(self.movements)

    def subjects(self, files: Sequence[str]) -> list[str]:
        """Return the subjects of these records in the audit log."""
        kinds = {"customer": self.customers, "policy": self.policies, "claim": self.claims}
        rows = [f"{kind} {row.id}" for kind, found in kinds.items() for row in found]
        movements = ("purchase", "renewal", "refund", "adjustment", "credit_note")
        money = [f"{kind} {id_}" for id_ in self.movements for kind in movements]
        return [*rows, *money, *(f"file {code}" for code in files)]


def list_numbers(session: ScopedSession, policies: Sequence[Policy]) -> Iterator[str]:
    """Yield the numbers of what the policies insure, in clear, as they were written and as they are compared."""
    models: dict[UUID, type[Request]] = {}
    for some in in_chunks({policy.product_id for policy in policies}):
        query = sa.select(col(Product.id), col(Product.prefix), col(Product.route_name)).where(
            col(Product.id).in_(some)
        )
        models |= {id_: registry.get_request(prefix, route) or Request for id_, prefix, route in session.execute(query)}
    for policy in policies:
        model, opened = models[policy.product_id], seal.unseal(policy.sealed)
        for name in fields.list_numbers(model):
            if number := opened.get(f"submitted.{name}") or policy.submitted.get(name):
                yield from (number, normalise_registration(number))


def find_shared_numbers(session: ScopedSession, people: PersonRows) -> set[str]:
    """Return the numbers of things that somebody else has insured as well: a car or a device that was sold on."""
    mine = [row.id for row in people.customers]
    keys = {key: number for number in people.numbers for key in (number, seal.keyed_hash("risk", number))}
    columns = (col(Policy.risk_hash), col(Policy.plate_key), col(Policy.device_serial_number))
    shared: set[str] = set()
    for some in in_chunks(keys):
        theirs = sa.or_(*(column.in_(some) for column in columns))
        rows = session.execute(sa.select(*columns).where(col(Policy.customer_id).not_in(mine), theirs))
        shared |= {normalise_registration(keys[key]) for row in rows for key in row if key in keys}
    return {number for number in people.numbers if normalise_registration(number) in shared}


def erase_rows(session: ScopedSession, people: PersonRows) -> Counter[str]:
    """Rewrite the person's records; the number of rows by table."""
    changed: Counter[str] = Counter()
    for customer in people.customers:
        changed["customer"] += _update(session, Customer, customer.id, _erased_customer(customer))
    for policy in people.policies:
        changed["policy"] += _update(session, Policy, policy.id, _erased_policy(policy))
    for claim in people.claims:
        changed["claim"] += _update(session, Claim, claim.id, _erased_claim(claim))
    changed["claim"] += _erase_claimants(session, people)
    changed["payment_payee"] += _erase_payees(session, people)
    _erase_endorsements(session, people)
    changed["loan_book_row"] += _erase_book_rows(session, people)
    for entity, link, names in OWN_TEXTS:
        changed[entity.__tablename__] += _erase_texts(session, entity, getattr(entity, link), people.ids(link), names)
    changed["data_request"] += _erase_requests(session, people)
    return changed


def _erase_book_rows(session: ScopedSession, people: PersonRows) -> int:
    """Empty the rows of loan books that the person's policies were sold from; line, outcome and premium stay."""
    gone: dict[str, Any] = {"cells": [], "facts": {}, "sealed": None, "account": None, "reason": None}
    return run_in(session, sa.update(LoanBookRow).values(gone), col(LoanBookRow.policy_id), people.ids("policy_id"))


def pseudonym(id_: UUID) -> tuple[str, str]:
    """Return the name and e-mail of somebody who was erased: no two are alike, and none leads back."""
    return f"Erased {id_.hex[-8:]}", f"erased-{id_.hex}@{ERASED_DOMAIN}"


def _erased_customer(row: Customer) -> dict[str, Any]:
    name, email = pseudonym(row.id)
    first, last = name.split()
    gone = (
        *("phone_number", "gender", "title", "state_of_residence", "city", "address", "date_of_birth"),
        *("identity_verification", "verification_type", "face_image", "country"),
    )
    return {
        **dict.fromkeys(gone),
        "first_name": first,
        "last_name": last,
        "name_key": name.lower(),
        "email": email,
        "email_key": email,
        "updated_at": clock.now(),
    }


def _erased_policy(row: Policy) -> dict[str, Any]:
    name, email = pseudonym(row.customer_id)
    first, last = name.split()
    gone = ("phone", "dob", "plate_key", "device_serial_number", "risk_hash", "twin_key", "sealed")
    return {
        **dict.fromkeys(gone),
        "first_name": first,
        "last_name": last,
        "email": email,
        "submitted": keep_figures(row.submitted),
        "payload": keep_figures(row.payload),
        "version": row.version + 1,
        "updated_at": clock.now(),
    }


def _erased_claim(row: Claim) -> dict[str, Any]:
    gone = ("incident_date", "claim_invoice_url", "offer_form_url", "sealed", "account_key", "payment_reference")
    return {
        **dict.fromkeys(gone),
        **_erased_claimant(row.customer_id),
        "claim_description": ERASED,
        "decline_reason": ERASED if row.decline_reason != "None" else "None",
        **{meta: keep_figures(held) for meta in META_COLUMNS if (held := getattr(row, meta)) is not None},
        "version": row.version + 1,
        "updated_at": clock.now(),
    }


def _erase_claimants(session: ScopedSession, people: PersonRows) -> int:
    """Claims of others that the person lodged keep their policy's data, and lose the claimant's."""
    number = 0
    for customer in people.customers:
        by_email = sa.func.lower(col(Claim.claim_owner_email)) == customer.email.lower()
        # Who gave no e-mail is known by name and phone together.
        by_name = (col(Claim.claim_owner_email) == "", col(Claim.claim_owner_name_key) == customer.name_key)
        by_phone = col(Claim.claim_owner_phone_number) == customer.phone_number
        theirs = sa.or_(by_email, sa.and_(*by_name, by_phone))
        number += run(session, sa.update(Claim).where(theirs).values(_erased_claimant(customer.id)))
    return number


def _erased_claimant(customer_id: UUID) -> dict[str, Any]:
    name, email = pseudonym(customer_id)
    first, last = name.split()
    return {
        "claim_owner_first_name": first,
        "claim_owner_last_name": last,
        "claim_owner_name_key": name.lower(),
        "claim_owner_email": email,
        "claim_owner_phone_number": None,
    }


def _erase_payees(session: ScopedSession, people: PersonRows) -> int:
    """Erase the payees' names and accounts; the payments stay."""
    texts = {"name": ERASED, "bank_name": None, "reason": ERASED}
    gone = texts | {"hint": None, "sealed": None, "account_key": None}
    update = sa.update(PaymentPayee).values(gone)
    of_claims = run_in(session, update, col(PaymentPayee.claim_id), people.ids("claim_id"))
    return of_claims + run_in(session, update, col(PaymentPayee.credit_note_id), people.movements)


def _erase_endorsements(session: ScopedSession, people: PersonRows) -> None:
    """Endorsements keep which fields they changed; their rows are counted with their texts."""
    for row in people.endorsements:
        gone = [{"field": change["field"], "before": ERASED, "after": ERASED} for change in row.changes]
        _update(session, PolicyEndorsement, row.id, {"changes": gone, "name_key": "", "email_key": ""})


def _erase_texts(
    session: ScopedSession, entity: type[SQLModel], link: Any, ids: Collection[UUID], names: Sequence[str]
) -> int:
    columns = {name: col(getattr(entity, name)) for name in names}
    updates = (
        sa.update(entity).where(column.is_not(None), column != ERASED).values({name: ERASED})
        for name, column in columns.items()
    )
    return sum(run_in(session, update, link, ids) for update in updates)


def _erase_requests(session: ScopedSession, people: PersonRows) -> int:
    """Erase the person from their requests, which stay in the register."""
    ids = {str(row.id) for row in people.customers}
    keys = [subject_key(row.email) for row in people.customers]
    number = 0
    for row in session.execute(sa.select(DataRequest)).scalars():
        if row.subject_key in keys or ids & set(row.customers):
            texts = ("name", "details", *(name for name in ("outcome", "extension_reason") if getattr(row, name)))
            values = {"email": None, "phone": None, **dict.fromkeys(texts, ERASED)}
            number += _update(session, DataRequest, row.id, values)
    return number


def subject_key(contact: str) -> str:
    """Return the keyed hash by which a person is known after their contact is gone."""
    return seal.keyed_hash("data subject", contact.strip().casefold())


def _update(session: ScopedSession, entity: Any, id_: UUID, values: Mapping[str, Any]) -> int:
    return run(session, sa.update(entity).where(col(entity.id) == id_).values(dict(values)))


def run(session: ScopedSession, statement: Any) -> int:
    """Run a statement past the rows that the session has, and return how many rows it changed."""
    done: Any = session.execute(statement.execution_options(synchronize_session=False))
    return int(done.rowcount)


def run_in(session: ScopedSession, statement: Any, column: Any, ids: Collection[Any]) -> int:
    """Like `run`, for the rows whose column has one of any number of ids."""
    return sum(run(session, statement.where(column.in_(some))) for some in in_chunks(ids))


def load_in(session: ScopedSession, query: Any, column: Any, ids: Collection[Any]) -> list[Any]:
    """Return what a query of one entity or column finds where a column has one of any number of ids."""
    return [row for some in in_chunks(ids) for row in session.execute(query.where(column.in_(some))).scalars()]


def in_chunks(ids: Collection[Any]) -> Iterator[list[Any]]:
    """Split ids for the IN of a statement."""
    listed = list(ids)
    yield from (listed[start : start + _CHUNK] for start in range(0, len(listed), _CHUNK))
