"""Changes of a policy: each action previews its effect, and is made once on the version that was seen (S13).

Beside them the button that sends the certificate by e-mail, the calls about renewals, and the switch of reminders.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, ids, money
from core.covers.cover import Price
from core.covers.endorsements import REGISTRATION
from core.desk import sale as policy_view
from core.desk.sale import PolicyDetail
from core.errors import CoverdeskError, DuplicateRisk, InvalidInput, NotFound, StateForbids
from core.outbound import mail as smtp
from core.services.mail.mail import takes_mail
from core.services.people.staff import Person
from core.services.policies import certificates, policies
from core.services.policies import changes as policy_changes
from core.services.policies.changes import LONGEST_WORD, Activation, PolicyChange
from core.services.policies.policies import PolicyState
from core.services.renewals import calls, due, renewals
from core.services.renewals.calls import Call
from core.services.selling import endorsing
from core.services.selling.buying import Seller
from core.states.policies import PolicyAction
from core.store.access import Scope, ScopedSession, read_in, reading
from core.ui.buying import prices
from core.ui.forms import questions, widgets
from core.ui.forms.questions import Question
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Day, Field, Once, Segments, Text, Values

_SWITCH = "reminders_off"


def draw_calls(policy_id: UUID) -> None:
    """Draw every call about a policy, the latest first."""
    try:
        found = read_in(frame.scope(), calls.list_calls, policy_id)
    except NotFound:
        return
    if found:
        st.markdown("**Calls about the renewal**")
    for call in found:
        with st.container(border=True, gap="xsmall"):
            _call(call)


def _call(call: Call) -> None:
    facts.line(words.moment(call.created_at), call.label)
    if call.note:
        st.text(call.note)
    again = f", to call again on {words.day(call.call_again_on)}" if call.call_again_on else ""
    st.caption(f"Called by {words.plain(call.caller)}; owner {words.plain(call.owner)}{again}.")


def draw_switch(customer_id: UUID, person: Person) -> None:
    """Draw the switch of a customer's reminders, which holds for all of their policies; only operations may turn it."""
    with reading(frame.scope()) as session:
        st.session_state[_SWITCH] = customer_id not in due.list_opted_out(session, [customer_id])
    st.toggle(
        "Reminders of renewals by e-mail",
        key=_SWITCH,
        help="For all policies of this customer. The audit log says who switched it, and when.",
        disabled=not person.has_role("operations"),
        on_change=_switch,
        args=(customer_id,),
    )


def _switch(customer_id: UUID) -> None:
    is_out = not st.session_state[_SWITCH]
    switch = Action(
        title="Reminders of renewals by e-mail",
        roles=("operations",),
        work=lambda session, _, by: due.set_opt_out(session, customer_id, is_out=is_out, by=by),
        done="This customer gets no reminders any more." if is_out else "This customer gets reminders again.",
    )
    switch.do()


WAITS = " There is no mail server yet: it waits until an administrator names one."


def _describe_sending(email: str) -> str:
    """Return where the certificate goes, or why it goes nowhere."""
    if not takes_mail(email):
        return "Nobody has given an e-mail address: endorse the policy with one first."
    return f"To {email}" if frame.mode() else "Test policies send no e-mail: the address may be a stranger's."


def draw_send_certificate(policy_id: UUID, email: str, *, key: str, label: str = "Send by e-mail") -> None:
    """Draw the button; the second click of a double click sends nothing more."""
    send = Action(
        title=label,
        icon="mail",
        roles=certificates.ROLES,
        work=lambda session, _, by: certificates.send_certificate(session, policy_id, by=by),
        done=lambda _: f"The certificate goes to {email}.{'' if smtp.can_send() else WAITS}",
    )
    st.button(
        label,
        key=key,
        icon=":material/mail:",
        disabled=not (frame.mode() and takes_mail(email)),
        help=_describe_sending(email),
        on_click=send.do,
    )


_ROLES: Final = ("operations",)
# The label and the icon of each action.
_LOOKS: Final = {
    PolicyAction.ACTIVATE: ("Activate", "verified"),
    PolicyAction.DECLINE: ("Decline", "thumb_down"),
    PolicyAction.CANCEL: ("Cancel policy", "cancel"),
    PolicyAction.ENDORSE: ("Endorse", "edit_document"),
    PolicyAction.RENEW: ("Renew", "autorenew"),
}
_ACCEPTED: Final = "accepted"
_ANSWERS: Final = {"": "Nothing yet", _ACCEPTED: "It accepted the policy"}
_ENDED_BY: Final = {"customer": "The customer", "insurer": "The insurer"}
_DAYS: Final = {"policy_number": "Policy number", "start_on": "Cover starts", "expiration_on": "Cover ends"}
_FARTHEST_MONTHS: Final = 120
_ENDORSED_MONTHS: Final = 24


@dataclass(slots=True)
class _Seen:
    """The policy as it was seen: `now` is its state after somebody else has changed it, and `version` is that one's."""

    policy_id: UUID
    scope: Scope
    version: int
    now: PolicyState | None = None

    def look_again(self) -> None:
        """Take the present version over, whose state the dialog then says."""
        self.now = read_in(self.scope, policies.get_state, self.policy_id)
        self.version = self.now.version


def buttons(policy: PolicyDetail) -> None:
    """Draw a button for each action that is possible now; a disabled one explains why it is not."""
    refused = {verb: _find_obstacle(verb, policy) for verb in policy.state.actions}
    with st.container(horizontal=True, gap="xsmall", width="content"):
        for verb in policy.state.actions:
            label, icon = _LOOKS[verb]
            actions.button(
                label,
                partial(changing, verb, policy),
                icon=icon,
                type="primary" if verb is PolicyAction.ACTIVATE else "secondary",
                key=f"policy.{verb}",
                disabled=bool(refused[verb]),
                help=words.plain(words.format_dates(refused[verb] or "")) or None,
            )


def _find_obstacle(verb: PolicyAction, policy: PolicyDetail) -> str | None:
    """Return why an action that the state allows would be refused, so that it is said before its dialog is opened."""
    if verb not in policy.state.actions:
        return "Its state does not allow this"
    if verb is PolicyAction.RENEW:
        return policy.not_renewable
    if verb is PolicyAction.ACTIVATE:
        try:
            read_in(frame.scope(), policy_changes.preview_activation, policy.id)
        except InvalidInput:
            return None  # Other days can be chosen in the dialog, which says so.
        except CoverdeskError as error:
            return str(error)
    return None


def follow_address(policy: PolicyDetail) -> None:
    """Open the activation where the address asks for it and it is possible."""
    if st.query_params.get("do") == PolicyAction.ACTIVATE and not _find_obstacle(PolicyAction.ACTIVATE, policy):
        del st.query_params["do"]
        actions.open_(changing(PolicyAction.ACTIVATE, policy))


def begin_renewal(policy_id: UUID) -> None:
    """Open the dialog that renews a policy, from a screen of many; does nothing if the policy no longer exists."""
    try:
        policy = read_in(frame.scope(), policy_view.get_policy, policy_id)
    except NotFound:
        return
    sale = policy.sale
    about = f"{sale.policy_number or 'Policy'} · {sale.customer} · {sale.product}"
    actions.open_(changing(PolicyAction.RENEW, policy, about=about))


def changing(verb: PolicyAction, policy: PolicyDetail, *, about: str = "") -> Action:
    """Return the dialog of an action on the version that is on the screen; `about` names the policy among many."""
    scope = Scope.of(policy.distributor_id, is_live=policy.is_live)
    seen = _Seen(policy.id, scope, policy.state.version)
    action = _MAKERS[verb](seen)
    return replace(
        action,
        says="\n\n".join(filter(None, (about and f"**{words.plain(about)}**", action.says))),
        fields=[lambda _: _show_changed(verb, seen), *action.fields],
        done=lambda result: ": ".join(filter(None, (about, actions.describe_done(action, result)))),
        # It acts once, however often its button is clicked.
        once=Once(scope=scope, token=ids.new_token()),
        on_stale=seen.look_again,
    )


def _action(verb: PolicyAction, seen: _Seen, **given: Any) -> Action:
    title, icon = _LOOKS[verb]
    return Action(title=title, icon=icon, roles=_ROLES, scope=lambda: seen.scope, **given)


def _show_changed(verb: PolicyAction, seen: _Seen) -> None:
    """Explain that the policy has changed; the input is kept and has to be confirmed again on the new version."""
    if seen.now is None:
        return
    st.warning(
        f"Somebody else changed this policy while you had it open: it is now {words.badge(seen.now.stage)}."
        " Nothing of yours was written.",
        icon=":material/sync_problem:",
    )
    if verb not in seen.now.actions:
        if reason := st.session_state.get(f"{actions.FIELD}reason"):
            st.text_area("What you typed", reason, disabled=True, key="policy.typed")
        st.button("Close and look at it", type="primary", on_click=actions.close)
        raise StateForbids("Its state does not allow this any more")


# Decline, cancel and renew: the sum is shown first, and another one is refused.


def _declining(seen: _Seen) -> Action:
    def show(_: Values) -> Values:
        with reading(seen.scope) as session:
            return _goes_back(policy_changes.decline_preview(session, seen.policy_id).price)

    def decline(session: ScopedSession, typed: Values, by: Person) -> str:
        change = policy_changes.decline(
            session, seen.policy_id, actor=by.actor, reason=typed["reason"], expected_version=seen.version
        )
        return f"The policy is declined; {_given_back(change, typed['expected'])} goes back."

    return _action(
        PolicyAction.DECLINE,
        seen,
        says="The insurer does not want this risk: the policy ends before it began, and the whole premium goes back.",
        fields=[Text("reason", "Why the insurer declines", longest=500, is_long=True, height=90), show],
        confirm=lambda typed: f"Decline and give back {words.naira_of(typed['expected'])}",
        work=decline,
        done=str,
    )


def _cancelling(seen: _Seen) -> Action:
    def show(typed: Values) -> Values:
        with reading(seen.scope) as session:
            by_insurer = typed["ended_by"] == "insurer"
            return _goes_back(policy_changes.preview_refund(session, seen.policy_id, by_insurer=by_insurer).price)

    def cancel(session: ScopedSession, typed: Values, by: Person) -> str:
        change = policy_changes.cancel(
            session,
            seen.policy_id,
            actor=by.actor,
            reason=typed["reason"],
            by_insurer=typed["ended_by"] == "insurer",
            expected_version=seen.version,
        )
        return f"The policy is cancelled; {_given_back(change, typed['expected'])} goes back."

    return _action(
        PolicyAction.CANCEL,
        seen,
        says="Cover ends today. This cannot be undone.",
        fields=[
            Segments("ended_by", "Who ends it", options=_ENDED_BY, value="customer"),
            Text("reason", "Why it ends", longest=500, is_long=True, height=90),
            show,
        ],
        confirm=lambda typed: f"Cancel and give back {words.naira_of(typed['expected'])}",
        work=cancel,
        done=str,
    )


def _renewing(seen: _Seen) -> Action:
    def show(_: Values) -> Values:
        after = read_in(seen.scope, renewals.preview_next_term, seen.policy_id)
        st.caption(
            f"One more term, from {words.day(after.start_at)} to {words.day(after.term.expiration_at)}. The policy"
            " keeps its number and gets a new certificate."
        )
        with st.container(border=True):
            prices.show(after.price, label="To pay")
        return {"expected": after.price.total}

    def renew(session: ScopedSession, typed: Values, by: Person) -> str:
        assert seen.scope.distributor_id is not None  # noqa: S101 - a policy has its distributor
        is_live = bool(seen.scope.is_live)
        seller = Seller(distributor_id=seen.scope.distributor_id, is_live=is_live, actor=by.actor, source="desk")
        renewed = renewals.renew(session, seen.policy_id, seller, expected_version=seen.version)
        _refuse_other(typed["expected"], renewed.price.total, "premium")
        return f"The policy is renewed for {_shown(typed['expected'])}."

    return _action(
        PolicyAction.RENEW,
        seen,
        fields=[show],
        confirm=lambda typed: f"Renew for {words.naira_of(typed['expected'])}",
        work=renew,
        done=str,
    )


def _goes_back(price: Price) -> Values:
    with st.container(border=True):
        prices.show(price, label="Goes back")
    return {"expected": price.total}


def _given_back(change: PolicyChange, expected: Decimal) -> str:
    assert change.refund is not None, "a policy that ends has a refund"  # noqa: S101 - the service's promise
    _refuse_other(expected, change.refund.price.total, "refund")
    return _shown(expected)


def _refuse_other(expected: Decimal, actual: Decimal, what: str) -> None:
    """Raise StateForbids, which rolls back, if the sum differs from the one that the person saw and confirmed."""
    if actual != expected:
        raise StateForbids(f"The {what} has changed to {_shown(actual)}: look at it again.")


def _shown(naira: Decimal) -> str:
    return money.format_naira(money.to_minor(naira))


# Activation: blank fields are filled as the preview shows; without the insurer's acceptance it is issued by hand.


def _activating(seen: _Seen) -> Action:
    proposed, start_on = _propose(seen)
    number = f"{proposed.policy_number}, unless you type another" if proposed else None
    days = {"start_on": proposed and proposed.start_at, "expiration_on": proposed and proposed.expiration_at}
    labels = {
        name: f"{_DAYS[name]}: {words.day(day)}, unless you choose another day" if day else _DAYS[name]
        for name, day in days.items()
    }
    if start_on:
        labels["start_on"] = f"{_DAYS['start_on']}: today, as the planned term is over"
    first = clock.add_months(clock.today(), -_FARTHEST_MONTHS)
    last = clock.add_months(clock.today(), _FARTHEST_MONTHS)
    return _action(
        PolicyAction.ACTIVATE,
        seen,
        fields=[
            Segments("insurer_said", "What did the insurer say?", options=_ANSWERS, value=""),
            Text(
                "insurer_accepted",
                "How do you know?",
                longest=LONGEST_WORD,
                placeholder="E-mail of the underwriter of 12 Nov",
                is_live=True,
                when=lambda typed: typed["insurer_said"] == _ACCEPTED,
            ),
            Text("policy_number", "Policy number", longest=100, placeholder=number, is_live=True),
            *(
                Day(name, label, value=start_on if name == "start_on" else None, first=first, last=last, is_live=True)
                for name, label in labels.items()
            ),
            lambda typed: {"would": _show_activation(seen, typed)},
        ],
        confirm=_label_activation,
        work=lambda session, typed, by: _activate(session, seen, typed, by),
        done=str,
    )


def _propose(seen: _Seen) -> tuple[Activation | None, date | None]:
    """Return what an activation would set, and the day from which: today where the planned term is over.

    The day is None where the planned one holds, and both are where the days have to be chosen.
    """
    for start_on in (None, clock.today()):
        with suppress(InvalidInput):
            return read_in(seen.scope, policy_changes.preview_activation, seen.policy_id, start_on=start_on), start_on
    return None, None


def _preview(session: ScopedSession, seen: _Seen, typed: Values) -> Activation:
    return policy_changes.preview_activation(session, seen.policy_id, **_read_days(typed))


def _read_days(typed: Values) -> dict[str, Any]:
    days = {name: date.fromisoformat(typed[name]) if typed[name] else None for name in ("start_on", "expiration_on")}
    return {"policy_number": typed["policy_number"], **days}


def _activate(session: ScopedSession, seen: _Seen, typed: Values, by: Person) -> str:
    would, expected = _preview(session, seen, typed), typed["would"]
    if expected and (would.start_at, would.expiration_at) != (expected.start_at, expected.expiration_at):
        raise StateForbids("The days of cover have changed since they were shown: look at them again")
    is_accepted = typed["insurer_said"] == _ACCEPTED
    change = policy_changes.activate(
        session,
        seen.policy_id,
        actor=by.actor,
        expected_version=seen.version,
        insurer_accepted=typed["insurer_accepted"] if is_accepted else False,
        **_read_days(typed),
    )
    how = "as its insurer accepted it" if is_accepted else "issued by hand: tell its insurer"
    return f"The policy is active as {change.policy['meta']['policy_number']}, {how}."


def _label_activation(typed: Values) -> str:
    label = "Activate the policy" if typed["insurer_said"] == _ACCEPTED else "Issue by hand"
    would: Activation | None = typed["would"]
    return f"{label}, {_back(would)}" if would and would.days_back else label


def _show_activation(seen: _Seen, typed: Values) -> Activation | None:
    """Show the preview in the dialog and return it; None for invalid input, which confirming then explains."""
    try:
        would = read_in(seen.scope, _preview, seen, typed)
    except InvalidInput as refused:
        faults = "; ".join(f"“{_DAYS.get(fault.field, fault.field)}” {fault.message}" for fault in refused.faults)
        st.caption(f"This cannot be done: {words.plain(words.format_dates(faults))}.")
        return None
    with st.container(border=True, gap="xsmall"):
        st.markdown("**What will happen**")
        st.markdown("\n".join(f"- {line}" for line in _list_effects(typed, would)))
        if would.days_back:
            st.warning(
                f"Cover is backdated: it begins {_back(would)}, and losses since then are covered.",
                icon=":material/history:",
            )
    return would


def _list_effects(typed: Values, would: Activation) -> list[str]:
    number = f"Policy number **{words.plain(would.policy_number)}**"
    drawn = ", the next of our series (a later one if another policy is issued first)" if would.is_drawn else ""
    days = f"**{words.day(would.start_at)}** to **{words.day(would.expiration_at)}**"
    who = words.plain(frame.require(*_ROLES).name)
    last = (
        f"Recorded as accepted by the insurer, on the word of **{who}**"
        if typed["insurer_said"] == _ACCEPTED
        else f"Issued by hand by **{who}**. It stays under Awaiting insurer until its insurer has taken it"
    )
    return [f"{number}{drawn}.", f"Cover from {days}.", f"{last}."]


def _back(would: Activation) -> str:
    return f"{would.days_back} {'day' if would.days_back == 1 else 'days'} back"


# Endorsement: what may be changed with its present values, from which day, why, and who asked.


@dataclass(frozen=True, slots=True)
class _Present(Field):
    """A field for each value that may be changed, filled with the present one; read as a mapping."""

    form_questions: list[Question] = field(kw_only=True)
    present: Mapping[str, str] = field(kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the fields in two columns, each with its error below it."""
        grid = st.grid(2, min_column_width=190, gap="small")
        for question in self.form_questions:
            place = f"{key}.{question.name}"
            st.session_state.setdefault(place, self.present.get(question.name) or None)
            with grid.container(gap="xxsmall"):
                widgets.draw(question, key=place, typed={}, reruns=False)
                actions.blame(actions.DIALOG, question.name)

    def read(self, key: str) -> dict[str, str]:
        """Return the values that the person changed: what stands as it was found may be newer by now."""
        typed = {name: str(st.session_state.get(f"{key}.{name}") or "") for name in self.present}
        return {name: text for name, text in typed.items() if text != self.present[name]}

    @property
    def names(self) -> list[str]:
        """The values, and the error of the whole."""
        return [self.name, *self.present]


def _endorsing(seen: _Seen) -> Action:
    model, present, limit = read_in(seen.scope, endorsing.list_values, seen.policy_id)
    longest = endorsing.LONGEST
    limited = f"\n\n:material/lock: **{words.plain(limit)}.**" if limit else ""
    return _action(
        PolicyAction.ENDORSE,
        seen,
        says="Change what is different now. Cover, days, sums and price stay as they were sold. It costs nothing: the"
        f" premium stays as it is. The certificate shows it at once; the insurer is still to be told.{limited}",
        fields=[
            lambda _: _show_newer(seen, present, questions.of(model)),
            _Present("changes", "", form_questions=questions.of(model), present=present),
            Day(
                "effective_on",
                "It holds from",
                value=clock.today(),
                first=clock.add_months(clock.today(), -_ENDORSED_MONTHS),
                last=clock.today(),
            ),
            Text("requested_by", "Who asked, and how", longest=longest["requested_by"]),
            Text("reason", "Why", longest=longest["reason"]),
        ],
        confirm="Endorse the policy",
        work=lambda session, typed, by: _endorse(session, seen, typed, by),
        done=lambda number: f"The policy has endorsement {number}. Its insurer is still to be told.",
    )


def _show_newer(seen: _Seen, present: Mapping[str, str], form_questions: Sequence[Question]) -> None:
    """Show what somebody else endorsed while the dialog was open; it stays unless the same field is changed here."""
    if seen.now is None:
        return
    _, newer, _ = read_in(seen.scope, endorsing.list_values, seen.policy_id)
    for each in form_questions:
        if (text := newer.get(each.name, "")) != present[each.name]:
            st.caption(f"{words.plain(each.label)} is **{words.plain(text)}** now.")


def _endorse(session: ScopedSession, seen: _Seen, typed: Values, by: Person) -> int:
    """Endorse the policy; a registration number that another policy has is the fault of that field."""
    values = typed["changes"]
    try:
        return endorsing.endorse(
            session,
            seen.policy_id,
            values,
            effective_on=date.fromisoformat(typed["effective_on"]) if typed["effective_on"] else None,
            reason=typed["reason"],
            requested_by=typed["requested_by"],
            expected_version=seen.version,
            by=by,
        )
    except DuplicateRisk as error:
        other = error.detail["policy_number"] or "a pending policy without a number"
        name = next(name for name in REGISTRATION.names if name in values)
        raise InvalidInput.for_field(name, f"is insured in these days by {other}") from None


_MAKERS: Final[Mapping[PolicyAction, Callable[[_Seen], Action]]] = {
    PolicyAction.ACTIVATE: _activating,
    PolicyAction.DECLINE: _declining,
    PolicyAction.CANCEL: _cancelling,
    PolicyAction.ENDORSE: _endorsing,
    PolicyAction.RENEW: _renewing,
}
