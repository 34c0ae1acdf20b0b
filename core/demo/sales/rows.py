"""A sale as rows: purchase, policy, certificates, submission, renewals, refund, and what the figures count.

The figures of a chunk are summed before they are added to what is kept.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core import seal
from core.covers.refunds import Refund as Given
from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.sales.policy_lives import Ended, Paid
from core.demo.sales.sales import Sale
from core.money import Split
from core.store import policy_numbers
from core.store.access import ScopedSession
from core.store.rollups import daily_rollup, day_totals
from core.store.rollups.day_totals import MEASURED, CoverFacts, Entry
from core.store.schema.rollups import MEASURES
from core.store.schema.sales import Certificate, InsuredRisk, Policy, Purchase, Refund, Renewal, Submission

_LAGOS = timedelta(hours=1)
_PLACE = {name: place for place, name in enumerate(MEASURES)}
Sums = defaultdict[tuple[Any, ...], list[int]]


def _nothing() -> list[int]:
    return [0] * len(MEASURES)


class Figures:
    """Sums of one chunk by day, mode, product, distributor and instalment; of cover by day, mode and product."""

    def __init__(self) -> None:
        self.days: Sums = defaultdict(_nothing)
        self.cover: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)

    def add(self, at: datetime, purchase: Values, **measures: int) -> None:
        """Count something that happened to a purchase at an instant."""
        # Lagos is an hour ahead all year; this runs for every row, where a time zone's lookup would be felt.
        day = (at + _LAGOS).date()
        frequency = purchase["premium_frequency"] or daily_rollup.ONCE
        sums = self.days[day, purchase["is_live"], purchase["product_id"], purchase["distributor_id"], frequency]
        for name, value in measures.items():
            sums[_PLACE[name]] += value

    def follow(self, entries: Iterable[Entry], *, is_live: bool) -> None:
        """Count what a policy or a renewal does to cover."""
        for day, measures, product_id in entries:
            sums = self.cover[day, is_live, product_id]
            for name, number in measures.items():
                sums[name] += number


def pour_figures(session: ScopedSession, figures: Figures) -> None:
    """Add the sums to the daybook and to the totals of days, in the session's transaction."""
    months: Sums = defaultdict(_nothing)
    totals: Sums = defaultdict(_nothing)
    for (day, *keys), sums in figures.days.items():
        for whole in (months[day.replace(day=1), *keys], totals[day, keys[0]]):
            whole[:] = map(sum, zip(whole, sums, strict=True))
    daily_rollup.add(session.connection(), [*_lines("day", figures.days), *_lines("month", months)])
    day_totals.add(session.connection(), [*_totals(totals), *_cover_lines(figures)])


def _lines(grain: str, sums: Sums) -> Iterator[dict[str, Any]]:
    for (day, is_live, product_id, distributor_id, frequency), measured in sums.items():
        yield {
            "is_live": is_live,
            "grain": grain,
            "day": day,
            "product_id": UUID(product_id),
            "distributor_id": UUID(distributor_id),
            "premium_frequency": frequency,
            **dict(zip(MEASURES, measured, strict=True)),
        }


def _totals(sums: Sums) -> Iterator[dict[str, Any]]:
    for (day, is_live), measured in sums.items():
        yield {"day": day, "is_live": is_live, **dict(zip(MEASURES, measured, strict=True))}


def _cover_lines(figures: Figures) -> Iterator[dict[str, Any]]:
    for (day, is_live, product_id), measured in figures.cover.items():
        yield {"day": day, "is_live": is_live, "product_id": product_id and UUID(product_id), **measured}


def file(sale: Sale, rows: Rows, figures: Figures) -> None:
    """Add everything that a sale and its later life write."""
    purchase = _purchase(sale)
    rows.add(Purchase, purchase)
    figures.add(sale.at, purchase, **MEASURED[Purchase].of(sale.variant.split))
    figures.follow(day_totals.cover(_cover(sale)), is_live=sale.owner["is_live"])
    rows.add(Policy, _policy(sale))
    if sale.variant.risk:
        risk = {"product_id": sale.offer.ids["product_id"], "risk_hash": _risk(sale), "sold_at": sale.when}
        rows.add(InsuredRisk, risk)
    rows.add(Submission, _submission(sale))
    if sale.certificates:
        for certificate in _certificates(sale):
            rows.add(Certificate, certificate)
    for paid, renewal_id in zip(sale.life.renewals, sale.renewal_ids, strict=True):
        rows.add(Renewal, _renewal(sale, purchase, paid, renewal_id))
        figures.add(paid.at, purchase, **MEASURED[Renewal].of(sale.variant.split))
        gap = day_totals.gap(paid.previous_expiration_at, paid.start_at, sale.offer.ids["product_id"])
        figures.follow(gap, is_live=sale.owner["is_live"])
    if (ended := sale.life.ended) is not None:
        for refund_id, (place, refund) in zip(sale.refund_ids, ended.of_terms, strict=True):
            parts = sale.offer.refund_split(refund.amount_minor, sale.variant.split)
            rows.add(Refund, _refund(sale, ended, refund, parts, refund_id, place))
            figures.add(ended.at, purchase, **MEASURED[Refund].of(parts))


def finish(rows: Rows) -> None:
    """Fill in, seal and hash the values that `file` leaves to the process that writes, as it has less to do."""
    rows.finish(Policy, submitted=_fill, payload=_fill, explained=_fill, sealed=seal.seal, risk_hash=_hash_risk)
    rows.finish(InsuredRisk, risk_hash=_hash_risk)


def _fill(text: tuple[str, Values]) -> str:
    template, words = text
    return template % words


def _hash_risk(text: tuple[str, Values] | None) -> str | None:
    return text and seal.keyed_hash("risk", _fill(text))


def _cover(sale: Sale) -> CoverFacts:
    life = sale.life
    return CoverFacts(
        product_id=sale.offer.ids["product_id"],
        created_at=sale.at,
        activated=life.activated,
        expiration_at=life.expiration_at,
        cancelled_at=life.cancelled.at if life.cancelled else None,
        declined_at=life.declined.at if life.declined else None,
    )


def _purchase(sale: Sale) -> Values:
    return {
        **sale.owner,
        **sale.offer.ids,
        "id": sale.purchase_id,
        "created_at": sale.when,
        "updated_at": sale.when,
        "customer_id": sale.customer.id,
        "batch_id": sale.batch_id,
        "premium_frequency": sale.variant.body.get("premium_frequency"),
        **_amounts(sale.variant.split),
        **_payment(sale.source),
    }


def _amounts(parts: Split) -> dict[str, int]:
    return {
        "total_minor": parts.total_minor,
        "mca_profit_minor": parts.mca_profit_minor,
        "distributor_profit_minor": parts.distributor_profit_minor,
    }


def _payment(source: str) -> dict[str, str]:
    return {"payment_option": "wallet", "payment_channel": source, "request_source": source}


def _risk(sale: Sale) -> tuple[str, Values] | None:
    """The thing insured, by whose hash it is guarded against a second sale (contract S12)."""
    return (sale.variant.risk, sale.says) if sale.variant.risk else None


def _policy(sale: Sale) -> Values:
    life, says, variant = sale.life, sale.says, sale.variant
    ids = {name: sale.offer.ids[name] for name in ("product_id", "product_category_id", "provider_id")}
    return {
        **sale.owner,
        **ids,
        **_payment(sale.source),
        **_person(sale),
        "id": sale.policy_id,
        "purchase_id": sale.purchase_id,
        "customer_id": sale.customer.id,
        "buyer_id": sale.buyer_id,
        "created_at": sale.when,
        "updated_at": stamp(sale.touched_at),
        "start_at": _stamp(life.start_at),
        "activation_at": _stamp(life.activation_at),
        "expiration_at": _stamp(life.expiration_at),
        "activated": life.activated,
        "submitted_to_provider": life.submitted,
        "cancelled_at": life.cancelled and stamp(life.cancelled.at),
        "declined_at": life.declined and stamp(life.declined.at),
        "policy_number": sale.policy_number,
        "number_key": sale.policy_number and policy_numbers.key(sale.policy_number),
        "certificate_code": sale.certificates[-1] if sale.certificates else None,
        "plate_key": variant.plate % says if variant.plate else None,
        "device_serial_number": variant.device % says if variant.device else None,
        "risk_hash": _risk(sale),
        "twin_key": variant.twin % says if variant.twin else None,
        "possible_duplicate_of": sale.repeats,
        "sum_insured_minor": variant.sum_insured_minor,
        "market_price_minor": variant.split.total_minor,
        "genius_price_minor": variant.split.total_minor,
        "profit_minor": sale.variant.split.mca_profit_minor,
        "submitted": (variant.submitted, says),
        "payload": (variant.payload, says),
        "sealed": {path: str(says[f"{word}_number"]) for path, word in variant.personal.items()},
        "explained": (variant.explained, says),
        "version": 1 + len(sale.changes),
    }


def _person(sale: Sale) -> Values:
    """The policyholder, as far as the request says."""
    says, body = sale.says, sale.variant.body
    born = says["born"] if "date_of_birth" in body or "dob" in body else None
    return {name: says[name] for name in ("first_name", "last_name", "email", "phone")} | {"dob": born}


def _stamp(at: datetime | None) -> str | None:
    return stamp(at) if at else None


def _submission(sale: Sale) -> Values:
    life = sale.life
    return {
        **sale.owner,
        "policy_id": sale.policy_id,
        "provider_id": sale.offer.ids["provider_id"],
        "state": life.state,
        "attempts": life.attempts,
        "failures": life.attempts if life.last_error else 0,
        "next_try_at": _stamp(life.next_try_at),
        "last_error": life.last_error,
        "answer": life.state if life.heard_at and not life.last_error else None,
        "answered_at": stamp(life.heard_at) if life.heard_at and not life.last_error else None,
        "created_at": sale.when,
        "updated_at": stamp(life.heard_at) if life.heard_at else sale.when,
    }


def _certificates(sale: Sale) -> list[Values]:
    """One for each term that was paid for, issued when it was."""
    issued = [sale.life.accepted_at or sale.at, *(paid.at for paid in sale.life.renewals)]
    return [
        {
            **sale.owner,
            "code": code,
            "policy_id": sale.policy_id,
            "start_at": stamp(start),
            "expiration_at": stamp(end),
            "created_at": stamp(at),
        }
        for code, (start, end), at in zip(sale.certificates, sale.life.stretches, issued, strict=True)
    ]


def _renewal(sale: Sale, purchase: Values, paid: Paid, renewal_id: str) -> Values:
    when = stamp(paid.at)
    return {
        **sale.owner,
        **sale.offer.ids,
        **_amounts(sale.variant.split),
        **_payment(paid.source),
        "id": renewal_id,
        "created_at": when,
        "updated_at": when,
        "policy_id": sale.policy_id,
        "purchase_id": sale.purchase_id,
        "customer_id": purchase["customer_id"],
        "status": True,
        "previous_expiration_at": stamp(paid.previous_expiration_at),
        "start_at": stamp(paid.start_at),
        "expiration_at": stamp(paid.expiration_at),
    }


def _refund(sale: Sale, ended: Ended, refund: Given, parts: Split, refund_id: str, place: int) -> dict[str, Any]:
    return {
        **sale.owner,
        **sale.offer.ids,
        **_amounts(parts),
        "id": refund_id,
        "policy_id": sale.policy_id,
        "purchase_id": sale.purchase_id,
        "renewal_id": sale.renewal_ids[place - 1] if place else None,
        "customer_id": sale.customer.id,
        "method": refund.method,
        "reason": ended.reason,
        "explained": json.dumps(refund.price.explain),
        "created_at": stamp(ended.at),
    }
