"""Result types that read columns straight into their form on the wire: ids, instants, mode, naira."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from core import clock, money

Reader = Callable[[Any], Any]


class _WireType(sa.types.TypeEngine[str]):
    """A result type for `sa.type_coerce` that converts the driver's value to its form on the wire."""

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Reader:
        """Return the conversion for this dialect."""
        return self.of_sqlite if dialect.name == "sqlite" else self.of_driver

    of_sqlite: Reader
    of_driver: Reader


class WireId(_WireType):
    """An id as 36 characters; SQLite stores 32 digits."""

    @staticmethod
    def of_sqlite(stored: Any) -> Any:
        """Add the hyphens."""
        return stored and f"{stored[:8]}-{stored[8:12]}-{stored[12:16]}-{stored[16:20]}-{stored[20:]}"

    @staticmethod
    def of_driver(stored: Any) -> Any:
        """Convert a UUID."""
        return None if stored is None else str(stored)


class WireInstant(_WireType):
    """An instant (contract P9); SQLite stores UTC text with six decimals."""

    @staticmethod
    def of_sqlite(stored: Any) -> Any:
        """Return 2026-11-20T07:08:00.000Z."""
        return stored and f"{stored[:10]}T{stored[11:23]}Z"

    of_driver = staticmethod(clock.to_wire)


class WireMode(_WireType):
    """`is_live` as the value of `app_mode` (contract M1)."""

    @staticmethod
    def of_sqlite(stored: Any) -> Any:
        """Return "live" or "test"."""
        return "live" if stored else "test"

    of_driver = of_sqlite


class WireNaira(_WireType):
    """Kobo as naira with two decimals."""

    of_sqlite = of_driver = staticmethod(money.to_wire)
