"""Query parameters and response models of the lookups (contract L1, L2)."""

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, Field, RootModel

from core import reference
from core.api.http.openapi import Shape
from core.api.http.queries import Id, QueryString
from core.covers import fields
from core.services import shapes

Feature = Annotated[str, fields.one_of(*reference.FEATURE_LISTS)]
# Every insurer gets the common list, so one word stands for all of them (contract L2).
AnyProvider = Annotated[fields.Text, AfterValidator(lambda _: "any")]
SOME_MAKE: Final = reference.list_vehicle_makes(None)[0]


class NoQuery(QueryString):
    """A list that cannot be narrowed."""


class FeatureQuery(QueryString):
    """One of the seven lists by its name."""

    feature: Feature | None = Field(default=None, examples=["genders"])


class MakeQuery(QueryString):
    """A year of manufacture, and the insurer that the vehicle is for."""

    year: fields.Year = Field(examples=["2019"])
    provider: AnyProvider = Field(examples=["insurer-a"])


class ModelQuery(MakeQuery):
    """The same within one make."""

    make_id: Id = Field(examples=[SOME_MAKE.id], description="Id from the make lookup.")


class Names(RootModel[Annotated[list[str], Field(min_length=1)]]):
    """Strings."""


class FeatureLists(Shape):
    """Each list under the name that insurer-b gives it; one alone when `feature` is given."""

    colorList: list[str] | None = None  # noqa: N815 - the names of the specification
    bodyTypes: list[str] | None = None  # noqa: N815
    manufactureYear: list[str] | None = None  # noqa: N815
    titles: list[str] | None = None
    lgas: list[str] | None = None
    genders: list[str] | None = None
    countries: list[str] | None = None


class CountryWithStates(BaseModel):
    """A country with its subdivisions, or its capital."""

    name: str
    states: list[str]


class StateWithLgas(BaseModel):
    """A Nigerian state with its local government areas."""

    name: str
    lgas: list[str]


class VehicleMake(BaseModel):
    """Who makes a vehicle."""

    id: shapes.Id
    name: str


class VehicleModel(VehicleMake):
    """A model; `make` is the name of its make."""

    make: str


class CountriesWithStates(RootModel[Annotated[list[CountryWithStates], Field(min_length=1)]]):
    """Countries with their subdivisions."""


class StatesWithLgas(RootModel[Annotated[list[StateWithLgas], Field(min_length=1)]]):
    """States with their local government areas."""


class VehicleMakes(RootModel[Annotated[list[VehicleMake], Field(min_length=1)]]):
    """Makes."""


class VehicleModels(RootModel[Annotated[list[VehicleModel], Field(min_length=1)]]):
    """Models of one make."""
