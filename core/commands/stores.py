"""Which store a command is for, told before the command begins."""

from pathlib import Path

from rich.console import Console

from core.settings import InvalidSetting, settings

WITHOUT_ONE = frozenset({"verify", "sandbox-insurer"})
MAKING_ONE = frozenset({"init", "demo", "restore"})


def announce(word: str) -> None:
    """Say so when a command is for the demonstration unasked; UnreadableSetting when its store does not exist.

    To open a SQLite file makes it, and an empty one that nobody wanted is in the way of everything later.
    """
    if word in WITHOUT_ONE:
        return
    if word not in MAKING_ONE and _is_missing(settings().database_url):
        raise InvalidSetting(
            "COVERDESK_DATABASE_URL: there is no store yet, run `coverdesk init`, or `make run` for a demonstration"
        )
    if settings().is_demonstration_by_default:
        err = Console(stderr=True, highlight=False, soft_wrap=True)
        err.print("This is the demonstration of `make run`, as COVERDESK_SECRET_KEY is not set.")


def _is_missing(url: str) -> bool:
    file = Path(url.removeprefix("sqlite:///").partition("?")[0])
    return url.startswith("sqlite:///") and not (file.exists() and file.stat().st_size)
