"""The insurers that have a connection: an address in the settings, for each mode by itself."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlmodel import col

from core.settings import settings
from core.states.policies import SubmissionState
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import InsurerConnection, Provider, Submission


def find_host(segment: str, *, is_live: bool) -> str | None:
    """Return the host of an insurer's address in a mode, without the path and without credentials; None without one."""
    address = settings().insurer_url(segment, is_live=is_live)
    return urlsplit(address).netloc.rpartition("@")[2] if address else None


def is_connected() -> sa.ColumnElement[bool]:
    """Return the condition of a submission whose insurer has an address in its mode."""
    return sa.or_(_is_connected(is_live=True), _is_connected(is_live=False))


def _is_connected(*, is_live: bool) -> sa.ColumnElement[bool]:
    known = settings()
    segments = [segment for segment in known.insurers if known.insurer_url(segment, is_live=is_live)]
    providers = sa.select(col(Provider.id)).where(col(Provider.segment).in_(segments))
    return sa.and_(col(Submission.is_live).is_(is_live), col(Submission.provider_id).in_(providers))


def list_silent(session: ScopedSession, *, since: datetime) -> Sequence[Any]:
    """Return the insurers that fail in a row, while policies queued before `since` were tried without success.

    Rows have name, policies and error. Each try moves the instant at which a policy is due, which therefore says
    nothing of how long it waits. Needs the system's scope.
    """
    if not settings().insurers:
        return []
    query: AnySelect = (
        sa.select(
            col(Provider.company_name).label("name"),
            sa.func.count().label("policies"),
            sa.func.min(col(InsurerConnection.last_error)).label("error"),
        )
        .join(Submission, col(Submission.provider_id) == col(Provider.id))
        .join(InsurerConnection, col(InsurerConnection.provider_id) == col(Provider.id))
        .where(
            # Set by several failures in a row, and taken away by the next usable answer.
            col(InsurerConnection.rests_until).is_not(None),
            col(Submission.state) == SubmissionState.QUEUED,
            col(Submission.failures) > 0,
            col(Submission.created_at) <= since,
            is_connected(),
        )
        .group_by(col(Provider.company_name))
        .order_by(col(Provider.company_name))
    )
    return session.execute(query).all()
