"""The sales of the demonstration, one after the other: who buys what from whom, and what will become of it."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from random import Random

from core import clock, seal
from core.covers.ages import age_on
from core.covers.request_parts import normalise_registration
from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.market.market import Market
from core.demo.market.offers import Offer
from core.demo.market.people import People, Person
from core.demo.market.sellers import LENDER, Seller
from core.demo.random_source import code, new_id
from core.demo.sales.policy_lives import Fates, Life
from core.demo.sales.requests import Variant
from core.store import policy_numbers

DESK = "staff operations@coverdesk.example"
_TEST_MODE = 0.08
_AT_THE_DESK, _IN_BULK = 0.13, 0.3
_FOR_SOMEBODY_ELSE, _LOAN_SENT_TWICE = 0.03, 0.004


@dataclass(slots=True)
class Sale:
    """One sale with everything that its rows say; `says` are the words of the buyer and of the thing insured."""

    at: datetime
    when: str
    policy_id: str
    purchase_id: str
    batch_id: str
    owner: Values
    customer: Person
    buyer_id: str
    says: Values
    seller: Seller
    source: str
    offer: Offer
    variant: Variant
    life: Life
    policy_number: str | None
    certificates: list[str]
    renewal_ids: list[str]
    refund_ids: list[str]
    repeats: str | None = None

    @property
    def changes(self) -> list[datetime]:
        """The instants of the policy's changes after its sale, oldest first."""
        ended = self.life.ended
        accepted_at, ended_at = self.life.accepted_at, ended.at if ended else None
        return [at for at in (accepted_at, *(paid.at for paid in self.life.renewals), ended_at) if at is not None]

    @property
    def touched_at(self) -> datetime:
        """The instant of the policy's last change."""
        told_at = self.life.heard_at if self.life.submitted else None
        return max(self.at, told_at or self.at, *self.changes)

    @property
    def actor(self) -> str:
        """The actor of the sale in the audit log."""
        return DESK if self.source == "desk" else self.seller.actors[bool(self.owner["is_live"])]


class Counting:
    """Makes sales, and keeps what one sale leaves for the next: serial numbers, policy numbers, batches."""

    def __init__(self, dice: Random, market: Market, people: People, until: datetime) -> None:
        self.dice = dice
        self.market, self.people = market, people
        self.fates = Fates(dice, until)
        self.serial = 0
        self.policy_numbers: Counter[str] = Counter()
        self._last_loan: dict[tuple[str, bool], Sale] = {}
        self._books: dict[str, tuple[date, str]] = {}

    def sell(self, rows: Rows, at: datetime) -> Sale:
        """The sale of an instant; a customer who is new is added to the rows."""
        self.serial += 1
        seller, offer = self.market.draw(at)
        is_live = self.dice.random() >= _TEST_MODE
        owner = {"distributor_id": seller.id, "is_live": is_live}
        first = self._sent_before(offer, owner, at)
        customer = first.customer if first else self.people.buyer(rows, owner, at)
        variant = first.variant if first else offer.variant(self.dice)
        life = self.fates.decide(offer, variant, at)
        somebody_else = self.dice.random() < _FOR_SOMEBODY_ELSE
        source = self._source(seller, offer, is_live=is_live)
        sale = Sale(
            at=at,
            when=stamp(at),
            policy_id=new_id(self.dice, at),
            purchase_id=new_id(self.dice, at),
            batch_id=self._batch(seller, source, at),
            owner=owner,
            customer=customer,
            buyer_id=(self.people.acquaintance(owner) if somebody_else else customer).id,
            says=self._words(customer, variant, clock.to_lagos_day(at)),
            seller=seller,
            source=source,
            offer=offer,
            variant=variant,
            life=life,
            policy_number=self._policy_number(offer, life, is_live=is_live),
            certificates=[code(self.dice, start) for start, _ in life.stretches],
            renewal_ids=[new_id(self.dice, paid.at) for paid in life.renewals],
            refund_ids=[new_id(self.dice, life.ended.at) for _ in life.ended.of_terms] if life.ended else [],
            repeats=first.policy_id if first else None,
        )
        if variant.twin and first is None:
            self._last_loan[seller.id, is_live] = sale
        return sale

    def _sent_before(self, offer: Offer, owner: Values, at: datetime) -> Sale | None:
        """The loan that a distributor's system sends a second time, which is sold and flagged (contract S12)."""
        last = self._last_loan.get((owner["distributor_id"], owner["is_live"]))
        same = last is not None and last.offer is offer and last.at.date() == at.date()
        return last if same and self.dice.random() < _LOAN_SENT_TWICE else None

    def _source(self, seller: Seller, offer: Offer, *, is_live: bool) -> str:
        drawn = self.dice.random()
        if is_live and seller.kind == LENDER and offer.group == "credit life" and drawn < _IN_BULK:
            return "bulk"
        return "desk" if is_live and drawn > 1 - _AT_THE_DESK else "api"

    def _batch(self, seller: Seller, source: str, at: datetime) -> str:
        """A batch of its own, or the day's loan book of a distributor."""
        if source != "bulk":
            return new_id(self.dice, at)
        day, batch = self._books.get(seller.id, (None, ""))
        if day != at.date():
            batch = new_id(self.dice, at)
            self._books[seller.id] = (at.date(), batch)
        return batch

    def _policy_number(self, offer: Offer, life: Life, *, is_live: bool) -> str | None:
        if life.activated_on is None:
            return None
        series = policy_numbers.series(offer.segment, offer.series, is_live=is_live)
        self.policy_numbers[series.counter] += 1
        return policy_numbers.format_number(series.pattern, self.policy_numbers[series.counter], life.activated_on)

    def _words(self, customer: Person, variant: Variant, today: date) -> Values:
        """Return the values that fill the texts of a variant: the buyer and the thing insured."""
        term = variant.term(today)
        words = {**customer.says, "starts": str(term.start_on or today), "ends": str(term.expiration_on)}
        for word, make in variant.things.items():
            words[word] = make(self.serial)
            words[f"{word}_key"] = normalise_registration(words[word])
        if "%(age)s" in variant.explained:
            words["age"] = age_on(term.start_on or today, date.fromisoformat(words["born"]))
        return words | {word: seal.mask(words[f"{word}_number"]) for word in variant.personal.values()}
