"""An action: who may do it, what is typed, what is refused, and that it is done once."""

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from core.store.access import Store
from core.ui.kit import actions
from tests.conftest import make_partner
from tests.ui.conftest import confirm, person_of, texts

pytestmark = pytest.mark.usefixtures("store")


def page() -> None:
    """The script under test: an action by a dialog, by a form and by a button, whose work the session decides."""
    import streamlit as st

    from core import errors
    from core.store.access import Scope
    from core.ui.kit import actions
    from core.ui.kit.actions import Action, Choice, Day, Naira, Once, Several, Text, Tick

    state = st.session_state
    done = state.setdefault("done", [])
    refusals = {
        "field": errors.InvalidInput.for_field("reason", "is too short"),
        "other": errors.InvalidInput.for_field("account_number", "is unknown"),
        "state": errors.StateForbids("It is closed since 2026-11-20"),
        "stale": errors.StaleVersion(),
    }

    def work(session: object, values: object, by: object) -> int:
        for name, refusal in refusals.items():
            if state_of.get("refuses") == name:
                raise refusal
        if values == "odd":
            raise errors.StateForbids("It is odd")
        done.append(values)
        return len(done)

    def shown(values: actions.Values) -> actions.Values:
        if values["on"] == "2026-11-22":
            raise errors.StateForbids("Nothing can be done on 2026-11-22")
        st.caption(f"On {values['on'] or 'no day'}")
        return {"price": len(values["reason"])}

    # The writing thread has no session of the browser.
    state_of = state.setdefault("state_of", {})
    one = Action(
        title="Close it",
        says="It is over then.",
        confirm=lambda values: f"Close for {values['price']}",
        fields=[
            Text("reason", "Reason", longest=50, is_long=True),
            Naira("amount", "Amount", value="1,250.50"),
            Choice("kind", "Kind", options={"a": "First", "b": "Second"}),
            Several("colours", "Colours", options={"r": "Red", "g": "Green"}),
            Day("on", "On", is_live=True),
            Tick("early", "Early"),
            shown,
        ],
        roles=("finance",),
        scope=Scope.system,
        work=work,
        done=lambda count: f"Closed, no. {count}",
        then=lambda result: state.__setitem__("result", result),
    )
    many = Action(
        title="Close all",
        items=lambda: [("one", "even"), ("two", "odd"), ("three", "even")],
        roles=("finance",),
        scope=Scope.system,
        work=work,
        done=lambda count: f"{count} are closed",
    )
    owner = state.get("owner")
    note = Action(
        title="Keep the note",
        fields=[Text("reason", "Note", longest=50)],
        roles=("finance",),
        scope=Scope.system,
        work=work,
        done="It is kept",
        once=Once(scope=Scope.of(owner, is_live=True), token="click") if owner else None,
    )
    actions.run()
    one.button("Open", key="open")
    actions.button("Open many", lambda: many, key="many")
    st.button("At once", key="at once", on_click=many.do)
    note.form(key="note")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page in front of somebody of finance."""
    person = person_of("finance")
    monkeypatch.setattr("core.ui.frame.frame.current", lambda: person)
    return AppTest.from_function(page, default_timeout=30).run()


def test_values_come_from_the_fields_and_what_is_shown_is_confirmed_with_them(at: AppTest) -> None:
    at.button(key="open").click().run()
    assert at.text_input(key=actions.FIELD + "amount").value == "1,250.50"
    at.date_input(key=actions.FIELD + "on").set_value(date(2026, 11, 20))
    at.selectbox(key=actions.FIELD + "kind").set_value("b")
    at.multiselect(key=actions.FIELD + "colours").set_value(["g"])
    at.checkbox(key=actions.FIELD + "early").check()
    at.text_area(key=actions.FIELD + "reason").set_value("Because").run()
    assert at.button(key="decision.confirm").label == "Close for 7"
    assert "On 2026-11-20" in texts(at)
    confirm(at)
    typed = {"reason": "Because", "amount": "1250.50", "kind": "b", "colours": ["g"], "on": "2026-11-20"}
    assert at.session_state["done"] == [{**typed, "early": True, "price": 7}]
    assert at.session_state["result"] == 1
    assert "Closed, no. 1" in texts(at)
    assert not at.get("dialog")


def test_a_refusal_stands_beside_its_field_and_nothing_typed_is_lost(at: AppTest) -> None:
    at.button(key="open").click().run()
    at.text_area(key=actions.FIELD + "reason").set_value("Because").run()
    sentences = {
        "field": "Is too short",
        "other": "Account number is unknown.",
        "state": "It is closed since 20 Nov 2026.",
        "stale": "This record was changed by somebody else. " + actions.CHANGED,
    }
    for refused, sentence in sentences.items():
        at.session_state["state_of"]["refuses"] = refused
        confirm(at)
        assert sentence in texts(at), refused
        assert at.text_area(key=actions.FIELD + "reason").value == "Because"
    assert not at.session_state["done"]
    at.session_state["state_of"]["refuses"] = None
    confirm(at)
    assert len(at.session_state["done"]) == 1
    at.button(key="open").click().run()
    assert at.text_area(key=actions.FIELD + "reason").value == ""


def test_what_cannot_be_confirmed_has_no_button(at: AppTest) -> None:
    at.button(key="open").click().run()
    at.date_input(key=actions.FIELD + "on").set_value(date(2026, 11, 22)).run()
    assert "Nothing can be done on 22 Nov 2026." in texts(at)
    assert "decision.confirm" not in [button.key for button in at.button]


def test_a_second_click_does_nothing(at: AppTest) -> None:
    """The click that was under way when the first one closed the dialog finds nothing to do."""
    at.button(key="open").click().run()
    second = at.button(key="decision.confirm").click()
    del at.session_state["decision.open"]
    second.run()
    assert not at.session_state["done"]
    assert not at.error


def test_a_batch_names_what_was_refused(at: AppTest) -> None:
    at.button(key="many").click().run()
    confirm(at)
    assert at.session_state["done"] == ["even", "even"]
    assert [each.value for each in at.success] == ["2 are closed"]
    assert [each.value.replace("\\", "") for each in at.warning] == ["**1 was not done:**\n\n- two: It is odd."]
    at.session_state["state_of"]["refuses"] = "state"
    at.button(key="at once").click().run()
    refused = "one: It is closed since 20 Nov 2026; two: It is closed since 20 Nov 2026; three: It is closed since"
    assert refused in texts(at), "each with its reason, where none was done"
    assert not at.warning
    assert len(at.session_state["done"]) == 2


def test_a_form_in_place_is_emptied_when_it_is_done_and_not_before(at: AppTest) -> None:
    at.session_state["state_of"]["refuses"] = "field"
    at.text_input(key="note.reason").set_value("Called")
    at.button(key="note").click().run()
    assert "Is too short" in texts(at)
    assert at.text_input(key="note.reason").value == "Called"
    at.session_state["state_of"]["refuses"] = None
    at.button(key="note").click().run()
    assert at.session_state["done"] == [{"reason": "Called"}]
    assert at.text_input(key="note.reason").value == ""
    assert "Is too short" not in texts(at)


def test_a_token_is_used_once(at: AppTest, store: Store) -> None:
    at.session_state["owner"] = make_partner(store, "Swift Lenders").id
    at.run()
    for typed, sentence in (("Called", "It is kept"), ("Called", "It is kept"), ("Other", actions.DONE_ALREADY)):
        at.text_input(key="note.reason").set_value(typed)
        at.button(key="note").click().run()
        assert sentence in texts(at)
    assert at.session_state["done"] == [{"reason": "Called"}]


def test_only_the_roles_of_an_action_do_it(at: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    at.button(key="open").click().run()
    person = person_of("claims")
    monkeypatch.setattr("core.ui.frame.frame.current", lambda: person)
    at.button(key="decision.confirm").click().run()
    assert "it needs the role finance" in texts(at)
    assert not at.session_state["done"]


def test_the_sentence_goes_after_some_seconds(at: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    at.text_input(key="note.reason").set_value("Called")
    at.button(key="note").click().run()
    assert at.run().success
    now = actions.clock.now()
    monkeypatch.setattr("core.clock.now", lambda: actions.clock.add_days(now, 1))
    assert not at.run().success


def test_the_sentence_does_not_stand_on_another_record(at: AppTest) -> None:
    at.query_params["id"] = "one"
    at.text_input(key="note.reason").set_value("Called")
    at.button(key="note").click().run()
    assert at.run().success
    at.query_params["id"] = "two"
    assert not at.run().success
