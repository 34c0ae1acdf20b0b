"""An approval is of something: a frozen subject that lapses when any part of it changes (contract K3, K7, K13).

How a service adopts it:

    subject = Subject(kind="credit note", id=note.id, amount_minor=note.total_minor, parts={"the payee": [...], ...})
    approve(session, subject, staff_id=person.id, role="finance", limit_minor=None, at=at)   # when it is approved
    follow_change(session, subject, actor=person.actor, at=at)                               # at the end of a change
    require_standing(session, subject)                # before money leaves: StateForbids says why it does not stand

`parts` are plain data by the words for them in a sentence, "the payee" or "the bank account". A part that the approval
did not know is no change. Every refused act should also be in the log: see `audit.log.keep_refusal`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money, seal
from core.errors import StateForbids
from core.store.access import AnySelect, ScopedSession
from core.store.schema import tables
from core.store.schema.tables import ApprovalLapse, Staff

AMOUNT: Final = "the approved amount"
# Why an approval lapsed by which a payment that came back would be made once more, without anybody who looks at it.
CAME_BACK: Final = "the return of a payment was noted"
FORGED: Final = "it was not given on this desk: tell an admin"
# The authority by which somebody with a limit of their own approves.
LIMITED_ROLE: Final = "claims"
_STAFF: Final = "staff "


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """The subject of an approval: its amount in kobo and its parts, as they are now."""

    kind: str
    id: UUID
    amount_minor: int | None
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lapse:
    """The end of an approval: when and why; `by` is who did what ended it."""

    reason: str
    actor: str
    by: str
    at: datetime

    @property
    def text(self) -> str:
        """The lapse in words: "the account was changed by R. Adeyemi on 21 Nov 2026"."""
        return f"{self.reason} by {self.by} on {clock.format_day(clock.to_lagos_day(self.at))}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """The newest approval of a subject, with its lapse if it has one; `by` is the approver's name."""

    id: UUID
    amount_minor: int | None
    limit_minor: int | None
    role: str
    parts: Mapping[str, str]
    staff_id: UUID
    by: str
    at: datetime
    is_genuine: bool
    lapse: Lapse | None = None


def approve(
    session: ScopedSession, subject: Subject, *, staff_id: UUID, role: str, limit_minor: int | None, at: datetime
) -> UUID:
    """Write an approval of a subject as it is now, by a person who acted in a role and under a limit in kobo."""
    approval_id, parts = ids.new(), seal.freeze_parts(subject.parts)
    given: dict[str, Any] = {"amount_minor": subject.amount_minor, "limit_minor": limit_minor, "role": role}
    given |= {"subject_id": subject.id, "staff_id": staff_id, "approved_at": at, "parts": parts}
    sealed = seal.fingerprint_approval(approval_id=approval_id, kind=subject.kind, **given)
    session.insert(tables.Approval(id=approval_id, subject_kind=subject.kind, fingerprint=sealed, **given))
    return approval_id


def find_latest(session: ScopedSession, kind: str, subject_id: UUID) -> Approval | None:
    """Return the newest approval of a subject, None where there never was one."""
    row = session.execute(_build_latest(), {"kind": kind, "subject_id": subject_id}).one_or_none()
    return None if row is None else _build(row)


def load_latest(session: ScopedSession, kind: str, subject_ids: Iterable[UUID]) -> Mapping[UUID, Approval]:
    """Return the newest approval of each of these subjects that was ever approved."""
    approval = tables.Approval
    query = _build_query().where(col(approval.subject_kind) == kind, col(approval.subject_id).in_(list(subject_ids)))
    rows = session.execute(query.order_by(col(approval.approved_at), col(approval.id)))
    return {row.Approval.subject_id: _build(row) for row in rows}


def list_lapsed(session: ScopedSession, subject_ids: Sequence[UUID]) -> set[UUID]:
    """Return which of these subjects have a newest approval that lapsed."""
    query = _build_query().where(col(tables.Approval.subject_id).in_(subject_ids))
    newest = {
        row.Approval.subject_id: row.ApprovalLapse is not None
        for row in session.execute(query.order_by(col(tables.Approval.approved_at), col(tables.Approval.id)))
    }
    return {subject_id for subject_id, is_lapsed in newest.items() if is_lapsed}


@cache
def _build_latest() -> AnySelect:
    """The newest approval of a subject: every move of a claim asks for it, and building costs as much as running."""
    approval = tables.Approval
    query = _build_query().where(
        col(approval.subject_id) == sa.bindparam("subject_id"), col(approval.subject_kind) == sa.bindparam("kind")
    )
    return query.order_by(col(approval.approved_at).desc(), col(approval.id).desc()).limit(1)


def _build_query() -> AnySelect:
    changer = sa.orm.aliased(Staff)
    return (
        sa.select(tables.Approval, ApprovalLapse, col(Staff.name).label("by"), col(changer.name).label("lapsed_by"))
        .join(Staff, col(Staff.id) == col(tables.Approval.staff_id))
        .outerjoin(ApprovalLapse, col(ApprovalLapse.approval_id) == col(tables.Approval.id))
        .outerjoin(changer, sa.literal(_STAFF) + col(changer.email) == col(ApprovalLapse.actor))
    )


def _build(row: Any) -> Approval:
    found, lapse = row.Approval, row.ApprovalLapse
    return Approval(
        **{name: getattr(found, name) for name in ("id", "amount_minor", "limit_minor", "role", "parts", "staff_id")},
        by=row.by,
        at=found.approved_at,
        is_genuine=_is_genuine(found),
        lapse=lapse
        and Lapse(reason=lapse.reason, actor=lapse.actor, by=row.lapsed_by or lapse.actor, at=lapse.lapsed_at),
    )


def _is_genuine(row: tables.Approval) -> bool:
    names = ("subject_id", "amount_minor", "limit_minor", "role", "staff_id", "approved_at", "parts")
    given = {name: getattr(row, name) for name in names}
    return row.fingerprint == seal.fingerprint_approval(approval_id=row.id, kind=row.subject_kind, **given)


def list_changed(approval: Approval, subject: Subject) -> list[str]:
    """List in words the parts of a subject that are not what was approved."""
    now = seal.freeze_parts(subject.parts)
    # What came since is no part of what was approved; approvals from before there were parts have none.
    names = [*approval.parts, *(name for name in now if approval.parts and name not in approval.parts)]
    changed = [name for name in names if now.get(name) != approval.parts.get(name)]
    return [*([AMOUNT] if approval.amount_minor != subject.amount_minor else []), *changed]


def follow_change(session: ScopedSession, subject: Subject, *, actor: str, at: datetime) -> list[str]:
    """Let the approval of a subject lapse if it is not what was approved any more; return what was changed."""
    standing = find_latest(session, subject.kind, subject.id)
    if standing is None or standing.lapse is not None:
        return []
    if changed := list_changed(standing, subject):
        lapse(session, standing.id, reason=describe_changed(changed), actor=actor, at=at)
    return changed


def lapse(session: ScopedSession, approval_id: UUID, *, reason: str, actor: str, at: datetime) -> None:
    """Write that an approval does not stand any more; the first reason stays."""
    session.insert_if_absent(ApprovalLapse(approval_id=approval_id, reason=reason, actor=actor, lapsed_at=at))


def complete(session: ScopedSession, kind: str, subject_id: UUID, build: Callable[[], Subject]) -> None:
    """Freeze the subject of an approval from before there were parts, with its approver and its time."""
    found = find_latest(session, kind, subject_id)
    if found is not None and found.lapse is None and found.is_genuine and not found.parts:
        authority: dict[str, Any] = {"role": found.role, "limit_minor": found.limit_minor}
        approve(session, build(), staff_id=found.staff_id, at=found.at, **authority)


def describe_changed(names: Sequence[str]) -> str:
    """Say what was changed: "the payee was changed", or "the payee and the incident were changed"."""
    return f"{' and '.join(names)} {'was' if len(names) == 1 else 'were'} changed"


def describe_lapsed(fault: str) -> str:
    """Say for a screen that an approval does not stand, and what to do."""
    return f"The approval lapsed: {fault}. It needs a new approval."


def find_fault(session: ScopedSession, subject: Subject) -> str | None:
    """Say why the approval of a subject does not stand as it is now; None if it stands."""
    found = find_latest(session, subject.kind, subject.id)
    return FORGED if found is None else describe_fault(session, found, subject)


def require_standing(session: ScopedSession, subject: Subject) -> None:
    """StateForbids, with what to do, where the approval of a subject does not stand."""
    if why := find_fault(session, subject):
        raise StateForbids(describe_lapsed(why))


def describe_fault(session: ScopedSession, approval: Approval, subject: Subject) -> str | None:
    """Like `find_fault`, for an approval that was read before."""
    if approval.lapse is not None:
        return approval.lapse.text
    return describe_difference(approval, subject) or describe_lost_authority(session, approval)


def describe_difference(approval: Approval | None, subject: Subject) -> str | None:
    """Say why a subject is not what was approved, whatever became of the approver; None if it is."""
    if approval is None or not approval.is_genuine:
        return FORGED
    changed = list_changed(approval, subject)
    return f"{describe_changed(changed)} past the desk" if changed else None


def describe_lost_authority(session: ScopedSession, approval: Approval) -> str | None:
    """Say why the approver could not give an approval today; None if it could be given."""
    staff: Staff = session.get_one(Staff, approval.staff_id)
    if gone := describe_gone(staff, approval.role):
        return gone
    limit, amount = get_limit(staff), approval.amount_minor or 0
    is_limited = approval.role == LIMITED_ROLE and not {"admin", "supervisor"} & set(staff.roles)
    if is_limited and limit is not None and limit < amount:
        return (
            f"the limit of {approval.by}, who approved, is {money.format_naira(limit)} now, below"
            f" {money.format_naira(amount)}"
        )
    return None


def describe_gone(staff: Staff, role: str) -> str | None:
    """Say that who approved in a role has left it; None for one who has it still."""
    if staff.disabled_at is not None:
        return f"the account of {staff.name}, who approved, is disabled"
    if {"admin", role}.isdisjoint(staff.roles):
        return f"{staff.name}, who approved, does not have the role {role} any more"
    return None


def get_limit(staff: Any) -> int | None:
    """Return the limit of a person in kobo that counts now: for a day after it was raised, that of before."""
    waits = staff.limit_holds_from is not None and staff.limit_holds_from > clock.now()
    limit: int | None = staff.limit_before_minor if waits else staff.claim_limit_minor
    return limit


def find_forged(session: ScopedSession) -> Iterator[str]:
    """Approvals that the desk did not write, each with its amount, for `coverdesk check`."""
    query = sa.select(tables.Approval).execution_options(yield_per=2_000)
    for row in session.execute(query).scalars():
        if not _is_genuine(row):
            amount = money.format_naira(row.amount_minor or 0)
            yield f"approval {row.id} of {row.subject_kind} {row.subject_id}, {amount}, was not written by the desk"
