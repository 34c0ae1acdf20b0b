"""Related claims, of one policy, customer or account, and those for the same loss (contract C3, C14)."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.covers.claims.lines import GADGET, MOTOR, PAPERS_OF_DAMAGE
from core.seal import ERASED
from core.services.claims.intake import submitted
from core.services.claims.review import twins
from core.services.files import likeness
from core.services.people.personal import build_phone_key
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import phone_key
from core.store.schema.tables import Approval, Claim, ClaimPayment, Customer, FileMark, Policy, UploadedFile

POLICY: Final = "same policy"
CUSTOMER: Final = "same customer"
ACCOUNT: Final = "same payout account"
MAX_RELATED: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimLine:
    """A claim in a short list, with its relations to the claim under review, in words."""

    id: UUID
    reference: str
    claim_type: str
    status: str
    description: str
    incident_on: str | None
    lodged_at: datetime
    claimed_minor: int
    offered_minor: int
    relations: tuple[str, ...] = ()


def list_related(session: ScopedSession, claim: Claim) -> list[ClaimLine]:
    """List the other claims on the same policy, customer or payout account, newest first, at most 50."""
    matches = [col(Claim.policy_id) == claim.policy_id, col(Claim.customer_id) == claim.customer_id]
    if claim.account_key is not None:
        matches.append(col(Claim.account_key) == claim.account_key)
    others = _list_newest(session, sa.or_(*matches), col(Claim.id) != claim.id)
    return [_line(other, _find_relations(other, claim)) for other in others]


def list_by_policy(session: ScopedSession, policy_id: UUID) -> list[ClaimLine]:
    """List the claims on a policy, newest first, at most 50."""
    return [_line(claim) for claim in _list_newest(session, col(Claim.policy_id) == policy_id)]


def describe_fraud_flags(claim: Claim, related_claims: Sequence[ClaimLine]) -> list[str]:
    """Describe the fraud flags of a claim: those stored at intake, and a payout account shared with a related claim."""
    flags = {*claim.flags, *(["same_account"] if any(ACCOUNT in line.relations for line in related_claims) else [])}
    return [explanation for name, explanation in submitted.FLAG_DESCRIPTIONS.items() if name in flags]


def _list_newest(session: ScopedSession, *conditions: sa.ColumnElement[bool]) -> Sequence[Claim]:
    query = sa.select(Claim).where(col(Claim.deleted_at).is_(None), *conditions)
    newest = query.order_by(col(Claim.created_at).desc(), col(Claim.id).desc()).limit(MAX_RELATED)
    return session.execute(newest).scalars().all()


def _find_relations(other: Claim, claim: Claim) -> tuple[str, ...]:
    relations = {
        POLICY: other.policy_id == claim.policy_id,
        CUSTOMER: other.customer_id == claim.customer_id,
        ACCOUNT: claim.account_key is not None and other.account_key == claim.account_key,
    }
    return tuple(tie for tie, holds in relations.items() if holds)


def _line(claim: Claim, ties: tuple[str, ...] = ()) -> ClaimLine:
    return ClaimLine(
        id=claim.id,
        reference=submitted.format_reference(claim.id),
        claim_type=claim.claim_type,
        status=claim.claim_status,
        description=claim.claim_description,
        incident_on=claim.incident_date,
        lodged_at=claim.created_at,
        claimed_minor=claim.claim_amount_minor,
        offered_minor=claim.offer_amount_minor,
        relations=ties,
    )


SAME_INCIDENT: Final = "the same kind of incident on this policy"
SAME_LOAN: Final = "the same loan on another policy"
SAME_DOCUMENT: Final = "the same document"
SAME_PICTURE: Final = "a picture that looks the same"
OTHER_INCIDENT: Final = "another incident on this policy within 14 days"
SAME_RISK: Final = "the same kind of incident of this vehicle, traveller or place on another policy"
NEAR_ON_RISK: Final = "another incident of this vehicle, traveller or place on another policy within 14 days"
OF_OTHER: Final = "the damage of the same vehicle on another policy"
TOTAL_LOSS: Final = "an earlier loss of all that is insured, which was paid"
GONE: Final = "a loss that was erased, and may be this one"
SAME_ACCOUNT: Final = "the same payout account"
SAME_PHONE: Final = "the same phone, another customer"
TWICE: Final = "duplicate"
VELOCITY_PERIOD: Final = timedelta(days=90)
NEAR_PERIOD: Final = timedelta(days=14)
VELOCITY_LIMIT: Final = 3
# Matches that say that it is the same loss; the others only call for a look.
_SAME_LOSS: Final = frozenset({SAME_INCIDENT, SAME_LOAN, SAME_RISK, OF_OTHER, SAME_DOCUMENT, SAME_PICTURE, GONE})


@dataclass(frozen=True, kw_only=True, slots=True)
class Duplicate:
    """Another open or paid claim that matches, with what the two have in common.

    `is_decided` where it is approved or was paid. `approvers` are then those who ever approved it, or noted a return
    of it, if it may be for the same loss: they do not approve this one. Of a debt there are none on the same policy, as
    all its claims together are paid once, but where a payment came back.
    """

    id: UUID
    reference: str
    status: str
    matches: tuple[str, ...]
    is_decided: bool = False
    approvers: frozenset[UUID] = frozenset()

    @property
    def is_same_loss(self) -> bool:
        """True when the match shows the same loss rather than the same people."""
        return not _SAME_LOSS.isdisjoint(self.matches)

    @property
    def fails(self) -> bool:
        """True when it is the same loss, one near it that was approved or paid, or the loss of the thing itself."""
        return self.is_same_loss or (self.is_decided and not {OTHER_INCIDENT, TOTAL_LOSS}.isdisjoint(self.matches))

    @property
    def text(self) -> str:
        """The claim and its matches: "C-0a1b2c3d (Paid) has the same payout account"."""
        return f"{self.reference} ({self.status}) has {' and '.join(self.matches)}"


@dataclass(frozen=True, slots=True)
class Sharing:
    """The claims with the same document, a picture that looks the same or of one damage; policies of loan and risk."""

    documents: set[UUID]
    pictures: set[UUID]
    damages: set[UUID]
    policies: set[UUID]
    risks: set[UUID]


def find_duplicates(session: ScopedSession, claim: Claim) -> list[Duplicate]:
    """Find every other open or paid claim with the same incident, document, account or phone, newest first.

    Claims of other distributors are among them; a second submission is none, nor is the claim that it submits again.
    """
    with session.across_distributors():
        found = _find_matches(session, claim, _find_sharing_documents(session, claim))
        return _name_approvers(session, claim, found)


def _find_matches(session: ScopedSession, claim: Claim, sharing: Sharing) -> list[Duplicate]:
    of_loss = sa.or_(
        col(Claim.policy_id) == claim.policy_id,
        col(Claim.id).in_(sharing.documents | sharing.pictures | sharing.damages),
        col(Claim.policy_id).in_(sharing.policies | sharing.risks),
    )
    of_people = sa.or_(*_build_same_account(claim), *_build_same_phone(claim), sa.false())
    was_paid = sa.exists().where(col(ClaimPayment.claim_id) == col(Claim.id))
    query: AnySelect = sa.select(Claim, was_paid.label("was_paid")).where(
        *build_others(claim),
        sa.or_(col(Claim.claim_status) != ClaimStatus.DECLINED, was_paid),
        sa.or_(col(Claim.second_of).is_(None), col(Claim.second_of) != claim.id),
    )
    newest = query.order_by(col(Claim.created_at).desc(), col(Claim.id))
    # Those of the same people without those of the same loss: a distributor is paid to one account for years.
    others = session.execute(newest.where(of_people, sa.not_(of_loss)).limit(MAX_RELATED)).all()
    others = sorted([*session.execute(newest.where(of_loss)), *others], key=lambda row: row.Claim.created_at)
    lost = find_lost_whole(session, claim, [row.Claim for row in others if row.was_paid], sharing.risks)
    found = (
        (row, (*_match(claim, row.Claim, sharing), *([TOTAL_LOSS] if row.Claim.id in lost else [])))
        for row in others[::-1]
        if row.Claim.id != claim.second_of
    )
    return [
        Duplicate(
            id=row.Claim.id,
            reference=submitted.format_reference(row.Claim.id),
            status=row.Claim.claim_status,
            matches=matches_found,
            is_decided=row.was_paid or row.Claim.approved_by is not None,
        )
        for row, matches_found in found
        if matches_found
    ]


def find_lost_whole(
    session: ScopedSession, claim: Claim, paid: Sequence[Claim], risks: Collection[UUID] = ()
) -> set[UUID]:
    """Return the paid claims by which the vehicle or device of this one was lost whole before, whatever its kind.

    They are on its policy, or on one of `risks`, which insure the same vehicle.
    """
    if submitted.get_line(claim) not in (MOTOR, GADGET):
        return set()
    day = submitted.get_loss_day(claim)
    before = (
        each for each in paid if each.policy_id in {claim.policy_id, *risks} and submitted.get_loss_day(each) < day
    )
    return {other.id for other in before if _is_lost_whole(session, other)}


def _is_lost_whole(session: ScopedSession, claim: Claim) -> bool:
    insured = insured_minor(session.get_one(Policy, claim.policy_id)) or 0
    return 0 < insured <= claim.approved_amount_minor


# Where a sale names what is insured, if its price does not: the loan, or the value of the device.
_INSURED: Final = ("loan_amount", "device_value")


def insured_minor(policy: Policy) -> int | None:
    """Return the sum insured of a policy in kobo, or None if neither its price nor its request states one."""
    if policy.sum_insured_minor is not None:
        return policy.sum_insured_minor
    named = next((policy.submitted[name] for name in _INSURED if policy.submitted.get(name)), None)
    return None if named is None else money.to_minor(money.round_half_up(Decimal(str(named))))


def _name_approvers(session: ScopedSession, claim: Claim, found: Sequence[Duplicate]) -> list[Duplicate]:
    near = [each.id for each in found if each.is_decided and each.fails]
    if not near:
        return list(found)
    back = sa.select(col(ClaimPayment.claim_id), col(ClaimPayment.paid_by)).where(
        col(ClaimPayment.claim_id).in_(near), col(ClaimPayment.reverses).is_not(None)
    )
    returns = session.execute(back).all()
    # The claims of a policy bound each other by its debt, until a payment comes back: what did is owed once more.
    is_loss = submitted.get_line(claim) is not None
    bounding = {each.id for each in found if each.is_decided and each.fails and (is_loss or SAME_LOAN in each.matches)}
    bounding |= {row.claim_id for row in returns}
    query = sa.select(col(Approval.subject_id), col(Approval.staff_id)).where(col(Approval.subject_id).in_(bounding))
    approvers: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for claim_id, staff_id in (*returns, *session.execute(query)):
        approvers[claim_id].add(staff_id)
    return [replace(each, approvers=frozenset(approvers[each.id])) for each in found]


def share_damage(session: ScopedSession, claim: Claim, other: Claim) -> bool:
    """True where a paper of the damage of one claim is a paper of the other too: the same file, text or address.

    A picture that only looks the same may be another one, so that a person judges it.
    """
    mine, theirs = _list_papers(claim), _list_papers(other)
    if any({mine[link], theirs[link]} & PAPERS_OF_DAMAGE for link in mine.keys() & theirs.keys()):
        return True
    mine, theirs = (_list_prints(session, each.id) for each in (claim, other))
    return any({mine[key], theirs[key]} & PAPERS_OF_DAMAGE for key in mine.keys() & theirs.keys())


def _list_papers(claim: Claim) -> dict[str, str]:
    """Return the name of each paper of a claim by its address."""
    meta = submitted.get_meta(claim)
    return {meta[name]: name for name in submitted.list_document_names(claim) if meta.get(name)}


_IS_TEXT: Final = sa.and_(col(FileMark.code) == col(UploadedFile.code), col(FileMark.mark).startswith("t"))


def _list_prints(session: ScopedSession, claim_id: UUID) -> dict[str, str]:
    """Return which paper each file of a claim is or was, by the hash of what was sent, and by that of its text."""
    query = (
        sa.select(col(UploadedFile.sent_sha256), col(UploadedFile.field), col(FileMark.mark))
        .outerjoin(FileMark, _IS_TEXT)
        .where(col(UploadedFile.claim_id) == claim_id)
    )
    found: dict[str, str] = {}
    for sent, field, text in session.execute(query):
        for key in filter(None, (sent, text)):
            found[key] = field if field in PAPERS_OF_DAMAGE else found.get(key, field or "")
    return found


def has_new_paper(session: ScopedSession, claim: Claim, since: datetime) -> bool:
    """True where a claim has a paper that arrived after an instant: none that was there, sent or saved anew.

    Neither our own letters are papers of the loss, nor the signed form of an offer.
    """
    query = (
        sa.select(col(UploadedFile.sent_sha256), col(UploadedFile.field), col(UploadedFile.created_at))
        .add_columns(col(FileMark.mark))
        .outerjoin(FileMark, _IS_TEXT)
        .where(col(UploadedFile.claim_id) == claim.id)
    )
    rows = session.execute(query).all()
    known = {key for row in rows if row.created_at <= since for key in (row.sent_sha256, row.mark) if key}
    return any(
        row.created_at > since
        and known.isdisjoint({row.sent_sha256, row.mark})
        and not (row.field or "").startswith((submitted.LETTER, submitted.SIGNED_DISCHARGE))
        for row in rows
    )


def list_declined(session: ScopedSession, claim: Claim) -> list[str]:
    """List in words the claims of this policy, claimant or account that were declined and are not taken up again.

    One that was declined as lodged twice says nothing of the one before it. The first of a policy that was closed in
    favour of a later one does: what it says of amount and day is replaced by that, past who corrects a claim.
    """
    declined = sa.select(Claim).where(*build_others(claim), col(Claim.claim_status) == ClaimStatus.DECLINED)
    ordered = declined.order_by(col(Claim.updated_at).desc(), col(Claim.id))
    # Apart from those and without a limit: claims that are lodged many times would hide the others behind them.
    twice = ordered.where(
        col(Claim.policy_id) == claim.policy_id,
        col(Claim.decline_reason) == TWICE,
        col(Claim.created_at) < claim.created_at,
    )
    with session.across_distributors():
        same = sa.or_(col(Claim.policy_id) == claim.policy_id, *build_same_customer(session, claim))
        others = ordered.where(same, col(Claim.decline_reason) != TWICE).limit(MAX_RELATED)
        found = list(session.execute(others).scalars())
        found += [each for each in session.execute(twice).scalars() if _was_replaced(session, each)]
    return [f"{submitted.format_reference(each.id)}: {each.decline_reason}" for each in found]


def _was_replaced(session: ScopedSession, other: Claim) -> bool:
    """True for a claim that was closed as lodged twice in favour of a later one of its policy.

    Where nobody said of which, it was unless a still earlier claim of the same kind, or near it, is worked or was paid.
    """
    if other.second_of is not None:
        return session.get_one(Claim, other.second_of).created_at > other.created_at
    query = sa.select(Claim).where(
        col(Claim.policy_id) == other.policy_id,
        col(Claim.id) != other.id,
        col(Claim.created_at) <= other.created_at,
        col(Claim.claim_status) != ClaimStatus.DECLINED,
        col(Claim.deleted_at).is_(None),
    )
    kind = submitted.get_meta(other).get("incident_type")
    earlier = session.execute(query).scalars()
    return not any(
        submitted.get_meta(first).get("incident_type") == kind or are_near(first, other) for first in earlier
    )


def build_others(claim: Claim) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of every other claim of the mode."""
    return [col(Claim.id) != claim.id, col(Claim.is_live) == claim.is_live, col(Claim.deleted_at).is_(None)]


def build_same_person(claim: Claim) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a claim with the same e-mail, phone or account, any of which is enough.

    However the e-mail and the phone are written.
    """
    same = [sa.false(), *_build_same_phone(claim), *_build_same_account(claim)]
    if claim.claim_owner_email:
        same.append(sa.func.lower(col(Claim.claim_owner_email)) == claim.claim_owner_email.lower())
    return same


def build_same_customer(session: ScopedSession, claim: Claim) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a claim of the same customer or person, whatever contacts others have by now."""
    email = session.get_one(Customer, claim.customer_id).email_key
    customers = session.execute(sa.select(col(Customer.id)).where(col(Customer.email_key) == email)).scalars()
    # By their ids: as a query inside of another it would be looked for in every claim.
    return [col(Claim.customer_id).in_(list(customers)), *build_same_person(claim)]


def _build_same_phone(claim: Claim) -> list[sa.ColumnElement[bool]]:
    phone = claim.claim_owner_phone_number
    return [phone_key(col(Claim.claim_owner_phone_number)) == build_phone_key(phone)] if phone else []


def _build_same_account(claim: Claim) -> list[sa.ColumnElement[bool]]:
    return [] if claim.account_key is None else [col(Claim.account_key) == claim.account_key]


def count_recent(session: ScopedSession, claim: Claim) -> int:
    """Count the claims of the same phone, account or e-mail in the 90 days up to this one, itself included."""
    with session.across_distributors():
        return session.count_rows(
            Claim,
            sa.or_(*build_same_person(claim)),
            col(Claim.is_live) == claim.is_live,
            col(Claim.deleted_at).is_(None),
            col(Claim.created_at) > claim.created_at - VELOCITY_PERIOD,
            col(Claim.created_at) <= claim.created_at,
        )


def _match(claim: Claim, other: Claim, sharing: Sharing) -> tuple[str, ...]:
    is_same_policy = other.policy_id == claim.policy_id
    has_same_paper = not _list_papers(claim).keys().isdisjoint(_list_papers(other))
    phones = [build_phone_key(each.claim_owner_phone_number or "") for each in (claim, other)]
    incident = submitted.get_meta(claim).get("incident_type")
    is_same_kind = incident is not None and submitted.get_meta(other).get("incident_type") == incident
    is_same_incident = is_same_policy and is_same_kind
    is_of_risk = other.policy_id in sharing.risks and are_near(claim, other)
    found = {
        SAME_INCIDENT: is_same_incident,
        SAME_LOAN: other.policy_id in sharing.policies,
        SAME_RISK: is_of_risk and is_same_kind,
        OF_OTHER: other.id in sharing.damages and are_near(claim, other),
        NEAR_ON_RISK: is_of_risk and not is_same_kind,
        GONE: is_same_policy and is_gone(other),
        OTHER_INCIDENT: is_same_policy and not is_same_incident and not is_gone(other) and are_near(claim, other),
        SAME_DOCUMENT: other.id in sharing.documents or (is_same_policy and has_same_paper),
        SAME_PICTURE: other.id in sharing.pictures,
        SAME_ACCOUNT: claim.account_key is not None and other.account_key == claim.account_key,
        SAME_PHONE: bool(phones[0]) and phones[0] == phones[1] and other.customer_id != claim.customer_id,
    }
    return tuple(match for match, holds in found.items() if holds)


def is_gone(claim: Claim) -> bool:
    """True for a claim whose loss and papers were erased with its customer: nobody can tell it from another loss."""
    return claim.claim_description == ERASED


def are_near(claim: Claim, other: Claim) -> bool:
    """True for two claims that were lodged within 14 days, or whose losses are on days so near."""
    days = abs(submitted.get_loss_day(other) - submitted.get_loss_day(claim))
    return min(days, abs(other.created_at - claim.created_at)) <= NEAR_PERIOD


def _find_sharing_documents(session: ScopedSession, claim: Claim) -> Sharing:
    """Return the claims that were sent a file with the same content, the same text, or the same picture saved anew."""
    policy = session.get_one(Policy, claim.policy_id)
    codes = {link.rpartition("/")[2] for link in _list_papers(claim)}
    mine = sa.or_(col(UploadedFile.claim_id) == claim.id, col(UploadedFile.code).in_(codes))
    own = session.execute(sa.select(col(UploadedFile.code), col(UploadedFile.sent_sha256)).where(mine)).all()
    others = sa.select(col(UploadedFile.claim_id)).where(
        col(UploadedFile.sent_sha256).in_([row.sent_sha256 for row in own]), col(UploadedFile.claim_id).is_not(None)
    )
    texts, pictures = likeness.find_claims_alike(session, [row.code for row in own])
    documents = {*session.execute(others.distinct()).scalars(), *texts}
    return Sharing(
        documents=documents - {claim.id},
        pictures=pictures - {claim.id},
        damages=twins.find_claims_of_damage(session, claim, policy, NEAR_PERIOD.days),
        policies=set() if claim.credit_life_claim_meta is None else twins.find_policies_of_loan(session, policy),
        risks=twins.find_policies_of_risk(session, policy),
    )
