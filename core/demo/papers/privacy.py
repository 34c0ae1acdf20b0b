"""Cases of the privacy desk for the demonstration, made by the services with two of its accounts."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.compliance import breaches, complaints, erasures, filings, requests, retention
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import Customer, DataRequest, Policy, Purchase

_DESK, _SECOND = "compliance@coverdesk.example", "admin@coverdesk.example"
_RESERVED: Final = 4


def write_cases(session: ScopedSession) -> int:
    """Write a case of each register, once; returns the number of cases. NotFound when an account is disabled."""
    if session.execute(sa.select(col(DataRequest.id)).limit(1)).first():
        return 0
    desk, second = staff.get_by_email(session, _DESK), staff.get_by_email(session, _SECOND)
    people = _find_people(session)
    if len(people) < _RESERVED:
        return 0
    _write_requests(session, people, desk)
    _write_breaches(session, desk, second)
    _write_complaints(session, desk)
    _write_filings(session, desk, second)
    retention.set_hold(session, people[3].id, reason="A dispute about a renewal is at court", by=second)
    return 9


def _find_people(session: ScopedSession) -> list[Customer]:
    """Return customers of live records whose covers are over, so that one of them can be erased."""
    running = sa.exists().where(
        col(Policy.customer_id) == col(Customer.id),
        sa.or_(col(Policy.expiration_at).is_(None), col(Policy.expiration_at) > clock.now()),
    )
    bought = sa.exists().where(col(Purchase.customer_id) == col(Customer.id))
    query = sa.select(Customer).where(col(Customer.is_live), bought, ~running).order_by(col(Customer.created_at))
    return list(session.execute(query.limit(_RESERVED)).scalars())


def _write_requests(session: ScopedSession, people: list[Customer], desk: Person) -> None:
    asks = (
        ("access", "Which data do you hold about me, and who has seen it?", 4),
        ("erasure", "I have no cover with you any more: please delete everything.", 12),
        ("rectification", "My date of birth is wrong on the certificate.", 34),
    )
    ids_: list[UUID] = []
    for person, (kind, words, days_ago) in zip(people, asks, strict=False):
        typed = {
            "kind": kind,
            "name": f"{person.first_name} {person.last_name}",
            "email": person.email,
            "details": words,
            "received_on": clock.add_days(clock.today(), -days_ago).isoformat(),
        }
        ids_.append(requests.register(session, typed, by=desk))
    access, erasure, rectification = ids_
    requests.acknowledge(session, access, version=1, by=desk)
    for request_id, version in ((access, 2), (erasure, 1)):
        requests.note_identity(session, request_id, method="Identity document seen", version=version, by=desk)
    requests.acknowledge(session, rectification, version=1, by=desk)
    obstacles = retention.find_obstacles(session, retention.with_same_email(session, [people[1].id]))
    if not obstacles.reasons:
        reason = "Asked for in writing; no cover, no claim, no dispute"
        erasures.prepare_for_request(session, erasure, reason=reason, early=True, by=desk)


def _write_breaches(session: ScopedSession, desk: Person, second: Person) -> None:
    today = clock.today()
    old = {
        "title": "An export was sent to a wrong address",
        "description": "A list of renewals went to another agency.",
        **{name: (today - timedelta(days=40)).isoformat() for name in ("known_on", "since_on", "until_on")},
    }
    closed = breaches.register(session, old, by=desk)
    risk = {"risk": "likely", "risk_reason": "Names and phone numbers of strangers were read", "people": 61}
    breaches.judge(session, closed, risk, version=1, by=desk)
    breaches.note_commission(session, closed, reference="NDPC/BR/0061", version=2, by=desk)
    breaches.close(session, closed, version=3, by=second)
    fresh = {
        "title": "A phone of the field team was lost",
        "description": "It was signed in to the desk; ended at once.",
        "known_on": (today - timedelta(days=1)).isoformat(),
        "since_on": (today - timedelta(days=2)).isoformat(),
        "until_on": (today - timedelta(days=1)).isoformat(),
    }
    breaches.register(session, fresh, by=desk)


def _write_complaints(session: ScopedSession, desk: Person) -> None:
    query = sa.select(col(Policy.policy_number)).where(col(Policy.is_live), col(Policy.policy_number).is_not(None))
    number = session.execute(query.order_by(col(Policy.created_at).desc()).limit(1)).scalar_one_or_none()
    late = {"category": "delay", "name": "Ngozi Okafor", "policy_number": number}
    complaints.register(session, {**late, "text": "My claim has been waiting for three weeks."}, by=desk)
    complaint = {"category": "service", "name": "Tunde Bakare", "contact": "tunde.bakare@example.com"}
    complaint |= {"text": "Nobody answers the phone on Fridays."}
    answered = complaints.register(session, complaint, by=desk)
    complaints.answer(session, answered, outcome="The line is staffed on Fridays again; called back.", by=desk)


def _write_filings(session: ScopedSession, desk: Person, second: Person) -> None:
    """Send the returns that were due, but for the newest two: one waits for its check, one is still to be prepared."""
    due = [row for row in filings.list_calendar(session) if (row.days_left or 0) < 0]
    for place, row in enumerate(due[:-1]):
        seen = filings.list_figures(session, row).rows
        filing = filings.prepare(session, row.kind, row.period_ends_on, seen=seen, by=desk)
        if place < len(due) - 2:
            filings.check(session, filing, seen=seen, by=second)
            filings.send(session, filing, reference=f"REF/{row.period_ends_on:%Y}/{place + 1:03d}", by=desk)
