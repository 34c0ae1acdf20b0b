"""insurer-a: auto cover."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from core.covers import fields, parts
from core.covers.cover import IN_FORCE, Answer, Cover, Price, Rates, flat


class ThirdPartyRequest(parts.ListedVehicle):
    """Third-party cover of one vehicle."""

    address: fields.Address = Field(examples=["4 Allen Avenue, Ikeja"])
    vehicle_color: parts.Colour = Field(examples=["Black"])
    registration_number: fields.Plate = Field(examples=["LSD-123AB"])
    engine_number: fields.Text = Field(examples=["2AZ7654321"])
    chassis_number: fields.Text = Field(examples=["JTDBT923771234567"])
    year_of_manufacture: fields.Year = Field(examples=["2019"])
    engine_capacity: fields.Text = Field(examples=["2.4"])
    first_name: fields.Name = Field(examples=["Amaka"])
    last_name: fields.Name = Field(examples=["Eze"])
    email: fields.Email = Field(examples=["amaka.eze@example.com"])
    phone_number: fields.Phone = Field(examples=["08061234567"])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000010201"])


def third_party_premium(_: ThirdPartyRequest, rates: Rates) -> Price:
    """The tariff price of the product's class of vehicle."""
    return flat(rates.price, "Annual premium")


def third_party_payload(request: ThirdPartyRequest, price: Price) -> Mapping[str, Any]:
    """What the insurer is sent."""
    return {
        "insured_name": f"{request.first_name} {request.last_name}",
        "insured_email": request.email,
        "insured_phone": request.phone_number,
        "insured_address": request.address,
        **vehicle_words(request),
        "policy_type": "THIRD PARTY",
        "premium": f"{price.total:.2f}",
    }


def vehicle_words(request: ThirdPartyRequest) -> dict[str, Any]:
    """The vehicle in this insurer's own words."""
    return {
        "reg_no": request.registration_number,
        "make": parts.make_name(request.vehicle_make),
        "model": parts.model_name(request.vehicle_model),
        "colour": request.vehicle_color,
        "year_of_make": request.year_of_manufacture,
        "engine_no": request.engine_number,
        "engine_capacity": request.engine_capacity,
        "chassis_no": request.chassis_number,
    }


def plate(request: ThirdPartyRequest) -> str:
    """The plate as it is compared: it is the risk and the key to find the policy by."""
    return parts.plate_key(request.registration_number)


THIRD_PARTY = Cover(
    prefix="insurer-a",
    route="buy-thirdparty",
    insurer="insurer-a",
    title="Third-party auto",
    request=ThirdPartyRequest,
    premium=third_party_premium,
    term=parts.year_from_today,
    birth=IN_FORCE,
    answer=Answer.UNDER_POLICY,
    payload=third_party_payload,
    risk=plate,
    plate=plate,
)
COVERS = (THIRD_PARTY,)
