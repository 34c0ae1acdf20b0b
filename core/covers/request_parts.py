"""Request parts shared by insurers, and the policyholder of a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Final
from unicodedata import category, normalize

from pydantic import AfterValidator, Field

from core import clock, money, reference
from core.covers import fields
from core.covers.cover import Rates, Term
from core.covers.fields import fault
from core.covers.request import Request, refuse_unless

ALREADY_OVER = "must leave cover: this term is already over"
# Hausa letters that do not decompose into a letter and an accent.
_HAUSA_LETTERS: Final = str.maketrans("ɓɗƙƴ", "bdky")
Gender = Annotated[str, fields.Pick(reference.genders, "genders lookup")]
State = Annotated[
    str,
    fields.Pick(lambda: tuple(row.name for row in reference.states()), "states lookup", reference.find_state),
]
Country = Annotated[str, fields.Pick(reference.countries, "countries lookup", reference.find_country)]
Lga = Annotated[str, fields.Pick(reference.lgas, "lgas lookup", reference.find_lga, reference.find_lgas_by_name)]
Title = Annotated[str, fields.Pick(reference.titles, "titles lookup", reference.find_title)]
Identification = Annotated[str, fields.Pick(reference.identification_types, "identification types lookup")]


class Buyer(Request):
    """Buyer: names and e-mail."""

    first_name: fields.Name = Field(examples=["Amaka"])
    last_name: fields.Name = Field(examples=["Eze"])
    email: fields.Email = Field(examples=["amaka.eze@example.com"])


class BuyerWithPhone(Buyer):
    """Buyer with a phone number."""

    phone_number: fields.Phone = Field(examples=["08061234567"])


class IdentityDocument(Request):
    """Identity document: its type and a picture of it."""

    identification_name: Identification = Field(examples=["NIN"])
    identification_url: fields.Picture = Field(examples=["https://files.example.com/id/eze.jpg"])


class Item(Request):
    """One insured thing and what it is worth, in naira."""

    name: fields.Text
    amount: fields.PositiveNaira


def _check_total(items: list[Item]) -> list[Item]:
    if sum_items(items) > money.MAX_AMOUNT:
        raise fault("must be worth at most 10,000,000,000,000 together")
    return items


Items = Annotated[list[Item], Field(min_length=1, max_length=200), AfterValidator(_check_total)]


def sum_items(items: Sequence[Item]) -> Decimal:
    """Return the total value of the items in naira."""
    return sum((item.amount for item in items), money.ZERO)


def describe_items(items: Sequence[Mapping[str, Any]]) -> str:
    """Return number and total value of stored items: "2 items worth ₦2,750,000.00"."""
    total = money.format_naira(money.to_minor(sum((Decimal(str(item["amount"])) for item in items), money.ZERO)))
    return f"{len(items)} {'item' if len(items) == 1 else 'items'} worth {total}"


def build_items(items: Sequence[Item], name_field: str, amount_field: str) -> list[dict[str, str]]:
    """Return the items under an insurer's own field names."""
    return [{name_field: item.name, amount_field: f"{item.amount:.2f}"} for item in items]


@dataclass(frozen=True, kw_only=True, slots=True)
class Policyholder:
    """The policyholder of a request, independent of an insurer's field names."""

    first_name: str
    last_name: str
    email: str
    phone: str | None = None
    dob: date | None = None
    gender: str | None = None
    title: str | None = None
    state: str | None = None
    city: str | None = None
    address: str | None = None
    country: str | None = None


# Names of the policyholder's fields in buy requests.
HOLDER_FIELDS = {
    "phone": ("phone_number", "phone"),
    "dob": ("date_of_birth", "dob"),
    "gender": ("gender",),
    "title": ("title", "owner_title", "title_id"),
    "state": ("state",),
    "city": ("city", "town"),
    "address": ("address",),
    "country": ("nationality",),
}


@cache
def _list_holder_fields(model: type[Request]) -> dict[str, tuple[str, ...]]:
    """The fields that a request has of those of the policyholder: asking a request for others is slow."""
    own = {field: tuple(n for n in names if n in model.model_fields) for field, names in HOLDER_FIELDS.items()}
    return {field: names for field, names in own.items() if names}


def get_policyholder(request: Request) -> Policyholder:
    """Return the policyholder of any buy request."""
    insured: Any = request

    def get_first(names: tuple[str, ...]) -> Any:
        return next((v for n in names if (v := getattr(insured, n)) is not None), None)

    values = {field: get_first(names) for field, names in _list_holder_fields(type(request)).items()}
    return Policyholder(first_name=insured.first_name, last_name=insured.last_name, email=insured.email, **values)


def fold_email(text: str) -> str:
    """Return an e-mail as it is compared: lower case, in composed form as it is kept."""
    return text.lower() if text.isascii() else normalize("NFC", text.lower())


def fold_text(text: str) -> str:
    """Return a text normalised for search: lower case, without accents, in composed form (contract P6)."""
    if text.isascii():
        return text.lower()
    stripped = "".join(letter for letter in normalize("NFD", text.lower()) if category(letter) != "Mn")
    return normalize("NFC", stripped.translate(_HAUSA_LETTERS))


def build_name_key(first_name: str, last_name: str) -> str:
    """Return the search key of a person's name: first and last name, normalised."""
    return fold_text(f"{first_name} {last_name}")


def normalise_registration(registration: str) -> str:
    """Normalise a registration or passport number for comparison: upper case, no spaces or hyphens (contract S12)."""
    return "".join(character for character in registration if character.isascii() and character.isalnum()).upper()


def build_term_from_today(_: object, rates: Rates) -> Term:
    """Return the product's cover period from today in Lagos (contract S8)."""
    return Term.from_months(clock.today(), rates.cover_months)


def require_not_over(field: str, term: Term) -> Term:
    """Return the term; InvalidInput on `field` if it is already over."""
    refuse_unless([(not is_over(term), field, ALREADY_OVER)])
    return term


def is_over(term: Term) -> bool:
    """Return True if no cover is left from today on."""
    return term.expiration_on is not None and term.expiration_on <= clock.today()
