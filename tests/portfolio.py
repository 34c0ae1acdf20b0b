"""Random sales, renewals, refunds and claims, as the services would write them; all of them in one go."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel

from core import ids
from core.covers import request_parts
from core.demo import portfolio
from core.store.access import Scope, ScopedSession, Store
from core.store.rollups import daily_rollup
from core.store.schema.tables import (
    Claim,
    ClaimEvent,
    ClaimPayment,
    Customer,
    Policy,
    Product,
    ProductVersion,
    Purchase,
    Refund,
    Renewal,
    Transfer,
)

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
NAMES = (("Ngozi", "Okafor"), ("Bola", "O'Neil, Jr."), ("=Tunde", '"Quoted"'), ("Zoë", "Ọládélé"), ("@Sum", "-1+1"))
_IN_ORDER = (Customer, Purchase, Policy, Refund, Renewal, Claim, ClaimEvent, Transfer, ClaimPayment)
FREQUENCIES = (None, None, "monthly", "quarterly", "weekly")


@dataclass(frozen=True)
class Portfolio:
    """The ids of the rows of one portfolio."""

    seed: int
    size: int
    sellers: tuple[UUID, ...] = ()
    is_live: bool = True
    days: int = 90
    now: datetime = NOW

    def write(self, store: Store) -> None:
        """Write it all in one transaction."""
        with store.writing(Scope.system()) as session:
            writer = _Writer(session, self, Random(self.seed))
            writer.write()
            for entity in _IN_ORDER:
                rows = [row.model_dump() for row in writer.rows if type(row) is entity]
                if rows:
                    session.execute(sa.insert(entity), rows)
            daily_rollup.rebuild(session.connection())
            portfolio.fill(session, self.now)


@dataclass(frozen=True)
class Sales:
    """Portfolios of the partner and the stranger, or of the partner alone, that the tests with a fixture begin with.

    They are made once and copied for each test.
    """

    fixture: str
    of_both: tuple[Portfolio, ...] = ()
    of_partner: tuple[Portfolio, ...] = ()


def sales_at(session: ScopedSession, seller: UUID, *instants: datetime) -> None:
    """A sale of each of these instants, to one customer."""
    writer = _Writer(session, Portfolio(seed=1, size=1, sellers=(seller,)), Random(1))
    customer = writer.customer(1)
    for number, at in enumerate(instants, 1):
        writer.sale(number, customer, at)
    session.insert(*writer.rows)
    portfolio.fill(session, NOW)


class _Writer:
    def __init__(self, session: ScopedSession, plan: Portfolio, dice: Random) -> None:
        self.plan, self.dice = plan, dice
        self.rows: list[SQLModel] = []
        self.products = session.execute(
            sa.select(Product, ProductVersion)
            .join(ProductVersion, ProductVersion.product_id == Product.id)
            .order_by(Product.prefix, Product.route_name, ProductVersion.id)
        ).all()

    def write(self) -> None:
        customers = [self.customer(n) for n in range(max(1, self.plan.size // 3))]
        for number in range(self.plan.size):
            self.sale(number, self.dice.choice(customers), self._when())

    def _when(self) -> datetime:
        """An instant of the last days, often right at midnight in Lagos, which is 23:00 UTC."""
        if self.dice.random() < 0.3:
            midnight = self.plan.now.replace(hour=23, minute=0) - timedelta(days=self.dice.randint(1, self.plan.days))
            return midnight + timedelta(milliseconds=self.dice.choice((-1, 0, 1)))
        return self.plan.now - timedelta(milliseconds=self.dice.randrange(self.plan.days * 86_400_000))

    def customer(self, number: int) -> Customer:
        first, last = self.dice.choice(NAMES)
        customer = Customer(
            distributor_id=self.dice.choice(self.plan.sellers),
            is_live=self.plan.is_live,
            email=f"Person{number}.{self.plan.seed}@example.com",
            email_key=f"person{number}.{self.plan.seed}@example.com",
            name_key=request_parts.build_name_key(first, last),
            first_name=first,
            last_name=last,
            phone_number="+2348031234567",
            user_id=ids.new(),
        )
        self.rows.append(customer)
        return customer

    def sale(self, number: int, customer: Customer, at: datetime) -> None:
        dice = self.dice
        product, version = dice.choice(self.products)
        total = dice.choice((1, 99, 100, dice.randrange(1, 10**9)))
        owned = {"distributor_id": customer.distributor_id, "is_live": self.plan.is_live}
        sold = {
            **owned,
            "created_at": at,
            "updated_at": at,
            "customer_id": customer.id,
            "product_id": product.id,
            "product_category_id": product.product_category_id,
            "provider_id": product.provider_id,
            "request_source": dice.choice(("api", "desk", None)),
        }
        money = {"total_minor": total, "mca_profit_minor": total // 7, "distributor_profit_minor": total // 20}
        purchase = Purchase(
            **sold,
            **money,
            product_version_id=version.id,
            batch_id=ids.new(),
            premium_frequency=dice.choice(FREQUENCIES),
        )
        policy = self._policy(number, sold, purchase, customer)
        self.rows += [purchase, policy]
        self._afterwards(policy, purchase, money, version, owned)

    def _policy(self, number: int, sold: dict[str, object], purchase: Purchase, customer: Customer) -> Policy:
        dice, at = self.dice, purchase.created_at
        starts = at.replace(hour=0, minute=0, second=0, microsecond=0)
        ends = starts + timedelta(days=dice.choice((7, 30, 60, 365)))
        active = dice.random() < 0.9
        stopped = at + (ends - at) * dice.random() if dice.random() < 0.15 else None
        return Policy(
            **sold,
            purchase_id=purchase.id,
            buyer_id=customer.id,
            first_name=customer.first_name,
            last_name=customer.last_name,
            email=customer.email,
            start_at=starts,
            activation_at=starts,
            expiration_at=ends if active or dice.random() < 0.5 else None,
            activated=active,
            submitted_to_provider=active,
            cancelled_at=stopped if stopped and stopped <= self.plan.now and active else None,
            declined_at=at + timedelta(days=1) if dice.random() < 0.05 else None,
            policy_number=f"N/{self.plan.seed}/{self.plan.is_live}/{number}" if active else None,
            number_key=f"N/{self.plan.seed}/{self.plan.is_live}/{number}".upper() if active else None,
            market_price_minor=purchase.total_minor,
            genius_price_minor=purchase.total_minor,
            profit_minor=purchase.mca_profit_minor,
        )

    def _afterwards(
        self,
        policy: Policy,
        purchase: Purchase,
        money: dict[str, int],
        version: ProductVersion,
        owned: dict[str, object],
    ) -> None:
        dice = self.dice
        if policy.cancelled_at:
            self._refund(policy, purchase, version, owned)
        elif policy.activated and policy.expiration_at and policy.expiration_at < self.plan.now and dice.random() < 0.5:
            self._renewal(policy, purchase, money, version, owned)
        if dice.random() < 0.2:
            self._claim(policy, owned)

    def _refund(self, policy: Policy, purchase: Purchase, version: ProductVersion, owned: dict[str, object]) -> None:
        back = self.dice.randrange(purchase.total_minor + 1)
        self.rows.append(
            Refund(
                **owned,
                id=ids.new(),
                policy_id=policy.id,
                purchase_id=purchase.id,
                customer_id=policy.customer_id,
                product_id=policy.product_id,
                product_version_id=version.id,
                product_category_id=policy.product_category_id,
                provider_id=policy.provider_id,
                total_minor=back,
                mca_profit_minor=back // 7,
                distributor_profit_minor=back // 20,
                method="pro_rata",
                reason="asked",
                created_at=policy.cancelled_at,
            )
        )

    def _renewal(
        self,
        policy: Policy,
        purchase: Purchase,
        money: dict[str, int],
        version: ProductVersion,
        owned: dict[str, object],
    ) -> None:
        ended = policy.expiration_at
        bought = min(
            self.plan.now, ended + timedelta(days=self.dice.choice((-3, 0, 4, 11)), hours=self.dice.randrange(24))
        )
        took_effect = self.dice.random() < 0.9
        starts = max(bought, ended)
        until = starts + timedelta(days=30)
        self.rows.append(
            Renewal(
                **owned,
                **money,
                created_at=bought,
                updated_at=bought,
                policy_id=policy.id,
                purchase_id=purchase.id,
                customer_id=policy.customer_id,
                product_id=policy.product_id,
                product_version_id=version.id,
                product_category_id=policy.product_category_id,
                provider_id=policy.provider_id,
                status=took_effect,
                previous_expiration_at=ended,
                start_at=starts,
                expiration_at=until,
            )
        )
        if took_effect:
            policy.expiration_at = until

    def _claim(self, policy: Policy, owned: dict[str, object]) -> None:
        amounts = dict.fromkeys(
            f"{name}_minor"
            for name in (
                *("claim_amount", "estimate_amount", "repair_estimate", "approved_amount"),
                *("betterment_deduction_amount", "excess_deduction_amount"),
            )
        )
        offer_minor = self.dice.randrange(10**7)
        statuses = self.dice.choice((("Pending",), ("Pending", "Paid"), ("Paid", "Reviewing", "Paid")))
        history = [(status, self._when()) for status in statuses]
        paid = [at for status, at in history if status == "Paid"]
        claim = Claim(
            **owned,
            **dict.fromkeys(amounts, 0),
            offer_amount_minor=offer_minor,
            policy_id=policy.id,
            customer_id=policy.customer_id,
            product_id=policy.product_id,
            provider_id=policy.provider_id,
            claim_type="Credit life",
            claim_status="Paid" if paid else "Pending",
            claim_description="A loss",
            claim_owner="Owner",
            claim_owner_first_name=policy.first_name,
            claim_owner_last_name=policy.last_name,
            claim_owner_name_key=request_parts.build_name_key(policy.first_name, policy.last_name),
            claim_owner_email=policy.email,
            clock_stopped_at=max(paid, default=None),
        )
        self.rows.append(claim)
        for status, at in history:
            event = {"id": ids.new(), "claim_id": claim.id, "status": status, "created_at": at}
            self.rows.append(ClaimEvent(**owned, **event))
            if status == "Paid" and offer_minor:
                self.rows += build_payment(claim, at)


def build_payment(claim: Claim, at: datetime, reference: str = "") -> tuple[Transfer, ClaimPayment]:
    """The payment of a claim's offer, under a reference that nobody else has."""
    payment_id, minor = ids.new(), claim.offer_amount_minor
    owned = {name: getattr(claim, name) for name in ("distributor_id", "is_live", "provider_id")}
    name = reference or str(payment_id)
    made = {"id": payment_id, "amount_minor": minor, "created_at": at}
    transfer = Transfer(**made, is_live=claim.is_live, reference=name, reference_key=name.lower(), lines=1)
    return transfer, ClaimPayment(**made, claim_id=claim.id, transfer_id=payment_id, **owned)


def lagos(instant: datetime) -> date:
    """The day in Lagos, computed the plain way: UTC and one hour."""
    return (instant + timedelta(hours=1)).date()
