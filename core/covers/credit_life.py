"""Credit life: repays a loan when its borrower cannot; priced by the chosen benefits (contract S5)."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationInfo

from core import money
from core.covers import fields, request_parts
from core.covers.cover import IN_FORCE, Cover, Price, Rates, ResponseShape, Step, Term
from core.covers.fields import fault
from core.covers.request import Request, is_sold
from core.errors import InvalidInput

BENEFITS = ("death", "permanent_disability", "temporary_disability", "loss_of_job")
BASES = ("single", "monthly", "reducing")
LOAN = "Loan"
Benefit = Annotated[str, fields.one_of(*BENEFITS)]


def _describe_benefits(benefits: Sequence[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in benefits).capitalize()


Benefits = Annotated[
    list[Benefit],
    Field(min_length=1, max_length=20),
    fields.Insured("Cover", "Benefits", place=1, describe=_describe_benefits),
]
LoanAmount = Annotated[fields.PositiveNaira, fields.Insured(LOAN, "Loan amount")]
Tenure = Annotated[
    int,
    Field(ge=3, le=120),
    fields.WHOLE_NUMBER,
    fields.Insured(LOAN, "Loan tenure", describe="{} months".format),
]


def _check_loan_not_over(value: date, info: ValidationInfo) -> date:
    tenure = info.data.get("loan_tenure")
    if tenure is not None and not is_sold(info) and request_parts.is_over(Term.from_months(value, tenure)):
        raise fault(request_parts.ALREADY_OVER)
    return value


# A spreadsheet writes other dashes than a keyboard.
_DASHES: Final = re.compile("[\u2010-\u2015\u2212]")


def _normalise_account(value: str) -> str:
    """The number of a loan as it is compared: in upper case, without blanks, with one kind of dash (contract S12).

    Letters that only look like those of Latin would make another loan of it.
    """
    plain = _DASHES.sub("-", unicodedata.normalize("NFKC", value))
    bare = "".join(plain.split()).upper()
    if not bare.isascii() or not bare.isprintable():
        raise fault("must be written in Latin letters, digits and signs")
    if not any(character.isalnum() for character in bare):
        raise fault("must have a letter or a digit")
    return bare


LoanAccountNumber = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_normalise_account)]


class CreditLifePriceRequest(Request):
    """Request for a credit life price; without benefits, all benefits of the product are priced."""

    loan_amount: LoanAmount = Field(examples=[100000])
    loan_tenure: Tenure = Field(examples=[12], description="Months.")
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000080101"])
    benefit_coverage: Benefits | None = Field(default=None, examples=[["death", "loss_of_job"]])


class CreditLifeRequest(Request):
    """A credit life policy for one loan."""

    benefit_coverage: Benefits = Field(examples=[list(BENEFITS)])
    first_name: fields.Name = Field(examples=["Ngozi"])
    last_name: fields.Name = Field(examples=["Okafor"])
    email: fields.Email = Field(examples=["ngozi.okafor@example.com"])
    phone_number: fields.Phone = Field(examples=["08031234567"])
    date_of_birth: fields.BirthDate = Field(examples=["1990-04-12"])
    loan_amount: LoanAmount = Field(examples=[100000])
    gender: request_parts.Gender = Field(examples=["Female"])
    loan_tenure: Tenure = Field(examples=[12], description="Months.")
    id_image_url: fields.Picture = Field(examples=["https://files.example.com/id/okafor.jpg"])
    loan_start_date: Annotated[
        fields.Day,
        AfterValidator(_check_loan_not_over),
        fields.ExampleInDays(0),
        fields.Insured(LOAN, "Loan start"),
    ] = Field(description="The day the loan is paid out.")
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000080101"])
    loan_account_number: Annotated[LoanAccountNumber | None, fields.InsuredOnce(), fields.Insured(LOAN)] = Field(
        default=None,
        examples=["LN-2026-004711"],
        description="The lender's number of the loan: the same loan is insured once at a time.",
    )


def premium(request: CreditLifeRequest, rates: Rates) -> Price:
    """Return the premium of the chosen benefits."""
    return compute_price(request.loan_amount, request.loan_tenure, request.benefit_coverage, rates)


def compute_price(amount: Decimal, tenure: int, benefits: list[str] | None, rates: Rates) -> Price:
    """Return loan amount x sum of benefit shares, on the product's basis, rounded half up once at the end.

    `amount` in naira, `tenure` in months; None for `benefits` means all that the product offers. InvalidInput names a
    benefit that the product does not offer.
    """
    shares = {name: Decimal(share) for name, share in rates.meta["shares"].items()}
    benefit_names = [name for name in BENEFITS if name in (benefits or shares)]
    missing = [name for name in benefit_names if name not in shares]
    if missing:
        raise InvalidInput.for_field("benefit_coverage", f"must be offered by the product: {', '.join(shares)}")
    percent, of = sum((shares[name] for name in benefit_names), Decimal(0)), f"{amount:,.2f}"
    steps = [
        Step(name.replace("_", " ").capitalize(), f"{shares[name]} % of {of}", amount * shares[name] / 100)
        for name in benefit_names
    ]
    basis = rates.meta.get("basis", "single")
    factor, working = _get_basis_factor(basis, tenure)
    monthly = amount * percent / 100
    unrounded = monthly * factor
    if factor != 1:
        # Both add up to the premium, before the eyes of those who are quoted it.
        halved = " / 2, as the loan is repaid" if basis == "reducing" else ""
        after = f"{percent} % of {of} x {tenure - 1}{halved}"
        steps.append(Step("For the first month", f"{percent} % of {of}", monthly))
        steps.append(Step(f"For the {tenure - 1} months after it", after, unrounded - monthly))
    total = money.round_half_up(unrounded)
    steps.append(Step("Premium", f"{of} x {percent} %{working}", total))
    return _apply_minimum(total, rates, steps, amount)


def with_basis(rates: Rates, basis: str) -> Rates:
    """Return the same rates on another basis, for comparison."""
    return replace(rates, meta={**rates.meta, "basis": basis})


def _get_basis_factor(basis: str, tenure: int) -> tuple[Decimal, str]:
    if basis == "monthly":
        return Decimal(tenure), f" x {tenure} months"
    if basis == "reducing":
        return Decimal(tenure + 1) / 2, f" x ({tenure} + 1) / 2"
    return Decimal(1), ", once"


def _apply_minimum(total: Decimal, rates: Rates, steps: list[Step], amount: Decimal) -> Price:
    step, minimum = Decimal(rates.meta.get("rounding_step", 0)), Decimal(rates.meta.get("minimum_premium", 0))
    if step and total % step:
        total = (total / step).to_integral_value(ROUND_CEILING) * step
        steps.append(Step("Rounded", f"up to the next {step:,.2f}", total))
    if total < minimum:
        total = minimum
        steps.append(Step("Minimum premium", "the product's minimum", total))
    return Price(total=money.round_half_up(total), steps=steps, sum_insured=amount)


def term(request: CreditLifeRequest, _: Rates) -> Term:
    """Return the months of the loan from its first day."""
    return Term.from_months(request.loan_start_date, request.loan_tenure)


def payload(request: CreditLifeRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer."""
    account = {"loan_account_number": request.loan_account_number} if request.loan_account_number else {}
    return {
        "borrower_first_name": request.first_name,
        "borrower_last_name": request.last_name,
        "borrower_email": request.email,
        "borrower_phone": request.phone_number,
        "borrower_dob": request.date_of_birth.isoformat(),
        "borrower_gender": request.gender,
        "loan_amount": f"{request.loan_amount:.2f}",
        "loan_tenure": request.loan_tenure,
        "loan_start_date": request.loan_start_date.isoformat(),
        "benefits": [name for name in BENEFITS if name in request.benefit_coverage],
        "id_image_url": request.id_image_url,
        "premium": f"{price.total:.2f}",
        **account,
    }


CREDIT_LIFE = Cover(
    prefix="",
    route="buy-credit-life",
    insurer="",
    title="Credit life",
    request=CreditLifeRequest,
    premium=premium,
    term=term,
    initial_state=IN_FORCE,
    life_insured="date_of_birth",
    starts_by="loan_start_date",
    response_shape=ResponseShape.DIRECT,
    payload=payload,
    risk_key=lambda request: request.loan_account_number,
    duplicate_key=lambda request: f"{request.loan_amount} {request.loan_start_date}",
    rated_on="loan_amount",
)
COVERS = (CREDIT_LIFE,)
