"""insurer-f: personal accident in three FlexiGuard plans."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from core.covers import fields, request_parts
from core.covers.cover import IN_FORCE, Cover, Price, Rates, ResponseShape
from core.covers.pricing import get_plan_price
from core.covers.request import Request

Plan = Annotated[
    str,
    fields.one_of("FlexiGuard-Silver", "FlexiGuard-Gold", "FlexiGuard-Platinum"),
    fields.Insured("Cover", "Plan"),
]


class FlexiGuardRequest(Request):
    """A personal accident policy on one of the FlexiGuard plans."""

    plan: Plan = Field(examples=["FlexiGuard-Silver"])
    address: fields.Address = Field(examples=["12 Marina Road, Lagos Island"])
    first_name: fields.Name = Field(examples=["Tunde"])
    last_name: fields.Name = Field(examples=["Balogun"])
    email: fields.Email = Field(examples=["tunde.balogun@example.com"])
    phone_number: fields.Phone = Field(examples=["08051234567"])
    date_of_birth: fields.BirthDate = Field(examples=["1988-09-30"])
    gender: request_parts.Gender = Field(examples=["Male"])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000060101"])
    state: request_parts.State = Field(examples=["Lagos"])
    identification_name: request_parts.Identification = Field(examples=["NIN"])
    identification_url: fields.Picture = Field(examples=["https://files.example.com/id/balogun.jpg"])


def premium(request: FlexiGuardRequest, rates: Rates) -> Price:
    """Return the flat price of the plan."""
    return get_plan_price(request.plan, rates)


def payload(request: FlexiGuardRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer."""
    return {
        "planName": request.plan,
        "firstName": request.first_name,
        "lastName": request.last_name,
        "emailAddress": request.email,
        "mobileNumber": request.phone_number,
        "dateOfBirth": request.date_of_birth.isoformat(),
        "gender": request.gender,
        "homeAddress": request.address,
        "stateOfResidence": request.state,
        "meansOfIdentification": request.identification_name,
        "identificationImage": request.identification_url,
        "premium": f"{price.total:.2f}",
    }


PERSONAL_ACCIDENT = Cover(
    prefix="insurer-f",
    route="buy-personal-accident",
    insurer="insurer-f",
    title="Personal accident",
    request=FlexiGuardRequest,
    premium=premium,
    term=request_parts.build_term_from_today,
    initial_state=IN_FORCE,
    life_insured="date_of_birth",
    response_shape=ResponseShape.DIRECT,
    payload=payload,
)
COVERS = (PERSONAL_ACCIDENT,)
