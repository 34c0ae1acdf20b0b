"""Rows as services return them, built of the records they were read from."""

from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

Built = TypeVar("Built")


def build_row(row_type: type[Built], *records: Any, **given: Any) -> Built:
    """Return a row of the given values, and for each other field of the first record that has it under its name."""
    declared: Any = row_type
    for name in _list_fields(declared):
        if name not in given:
            holder = next((record for record in records if hasattr(record, name)), None)
            if holder is not None:
                given[name] = getattr(holder, name)
    return row_type(**given)


@cache
def _list_fields(row_type: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(row_type))
