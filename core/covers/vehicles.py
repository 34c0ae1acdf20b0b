"""Vehicle fields shared by insurers: make and model by id, or by id or name (contract S14)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo

from core import reference
from core.covers import fields
from core.covers.fields import fault
from core.covers.request import Request

_VEHICLE = "Vehicle"
# In the order of a certificate, whatever the order of the request.
RegistrationNumber = Annotated[
    fields.RegistrationNumber, fields.Insured(_VEHICLE, "Registration number", is_number=True, place=1)
]
Year = Annotated[fields.Year, fields.Insured(_VEHICLE, "Year of manufacture", place=3)]
Colour = Annotated[
    str,
    fields.Pick(reference.colours, "colour list", reference.colour),
    fields.Insured(_VEHICLE, "Colour", place=4),
]
ChassisNumber = Annotated[fields.Text, fields.Insured(_VEHICLE, "Chassis number", place=5)]
EngineNumber = Annotated[fields.Text, fields.Insured(_VEHICLE, "Engine number", place=6)]
Usage = Annotated[str, fields.one_of("Private", "Commercial"), fields.Insured("Cover", "Use", place=7)]
BodyType = Annotated[str, fields.Pick(reference.body_types, "vehicle body types lookup"), fields.Insured(_VEHICLE)]
EngineCapacity = Annotated[fields.EngineCapacity, fields.Insured(_VEHICLE)]
Value = Annotated[fields.PositiveNaira, fields.Insured(_VEHICLE)]


def _check_make_id(value: str) -> str:
    make = reference.find_make_by_id(value)
    if make is None:
        raise fault("must be an id from the vehicle make lookup")
    return make.id


def _check_model_id(value: str, info: ValidationInfo) -> str:
    model = reference.find_model_by_id(value)
    if model is None:
        raise fault("must be an id from the vehicle model lookup")
    make = reference.find_make_by_id(info.data.get("vehicle_make") or "")
    if make is not None and model.make != make.name:
        raise fault("must be a model of the vehicle_make")
    return model.id


def _check_make(value: str) -> str:
    make = reference.find_make_by_id_or_name(value)
    if make is None:
        raise fault("must be an id or a name from the vehicle make lookup")
    return make.name


def _check_model(value: str, info: ValidationInfo) -> str:
    make = reference.find_make_by_id_or_name(info.data.get("vehicle_make") or "")
    makes = [make] if make else reference.list_vehicle_makes(None)
    candidates = (reference.find_model_by_id_or_name(value, candidate) for candidate in makes)
    model = next((known for known in candidates if known), None)
    if model is None:
        raise fault("must be an id or a name from the vehicle model lookup, of the vehicle_make")
    return model.name


def _list_makes(_: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    return [(make.id, make.name) for make in reference.list_vehicle_makes(None)]


def _list_models(values: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    make = reference.find_make_by_id_or_name(values.get("vehicle_make") or "")
    return [(model.id, model.name) for model in reference.list_vehicle_models(make.id, None)] if make else []


def get_make_name(make_id: str) -> str:
    """Return the name of a make id; an unknown id is returned as it is."""
    make = reference.find_make_by_id(make_id)
    return make.name if make else make_id


def get_model_name(model_id: str) -> str:
    """Return the name of a model id; an unknown id is returned as it is."""
    model = reference.find_model_by_id(model_id)
    return model.name if model else model_id


_MAKES, _MODELS = fields.Choice(_list_makes), fields.Choice(_list_models, after=("vehicle_make",))
_MAKE = fields.Insured(_VEHICLE, "Vehicle", place=2, describe=get_make_name)
_MODEL = fields.Insured(_VEHICLE, "Vehicle", place=2, describe=get_model_name)
MakeId = Annotated[fields.Text, AfterValidator(_check_make_id), _MAKES, _MAKE]
ModelId = Annotated[fields.Text, AfterValidator(_check_model_id), _MODELS, _MODEL]
Make = Annotated[fields.Text, AfterValidator(_check_make), _MAKES, _MAKE]
Model = Annotated[fields.Text, AfterValidator(_check_model), _MODELS, _MODEL]

TOYOTA = reference.find_make_by_id_or_name("Toyota")
CAMRY = TOYOTA and reference.find_model_by_id_or_name("Camry", TOYOTA)


class ListedVehicle(Request):
    """A vehicle by the ids of the make and model lookups; the model must be one of the make."""

    vehicle_make: MakeId = Field(examples=[TOYOTA and TOYOTA.id], description="Id from the make lookup.")
    vehicle_model: ModelId = Field(examples=[CAMRY and CAMRY.id], description="Id from the model lookup.")
