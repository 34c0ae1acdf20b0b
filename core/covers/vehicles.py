"""Vehicle fields shared by insurers: make and model by id, or by id or name (contract S14)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo

from core import reference
from core.covers import fields
from core.covers.faults import fault
from core.covers.request import Request

Colour = Annotated[str, fields.Pick(reference.colours, "colour list", reference.colour)]
BodyType = Annotated[str, fields.Pick(reference.body_types, "vehicle body types lookup")]
Usage = Annotated[str, fields.one_of("Private", "Commercial")]


def _make_id(value: str) -> str:
    make = reference.make_by_id(value)
    if make is None:
        raise fault("must be an id from the vehicle make lookup")
    return make.id


def _model_id(value: str, info: ValidationInfo) -> str:
    model = reference.model_by_id(value)
    if model is None:
        raise fault("must be an id from the vehicle model lookup")
    make = reference.make_by_id(info.data.get("vehicle_make") or "")
    if make is not None and model.make != make.name:
        raise fault("must be a model of the vehicle_make")
    return model.id


def _make_name(value: str) -> str:
    make = reference.make_by_id_or_name(value)
    if make is None:
        raise fault("must be an id or a name from the vehicle make lookup")
    return make.name


def _model_name(value: str, info: ValidationInfo) -> str:
    make = reference.make_by_id_or_name(info.data.get("vehicle_make") or "")
    makes = [make] if make else reference.vehicle_makes(None)
    found = (reference.model_by_id_or_name(value, candidate) for candidate in makes)
    model = next((known for known in found if known), None)
    if model is None:
        raise fault("must be an id or a name from the vehicle model lookup, of the vehicle_make")
    return model.name


def _makes(_: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    return [(make.id, make.name) for make in reference.vehicle_makes(None)]


def _models(given: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    make = reference.make_by_id_or_name(given.get("vehicle_make") or "")
    return [(model.id, model.name) for model in reference.vehicle_models(make.id, None)] if make else []


_MAKES, _MODELS = fields.Choice(_makes), fields.Choice(_models, after=("vehicle_make",))
MakeId = Annotated[fields.Text, AfterValidator(_make_id), _MAKES]
ModelId = Annotated[fields.Text, AfterValidator(_model_id), _MODELS]
Make = Annotated[fields.Text, AfterValidator(_make_name), _MAKES]
Model = Annotated[fields.Text, AfterValidator(_model_name), _MODELS]

TOYOTA = reference.make_by_id_or_name("Toyota")
CAMRY = TOYOTA and reference.model_by_id_or_name("Camry", TOYOTA)


class ListedVehicle(Request):
    """A vehicle by the ids of the make and model lookups; the model must be one of the make."""

    vehicle_make: MakeId = Field(examples=[TOYOTA and TOYOTA.id], description="Id from the make lookup.")
    vehicle_model: ModelId = Field(examples=[CAMRY and CAMRY.id], description="Id from the model lookup.")


def make_name(make_id: str) -> str:
    """Return the name of a make id; an unknown id is returned as it is."""
    make = reference.make_by_id(make_id)
    return make.name if make else make_id


def model_name(model_id: str) -> str:
    """Return the name of a model id; an unknown id is returned as it is."""
    model = reference.model_by_id(model_id)
    return model.name if model else model_id
