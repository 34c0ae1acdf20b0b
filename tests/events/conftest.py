"""A demonstration, in which receivers on loopback may be called, and a desk of webhooks."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core import clock, settings
from core.covers import request as requests
from core.covers.insurers import insurer_f
from core.dispatch import webhooks as dispatch
from core.dispatch.lines import DispatchLines
from core.outbound.webhook_client import SendLimits, WebhookClient
from core.services.events.webhooks import endpoints, log
from core.services.events.webhooks.endpoints import Endpoint, EndpointRequest, NewSecret
from core.services.events.webhooks.log import Delivery, DeliveryDetail
from core.services.selling.buying import Sale
from core.store.access import Owner, Scope, Store
from tests.api import conftest as api
from tests.conftest import Partner
from tests.services.selling import sell

COVER = insurer_f.PERSONAL_ACCIDENT
PATIENT, IMPATIENT = SendLimits(connect=30, read=60, total=60), SendLimits(connect=5, read=0.4, total=0.4)


@dataclass
class Hooks:
    """A distributor that sells and has endpoints; time stands still unless it is moved."""

    store: Store
    partner: Partner
    now: datetime
    limits: SendLimits = PATIENT
    sales: int = 0

    @property
    def scope(self) -> Scope:
        return self.partner.scope()

    def register(self, url: str, *, ping: bool = True, partner: Partner | None = None, **changed: Any) -> NewSecret:
        owner = partner or self.partner
        request = requests.validate(EndpointRequest, {"url": url, "events": ["purchase.*"], **changed})
        with self.store.writing(owner.scope()) as session:
            made = endpoints.register(session, request, Owner(distributor_id=owner.id, is_live=False), actor="tests")
        if ping:
            self.ping(made.endpoint.id)
        return made

    def ping(self, endpoint_id: UUID) -> DeliveryDetail:
        async def send() -> DeliveryDetail:
            async with WebhookClient(self.limits) as client:
                return await dispatch.ping(self.store, Scope.system(), endpoint_id, client=client)

        return asyncio.run(send())

    def sell(self, partner: Partner | None = None) -> Sale:
        self.sales += 1
        return sell(self.store, partner or self.partner, COVER, email=f"holder{self.sales}@example.com")

    def drain(self) -> None:
        """Everything that is due is made, sent and recorded."""
        asyncio.run(DispatchLines(self.store, limits=self.limits).run(asyncio.Event(), until_idle=True))

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)
        clock._frozen[-1] = self.now

    def endpoint(self, made: NewSecret) -> Endpoint:
        with self.store.reading(Scope.system()) as session:
            return endpoints.get_endpoint(session, made.endpoint.id)

    def log(self, made: NewSecret, *, without_pings: bool = True) -> list[Delivery]:
        """The deliveries of an endpoint, oldest first."""
        with self.store.reading(Scope.system()) as session:
            found = list(reversed(log.list_deliveries(session, made.endpoint.id).items))
        return [each for each in found if not (without_pings and each.event_type == "endpoint.ping")]

    def detail(self, delivery: Delivery) -> DeliveryDetail:
        with self.store.reading(Scope.system()) as session:
            return log.get_delivery(session, delivery.id)


client, portal = api.client, api.portal


@pytest.fixture
def demonstration(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COVERDESK_DEMO", "true")
    settings.settings.cache_clear()
    yield
    settings.settings.cache_clear()


@pytest.fixture
def hooks(store: Store, partner: Partner, demonstration: None) -> Iterator[Hooks]:
    settings.settings.cache_clear()
    now = clock.now()
    with clock.freeze(now):
        yield Hooks(store, partner, now)
