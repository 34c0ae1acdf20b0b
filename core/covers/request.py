"""Base class of every request body: trimmed, bounded, all errors reported at once, unknown fields ignored."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, get_args

import pydantic
from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, ValidationInfo, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from core.errors import FieldFault, InvalidInput, raise_faults

MISSPELLING_CUTOFF = 0.8
_SOLD_KEY = "sold"
# Comparing names is slow: a body with very many unknown fields would block the server.
_MAX_COMPARED = 50
# Beside control characters, what breaks lines, turns the direction of a text or is not seen at all: on a certificate
# it would make a name look like another one. The two joiners (U+200C, U+200D) belong to letters and emoji.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_LINE_ENDS = str.maketrans("\n\r\t", "   ")
_MESSAGES = {
    "missing": "is required",
    "string_type": "must be a text",
    "string_unicode": "must be valid Unicode",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "decimal_max_places": "must have at most {decimal_places} decimals",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "list_type": "must be a list",
    "too_short": "must have at least {min_length}",
    "too_long": "must have at most {max_length}",
    "literal_error": "must be one of {expected}",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
}


class Request(BaseModel):
    """Base of every body: blank counts as missing, control characters are refused, unknown fields are not stored.

    An unknown field that looks like a misspelling of an absent optional field is refused with the suggestion (contract
    E6). Fields in `multiline_fields` may contain line breaks. `aliases` maps misprinted names to the right ones.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, str_strip_whitespace=True)
    aliases: ClassVar[Mapping[str, str]] = {}
    multiline_fields: ClassVar[frozenset[str]] = frozenset()
    suggests_spelling: ClassVar[bool] = True

    @model_validator(mode="wrap")
    @classmethod
    def _normalise(cls, data: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        if not isinstance(data, dict):
            return handler(data)
        values = _drop_blanks(data)
        for wrong, right in cls.aliases.items():
            if wrong in values and right not in values:
                values[right] = values[wrong]
        faults = [
            # What was sold before a character was refused can still be renewed.
            *(() if is_sold(info) else _find_control_characters(values, cls)),
            *(_find_misspellings(values, cls) if cls.suggests_spelling else ()),
        ]
        try:
            valid = handler(values)
        except ValidationError as error:
            faults = [*_convert_errors(error), *faults]
        if faults:
            raise ValidationError.from_exception_data(cls.__name__, faults)
        return valid

    @classmethod
    def list_ignored(cls, data: Mapping[str, Any]) -> list[str]:
        """Return the names in a body that this request does not use, sorted, for `X-Ignored-Fields`.

        Names inside lists and objects are dotted: "items.0.colour".
        """
        return sorted([*_list_unknown(cls, data), *_list_unknown_nested(cls, data)])


def _list_unknown(model: type[Request], data: Mapping[str, Any]) -> list[str]:
    aliased = {wrong for wrong, right in model.aliases.items() if right not in data}
    # A field whose name is a word of Python is written differently there.
    known = {field.alias or name for name, field in model.model_fields.items()}
    return [str(name) for name in data if name not in known and name not in aliased]


def _list_unknown_nested(model: type[Request], data: Mapping[str, Any]) -> Iterator[str]:
    for name, inner in _list_nested(model):
        given = data.get(name)
        rows = {f"{name}.{index}": row for index, row in enumerate(given)} if isinstance(given, list) else {name: given}
        for place, row in rows.items():
            if isinstance(row, Mapping):
                yield from (f"{place}.{extra}" for extra in inner.list_ignored(row))


@cache
def _list_nested(model: type[Request]) -> tuple[tuple[str, type[Request]], ...]:
    """Return the fields of a request that are requests themselves, or lists of them, each with its model."""
    return tuple(
        (name, part)
        for name, field in model.model_fields.items()
        for part in (field.annotation, *get_args(field.annotation))
        if isinstance(part, type) and issubclass(part, Request)
    )


def _drop_blanks(data: Mapping[Any, Any]) -> dict[Any, Any]:
    def is_present(value: object) -> bool:
        return value is not None and not (isinstance(value, str) and not value.strip())

    return {name: value for name, value in data.items() if is_present(value)}


def _find_control_characters(values: Mapping[str, Any], model: type[Request]) -> list[InitErrorDetails]:
    fault = PydanticCustomError("control_characters", "must not contain control characters")
    return [
        InitErrorDetails(type=fault, loc=(name,), input=None)
        for name in model.model_fields
        if isinstance(values.get(name), str)
        and has_control_characters(_replace_line_ends(values[name], name, model).strip())
    ]


def _replace_line_ends(text: str, name: str, model: type[Request]) -> str:
    return text.translate(_LINE_ENDS) if name in model.multiline_fields else text


def has_control_characters(text: str) -> bool:
    """Return True if a text contains NUL, a line break, another control character or one that is not seen."""
    return _CONTROL.search(text) is not None


def _find_misspellings(values: Mapping[str, Any], model: type[Request]) -> list[InitErrorDetails]:
    absent = [n for n, f in model.model_fields.items() if n not in values and not f.is_required()]
    errors = []
    for name in _list_unknown(model, values)[:_MAX_COMPARED]:
        # In capitals alone, or with a few, no letter would agree. Names of ours have none.
        if meant := suggestion(name.casefold(), absent):
            fault = PydanticCustomError("misspelt", "is not known, did you mean {name}?", {"name": meant})
            errors.append(InitErrorDetails(type=fault, loc=(name[:100],), input=None))
    return errors


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """The known name that another one looks like a misspelling of."""
    return next(iter(difflib.get_close_matches(name, known, 1, MISSPELLING_CUTOFF)), None)


def _convert_errors(error: ValidationError) -> list[InitErrorDetails]:
    """Convert the line errors of a validation so that our own errors can be added to them."""
    return [
        InitErrorDetails(
            type=PydanticCustomError("fault", get_message(line).replace("{", "{{").replace("}", "}}")),
            loc=line["loc"],
            input=None,
        )
        for line in error.errors(include_url=False, include_input=False)
    ]


def get_message(error: Mapping[str, Any]) -> str:
    """Return our message for one validation error, without the offending value."""
    template = _MESSAGES.get(error["type"])
    if template is None:
        return str(error["msg"]).removeprefix("Value error, ")
    return template.format(**error.get("ctx", {}))


def build_faults(errors: Iterable[Mapping[str, Any]], *, skip: int = 0) -> list[FieldFault]:
    """Convert validation errors to faults with dotted paths; `skip` drops leading parts of the path."""
    return [
        FieldFault(".".join(str(part) for part in line["loc"][skip:]) or "body", get_message(line)) for line in errors
    ]


def validate(model: type[BaseModel], data: object, *, sold: bool = False) -> Any:
    """Validate a request body; InvalidInput names every invalid field.

    `sold` marks data of an earlier sale: checks that only hold on the day of a sale are skipped.
    """
    try:
        return model.model_validate(data, context={_SOLD_KEY: sold})
    except ValidationError as error:
        raise InvalidInput(build_faults(error.errors(include_url=False, include_input=False))) from None


def validate_text(field: str, text: object, *, least: int, most: int, is_multiline: bool = False) -> str:
    """Return one text as a request has it; InvalidInput names the field where it is too short, too long or none."""
    given: str = getattr(validate(_build_text(field, least, most, is_multiline), {field: text}), field)
    return given


@cache
def _build_text(field: str, least: int, most: int, is_multiline: bool) -> type[Request]:  # noqa: FBT001 a cache's key
    declared: dict[str, Any] = {field: (str, pydantic.Field(min_length=least, max_length=most))}
    model = pydantic.create_model("Text", __base__=Request, **declared)
    model.multiline_fields = frozenset(declared if is_multiline else ())
    return model


def is_sold(info: ValidationInfo) -> bool:
    """Return True while validating the data of an earlier sale."""
    return bool(info.context and info.context.get(_SOLD_KEY))


def refuse_unless(checks: Sequence[tuple[bool, str, str]]) -> None:
    """Raise InvalidInput with every (field, message) whose condition is false."""
    faults = [FieldFault(name, message) for holds, name, message in checks if not holds]
    raise_faults(faults)
