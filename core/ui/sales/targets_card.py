"""The card of monthly targets: progress of distributors and insurers, and the dialogs that set and remove them."""

from datetime import date
from uuid import UUID

import streamlit as st

from core import clock
from core.errors import InvalidInput
from core.services.dimensions import Choices
from core.services.people.staff import Person
from core.services.sales import targets
from core.services.sales.targets import MEMBERS, Member, Progress
from core.store.access import Scope, ScopedSession
from core.ui.kit import actions, figure_cache, words
from core.ui.kit.actions import Action, Choice, Naira, Values
from core.ui.kit.figure_cache import StoreState

ROLES = ("operations",)
_NOUNS: dict[Member, str] = {"distributor": "Distributor", "provider": "Insurer"}


def draw(at: StoreState, names: Choices, person: Person) -> None:
    """Draw the targets of this month; operations set them."""
    month = at.today.replace(day=1)
    found = figure_cache.progress(at, month)
    may_change = person.has_role(*ROLES)
    with st.container(border=True, height="stretch", key="targets"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            with st.container(gap=None, width="content"):
                st.markdown(f"**Targets of {month:%B %Y}**")
                st.caption(f"Premium written so far; {_share_of_month(at.today)} of the month has passed.")
            if may_change:
                actions.button("Set a target", lambda: setting(names, month), icon="flag")
        if not found:
            ask = "Set one to see how far it is." if may_change else "Operations set them."
            st.caption(f"No distributor and no insurer has a target for this month. {ask}")
        for progress in found:
            _progress(progress, month, may_change=may_change)


def _share_of_month(today: date) -> str:
    length = (clock.add_months(today.replace(day=1), 1) - today.replace(day=1)).days
    return words.percent((today.day - 1) / length, 0)


def _progress(progress: Progress, month: date, *, may_change: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        written, target = words.short_naira(progress.written_minor), words.short_naira(progress.target_minor)
        st.progress(
            min(1.0, float(progress.reached)),
            text=f"{words.plain(progress.name)}: {words.percent(progress.reached, 0)}, "
            f"{words.plain(written)} of {words.plain(target)}",
        )
        if may_change:
            removing(progress, month).button(
                "Remove", key=f"remove target {progress.id}", type="tertiary", icon="close"
            )


def setting(names: Choices, month: date) -> Action:
    """Return the dialog that sets or changes a target of this month."""
    options = {
        f"{member} {key}": f"{name} ({_NOUNS[member].lower()})"
        for member in MEMBERS
        for key, name in names.names[member].items()
    }

    def set_target(session: ScopedSession, typed: Values, by: Person) -> str:
        if not typed["member"]:
            raise InvalidInput.for_field("member", "Choose a distributor or an insurer")
        member, member_id = _member(typed["member"])
        targets.set_target(session, member, member_id, month, {"amount": typed["amount"]}, by=by)
        return names.names[member][member_id]

    return Action(
        title=f"Set a target for {month:%B %Y}",
        icon="flag",
        says="Gross written premium: purchases and renewals of live records, before commission and refunds.",
        fields=[
            Choice("member", "Distributor or insurer", options=options),
            Naira("amount", "Premium to write this month (₦)"),
        ],
        confirm="Save the target",
        roles=ROLES,
        scope=Scope.system,
        work=set_target,
        done=lambda name: f"The target of {name} for {month:%B %Y} is saved.",
    )


def removing(progress: Progress, month: date) -> Action:
    """Return the dialog that removes a target of this month."""
    return Action(
        title="Remove the target",
        icon="flag",
        says=f"**{words.plain(progress.name)}** has no target for {month:%B %Y} then. The audit log keeps what it was.",
        roles=ROLES,
        scope=Scope.system,
        work=lambda session, _, by: targets.remove_target(session, progress.member, progress.id, month, by=by),
        done=f"The target of {progress.name} is removed.",
    )


def _member(option: str) -> tuple[Member, UUID]:
    member, _, key = option.partition(" ")
    return next(each for each in MEMBERS if each == member), UUID(key)
