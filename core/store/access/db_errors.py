"""Translate driver errors: an unavailable or busy database is StoreUnavailable, anything else is a defect."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from core.errors import StoreUnavailable
from core.store.operations import local_files

# A row that a constraint of the store refuses, for who answers it and knows no SQLAlchemy.
ConstraintRefused = IntegrityError
RETRIED_SQLSTATES = {"40001", "40P01"}


def gave_way(error: Exception) -> bool:
    """Return True for a transaction that PostgreSQL has ended for another one's sake: it may be tried again."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in RETRIED_SQLSTATES


@contextmanager
def translate_db_errors() -> Iterator[None]:
    """Raise StoreUnavailable for driver errors that mean the database is unavailable, busy or full."""
    try:
        yield
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or ""
        local_files.notice(error)
        is_unavailable = error.connection_invalidated or state[:2] in {"08", "53", "57"} or state == "55P03"
        if is_unavailable or (type(error.orig).__name__ == "OperationalError" and state not in RETRIED_SQLSTATES):
            raise StoreUnavailable from error
        raise
    except sa.exc.TimeoutError as error:
        raise StoreUnavailable from error
