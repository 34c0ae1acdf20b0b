"""How figures, days and states are written on every screen."""

import re
from datetime import date, datetime
from decimal import Decimal

from core import clock, money

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")
# What a state means for the reader decides its colour, so that a screen never invents one.
_COLOURS = {
    "In force": "green",
    "Paid": "green",
    "Settled": "green",
    "Approved": "green",
    "Offer accepted": "green",
    "Accepted": "green",
    "Renewed": "green",
    "Pending": "orange",
    "Awaiting insurer": "orange",
    "Reviewing": "blue",
    "Viewed": "blue",
    "Offer sent": "violet",
    "Starts later": "blue",
    "Test": "orange",
    "Expired": "gray",
    "Cancelled": "red",
    "Declined": "red",
    "Failed": "red",
    "Offer rejected": "red",
}


def naira(minor: int | None) -> str:
    """Integer kobo as "₦1,234,567.00"; a dash for none."""
    return "–" if minor is None else money.shown(minor)


def naira_of(amount: Decimal | str | None) -> str:
    """Naira, as Decimal or as the API's text, as "₦1,234,567.00"; a dash for none."""
    return "–" if amount is None else money.shown(money.to_minor(money.half_up(Decimal(amount))))


def count(number: int) -> str:
    """A whole number with thousands marked."""
    return f"{number:,}"


def percent(share: Decimal | float | None, places: int = 1) -> str:
    """A share of one as percent: 0.125 -> "12.5 %"; a dash for none."""
    return "–" if share is None else f"{share * 100:,.{places}f} %"


def day(value: date | datetime | str | None) -> str:
    """A day as "20 Nov 2026"; an instant gives its day in Lagos, a text is ISO 8601; a dash for none."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value) if "T" in value else date.fromisoformat(value)
    if isinstance(value, datetime):
        return clock.in_lagos(value, "%d %b %Y")
    return f"{value:%d %b %Y}" if value else "–"


def moment(value: datetime | str | None) -> str:
    """An instant as people in Lagos read it, "20 Nov 2026, 08:08"; a dash for none."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return clock.in_lagos(value) or "–"


def plain(text: str | None) -> str:
    """A text that somebody else wrote, safe inside Markdown: shown as it stands, never formatted."""
    return _MARKDOWN.sub(r"\\\1", text or "")


def title(name: str) -> str:
    """A field's or option's name in sentence case: "loan_start_date" -> "Loan start date"."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def badge(state: str) -> str:
    """A state as a coloured badge in Markdown; an unknown state is grey."""
    return f":{_COLOURS.get(state, 'gray')}-badge[{plain(state)}]"


def policy_state(policy: dict[str, object]) -> str:
    """The state of a policy record in one word for people: in force, awaiting insurer, expired."""
    if policy.get("active"):
        starts = policy.get("start_date")
        return "Starts later" if starts and datetime.fromisoformat(str(starts)) > clock.now() else "In force"
    ends = policy.get("expiration_date")
    over = ends and datetime.fromisoformat(str(ends)) <= clock.now()
    return "Expired" if over else "Awaiting insurer"
