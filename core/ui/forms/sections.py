"""Sections of a sale's form: the customer, the insured thing, the cover and the papers."""

from collections.abc import Sequence
from typing import Final

from core.ui.forms.questions import Kind, Question

# In the order in which one says who somebody is, and how to reach them.
_CUSTOMER: Final = (
    *("title", "title_id", "owner_title", "first_name", "other_names", "last_name", "gender", "date_of_birth", "dob"),
    *("email", "phone_number", "phone", "address", "town", "city", "lga", "state", "nationality", "occupation"),
    *("marital_status", "bvn", "nok_full_name", "nok_relationship", "nok_phone_number", "nok_address"),
)
_VEHICLE: Final = ("vehicle_", "registration_number", "engine_", "chassis_number", "year_of_manufacture")
_JOURNEY: Final = ("departure_", "arrival_", "destination", "num_of_passengers", "passport_")
_GOODS: Final = ("cargo_", "country_of_origin", "destination_country", "shipping_")
_CONTENTS: Final = ("pre_ownership", "tenancy", "shop_", "nature_of_", "stock_", "description", "office_", "home_")
_INSURANCE: Final = ("vehicle_insurance_type", "vehicle_category")
_INCIDENT: Final = ("incident_", "no_police_report", "accidental")
_THINGS: Final = (
    *("traveller_", "things_lost", "injured_", "hospital", "vessel", "device_", "driver_", "third_party_"),
    *("amount_claimed", "cost_of_repair"),
)
_ORDER: Final = (
    "Incident",
    "Loss",
    "Claimant",
    "Payout",
    "Customer",
    "Vehicle",
    "Goods",
    "Journey",
    "Contents",
    "Loan",
    "Cover",
    "Papers",
)


def group(form_questions: Sequence[Question], first: Sequence[str] = ()) -> list[tuple[str, list[Question]]]:
    """Return the sections with their questions; empty ones are left out.

    Within each they keep the order of the request, but for the customer, whose name comes first. Those that are named
    `first` are a section without a name before all others.
    """
    named = {question.name: question for question in form_questions}
    sections: dict[str, list[Question]] = {"": [named[name] for name in first if name in named]}
    sections |= {name: [] for name in _ORDER}
    for question in form_questions:
        if question.name not in first:
            sections[section_of(question)].append(question)
    sections["Customer"].sort(key=lambda question: _CUSTOMER.index(question.name))
    return [(name, questions) for name, questions in sections.items() if questions]


def section_of(question: Question) -> str:
    """Return the section of a question, by the name of its field."""
    name = question.name
    if question.kind is Kind.FILE or name.startswith("identification"):
        return "Papers"
    if name in _CUSTOMER:
        return "Customer"
    if name in _INSURANCE:
        return "Cover"
    # The goods come before the journey: a country of destination is theirs.
    for section, prefixes in (
        ("Incident", _INCIDENT),
        ("Loss", _THINGS),
        ("Claimant", ("claimant",)),
        ("Payout", ("bank_", "account_")),
        ("Vehicle", _VEHICLE),
        ("Goods", _GOODS),
        ("Journey", _JOURNEY),
        ("Contents", _CONTENTS),
        ("Loan", ("loan_",)),
    ):
        if name.startswith(prefixes):
            return section
    return "Cover"
