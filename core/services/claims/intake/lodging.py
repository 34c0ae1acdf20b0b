"""Lodging a claim: policies to claim on, the Pending claim, papers added or replaced (contract C1-C4, C18)."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.claims import lines
from core.covers.claims.line import ClaimLine, Endpoint
from core.covers.credit_life import CREDIT_LIFE
from core.errors import FieldFault, InvalidInput, StateForbids, raise_faults
from core.services.audit import log as audit
from core.services.claims.intake import new_claims, submitted
from core.services.claims.intake.new_claims import ClaimRequest, CreditLifeDeskRequest, NewClaim
from core.services.claims.lists import records
from core.services.claims.lists.records import ClaimRecord
from core.services.claims.review import fraud_flags, related
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow.changes import ClaimChange
from core.services.files import files
from core.services.files import links as file_links
from core.services.files.files import StoredFile
from core.services.lists.filters.fields import Condition
from core.services.people.staff import Person
from core.services.policies import certificates, policies
from core.services.sales import search as sales_search
from core.states.claims import DECIDED, ClaimStatus
from core.store import policy_numbers
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import (
    Claim,
    ClaimEvent,
    Distributor,
    Policy,
    PolicyEndorsement,
    Product,
    Provider,
    UploadedFile,
)

MAX_POLICIES: Final = 10
# A certificate says more of the thing insured than a caller is asked.
_MOST_INSURED: Final = 4
_ENDPOINTS: Final = ((CREDIT_LIFE.prefix, CREDIT_LIFE.route), *lines.list_endpoints())


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimablePolicy:
    """A policy with the facts a claim starts from; the loan is as insured, in naira, `line` None for credit life.

    `known` are fields of the claim's request that the policy answers already: plate, traveller, device, phone;
    `first_on` and `last_on` are the days of the cover.
    """

    id: UUID
    number: str
    product_id: UUID
    distributor_id: UUID
    distributor: str
    provider: str
    holder: str
    email: str
    phone: str | None
    known: Mapping[str, str]
    stage: str
    cover: Sequence[tuple[str, str]]
    first_on: date | None
    last_on: date | None
    line: ClaimLine | None
    incidents: Sequence[str]
    product: str
    insured_minor: int | None
    benefits: Sequence[str]
    loan_amount: Decimal | None
    loan_start_on: date | None
    loan_end_on: date | None


def find_policies(session: ScopedSession, text: str) -> list[ClaimablePolicy]:
    """Find policies in the session's mode by number; without one, by any part of a number, plate, name or phone.

    At most 10, the newest first; none for a text that cannot be searched.
    """
    if not text.strip():
        return []
    if found := _list(session, has_number(text)):
        return found
    try:
        return _list(session, col(Policy.id).in_(sales_search.select_policies(Policy.id, text)))
    except InvalidInput:
        return []


def _list(session: ScopedSession, condition: Condition) -> list[ClaimablePolicy]:
    query = build_policy_query(condition, _ENDPOINTS).add_columns(
        col(Distributor.business_name), col(Provider.company_name), col(Product.name).label("product")
    )
    query = query.where(col(Policy.policy_number).is_not(None))
    query = query.join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
    query = query.join(Provider, col(Provider.id) == col(Policy.provider_id)).limit(MAX_POLICIES)
    return [_claimable(row, policies.find_rows(session, row.Policy.id)) for row in session.execute(query).all()]


def _claimable(row: Any, endorsed: Sequence[PolicyEndorsement]) -> ClaimablePolicy:
    policy, submitted = row.Policy, policies.apply(row.Policy.submitted, endorsed)
    first, last = fraud_flags.get_cover_days(policy)
    start, line = submitted.get("loan_start_date"), lines.get_line_of((row.prefix, row.route_name))
    starts_on = date.fromisoformat(start[:10]) if start else first
    tenure = submitted.get("loan_tenure")
    holder = f"{policy.first_name} {policy.last_name}"
    insured = certificates.list_certificate_lines((row.prefix, row.route_name), submitted, is_shown=True)
    phone = submitted.get("phone_number") or submitted.get("phone")
    return build_row(
        ClaimablePolicy,
        policy,
        number=policy.policy_number,
        distributor=row.business_name,
        provider=row.company_name,
        holder=holder,
        phone=phone,
        known=_list_known(line, submitted, holder, phone),
        stage=policies.get_stage(policy),
        cover=[*islice(insured, _MOST_INSURED), *fraud_flags.describe_cover(policy)],
        first_on=first,
        last_on=last,
        line=line,
        incidents=sorted(line.covers[row.prefix, row.route_name]) if line else (),
        product=row.product,
        insured_minor=related.insured_minor(policy),
        benefits=submitted.get("benefit_coverage", ()),
        loan_amount=Decimal(str(submitted["loan_amount"])) if submitted.get("loan_amount") else None,
        loan_start_on=starts_on,
        loan_end_on=clock.add_months(starts_on, int(tenure)) if starts_on and tenure else last,
    )


def _list_known(
    line: ClaimLine | None, submitted: Mapping[str, Any], holder: str, phone: str | None
) -> Mapping[str, str]:
    """Return what of the claim's request the policy answers already."""
    found = {
        **({line.number_field: line.find_number(submitted)} if line and line.number_field else {}),
        "traveller_name": holder,
        "injured_person": holder,
        "incident_country": submitted.get("destination"),
        "claimant_phone_number": phone,
    }
    fields = (line.request if line else CreditLifeDeskRequest).model_fields
    return {name: str(value) for name, value in found.items() if value and name in fields}


def lodge_claim(
    session: ScopedSession, request: ClaimRequest, uploads: Sequence[StoredFile], *, owner: Owner, actor: str
) -> ClaimRecord:
    """Lodge a claim of any line as Pending, with fraud flags (contract C3, C16).

    The uploads given are stored with the claim; the other documents must be earlier uploads of the owner.
    InvalidInput names a policy number that is not one of the owner's policies of that line, and every document that
    is not an upload of the owner.
    """
    new = new_claims.read(request)
    policy, endpoint = _get_accepted_policy(session, new, uploads, owner)
    found = file_links.find_codes(new.documents)
    linked = set(found.values()) - {file.code for file in uploads}
    claim = build_initial_claim(policy, new)
    claim.flags = fraud_flags.find_flags(session, policy, endpoint, new, _list_hashes(session, uploads, linked))
    first = {"status": claim.claim_status, "created_at": claim.created_at}
    session.insert(claim, claim_changes.new_row(ClaimEvent, claim, **first))
    for file in uploads:
        files.record(session, file, owner, actor=actor, claim_id=claim.id)
    for name, code in found.items():
        if code in linked:
            _link(session, claim, code, name)
    facts: dict[str, Any] = {"policy_id": str(policy.id), "claim_status": claim.claim_status, "flags": claim.flags}
    audit.note(session, "claim", claim.id, "claim lodged", actor=actor, **facts)
    return records.get_claim(session, claim.id)


def _get_accepted_policy(
    session: ScopedSession, new: NewClaim, uploads: Sequence[StoredFile], owner: Owner
) -> tuple[Policy, Endpoint]:
    """Return the policy of the claim and its endpoint, or raise InvalidInput (contract C1, C2)."""
    query = build_policy_query(has_number(new.policy_number), new.endpoints).where(*owner.owns(Policy)).limit(1)
    row = session.execute(query).first()
    faults = _list_foreign(session, new.documents, {file.code for file in uploads}, owner)
    if row is None:
        faults.insert(0, FieldFault("policy_number", f"must be a {new.policy_words} of yours in this mode"))
    if row is None or faults:
        raise InvalidInput(faults)
    return row.Policy, (row.prefix, row.route_name)


def _list_foreign(session: ScopedSession, links: Mapping[str, str], known: Set[str], owner: Owner) -> list[FieldFault]:
    """Return a fault for each document whose address is neither that of a known file nor an upload of the owner."""
    codes = file_links.find_codes(links)
    known = known | file_links.list_owned(session, set(codes.values()), owner)
    wanted = "must be a file, or the address of one that you uploaded in this mode"
    return [FieldFault(name, wanted) for name in links if codes.get(name) not in known]


def has_number(policy_number: str) -> sa.ColumnElement[bool]:
    """Return the condition of a policy's number; insurers may use one twice."""
    return col(Policy.number_key) == policy_numbers.key(policy_number)


def build_policy_query(found: sa.ColumnElement[bool], endpoints: Iterable[Endpoint]) -> AnySelect:
    """Build the query of policies of a condition that these endpoints sold, newest first."""
    sold_by = (sa.and_(col(Product.prefix) == prefix, col(Product.route_name) == route) for prefix, route in endpoints)
    return (
        sa.select(Policy, col(Product.prefix), col(Product.route_name))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .where(found, col(Policy.deleted_at).is_(None), sa.or_(*sold_by))
        .order_by(col(Policy.created_at).desc())
    )


def build_initial_claim(policy: Policy, new: NewClaim) -> Claim:
    """Build the initial record of a claim (contract C4)."""
    now = clock.now()
    amounts: dict[str, Any] = {f"{name}_minor": 0 for name in (*records.AMOUNT_FIELDS, "approved_amount")}
    return Claim(
        created_at=now,
        updated_at=now,
        clock_from=now,
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        customer_id=policy.customer_id,
        product_id=policy.product_id,
        provider_id=policy.provider_id,
        claim_type=new.claim_type,
        claim_status=ClaimStatus.PENDING,
        claim_description=f"{new.incident_type}, policy {policy.policy_number}",
        **new_claims.build_claimant_columns(new.claimant, policy),
        incident_date=new.happened_on.isoformat() if new.happened_on else None,
        sealed=new.sealed,
        account_key=new.account_key,
        **amounts | {"claim_amount_minor": new.claimed_minor, new.column: dict(new.meta)},
    )


def _list_hashes(session: ScopedSession, uploads: Sequence[StoredFile], codes: Collection[str]) -> set[str]:
    found = session.execute(sa.select(col(UploadedFile.sent_sha256)).where(col(UploadedFile.code).in_(codes)))
    return {*(file.sent_sha256 for file in uploads), *found.scalars()}


def attach_document(
    session: ScopedSession, claim_id: UUID, file: StoredFile, *, person: Person, version: int
) -> ClaimChange:
    """Add a stored file to a claim as the document that its field names, replacing an earlier one.

    Raises NotAllowed, NotFound, StaleVersion, StateForbids for a decided claim, and InvalidInput for a document
    that this type of claim does not have. The replaced file stays readable as an earlier version.
    """
    claim = claim_changes.get_own_refused(session, claim_id, person=person, version=version)
    _refuse_decided(claim)
    if file.field not in submitted.list_document_names(claim):
        raise InvalidInput.for_field("document", "must be one that this kind of claim has")
    before = claim_changes.get_audited_facts(claim)
    _flag_reused(session, claim, {file.sent_sha256})
    _keep(session, claim, file, actor=person.actor)
    return claim_changes.save_change(
        session, claim, before, person=person, action="claim document added", facts={"document": file.field}
    )


def attach_over_api(
    session: ScopedSession,
    claim_id: UUID,
    uploads: Sequence[StoredFile],
    links: Mapping[str, str],
    *,
    owner: Owner,
    actor: str,
) -> ClaimRecord:
    """Add documents that the distributor sent: files, or by name the addresses of its uploads; nothing or all of them.

    Raises NotFound, StateForbids for a decided claim, and InvalidInput for a document that this type of claim does
    not have, or that is not an upload of the owner.
    """
    claim = claim_changes.get_for_update(session, claim_id)
    _refuse_decided(claim)
    names = [*(file.field for file in uploads), *links]
    known, codes = submitted.list_document_names(claim), file_links.find_codes(links)
    faults = [FieldFault(name, f"must be one of {', '.join(known)}") for name in names if name not in known]
    faults += _list_foreign(session, links, set(), owner)
    raise_faults(faults)
    before = claim_changes.get_audited_facts(claim)
    _flag_reused(session, claim, _list_hashes(session, uploads, codes.values()))
    for file in uploads:
        _keep(session, claim, file, actor=actor)
    for name, link in links.items():
        submitted.set_meta(claim, {name: link})
        _link(session, claim, codes[name], name)
    sender, facts = claim_changes.Sender(actor), {"document": ", ".join(names)}
    claim_changes.save_change(session, claim, before, person=sender, action="claim document added", facts=facts)
    return records.get_claim(session, claim.id)


def _refuse_decided(claim: Claim) -> None:
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} keeps its documents")


def _flag_reused(session: ScopedSession, claim: Claim, hashes: set[str]) -> None:
    if fraud_flags.is_file_reused(session, hashes, except_claim_id=claim.id):
        flags = {*claim.flags, "same_file"}
        claim.flags = [name for name in submitted.FLAG_DESCRIPTIONS if name in flags]


def _keep(session: ScopedSession, claim: Claim, file: StoredFile, *, actor: str) -> None:
    address = files.record(session, file, Owner.of(claim), actor=actor, claim_id=claim.id)["file_url"]
    submitted.set_meta(claim, {file.field: address})


def _link(session: ScopedSession, claim: Claim, code: str, name: str) -> None:
    """Link an earlier upload to the claim; one that is linked already is left."""
    is_free = (col(UploadedFile.code) == code, col(UploadedFile.claim_id).is_(None))
    session.change(UploadedFile, *is_free, claim_id=claim.id, field=name[:40])
