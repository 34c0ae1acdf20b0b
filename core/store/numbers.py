"""Policy numbers as insurers print them, and as they are compared (contract S10)."""

from datetime import date


def printed(series: str, number: int, on: date) -> str:
    """A number in an insurer's own style: "ACC/AR/{month}/{yy}/HQ/{n}" -> "ACC/AR/11/26/HQ/5300"."""
    return series.format(n=number, year=on.year, yy=f"{on.year % 100:02d}", month=f"{on.month:02d}")


def key(number: str) -> str:
    """A policy number as it is compared: without case and spaces."""
    return "".join(number.upper().split())
