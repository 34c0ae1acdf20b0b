"""insurer-e: marine import cargo."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from core.covers import fields, request_parts
from core.covers.cover import IN_FORCE, Cover, Price, Rates, ResponseShape, Step, Term
from core.covers.pricing import Calculation, apply_minimum, compute_percentage

_GOODS = "Goods"


class MarineImportRequest(request_parts.BuyerWithPhone):
    """Cover of one cargo, bought by an officer of the company that imports it."""

    cargo_value: Annotated[fields.PositiveNaira, fields.Insured(_GOODS, "Cargo value")] = Field(examples=[25000000])
    cargo_description: Annotated[fields.LongText | None, fields.Insured(_GOODS, "Cargo", place=-1)] = Field(
        default=None, examples=["Industrial sewing machines, 40 crates"]
    )
    country_of_origin: Annotated[request_parts.Country, fields.Insured(_GOODS, "Voyage")] = Field(examples=["China"])
    destination_country: Annotated[request_parts.Country, fields.Insured(_GOODS, "Voyage", describe="to {}".format)] = (
        Field(examples=["Nigeria"])
    )
    shipping_date: Annotated[fields.Day, fields.ExampleInDays(7), fields.Insured(_GOODS, "Shipping date")] = Field(
        description="A day, or a timestamp."
    )
    bill_of_lading: fields.Document = Field(examples=["https://files.example.com/cargo/bill-of-lading.pdf"])
    certificate_of_origin: fields.Document = Field(examples=["https://files.example.com/cargo/origin.pdf"])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000050101"])


def premium(request: MarineImportRequest, rates: Rates) -> Price:
    """Return a percentage of the sum insured, which exceeds the cargo value to include related costs."""
    share = Decimal(rates.meta.get("sum_insured_percentage", 100))
    insured = request.cargo_value * share / 100
    working = f"{share.normalize():f} % of {request.cargo_value:,.2f}"
    rated = compute_percentage(insured, rates, "Premium")
    steps = (Step("Sum insured", working, insured), *rated.steps)
    return apply_minimum(Calculation(rated.amount, steps, insured), rates).build_price()


def term(request: MarineImportRequest, rates: Rates) -> Term:
    """Return the cover period from the shipping date; InvalidInput if it is already over."""
    return request_parts.require_not_over("shipping_date", Term.from_months(request.shipping_date, rates.cover_months))


def payload(request: MarineImportRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer; a missing description becomes an empty text."""
    return {
        "contact": {
            "first_name": request.first_name,
            "last_name": request.last_name,
            "email": request.email,
            "phone": request.phone_number,
        },
        "cargo": {
            "description": request.cargo_description or "",
            "invoice_value": f"{request.cargo_value:.2f}",
            "sum_insured": f"{price.sum_insured:.2f}",
        },
        "voyage": {
            "from_country": request.country_of_origin,
            "to_country": request.destination_country,
            "sailing_date": request.shipping_date.isoformat(),
        },
        "documents": {
            "bill_of_lading": request.bill_of_lading,
            "certificate_of_origin": request.certificate_of_origin,
        },
        "premium": f"{price.total:.2f}",
    }


MARINE_IMPORT = Cover(
    prefix="insurer-e",
    route="buy-marine-import-cover",
    insurer="insurer-e",
    title="Import marine cover",
    request=MarineImportRequest,
    premium=premium,
    term=term,
    starts_by="shipping_date",
    initial_state=IN_FORCE,
    response_shape=ResponseShape.UNDER_POLICY,
    payload=payload,
    rated_on="cargo_value",
)
COVERS = (MARINE_IMPORT,)
