"""Field types for request models: each validates, documents itself in OpenAPI and tells a form how to render it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import cache
from types import NoneType
from typing import Annotated, Any, get_args
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from core import clock, money, reference
from core.covers.request import is_sold, suggestion


def fault(message: str) -> PydanticCustomError:
    """A validation error with this message."""
    return PydanticCustomError("fault", message.replace("{", "{{").replace("}", "}}"))


_LARGEST = float(money.MAX_AMOUNT)
_LARGEST_COUNT = 10**6
_AS_TEXT = 'In naira, with at most two decimals; as a text too: "1000.50".'
# Clients of the document write numbers: one kind of value that holds every amount to the kobo. Texts are for forms.
AMOUNT = {"type": "number", "format": "double", "minimum": 0, "maximum": _LARGEST, "description": _AS_TEXT}
ABOVE_ZERO = {"type": "number", "format": "double", "exclusiveMinimum": 0, "maximum": _LARGEST, "description": _AS_TEXT}
AMOUNT_PATTERN = r"^[0-9]{1,13}(\.[0-9]{1,2})?$"
ABOVE_ZERO_PATTERN = r"^(?!0+(\.0+)?$)[0-9]{1,13}(\.[0-9]{1,2})?$"


def naira(value: object) -> Decimal:
    """An amount in naira from 0 with at most two decimals, from a number or a plain decimal text."""
    amount = _finite(value)
    if amount is None:
        raise fault("must be a number")
    if amount < 0:
        raise fault("must not be negative")
    if amount > money.MAX_AMOUNT:
        raise fault("must be at most 10,000,000,000,000")
    kept = amount.quantize(money.KOBO) + 0
    if kept != amount:
        raise fault("must have at most two decimals")
    return kept


def _finite(value: object) -> Decimal | None:
    """The exact value of a number or of a plain decimal text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    if isinstance(value, str) and not re.fullmatch(
        r"[+-]?[0-9]{1,40}(\.[0-9]{0,40})?|[+-]?\.[0-9]{1,40}", value.strip()
    ):
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def above_zero(value: Decimal) -> Decimal:
    """The amount itself; a fault for 0."""
    if value <= 0:
        raise fault("must be more than 0")
    return value


def count(value: object) -> int:
    """A whole number up to a million either way."""
    number = _finite(value)
    # Compared before it is divided: arithmetic on 1e999999999 overflows, a comparison does not.
    if number is not None and number > _LARGEST_COUNT:
        raise fault(f"must be at most {_LARGEST_COUNT}")
    if number is not None and number < -_LARGEST_COUNT:
        raise fault(f"must be at least -{_LARGEST_COUNT}")
    if number is None or number % 1:
        raise fault("must be a whole number")
    return int(number)


_MAX_LISTED = 12


@dataclass(frozen=True)
class Pick:
    """A text from a list, case-insensitive; the canonical spelling is stored (contract S14).

    Used as metadata: `Annotated[str, Pick(reference.genders, "genders lookup")]`. A form asks for it
    with a pick list of `options`; `canonical` finds the spelling where more than case may differ, and `candidates`
    the options among which a text does not decide.
    """

    options: Callable[[], tuple[str, ...]]
    list_name: str
    canonical: Callable[[str], str | None] | None = None
    candidates: Callable[[str], tuple[str, ...]] = lambda _: ()

    def check(self, value: str) -> str:
        """Return the canonical spelling, or raise an error that names the list."""
        options = self.options()
        if spelling := self.canonical(value) if self.canonical else reference.find_option(options, value):
            return spelling
        if meant := options if len(options) <= _MAX_LISTED else self.candidates(value):
            raise fault(f"must be one of {', '.join(meant)}")
        close = suggestion(value.casefold(), [option.casefold() for option in options])
        named = f", did you mean {reference.find_option(options, close)}?" if close else ""
        raise fault(f"must be from the {self.list_name}{named}")

    def __get_pydantic_core_schema__(self, _: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, core_schema.str_schema(max_length=200))

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> dict[str, Any]:
        options = self.options()
        if len(options) <= _MAX_LISTED:
            return {"type": "string", "enum": list(options), "description": "In any case."}
        return {"type": "string", "description": f"From the {self.list_name}, in any case."}


@dataclass(frozen=True, slots=True)
class Choice:
    """Field metadata: a form renders a pick list of (value, label), computed from the values of the fields in
    `after`.
    """

    options: Callable[[Mapping[str, Any]], Sequence[tuple[str, str]]]
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SameAs:
    """A form does not ask for this field: it says the same as another one."""

    field: str


@dataclass(frozen=True, slots=True)
class Upload:
    """Field metadata: a form offers a file upload and fills in its URL."""


@dataclass(frozen=True, slots=True)
class Personal:
    """Field metadata: a personal number, encrypted in the store and masked everywhere (contract A3)."""


@dataclass(frozen=True, slots=True)
class Insured:
    """Field metadata: says what is insured; forms, certificates, the claim's form and erasures follow from it.

    `section` is the heading in a form, `line` the label on the certificate, None for what is not on it. Fields of one
    line stand beside each other there: an amount, a day, or else as `describe` words the value. Lines follow the order
    of the request, those of a lower `place` first. `is_number` marks the number by which the thing is known, such as a
    plate or an IMEI: a claim begins with it, and an erasure searches every text for it.
    """

    section: str
    line: str | None = None
    is_number: bool = False
    place: int = 0
    describe: Callable[[Any], str] = str


@dataclass(frozen=True, slots=True)
class ExampleInDays:
    """Field metadata: the example date is this many days from today, so it stays valid."""

    days: int


@dataclass(frozen=True, slots=True)
class InsuredOnce:
    """Field metadata: the example body leaves it out, because a second sale of it is refused."""


def get_metadata(field: FieldInfo) -> list[Any]:
    """Return the metadata of a field (`Pick`, `Personal`, ...), also from inside an optional or a list."""

    def collect(annotation: object) -> list[Any]:
        inner = [mark for part in get_args(annotation) for mark in collect(part)]
        return [*getattr(annotation, "__metadata__", ()), *inner]

    return [*field.metadata, *collect(field.annotation)]


def get_bare_type(annotation: Any) -> Any:
    """Return the type without optional and Annotated wrappers."""
    if hasattr(annotation, "__metadata__"):
        return get_bare_type(annotation.__origin__)
    parts = [part for part in get_args(annotation) if part is not NoneType]
    if NoneType in get_args(annotation) and len(parts) == 1:
        return get_bare_type(parts[0])
    return annotation


@cache
def list_insured(model: type[BaseModel]) -> tuple[tuple[str, Insured], ...]:
    """Return the fields that say what is insured with their marks, in the order of a certificate."""
    marked = [(name, mark) for name, field in model.model_fields.items() for mark in get_metadata(field)]
    return tuple(sorted((each for each in marked if isinstance(each[1], Insured)), key=lambda each: each[1].place))


def list_numbers(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields with a number by which the insured thing is known."""
    return tuple(name for name, mark in list_insured(model) if mark.is_number)


def build_example(model: type[BaseModel]) -> dict[str, Any]:
    """Return a valid request body from the examples of the fields, with dates near today."""
    body: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        metadata = get_metadata(field)
        if any(isinstance(mark, InsuredOnce) for mark in metadata):
            continue
        offset = next((m for m in metadata if isinstance(m, ExampleInDays)), None)
        if offset is not None:
            body[field.alias or name] = (clock.today() + timedelta(days=offset.days)).isoformat()
        elif field.examples:
            body[field.alias or name] = field.examples[0]
    return body


def one_of(*options: str) -> Pick:
    """Return a `Pick` from a short list of the specification, case-insensitive."""
    return Pick(lambda: options, "list")


def _check_email(value: str) -> str:
    # Imported on first use, here and below: most commands check neither an e-mail nor a foreign number.
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415

    try:
        return validate_email(value, check_deliverability=False, test_environment=True).normalized
    except EmailNotValidError:
        raise fault("must be an e-mail address") from None


def _check_phone(value: str) -> str:
    # Copied from a page it may have another blank; `phone_key` knows this one.
    value = re.sub(r"\s", " ", value)
    digits = re.sub(r"[ ().-]", "", value)
    if re.fullmatch(r"(\+?234|0)[789][01]\d{8}", digits):
        return value
    # The parser accepts letters, extensions and addresses too; an E.164 number has digits only.
    if re.fullmatch(r"\+(?!234)[1-9]\d{6,14}", digits) and _is_possible(digits):
        return value
    raise fault(
        "must be a Nigerian mobile number, such as 0803 123 4567, or a foreign one with + and country code, such as"
        " +447700900123"
    )


def _is_possible(number: str) -> bool:
    import phonenumbers  # noqa: PLC0415

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return False


def _check_eleven_digits(value: str) -> str:
    if not re.fullmatch(r"[0-9]{11}", value):
        raise fault("must have 11 digits")
    return value


def _check_account_number(value: str) -> str:
    if not re.fullmatch(r"[0-9]{10}", value):
        raise fault("must be the 10 digits of an account number")
    return value


def _check_link(value: str) -> str:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"\s", value)
    except ValueError:
        valid = False
    if not valid:
        raise fault("must be an http or https link")
    return value


def _check_uuid(value: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise fault("must be a UUID") from None


def _check_identifier(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9 ./-]+", value) or sum(character.isalnum() for character in value) < 3:
        raise fault("must be written in letters and digits, at least 3")
    return value


def _check_letters(value: str) -> str:
    if sum(character.isalpha() for character in value) < 2:
        raise fault("must have at least 2 letters")
    return value


def _check_capacity(value: str, info: ValidationInfo) -> str:
    # A minus, and not the hyphen of "V6-3000".
    is_negative = re.search(r"(?<!\w)-\s*[.\d]", value)
    is_wrong = is_negative or re.fullmatch(r"[0-9]", value.strip()) or not re.search(r"[1-9]", value)
    # Who bought before a figure was asked for can still renew.
    if is_wrong and not is_sold(info):
        raise fault("must be litres with a decimal, such as 1.8, or cubic centimetres, such as 1800")
    return value


def _parse_day(value: object) -> Any:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].{1,32})?", value.strip()):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise fault("must be a date that exists, as YYYY-MM-DD") from None
    if not isinstance(value, date):
        raise fault("must be a date as YYYY-MM-DD")
    if not 1900 <= value.year < 2200:
        raise fault("must be a date from 1900 to 2199")
    # A timestamp counts as the day written in it, whatever its time zone.
    return value.date() if isinstance(value, datetime) else value


def _refuse_future(value: date) -> date:
    if value > clock.today():
        raise fault("must not be in the future")
    return value


def _check_from_today(value: date, info: ValidationInfo) -> date:
    if value < clock.today() and not is_sold(info):
        raise fault("must be today or later")
    return value


def _check_birth_date(value: date) -> date:
    today = clock.today()
    if not today - timedelta(days=round(120 * 365.25)) <= value < today:
        raise fault("must be in the past and at most 120 years ago")
    return value


def _check_year(value: str) -> str:
    latest = clock.today().year + 1
    if not (re.fullmatch(r"[0-9]{4}", value) and 1960 <= int(value) <= latest):
        raise fault(f"must be a year from 1960 to {latest}")
    return value


def _parse_flag(value: object) -> Any:
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise fault("must be true or false")
    return value


def _year_to_text(value: object) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = Annotated[str, Field(min_length=1, max_length=200)]
EngineCapacity = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_capacity)]
LongText = Annotated[str, Field(min_length=1, max_length=2000)]
Name = Annotated[str, Field(min_length=2, max_length=100), AfterValidator(_check_letters)]
Address = Annotated[str, Field(min_length=6, max_length=300)]
# Where something happened: a town is enough.
Place = Annotated[str, Field(min_length=2, max_length=300)]
Email = Annotated[str, Field(max_length=254, json_schema_extra={"format": "email"}), AfterValidator(_check_email)]
Phone = Annotated[str, Field(max_length=32), AfterValidator(_check_phone)]
Bvn = Annotated[
    str,
    Field(max_length=32, json_schema_extra={"pattern": "^[0-9]{11}$"}),
    AfterValidator(_check_eleven_digits),
    Personal(),
]
AccountNumber = Annotated[str, Field(max_length=32), AfterValidator(_check_account_number), Personal()]
Passport = Annotated[str, Field(min_length=5, max_length=20), AfterValidator(_check_identifier), Personal()]
# Said in the schema alone: a description of the field would stand beside its widget too.
_ADDRESS = {"format": "uri", "description": "What `/upload-file` answered as `file_url`, or an address of yours."}
_PRODUCT = {
    "format": "uuid",
    "description": "The `id` of a product whose `prefix` and `route_name` are of this address.",
}
Link = Annotated[str, Field(max_length=2048, json_schema_extra=_ADDRESS), AfterValidator(_check_link)]
Picture = Annotated[Link, Upload()]
Document = Annotated[Link, Upload()]
Day = Annotated[date, BeforeValidator(_parse_day)]
TodayOrLater = Annotated[Day, AfterValidator(_check_from_today)]
TodayOrEarlier = Annotated[Day, AfterValidator(_refuse_future)]
BirthDate = Annotated[Day, AfterValidator(_check_birth_date)]
Year = Annotated[
    str,
    Field(json_schema_extra={"pattern": "^(19[6-9][0-9]|20[0-9]{2})$", "description": "From 1960 to next year."}),
    BeforeValidator(_year_to_text),
    AfterValidator(_check_year),
]
Naira = Annotated[Decimal, BeforeValidator(naira), WithJsonSchema(AMOUNT)]
PositiveNaira = Annotated[Naira, AfterValidator(above_zero), WithJsonSchema(ABOVE_ZERO)]
WHOLE_NUMBER = BeforeValidator(count)
Flag = Annotated[
    bool,
    BeforeValidator(_parse_flag),
    WithJsonSchema({"type": "boolean", "description": 'As a text too: "true" or "false".'}),
]
ProductId = Annotated[str, Field(max_length=64, json_schema_extra=_PRODUCT), AfterValidator(_check_uuid)]
RegistrationNumber = Annotated[str, Field(min_length=3, max_length=20), AfterValidator(_check_identifier)]
