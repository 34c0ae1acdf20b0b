"""Request parts that insurers share, and who a request makes the policyholder."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from core import clock, reference
from core.covers import fields
from core.covers.cover import Rates, Term
from core.covers.request import Request

Gender = Annotated[str, fields.Pick(reference.genders, "genders lookup")]
State = Annotated[
    str,
    fields.Pick(lambda: tuple(row.name for row in reference.states()), "states lookup", reference.state),
]
Identification = Annotated[str, fields.Pick(reference.identification_types, "identification types lookup")]
Colour = Annotated[str, fields.Pick(reference.colours, "colour list")]

_MAKE = reference.make_by_id_or_name("Toyota")
_MODEL = _MAKE and reference.model_by_id_or_name("Camry", _MAKE)


class ListedVehicle(Request):
    """A vehicle by the ids of the make and model lookups; the model must be one of the make."""

    vehicle_make: fields.Text = Field(examples=[_MAKE and _MAKE.id], description="Id from the make lookup.")
    vehicle_model: fields.Text = Field(examples=[_MODEL and _MODEL.id], description="Id from the model lookup.")

    @field_validator("vehicle_make")
    @classmethod
    def _known_make(cls, value: str) -> str:
        make = reference.make_by_id(value)
        if make is None:
            raise fields.fault("must be an id from the vehicle make lookup")
        return make.id

    @field_validator("vehicle_model")
    @classmethod
    def _model_of_make(cls, value: str, info: ValidationInfo) -> str:
        model = reference.model_by_id(value)
        if model is None:
            raise fields.fault("must be an id from the vehicle model lookup")
        make = reference.make_by_id(info.data.get("vehicle_make", ""))
        if make is not None and model.make != make.name:
            raise fields.fault("must be a model of the vehicle_make")
        return model.id


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """The policyholder that a request describes, whatever its insurer calls the fields."""

    first_name: str
    last_name: str
    email: str
    phone: str | None = None
    dob: date | None = None
    gender: str | None = None
    title: str | None = None
    state: str | None = None
    city: str | None = None
    address: str | None = None


_CALLED = {
    "phone": ("phone_number", "phone"),
    "dob": ("date_of_birth", "dob"),
    "gender": ("gender",),
    "title": ("title", "owner_title", "title_id"),
    "state": ("state",),
    "city": ("city", "town"),
    "address": ("address",),
}


def holder(request: Any) -> Holder:
    """The policyholder of any buy request."""

    def first(names: tuple[str, ...]) -> Any:
        return next((v for n in names if (v := getattr(request, n, None)) is not None), None)

    known = {field: first(names) for field, names in _CALLED.items()}
    return Holder(first_name=request.first_name, last_name=request.last_name, email=request.email, **known)


def plate_key(plate: str) -> str:
    """A plate or passport as it is compared: upper case, no spaces, no hyphens (contract S12)."""
    return "".join(character for character in plate.upper() if character.isalnum())


def year_from_today(_: Any, rates: Rates) -> Term:
    """The product's cover period from today in Lagos (contract S8)."""
    return Term.months(clock.today(), rates.cover_months)


def make_name(make_id: str) -> str:
    """The name behind an id of the make lookup."""
    make = reference.make_by_id(make_id)
    return make.name if make else make_id


def model_name(model_id: str) -> str:
    """The name behind an id of the model lookup."""
    model = reference.model_by_id(model_id)
    return model.name if model else model_id
