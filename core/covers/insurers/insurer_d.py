"""insurer-d: mini comprehensive auto, with capped benefits."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from core import reference
from core.covers import fields, request_parts, vehicles
from core.covers.cover import UNREPORTED, Cover, Price, Rates, ResponseShape, Term
from core.covers.pricing import compute_annual


class MiniComprehensiveRequest(request_parts.Buyer):
    """Mini comprehensive cover of one vehicle."""

    other_names: fields.Name = Field(examples=["Nkechi"], description="Middle name.")
    owner_title: Annotated[
        str, fields.Pick(reference.owner_titles, "owner titles lookup", reference.find_owner_title)
    ] = Field(examples=["Mrs."])
    gender: request_parts.Gender = Field(examples=["Female"])
    dob: fields.BirthDate = Field(examples=["1985-03-14"], description="As on legal documents.")
    phone: fields.Phone = Field(examples=["08061234567"])
    occupation: fields.Text = Field(examples=["Pharmacist"])
    address: fields.Address = Field(examples=["31 Ogui Road"])
    town: fields.Text = Field(examples=["Enugu"])
    state: request_parts.State = Field(examples=["Enugu"])
    national_id_image: fields.Picture = Field(examples=["https://files.example.com/id/eze-nin.jpg"])
    vehicle_registration_number: vehicles.RegistrationNumber = Field(examples=["ENU-370JK"])
    vehicle_make: vehicles.Make = Field(examples=["Toyota"])
    vehicle_model: vehicles.Model = Field(examples=["Camry"])
    vehicle_type: vehicles.BodyType = Field(examples=["Saloon"])
    vehicle_color: vehicles.Colour = Field(examples=["Blue"])
    vehicle_year_manufactured: vehicles.Year = Field(examples=["2015"])
    engine_number: vehicles.EngineNumber = Field(examples=["2AZ9876543"])
    chassis_number: vehicles.ChassisNumber = Field(examples=["4T1BE46K37U654321"])
    vehicle_value: vehicles.Value = Field(examples=[3200000])
    vehicle_insurance_type: vehicles.Usage = Field(examples=["Private"], description="Type of coverage.")
    insurance_start_date: Annotated[fields.TodayOrLater, fields.ExampleInDays(0)] = Field(
        description="The first day of cover."
    )
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000040101"])


def premium(request: MiniComprehensiveRequest, rates: Rates) -> Price:
    """Return the product's flat price, or its percentage of the vehicle's value."""
    return compute_annual(request.vehicle_value, rates).build_price()


def term(request: MiniComprehensiveRequest, rates: Rates) -> Term:
    """Return the cover period from the requested start date."""
    return Term.from_months(request.insurance_start_date, rates.cover_months)


def payload(request: MiniComprehensiveRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer."""
    return {
        "ownerTitle": request.owner_title,
        "ownerFirstName": request.first_name,
        "ownerMiddleName": request.other_names,
        "ownerLastName": request.last_name,
        "ownerGender": request.gender,
        "ownerDob": request.dob.isoformat(),
        "ownerEmail": request.email,
        "ownerPhone": request.phone,
        "ownerOccupation": request.occupation,
        "ownerAddress": request.address,
        "ownerTown": request.town,
        "ownerState": request.state,
        "ownerIdImage": request.national_id_image,
        "registrationNumber": request.vehicle_registration_number,
        "makeOfVehicle": request.vehicle_make,
        "modelOfVehicle": request.vehicle_model,
        "typeOfVehicle": request.vehicle_type,
        "colourOfVehicle": request.vehicle_color,
        "yearOfManufacture": request.vehicle_year_manufactured,
        "engineNumber": request.engine_number,
        "chassisNumber": request.chassis_number,
        "valueOfVehicle": f"{request.vehicle_value:.2f}",
        "insuranceType": request.vehicle_insurance_type,
        "startDate": request.insurance_start_date.isoformat(),
        "premium": f"{price.total:.2f}",
    }


def registration_key(request: MiniComprehensiveRequest) -> str:
    """Return the normalised registration number: the risk key, and the key for finding the policy."""
    return request_parts.normalise_registration(request.vehicle_registration_number)


MINI_COMPREHENSIVE = Cover(
    prefix="insurer-d",
    route="buy-mini-comprehensive",
    insurer="insurer-d",
    title="Mini comprehensive auto",
    request=MiniComprehensiveRequest,
    premium=premium,
    term=term,
    starts_by="insurance_start_date",
    initial_state=UNREPORTED,
    response_shape=ResponseShape.UNDER_POLICY,
    payload=payload,
    risk_key=registration_key,
    registration=registration_key,
    echo_field="requestData",
    rated_on="vehicle_value",
)
COVERS = (MINI_COMPREHENSIVE,)
