"""insurer-b: third-party and comprehensive auto."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import Field

from core.covers import fields, request_parts, vehicles
from core.covers.cover import IN_FORCE, PENDING, Cover, Price, Rates, ResponseShape, Term
from core.covers.pricing import compute_annual, flat_price


class AutoRequest(request_parts.IdentityDocument, request_parts.BuyerWithPhone):
    """A vehicle and its owner; what the specification does not list as required is optional (contract S16)."""

    date_of_birth: fields.BirthDate = Field(examples=["1985-03-14"])
    address: fields.Address = Field(examples=["15 Aba Road, Port Harcourt"])
    state: request_parts.State = Field(examples=["Rivers"])
    bvn: fields.Bvn = Field(examples=["22212345678"])
    title_id: request_parts.Title = Field(examples=["mrs"], description="A title of the titles lookup, or its slug.")
    title: Annotated[request_parts.Title | None, fields.SameAs("title_id")] = Field(default=None, examples=["Mrs"])
    registration_number: fields.RegistrationNumber = Field(examples=["PHC-614EF"])
    vehicle_category: vehicles.Usage = Field(examples=["Private"])
    vehicle_make: vehicles.Make | None = Field(default=None, examples=["Toyota"])
    vehicle_model: vehicles.Model | None = Field(default=None, examples=["Camry"])
    year_of_manufacture: fields.Year = Field(examples=["2018"])
    engine_number: fields.Text | None = Field(default=None, examples=["2AR1234567"])
    chassis_number: fields.Text | None = Field(default=None, examples=["4T1BF1FK5CU512345"])
    vehicle_color: vehicles.Colour | None = Field(default=None, examples=["Silver"])
    vehicle_cost: fields.PositiveNaira = Field(examples=[6500000])


class ThirdPartyAutoRequest(AutoRequest):
    """Third-party cover of one vehicle."""

    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000020401"])


class ComprehensiveAutoRequest(AutoRequest):
    """Comprehensive cover of one vehicle."""

    # The specification's field list has a misprint for the date of birth (contract S16).
    aliases: ClassVar[Mapping[str, str]] = {"date_of_number": "date_of_birth"}
    registration_number: fields.RegistrationNumber = Field(examples=["ABJ-905GH"])
    vehicle_cost: fields.PositiveNaira = Field(examples=[6500000])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000020501"])


def third_party_premium(request: ThirdPartyAutoRequest, rates: Rates) -> Price:
    """Return the flat price of the vehicle category."""
    prices: Mapping[str, str] = rates.meta.get("category_prices", {})
    price = Decimal(prices.get(request.vehicle_category, rates.price))
    return flat_price(price, f"Annual premium, {request.vehicle_category.lower()} vehicle")


def comprehensive_premium(request: ComprehensiveAutoRequest, rates: Rates) -> Price:
    """Return a percentage of the vehicle's cost."""
    return compute_annual(request.vehicle_cost, rates).build_price()


def comprehensive_term(_: ComprehensiveAutoRequest, __: Rates) -> Term:
    """Return an open term: no date is set before the insurer accepts the vehicle (contract S8)."""
    return Term.undated()


def build_common_payload(request: AutoRequest, price: Price) -> dict[str, Any]:
    """Return the payload fields common to both covers; missing values are left out."""
    values = {
        "TitleId": request.title_id,
        "Title": request.title,
        "FirstName": request.first_name,
        "LastName": request.last_name,
        "Email": request.email,
        "PhoneNo": request.phone_number,
        "DateOfBirth": request.date_of_birth.isoformat(),
        "Address": request.address,
        "State": request.state,
        "BVN": request.bvn,
        "IdentityType": request.identification_name,
        "IdentityImageUrl": request.identification_url,
        "VehicleRegNo": request.registration_number,
        "VehicleCategory": request.vehicle_category,
        "VehicleMake": request.vehicle_make,
        "VehicleModel": request.vehicle_model,
        "VehicleYear": request.year_of_manufacture,
        "VehicleColor": request.vehicle_color,
        "EngineNo": request.engine_number,
        "ChassisNo": request.chassis_number,
        "VehicleCost": f"{request.vehicle_cost:.2f}",
        "Premium": f"{price.total:.2f}",
    }
    return {name: value for name, value in values.items() if value is not None}


def third_party_payload(request: ThirdPartyAutoRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer for third-party cover."""
    return {"CoverType": "ThirdParty", **build_common_payload(request, price)}


def comprehensive_payload(request: ComprehensiveAutoRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer for comprehensive cover."""
    return {"CoverType": "Comprehensive", **build_common_payload(request, price)}


def registration_key(request: AutoRequest) -> str:
    """Return the normalised registration number: the risk key, and the key for finding the policy."""
    return request_parts.normalise_registration(request.registration_number)


THIRD_PARTY = Cover(
    prefix="insurer-b",
    route="buy-third-party-auto",
    insurer="insurer-b",
    title="Third-party auto",
    request=ThirdPartyAutoRequest,
    premium=third_party_premium,
    term=request_parts.build_term_from_today,
    initial_state=IN_FORCE,
    response_shape=ResponseShape.DIRECT,
    payload=third_party_payload,
    risk_key=registration_key,
    registration=registration_key,
)
COMPREHENSIVE = Cover(
    prefix="insurer-b",
    route="buy-comprehensive-auto",
    insurer="insurer-b",
    title="Comprehensive auto",
    request=ComprehensiveAutoRequest,
    premium=comprehensive_premium,
    term=comprehensive_term,
    initial_state=PENDING,
    response_shape=ResponseShape.DIRECT,
    payload=comprehensive_payload,
    risk_key=registration_key,
    registration=registration_key,
    rated_on="vehicle_cost",
)
COVERS = (THIRD_PARTY, COMPREHENSIVE)
