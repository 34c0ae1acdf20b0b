"""The draft of a sale on the screen: typed values are stored after each run and restored when the form opens.

The address names the draft that the form holds, so that a reload, Back and another tab open the same one; a form that
is opened without it begins a draft of its own, whatever else the person has begun for the same cover.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.services.people.staff import Person
from core.services.selling import drafts
from core.services.selling.drafts import Draft
from core.store.access import Scope, read_in, writing
from core.ui.buying.selling import Counter
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.frame import frame, page_links
from core.ui.kit import form_keeper, words

DRAFT: Final = "draft"
_PLAIN: Final = (str, int, float, bool)
# Kept beside the values: the sale's own state, files, and buttons.
_NOT_TYPED: Final = (
    *("token", "reviewed", "receipt", "faults", "refusal", DRAFT, "kept_draft"),
    *("chosen", "kept", "version", "remove", "filled_in"),
)


def list_mine(counter_is_live: bool, person: Person) -> list[Draft]:  # noqa: FBT001
    """Return the person's unfinished sales in this mode."""
    return read_in(Scope.system(), drafts.list_drafts, is_live=counter_is_live, by=person)


def restore(form: Form, cover: str, counter: Counter) -> None:
    """Fill the form from the draft that the address names, unless it holds that one already.

    A form that is opened again without a draft in the address starts empty: its draft stays for later.
    """
    named = st.query_params.get(DRAFT)
    mine = list_mine(counter.is_live, counter.person) if named else ()
    found = next((draft for draft in mine if str(draft.id) == named), None)
    held, is_typed = get_held(form, counter), bool(_typed(form))
    if found is not None and found.cover == cover:
        if found.id != held or not is_typed:
            forms.clear(form)
            _hold(form, found, counter)
            for name, value in found.values.items():
                st.session_state[f"{form.key}.{name}"] = _decode(value)
    elif held is not None and not is_typed:
        forms.clear(form)


def store_draft(form: Form, cover: str, counter: Counter, product_id: UUID, given: Mapping[str, Any]) -> None:
    """Store what is typed, if it has changed since it was stored last; `given` is what the screen asked for before."""
    typed = _typed(form)
    if not typed or (get_held(form, counter) is None and is_untouched(form)):
        return
    draft = Draft(
        id=get_held(form, counter) or ids.new(),
        cover=cover,
        distributor_id=counter.distributor_id,
        product_id=product_id,
        values=typed,
        given={name: str(value) if isinstance(value, Decimal) else value for name, value in given.items()},
        updated_at=clock.now(),
    )
    if get_held(form, counter) is None or st.session_state.get(f"{form.key}.kept_draft") != _mark(draft):
        if get_held(form, counter) is None:
            st.session_state[_begun(form)] = draft.id
            # Before it is stored: a run that is stopped in between is followed by one that stores the same draft.
            st.session_state[_pointer(form)] = (draft.id, counter.is_live)
        with writing(Scope.system()) as session:
            drafts.keep_draft(session, draft, is_live=counter.is_live, by=counter.person)
        _hold(form, draft, counter)
    page_links.put_in_address(DRAFT, str(get_held(form, counter)))


def is_untouched(form: Form) -> bool:
    """Return True while the person has typed nothing beyond what the screen has filled in."""
    return bool(_strip_lines(_typed(form)) == st.session_state.get(_filled_in(form), {}))


def note_filled_in(form: Form) -> None:
    """Take what the form holds now for filled in by the screen: a draft begins with what is typed from here on."""
    st.session_state[_filled_in(form)] = _strip_lines(_typed(form))


def watch(form: Form, counter: Counter) -> None:
    """Store what is typed a moment after a field is left; until then the tab has it. Drawn after `store_draft`."""
    held = get_held(form, counter)
    is_begun = held is not None and st.session_state.get(_begun(form)) == held
    personal = [form.key_of(question) for question in form.questions if question.personal]
    form_keeper.watch(
        form.key, holder=_holder(counter.person), draft=str(held or ""), is_begun=is_begun, personal=personal
    )


def settle(form_key: str, person: Person, held: UUID | None = None) -> None:
    """Let the tab forget what was typed last: it is under review, or done; without a draft, of all of the form."""
    form_keeper.settle(form_key, holder=_holder(person), draft=str(held) if held else None)


def discard(form: Form, counter: Counter) -> None:
    """Delete the draft that the form holds, and clear the form."""
    if (held := get_held(form, counter)) is not None:
        delete(held, counter.person)
    forms.clear(form)


def delete(draft_id: UUID, person: Person) -> None:
    """Delete one of the person's drafts; a form that holds it keeps what is typed, as a draft not yet stored."""
    with writing(Scope.system()) as session:
        drafts.discard_draft(session, draft_id, by=person)


def begin_another(form: Form) -> None:
    """Clear the form for the next customer; the draft that it held stays."""
    forms.clear(form)
    st.query_params.pop(DRAFT, None)


def let_go(form: Form) -> None:
    """Make what is typed from here on a draft of its own, and leave the one that the form held as it was stored."""
    for name in (_pointer(form), f"{form.key}.kept_draft"):
        st.session_state.pop(name, None)
    st.query_params.pop(DRAFT, None)


def draw_state(form: Form, counter: Counter, *, another: str = "") -> None:
    """Draw the line that says since when the form is kept, with the buttons that discard it or begin `another`."""
    held = get_held(form, counter)
    found = next((draft for draft in list_mine(counter.is_live, counter.person) if draft.id == held), None)
    if found is None:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(
            f":material/bookmark: Kept as your draft, {words.moment(found.updated_at)}. Files are chosen anew.",
            width="content",
        )
        st.button(
            "Discard the draft", type="tertiary", icon=":material/delete:", on_click=_discard_open, args=(form, counter)
        )
        if another:
            st.button(
                another,
                type="tertiary",
                icon=":material/add:",
                help="Clears the form for another customer. This draft stays among your drafts.",
                on_click=begin_another,
                args=(form,),
            )


def _discard_open(form: Form, counter: Counter) -> None:
    discard(form, counter)
    st.query_params.pop(DRAFT, None)


def _pointer(form: Form) -> str:
    return f"{form.key}.{DRAFT}"


def _filled_in(form: Form) -> str:
    return f"{form.key}.filled_in"


def _begun(form: Form) -> str:
    return f"{form.key} begun"


def _holder(person: Person) -> str:
    return f"{person.id} {'live' if frame.mode() else 'test'}"


def _hold(form: Form, draft: Draft, counter: Counter) -> None:
    st.session_state[_pointer(form)] = (draft.id, counter.is_live)
    st.session_state[f"{form.key}.kept_draft"] = _mark(draft)


def _mark(draft: Draft) -> str:
    """Return a text that changes whenever the draft has to be stored again."""
    return f"{draft.distributor_id} {draft.product_id} {draft.given} {sorted(map(repr, draft.values.items()))}"


def get_held(form: Form, counter: Counter) -> UUID | None:
    """Return the draft that the form holds; what is typed on in the other mode is another one."""
    held: tuple[UUID, bool] | None = st.session_state.get(_pointer(form))
    return held[0] if held and held[1] == counter.is_live else None


def _typed(form: Form) -> dict[str, Any]:
    """Return what is typed into the form as plain JSON, by the rest of each widget key."""
    found = {}
    for key, value in st.session_state.items():
        name = str(key).removeprefix(f"{form.key}.")
        if name == key or name.rpartition(".")[2] in _NOT_TYPED:
            continue
        encoded = _encode(value)
        if encoded not in (None, "", []):
            found[name] = encoded
    return found if _strip_lines(found) else {}


def _strip_lines(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the numbers of the lines of a table, which are nothing typed."""
    return {name: value for name, value in typed.items() if not name.endswith(".lines")}


def _encode(value: object) -> object:
    if isinstance(value, date):
        return {"day": value.isoformat()}
    if isinstance(value, list | tuple) and all(isinstance(each, _PLAIN) for each in value):
        return {"tuple": list(value)} if isinstance(value, tuple) else list(value)
    return value if isinstance(value, _PLAIN) else None


def _decode(value: object) -> object:
    if isinstance(value, dict):
        return date.fromisoformat(value["day"]) if "day" in value else tuple(value["tuple"])
    return value
