"""The periods that a screen offers: named ones, all time, or a custom range of dates."""

from core import clock
from core.services.lists import windows
from core.services.lists.windows import Comparison, Window
from core.ui.kit import words

ALL, CUSTOM = "all", "custom"
NAMES = {
    ALL: "All time",
    "today": "Today",
    "7d": "7 days",
    "30d": "30 days",
    "this-month": "This month",
    "last-month": "Last month",
    "6m": "Last 6 months",
    "1y": "Last year",
    CUSTOM: "Custom",
}
PREVIOUS, YEAR_BEFORE, NOTHING = "previous", "year", "none"
AGAINST = {PREVIOUS: "Previous period", YEAR_BEFORE: "Same period last year", NOTHING: "Nothing"}
_ROLLING = frozenset({"7d", "30d"})
window_of = windows.named_window


def comparison_of(period: str, window: Window, against: str = PREVIOUS) -> Comparison:
    """Return the comparison period of a named period; N days are compared with the N days before them."""
    if against == YEAR_BEFORE:
        return windows.year_before(window)
    return windows.find_comparison(window, rolling=period in _ROLLING)


def describe_comparison(compared: Comparison) -> str:
    """Format a comparison period: "21 Nov 2026 until 09:17"."""
    until = f" until {clock.format_lagos(compared.until, '%H:%M')}" if compared.until else ""
    return describe_period(compared.window) + until


def describe_period(window: Window) -> str:
    """Format a date range: "22 Oct – 20 Nov 2026"."""
    first, last = window.start, window.last
    if first == last:
        return words.day(first)
    start = f"{first.day} {first:%b}" if first.year == last.year else words.day(first)
    return f"{start} – {words.day(last)}"
