"""Every field of every form and body says what is wrong in words of ours, whatever is typed into it."""

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module

import core.api.v1
import core.covers
import core.services
import pages
from core.covers import request
from core.covers.request import Request
from core.errors import FieldFault, InvalidInput
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


def list_faults(form: type[Request], value: object) -> Iterable[FieldFault]:
    """List what is said about the fields of a form that all have this value."""
    try:
        request.validate(form, dict.fromkeys(form.model_fields, value))
    except InvalidInput as refused:
        return refused.faults
    return ()


def test_no_wrong_value_is_answered_in_words_of_a_library() -> None:
    checked = forms()
    assert len(checked) > 100
    foreign = {
        f"{form.__name__}.{fault.field}: {fault.message}"
        for form in checked
        for value in WRONG
        for fault in list_faults(form, value)
        if fault.message.startswith(FOREIGN)
    }
    assert foreign == set()
