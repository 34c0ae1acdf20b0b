"""Every field of every form and body says what is wrong in words of ours, whatever is typed into it."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import core.api.v1
import core.covers
import core.services
import pages
from core.covers import request
from core.covers.request import Request
from core.errors import InvalidInput
from core.services.selling.loan_books.carrying_out import BookLoan

WRONG: tuple[object, ...] = (
    *("", "x", "-1", "0", "1e9", "1.234", "9" * 20, "2026-13-45", "01/02/2026", "1900-01-01", "2999-01-01", "12:99"),
    *("a" * 5_000, "\x00", "\u202e", "<b>", "Да", None, True, -5, 1.5),
    *([], {}, ["x"]),
)
# How Pydantic begins where nobody gave it words.
FOREIGN = ("Input should", "Value error", "Assertion", "Datetimes", "Decimal input", "UUID input", "String should")


def forms() -> list[type[Request]]:
    """Every body and form; a row of a loan book was judged before and is validated by no model."""
    for package in (core.api.v1, core.covers, core.services, pages):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name != "pages._main":
                import_module(module.name)
    return sorted({*below(Request)} - {BookLoan}, key=lambda form: f"{form.__module__} {form.__name__}")


def below(form: type[Request]) -> Iterator[type[Request]]:
    for each in form.__subclasses__():
        yield each
        yield from below(each)


def list_messages(form: type[Request], field: str, value: object) -> list[str]:
    """The messages about a field that has this value."""
    try:
        request.validate(form, {field: value})
    except InvalidInput as refused:
        return [fault.message for fault in refused.faults if fault.field.startswith(field)]
    return []


def test_no_wrong_value_is_answered_in_words_of_a_library() -> None:
    checked = forms()
    assert len(checked) > 100
    foreign = {
        f"{form.__name__}.{field}: {message}"
        for form in checked
        for field in form.model_fields
        for value in WRONG
        for message in list_messages(form, field, value)
        if message.startswith(FOREIGN)
    }
    assert foreign == set()
