"""Policies and claims of one risk: what several insure, and what one claims that another did, is owed once (K5)."""

from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.claims.lines import CONTENTS, DAMAGE_OF_OTHERS, TO_OTHERS
from core.covers.endorsements import REGISTRATION
from core.covers.request_parts import normalise_registration
from core.services.claims.intake import submitted
from core.services.people.personal import build_phone_key
from core.services.policies import policies
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import phone_key
from core.store.schema.tables import Claim, ClaimPayment, Customer, Policy, PolicyEndorsement, Product

_OF_OTHERS: Final = "third_party_registration_number"
_CONTENTS_ROUTES: Final = frozenset(route for _, route in CONTENTS.covers)


def has_paid_twin(session: ScopedSession, customer_ids: Collection[UUID]) -> bool:
    """True where another policy insures the same loan, vehicle, traveller or place, and a claim of either was paid."""
    query = sa.select(Policy).where(col(Policy.customer_id).in_(customer_ids))
    for policy in session.execute(query).scalars().all():
        twins = find_policies_of_risk(session, policy) | find_policies_of_loan(session, policy)
        paid = sa.select(col(ClaimPayment.id)).join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
        of_either = paid.where(col(Claim.policy_id).in_([policy.id, *twins])).limit(1)
        if twins and session.execute(of_either).first() is not None:
            return True
    return False


def find_policies_of_risk(session: ScopedSession, policy: Policy) -> set[UUID]:
    """Return the other policies of the vehicle, traveller or contents, whoever sold them: a loss is owed once."""
    same: list[sa.ColumnElement[bool]] = []
    of_contents: Collection[UUID] = ()
    if policy.plate_key is not None:
        same += _build_has_plate(list_plates(session, policy))
    elif policy.risk_hash is not None and policy.twin_key is None:
        of_any = col(Policy.product_id).in_(sa.select(col(Product.id)))
        same.append(sa.and_(of_any, col(Policy.risk_hash) == policy.risk_hash))
    elif session.get_one(Product, policy.product_id).route_name in _CONTENTS_ROUTES:
        # Of a holder: nobody can compare how two write one place.
        routes = sa.select(col(Product.id)).where(col(Product.route_name).in_(_CONTENTS_ROUTES))
        of_contents = set(session.execute(routes).scalars())
        same += _build_same_holder(session, policy)
    query = sa.select(col(Policy.id), col(Policy.product_id)).where(
        col(Policy.is_live) == policy.is_live, col(Policy.id) != policy.id
    )
    # One after the other, each by its index: together they are looked for in every row.
    rows = {row.id: row.product_id for each in same for row in session.execute(query.where(each))}
    return {key for key, product_id in rows.items() if not of_contents or product_id in of_contents}


def _build_same_holder(session: ScopedSession, policy: Policy) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a policy of the same holder, by e-mail or phone, any of which is enough."""
    email = session.get_one(Customer, policy.customer_id).email_key
    customers = sa.select(col(Customer.id)).where(col(Customer.email_key) == email)
    keys = _list_phones(session, policy)
    spelled = {each for key in keys for each in (key, f"+{key}", f"0{key.removeprefix('234')}")}
    held = policies.load_holders(session, policy).phones
    has_phone = col(Policy.phone).in_(sorted(spelled | held))
    return [col(Policy.customer_id).in_(customers), has_phone, col(Policy.id).in_(_build_had_phone(keys))]


def _build_has_plate(plates: Collection[str]) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a policy that has or had one of these registration numbers: either is enough."""
    had = _build_had(f'%"{plate}"%' for plate in plates)
    return [col(Policy.plate_key).in_(plates), col(Policy.id).in_(had)]


def list_plates(session: ScopedSession, policy: Policy) -> set[str]:
    """Return the registration numbers that a policy has or had: what was endorsed since hides no loss of before."""
    changes = [change for made in policies.find_rows(session, policy.id) for change in made.changes]
    numbers = (each[side] for each in changes if each["field"] in REGISTRATION.names for side in ("before", "after"))
    return {policy.plate_key or "", *map(normalise_registration, numbers)} - {""}


def find_claims_of_damage(session: ScopedSession, claim: Claim, policy: Policy, days: int) -> set[UUID]:
    """Return the other claims for the damage of a vehicle, of its own insurer and of those of other drivers.

    Of two, one at least names the vehicle as the third party's. Those of others that were lodged more than some `days`
    before the loss are left out.
    """
    meta, of_claim = submitted.get_meta(claim), col(Claim.vehicle_claim_meta)
    kind, theirs = meta.get("incident_type"), normalise_registration(meta.get(_OF_OTHERS) or "")
    query = sa.select(col(Claim.id), of_claim[_OF_OTHERS].as_string().label("plate")).where(
        col(Claim.is_live) == claim.is_live, col(Claim.id) != claim.id
    )
    plates, found = {theirs} - {""}, set()
    if kind == DAMAGE_OF_OTHERS and theirs:
        of_own = of_claim["incident_type"].as_string().not_in(TO_OTHERS)
        on_policies = (query.where(of_own, _is_on(each)) for each in _build_has_plate(plates))
        found = {row.id for each in on_policies for row in session.execute(each)}
    elif policy.plate_key is not None and kind not in TO_OTHERS:
        plates = list_plates(session, policy)
    else:
        return set()
    since = clock.midnight(clock.add_days(submitted.get_loss_day(claim), -days))
    of_others = of_claim["incident_type"].as_string() == DAMAGE_OF_OTHERS
    named = session.execute(query.where(of_others, col(Claim.created_at) >= since))
    return found | {row.id for row in named if normalise_registration(row.plate or "") in plates}


def _is_on(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return col(Claim.policy_id).in_(sa.select(col(Policy.id)).where(condition))


def _list_phones(session: ScopedSession, policy: Policy) -> set[str]:
    """Return the keys of the phones that the holder of a policy has or had."""
    return set(map(build_phone_key, policies.load_holders(session, policy).phones)) - {""}


def _build_had_phone(phones: Collection[str]) -> AnySelect:
    """Return the query of the policies whose holder had one of these phones, with or without the country's code."""
    return _build_had(f'%{phone[-10:]}"%' for phone in phones)


def _build_had(patterns: Iterable[str]) -> AnySelect:
    """Return the query of the policies of which an endorsement changed something that is like one of these patterns.

    They are of capitals and digits, without the signs that people write between them.
    """
    changes = sa.func.upper(sa.cast(col(PolicyEndorsement.changes), sa.Text))
    for sign in "- ().":
        changes = sa.func.replace(changes, sign, "")
    return sa.select(col(PolicyEndorsement.policy_id)).where(sa.or_(sa.false(), *map(changes.like, sorted(patterns))))


def find_policies_of_loan(session: ScopedSession, policy: Policy) -> set[UUID]:
    """Return the other policies of the borrower for the same loan, whoever sold them (S12).

    A debt is owed once. It is the same by its account, or by amount and start unless both name another account.
    """
    if policy.twin_key is None:
        return set()
    email = session.get_one(Customer, policy.customer_id).email_key
    is_borrower: list[Any] = [
        col(Policy.customer_id).in_(sa.select(col(Customer.id)).where(col(Customer.email_key) == email))
    ]
    if phones := _list_phones(session, policy):
        is_borrower += [phone_key(col(Policy.phone)).in_(phones), col(Policy.id).in_(_build_had_phone(phones))]
    if policy.risk_hash is not None and policy.dob:
        # With another e-mail and phone it is the same person by the account of the loan and the day of birth.
        of_any = col(Policy.product_id).in_(sa.select(col(Product.id)))
        is_same = (col(Policy.risk_hash) == policy.risk_hash, col(Policy.dob) == policy.dob)
        is_borrower.append(sa.and_(of_any, *is_same))
    account = col(Policy.submitted)["loan_account_number"].as_string().label("account")
    query = sa.select(col(Policy.id), col(Policy.twin_key), account).where(
        col(Policy.twin_key).is_not(None), col(Policy.is_live) == policy.is_live, col(Policy.id) != policy.id
    )
    # One after the other, each by its index: together they are looked for in every row.
    rows = {row.id: row for each in is_borrower for row in session.execute(query.where(each))}
    mine = fold_account(policy.submitted.get("loan_account_number"))
    others = [(row, fold_account(row.account)) for row in rows.values()]
    return {row.id for row, other in others if (mine == other if mine and other else row.twin_key == policy.twin_key)}


def fold_account(number: str | None) -> str:
    """Return the number of a loan without signs and leading zeros, by which two spellings are one."""
    return "".join(filter(str.isalnum, number or "")).upper().lstrip("0")
