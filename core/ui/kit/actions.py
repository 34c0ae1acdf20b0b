"""Actions: every change that people make on a screen, declared once and made once, in one transaction.

    refuse = Action(
        title="Refuse the erasure",
        icon="block",
        says="The reason stands in the register.",
        fields=[Text("reason", "Reason", longest=500)],
        roles=("compliance",),
        work=lambda session, values, by: erasures.refuse(session, row.id, reason=values["reason"], by=by),
        done=f"{row.number} is refused.",
    )
    refuse.button("Refuse")       # a button that opens its dialog, which the page draws by `actions.run()`
    refuse.form(key="refuse")     # the same fields in place, with the button that does it
    st.button(..., on_click=refuse.do)  # a button that does it at once

What is wrong with a field stands below it, all other errors stand above the button, and what was typed stays.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal

import streamlit as st

from core import clock
from core.errors import CoverdeskError, InvalidInput, KeyReused, NotAllowed, StaleVersion, StateForbids, WrongMediaType
from core.services.audit import idempotency
from core.services.audit.idempotency import WireResponse
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, transact
from core.ui.forms import forms
from core.ui.frame import frame, page_links
from core.ui.kit import words

DONE_ALREADY = "This was done already, with other figures. Look at the history."
CHANGED = "Close this, look at it as it is now, and decide again."
# The dialog's place: the prefix of the keys of its fields and of its button.
DIALOG = "decision"
FIELD = f"{DIALOG}.field."
_OPEN, _RESULT, _MADE = f"{DIALOG}.open", "action.result", "action.made"
_SHOWN_FOR = timedelta(seconds=4)
# Streamlit's own picker ends ten years from now.
_FIRST_DAY, _LAST_DAY = date(1900, 1, 1), date(2100, 12, 31)

Values = Mapping[str, Any]
Work = Callable[[ScopedSession, Any, Person], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """An input of an action; `value` is what it begins with, and a live one runs the page at each change.

    It is drawn if `when`, where there is one, says so of the values before it.
    """

    name: str
    label: str
    value: Any = field(default=None, kw_only=True)
    is_live: bool = field(default=False, kw_only=True)
    when: "Callable[[Values], bool] | None" = field(default=None, kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        raise NotImplementedError

    def read(self, key: str) -> Any:  # noqa: ANN401 of the widget's type
        """Return what was typed: text, "" for nothing."""
        return str(st.session_state.get(key) or "")

    @property
    def names(self) -> Sequence[str]:
        """The inputs whose errors it shows itself, or has shown below it."""
        return (self.name,)

    @property
    def mode(self) -> Literal["ignore", "rerun"]:
        """The effect of a change, as Streamlit calls it."""
        return "rerun" if self.is_live else "ignore"


@dataclass(frozen=True, slots=True)
class Text(Field):
    """A line of text; an area of several lines, as high as `height` in pixels, with `is_long`."""

    longest: int = field(kw_only=True)
    is_long: bool = field(default=False, kw_only=True)
    height: int = field(default=110, kw_only=True)
    placeholder: str | None = field(default=None, kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        label, most, hint, mode = self.label, self.longest, self.placeholder, self.mode
        if self.is_long:
            st.text_area(label, key=key, max_chars=most, height=self.height, placeholder=hint, on_change=mode)
        else:
            st.text_input(label, key=key, max_chars=most, placeholder=hint, autocomplete="off", on_change=mode)


@dataclass(frozen=True, slots=True)
class Naira(Field):
    """An amount in naira, read as the text of a plain number."""

    placeholder: str | None = field(default=None, kw_only=True)
    help: str | None = field(default=None, kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        hint, help_ = self.placeholder, self.help
        st.text_input(
            self.label, key=key, max_chars=20, autocomplete="off", placeholder=hint, help=help_, on_change=self.mode
        )

    def read(self, key: str) -> str:
        """Return the amount without sign and separators, "" for nothing."""
        return words.read_naira(st.session_state.get(key) or "")


@dataclass(frozen=True, slots=True)
class Choice(Field):
    """A pick list of values and their labels."""

    options: Mapping[str, str] = field(kw_only=True)
    placeholder: str = field(default="Choose", kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        st.selectbox(
            self.label,
            list(self.options),
            index=None,
            key=key,
            format_func=lambda value: self.options.get(value, value),
            placeholder=self.placeholder,
            on_change=self.mode,
        )


@dataclass(frozen=True, slots=True)
class Segments(Field):
    """A few values side by side, one of which is always chosen."""

    options: Mapping[str, str] = field(kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        st.segmented_control(
            self.label, list(self.options), required=True, format_func=self.options.__getitem__, key=key
        )


@dataclass(frozen=True, slots=True)
class Several(Field):
    """A pick list of any number of values; read as a list."""

    options: Mapping[str, str] = field(kw_only=True)
    placeholder: str = field(default="Choose", kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        shown, empty = self.options.__getitem__, self.placeholder
        st.multiselect(
            self.label, list(self.options), key=key, format_func=shown, placeholder=empty, on_change=self.mode
        )

    def read(self, key: str) -> list[str]:
        """Return the chosen values."""
        return list(st.session_state.get(key) or [])


@dataclass(frozen=True, slots=True)
class Day(Field):
    """A day, read as text such as 2026-11-20, "" for none."""

    first: date = field(default=_FIRST_DAY, kw_only=True)
    last: date = field(default=_LAST_DAY, kw_only=True)

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        first, last, mode = self.first, self.last, self.mode
        st.date_input(
            self.label, value=None, key=key, min_value=first, max_value=last, format="DD/MM/YYYY", on_change=mode
        )


@dataclass(frozen=True, slots=True)
class Tick(Field):
    """A box to tick; read as a boolean."""

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        st.checkbox(self.label, key=key, on_change=self.mode)

    def read(self, key: str) -> bool:
        """Return True if it is ticked."""
        return bool(st.session_state.get(key))


# A function among the fields gets what is typed so far, draws what stands there, and may return values that it has
# shown: they are confirmed with the typed ones. A StateForbids of it leaves nothing to confirm.
Shown = Callable[[Values], Values | None]
Fields = Sequence[Field | Shown]


@dataclass(frozen=True, kw_only=True, slots=True)
class Once:
    """The place of an action's token, the scope of the record's distributor; with it the work is done once.

    A repeated token with other values is refused, unless it is `of_any` values.
    """

    scope: Scope
    token: str | Callable[[Values, Person], str]
    of_any: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """One change: what it says and asks, who may make it, and the work of its transaction.

    `work` gets the session, the values of the fields and the person; it runs in a thread without the browser's session.
    `done` is the sentence that says so, or a function of the result of the work (of the values, where it has none);
    `then` gets the same after it, on the screen.
    With `items` it is a batch: the work gets each item in place of the values, in a transaction of its own, `done` and
    `then` the number done, and the refused ones are named in a warning of their own, each with its reason. `on_stale`
    runs where somebody else changed the record. What stands around the transaction, such as files on disk, is `around`:
    it yields more values. A form is emptied when it is done, unless it `keeps_typed`. Its fields stand in `columns`
    where there is room. What takes long says in its dialog what it `waits` for.
    The record whose id the work returns is opened on the page that it `opens`.
    """

    title: str
    work: Work
    done: str | Callable[[Any], str]
    roles: tuple[str, ...]
    scope: Callable[[], Scope] = frame.scope
    icon: str = ""
    says: str = ""
    confirm: str | Callable[[Values], str] = ""
    fields: Fields = ()
    items: Callable[[], Iterable[tuple[str, Any]]] | None = None
    once: Once | None = None
    around: Callable[[Values, Person], AbstractContextManager[Values]] | None = None
    then: Callable[[Any], object] | None = None
    on_stale: Callable[[], object] | None = None
    keeps_typed: bool = False
    columns: int = 1
    waits: str = ""
    opens: str = ""

    def button(self, label: str | None = None, *, icon: str | None = None, **look: Any) -> None:
        """Draw the button that opens its dialog; `look` is that of `st.button`."""
        button(label or self.title, self, icon=icon or self.icon, **look)

    def do(self, place: str = "", prefix: str = "") -> None:
        """Do it now, as the callback of a button; without a place `run` shows why it was refused."""
        do(self, place, prefix)

    def form(self, *, key: str, prefix: str | None = None, is_primary: bool = True) -> None:
        """Draw its fields in place, with their errors, above the button that does it; nothing runs before that.

        The button has the key; the keys of the fields begin with the prefix, the key and a dot without one.
        """
        prefix = f"{key}." if prefix is None else prefix
        with st.form(f"{key} form", border=False):
            values = draw_fields(self, key, prefix)
            complain(key, *_names(self))
            st.form_submit_button(
                _label(self, values),
                key=key,
                type="primary" if is_primary else "secondary",
                icon=f":material/{self.icon}:" if self.icon else None,
                on_click=do,
                args=(self, key, prefix),
            )


def button(label: str, action: Action | Callable[[], Action], *, icon: str | None = None, **look: Any) -> None:
    """Draw a button that opens the dialog of an action; a function is called for it at the click."""
    shown = f":material/{icon}:" if icon else None
    st.button(label, icon=shown, on_click=open_, args=(action,), **look)


def open_(action: Action | Callable[[], Action]) -> None:
    """Open the dialog of an action, with empty fields or what they begin with."""
    close()
    action = action if isinstance(action, Action) else action()
    st.session_state[_OPEN] = action, _read_record()


def get_open() -> Action | None:
    """Return the action whose dialog is open; it does not follow to another record or mode."""
    action: Action | None
    action, record = st.session_state.get(_OPEN, (None, None))
    return action if record == _read_record() else None


def _read_record() -> tuple[bool, str | None]:
    return frame.mode(), st.query_params.get("id")


def close() -> None:
    """Close the dialog and discard what was typed."""
    for key in [key for key in st.session_state if str(key).startswith(FIELD)]:
        del st.session_state[key]
    st.session_state.pop(_OPEN, None)
    forget(DIALOG)


def run() -> None:
    """Show what became of the last action, and draw the open dialog: once on a page, below its header.

    What it made is opened, where it says so.
    """
    if made := st.session_state.pop(_MADE, None):
        page_links.go(made[0], id=made[1])
    with st.container(key="action-result"):
        if result := _read_result():
            _draw_result(result)
    if result and result.refused:
        _draw_refused(result.refused)
    action = get_open()
    if action is not None:
        st.dialog(action.title, icon=f":material/{action.icon or 'task_alt'}:", on_dismiss=close)(_draw_dialog)()


def _draw_dialog() -> None:
    action = get_open()
    if action is None:
        st.rerun()
    frame.require(*action.roles)
    if action.says:
        st.markdown(action.says)
    try:
        values = draw_fields(action, DIALOG, FIELD)
    except StateForbids as error:
        st.info(f"{words.plain(words.format_dates(str(error)))}.", icon=":material/event_busy:")
        return
    complain(DIALOG, *_names(action))
    label, key = _label(action, values), f"{DIALOG}.confirm"
    shown = {name: value for name, value in values.items() if name not in _names(action)}
    if action.waits:
        # Done by the run itself, which can say what it waits for.
        if st.button(label, type="primary", width="stretch", key=key):
            with st.spinner(action.waits, show_time=True):
                _confirm(shown)
            st.rerun()
        return
    st.button(label, type="primary", width="stretch", key=key, on_click=_confirm, args=(shown,))


def _confirm(shown: Values) -> None:
    """Do what the open dialog asks; a second click finds it closed and does nothing."""
    action = get_open()
    if action is not None:
        do(action, DIALOG, FIELD, shown)


def draw_fields(action: Action, place: str, prefix: str) -> Values:
    """Draw the fields of an action, each with its error below it; return what is typed and shown."""
    values: dict[str, Any] = {}
    grid = st.grid(action.columns, min_column_width=240, gap="small") if action.columns > 1 else None
    for each in action.fields:
        if isinstance(each, Field):
            if each.when is None or each.when(values):
                if each.value is not None:
                    st.session_state.setdefault(prefix + each.name, each.value)
                with grid.container(gap="xxsmall") if grid else nullcontext():
                    each.draw(prefix + each.name)
                    blame(place, each.name, each.label)
            values[each.name] = each.read(prefix + each.name)
        else:
            values |= each(values) or {}
    return values


def do(action: Action, place: str = "", prefix: str = "", shown: Values | None = None) -> None:
    """Do an action with the values of its fields, as the callback of a button.

    A refusal is kept for its place, and what was typed stays.
    """
    by = frame.require(*action.roles)
    forget(place)
    typed = {each.name: each.read(prefix + each.name) for each in action.fields if isinstance(each, Field)}
    values = {**typed, **(shown or {})}
    refused: Sequence[str] = ()
    try:
        if action.items:
            result, refused = _perform_each(action, action.items(), by)
            sentence = describe_done(action, result)
        else:
            result, sentence = perform(action, values, by)
    except StaleVersion as error:
        if action.on_stale:
            action.on_stale()
        else:
            refuse(place, f"{error}. {CHANGED}")
        return
    except CoverdeskError as error:
        _keep_refusal(place, _describe(error))
        return
    if place == DIALOG:
        close()
    elif not action.keeps_typed:
        _empty(action.fields, prefix)
    if sentence:
        keep_message(sentence, refused)
    if action.then:
        action.then(result)
    if action.opens:
        st.session_state[_MADE] = action.opens, str(result)


def perform(action: Action, values: Values, by: Person) -> tuple[Any, str]:
    """Run the work and return its result and the sentence that says so.

    With a token a repeated one returns the stored sentence, with the values for the result (contract S13).
    """
    if action.around:
        with action.around(values, by) as more:
            return _perform(action, values, {**values, **more}, by)
    return _perform(action, values, values, by)


def _perform(action: Action, typed: Values, values: Values, by: Person) -> tuple[Any, str]:
    scope, once, work = action.scope(), action.once, action.work
    if once is None:
        result = transact(scope, lambda session: work(session, values, by))
        result = values if result is None else result
        return result, describe_done(action, result)
    token = once.token if isinstance(once.token, str) else once.token(values, by)
    given = () if once.of_any else (f"{name} {value}".encode() for name, value in typed.items())

    def attempt(session: ScopedSession) -> WireResponse:
        def make() -> WireResponse:
            result = work(session, values, by)
            return WireResponse(200, json.dumps(describe_done(action, values if result is None else result)).encode())

        return idempotency.run_once(session, once.scope, f"desk {token}", idempotency.fingerprint(*given), make)

    try:
        answer = transact(scope, attempt)
    except KeyReused:
        raise StateForbids(DONE_ALREADY) from None
    return values, str(json.loads(answer.body))


def _perform_each(action: Action, items: Iterable[tuple[str, Any]], by: Person) -> tuple[int, Sequence[str]]:
    """Run the work for each item; return the number done and the refusals. StateForbids with them if none was done."""
    count, refusals = 0, []
    for name, item in items:
        try:
            transact(action.scope(), lambda session, item=item: action.work(session, item, by))  # type: ignore[misc]
            count += 1
        except (NotAllowed, StateForbids) as refusal:
            refusals.append(f"{name}: {refusal}")
    if not count and refusals:
        raise StateForbids("; ".join(refusals))
    return count, refusals


def describe_done(action: Action, result: Any) -> str:  # noqa: ANN401 any result
    """Return the sentence of an action that was done."""
    return action.done if isinstance(action.done, str) else action.done(result)


def _label(action: Action, values: Values) -> str:
    confirm = action.confirm or action.title
    return confirm if isinstance(confirm, str) else confirm(values)


def _names(action: Action) -> list[str]:
    return [name for each in action.fields if isinstance(each, Field) for name in each.names]


def _empty(fields: Fields, prefix: str) -> None:
    for each in fields:
        if isinstance(each, Text | Naira):
            st.session_state[prefix + each.name] = each.value or ""


# What became of the last action


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """The last refusal at a place: errors by field, and a general one."""

    faults: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Result:
    """The sentence of the last action, since when it is shown; it stays for several runs, as a click may stop one.

    `refused` are the items of a batch that were not done, each with its reason. `page` and `record`, the id in the
    address, are where it was shown first: on another page it would be read as a sentence about what stands there.
    """

    text: str
    is_done: bool
    refused: Sequence[str] = ()
    since: datetime | None = None
    page: str = ""
    record: str | None = None


def keep_message(sentence: str, refused: Sequence[str] = ()) -> None:
    """Keep what became of an action: it is shown on the next runs of a page, for some seconds, and moves nothing.

    What was refused beside it is shown as long, below the head of the page.
    """
    st.session_state[_RESULT] = _Result(text=sentence, is_done=True, refused=refused)


def _read_result() -> _Result | None:
    result: _Result | None = st.session_state.get(_RESULT)
    if result is None:
        return None
    page, record = frame.page(), st.query_params.get("id")
    if result.since is None:
        st.session_state[_RESULT] = replace(result, since=clock.now(), page=page, record=record)
    elif clock.now() - result.since > _SHOWN_FOR or not (page == result.page and record in (None, result.record)):
        del st.session_state[_RESULT]
        return None
    return result


def _draw_result(result: _Result) -> None:
    text = words.plain(words.format_dates(result.text))
    if isinstance(result.text, words.Unchanged):
        st.info(text, icon=":material/info:")
    elif result.is_done:
        st.success(text, icon=":material/check_circle:")
    else:
        st.error(text, icon=":material/block:")


def _draw_refused(refused: Sequence[str]) -> None:
    """Draw each item of a batch that was not done, with its reason."""
    lines = [f"- {words.plain(words.format_dates(each.removesuffix('.')))}." for each in refused]
    title = f"**{words.counted(len(refused), 'was not done', 'were not done')}:**"
    st.warning("\n".join([title, "", *lines]), icon=":material/block:")


def refuse(place: str, text: str) -> None:
    """Keep a general error for a place: a form, the dialog, or "" for the page."""
    _keep_refusal(place, Refusal(text=text))


def _keep_refusal(place: str, refusal: Refusal) -> None:
    if place:
        st.session_state[_key(place)] = refusal
    else:
        faults = [f"{words.title(name)} {text}" for name, text in refusal.faults.items()]
        text = "; ".join(filter(None, (refusal.text, *faults)))
        st.session_state[_RESULT] = _Result(text=f"{text.removesuffix('.')}.", is_done=False)


def forget(place: str) -> None:
    """Drop the errors of the last attempt."""
    st.session_state.pop(_key(place), None)


def get_refusal(place: str) -> Refusal:
    """Return the errors of the last attempt; empty ones when it was not refused."""
    kept: Refusal = st.session_state.get(_key(place)) or Refusal()
    return kept


def blame(place: str, name: str, label: str = "") -> None:
    """Show the error of a field below it; with its label it says what to give."""
    if message := get_refusal(place).faults.get(name):
        st.markdown(forms.complaint(message, label))


def complain(place: str, *shown: str) -> None:
    """Show the general error, and errors of fields that are not in `shown`."""
    refusal = get_refusal(place)
    others = [f"{words.title(name)} {text}" for name, text in refusal.faults.items() if name not in shown]
    for text in (*([refusal.text] if refusal.text else []), *others):
        shown_text = words.plain(words.format_dates(text.removesuffix(".")))
        st.error(f"{shown_text}.", icon=":material/block:")


def _key(place: str) -> str:
    return f"{place} refused"


def _describe(error: CoverdeskError) -> Refusal:
    """Convert an error: shown beside the input that it names, if any, with that input's label."""
    if isinstance(error, InvalidInput):
        return Refusal(faults={fault.field: fault.message for fault in error.faults})
    if isinstance(error, WrongMediaType):
        return Refusal(faults={fault["field"]: fault["message"] for fault in error.detail})
    about = error.detail.get("field") if isinstance(error.detail, dict) else None
    return Refusal(faults={about: str(error)}) if about else Refusal(text=str(error))
