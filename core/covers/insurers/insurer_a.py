"""insurer-a: auto cover."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import Field

from core import clock
from core.covers import fields, pricing, request_parts, vehicles
from core.covers.cover import IN_FORCE, PENDING, Cover, Price, Rates, ResponseShape, Term
from core.covers.pricing import compute_annual, flat_price


class AutoRequest(vehicles.ListedVehicle):
    """A vehicle and its owner."""

    address: fields.Address = Field(examples=["4 Allen Avenue, Ikeja"])
    vehicle_color: vehicles.Colour = Field(examples=["Black"])
    registration_number: vehicles.RegistrationNumber = Field(examples=["LSD-123AB"])
    engine_number: vehicles.EngineNumber = Field(examples=["2AZ7654321"])
    chassis_number: vehicles.ChassisNumber = Field(examples=["JTDBT923771234567"])
    year_of_manufacture: vehicles.Year = Field(examples=["2019"])
    engine_capacity: vehicles.EngineCapacity = Field(examples=["2.4"])
    first_name: fields.Name = Field(examples=["Amaka"])
    last_name: fields.Name = Field(examples=["Eze"])
    email: fields.Email = Field(examples=["amaka.eze@example.com"])
    phone_number: fields.Phone = Field(examples=["08061234567"])


class ThirdPartyRequest(AutoRequest):
    """Third-party cover of one vehicle."""

    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000010201"])


class ComprehensiveRequest(AutoRequest):
    """Comprehensive cover of one vehicle, paid at once or by instalments."""

    registration_number: vehicles.RegistrationNumber = Field(examples=["KJA-482CD"])
    vehicle_cost: vehicles.Value = Field(examples=[4000000], description="Purchase price of the vehicle.")
    premium_frequency: Annotated[str, pricing.FREQUENCY] = Field(examples=["monthly"])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000010101"])


def third_party_premium(_: ThirdPartyRequest, rates: Rates) -> Price:
    """Return the flat price of the product's vehicle class."""
    return flat_price(rates.price, "Annual premium")


def comprehensive_premium(request: ComprehensiveRequest, rates: Rates) -> Price:
    """Return one instalment of the annual percentage of the vehicle's cost."""
    return pricing.compute_instalment(compute_annual(request.vehicle_cost, rates), request.premium_frequency, rates)


def comprehensive_term(_: ComprehensiveRequest, __: Rates) -> Term:
    """Return a term that starts today; the insurer sets its end on acceptance (contract S8)."""
    return Term(clock.today(), clock.today(), None)


def paid_term(submitted: Mapping[str, Any], _: Rates, start_on: date) -> Term:
    """Return the term that one instalment of the chosen frequency pays for."""
    return pricing.build_instalment_term(submitted["premium_frequency"], start_on)


def third_party_payload(request: ThirdPartyRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer."""
    return {**build_auto_fields(request), "policy_type": "THIRD PARTY", "premium": f"{price.total:.2f}"}


def comprehensive_payload(request: ComprehensiveRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer."""
    return {
        **build_auto_fields(request),
        "policy_type": "COMPREHENSIVE",
        "vehicle_value": f"{request.vehicle_cost:.2f}",
        "payment_frequency": request.premium_frequency.upper(),
        "premium": f"{price.total:.2f}",
    }


def build_auto_fields(request: AutoRequest) -> dict[str, Any]:
    """Return the owner and vehicle fields under the insurer's field names."""
    return {
        "insured_name": f"{request.first_name} {request.last_name}",
        "insured_email": request.email,
        "insured_phone": request.phone_number,
        "insured_address": request.address,
        "reg_no": request.registration_number,
        "make": vehicles.get_make_name(request.vehicle_make),
        "model": vehicles.get_model_name(request.vehicle_model),
        "colour": request.vehicle_color,
        "year_of_make": request.year_of_manufacture,
        "engine_no": request.engine_number,
        "engine_capacity": request.engine_capacity,
        "chassis_no": request.chassis_number,
    }


def registration_key(request: AutoRequest) -> str:
    """Return the normalised registration number: the risk key, and the key for finding the policy."""
    return request_parts.normalise_registration(request.registration_number)


THIRD_PARTY = Cover(
    prefix="insurer-a",
    route="buy-thirdparty",
    insurer="insurer-a",
    title="Third-party auto",
    request=ThirdPartyRequest,
    premium=third_party_premium,
    term=request_parts.build_term_from_today,
    initial_state=IN_FORCE,
    response_shape=ResponseShape.UNDER_POLICY,
    payload=third_party_payload,
    risk_key=registration_key,
    registration=registration_key,
)
COMPREHENSIVE = Cover(
    prefix="insurer-a",
    route="buy-comprehensive",
    insurer="insurer-a",
    title="Comprehensive auto",
    request=ComprehensiveRequest,
    premium=comprehensive_premium,
    term=comprehensive_term,
    next_term=paid_term,
    initial_state=PENDING,
    response_shape=ResponseShape.UNDER_POLICY,
    payload=comprehensive_payload,
    risk_key=registration_key,
    registration=registration_key,
    rated_on="vehicle_cost",
)
COVERS = (COMPREHENSIVE, THIRD_PARTY)
