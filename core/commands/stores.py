"""Print the store that a command works on before it begins."""

import os
from pathlib import Path
from types import SimpleNamespace

import typer

from core.errors import InvalidSetting
from core.settings import read_variables, settings
from core.store.access import store
from core.store.schema import versions

WITHOUT_ONE = frozenset({"verify", "sandbox-insurer"})
MAKING_ONE = frozenset({"init", "demo", "run", "restore"})
# Those that work on a store of any version, and those that ask for its version themselves, after their settings.
_OF_ANY_VERSION = MAKING_ONE | {"backup", "status", "webhooks", "serve", "api", "worker"}
_NO_STORE = "COVERDESK_DATABASE_URL: there is no store yet, run `coverdesk init`, or `make run` for a demonstration"
# Whether `begin` chose the demonstration in this process.
_choice = SimpleNamespace(is_assumed=False)


def begin(word: str) -> None:
    """Take `coverdesk demo` and the `serve` after it for the demonstration where nothing of one's own is named.

    The variable is set for the whole process, as the processes that a server starts read it too.
    """
    current = settings()
    is_named = current.demo or current.secret_key.get_secret_value() or "COVERDESK_DATABASE_URL" in read_variables()
    is_meant = word in {"demo", "run"} or (word == "serve" and current.is_demonstration_by_default)
    _choice.is_assumed = not is_named and is_meant
    if _choice.is_assumed:
        os.environ["COVERDESK_DEMO"] = "true"
        settings.cache_clear()


def is_assumed_demonstration() -> bool:
    """True when `begin` chose the demonstration, and nobody asked for it by COVERDESK_DEMO."""
    return bool(_choice.is_assumed)


def announce(word: str) -> None:
    """Say so when a command is for the demonstration unasked.

    InvalidSetting when its store does not exist, or has another version than the command reads. To open a SQLite file
    makes it, and an empty one that nobody wanted is in the way of everything later.
    """
    if word in WITHOUT_ONE:
        return
    if word not in MAKING_ONE and is_missing(settings().database_url):
        raise InvalidSetting(_NO_STORE)
    if settings().is_demonstration_by_default:
        typer.echo("This is the demonstration of `make run`, as COVERDESK_SECRET_KEY is not set.", err=True)
    if word not in _OF_ANY_VERSION:
        refuse_other_version()


def refuse_other_version() -> None:
    """InvalidSetting for a store that is empty or has to be migrated; StateForbids for one of a newer release."""
    found = versions.version(store())
    if found is None:
        raise InvalidSetting(_NO_STORE)
    versions.refuse_unknown(found, "store")
    if found != versions.newest():
        raise InvalidSetting("COVERDESK_DATABASE_URL: this store has another version, run `coverdesk init`")


def is_missing(url: str) -> bool:
    """Return True for the address of a SQLite file that does not exist, or is empty."""
    file = Path(url.removeprefix("sqlite:///").partition("?")[0])
    return url.startswith("sqlite:///") and not (file.exists() and file.stat().st_size)
