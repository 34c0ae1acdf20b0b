"""The month that a command of finance is about."""

import re
from datetime import date
from typing import Annotated

import typer

from core import clock
from core.errors import InvalidInput

Month = Annotated[str, typer.Option("--month", help="The month, YYYY-MM in Lagos; the last that is over unless told.")]


def parse_month(month: str) -> date:
    """Return the first day of a month, of the last that is over for an empty text; InvalidInput for anything else."""
    if not month:
        return clock.add_months(clock.today().replace(day=1), -1)
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", month):
        raise InvalidInput.for_field("--month", "must be a month as YYYY-MM")
    return date.fromisoformat(f"{month}-01")
