"""Audit entries of a sale and of the later changes to its policy, in the words that the services use."""

from core import clock, money
from core.demo.audit_log import Log
from core.demo.random_source import dashed_id
from core.demo.sales.policy_lives import Ended
from core.demo.sales.sales import DESK, Sale

WORKER = "insurer worker"


def add_entries(sale: Sale, log: Log) -> None:
    """Note the sale and each change after it, each at its own time."""
    subject = f"policy {dashed_id(sale.policy_id)}"
    total = money.to_wire(sale.variant.split.total_minor)
    log.add(
        sale.at,
        sale.actor,
        "policy sold",
        subject,
        after={"purchase_id": dashed_id(sale.purchase_id), "product_id": sale.offer.product_id, "total": total},
    )
    if sale.life.accepted_at:
        _note_activation(sale, log, subject)
    for paid, renewal_id in zip(sale.life.renewals, sale.renewal_ids, strict=True):
        log.add(
            paid.at,
            DESK if paid.source == "desk" else sale.actor,
            "policy renewed",
            subject,
            before={"expiration_date": clock.to_wire(paid.previous_expiration_at)},
            after={
                "expiration_date": clock.to_wire(paid.expiration_at),
                "renewal_id": dashed_id(renewal_id),
                "total": total,
            },
        )
    if sale.life.ended:
        _note_end(sale, log, subject, sale.life.ended)


def _note_activation(sale: Sale, log: Log, subject: str) -> None:
    life = sale.life
    first_end = life.stretches[0][1]
    log.add(
        life.accepted_at or sale.at,
        DESK,
        "policy activated",
        subject,
        before={"version": 1},
        after={
            "policy_number": sale.policy_number,
            "start_date": clock.to_wire(life.start_at),
            "expiration_date": clock.to_wire(first_end),
            "insurer_accepted": True,
        },
    )


def _note_end(sale: Sale, log: Log, subject: str, ended: Ended) -> None:
    refund = money.to_wire(ended.refund.amount_minor)
    after: dict[str, object] = {"reason": ended.reason, "refund": refund}
    if sale.life.cancelled:
        after |= {"by_insurer": ended.by_insurer, "method": ended.refund.method}
    action = "policy cancelled" if sale.life.cancelled else "policy declined"
    log.add(ended.at, DESK, action, subject, before={"version": len(sale.changes)}, after=after)
