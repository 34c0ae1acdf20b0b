"""The sales of each day: distributors drawn by share and season, products by the kind of distributor."""

from bisect import bisect
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import accumulate
from random import Random

from core import clock
from core.demo.market.offers import Offer
from core.demo.market.sellers import Seller
from core.demo.random_source import pick

MONTHS = 24
GROWTH_A_MONTH = 1.038
_WEEKDAYS = (1.10, 1.06, 1.00, 1.02, 1.12, 0.74, 0.40)
_HOLIDAYS = {(1, 1): 0.35, (5, 1): 0.6, (10, 1): 0.55, (12, 25): 0.3, (12, 26): 0.4}
# Lenders and dealers close their books when salaries come.
_MONTH_END_DAYS, _MONTH_END = 4, 1.38
_NOISE = 0.09
# Hours of Lagos; apps sell at night too.
_HOURS = (1, 0.6, 0.4, 0.3, 0.4, 0.8, 2, 4, 7, 9.5, 10, 9.5, 8.5, 8, 8.5, 8.5, 8, 7, 5.5, 4.5, 4, 3.5, 2.5, 1.6)
_BY_HOUR = list(accumulate(_HOURS))


def first_day(until: datetime) -> date:
    """The Lagos day on which the demonstration begins."""
    return clock.add_months(clock.to_lagos_day(until), -MONTHS)


def begins_at(until: datetime) -> datetime:
    """The instant at which the demonstration begins."""
    return clock.lagos_midnight(first_day(until))


def instants(dice: Random, *, purchases: int, until: datetime) -> Iterator[datetime]:
    """Yield one UTC instant per purchase, earliest first, the last before `until`."""
    days = _weighed(dice, until)
    whole, sold, so_far = sum(weight for _, weight in days), 0, 0.0
    for day, weight in days:
        so_far += weight
        due, begins = round(purchases * so_far / whole), clock.lagos_midnight(day)
        most = _BY_HOUR[-1] * _gone((until - begins) / timedelta(hours=1))
        yield from sorted(_instant(begins, dice.random() * most) for _ in range(due - sold))
        sold = due


def _weighed(dice: Random, until: datetime) -> list[tuple[date, float]]:
    day = first_day(until)
    days: list[tuple[date, float]] = []
    while (begins := clock.lagos_midnight(day)) < until:
        weight = GROWTH_A_MONTH ** (len(days) / 30.4) * _WEEKDAYS[day.weekday()] * dice.lognormvariate(0, _NOISE)
        weight *= _HOLIDAYS.get((day.month, day.day), 1)
        if clock.add_days(day, _MONTH_END_DAYS).month != day.month:
            weight *= _MONTH_END
        days.append((day, weight * _gone((until - begins) / timedelta(hours=1))))
        day = clock.add_days(day, 1)
    return days


def _gone(hours: float) -> float:
    """Return the share of a day's sales that is made after this many hours."""
    if hours >= len(_HOURS):
        return 1.0
    hour = int(hours)
    return (_BY_HOUR[hour] - _HOURS[hour] * (1 - hours % 1)) / _BY_HOUR[-1]


def _instant(begins: datetime, drawn: float) -> datetime:
    """Return the instant of a day at which this much of the weight of its hours is gone."""
    hour = bisect(_BY_HOUR, drawn)
    within = (drawn - (_BY_HOUR[hour - 1] if hour else 0)) / _HOURS[hour]
    return begins + timedelta(milliseconds=int((hour + within) * 3_600_000))


_RAMP_MONTHS = 4
# More people travel at Christmas, at Easter and in the long vacation.
_TRAVEL_BY_MONTH = (0.9, 0.7, 0.9, 1.15, 0.8, 0.9, 1.4, 1.45, 0.9, 0.8, 1.1, 1.9)
_LAST_MONTH_OF_WITHDRAWN = 12


class Market:
    """Draws a distributor and one of its products for a sale."""

    def __init__(self, dice: Random, sellers: Sequence[Seller], offers: Sequence[Offer], until: datetime) -> None:
        self.dice = dice
        self.sellers, self.offers = sellers, offers
        self._months = [clock.midnight(clock.add_months(first_day(until), month)) for month in range(1, MONTHS + 1)]
        self._shares = [list(accumulate(_share(seller, month) for seller in sellers)) for month in range(MONTHS + 1)]
        self._tastes = {
            seller.id: [
                list(accumulate(self._taste(seller, offer, month) for offer in offers)) for month in range(MONTHS + 1)
            ]
            for seller in sellers
        }

    def draw(self, at: datetime) -> tuple[Seller, Offer]:
        """Draw the seller and the offer of an instant."""
        month = bisect(self._months, at)
        seller = pick(self.dice, self.sellers, self._shares[month])
        return seller, pick(self.dice, self.offers, self._tastes[seller.id][month])

    def _taste(self, seller: Seller, offer: Offer, month: int) -> float:
        if not offer.sold_today and month >= _LAST_MONTH_OF_WITHDRAWN:
            return 0.0
        begins = self._months[month - 1] if month else None
        season = _TRAVEL_BY_MONTH[begins.month - 1] if begins and offer.group == "travel" else 1.0
        return offer.wanted * seller.kind.get(offer.group, 1.0) * season


def _share(seller: Seller, month: int) -> float:
    """A distributor's weight in a month; a new one needs some months to its full share."""
    since = month - seller.since_month + 1
    return 0.0 if since <= 0 else seller.share * (1.0 if not seller.since_month else min(1.0, since / _RAMP_MONTHS))
