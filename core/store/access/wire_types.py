"""Columns that arrive as they go over the wire: an id as 36 characters, an instant as the API writes it, naira."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from core import clock, money

Reader = Callable[[Any], Any]


class _Sent(sa.types.TypeEngine[str]):
    """A result type for `sa.type_coerce`: the column is read as the driver gives it, then put into words once."""

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Reader:
        """What makes the word of a value of this driver."""
        return self.of_sqlite if dialect.name == "sqlite" else self.of_driver

    of_sqlite: Reader
    of_driver: Reader


class SentId(_Sent):
    """An id; SQLite keeps its 32 digits."""

    @staticmethod
    def of_sqlite(kept: Any) -> Any:
        """The usual 36 characters."""
        return kept and f"{kept[:8]}-{kept[8:12]}-{kept[12:16]}-{kept[16:20]}-{kept[20:]}"

    @staticmethod
    def of_driver(kept: Any) -> Any:
        """The usual 36 characters."""
        return None if kept is None else str(kept)


class SentMoment(_Sent):
    """An instant (contract P9); SQLite keeps it as text in UTC, with six decimals."""

    @staticmethod
    def of_sqlite(kept: Any) -> Any:
        """2026-11-20T07:08:00.000Z."""
        return kept and f"{kept[:10]}T{kept[11:23]}Z"

    of_driver = staticmethod(clock.wire)


class SentMode(_Sent):
    """Whether a row is live, as the word of `app_mode` (contract M1)."""

    @staticmethod
    def of_sqlite(kept: Any) -> Any:
        """The word."""
        return "live" if kept else "test"

    of_driver = of_sqlite


class SentNaira(_Sent):
    """Kobo as naira with two places."""

    of_sqlite = of_driver = staticmethod(money.wire)
