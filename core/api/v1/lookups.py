"""The lookups, thirteen lists declared in one table and encoded once (contract L1-L3), and the products for sale."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Response
from pydantic import AfterValidator, BaseModel, Field, RootModel

from core import clock, ids, reference
from core.api.http import envelope, openapi
from core.api.http.auth import Signed
from core.api.http.envelope import list_response, page_response, success
from core.api.http.openapi import Shape
from core.api.http.queries import CatalogueQuery, Id, QueryString
from core.api.http.reads import ReadRoute
from core.covers import fields
from core.errors import NotFound
from core.services.catalogue import products
from core.services.catalogue.products import ProductFilter
from core.services.lists import records
from core.services.lists.records import CountedCategoryRecord, ProductRecord
from core.store.access import read_in, reading_autocommit

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
    provider: AnyProvider = Field(examples=["insurer-a"], description="Any word: every insurer has the same list.")


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
    """A vehicle manufacturer."""

    id: records.Id
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


router = APIRouter(route_class=ReadRoute, tags=["Lookups"])


@dataclass(frozen=True)
class Lookup:
    """One lookup: path, name, description, and the function that makes the list."""

    path: str
    text: str | Callable[[Any], str]
    about: str
    find: Callable[[Any], Any]
    query: type[QueryString] = NoQuery
    shape: type[BaseModel] = Names

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    def text_of(self, query: object) -> str:
        """Return the response text of a lookup."""
        return self.text if isinstance(self.text, str) else self.text(query)


_TEXTS: Final = {
    "color-list": "Colours",
    "body-types": "Vehicle body types",
    "manufacture-year": "Manufacture years",
    "titles": "Titles",
    "lgas": "Local government areas",
    "genders": "Genders",
    "countries": "Countries",
}


def _feature(name: str) -> tuple[str, ...]:
    return reference.FEATURE_LISTS[name][1](clock.today().year)


def _feature_lists(query: FeatureQuery) -> dict[str, tuple[str, ...]]:
    names = [query.feature] if query.feature else list(reference.FEATURE_LISTS)
    return {reference.FEATURE_LISTS[name][0]: _feature(name) for name in names}


def _makes(query: MakeQuery) -> tuple[reference.Make, ...]:
    # A lookup is never empty: a year before the first model gets every make (contract L1).
    return reference.list_vehicle_makes(int(query.year)) or reference.list_vehicle_makes(None)


def _models(query: ModelQuery) -> tuple[reference.Model, ...]:
    make_id = str(query.make_id)
    if reference.find_make_by_id(make_id) is None:
        raise NotFound("Vehicle make not found")
    return reference.list_vehicle_models(make_id, int(query.year)) or reference.list_vehicle_models(make_id, None)


def _of_feature(path: str, name: str, about: str) -> Lookup:
    return Lookup(path, _TEXTS[name], about, lambda _: _feature(name))


LOOKUPS: Final = (
    Lookup(
        "/products/insurer-b/get-feature-list",
        "Ok",
        "The lists that insurer-b's fields are checked against, or one of them.",
        _feature_lists,
        FeatureQuery,
        FeatureLists,
    ),
    Lookup(
        "/countries",
        lambda query: _TEXTS[query.feature or "countries"],
        "Countries and territories, or the list that `feature` names.",
        lambda query: _feature(query.feature or "countries"),
        FeatureQuery,
    ),
    Lookup(
        "/countries-with-states",
        "Countries with states",
        "Countries with their subdivisions, or their capital where they have none.",
        lambda _: reference.countries_with_states(),
        shape=CountriesWithStates,
    ),
    Lookup(
        "/states-with-lga",
        "States with local government areas",
        "Nigeria's states and the FCT with their local government areas.",
        lambda _: reference.states(),
        shape=StatesWithLgas,
    ),
    _of_feature("/lgas", "lgas", "Local government areas as fields take them, each with its state."),
    _of_feature("/color-list", "color-list", "Colours of vehicles."),
    _of_feature("/vehicle-body-types", "body-types", "Body types of vehicles."),
    _of_feature("/manufacture-year", "manufacture-year", "Years of manufacture, newest first."),
    _of_feature("/genders", "genders", "Genders."),
    Lookup(
        "/identification-types",
        "Identification types",
        "Papers by which a person is identified.",
        lambda _: reference.identification_types(),
    ),
    Lookup(
        "/products/insurer-d/owner-titles",
        "Owner titles",
        "Titles as insurer-d writes them.",
        lambda _: reference.owner_titles(),
    ),
    Lookup(
        "/products/get-vehicle-make",
        "Vehicle makes",
        "Makes that built vehicles in a year; every insurer has the same list.",
        _makes,
        MakeQuery,
        VehicleMakes,
    ),
    Lookup(
        "/products/get-vehicle-model",
        "Vehicle models",
        "Models that a make built in a year; all of its models when it built none.",
        _models,
        ModelQuery,
        VehicleModels,
    ),
)


@lru_cache(maxsize=4096)
def _encoded(lookup: Lookup, query: QueryString, _year: int) -> bytes:
    """The encoded response; the year is part of the key because the list of years grows with it."""
    return envelope.encode_success(lookup.find(query), lookup.text_of(query))


def _make_handler(lookup: Lookup) -> Callable[..., Any]:
    """Return the handler of one lookup; its query type is set here, as a loop with annotations would mix them up."""

    async def read(query: object) -> Response:
        return Response(_encoded(lookup, query, clock.today().year), media_type=envelope.JSON)

    read.__annotations__["query"] = Annotated[lookup.query, Query()]
    name = lookup.name.removeprefix("get-").replace("-", "_")
    read.__name__, read.__doc__ = f"get_{name}", lookup.about
    return read


for _lookup in LOOKUPS:
    router.add_api_route(
        _lookup.path,
        _make_handler(_lookup),
        methods=["GET"],
        summary=_lookup.name.replace("-", " ").capitalize(),
        responses=openapi.answers(
            _lookup.shape, _lookup.text_of(_lookup.query.model_construct()), found=_lookup.query is ModelQuery
        ),
    )


# The catalogue: products, one product, categories.

products_router = APIRouter(route_class=ReadRoute, prefix="/products", tags=["Products"])
_PRODUCTS, _CATEGORIES, _PRODUCT = "Products retrieved", "Product categories retrieved", "Product retrieved"
# A text for FastAPI, as the paths of some POST endpoints look like this one; the handler judges it.
ProductKey = Annotated[str, Path(json_schema_extra={"format": "uuid"})]
ProductPage = openapi.build_page("ProductPage", "A page of products.", products=ProductRecord)
OneProduct = openapi.build_one("OneProduct", "One product.", product=ProductRecord)
CategoryList = openapi.build_page("CategoryList", "Every product category.", product_category=CountedCategoryRecord)


@products_router.get("/get-all-products", responses=openapi.answers(ProductPage, _PRODUCTS), summary="List products")
def list_products(caller: Signed, query: Annotated[CatalogueQuery, Query()]) -> Response:
    """Active products that you may sell, by name; 100 at a time unless `limit` says otherwise."""
    wanted = ProductFilter(
        search=query.search,
        provider_id=query.provider_id,
        category_ids=query.category_id,
        product_ids=query.product_ids,
    )
    page = read_in(caller.scope, products.list_products, wanted, query.paging(), is_live=caller.is_live)
    return page_response("products", page, _PRODUCTS)


@products_router.get(
    "/get-product-categories", responses=openapi.answers(CategoryList, _CATEGORIES), summary="List categories"
)
def list_product_categories(caller: Signed) -> Response:
    """Every product category, by name."""
    with reading_autocommit(caller.scope) as session:
        found = products.list_categories(session, is_live=caller.is_live)
    return list_response("product_category", found, len(found), _CATEGORIES)


@products_router.get("/{id}", responses=openapi.answers(OneProduct, _PRODUCT, found=True), summary="One product")
def get_product(caller: Signed, id: ProductKey) -> Response:  # noqa: A002 - the name in the specification
    """One product with its category and insurer."""
    product_id = ids.parse(id)
    with reading_autocommit(caller.scope) as session:
        found = products.get_product(session, product_id, is_live=caller.is_live)
    return success({"product": found}, _PRODUCT)
