"""insurer-g: personal accident by the year or by the month."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import Field

from core import clock
from core.covers import fields, request_parts
from core.covers.cover import IN_FORCE, Cover, Price, Rates, ResponseShape, Term
from core.covers.pricing import get_plan_price

Plan = Annotated[str, fields.one_of("Silver", "Basic", "Monthly"), fields.Insured("Cover", "Plan")]


class PersonalAccidentRequest(request_parts.Buyer):
    """A personal accident policy on one of three plans."""

    plan: Plan = Field(examples=["Silver"])
    city: fields.Text = Field(examples=["Ibadan"])
    phone: fields.Phone = Field(examples=["08061234567"])
    dob: fields.BirthDate = Field(examples=["1985-03-14"])
    gender: request_parts.Gender = Field(examples=["Female"])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000070101"])
    state: request_parts.State | None = Field(default=None, examples=["Oyo"])


def premium(request: PersonalAccidentRequest, rates: Rates) -> Price:
    """Return the flat price of the plan."""
    return get_plan_price(request.plan, rates)


def term(request: PersonalAccidentRequest, rates: Rates) -> Term:
    """Return the term that the plan buys from today."""
    return paid_term({"plan": request.plan}, rates, clock.today())


def paid_term(submitted: Mapping[str, Any], rates: Rates, start_on: date) -> Term:
    """Return the months of the plan, or the product's cover period if the plan sets none."""
    months: Mapping[str, int] = rates.meta.get("plan_months", {})
    return Term.from_months(start_on, months.get(submitted.get("plan", ""), rates.cover_months))


def payload(request: PersonalAccidentRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer, without the state if there is none."""
    values = {
        "productPlan": request.plan,
        "insuredFirstName": request.first_name,
        "insuredSurname": request.last_name,
        "insuredEmail": request.email,
        "insuredMobile": request.phone,
        "insuredDob": request.dob.isoformat(),
        "insuredSex": request.gender,
        "insuredCity": request.city,
        "insuredState": request.state,
        "planPremium": f"{price.total:.2f}",
    }
    return {name: value for name, value in values.items() if value is not None}


PERSONAL_ACCIDENT = Cover(
    prefix="insurer-g",
    route="buy-personal-accident",
    insurer="insurer-g",
    title="Personal accident",
    request=PersonalAccidentRequest,
    premium=premium,
    term=term,
    next_term=paid_term,
    initial_state=IN_FORCE,
    life_insured="dob",
    response_shape=ResponseShape.DIRECT,
    payload=payload,
)
COVERS = (PERSONAL_ACCIDENT,)
