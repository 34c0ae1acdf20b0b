"""Rows as services return them, built of the records they were read from."""

from dataclasses import fields
from typing import Any, TypeVar

Built = TypeVar("Built")


def build_row(row_type: type[Built], *records: Any, **given: Any) -> Built:
    """Return a row of the given values, and for each other field of the first record that has it under its name."""
    declared: Any = row_type
    names = {each.name for each in fields(declared)} - given.keys()
    found = {name: getattr(record, name) for record in reversed(records) for name in names if hasattr(record, name)}
    return row_type(**given, **found)
