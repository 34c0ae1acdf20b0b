"""The `coverdesk` command line: everything an operator does without a screen."""

import errno
import gc
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from core.errors import CoverdeskError, InvalidSetting, StoreUnavailable
from core.store.operations import local_files

# Each subcommand of `coverdesk`: its module under core.commands, and its help text.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "init": ("init", "Create or migrate the store and load the catalogue, and print how to begin; safe to repeat."),
    "demo": (
        "demo",
        "Write a labelled demonstration portfolio, and in demonstration mode its accounts; safe to repeat.",
    ),
    "run": ("run", "Write the demonstration, as `coverdesk demo` does, and serve it; safe to repeat."),
    "serve": ("serve", "Serve screens and API in one process."),
    "api": ("serve", "Serve the API alone, in as many processes as wanted (PostgreSQL for more than one)."),
    "status": ("status", "Print the status of the installation; exit code 1 when something needs a person."),
    "check": ("check", "Audit the whole store; exit code 1 when anything does not hold."),
    "verify": ("verify", "Replay the whole specification against a running server, in test mode only."),
    "backup": (
        "backups",
        "Write the whole store and its files into FILE; sales go on meanwhile. The server secret is not in it.",
    ),
    "restore": (
        "backups",
        "Make the store what FILE says. What stood there before is kept beside it under another name.",
    ),
    "compact": (
        "backups",
        "Rewrite the store, so that its files hold nothing that was erased; stop the servers first.",
    ),
    "reseal": (
        "backups",
        "Seal every personal number anew with the newest key, while sales go on; older keys may be removed afterwards.",
    ),
    "worker": (
        "insurers",
        "Send what waits, until stopped: policies to insurers, events to webhooks, e-mail; as many as wanted.",
    ),
    "sandbox-insurer": (
        "insurers",
        "An insurer to try connections with; the word behind the plus of the holder's e-mail says what it does.",
    ),
    "webhooks": ("webhooks", "Webhooks: a receiver to try them with."),
    "keys": ("keys", "API keys of distributors."),
    "staff": ("staff", "People who sign in."),
    "claims": ("claims", "Claims and where they stand."),
    "statements": (
        "finance",
        "Statements, payouts and taxes of distributors and insurers: what is due, and preparing it.",
    ),
    "bordereaux": ("finance", "Premium and claims bordereaux of insurers: what is due, and issuing it."),
    "close": ("finance", "Closing a month: its check list, beginning it, and the journal."),
    "export": ("export", "Exports, each with a receipt."),
}

_INTERRUPTED = 130
# Errors of a write, which name no file.
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def _import(name: str) -> ModuleType:
    """Import without looking for garbage meanwhile, nor later in what was made here: it stays."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


class LazyCommand(TyperCommand):
    """A command whose module is imported only when it is called, which keeps start-up fast."""

    def __init__(self, name: str, module: str, help_text: str) -> None:
        super().__init__(name, help=help_text, short_help=help_text)
        self._command_name, self._module_name = name, f"core.commands.{module}"

    def load(self) -> TyperCommand | TyperGroup:
        """Import and return the real command."""
        module = _import(self._module_name)
        group = getattr(module, "app", None) or getattr(module, f"{self._command_name}_app", None)
        if group is not None:
            group.rich_markup_mode = None
            return get_group(group)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(self._command_name)(getattr(module, self._command_name.replace("-", "_")))
        return get_command(single)  # type: ignore[return-value]

    def make_context(self, info_name: str | None, args: list[str], *given: Any, **also: Any) -> Any:  # noqa: ANN401 the library's own class
        """The context of the command itself, which then runs in our place; its help needs no store and no setting."""
        if "--help" in args:
            return self.load().make_context(info_name, args, *given, **also)
        stores = _import("core.commands.stores")
        stores.begin(self._command_name)
        context = self.load().make_context(info_name, args, *given, **also)
        stores.announce(self._command_name)
        return context


class _CommandGroup(TyperGroup):
    """The top-level group: all commands, in order of use."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, (module, says) in COMMANDS.items():
            self.add_command(LazyCommand(name, module, says))

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 the library's own class
        """Run a command; who leaves at a prompt is told nothing that they do not know."""
        try:
            return super().invoke(ctx)
        except typer.Abort:
            raise typer.Exit(_INTERRUPTED) from None


# Plain help: boxes and colours would load half of Rich, which takes longer than all the rest of it.
app = typer.Typer(cls=_CommandGroup, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(wanted: object) -> None:
    if wanted:
        typer.echo(f"coverdesk {version('coverdesk')}")
        raise typer.Exit


@app.callback()
def coverdesk(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the release.")
    ] = False,
) -> None:
    """The desk and the counter of an insurance distribution business."""


def main() -> None:
    """Entry point of the console script. Sets a private umask, which only a process of its own may do."""
    local_files.begin_private()
    run()


def run() -> None:
    """Run a command; a refusal or an unreadable setting is a clear line and exit code 1 or 2."""
    try:
        app()
    except InvalidSetting as error:
        _print_error("Cannot start.", error)
        sys.exit(2)
    except StoreUnavailable as error:
        _print_error("Refused.", _describe_unavailable(error))
        sys.exit(1)
    except CoverdeskError as error:
        _print_error("Refused.", error)
        sys.exit(1)
    except OSError as error:
        # A file that was named and cannot be used, or a full disk; any other failure of the system is ours to trace.
        if error.filename is None and error.errno not in _NO_SPACE:
            raise
        _print_error("Refused.", f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}")
        sys.exit(1)


def _describe_unavailable(error: StoreUnavailable) -> str:
    """Describe what the database said: whoever types a command here can mend an address or a password."""
    return f"The store of COVERDESK_DATABASE_URL is not available: {error.reason}" if error.reason else str(error)


def _print_error(title: str, error: Exception | str) -> None:
    typer.echo(f"{typer.style(title, fg='red', bold=True)} {error}", err=True)
