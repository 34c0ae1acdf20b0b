"""`planted`: a store with an error that no service could make, for a test that the check finds it by name."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import sqlalchemy as sa

from core.desk import store_check
from core.store.access import Scope, ScopedSession, Store

# What the planted error is in, by the first word of its table: "payout" of payout_batch.
_PLANTED_IN = "planted in"


class _TakenBackError(Exception):
    """Ends a transaction whose writes are not to stay."""


@contextmanager
def planted(store: Store, error: str, *, without: dict[str, str] | None = None) -> Iterator[ScopedSession]:
    """A session of a transaction in which this statement was carried out; the end takes everything back.

    `without` names the triggers, each with its table, that would refuse it. One store thus serves for many errors, and
    none of them is seen by another. A statement that meets no row is an error of the test.
    """
    with suppress(_TakenBackError), store.writing(Scope.system()) as session:
        connection = session.connection()
        for trigger, table in (without or {}).items():
            connection.exec_driver_sql(f"DROP TRIGGER {trigger}" + ("" if store.is_sqlite else f" ON {table}"))
        assert connection.execute(sa.text(error)).rowcount != 0, f"no row for: {error}"
        session.expire_all()
        session.info[_PLANTED_IN] = error.replace("DELETE FROM ", "UPDATE ").split()[1].partition("_")[0]
        yield session
        raise _TakenBackError


def find_faults(session: ScopedSession, rule: str) -> list[str]:
    """List what the check of the store finds by one of its rules, which is called as the check calls it."""
    return list(store_check._RULES[rule](session))


def assert_named(session: ScopedSession, words: str) -> None:
    """Assert that the check of the store finds a fault with these words; the rules behind that one are not run.

    A rule that has the words in its name, without the number before them, comes first, and then those that name what
    the error was planted in.
    """
    found = list[str]()
    named, planted_in = words.lstrip("0123456789 "), session.info.get(_PLANTED_IN, "")
    for rule in sorted(store_check._RULES, key=lambda rule: (named not in rule, planted_in not in rule)):
        found += (faults := find_faults(session, rule))
        if any(words in fault for fault in faults):
            return
    raise AssertionError(f"{words!r} is in none of {found}")
