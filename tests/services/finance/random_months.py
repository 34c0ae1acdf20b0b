"""Random months of a broker: every kind of money, late rows, and the papers of finance, all made by the services."""

from collections import Counter
from datetime import date, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from core import clock, ids
from core.covers.registry import COVERS
from core.demo.sales.requests import wishes
from core.desk import closing
from core.errors import CoverdeskError
from core.services.catalogue import for_sale, share_changes
from core.services.claims.workflow import moves as claim_moves
from core.services.finance import adjustments, bank_accounts, parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.policies import changes
from core.services.renewals import renewals
from core.services.selling import buying
from core.store.schema.tables import Adjustment, Claim, ClaimEvent, Movement, Policy
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.finance_office import ACCOUNT, LIVE, Finance

FIRST = date(2026, 8, 1)
MONTHS = (FIRST, date(2026, 9, 1), date(2026, 10, 1))
_WEIGHTS = {"sell": 8, "renew": 4, "cancel": 3, "decline": 2, "activate": 2, "adjust": 2, "claim": 1, "decide": 1}
_REFUSED = object()
_NOTE = "Looked at all of them, they are in order"


class RandomMonths:
    """Months that one seed determines; `done` counts what happened in them."""

    def __init__(self, finance: Finance, partners: list[Partner], seed: int, *, steps: int = 12) -> None:
        self.finance, self.partners, self.dice, self.steps = finance, partners, Random(seed), steps
        self.done: Counter[str] = Counter()
        self.number = 0

    def play(self) -> None:
        """Three months of business, each stated and reported after its end, some of them closed and reopened."""
        self._write_terms()
        for month in MONTHS:
            for at in self._moments(month):
                with clock.freeze(at):
                    self._happen(self.dice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0])
            with clock.freeze(self._day(month, 3)):
                self._state(month)
            # In flight at midnight, and committed only after the statements were prepared.
            with clock.freeze(self._day(month, 1) - timedelta(milliseconds=1)):
                for _ in range(self.dice.randint(1, 2)):
                    self._attempt("late", self._sell)
            with clock.freeze(self._day(month, 5)):
                # A late row may be the first of its party.
                self._state(month)
                self._report(month)
                self._pay()
            with clock.freeze(self._day(month, 20)):
                self._close(month)

    def _moments(self, month: date) -> list[datetime]:
        start, end = self._day(month, 1, after=0), self._day(month, 1)
        whole = int((end - start).total_seconds())
        return sorted(start + timedelta(seconds=self.dice.randrange(whole)) for _ in range(self.steps))

    def _day(self, month: date, day: int, *, after: int = 1) -> datetime:
        return clock.lagos_midnight(clock.add_months(month, after).replace(day=day))

    def _happen(self, what: str) -> None:
        self._attempt(what, getattr(self, f"_{what}"))

    def _attempt(self, what: str, verb: Any, *given: Any) -> Any:
        """Do something that a rule may refuse: a refusal is counted and leaves nothing behind."""
        try:
            made = verb(*given)
        except CoverdeskError:
            self.done[f"{what} refused"] += 1
            return _REFUSED
        self.done[what] += 1
        return made

    def _write_terms(self) -> None:
        with clock.freeze(self._day(FIRST, 1, after=-1)):
            for place, (party, name) in enumerate(self.finance.read(parties.list_parties)):
                terms: dict[str, Any] = {"number": f"AG/{place}", "starts_on": "2026-07-01"}
                if party.account == "distributor":
                    terms |= {"charges_vat": self.dice.random() < 0.5, "is_small": self.dice.random() < 0.3}
                    terms |= {"collects": self.dice.choice(("platform", "distributor"))}
                    terms |= {"tin": "12345678-0001"} if self.dice.random() < 0.7 else {}
                self.finance.agree(party, terms)
                account = {"bank_name": "Bank", "account_name": name[:100], "account_number": f"{place:010d}"}
                made = self.finance.do(bank_accounts.propose, party, account, by="root")
                self.finance.do(bank_accounts.confirm, made, by="second")
            for partner in self.partners:
                self._agree_on_a_share(partner)

    def _agree_on_a_share(self, partner: Partner) -> None:
        """Some distributors have a share of their own from some day on, and some lose it again."""
        for share in self.dice.choice(((), ("6.50",), ("3.00", None))):
            day = clock.add_days(FIRST, self.dice.randrange(80)) if share else date(2026, 10, 20)
            made = self.finance.do(
                share_changes.propose, partner.id, {"commission": share, "starts_on": str(day)}, by="root"
            )
            self.finance.do(share_changes.confirm, made, by="second")

    def _sell(self) -> None:
        partner, cover = self.dice.choice(self.partners), self.dice.choice(COVERS)
        self.number += 1
        with self.finance.store.reading(partner.scope(is_live=True)) as session:
            product = self.dice.choice(for_sale.list_products(session, cover, partner.id))
        wished = {
            **wishes(self.dice, product.name, product.rates.meta, clock.today()),
            **shipped.numbers(cover, self.number),
            "product_id": str(product.id),
            "email": f"buyer{self.number}@example.com",
        }
        if "premium_frequency" in wished:
            wished["premium_frequency"] = "monthly"
        request = shipped.request(
            cover, **{name: wished[name] for name in cover.request.model_fields if name in wished}
        )
        with self.finance.store.writing(partner.scope(is_live=True)) as session:
            buying.sell(session, cover, request, partner.seller(is_live=True))

    def _renew(self) -> None:
        policy = self._policy(Policy.activated, Policy.cancelled_at.is_(None))
        seller = next(each for each in self.partners if each.id == policy.distributor_id).seller(is_live=True)
        self.finance.do(renewals.renew, policy.id, seller)

    def _cancel(self) -> None:
        policy = self._policy(Policy.cancelled_at.is_(None), Policy.declined_at.is_(None))
        given = {"reason": "Sold the car", "by_insurer": self.dice.random() < 0.5}
        self.finance.do(changes.cancel, policy.id, actor="tests", expected_version=policy.version, **given)

    def _decline(self) -> None:
        policy = self._policy(Policy.activated.is_(False), Policy.declined_at.is_(None))
        self.finance.do(
            changes.decline, policy.id, actor="tests", reason="Not this risk", expected_version=policy.version
        )

    def _activate(self) -> None:
        policy = self._policy(Policy.activated.is_(False), Policy.declined_at.is_(None), Policy.cancelled_at.is_(None))
        self.finance.do(changes.activate, policy.id, actor="tests", expected_version=policy.version)

    def _adjust(self) -> None:
        with self.finance.reading() as session:
            kinds = Movement.kind.in_(("purchase", "renewal", "refund"))
            order = (Movement.created_at, Movement.id)
            movement = self._choose(list(session.execute(sa.select(Movement).where(kinds).order_by(*order)).scalars()))
        most = abs(movement.total_minor) // 8
        kobo = [self.dice.randint(-most, most), *(self.dice.randint(-most // 40, most // 40) for _ in range(2))]
        self._correct(movement.id, kobo)

    def _correct(self, movement_id: UUID, kobo: list[int]) -> None:
        names = ("premium", "platform_commission", "distributor_commission")
        given = {name: f"{value / 100:.2f}" for name, value in zip(names, kobo, strict=True)}
        terms = {**given, "reason": "It was wrong by this"}
        self.finance.do(
            adjustments.confirm, self.finance.do(adjustments.propose, movement_id, terms, by="funmi"), by="femi"
        )

    def _take_back(self, policy_id: UUID) -> None:
        """Take back what the sale of a policy was corrected by, as two people of finance do."""
        sums = [
            sa.func.sum(getattr(Adjustment, f"{name}_minor")) for name in ("total", "mca_profit", "distributor_profit")
        ]
        with self.finance.reading() as session:
            corrected = session.execute(sa.select(*sums).where(Adjustment.policy_id == policy_id)).one()
            sale = sa.select(Movement.id).where(Movement.policy_id == policy_id, Movement.kind == "purchase")
            movement = session.execute(sale).scalar_one()
        self._correct(movement, [-minor for minor in corrected])
        self.done["correction taken back"] += 1

    def _claim(self) -> None:
        """A claim stands against the cancellation of its policy until it is decided."""
        policy = self._policy(Policy.activated)
        shared = ("distributor_id", "is_live", "customer_id", "provider_id", "product_id")
        owner = {"first_name": policy.first_name, "last_name": policy.last_name, "email": policy.email}
        amounts = [name for name in Claim.model_fields if name.endswith("_minor")]
        claim = Claim(
            policy_id=policy.id,
            **{name: getattr(policy, name) for name in shared},
            **{f"claim_owner_{name}": value for name, value in owner.items()},
            **dict.fromkeys(amounts, 0),
            claim_type="Credit life",
            claim_status="Pending",
            claim_description="A loss",
            claim_owner="Owner",
        )
        owned = {"distributor_id": claim.distributor_id, "is_live": True, "created_at": claim.created_at}
        with self.finance.store.writing(LIVE) as session:
            session.insert(claim, ClaimEvent(id=ids.new(), claim_id=claim.id, status="Pending", **owned))

    def _decide(self) -> None:
        with self.finance.reading() as session:
            query = sa.select(Claim.id, Claim.version).where(Claim.claim_status == "Pending").order_by(Claim.id)
            claim_id, version = self._choose(list(session.execute(query).all()))
        inputs = {"reason": "exclusion", "note": "Excluded by the wording", "version": version}
        person = self.finance.people["chi"]
        self.finance.do(claim_moves.move_claim, claim_id, to="Declined", person=person, **inputs)

    def _policy(self, *conditions: Any) -> Policy:
        with self.finance.reading() as session:
            query = sa.select(Policy).where(*conditions).order_by(Policy.created_at, Policy.id)
            found = list(session.execute(query).scalars())
            session.expunge_all()
        return self._choose(found)

    def _choose(self, found: list[Any]) -> Any:
        if not found:
            raise CoverdeskError("There is nothing to choose from")
        return self.dice.choice(found)

    def _state(self, month: date) -> None:
        """Prepare and approve the statements that are due; a few are disputed, or reversed and prepared again."""
        for party, _ in self.finance.read(statements.list_due, month):
            made = self._attempt("statement", self._prepare, party, month)
            if made is _REFUSED:
                continue
            chance = self.dice.random()
            if chance < 0.2:
                reversal = self.finance.do(statements.reverse, made, reason="The terms were others", by="wale")
                self.finance.do(statements.move, reversal, "Approved", by="funmi")
                self.done["reversal"] += 1
                made = self._prepare(party, month)
            if 0.2 <= chance < 0.4:
                self.finance.do(statements.move, made, "Disputed", by="wale", note="They doubt it")
                self.finance.do(statements.move, made, "Sent", by="femi", note="They agreed after all")
                self.done["dispute"] += 1

    def _prepare(self, party: Party, month: date) -> UUID:
        made: UUID = self.finance.do(statements.prepare, party, month, by="funmi")
        self.finance.do(statements.move, made, "Approved", by="femi")
        self.finance.do(statements.move, made, "Sent", by="wale")
        return made

    def _report(self, month: date) -> None:
        for provider_id, _, kind in self.finance.read(bordereaux.list_due, month):
            made = self.finance.do(bordereaux.issue, provider_id, kind, month, by="funmi")
            self.finance.do(bordereaux.move, made, "Sent", by="femi")
            self.done["bordereau"] += 1

    def _pay(self) -> None:
        payable = self.finance.read(payouts.list_payable)
        if not payable:
            return
        chosen = {
            balance.party: None if self.dice.random() < 0.6 else self.dice.randint(1, balance.amount_minor)
            for balance in payable
        }
        batch = self.finance.do(payouts.prepare, chosen, by="funmi")
        self.finance.do(payouts.approve, batch, by="femi")
        for place, row in enumerate(self.finance.read(payment_reading.list_of_batch, batch)):
            today = str(clock.today())
            answer = {"bank_reference": f"T/{batch.hex[-8:]}/{place}", "value_on": today}
            self.finance.do(settlement.confirm, row.id, answer, by="wale")
            self.done["payment"] += 1
            if self.dice.random() < 0.25:
                returned = {"returned_on": today, "reason": "The account is closed"}
                self.finance.do(settlement.return_payment, row.id, returned, by="wale")
                self.done["payment returned"] += 1

    def _close(self, month: date) -> None:
        """Bring what is pending to an end, close the month, and now and then reopen it for a statement."""
        with self.finance.reading() as session:
            pending = sa.select(Policy.id, Policy.version).where(
                Policy.activated.is_(False), Policy.declined_at.is_(None), Policy.cancelled_at.is_(None)
            )
            waiting = session.execute(pending).all()
        for policy_id, version in waiting:
            if self._attempt("pending declined", self._decline_pending, policy_id, version) is _REFUSED:
                # No commission may be left on a premium that goes back.
                self._take_back(policy_id)
                self._attempt("pending declined", self._decline_pending, policy_id, version)
        while self._attempt("decide", self._decide) is not _REFUSED:
            pass
        self._give_back()
        self.finance.do(closing.begin, month, by="funmi")
        self.finance.do(closing.close, month, by="femi", note=_NOTE)
        self.done["month closed"] += 1
        if self.dice.random() < 0.5:
            self.finance.do(closing.ask_reopening, month, by="femi", note="A statement has to be stated again")
            self.finance.do(closing.reopen, month, by="wale")
            self.done["month reopened"] += 1
            self._state_again(month)
            self.finance.do(closing.begin, month, by="wale")
            self.finance.do(closing.close, month, by="funmi", note=_NOTE)

    def _give_back(self) -> None:
        """Approve and pay the credit notes, each to an account of its own, above the limit with a second person."""
        with self.finance.reading() as session:
            unpaid = credit_note_reading.list_unpaid(session, clock.now())
        for row in unpaid:
            own = {**ACCOUNT, "payee_account": f"{row.id.int % 10**10:010d}"}
            if self.finance.do(deciding.approve, row.id, own, by="femi") != "Approved":
                self.finance.do(deciding.approve, row.id, own, by="wale")
            paid = {"bank_reference": f"CN/{row.id.hex}", "value_on": str(clock.today())}
            self.finance.do(deciding.pay, row.id, paid, by="funmi")
            self.done["credit note paid"] += 1

    def _decline_pending(self, policy_id: UUID, version: int) -> None:
        given = {"actor": "tests", "reason": "Never taken", "expected_version": version}
        self.finance.do(changes.decline, policy_id, **given)

    def _state_again(self, month: date) -> None:
        listed = self.finance.read(statement_reading.list_statements, month=month)
        for row in listed:
            if self.finance.read(statements.can_reverse, row.id):
                reversal = self.finance.do(statements.reverse, row.id, reason="Stated once more", by="funmi")
                self.finance.do(statements.move, reversal, "Approved", by="wale")
                self._prepare(row.party, month)
                self.done["stated again"] += 1
                return
