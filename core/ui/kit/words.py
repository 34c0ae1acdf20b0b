"""How figures, days and states are written on every screen."""

import re
from datetime import date, datetime
from decimal import Decimal

from core import clock, money

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")
_ISO_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_ABBREVIATIONS = {
    "id": "ID",
    "bvn": "BVN",
    "nin": "NIN",
    "lga": "LGA",
    "url": "link",
    "email": "e-mail",
    "dob": "date of birth",
    "nok": "next of kin",
    "num": "number",
}
# What a state means for the reader decides its colour, so that a screen never invents one.
_COLOURS = {
    "In force": "green",
    "On sale": "green",
    "Active": "green",
    "Planned": "violet",
    "Proposed": "orange",
    "Paid": "green",
    "Settled": "green",
    "Approved": "green",
    "Offer accepted": "green",
    "Accepted": "green",
    "Renewed": "green",
    "Took effect": "green",
    "Deciding": "blue",
    "Being sent": "blue",
    "On trial": "orange",
    "Trying again": "orange",
    "Not connected": "orange",
    "Failing": "orange",
    "Resting": "red",
    "Set aside": "red",
    "Enabled": "green",
    "Working": "green",
    "Ready": "green",
    "Open": "green",
    "Live": "blue",
    "Invited": "blue",
    "No password": "orange",
    "Disabled": "red",
    "Revoked": "red",
    "Not ready": "red",
    "Pending": "orange",
    "Reviewing": "blue",
    "Viewed": "blue",
    "Inspection submitted": "blue",
    "Repair estimate submitted": "blue",
    "Offer sent": "violet",
    "Not started": "blue",
    "Test": "orange",
    "Expired": "gray",
    "Cancelled": "red",
    "Off": "red",
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


def short_naira(minor: int) -> str:
    """Integer kobo where there is little room: "₦1.25bn", "₦340.2m", "₦18.5k"; never for a figure to rely on."""
    for size, sign in ((10**11, "bn"), (10**8, "m"), (10**5, "k")):
        if abs(minor) >= size:
            return f"₦{minor / size:,.2f}{sign}" if sign == "bn" else f"₦{minor / size:,.1f}{sign}"
    return f"₦{minor / 100:,.0f}"


def read_naira(typed: str | None) -> str:
    """What somebody typed as an amount, ready to be validated: "₦100,000.50" -> "100000.50"."""
    bare = re.sub(r"[\s₦]", "", typed or "")
    grouped = re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d*)?", bare)
    return bare.replace(",", "") if grouped else bare


def as_typed(typed: str) -> str:
    """An amount as an input shows it once it was typed, thousands marked; what is no amount stays as it is."""
    match = re.fullmatch(r"(\d{1,14})(\.\d{1,2})?", read_naira(typed))
    return f"{int(match[1]):,}{match[2] or ''}" if match else typed


def count(number: int) -> str:
    """A whole number with thousands marked."""
    return f"{number:,}"


def duration(milliseconds: int) -> str:
    """A length of time as people say it: "25 minutes", "9.5 hours", "6.4 days"."""
    minutes = milliseconds / 60_000
    if minutes < 60:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.1f} hours" if minutes < 48 * 60 else f"{minutes / 1440:,.1f} days"


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


def dated(text: str) -> str:
    """A sentence that the API says too, with its days as screens write them."""
    return _ISO_DAY.sub(lambda found: day(found[0]), text)


def moment(value: datetime | str | None) -> str:
    """An instant as people in Lagos read it, "20 Nov 2026, 08:08"; a dash for none."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return clock.in_lagos(value) or "–"


def plain(text: str | None) -> str:
    """A text that somebody else wrote, safe inside Markdown: shown as it stands, never formatted."""
    unlinked = re.sub(r"(?i)(://|www\.)", "\u2060\\1", text or "")
    return _MARKDOWN.sub(r"\\\1", unlinked)


def title(name: str) -> str:
    """A field's or option's name in sentence case: "loan_start_date" -> "Loan start date"."""
    words = [_ABBREVIATIONS.get(word, word) for word in name.replace("_", " ").split()]
    sentence = " ".join(words)
    return sentence[:1].upper() + sentence[1:]


def colour(state: str) -> str:
    """The colour of a state by name; an unknown state is grey."""
    return _COLOURS.get(state, "gray")


def until(days: int, *, is_over: bool) -> str:
    """When cover ends, in days from today: "in 3 days", "ended today"."""
    if not days:
        return "Ended today" if is_over else "Ends today"
    distance = f"{abs(days):,} {'day' if abs(days) == 1 else 'days'}"
    return f"Ended {distance} ago" if days < 0 else f"Ends in {distance}"


def badge(state: str) -> str:
    """A state as a coloured badge in Markdown; an unknown state is grey."""
    return f":{colour(state)}-badge[{plain(state)}]"
