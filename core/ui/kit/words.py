"""Formatting of money, dates, durations and states for all screens."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from core import clock, money
from core.services.mail.mail import takes_mail
from core.services.people import personal
from core.states.claims import RULES
from core.states.policies import STAGES

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")
_ISO_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
phone = personal.format_phone
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
    "sha256": "SHA-256",
    "color": "colour",
}
# The meaning of a state decides its colour; screens do not choose colours themselves.
_BY_COLOUR = {
    "green": (
        *("On sale", "Active", "Done", "Covered", "Confirmed", "Adjusted", "Acknowledged", "Answered", "Erased"),
        *("Notified", "Accepted", "Renewed", "Took effect", "Enabled", "Signed in", "Working", "Ready"),
    ),
    "violet": ("Planned", "Part paid", "Reopened", "Checked", "Delegated"),
    "red": (
        *("Refused", "Not covered", "Not ended", "Queried", "Returned", "Disputed", "To be judged"),
        *("To be notified", "Missing", "Lapsed", "Given up", "Paused", "Set aside", "Disabled", "Revoked"),
        *("Not ready", "Off", "Failed"),
    ),
    "orange": (
        *(
            "Referred",
            "Not in the file",
            "Not compared",
            "Proposed",
            "Prepared",
            "Part refunded",
            "Closing",
            "Reopening",
        ),
        *("Write-off asked", "Issued", "Ends soon", "Checking", "Trying again", "Not connected", "Failing"),
        *("Not verified", "Held", "Open", "No password", "Test"),
    ),
    "gray": ("Draft", "Refunded", "Written off", "Withdrawn", "Void"),
    "blue": (
        *("Sent", "Closed", "Explained", "Judged", "Deciding"),
        *("Being sent", "Not used yet", "Waiting", "Live", "Invited"),
    ),
}
_COLOURS: dict[str, str] = {
    **{stage: rule.colour for stage, rule in STAGES.items()},
    **{status: rule.colour for status, rule in RULES.items()},
    **{state: colour for colour, states in _BY_COLOUR.items() for state in states},
}


def naira(minor: int | None) -> str:
    """Format kobo as "₦1,234,567.00"; a dash for None."""
    return "–" if minor is None else money.format_naira(minor)


def naira_of(amount: Decimal | str | None) -> str:
    """Format naira, given as Decimal or as the API's text, as "₦1,234,567.00"; a dash for None."""
    return "–" if amount is None else money.format_naira(money.to_minor(money.round_half_up(Decimal(amount))))


def short_naira(minor: int) -> str:
    """Format kobo for narrow places: "₦1.25bn", "₦340.2m", "₦18.5k"; rounded, so not for exact amounts."""
    minus, kobo = "-" if minor < 0 else "", abs(minor)
    for size, sign in ((10**11, "bn"), (10**8, "m"), (10**5, "k")):
        if kobo >= size:
            return f"{minus}₦{kobo / size:,.2f}{sign}" if sign == "bn" else f"{minus}₦{kobo / size:,.1f}{sign}"
    return f"{minus}₦{kobo / 100:,.0f}"


def read_naira(typed: str | None) -> str:
    """Normalise a typed amount for validation: "₦100,000.50" -> "100000.50"."""
    bare = re.sub(r"[\s₦]", "", typed or "")
    grouped = re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d*)?", bare)
    return bare.replace(",", "") if grouped else bare


def as_typed(typed: str) -> str:
    """Return a typed amount with thousands separators; text that is not an amount is returned unchanged."""
    match = re.fullmatch(r"(\d{1,14})(\.\d{1,2})?", read_naira(typed))
    return f"{int(match[1]):,}{match[2] or ''}" if match else typed


def count(number: int) -> str:
    """Format a whole number with thousands separators."""
    return f"{number:,}"


class Unchanged(str):
    """The sentence about an action that changed nothing: it is shown as information, and not as a success."""

    __slots__ = ()


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun: "1 loan", "9,872 loans"."""
    return f"{count(number)} {one if number == 1 else many}"


def email(address: str) -> str:
    """Return an e-mail address; a dash for one that stands where nobody has given one."""
    return address if takes_mail(address) else "–"


def duration(milliseconds: int) -> str:
    """Format a duration: "25 minutes", "9.5 hours", "6.4 days"."""
    minutes = milliseconds / 60_000
    if minutes < 60:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.1f} hours" if minutes < 48 * 60 else f"{minutes / 1440:,.1f} days"


def percent(share: Decimal | float | None, places: int = 1) -> str:
    """Format a fraction of one as percent: 0.125 -> "12.5 %"; a dash for None."""
    return "–" if share is None else f"{share * 100:,.{places}f} %"


def day(value: date | datetime | str | None) -> str:
    """Format a date as "1 Nov 2026"; an instant gives its date in Lagos, a text is ISO 8601; a dash for None."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value) if "T" in value else date.fromisoformat(value)
    if isinstance(value, datetime):
        return clock.format_lagos(value, "%-d %b %Y")
    return clock.format_day(value) if value else "–"


def format_dates(text: str) -> str:
    """Return a message shared with the API, with its ISO dates formatted as on screens."""
    return _ISO_DAY.sub(lambda found: day(found[0]), text)


def moment(value: datetime | str | None) -> str:
    """Format an instant in Lagos time, "20 Nov 2026, 08:08"; a dash for None."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return clock.format_lagos(value) or "–"


def second(value: datetime) -> str:
    """Format an instant in Lagos time to the second, "20 Nov 2026, 08:08:31", where the order of acts matters."""
    return clock.format_lagos(value, "%-d %b %Y, %H:%M:%S")


def plain(text: str | None) -> str:
    """Escape untrusted text for Markdown: shown literally, never formatted or linked."""
    unlinked = re.sub(r"(?i)(://|www\.)", "\u2060\\1", text or "")
    # A span of its own: Markdown would link an e-mail address, and a hidden character would be copied with it.
    return _MARKDOWN.sub(r"\\\1", unlinked).replace("@", ":color[@]")


def title(name: str) -> str:
    """Return a field or option name in sentence case: "loan_start_date" -> "Loan start date"."""
    words = [_ABBREVIATIONS.get(word, word) for word in name.replace("_", " ").split()]
    sentence = " ".join(words)
    return sentence[:1].upper() + sentence[1:]


def colour(state: str) -> str:
    """Return the colour name of a state; grey for an unknown one."""
    return _COLOURS.get(state, "gray")


def until(days: int, *, is_over: bool) -> str:
    """Return when cover ends, in days from today: "Ends in 3 days", "Ended today"."""
    if not days:
        return "Ended today" if is_over else "Ends today"
    distance = f"{abs(days):,} {'day' if abs(days) == 1 else 'days'}"
    return f"Ended {distance} ago" if days < 0 else f"Ends in {distance}"


def badge(state: str, shade: str | None = None) -> str:
    """Return a state as a Markdown badge of this colour, else its own; grey for an unknown one."""
    return f":{shade or colour(state)}-badge[{plain(state)}]"


def list_left_out(left_out: Mapping[str, int]) -> str:
    """Return how many records were left out for each reason, as a sentence after another one; "" where none was."""
    reasons = "; ".join(f"{number}: {format_dates(reason)}" for reason, number in left_out.items())
    return f" Left out {reasons}." if reasons else ""
