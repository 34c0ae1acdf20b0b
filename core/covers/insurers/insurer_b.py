"""insurer-b: contents of an office, a home or a shop, and third-party and comprehensive auto."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import Field

from core.covers import fields, request_parts, vehicles
from core.covers.cover import IN_FORCE, PENDING, Cover, Price, Rates, ResponseShape, Term
from core.covers.pricing import apply_minimum, compute_annual, compute_percentage, flat_price
from core.covers.request import Request


class AutoRequest(request_parts.IdentityDocument, request_parts.BuyerWithPhone):
    """A vehicle and its owner; what the specification does not list as required is optional (contract S16)."""

    date_of_birth: fields.BirthDate = Field(examples=["1985-03-14"])
    address: fields.Address = Field(examples=["15 Aba Road, Port Harcourt"])
    state: request_parts.State = Field(examples=["Rivers"])
    bvn: fields.Bvn = Field(examples=["22212345678"])
    title_id: request_parts.Title = Field(examples=["mrs"], description="A title of the titles lookup, or its slug.")
    title: Annotated[request_parts.Title | None, fields.SameAs("title_id")] = Field(default=None, examples=["Mrs"])
    registration_number: vehicles.RegistrationNumber = Field(examples=["PHC-614EF"])
    vehicle_category: vehicles.Usage = Field(examples=["Private"])
    vehicle_make: vehicles.Make | None = Field(default=None, examples=["Toyota"])
    vehicle_model: vehicles.Model | None = Field(default=None, examples=["Camry"])
    year_of_manufacture: vehicles.Year = Field(examples=["2018"])
    engine_number: vehicles.EngineNumber | None = Field(default=None, examples=["2AR1234567"])
    chassis_number: vehicles.ChassisNumber | None = Field(default=None, examples=["4T1BF1FK5CU512345"])
    vehicle_color: vehicles.Colour | None = Field(default=None, examples=["Silver"])
    vehicle_cost: vehicles.Value = Field(examples=[6500000])


class ThirdPartyAutoRequest(AutoRequest):
    """Third-party cover of one vehicle."""

    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000020401"])


class ComprehensiveAutoRequest(AutoRequest):
    """Comprehensive cover of one vehicle."""

    # The specification's field list has a misprint for the date of birth (contract S16).
    aliases: ClassVar[Mapping[str, str]] = {"date_of_number": "date_of_birth"}
    registration_number: vehicles.RegistrationNumber = Field(examples=["ABJ-905GH"])
    vehicle_cost: vehicles.Value = Field(examples=[6500000])
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


HALF_YEAR_MONTHS = 6
_CONTENTS = fields.Insured("Contents")
_ITEMS = fields.Insured("Contents", "Contents", describe=request_parts.describe_items)
SHOP_IDENTITY_DOCUMENTS = ("Drivers License", "NIN", "International Passport")
STOCK_TAKING_INTERVALS = ("daily", "weekly", "monthly", "quarterly", "yearly")


class OwnerRequest(request_parts.IdentityDocument, request_parts.BuyerWithPhone):
    """The owner of the contents."""

    address: Annotated[fields.Address, fields.Insured("Contents", "Premises")] = Field(
        examples=["27 Awolowo Road, Ikoyi"]
    )
    date_of_birth: fields.BirthDate = Field(examples=["1985-03-14"])
    title: request_parts.Title = Field(examples=["Mrs"])
    gender: request_parts.Gender = Field(examples=["Female"])


class ContentRequest(OwnerRequest):
    """The fields that office and home contents share."""

    pre_ownership: Annotated[fields.Text, _CONTENTS] = Field(examples=["First owner"])
    tenancy: Annotated[fields.Text, _CONTENTS] = Field(examples=["Tenant"])
    lga: request_parts.Lga = Field(examples=["LAGOS-Eti-Osa"])
    is_full_year: fields.Flag = Field(examples=[True], description="False buys six months.")
    insurance_start_date: Annotated[fields.TodayOrLater, fields.ExampleInDays(0)]


class OfficeRequest(ContentRequest):
    """Cover of the contents of an office."""

    office_items: Annotated[request_parts.Items, _ITEMS] = Field(
        examples=[[{"name": "Laptops", "amount": 2400000}, {"name": "Printer", "amount": 350000}]]
    )
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000020101"])


class HomeRequest(ContentRequest):
    """Cover of the contents of a home."""

    description: Annotated[fields.LongText, _CONTENTS] = Field(examples=["Three-bedroom flat on the second floor"])
    home_items: Annotated[request_parts.Items, _ITEMS] = Field(
        examples=[[{"name": "Television", "amount": 850000}, {"name": "Refrigerator", "amount": 620000}]]
    )
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000020201"])


class ShopRequest(OwnerRequest):
    """Cover of the stock of a shop."""

    shop_type: Annotated[fields.Text, _CONTENTS] = Field(examples=["Lock-up shop"])
    nature_of_business: Annotated[fields.Text, fields.Insured("Contents", "Business")] = Field(examples=["Provisions"])
    nature_of_stock: Annotated[str, fields.one_of("perishable", "non perishable", "mixed"), _CONTENTS] = Field(
        examples=["mixed"]
    )
    stock_keeping: Annotated[fields.Flag, _CONTENTS] = Field(examples=[True])
    stock_taking_interval: Annotated[str, fields.one_of(*STOCK_TAKING_INTERVALS), _CONTENTS] = Field(
        examples=["monthly"]
    )
    stock_amount: Annotated[fields.PositiveNaira, fields.Insured("Contents", "Stock")] = Field(
        examples=[3000000], description="Total cost of the goods."
    )
    identification_name: Annotated[str, fields.one_of(*SHOP_IDENTITY_DOCUMENTS)] = Field(examples=["NIN"])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000020301"])


def office_premium(request: OfficeRequest, rates: Rates) -> Price:
    """Return a percentage of the value of the office items."""
    return compute_content_price(request_parts.sum_items(request.office_items), request, rates)


def home_premium(request: HomeRequest, rates: Rates) -> Price:
    """Return a percentage of the value of the home items."""
    return compute_content_price(request_parts.sum_items(request.home_items), request, rates)


def compute_content_price(insured: Decimal, request: ContentRequest, rates: Rates) -> Price:
    """Return the annual premium of the insured value, or half of it for half a year (contract S4)."""
    annual_premium = compute_annual(insured, rates)
    if request.is_full_year:
        return annual_premium.build_price()
    return annual_premium.add_step("Six months", "annual premium / 2", annual_premium.amount / 2).build_price()


def shop_premium(request: ShopRequest, rates: Rates) -> Price:
    """Return a percentage of the stock value, with a loading for perishable stock."""
    calculation = compute_percentage(request.stock_amount, rates)
    loading = Decimal(rates.meta.get("stock_loadings", {}).get(request.nature_of_stock, 1))
    if loading != 1:
        calculation = calculation.add_step(
            f"Stock, {request.nature_of_stock}", f"x {loading}", calculation.amount * loading
        )
    return apply_minimum(calculation, rates).build_price()


def content_term(request: ContentRequest, rates: Rates) -> Term:
    """Return the term from the requested start date."""
    return paid_term({"is_full_year": request.is_full_year}, rates, request.insurance_start_date)


def paid_term(submitted: Mapping[str, Any], rates: Rates, start_on: date) -> Term:
    """Return the product's cover period, or six months of it."""
    return Term.from_months(start_on, rates.cover_months if submitted["is_full_year"] else HALF_YEAR_MONTHS)


def build_owner_fields(request: OwnerRequest) -> dict[str, Any]:
    """Return the owner fields under the insurer's field names."""
    return {
        "Title": request.title,
        "FirstName": request.first_name,
        "LastName": request.last_name,
        "Email": request.email,
        "PhoneNo": request.phone_number,
        "DateOfBirth": request.date_of_birth.isoformat(),
        "Gender": request.gender,
        "Address": request.address,
        "IdentityType": request.identification_name,
        "IdentityImageUrl": request.identification_url,
    }


def build_content_fields(request: ContentRequest, price: Price) -> dict[str, Any]:
    """Return the fields shared by office and home, under the insurer's field names."""
    return {
        **build_owner_fields(request),
        "PreOwnership": request.pre_ownership,
        "Tenancy": request.tenancy,
        "Lga": request.lga,
        "IsFullYear": request.is_full_year,
        "CoverStartDate": request.insurance_start_date.isoformat(),
        "SumInsured": f"{price.sum_insured:.2f}",
        "Premium": f"{price.total:.2f}",
    }


def office_payload(request: OfficeRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer for an office."""
    items = request_parts.build_items(request.office_items, "ItemName", "ItemValue")
    return {**build_content_fields(request, price), "OfficeItems": items}


def home_payload(request: HomeRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer for a home."""
    items = request_parts.build_items(request.home_items, "ItemName", "ItemValue")
    return {**build_content_fields(request, price), "PropertyDescription": request.description, "HomeItems": items}


def shop_payload(request: ShopRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer for a shop."""
    return {
        **build_owner_fields(request),
        "ShopType": request.shop_type,
        "NatureOfBusiness": request.nature_of_business,
        "NatureOfStock": request.nature_of_stock,
        "KeepsStockRecords": request.stock_keeping,
        "StockTakingInterval": request.stock_taking_interval,
        "StockValue": f"{request.stock_amount:.2f}",
        "Premium": f"{price.total:.2f}",
    }


OFFICE = Cover(
    prefix="insurer-b",
    route="buy-office-content-cover",
    insurer="insurer-b",
    title="Office content",
    request=OfficeRequest,
    premium=office_premium,
    term=content_term,
    starts_by="insurance_start_date",
    next_term=paid_term,
    initial_state=IN_FORCE,
    response_shape=ResponseShape.DIRECT,
    payload=office_payload,
    rated_on="office_items",
)
HOME = Cover(
    prefix="insurer-b",
    route="buy-home-content-cover",
    insurer="insurer-b",
    title="Home content",
    request=HomeRequest,
    premium=home_premium,
    term=content_term,
    starts_by="insurance_start_date",
    next_term=paid_term,
    initial_state=IN_FORCE,
    response_shape=ResponseShape.DIRECT,
    payload=home_payload,
    rated_on="home_items",
)
SHOP = Cover(
    prefix="insurer-b",
    route="buy-shop-content-cover",
    insurer="insurer-b",
    title="Shop content",
    request=ShopRequest,
    premium=shop_premium,
    term=request_parts.build_term_from_today,
    initial_state=IN_FORCE,
    response_shape=ResponseShape.DIRECT,
    payload=shop_payload,
    rated_on="stock_amount",
)


class GadgetRequest(Request):
    """A device as its policy says it: it was insured while there was an endpoint for it."""

    device_serial_number: Annotated[
        fields.Text | None, fields.Insured("Device", "Device serial number", is_number=True)
    ] = None
    imei_number: Annotated[fields.Text | None, fields.Insured("Device", "IMEI", is_number=True)] = None


COVERS = (OFFICE, HOME, SHOP, THIRD_PARTY, COMPREHENSIVE)
