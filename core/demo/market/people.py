"""Invented customers: who buys for the first time, and who comes back."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from random import Random

from core.covers import request_parts
from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.random_source import new_id, pick
from core.settings import ROOT
from core.store.schema.parties import Customer

_COMES_BACK = 0.36
_REMEMBERED = 2_500
# Above 1, the first that were remembered come back more often than the last.
_LOYALTY = 1.6
_MIXED_NAMES = 0.06
_WOMEN = 0.46
_DAYS_OF_YEAR = [f"{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
_EMAIL_HOSTS = ("example.com", "example.com", "example.com", "example.net", "example.org", "post.example")
# Ranges that no mobile network uses, so that nobody's phone is in the demonstration.
_PHONES = ("0700", "0800", "0900", "+234700", "+234800")
_HELD = json.loads((ROOT / "data" / "demonstration" / "people.json").read_text(encoding="utf-8"))
_FAMILIES, _PLACES = _HELD["families"], _HELD["places"]
_PLACES_BY_SHARE = list(accumulate(place["share"] for place in _PLACES))


@dataclass(frozen=True, slots=True)
class Person:
    """A customer and the words that a request says of them."""

    id: str
    says: Values


class People:
    """The customers of every distributor and mode; some buy again, a few of them often."""

    def __init__(self, dice: Random, until: datetime) -> None:
        self.dice = dice
        self.this_year = until.year
        self.met = 0
        self._known: defaultdict[tuple[str, bool], list[Person]] = defaultdict(list)

    def buyer(self, rows: Rows, owner: Values, at: datetime) -> Person:
        """Draw the buyer for an owner (distributor and mode); a new customer is added to the rows."""
        known = self._known[owner["distributor_id"], owner["is_live"]]
        if known and self.dice.random() < _COMES_BACK:
            return self.acquaintance(owner)
        person = self._stranger(rows, owner, at)
        if len(known) < _REMEMBERED:
            known.append(person)
        else:
            known[self.dice.randrange(_REMEMBERED)] = person
        return person

    def acquaintance(self, owner: Values) -> Person:
        """Somebody who bought from this owner before."""
        known = self._known[owner["distributor_id"], owner["is_live"]]
        return known[int(len(known) * self.dice.random() ** _LOYALTY)]

    def _stranger(self, rows: Rows, owner: Values, at: datetime) -> Person:
        self.met += 1
        says = _words(self.dice, self.met, self.this_year)
        person = Person(new_id(self.dice, at), says)
        rows.add(Customer, _row(self.dice, person, owner, at))
        return person


# What is indexed follows the number of the customer, so that a million rows go into their indexes in order.
def _words(dice: Random, number: int, this_year: int) -> Values:
    family, place = dice.choice(_FAMILIES), pick(dice, _PLACES, _PLACES_BY_SHARE)
    is_woman = dice.random() < _WOMEN
    given = family["women" if is_woman else "men"]
    first = dice.choice(given)
    last = dice.choice((dice.choice(_FAMILIES) if dice.random() < _MIXED_NAMES else family)["last_names"])
    # Of age in the first year already, for what insures a life.
    born_in = int(dice.triangular(this_year - 64, this_year - 22, this_year - 36))
    mailbox = f"{first}{number}".lower().replace("'", "")
    return {
        "first_name": first,
        "middle_name": given[given.index(first) - 1],
        "last_name": last,
        "email": f"{mailbox}@{dice.choice(_EMAIL_HOSTS)}",
        "phone": f"{_PHONES[number % len(_PHONES)]}{number:07d}",
        "bvn_number": f"22000{dice.getrandbits(20) % 1_000_000:06d}",
        "born": f"{born_in}-{dice.choice(_DAYS_OF_YEAR)}",
        "gender": "Female" if is_woman else "Male",
        "title": dice.choice(("Mrs", "Miss", "Ms", "Dr") if is_woman else ("Mr", "Mr", "Mr", "Engr", "Dr")),
        "address": f"{dice.randint(1, 180)} {dice.choice(place['streets'])}, {place['city']}",
        "city": place["city"],
        "state": place["state"],
        "lga": place["lga"],
    }


_SAID = ("email", "first_name", "last_name", "gender", "title", "city", "address")


def _row(dice: Random, person: Person, owner: Values, at: datetime) -> Values:
    says, when = person.says, stamp(at)
    return {
        **owner,
        "id": person.id,
        "user_id": new_id(dice, at),
        "created_at": when,
        "updated_at": when,
        **{name: says[name] for name in _SAID},
        "email_key": says["email"],
        "name_key": request_parts.build_name_key(says["first_name"], says["last_name"]),
        "phone_number": says["phone"],
        "country": "Nigeria",
        "state_of_residence": says["state"],
        "date_of_birth": says["born"],
        "is_kyc_complete": dice.random() < 0.7,
        "active": True,
    }
