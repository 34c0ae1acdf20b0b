"""Resending policies to insurers, from any screen."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from core.errors import StateForbids
from core.services.insurers import resending
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.ui.kit import words
from core.ui.kit.actions import Action, Values
from core.ui.lists import tables
from core.ui.lists.tables import Table


def resending_one(policy_id: UUID) -> Action:
    """Return the action that resends one policy."""
    return Action(
        title="Resend to the insurer",
        icon="send",
        roles=resending.SENDING_ROLES,
        work=lambda session, _, by: resending.resend(session, policy_id, person=by),
        done="The policy stands first in the queue and is sent within seconds.",
    )


def reporting(policy_id: UUID) -> Action:
    """Return the action that records that the insurer was informed of a policy by other means."""
    return Action(
        title="Mark as reported",
        roles=resending.SENDING_ROLES,
        work=lambda session, _, by: resending.record_reported(session, policy_id, person=by),
        done="The policy is noted as reported to its insurer.",
    )


def resending_all(provider_id: UUID, name: str) -> Action:
    """Return the action that resends everything set aside for an insurer."""
    return Action(
        title="Send all again",
        roles=resending.SENDING_ROLES,
        work=lambda session, _, by: resending.resend_all(session, provider_id, person=by),
        done=lambda count: (
            f"{words.count(count)} {'policy is' if count == 1 else 'policies are'} queued again for {name}."
            if count
            else f"Nothing was set aside for {name}."
        ),
    )


def acting_on(policy_ids: Sequence[UUID], act: Callable[..., None], done: str, table: Table[Any]) -> Action:
    """Return the action that does the same to the ticked policies; the ticks go when it is done for any of them."""

    def work(session: ScopedSession, _: Values, by: Person) -> str:
        found = resending.act_on_each(session, policy_ids, act, person=by)
        noun = "policy" if found.done == 1 else "policies"
        reasons = "; ".join(f"{number}: {reason}" for reason, number in found.left_out.items())
        if not found.done:
            raise StateForbids(f"Nothing was changed. Left out {reasons}")
        return f"{words.count(found.done)} {noun} {done}." + (f" Left out {reasons}." if reasons else "")

    return Action(
        title="Act on the ticked policies",
        roles=resending.SENDING_ROLES,
        work=work,
        done=str,
        then=lambda _: tables.let_go(table),
    )
