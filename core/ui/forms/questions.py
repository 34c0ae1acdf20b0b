"""The questions of a form, derived from a request model: one for each field."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, auto
from typing import Any, get_args, get_origin

from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core.covers import fields
from core.ui.kit import words

Options = Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]]
_LONG = 1000
_BORN = get_args(fields.BirthDate)[-1]


class Kind(Enum):
    """The kind of widget for a question."""

    TEXT = auto()
    LONG_TEXT = auto()
    EMAIL = auto()
    PHONE = auto()
    LINK = auto()
    FILE = auto()
    MONEY = auto()
    COUNT = auto()
    DAY = auto()
    BIRTH_DAY = auto()
    FLAG = auto()
    PICK = auto()
    SEVERAL = auto()
    ITEMS = auto()


_CHOSEN = {Kind.PICK, Kind.DAY, Kind.BIRTH_DAY}


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One field as a question of a form.

    `options` returns (value, label) pairs, given the values of the fields in `after`; `columns` are the questions of
    one row of items; `section` is the heading of what says what is insured.
    """

    name: str
    label: str
    kind: Kind
    required: bool
    personal: bool = False
    help: str | None = None
    default: Any = None
    longest: int | None = None
    least: int | None = None
    most: int | None = None
    options: Options | None = None
    after: tuple[str, ...] = ()
    columns: tuple["Question", ...] = ()
    section: str | None = None


def of(model: type[BaseModel], *, given: frozenset[str] = frozenset()) -> list[Question]:
    """Return the questions of a model in field order, without fields that are given or repeat another one."""
    left_out = given.union(repeated_fields(model))
    return [question(name, field) for name, field in model.model_fields.items() if name not in left_out]


def repeated_fields(model: type[BaseModel]) -> dict[str, str]:
    """Return the fields that are not asked for, each with the field whose value it takes."""
    return {
        name: mark.field
        for name, field in model.model_fields.items()
        for mark in fields.get_metadata(field)
        if isinstance(mark, fields.SameAs)
    }


def question(name: str, field: FieldInfo) -> Question:
    """Return the question for one field."""
    marks, bare = _marks(field), fields.get_bare_type(field.annotation)
    kind, options, after = _kind(name, marks, bare), *_options(marks)
    unit = _unit(kind, field.description)
    return Question(
        name=name,
        label=field.title or _label(name, kind, unit),
        kind=kind,
        required=field.is_required(),
        personal=any(isinstance(mark, fields.Personal) for mark in marks),
        help=field.description if kind not in {Kind.PICK, Kind.SEVERAL} and not unit else None,
        default=None if field.is_required() else field.get_default(call_default_factory=True),
        longest=_limit(marks, MaxLen, "max_length") if bare is str else None,
        least=_limit(marks, Ge, "ge"),
        most=_limit(marks, Le, "le"),
        options=options,
        after=after,
        columns=tuple(of(_row(bare))) if kind is Kind.ITEMS else (),
        section=next((mark.section for mark in marks if isinstance(mark, fields.Insured)), None),
    )


def instruct(question: Question) -> str:
    """Return what to do about an empty field: "Enter the registration number", "Choose the vehicle make"."""
    label = re.sub(r" \([^)]*\)$", "", question.label)
    named = label if label[1:2].isupper() else label[:1].lower() + label[1:]
    instructions = {
        Kind.FLAG: "Choose Yes or No",
        Kind.FILE: "Choose a file, or paste a link to it",
        Kind.SEVERAL: "Choose at least one",
        Kind.ITEMS: "Enter at least one item",
        Kind.EMAIL: f"Enter the {named} address",
    }
    return instructions.get(question.kind) or f"{'Choose' if question.kind in _CHOSEN else 'Enter'} the {named}"


def _marks(field: FieldInfo) -> list[Any]:
    """Return all metadata of a field, including that of the type inside an optional."""
    marks = [field, *fields.get_metadata(field)]
    inner = [mark for mark in marks[1:] if isinstance(mark, FieldInfo)]
    return [*marks, *(limit for part in inner for limit in part.metadata)]


def _row(bare: Any) -> Any:
    return fields.get_bare_type(get_args(bare)[0])


def _kind(name: str, marks: list[Any], bare: Any) -> Kind:
    if get_origin(bare) is list:
        row = _row(bare)
        return Kind.ITEMS if isinstance(row, type) and issubclass(row, BaseModel) else Kind.SEVERAL
    if any(isinstance(mark, fields.Pick | fields.Choice) for mark in marks):
        return Kind.PICK
    if bare is date:
        return Kind.BIRTH_DAY if _BORN in marks else Kind.DAY
    kinds = {bool: Kind.FLAG, Decimal: Kind.MONEY, int: Kind.COUNT}
    return kinds.get(bare) or _text_kind(name, marks)


def _text_kind(name: str, marks: list[Any]) -> Kind:
    if any(isinstance(mark, fields.Upload) for mark in marks):
        return Kind.FILE
    extras = [mark.json_schema_extra for mark in marks if isinstance(mark, FieldInfo)]
    shapes = {extra.get("format") for extra in extras if isinstance(extra, dict)}
    if shapes & {"email", "uri"}:
        return Kind.EMAIL if "email" in shapes else Kind.LINK
    if "phone" in name:
        return Kind.PHONE
    return Kind.LONG_TEXT if (_limit(marks, MaxLen, "max_length") or 0) >= _LONG else Kind.TEXT


def _options(marks: list[Any]) -> tuple[Options | None, tuple[str, ...]]:
    """Return the pick list of a field; a `Choice`, which has its own labels, takes precedence over a plain `Pick`."""
    choice = next((mark for mark in marks if isinstance(mark, fields.Choice)), None)
    if choice is not None:
        return choice.options, choice.after
    pick = next((mark for mark in marks if isinstance(mark, fields.Pick)), None)
    return (None if pick is None else _listed(pick)), ()


def _listed(pick: fields.Pick) -> Options:
    return lambda _: [(value, _option_label(value)) for value in pick.options()]


def _option_label(value: str) -> str:
    """Return the display form of a word of the specification; names from the lists are unchanged."""
    return words.title(value) if value.islower() or "_" in value else value


def _label(name: str, kind: Kind, unit: str | None) -> str:
    name = name.removeprefix("is_") if kind is Kind.FLAG else name
    label = words.title(name.removesuffix({Kind.FILE: "_url", Kind.PICK: "_id"}.get(kind, "")))
    return f"{label} ({unit})" if unit else label


def _unit(kind: Kind, description: str | None) -> str | None:
    """Return the unit of a number: naira, or for a count its one-word description."""
    if kind is Kind.COUNT and description and " " not in description:
        return description.rstrip(".").lower()
    return "₦" if kind is Kind.MONEY else None


def _limit(marks: list[Any], kind: type, name: str) -> Any:
    return next((getattr(mark, name) for mark in marks if isinstance(mark, kind)), None)
