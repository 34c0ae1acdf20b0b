"""A form generated from a request model: a widget per field, typed values kept, errors beside the fields.

form = Form(key="buy", model=cover.request, given={"product_id": product_id})
typed = forms.draw(form)
if st.button("Review"):
    request = forms.validate_form(form, typed)  # raises InvalidInput; with files: store_files_and_validate
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

import streamlit as st
from pydantic import BaseModel
from streamlit.delta_generator import DeltaGenerator

from core import seal
from core.covers.request import Request, validate
from core.errors import FieldFault, InvalidInput
from core.ui.buying.selling import Counter
from core.ui.forms import questions, uploads, widgets
from core.ui.forms.questions import Kind, Question
from core.ui.kit import form_keeper, words

# In the order in which one says who somebody is, and how to reach them.
_CUSTOMER: Final = (
    *("title", "title_id", "owner_title", "first_name", "other_names", "last_name", "gender", "date_of_birth", "dob"),
    *("email", "phone_number", "phone", "address", "town", "city", "lga", "state", "nationality", "occupation"),
    *("marital_status", "bvn", "nok_full_name", "nok_relationship", "nok_phone_number", "nok_address"),
)
_INCIDENT: Final = ("incident_", "no_police_report", "accidental")
_THINGS: Final = (
    *("traveller_", "things_lost", "injured_", "hospital", "vessel", "driver_", "third_party_"),
    *("amount_claimed", "cost_of_repair"),
)
# What is insured stands between them, under the headings of its fields.
_FIRST: Final = ("Incident", "Loss", "Claimant", "Payout", "Customer")
_LAST: Final = ("Cover", "Papers")


def group(form_questions: Sequence[Question], first: Sequence[str] = ()) -> list[tuple[str, list[Question]]]:
    """Return the sections with their questions; empty ones are left out.

    Within each they keep the order of the request, but for the customer, whose name comes first. Those that are named
    `first` are a section without a name before all others.
    """
    named = {question.name: question for question in form_questions}
    sections: dict[str, list[Question]] = {"": [named[name] for name in first if name in named]}
    insured = (question.section for question in form_questions if question.section and question.section not in _LAST)
    sections |= {name: [] for name in (*_FIRST, *insured, *_LAST)}
    for question in form_questions:
        if question.name not in first:
            sections[section_of(question)].append(question)
    sections["Customer"].sort(key=lambda question: _CUSTOMER.index(question.name))
    return [(name, questions) for name, questions in sections.items() if questions]


def section_of(question: Question) -> str:
    """Return the section of a question: of its field's mark, or by its name."""
    name = question.name
    if question.kind is Kind.FILE or name.startswith("identification"):
        return "Papers"
    if name in _CUSTOMER:
        return "Customer"
    if question.section:
        return question.section
    for section, prefixes in (
        ("Incident", _INCIDENT),
        ("Loss", _THINGS),
        ("Claimant", ("claimant",)),
        ("Payout", ("bank_", "account_")),
    ):
        if name.startswith(prefixes):
            return section
    return "Cover"


def of(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the label of each field of a model, without its unit."""
    return {each.name: re.sub(r" \([^)]*\)$", "", each.label) for each in questions.of(model)}


def instead_of_names(message: str, named: Mapping[str, str]) -> str:
    """Replace field names in a message by quoted labels; one-word names are kept, as they may be ordinary words."""
    return re.sub(
        r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: f"“{named[found[0]]}”" if found[0] in named else found[0], message
    )


_MISSING, _LEFT_OUT = "is required", "must be given"
# How the label of a field begins that is a question.
_ASKS = re.compile(r"(what|who|why|how|when|where)\b")
_EMPTY = (_MISSING, "must have at least 1")
_ACROSS = {Kind.ITEMS, Kind.LONG_TEXT}


@dataclass(frozen=True, kw_only=True)
class Form:
    """One form on a screen; fields in `given` are already answered and not asked again.

    `needed` are fields that are optional in the model but required by other typed values; `cautions` are warnings
    in Markdown beside fields whose values are valid but unusual.
    """

    key: str
    model: type[Request]
    given: Mapping[str, Any] = field(default_factory=dict)
    needed: frozenset[str] = frozenset()
    cautions: Mapping[str, str] = field(default_factory=dict)

    @property
    def questions(self) -> list[Question]:
        """Return the questions to ask."""
        return [
            replace(question, required=question.required or question.name in self.needed)
            for question in questions.of(self.model, given=frozenset(self.given))
        ]

    def key_of(self, question: Question) -> str:
        """Return the widget key of a question."""
        return f"{self.key}.{question.name}"


def draw(
    form: Form,
    *,
    columns: int = 2,
    live: frozenset[str] = frozenset(),
    before: Mapping[str, Callable[[], None]] = {},
    first: Sequence[str] = (),
) -> dict[str, Any]:
    """Draw the form in sections and return typed and given values; a change of a `live` field reruns the page.

    `before` draws what stands above the fields of a section, by its name. With `first`, those fields come first, in
    this order, and the sections of all others are folded.
    """
    typed: dict[str, Any] = dict(form.given)
    asked_questions, faults = form.questions, _faults(form)
    awaited = live.union(name for question in asked_questions for name in question.after)
    wrong = {fault.field.partition(".")[0] for fault in faults}
    _show_other_faults(faults, asked_questions)
    for section, questions_ in group(asked_questions, first):
        with _open_section(section, is_folded=bool(first), has_fault=any(each.name in wrong for each in questions_)):
            if section in before:
                before[section]()
            _draw_section(form, questions_, typed, columns=columns, awaited=awaited)
    return typed


def _open_section(section: str, *, is_folded: bool, has_fault: bool) -> DeltaGenerator:
    """Return the container of a section: below its name, or folded under it while nothing in it is wrong."""
    if section and is_folded:
        return st.expander(section, expanded=has_fault)
    place = st.container()
    if section:
        place.markdown(f"**{section}**")
    return place


def _draw_section(
    form: Form, asked_questions: Sequence[Question], typed: dict[str, Any], *, columns: int, awaited: frozenset[str]
) -> None:
    """Draw the fields of a section side by side, long ones across, and add what is typed in them."""
    faults, grid = _faults(form), None
    for question in asked_questions:
        if question.kind in _ACROSS:
            grid, place = None, st.container(gap="xxsmall")
        else:
            grid = grid or st.grid(columns, min_column_width=240, gap="small")
            place = grid.container(gap="xxsmall")
        with place:
            typed[question.name] = _ask_one(form, question, typed, reruns=question.name in awaited)
            chosen = {question.name: typed[question.name]}
            # A chosen file is judged at once.
            is_file = uploads.is_chosen(typed[question.name])
            _show_faults_of_field(uploads.list_faults(chosen) if is_file else faults, question)
            if question.name in form.cautions:
                st.markdown(f":small[:orange[:material/warning: {form.cautions[question.name]}]]")


def link_gaps(form: Form, typed: Mapping[str, Any], *, complete: str) -> None:
    """Draw links to the fields that are wrong and to those that are missing, apart; where there are none, say so."""
    wrong, missing = find_gaps(form, typed)
    if wrong:
        form_keeper.link_fields(f"{form.key} wrong", f"To correct ({len(wrong)}):", wrong)
    if missing:
        form_keeper.link_fields(form.key, f"Still to fill in ({len(missing)}):", missing)
    if not wrong and not missing:
        st.caption(f":material/check: {complete}")


def is_refused(form: Form) -> bool:
    """Return True while an error of the last attempt stands."""
    return bool(_faults(form))


def find_gaps(form: Form, typed: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return label and widget key of every field that is filled in wrongly, and of every one that is still missing.

    Missing is what is required and empty, and what the last attempt asked for.
    """
    faulty = {fault.field.partition(".")[0] for fault in (*_faults(form), *uploads.list_faults(typed))}
    wrong, missing = [], []
    for question in (question for _, section in group(form.questions) for question in section):
        place = (question.label, form.key_of(question))
        if typed.get(question.name) in (None, "", []):
            missing += [place] if question.required or question.name in faulty else []
        elif question.name in faulty:
            wrong.append(place)
    return wrong, missing


def _ask_one(form: Form, question: Question, typed: Mapping[str, Any], *, reruns: bool) -> Any:
    key = form.key_of(question)
    if question.kind is Kind.ITEMS:
        return widgets.draw_items(
            question, key=key, say=lambda line: _show_faults_of_line(_faults(form), question, line)
        )
    return widgets.draw(question, key=key, typed=typed, reruns=reruns)


def validate_form(form: Form, typed: Mapping[str, Any]) -> Any:
    """Return the validated request; raises InvalidInput with all errors."""
    answers = {**typed, **{name: typed.get(source) for name, source in questions.repeated_fields(form.model).items()}}
    return validate(form.model, {name: value for name, value in answers.items() if value is not None})


def store_files_and_validate(
    form: Form, typed: Mapping[str, Any], counter: Counter, *, also: Callable[[Any], object] = lambda _: None
) -> Any:
    """Store the chosen files and return the validated request; raises InvalidInput with all errors, those of files
    included.

    `also` is an additional check of the whole request. No file is stored while anything else is invalid.
    """
    try:
        also(validate_form(form, uploads.standing_in(typed)))
    except InvalidInput as error:
        raise InvalidInput([*error.faults, *uploads.list_faults(typed)]) from None
    return validate_form(form, uploads.store_uploads(typed, counter, form_key=form.key))


def blame(form: Form, faults: Sequence[FieldFault]) -> None:
    """Store errors for the next run of the form, with field names replaced by labels; an empty list clears them.

    Each is shown until the value of its field changes.
    """
    named = of(form.model)
    asked_questions = {question.name: question for question in form.questions}
    st.session_state[f"{form.key}.faults"] = tuple(
        (replace(fault, message=_instruct(fault, asked_questions, named)), _values_of(form, fault)) for fault in faults
    )


def _instruct(fault: FieldFault, asked_questions: Mapping[str, Question], named: Mapping[str, str]) -> str:
    """Return the message of an error; for a field that was left empty, what to do: "Enter the registration number"."""
    question = asked_questions.get(fault.field)
    return (
        questions.instruct(question) if question and fault.message in _EMPTY else instead_of_names(fault.message, named)
    )


def _values_of(form: Form, fault: FieldFault) -> dict[str, str]:
    """Return the widget values of a field, and of its items, for comparison."""
    key = f"{form.key}.{fault.field.partition('.')[0]}"
    return {
        str(name): uploads.identify(value)
        for name, value in st.session_state.items()
        if f"{name}.".startswith(f"{key}.")
    }


def clear(form: Form) -> None:
    """Clear the form: its values and errors.

    Fields are emptied, not only forgotten: a browser goes on showing what a field has until it is given a value.
    """
    emptied: dict[str, Any] = {}
    for question in form.questions:
        key = form.key_of(question)
        emptied |= (
            widgets.list_emptied_items(question, key)
            if question.kind is Kind.ITEMS
            else widgets.list_emptied(question, key)
        )
    for name in [name for name in st.session_state if str(name).startswith(f"{form.key}.")]:
        del st.session_state[name]
    for name, value in emptied.items():
        st.session_state[name] = value


def answers(form: Form, request: Request) -> dict[str, str]:
    """Return the request as labels and values for review, in the order of the form.

    Personal numbers are masked to their last four digits.
    """
    grouped = group(questions.of(form.model, given=frozenset({"product_id"})))
    asked_questions = [question for _, section in grouped for question in section]
    answered = ((question, getattr(request, question.name)) for question in asked_questions)
    return {
        question.label: _read_back(form, question, value, request) for question, value in answered if value is not None
    }


def _read_back(form: Form, question: Question, value: Any, request: Request) -> str:
    if question.personal:
        return seal.mask(str(value)) or ""
    if question.kind is Kind.ITEMS:
        return widgets.read_items_back(question, value)
    if question.kind is Kind.FILE:
        return uploads.name_of(value, key=form.key_of(question))
    return _in_words(question, value, request)


def _in_words(question: Question, value: Any, request: Request) -> str:
    if isinstance(value, list):
        return ", ".join(words.title(str(part)) for part in value)
    if question.kind is Kind.MONEY:
        return words.naira_of(value)
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return words.day(value) if isinstance(value, date) else _chosen(question, str(value), request)


def _chosen(question: Question, value: str, request: Request) -> str:
    """Return the pick list's label of a value, given the values that the list depends on."""
    before = {name: getattr(request, name, None) for name in question.after}
    shown = dict(question.options(before)) if question.options else {}
    return shown.get(value, value)


def complaint(message: str, label: str = "") -> str:
    """Return an error message as Markdown, for the place below the field of this label, with its days as on screens.

    Of a field that was left empty it says what to do: "Give the payment reference: each payment has its own".
    """
    message = words.format_dates(message)
    if message == _MISSING:
        message = "fill this in"
    elif message.startswith(_LEFT_OUT):
        message = f"{_ask_for(label)}{message.removeprefix(_LEFT_OUT)}"
    return f":small[:red[:material/error: {words.plain(message[:1].upper() + message[1:])}]]"


def _ask_for(label: str) -> str:
    """Return what is to be given: "Give the bank" for "CN-7: bank", "Say who asked" for "Who asked"."""
    named = re.sub(r" \([^)]*\)$", "", label.rpartition(": ")[2])
    named = named if named[1:2].isupper() else named[:1].lower() + named[1:]
    if not named or named.endswith("?"):
        return "Answer this" if named else "Give this"
    return f"Say {named}" if _ASKS.match(named) else f"Give the {named}"


def _faults(form: Form) -> tuple[FieldFault, ...]:
    """Return the errors of the fields that are as they were when they were judged."""
    kept: tuple[tuple[FieldFault, dict[str, str]], ...] = st.session_state.get(f"{form.key}.faults", ())
    return tuple(fault for fault, judged in kept if judged == _values_of(form, fault))


def _show_faults_of_field(faults: Sequence[FieldFault], question: Question) -> None:
    for fault in faults:
        name, _, inside = fault.field.partition(".")
        if name == question.name and not (inside and question.columns):
            st.markdown(complaint(fault.message))


def _show_faults_of_line(faults: Sequence[FieldFault], question: Question, line: int) -> None:
    """Show the errors of one line of items below that line."""
    for fault in faults:
        name, _, inside = fault.field.partition(".")
        if name == question.name and inside:
            at, label = widgets.find_item(question, inside)
            if at == line:
                st.markdown(complaint(f"{label}: {fault.message}"))


def _show_other_faults(faults: Sequence[FieldFault], asked_questions: Sequence[Question]) -> None:
    """Show errors of fields that this form does not ask for above it."""
    names = {question.name for question in asked_questions}
    for fault in faults:
        if fault.field.partition(".")[0] not in names:
            st.error(f"{words.title(fault.field)} {words.plain(fault.message)}", icon=":material/error:")
