"""Endorsing a policy in force, and noting that its insurer was told (contract S21)."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import endorsements as endorsable
from core.covers import registry, request_parts
from core.covers.cover import Cover
from core.covers.request import Request, has_control_characters, refuse_unless
from core.errors import StateForbids, run_checks
from core.services.audit import log as audit
from core.services.people.staff import Person
from core.services.policies import changes as policy_changes
from core.services.policies import policies, refunds
from core.services.selling import duplicate_guard
from core.states.policies import PolicyAction
from core.store.access import ScopedSession
from core.store.schema.tables import EndorsementNotice, Policy, PolicyEndorsement, Product

ROLES: Final = ("operations",)
LONGEST: Final = {"reason": 500, "requested_by": 200, "note": 200}


def endorse(
    session: ScopedSession,
    policy_id: UUID,
    changes: Mapping[str, str],
    *,
    effective_on: date | None,
    reason: str,
    requested_by: str,
    expected_version: int,
    by: Person,
) -> int:
    """Change a policy in force and return the number of the endorsement; what was sold stays as it is.

    `changes` are new values by the names of the fields in the request of the sale; those that are as they were are
    passed over. InvalidInput names what cannot be taken, StateForbids for another stage and while an open claim
    depends on the insured thing or person, DuplicateRisk for the registration number of another policy.
    """
    _require_role(by)
    policy = policy_changes.get_for_update(session, policy_id, expected_version, PolicyAction.ENDORSE)
    cover = _get_cover(session, policy)
    earlier = policies.find_rows(session, policy.id)
    now = policies.apply(_as_sold(policy, cover), earlier)
    changed = {name: text.strip() for name, text in changes.items() if text.strip() != (now.get(name) or "")}
    texts = {"reason": " ".join(reason.split()), "requested_by": " ".join(requested_by.split())}
    day, valid = run_checks(
        lambda: _check(policy, changed, earlier, effective_on, texts),
        lambda: endorsable.validate_changes(cover, changed),
    )
    _refuse_while_claimed(session, policy, cover, changed)
    _set_registration(session, policy, cover, valid, day)
    after = {name: str(getattr(valid, name)) for name in endorsable.list_fields(cover) if name in changed}
    row = PolicyEndorsement(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        number=len(earlier) + 1,
        effective_on=day,
        changes=[{"field": name, "before": now.get(name) or "", "after": new} for name, new in after.items()],
        premium_minor=0,
        made_by=by.id,
        reason=texts["reason"],
        requested_by=texts["requested_by"],
    )
    _save(session, policy, cover, row, after, by)
    return row.number


def list_values(session: ScopedSession, policy_id: UUID) -> tuple[type[Request], dict[str, str], str | None]:
    """Return the form of an endorsement of a policy, the present value of each of its fields, and what limits it.

    While a claim on the policy is open, the form has the contacts alone, and the limit says so; else it is None.
    """
    policy = policies.get_row(session, policy_id)
    cover = _get_cover(session, policy)
    data = policies.apply(_as_sold(policy, cover), policies.find_rows(session, policy.id))
    limit = _describe_open_claims(session, policy, cover)
    names = tuple(name for name, each in endorsable.list_fields(cover).items() if each.is_contact or limit is None)
    return endorsable.build_model(cover, names), {name: data.get(name) or "" for name in names}, limit


def note_told(session: ScopedSession, endorsement_id: UUID, *, note: str, by: Person) -> None:
    """Note that the insurer was told of an endorsement, and how; StateForbids if that was noted already."""
    _require_role(by)
    words = " ".join(note.split())
    refuse_unless(_text_checks({"note": words}))
    query = sa.select(PolicyEndorsement).where(col(PolicyEndorsement.id) == endorsement_id)
    row = session.find_scalar(query, otherwise="Endorsement not found")
    notice = EndorsementNotice(
        distributor_id=row.distributor_id,
        is_live=row.is_live,
        endorsement_id=row.id,
        policy_id=row.policy_id,
        note=words,
        told_by=by.id,
    )
    if not session.insert_if_absent(notice):
        raise StateForbids("It was noted already that the insurer was told of this endorsement")
    subject, after = audit.subject_of("policy", row.policy_id), {"endorsement": row.number}
    audit.write(session, actor=by.actor, action="insurer told of endorsement", subject=subject, after=after)


def _require_role(by: Person) -> None:
    by.require_role(*ROLES, otherwise="Policies are endorsed by operations")


def _get_cover(session: ScopedSession, policy: Policy) -> Cover[Any]:
    product = session.get_one(Product, policy.product_id)
    cover = registry.get_cover(product.prefix, product.route_name)
    if cover is None:
        raise StateForbids("No endpoint sells this product any more, so nobody can say what may be endorsed")
    return cover


def _as_sold(policy: Policy, cover: Cover[Any]) -> dict[str, Any]:
    """Return what was submitted with the sale; contact details that it does not hold are those of the policy."""
    columns = {name: each.column for name, each in endorsable.list_fields(cover).items() if each.column}
    held = {name: getattr(policy, column) for name, column in columns.items() if column}
    return {**held, **policy.submitted}


def _check(
    policy: Policy,
    changed: Mapping[str, str],
    earlier: list[PolicyEndorsement],
    effective_on: date | None,
    texts: Mapping[str, str],
) -> date:
    """Return the day; InvalidInput for what changes nothing, the wrong day, and missing words, all at once."""
    assert policy.start_at is not None, "what is in force has begun"  # noqa: S101 - as its stage says
    first_on = max([clock.to_lagos_day(policy.start_at), *(row.effective_on for row in earlier)])
    day = effective_on or date.max
    refuse_unless(
        [
            (bool(changed), "changes", "must change something: every field is as it was"),
            (
                first_on <= day <= clock.today(),
                "effective_on",
                f"must be from {first_on} to today: after the start of cover and the last change",
            ),
            *_text_checks(texts),
        ]
    )
    return day


def _text_checks(texts: Mapping[str, str]) -> list[tuple[bool, str, str]]:
    faults = [
        (2 <= len(text) <= LONGEST[name], name, f"must be given, in 2 to {LONGEST[name]} characters")
        for name, text in texts.items()
    ]
    clean = [
        (not has_control_characters(text), name, "must not contain control characters") for name, text in texts.items()
    ]
    return [*faults, *clean]


def _refuse_while_claimed(
    session: ScopedSession, policy: Policy, cover: Cover[Any], changed: Mapping[str, str]
) -> None:
    """Refuse to change the insured thing or its owner while a claim on the policy is open; contacts may change."""
    if not changed.keys() <= _list_contacts(cover) and (limit := _describe_open_claims(session, policy, cover)):
        raise StateForbids(limit)


def _describe_open_claims(session: ScopedSession, policy: Policy, cover: Cover[Any]) -> str | None:
    """Say what alone can be endorsed while claims on the policy are open; None where none is."""
    waiting = [claim for claim in refunds.list_policy_claims(session, policy.id) if claim.is_open]
    if not waiting:
        return None
    named = ", ".join(claim.reference for claim in waiting[:3])
    contacts = "address, e-mail and phone" if "address" in _list_contacts(cover) else "e-mail and phone"
    return f"While claim {named} is open, only {contacts} can be endorsed"


def _list_contacts(cover: Cover[Any]) -> set[str]:
    return {name for name, each in endorsable.list_fields(cover).items() if each.is_contact}


def _set_registration(
    session: ScopedSession, policy: Policy, cover: Cover[Any], valid: Request, effective_on: date
) -> None:
    """Move the policy to a new registration number; DuplicateRisk if another policy covers that one (contract S12)."""
    if not any(name in type(valid).model_fields for name in endorsable.REGISTRATION.names):
        return
    policy.plate_key = cover.registration(valid)
    risk = cover.risk_key(valid)
    if risk is not None:
        policy.risk_hash = duplicate_guard.lock_other_risk(session, policy, risk, clock.midnight(effective_on))


def _save(
    session: ScopedSession,
    policy: Policy,
    cover: Cover[Any],
    row: PolicyEndorsement,
    after: Mapping[str, str],
    by: Person,
) -> None:
    for name, each in endorsable.list_fields(cover).items():
        if each.column and name in after:
            setattr(policy, each.column, after[name])
    if not {"first_name", "last_name", "email"}.isdisjoint(after):
        row.name_key = request_parts.build_name_key(policy.first_name, policy.last_name)
        row.email_key = request_parts.fold_email(policy.email)
    before = {"version": policy.version}
    policy.version += 1
    policy.updated_at = clock.now()
    session.flush()
    session.insert(row)
    # Fields by name alone: the values are personal, and the log is kept for ever.
    entry = {
        "endorsement": row.number,
        "effective_date": row.effective_on.isoformat(),
        "fields": list(after),
        "premium": "0.00",
    }
    subject = audit.subject_of("policy", policy.id)
    audit.write(session, actor=by.actor, action="policy endorsed", subject=subject, before=before, after=entry)
