"""Endorsements for the demonstration, made by the service with one of its accounts."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists.filters import expressions
from core.services.people import staff
from core.services.selling import endorsing
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, Policy, PolicyEndorsement

_DESK: Final = "operations@coverdesk.example"
_MOST, _OF_PRODUCT, _LOOKED_AT = 12, 2, 500
# What is changed, under the names that forms give it: the new value, and why.
_CHANGES: Final[Sequence[tuple[tuple[str, ...], Sequence[str], str]]] = (
    (("vehicle_color",), ("Wine", "Ash"), "Resprayed after a repair"),
    (("address",), ("14 Adeola Hopewell Street, Victoria Island", "3 Oba Akran Avenue, Ikeja"), "Moved house"),
    (("phone_number", "phone"), [f"0803445{number}" for number in range(5601, 5601 + _MOST)], "A new number"),
    (("last_name",), ("Adeyemi-Cole", "Nwosu-Bright", "Danladi-Yusuf"), "Married; the certificate was shown"),
)


def write_endorsements(session: ScopedSession) -> int:
    """Endorse some policies in force, once; returns the number. NotFound when the account is disabled.

    Every second one waits for somebody to tell its insurer.
    """
    if session.execute(sa.select(col(PolicyEndorsement.id)).limit(1)).first():
        return 0
    desk, made = staff.get_by_email(session, _DESK), 0
    for policy in _find_policies(session):
        _, present = endorsing.list_values(session, policy.id)
        wishes = [*_CHANGES[made % len(_CHANGES) :], *_CHANGES]
        takes = ((name, values[made % len(values)], why) for names, values, why in wishes for name in names)
        wish = next((wish for wish in takes if present.get(wish[0], wish[1]) != wish[1]), None)
        if wish is None or policy.start_at is None:
            continue
        name, value, why = wish
        endorsing.endorse(
            session,
            policy.id,
            {name: value},
            effective_on=max(clock.to_lagos_day(policy.start_at), clock.add_days(clock.today(), -3)),
            reason=why,
            requested_by="The customer, by phone",
            expected_version=policy.version,
            by=desk,
        )
        made += 1
        if made % 2:
            _tell(session, policy, note="E-mail to the underwriting desk", by=desk)
    return made


def _find_policies(session: ScopedSession) -> list[Policy]:
    """Return the newest policies in force without a claim, two of a product at the most."""
    claimed = sa.exists().where(col(Claim.policy_id) == col(Policy.id))
    begun = col(Policy.start_at) <= clock.now()
    query = sa.select(Policy).where(col(Policy.is_live), expressions.in_force(), begun, ~claimed)
    found, of_product = list[Policy](), Counter[object]()
    for policy in session.execute(query.order_by(col(Policy.created_at).desc()).limit(_LOOKED_AT)).scalars():
        of_product[policy.product_id] += 1
        if of_product[policy.product_id] <= _OF_PRODUCT and len(found) < _MOST:
            found.append(policy)
    return found


def _tell(session: ScopedSession, policy: Policy, *, note: str, by: staff.Person) -> None:
    query = sa.select(col(PolicyEndorsement.id)).where(col(PolicyEndorsement.policy_id) == policy.id)
    endorsing.note_told(session, session.execute(query).scalar_one(), note=note, by=by)
