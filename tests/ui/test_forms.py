"""The form of every cover: it asks for each field in its own way, and says what is wrong beside it."""

import re
from datetime import date
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.covers import fields, registry
from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.request import validate
from core.errors import InvalidInput
from core.ui.forms import forms, questions
from core.ui.forms.questions import Kind, Question
from tests.every_case import every_case
from tests.ui.conftest import texts

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
every_cover = every_case("cover", registry.COVERS, ids=lambda cover: cover.key)


def form_of(prefix: str, route: str) -> None:
    """The script under test: a form, a button, and what became of it in the session."""
    import streamlit as st

    from core.covers import registry
    from core.errors import InvalidInput
    from core.ui.forms import forms

    cover = registry.get_cover(prefix, route)
    assert cover
    form = forms.Form(key="form", model=cover.request, given={"product_id": st.session_state.product_id})
    typed = forms.draw(form)
    if st.button("Review"):
        try:
            st.session_state["request"] = forms.validate_form(form, typed)
            st.session_state["answers"] = forms.answers(form, st.session_state["request"])
            forms.blame(form, ())
        except InvalidInput as error:
            forms.blame(form, error.faults)
        st.rerun()


def opened(cover: Cover[Any]) -> AppTest:
    at = AppTest.from_function(form_of, args=(cover.prefix, cover.route), default_timeout=30)
    at.session_state["product_id"] = fields.build_example(cover.request)["product_id"]
    return at.run()


def review(at: AppTest) -> None:
    next(button for button in at.button if button.label == "Review").click().run()


def test_an_empty_field_says_what_to_do_until_it_is_filled() -> None:
    at = opened(CREDIT_LIFE)
    review(at)
    text = texts(at)
    for expected in ("Enter the first name", "Choose the gender", "Choose a file", "Choose at least one"):
        assert expected in text
    assert "required" not in text
    at.text_input(key="form.first_name").set_value("Ngozi").run()
    assert "Enter the first name" not in texts(at)
    assert "Enter the last name" in texts(at)


def test_a_wrong_file_is_said_at_once() -> None:
    at = opened(CREDIT_LIFE)
    at.file_uploader(key="form.id_image_url.chosen").upload("id.jpg", b"no picture").run()
    assert "Must be a JPEG, PNG, WebP or PDF file" in texts(at)


def put(at: AppTest, question: Question, value: Any) -> None:
    """Answer one question as a person would."""
    key = f"form.{question.name}"
    match question.kind:
        case Kind.PICK:
            at.selectbox(key=key).set_value(value)
            if question.name in {"vehicle_make", "nationality"}:
                at.run()
        case Kind.SEVERAL:
            at.button_group(key=key).set_value(value)
        case Kind.FLAG:
            at.button_group(key=key).set_value("Yes" if value else "No")
        case Kind.DAY | Kind.BIRTH_DAY:
            at.date_input(key=key).set_value(date.fromisoformat(value[:10]))
        case Kind.COUNT:
            at.number_input(key=key).set_value(int(value))
        case Kind.LONG_TEXT:
            at.text_area(key=key).set_value(value)
        case Kind.ITEMS:
            for line, row in enumerate(value):
                at.text_input(key=f"{key}.{line}.name").set_value(row["name"])
                at.text_input(key=f"{key}.{line}.amount").set_value(str(row["amount"])).run()
        case _:
            at.text_input(key=key).set_value(str(value))


@every_cover
def test_a_filled_form_is_the_request_that_the_api_takes(cover: Cover[Any]) -> None:
    wanted = validate(cover.request, fields.build_example(cover.request))
    at = opened(cover)
    answers = wanted.model_dump(mode="json", exclude_none=True)
    for question in questions.of(cover.request, given=frozenset({"product_id"})):
        if question.name in answers:
            put(at, question, answers[question.name])
    review(at)
    assert not at.exception
    assert ":red[" not in texts(at)
    assert at.session_state["request"] == wanted
    assert all(isinstance(answer, str) and answer for answer in at.session_state["answers"].values())
    assert not [answer for answer in at.session_state["answers"].values() if _ID.fullmatch(answer)]


@every_cover
def test_an_empty_form_complains_of_every_required_field(cover: Cover[Any]) -> None:
    at = opened(cover)
    review(at)
    with pytest.raises(InvalidInput) as refusal:
        validate(cover.request, {"product_id": at.session_state["product_id"]})
    beside = [markdown.value for markdown in at.markdown if ":red[" in markdown.value]
    assert len(beside) == len(refusal.value.faults)
    assert not at.error


@every_cover
def test_no_question_shows_a_raw_field_name(cover: Cover[Any]) -> None:
    for question in questions.of(cover.request):
        assert "_" not in question.label
        assert question.label[0].isupper()


@every_cover
def test_no_question_of_a_sale_stands_under_a_heading_of_claims(cover: Cover[Any]) -> None:
    headings = {heading for heading, _ in forms.group(questions.of(cover.request))}
    assert headings.isdisjoint({"Incident", "Loss", "Claimant", "Payout"})


def test_personal_numbers_are_masked_when_they_are_read_back() -> None:
    by_name = {q.name: q for cover in registry.COVERS for q in questions.of(cover.request)}
    assert by_name["bvn"].personal
    assert by_name["passport_number"].personal
    assert not by_name["first_name"].personal


def test_a_question_knows_the_limits_of_its_field() -> None:
    by_name = {q.name: q for q in questions.of(CREDIT_LIFE.request)}
    assert (by_name["loan_tenure"].least, by_name["loan_tenure"].most) == (3, 120)
    assert by_name["first_name"].longest == 100
    assert by_name["loan_tenure"].label == "Loan tenure (months)"
    assert by_name["id_image_url"].label == "ID image"


def test_a_dependent_list_waits_for_what_it_depends_on() -> None:
    at = opened(next(cover for cover in registry.COVERS if cover.route == "buy-thirdparty"))
    assert at.selectbox(key="form.vehicle_model").disabled
    make = fields.build_example(registry.get_cover("insurer-a", "buy-thirdparty").request)["vehicle_make"]
    at.selectbox(key="form.vehicle_make").set_value(make).run()
    assert not at.selectbox(key="form.vehicle_model").disabled


def test_items_are_lines_that_are_added_removed_and_complained_of_one_by_one() -> None:
    cover = next(cover for cover in registry.COVERS if cover.route == "buy-home-content-cover")
    at, items = opened(cover), next(question for question in questions.of(cover.request) if question.columns)
    put(at, items, [{"name": "Television", "amount": "100,000"}, {"name": "Sofa", "amount": -1}])
    review(at)
    assert "Amount (₦): must not be negative" in texts(at)
    assert "2 items." in texts(at), "no sum of what is no amount"
    put(at, items, [{"name": "Television", "amount": "100,000"}, {"name": "Sofa", "amount": 50}])
    assert "2 items, together **₦100,050.00**" in texts(at)
    at.button(key="form.home_items.0.remove").click().run()
    assert "1 item, together **₦50.00**" in texts(at)
    assert [box.label for box in at.text_input if "home_items" in str(box.key)] == [
        "Item 1, name",
        "Item 1, amount (₦)",
        "Item 2, name",
        "Item 2, amount (₦)",
    ]
