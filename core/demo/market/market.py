"""Who sells what on which day: distributors by share and season, products by what a distributor is like."""

from bisect import bisect
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from random import Random

from core import clock
from core.demo.market.days import MONTHS, first_day
from core.demo.market.offers import Offer
from core.demo.market.sellers import Seller

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
        """Who sells what at an instant."""
        month = bisect(self._months, at)
        seller = self.dice.choices(self.sellers, cum_weights=self._shares[month])[0]
        return seller, self.dice.choices(self.offers, cum_weights=self._tastes[seller.id][month])[0]

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
