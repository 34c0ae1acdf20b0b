"""Shared by the screens of policies: endorsements, and resending policies to insurers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock
from core.covers.endorsements import REGISTRATION
from core.desk.sale import PolicyDetail
from core.errors import StateForbids
from core.services.insurers import resending
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.policies.policies import Endorsement, UntoldEndorsement
from core.services.selling import endorsing
from core.store.access import ScopedSession, read_in
from core.ui.frame import frame
from core.ui.kit import facts, words
from core.ui.kit.actions import Action, Text, Values
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of a policy; `last_on` is None where the next version does not begin after it, or there is none.

    `difference_minor` is what its endorsement cost, `premium_minor` the premium with all endorsements so far.
    """

    number: int
    from_on: date | None
    last_on: date | None
    changed: str
    difference_minor: int | None
    premium_minor: int
    made_by: str | None
    made_at: datetime

    @property
    def name(self) -> str:
        """Name of the version in words."""
        return f"Endorsement {self.number}" if self.number else "As sold"


VERSIONS: Table[Version] = Table(
    name="versions",
    noun=("version", "versions"),
    key=lambda row: str(row.number),
    narrow=("version", "from", "changed", "difference"),
    columns={
        "version": columns.text("Version", lambda row: row.name, 130),
        "from": columns.day("Holds from", lambda row: row.from_on),
        "last": columns.day("To", lambda row: row.last_on),
        "changed": columns.text("Changed", lambda row: row.changed, 260),
        "difference": columns.naira("Premium difference", lambda row: row.difference_minor),
        "premium": columns.naira("Premium", lambda row: row.premium_minor),
        "by": columns.text("Made by", lambda row: row.made_by, 130),
        "at": columns.moment("Made", lambda row: row.made_at),
    },
)


def list_versions(policy: PolicyDetail) -> Iterator[Version]:
    """Yield the versions of a policy in the order in which they were made."""
    starts_on = clock.to_lagos_day(policy.sale.start_at) if policy.sale.start_at else None
    days = [starts_on, *(made.effective_on for made in policy.endorsements), None]
    lasts = [after - timedelta(days=1) if own and after and after > own else None for own, after in pairwise(days)]
    premium = policy.sale.total_minor
    yield Version(
        number=0,
        from_on=starts_on,
        last_on=lasts[0],
        changed="–",
        difference_minor=None,
        premium_minor=premium,
        made_by=policy.sale.distributor,
        made_at=policy.sale.created_at,
    )
    for made, last_on in zip(policy.endorsements, lasts[1:], strict=True):
        premium += made.premium_minor
        yield Version(
            number=made.number,
            from_on=made.effective_on,
            last_on=last_on,
            changed="; ".join(
                f"{words.title(change['field'])}: {change['before'] or '–'} → {change['after']}"
                for change in made.changes
            ),
            difference_minor=made.premium_minor,
            premium_minor=premium,
            made_by=made.made_by,
            made_at=made.made_at,
        )


# The endorsements of a policy as its versions, and those that an insurer has still to be told of.

ROLES = endorsing.ROLES
_MOST = 20
# Their present values stand in the columns of the policy, and so on its cards.
_SHOWN = {*REGISTRATION.names, "first_name", "last_name", "email", "phone_number", "phone"}


def draw_endorsements(policy: PolicyDetail, person: Person) -> None:
    """Draw the versions of a policy, the newest first."""
    if not policy.endorsements:
        st.caption("Nothing was changed since the sale: the policy is as Submitted shows it.")
        return
    tables.draw_short(VERSIONS, list(list_versions(policy))[::-1])
    for made in reversed(policy.endorsements):
        with st.container(border=True):
            _version(made)
            _notice(made, person)


def list_present(policy: PolicyDetail) -> dict[str, str]:
    """Return the newest endorsement, and the present values that no other line of the cards shows."""
    if not policy.endorsements:
        return {}
    newest = policy.endorsements[-1]
    present = {change["field"]: change["after"] for made in policy.endorsements for change in made.changes}
    return {
        "Endorsed": f"No. {newest.number}, from {words.day(newest.effective_on)}",
        **{words.title(name): present[name] for name in sorted(present.keys() - _SHOWN)},
    }


def _version(made: Endorsement) -> None:
    st.markdown(f"**Endorsement {made.number}** · from {words.day(made.effective_on)}")
    rows = [
        {
            "Field": words.title(change["field"]),
            "Before": words.plain(change["before"] or "–"),
            "After": words.plain(change["after"]),
        }
        for change in made.changes
    ]
    st.table(rows, border="horizontal")
    if made.days_back:
        days = f"{made.days_back} {'day' if made.days_back == 1 else 'days'}"
        st.caption(f":material/history: Backdated by {days}: for a claim it counts from the day after it was made.")
    facts.line("Asked by", made.requested_by)
    facts.line("Reason", made.reason)
    facts.line("Premium difference", words.naira(made.premium_minor))
    facts.line("Made", f"{made.made_by}, {words.moment(made.made_at)}")


def _notice(made: Endorsement, person: Person) -> None:
    if made.told_at is not None:
        facts.line("Insurer told", f"{made.told_by}, {words.moment(made.told_at)}: {made.told_how}")
        return
    st.markdown(":orange-badge[Insurer to be told] No connection takes endorsements: tell the insurer by hand.")
    if person.has_role(*ROLES):
        _reporting(made.id, made.number).button("Note that the insurer was told", key=f"endorsement.told.{made.number}")


def _reporting(endorsement_id: UUID, number: int) -> Action:
    return Action(
        title="The insurer was told",
        icon="task_alt",
        says=f"Endorsement {number} is noted as told, with your name and the time. This cannot be taken back.",
        fields=[Text("note", "How it was told", longest=endorsing.LONGEST["note"])],
        confirm="Note it",
        roles=ROLES[:1],
        work=lambda session, typed, by: endorsing.note_told(session, endorsement_id, note=typed["note"], by=by),
        done=f"It is noted that the insurer was told of endorsement {number}.",
    )


def draw_untold() -> None:
    """Draw the endorsements that no insurer was told of, oldest first; nothing where there are none."""
    found, total = read_in(frame.scope(), policies.list_untold, limit=_MOST)
    if not total:
        return
    noun = "endorsement" if total == 1 else "endorsements"
    with st.expander(f"{words.count(total)} {noun} to be reported by hand", icon=":material/edit_document:"):
        lines = "\n".join(map(_line, found))
        st.markdown(
            "| Policy | Endorsement | Customer | Insurer | Changed | Holds from | Made |\n"
            f"|:---|:---|:---|:---|:---|:---|:---|\n{lines}"
        )
        if total > len(found):
            st.caption(f"The {len(found)} oldest are shown.")


def _line(row: UntoldEndorsement) -> str:
    href = frame.link("policies/policy.py", id=str(row.policy_id), tab="endorsements")
    cells = (
        f"[{words.plain(row.policy_number or 'Open')}]({href})",
        f"No. {row.number}",
        words.plain(row.holder),
        words.plain(row.provider),
        ", ".join(words.title(name).lower() for name in row.fields).capitalize(),
        words.day(row.effective_on),
        words.moment(row.made_at),
    )
    return f"| {' | '.join(cells)} |"


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


def acting_on(policy_ids: Sequence[UUID], act: Callable[..., None], done: str, table: Table[Any]) -> Action:
    """Return the action that does the same to the ticked policies; the ticks go when it is done for any of them."""

    def work(session: ScopedSession, _: Values, by: Person) -> str:
        found = resending.act_on_each(session, policy_ids, act, person=by)
        left_out = words.list_left_out(found.left_out)
        if not found.done:
            raise StateForbids(f"Nothing was changed.{left_out.removesuffix('.')}")
        return f"{words.counted(found.done, 'policy', 'policies')} {done}.{left_out}"

    return Action(
        title="Act on the ticked policies",
        roles=resending.SENDING_ROLES,
        work=work,
        done=str,
        then=lambda _: tables.let_go(table),
    )
