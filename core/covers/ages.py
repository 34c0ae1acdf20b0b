"""Age limits of insured persons for life and accident covers; the bound is data of the product (contract S17)."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from core.covers.cover import Cover, Rates
from core.errors import InvalidInput

MINIMUM_AGE: Final = "minimum_age"
ADULT: Final = 18


def age_on(day: date, born: date) -> int:
    """Full years of age on a day."""
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def minimum_age(meta: Mapping[str, Any]) -> int:
    """The age in years from which a product insures somebody; 18 unless its `meta` says otherwise."""
    return int(meta.get(MINIMUM_AGE, ADULT))


def refuse_younger(cover: Cover[Any], request: object, rates: Rates, first_on: date | None) -> None:
    """Refuse, by the field of the date of birth, somebody who is too young on the first day of cover.

    Covers that insure no life have no bound; a day that is still to be set cannot be judged.
    """
    if cover.life_insured is None or first_on is None:
        return
    least = minimum_age(rates.meta)
    if age_on(first_on, getattr(request, cover.life_insured)) < least:
        raise InvalidInput.for_field(
            cover.life_insured, f"must be of somebody of at least {least} years on the first day of cover"
        )
