"""Personal numbers inside submitted data: extract, seal, and mask to their last four characters (contract A3)."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from core import seal
from core.covers.fields import Personal, marks
from core.covers.request import Request


def numbers_in(request: Request) -> frozenset[str]:
    """Return the values of a request's personal fields."""
    given = (getattr(request, name) for name in _personal_fields(type(request)))
    return frozenset(str(value) for value in given if value is not None)


@cache
def _personal_fields(model: type[Request]) -> tuple[str, ...]:
    return tuple(n for n, f in model.model_fields.items() if any(isinstance(m, Personal) for m in marks(f)))


def masked(data: Mapping[str, Any], numbers: frozenset[str]) -> dict[str, Any]:
    """Return a copy of submitted data with personal numbers masked to their last four characters."""
    return {name: _masked(value, numbers) for name, value in data.items()}


def _masked(value: Any, numbers: frozenset[str]) -> Any:
    if isinstance(value, str):
        return seal.mask(value) if value in numbers else value
    if isinstance(value, Mapping):
        return masked(value, numbers)
    if isinstance(value, list | tuple):
        return [_masked(item, numbers) for item in value]
    return value


def taken_out(data: Mapping[str, Any], numbers: frozenset[str], at: str = "") -> dict[str, str]:
    """Return the personal numbers of submitted data by dotted path, for sealing."""
    found: dict[str, str] = {}
    for name, value in data.items():
        path = f"{at}{name}"
        if isinstance(value, str) and value in numbers:
            found[path] = value
        elif isinstance(value, Mapping):
            found |= taken_out(value, numbers, f"{path}.")
    return found


def sealed(data: Mapping[str, Any], numbers: frozenset[str]) -> str | None:
    """Return the personal numbers of submitted data as one sealed text, None when there are none."""
    return seal.seal(taken_out(data, numbers))


def restored(data: Mapping[str, Any], sealed_text: str | None, at: str) -> dict[str, Any]:
    """Return submitted data with its personal numbers in clear; `at` is its path inside the sealed values."""
    return _restored(data, seal.unseal(sealed_text), f"{at}.")


def _restored(data: Mapping[str, Any], numbers: Mapping[str, str], at: str) -> dict[str, Any]:
    return {
        name: _restored(value, numbers, f"{at}{name}.")
        if isinstance(value, Mapping)
        else numbers.get(f"{at}{name}", value)
        for name, value in data.items()
    }
