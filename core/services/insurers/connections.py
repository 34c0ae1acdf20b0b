"""The insurers that have a connection: an address in the settings, for each mode by itself."""

import sqlalchemy as sa
from sqlmodel import col

from core.settings import settings
from core.store.schema.tables import Provider, Submission


def is_connected() -> sa.ColumnElement[bool]:
    """Return the condition of a submission whose insurer has an address in its mode."""
    return sa.or_(_is_connected(is_live=True), _is_connected(is_live=False))


def _is_connected(*, is_live: bool) -> sa.ColumnElement[bool]:
    known = settings()
    segments = [segment for segment in known.insurers if known.insurer_url(segment, is_live=is_live)]
    providers = sa.select(col(Provider.id)).where(col(Provider.segment).in_(segments))
    return sa.and_(col(Submission.is_live).is_(is_live), col(Submission.provider_id).in_(providers))
