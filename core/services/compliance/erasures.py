"""Erasures: one person prepares what is to be erased, another carries it out, and a certificate remains (contract D2).

Records become figures without a person; nothing is deleted that a sum is made of. Own records are rewritten column by
column; then every text column of every table is searched for the values that are the person's alone, so that a column
which nobody thought of is found too. Every erasure is remembered by the ids of its records, and applied again to a
store that was restored from a backup.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, ids, seal
from core.covers import request
from core.covers.endorsements import REGISTRATION
from core.covers.request_parts import fold_text
from core.errors import StateForbids, first_of
from core.seal import ERASED
from core.services.audit import log as audit
from core.services.audit.log import AUDIT_KIND
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.review import twins
from core.services.compliance import figures, retention
from core.services.compliance.own_records import (
    PersonRows,
    erase_rows,
    escape,
    find_changes,
    find_shared_numbers,
    in_chunks,
    list_numbers,
    load_in,
    run,
    run_in,
    search,
)
from core.services.compliance.personal_values import ERASED_DOMAIN, PersonalValues, list_texts, phone_spellings
from core.services.files.links import parse_stored_code
from core.services.finance import proofs as bordereau_proofs
from core.services.finance.bordereaux import bordereaux, columns
from core.services.finance.proofs import seal_redacted
from core.services.people.four_eyes import NotedProposals
from core.services.people.staff import Person
from core.services.people.transfers import ERASED_KEY
from core.services.policies import policies as endorsements
from core.store.access import ScopedSession
from core.store.expressions import matches
from core.store.operations import blob_storage
from core.store.rows import build_row
from core.store.schema import tables
from core.store.schema.columns import table_of
from core.store.schema.finance import VIEW
from core.store.schema.tables import (
    Adjustment,
    AuditEntry,
    Bordereau,
    BordereauLine,
    Claim,
    Complaint,
    Customer,
    DataRequest,
    Erasure,
    ErasureWindow,
    KeptAnswer,
    Mail,
    Policy,
    Purchase,
    Redaction,
    Refund,
    Renewal,
    SaleDraft,
    Statement,
    StatementLine,
    Transfer,
    UploadedFile,
)

# The columns of bordereaux that say something of a person.
_OF_PERSON: Final = frozenset(
    {"insured_first_name", "insured_full_name", "insured", "claimant", "state", "loss_description", "loss_location"}
)


def redact_log(session: ScopedSession, subjects: Sequence[str], values: PersonalValues, erasure_id: UUID) -> int:
    """Take a person out of the audit log; who did what and when stays. Returns the number of changed entries.

    An entry is the person's own when it is about one of their records (`subjects`, each a kind and an id) or names one.
    """
    ids = [subject.partition(" ")[2] for subject in subjects]
    found = {entry.id: (entry, False) for entry in _load(session, _mentions(values.patterns()))}
    about = [col(AuditEntry.subject).in_(some) for some in in_chunks(subjects)]
    found |= {entry.id: (entry, True) for entry in _load(session, [*about, *_mentions(ids)])}
    return sum(_redact(session, entry, values, erasure_id, is_own=is_own) for entry, is_own in found.values())


def _mentions(texts: Sequence[str]) -> list[Any]:
    sides = [sa.func.coalesce(sa.cast(col(side), sa.String), "") for side in (AuditEntry.before, AuditEntry.after)]
    return [
        sa.or_(*(matches(side, sa.literal(f"%{escape(text)}%")) for side in sides for text in some))
        for some in in_chunks(sorted(set(texts)))
    ]


def _load(session: ScopedSession, conditions: Sequence[Any]) -> list[Any]:
    columns = [col(getattr(AuditEntry, name)) for name in ("id", "hash", "before", "after")]
    return [row for each in conditions for row in session.execute(sa.select(*columns).where(each))]


def _redact(session: ScopedSession, entry: Any, values: PersonalValues, erasure_id: UUID, *, is_own: bool) -> bool:
    before, after = (values.take_out_of(side, is_own=is_own) for side in (entry.before, entry.after))
    if (before, after) == (entry.before, entry.after):
        return False
    run(session, sa.update(AuditEntry).where(col(AuditEntry.id) == entry.id).values(before=before, after=after))
    _keep(session, AUDIT_KIND, entry.id, audit.seal_redacted(entry.hash, before, after), erasure_id)
    return True


def seal_statements(
    session: ScopedSession, movements: Collection[UUID], changed: Collection[UUID], erasure_id: UUID
) -> int:
    """Seal anew the statements that printed these movements, whose lines have lost the name by now, and `changed`."""
    query = sa.select(col(StatementLine.statement_id)).distinct()
    ids = {*load_in(session, query, col(StatementLine.movement_id), movements), *changed}
    for id_ in sorted(ids):
        row: Statement = session.execute(sa.select(Statement).where(col(Statement.id) == id_)).scalar_one()
        digest = bordereau_proofs.digest_of(session, row)
        _keep(session, bordereau_proofs.STATEMENT_KIND, id_, seal_redacted(id_, row.sha256, digest), erasure_id)
    return len(ids)


def redact_bordereaux(session: ScopedSession, subjects: Sequence[UUID], erasure_id: UUID) -> int:
    """Take the person out of the rows of bordereaux about these movements and claims, and seal those anew."""
    ids: set[UUID] = set()
    for row in load_in(session, sa.select(BordereauLine), col(BordereauLine.subject_id), subjects):
        pairs = zip(columns.OF[row.kind], row.cells, strict=True)
        cells = [ERASED if column.name in _OF_PERSON and text else text for column, text in pairs]
        at = (col(BordereauLine.bordereau_id) == row.bordereau_id, col(BordereauLine.position) == row.position)
        run(session, sa.update(BordereauLine).where(*at).values(cells=cells))
        ids.add(row.bordereau_id)
    for id_ in sorted(ids):
        query = sa.select(Bordereau).where(col(Bordereau.id) == id_)
        paper: Bordereau = session.execute(query).scalar_one()
        seal = seal_redacted(id_, paper.sha256, bordereaux.hash_of(session, paper))
        _keep(session, bordereau_proofs.REDACTED_KIND, id_, seal, erasure_id)
    return len(ids)


def _list_sound_closings(session: ScopedSession, values: PersonalValues) -> set[UUID]:
    """Return the closings whose journal prints a reference that names the person, and is what it was until now."""
    transfers = [key[0] for key in find_changes(session, table_of(Transfer), values)]
    return {
        step_id
        for step_id, printed, digest in _list_journals(session, transfers)
        if digest == printed
        or bordereau_proofs.is_redacted(session, bordereau_proofs.JOURNAL_KIND, step_id, printed, digest)
    }


def _list_journals(session: ScopedSession, transfers: Sequence[UUID]) -> Iterator[tuple[UUID, str, str]]:
    for some in in_chunks(transfers):
        yield from bordereau_proofs.list_journals(session, some)


def _follow_references(
    session: ScopedSession, transfers: Sequence[UUID], sound: Collection[UUID], erasure_id: UUID
) -> None:
    """Give transfers whose reference was changed a key of their own, and seal the closed months that printed it.

    A journal that was not `sound` before stays a fault: a seal would make it good.
    """
    for id_ in transfers:
        key = f"{ERASED_KEY}{id_.hex}"
        run(session, sa.update(Transfer).where(col(Transfer.id) == id_).values(reference_key=key))
    for step_id, printed, digest in _list_journals(session, transfers):
        if step_id in sound and digest != printed:
            _keep(session, bordereau_proofs.JOURNAL_KIND, step_id, seal_redacted(step_id, printed, digest), erasure_id)


def _keep(session: ScopedSession, kind: str, record_id: UUID, seal: str, erasure_id: UUID) -> None:
    row = Redaction(kind=kind, record_id=record_id, erasure_id=erasure_id, seal=seal)
    if not session.insert_if_absent(row):
        session.update_columns(row, "erasure_id", "seal")


_GONE: Final = (
    b'{"responseCode":0,"responseText":"This answer held data of a person who was erased","data":{},"errorData":null}'
)
# Read in a way of their own: bytes, what is sealed, and the log, whose entries are sealed again.
_APART: Final = frozenset({"audit_entry", "kept_answer", "sale_draft", "event", "statement_line", "bordereau_line"})
# Endorsed fields by which a person is known anywhere, and those that are words of their own records alone.
_RECOGNISED: Final = frozenset({"email", "phone", "phone_number", *REGISTRATION.names})
_NAMES: Final = frozenset({"first_name", "last_name", "address"})
_NUMBERED: Final = re.compile(r"\d.*\s|\s.*\d")


@dataclass(slots=True)
class Erased:
    """The outcome of an erasure: changed rows by table, and the files to remove once it is committed."""

    rows: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)


def erase_people(session: ScopedSession, customer_ids: Sequence[UUID], erasure_id: UUID, *, actor: str) -> Erased:
    """Erase these customers and everything about them; needs the system's scope. Safe to repeat."""
    people, erased = _find_rows(session, customer_ids), Erased()
    values = _without_shared(session, people, _collect_values(people))
    new = [row.id for row in people.customers if not row.email.endswith(f"@{ERASED_DOMAIN}")]
    erased.files, sound = _find_files(session, people), _list_sound_closings(session, values)
    session.insert(ErasureWindow(id=1))
    erased.rows.update(erase_rows(session, people))
    erased.rows["uploaded_file"] = run_in(session, sa.delete(UploadedFile), col(UploadedFile.code), erased.files)
    erased.rows["mail"] = _erase_mail(session, people)
    changed = {table.name: search(session, table, values) for table in _searched_tables()}
    erased.rows.update({name: len(keys) for name, keys in changed.items()})
    erased.rows["kept_answer"] += _erase_answers(session, people, values)
    erased.rows["sale_draft"] += _delete_drafts(session, values)
    erased.rows["audit_entry"] += redact_log(session, people.subjects(erased.files), values, erasure_id)
    erased.rows["statement"] += seal_statements(
        session, people.movements, [key[0] for key in changed["statement_payment"]], erasure_id
    )
    _follow_references(session, [key[0] for key in changed["transfer"]], sound, erasure_id)
    reported = [*people.movements, *(claim.id for claim in people.claims)]
    erased.rows["bordereau"] += redact_bordereaux(session, reported, erasure_id)
    session.execute(sa.delete(ErasureWindow).execution_options(synchronize_session=False))
    erased.rows = +erased.rows
    for customer_id in new:
        audit.note(session, "customer", customer_id, "customer erased", actor=actor, erasure_id=str(erasure_id))
    return erased


def _find_rows(session: ScopedSession, customer_ids: Sequence[UUID]) -> PersonRows:
    def load(entity: type[SQLModel]) -> list[Any]:
        column = col(entity.customer_id) if entity is not Customer else col(Customer.id)  # type: ignore[attr-defined]
        return load_in(session, sa.select(entity), column, customer_ids)

    kinds: tuple[Any, ...] = (Purchase, Renewal, Refund, Adjustment)
    ids = {entity: [row.id for row in load(entity)] for entity in kinds}
    policies = load(Policy)
    return PersonRows(
        customers=load(Customer),
        policies=policies,
        claims=load(Claim),
        purchases=ids[Purchase],
        movements=[each for entity in kinds for each in ids[entity]],
        endorsements=[row for policy in policies for row in endorsements.find_rows(session, policy.id)],
        numbers=sorted(set(list_numbers(session, policies))),
    )


def _collect_values(people: PersonRows) -> PersonalValues:
    """Return what the person's records say of them, numbers in clear, before any of it is gone."""
    distinct: list[str | None] = [*people.numbers]
    names: list[str | None] = []
    held: list[tuple[str, str, str, str | None]] = [
        *((row.first_name, row.last_name, row.email, row.phone_number) for row in people.customers),
        *((row.first_name, row.last_name, row.email, row.phone) for row in people.policies),
    ]
    for first, last, email, phone in held:
        names += [first, last]
        distinct += [email, f"{first} {last}", *phone_spellings(phone)]
    for policy in people.policies:
        distinct += [policy.device_serial_number, policy.plate_key]
        distinct += seal.unseal(policy.sealed).values()
        names += [text for text in list_texts(policy.submitted) if " " in text or text.startswith("http")]
    for name, text in _list_endorsed(people):
        distinct += [text, *phone_spellings(text if text[1:].isdigit() else None)] if name in _RECOGNISED else []
        names += [text] if name in _NAMES else []
    for claim in people.claims:
        distinct += [claim.claim_owner_email, f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}"]
        distinct += phone_spellings(claim.claim_owner_phone_number)
        distinct += seal.unseal(claim.sealed).values()
        names += [claim.claim_owner_first_name, claim.claim_owner_last_name]
    for address in (customer.address for customer in people.customers):
        # Without a number it is a town or a street, which is in the records of others as well.
        (distinct if address and _NUMBERED.search(address) else names).append(address)
    is_gone = (f"@{ERASED_DOMAIN}", ERASED, "Erased ")
    return PersonalValues.of(
        (value for value in distinct if value and not any(mark in value for mark in is_gone)),
        (name for name in names if name and name != "Erased"),
    )


def _list_endorsed(people: PersonRows) -> Iterator[tuple[str, str]]:
    """Yield field and value of whatever an endorsement of the person's policies changed, old and new."""
    changes = (change for row in people.endorsements for change in row.changes)
    yield from ((change["field"], change[side]) for change in changes for side in ("before", "after"))


def _without_shared(session: ScopedSession, people: PersonRows, values: PersonalValues) -> PersonalValues:
    """Leave out what somebody else has as well, such as a family's home, phone or car: in their records it stays."""
    mine = [row.id for row in people.customers]
    others = col(Customer.id).not_in(mine)
    shared = find_shared_numbers(session, people)
    homes = {row.address.lower(): row.address for row in people.customers if row.address}
    lives_at = sa.func.lower(col(Customer.address))
    shared |= {homes[home] for home in load_in(session, sa.select(lives_at).where(others), lives_at, homes)}
    for value in values.distinct:
        query = sa.select(col(Customer.id)).where(
            others, sa.or_(col(Customer.name_key) == fold_text(value), col(Customer.phone_number) == value)
        )
        insured = sa.select(col(Policy.id)).where(
            col(Policy.customer_id).not_in(mine), sa.or_(col(Policy.phone) == value, col(Policy.plate_key) == value)
        )
        if session.execute(sa.union_all(query, insured).limit(1)).first():
            shared |= {value, *phone_spellings(value if value[1:].isdigit() else None)}
    return PersonalValues(tuple(value for value in values.distinct if value not in shared), values.names)


def _find_files(session: ScopedSession, people: PersonRows) -> list[str]:
    """Return the codes of all files of the person: of their claims, and those that their data links to."""
    texts: list[Any] = [[row.face_image, row.identity_verification] for row in people.customers]
    texts += [[row.submitted, row.payload] for row in people.policies]
    metas = (*META_COLUMNS, "claim_invoice_url", "offer_form_url")
    texts += [[getattr(row, name) for name in metas] for row in people.claims]
    linked = find_codes(texts)
    owners, codes = {row.distributor_id for row in people.customers}, sa.select(col(UploadedFile.code))
    mine = codes.where(col(UploadedFile.distributor_id).in_(owners))
    found = load_in(session, mine, col(UploadedFile.code), linked)
    return sorted({*found, *load_in(session, codes, col(UploadedFile.claim_id), people.ids("claim_id"))})


def find_codes(data: Any) -> set[str]:
    """Return the codes of the files of ours that plain data links to."""
    return {code for text in list_texts(data) if (code := parse_stored_code(text))}


def _erase_mail(session: ScopedSession, people: PersonRows) -> int:
    """E-mails to the person lose address and text: a salutation names them by half their name."""
    emails = {row.email.casefold() for row in people.customers} | {row.email.casefold() for row in people.policies}
    mine = [email for email in emails if not email.endswith(ERASED_DOMAIN)]
    gone = {"subject": ERASED, "body": ERASED}
    to_them = sa.update(Mail).values({"recipient": f"mail@{ERASED_DOMAIN}", **gone})
    number = run_in(session, to_them, sa.func.lower(col(Mail.recipient)), mine)
    # What is about a policy or complaint went to the person, at an address of before too.
    theirs = [audit.subject_of("policy", row.id) for row in people.policies]
    for column in ("customer_id", "policy_id"):
        found = load_in(session, sa.select(col(Complaint.id)), col(getattr(Complaint, column)), people.ids(column))
        theirs += [audit.subject_of("complaint", key) for key in found]
    number += run_in(session, to_them, col(Mail.about), theirs)
    # Those to others about a record of the person keep their address alone.
    about = [subject.replace(" ", ":") for subject in people.subjects([])]
    return number + run_in(session, sa.update(Mail).values(gone), col(Mail.about), about)


def _searched_tables() -> list[sa.Table]:
    every = tables.metadata().sorted_tables
    return [table for table in every if table.name not in _APART and not table.info.get(VIEW)]


def _erase_answers(session: ScopedSession, people: PersonRows, values: PersonalValues) -> int:
    """Answers kept for a repeated request stay kept, without the person: a repetition still sells nothing twice."""
    owners = {row.distributor_id for row in people.customers}
    keys = (col(KeptAnswer.distributor_id), col(KeptAnswer.is_live), col(KeptAnswer.key))
    query = sa.select(*keys, col(KeptAnswer.body)).where(col(KeptAnswer.distributor_id).in_(owners))
    ids = [str(row.id) for row in (*people.customers, *people.policies, *people.claims)]
    own = PersonalValues.of([*values.distinct, *ids], ())
    found = [tuple(row[:3]) for row in session.execute(query.execution_options(yield_per=1_000)) if own.is_in(row.body)]
    for key in found:
        where = [column == part for column, part in zip(keys, key, strict=True)]
        run(session, sa.update(KeptAnswer).where(*where).values(status=410, body=_GONE, headers={}))
    return len(found)


def _delete_drafts(session: ScopedSession, values: PersonalValues) -> int:
    rows = session.execute(sa.select(col(SaleDraft.id), col(SaleDraft.sealed))).all()
    found = [row.id for row in rows if any(values.is_in(text.encode()) for text in seal.unseal(row.sealed).values())]
    return run_in(session, sa.delete(SaleDraft), col(SaleDraft.id), found)


PERSON: Final = "person"


def _note(session: ScopedSession, row: Erasure, action: str, by: Person, **facts: Any) -> None:
    known = {"number": row.number, "record_class": row.record_class}
    audit.note(session, "erasure", row.id, action, actor=by.actor, **known, **facts)


PROPOSALS: Final = NotedProposals(
    Erasure,
    "erasure",
    second="somebody else",
    verb="prepared",
    role="compliance",
    allow=figures.require_role,
    note=_note,
    actions={"refused": "erasure refused", "withdrawn": "erasure taken back"},
    least_reason=10,
)
refuse, take_back = PROPOSALS.refuse_for_reason, PROPOSALS.take_back


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureRow:
    """One erasure with the names of those who prepared and decided it; `outcome` counts the changed rows by table."""

    id: UUID
    number: str
    record_class: str
    request_id: UUID | None
    customers: Sequence[str]
    before_at: datetime | None
    reason: str
    is_early: bool
    state: str
    prepared_by: UUID | None
    preparer: str | None
    prepared_at: datetime
    decider: str | None
    decided_at: datetime | None
    refusal: str | None
    outcome: Mapping[str, int]
    sha256: str | None


def prepare_for_request(session: ScopedSession, request_id: UUID, *, reason: str, early: bool, by: Person) -> UUID:
    """Prepare the erasure of everybody whom a request for erasure named; nothing is erased yet.

    StateForbids while the identity is unproven, while something stands against it, and before the end of the time
    that the law wants records kept, unless `early` says that this is known.
    """
    figures.require_role(by)
    data_request = session.find_scalar(
        sa.select(DataRequest).where(col(DataRequest.id) == request_id), otherwise="There is no such request"
    )
    if data_request.kind != "erasure" or data_request.state not in {"received", "acknowledged"}:
        raise StateForbids("Only an open request for erasure is erased")
    if data_request.identity_by is None:
        raise StateForbids("First note how the identity of the person was checked")
    if any(row.state == "open" for row in list_of_request(session, request_id)):
        raise StateForbids("The erasure of this request is prepared already: somebody else carries it out")
    reason = request.validate_text("reason", reason, least=10, most=500)
    customers = retention.with_same_email(session, [UUID(each) for each in data_request.customers])
    _refuse_obstacles(session, customers, early=early)
    return _prepare(session, PERSON, customers, by=by, reason=reason, request_id=request_id, is_early=early)


def prepare_due(session: ScopedSession, record_class: str, *, by: Person) -> UUID:
    """Prepare the erasure of what a class of records has kept for long enough; StateForbids when nothing is due."""
    figures.require_role(by)
    preview = retention.preview(session, record_class)
    if not preview.count:
        raise StateForbids("Nothing of this class is due")
    reason = f"Kept for {preview.period} after {preview.trigger.lower()}"
    return _prepare(session, record_class, preview.customers, by=by, reason=reason, before_at=preview.before_at)


def _prepare(session: ScopedSession, record_class: str, customers: Sequence[UUID], *, by: Person, **more: Any) -> UUID:
    row = Erasure(
        id=ids.new(),
        number=figures.new_number(session, "ER"),
        record_class=record_class,
        customers=sorted(map(str, customers)),
        prepared_by=by.id,
        prepared_at=clock.now(),
        **more,
    )
    session.insert(row)
    _note(session, row, "erasure prepared", by, people=len(customers), early=row.is_early)
    return row.id


def _refuse_obstacles(session: ScopedSession, customers: Sequence[UUID], *, early: bool) -> None:
    found = retention.find_obstacles(session, customers)
    if found.reasons:
        raise StateForbids(f"This cannot be erased: {'; '.join(found.reasons)}")
    if not found.keep_until or found.keep_until <= clock.today():
        return
    kept = f"The law wants these records kept until {found.keep_until:%-d %B %Y}: refuse the request with the code"
    if twins.has_paid_twin(session, customers):
        # Without the number of what is insured nothing would tell that the loss was paid already.
        raise StateForbids(
            f"{kept} “legal obligation”, as another policy insures the same loan, vehicle, traveller or place, and a"
            " claim of either was paid"
        )
    if not early:
        raise StateForbids(f"{kept} “legal obligation”, or say that they are erased early all the same")


def carry_out(session: ScopedSession, erasure_id: UUID, *, by: Person) -> list[str]:
    """Erase what somebody else prepared and return the codes of the files to remove after the commit.

    NotAllowed for who prepared it and who has a password that somebody else has just reset; StateForbids when
    something stands against it by now. Needs the system's scope.
    """
    row = PROPOSALS.open_for(session, erasure_id, by)
    PROPOSALS.require_second(session, row, by)
    customers = [UUID(each) for each in row.customers]
    if customers:
        _refuse_obstacles(session, customers, early=True)
    done = erase(session, row, actor=by.actor)
    certified = {"outcome": dict(done.rows), "sha256": _certify(row, done.rows, by)}
    PROPOSALS.decide(session, row.id, "erased", by=by, **certified)
    counts = {f"rows_{name}": count for name, count in done.rows.items()}
    _note(session, row, "erasure carried out", by, **counts, files=len(done.files))
    _answer_request(session, row, by)
    return done.files


def erase(session: ScopedSession, row: Erasure, *, actor: str) -> Erased:
    """Erase the records that an erasure names."""
    if row.record_class not in retention.LOGS:
        return erase_people(session, [UUID(each) for each in row.customers], row.id, actor=actor)
    return Erased(rows=Counter(retention.delete_log(session, row.record_class, row.before_at)))


def remove_files(codes: Sequence[str]) -> None:
    """Remove the files of erased people; call it once the transaction is committed."""
    for code in codes:
        blob_storage.remove(code)


def get_erasure(session: ScopedSession, erasure_id: UUID) -> ErasureRow:
    """Return one erasure; NotFound for an unknown id."""
    return first_of(list_erasures(session, col(Erasure.id) == erasure_id), otherwise="There is no such erasure")


def list_of_request(session: ScopedSession, request_id: UUID) -> list[ErasureRow]:
    """List the erasures of a request."""
    return list_erasures(session, col(Erasure.request_id) == request_id)


def _answer_request(session: ScopedSession, row: Erasure, by: Person) -> None:
    if row.request_id is None:
        return
    done = {"state": "answered", "outcome": f"Erased, certificate {row.number}", "version": DataRequest.version + 1}
    session.change(
        DataRequest, col(DataRequest.id) == row.request_id, **done, answered_by=by.id, answered_at=clock.now()
    )


def _certify(row: Erasure, rows: Mapping[str, int], by: Person) -> str:
    facts: dict[str, Any] = {"number": row.number, "customers": row.customers, "rows": dict(rows)}
    facts |= {"by": [str(row.prepared_by)], "decided_by": str(by.id), "at": clock.to_wire(clock.now())}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def list_erasures(session: ScopedSession, *conditions: Any) -> list[ErasureRow]:
    """List every erasure, or those of conditions, the newest first."""
    query = PROPOSALS.select_with_names().where(*conditions)
    query = query.order_by(col(Erasure.prepared_at).desc(), col(Erasure.id).desc())
    found = session.execute(query)
    return [build_row(ErasureRow, row, preparer=made_by, decider=decided_by) for row, made_by, decided_by in found]
