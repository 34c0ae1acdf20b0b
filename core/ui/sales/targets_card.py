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
from core.store.access import Scope, transact
from core.ui.kit import dialogs, figure_cache, words
from core.ui.kit.dialogs import Decision
from core.ui.kit.figure_cache import StoreState

ROLES = ("operations",)
_NOUNS: dict[Member, str] = {"distributor": "Distributor", "provider": "Insurer"}
_MEMBER = dialogs.FIELD + "member"
_AMOUNT = "amount"


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
                dialogs.button("Set a target", lambda: setting(names, month, person), icon=":material/flag:")
        if not found:
            ask = "Set one to see how far it is." if may_change else "Operations set them."
            st.caption(f"No distributor and no insurer has a target for this month. {ask}")
        for progress in found:
            _progress(progress, month, person, may_change=may_change)


def _share_of_month(today: date) -> str:
    length = (clock.add_months(today.replace(day=1), 1) - today.replace(day=1)).days
    return words.percent((today.day - 1) / length, 0)


def _progress(progress: Progress, month: date, person: Person, *, may_change: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        written, target = words.short_naira(progress.written_minor), words.short_naira(progress.target_minor)
        st.progress(
            min(1.0, float(progress.reached)),
            text=f"{words.plain(progress.name)}: {words.percent(progress.reached, 0)}, "
            f"{words.plain(written)} of {words.plain(target)}",
        )
        if may_change:
            st.button(
                "Remove",
                key=f"remove target {progress.id}",
                type="tertiary",
                icon=":material/close:",
                on_click=lambda: dialogs.open_(removing(progress, month, person)),
            )


def setting(names: Choices, month: date, person: Person) -> Decision:
    """Return the dialog that sets or changes a target of this month."""
    options = {f"{member} {key}": name for member in MEMBERS for key, name in names.names[member].items()}

    def ask() -> None:
        st.selectbox(
            "Distributor or insurer",
            list(options),
            key=_MEMBER,
            index=None,
            placeholder="Choose",
            format_func=lambda key: f"{options[key]} ({_NOUNS[_member(key)[0]].lower()})",
        )
        dialogs.blame("member")
        dialogs.field(_AMOUNT, "Premium to write this month (₦)", longest=20)

    def act() -> str:
        chosen = st.session_state.get(_MEMBER)
        if not chosen:
            raise InvalidInput.for_field("member", "Choose a distributor or an insurer")
        member, member_id = _member(chosen)
        typed = {_AMOUNT: words.read_naira(dialogs.get_values(_AMOUNT)[_AMOUNT])}
        transact(
            Scope.system(),
            lambda session: targets.set_target(session, member, member_id, month, typed, by=person),
        )
        return f"The target of {options[chosen]} for {month:%B %Y} is saved."

    return Decision(
        title=f"Set a target for {month:%B %Y}",
        icon="flag",
        says="Gross written premium: purchases and renewals of live records, before commission and refunds.",
        asks=ask,
        given={_AMOUNT: ""},
        confirm="Save the target",
        act=act,
    )


def removing(progress: Progress, month: date, person: Person) -> Decision:
    """Return the dialog that removes a target of this month."""

    def act() -> str:
        transact(
            Scope.system(),
            lambda session: targets.remove_target(session, progress.member, progress.id, month, by=person),
        )
        return f"The target of {progress.name} is removed."

    return Decision(
        title="Remove the target",
        icon="flag",
        says=f"**{words.plain(progress.name)}** has no target for {month:%B %Y} then. The audit log keeps what it was.",
        confirm="Remove the target",
        act=act,
    )


def _member(option: str) -> tuple[Member, UUID]:
    member, _, key = option.partition(" ")
    return next(each for each in MEMBERS if each == member), UUID(key)
