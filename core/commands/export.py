"""`coverdesk export`: the same files as from the screens, with the same receipts."""

import glob
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console

from core import ids, money
from core.api.outside import downloads
from core.commands import ACTOR
from core.errors import InvalidInput
from core.services.exports.exports import ExportKind, Parameter, Tally
from core.services.exports.formats import format_named
from core.services.exports.receipts import Order
from core.services.exports.registry import KINDS
from core.services.people import staff
from core.services.products import products
from core.services.sales.choices import Choices, choices
from core.store.access import engine
from core.store.access.scope import Scope, ScopedSession
from core.store.operations import unfinished_files

app = typer.Typer(help="Exports, each with a receipt.", no_args_is_help=True)
err = Console(stderr=True)
_AN_ID = "-".join("?" * length for length in (8, 4, 4, 4, 12))
_ALWAYS = {
    "mode": ("live", "live or test."),
    "format": ("csv", "csv or xlsx."),
    "out": ("-", "A file, or - for standard output."),
}


def _command(kind: ExportKind[Any]) -> Callable[..., None]:
    """Build the command of a kind: its own parameters as options, and the common ones."""

    def export(**given: Any) -> None:
        settings = {name: given.pop(name) for name in _ALWAYS}
        if settings["mode"] not in {"live", "test"}:
            raise typer.BadParameter("must be live or test", param_hint="--mode")
        _export(kind, {name.removesuffix("_"): _values(value) for name, value in given.items()}, **settings)

    options = [_option(parameter) for parameter in kind.parameters]
    options += [_plain(name, default, says) for name, (default, says) in _ALWAYS.items()]
    # Typer derives a command's options from its signature.
    export.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    export.__doc__ = f"Write the {kind.noun[1]} of a selection as CSV or XLSX."
    return export


def _option(parameter: Parameter) -> inspect.Parameter:
    if not parameter.many:
        return _plain(parameter.name, "", parameter.says)
    option = Annotated[list[str], typer.Option(_flag(parameter.name), help=parameter.says)]
    return _named(parameter.name, option, [])


def _plain(name: str, default: str, says: str) -> inspect.Parameter:
    return _named(name, Annotated[str, typer.Option(_flag(name), help=says)], default)


def _named(name: str, option: Any, default: Any) -> inspect.Parameter:
    # `from` is a Python keyword and cannot be a parameter name.
    called = f"{name}_" if name == "from" else name
    return inspect.Parameter(called, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _values(given: Any) -> list[str]:
    return [given] if isinstance(given, str) and given else list(given)


def _export(kind: ExportKind[Any], given: Mapping[str, list[str]], *, mode: str, format: str, out: str) -> None:  # noqa: A002 - the option's name
    order = Order(
        id=ids.new(),
        kind=kind,
        format=format_named(format),
        selection=kind.read(_address(kind, given)),
        is_live=mode == "live",
        actor=ACTOR,
    )
    tally = _write(order, out)
    summed = f", {money.shown(tally.sum_minor)}" if kind.sum_title else ""
    err.print(
        f"{kind.counted(tally.rows)}{summed}; SHA-256 {tally.file_sha256}; receipt {order.id}",
        highlight=False,
        soft_wrap=True,
    )


def _write(order: Order, out: str) -> Tally:
    """Write the file completely or not at all: a failed export leaves an existing file unchanged."""
    if out == "-":
        return downloads.export_to(order, sys.stdout.buffer)
    target = Path(out)
    draft = target.with_name(f".{target.name}.{order.id}")
    # Remove the draft of a killed export: it contains personal data.
    unfinished_files.clear(target.parent, glob.escape(f".{target.name}.") + _AN_ID)
    try:
        with draft.open("wb") as file, unfinished_files.held(draft):
            tally = downloads.export_to(order, file)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return tally


def _address(kind: ExportKind[Any], given: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the parameters in the form of a URL query: record names are resolved to ids."""
    with engine.reading(Scope.system()) as session:
        known, insurers = choices(session), products.insurers(session)
        return {
            parameter.name: _told(session, parameter, given[parameter.name], known, insurers)
            for parameter in kind.parameters
        }


def _told(
    session: ScopedSession, parameter: Parameter, values: Sequence[str], known: Choices, insurers: dict[str, UUID]
) -> list[str]:
    if parameter.names is None:
        return list(values)
    if parameter.names == "staff":
        return [str(staff.person_named(session, value).id) if "@" in value else value for value in values]
    called = _called(known.names[parameter.names]) | (insurers if parameter.name == "provider" else {})
    return [_id(parameter.name, called, value) for value in values]


def _called(names: Mapping[UUID, str]) -> dict[str, UUID]:
    """Map ids and names, in any case, to ids."""
    return {word: key for key, name in names.items() for word in (str(key), name.casefold())}


def _id(dimension: str, called: Mapping[str, UUID], value: str) -> str:
    found = called.get(value.strip().casefold())
    if found is None:
        words = ", ".join(word for word, key in called.items() if word != str(key))
        raise InvalidInput.one(f"--{dimension}", f"must be an id or one of {words}")
    return str(found)


for each in KINDS:
    app.command(each.name)(_command(each))
