"""`coverdesk export`: the same files as from the screens, with the same receipts."""

import glob
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO
from uuid import UUID

import typer
from rich.console import Console
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from core import money
from core.commands import describe_terminal
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.desk.exported_lists import TITLES, get_kind
from core.errors import InvalidInput
from core.services.lists import exports
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.exports import Tally
from core.services.lists.filters.fields import Parameter
from core.services.lists.listing import Listing
from core.store.access import Scope, ScopedSession, reading
from core.store.operations import local_files

err = Console(stderr=True)
_ID_PATTERN = "-".join("?" * length for length in (8, 4, 4, 4, 12))
_ARRANGING_OPTIONS = {
    exports.COLUMNS: "Columns of the file in their sequence, with commas between or each by itself; all without it.",
    exports.ORDER: "Order of the rows: {orders}.",
    exports.FORM: "machines, or people: with the labels and words of the screen, in the time of Lagos.",
}
_COMMON_OPTIONS = {
    "mode": ("live", "live or test."),
    "format": ("csv", "csv or xlsx."),
    "out": ("-", "A file, or - for standard output."),
}


def build_command(kind: Listing[Any]) -> Callable[..., None]:
    """Build the command of a kind: its own parameters as options, and the common ones."""

    def export(**given: Any) -> None:
        settings = {name: given.pop(name) for name in _COMMON_OPTIONS}
        if settings["mode"] not in {"live", "test"}:
            raise typer.BadParameter("must be live or test", param_hint="--mode")
        _run_export(kind, {name.removesuffix("_"): _to_list(value) for name, value in given.items()}, settings)

    options = [_build_option(parameter) for parameter in kind.parameters]
    for name in exports.list_parameters(kind):
        build = _build_list_option if name == exports.COLUMNS else _build_text_option
        options.append(build(name, _ARRANGING_OPTIONS[name].format(orders=", ".join(kind.orders))))
    options += [_build_text_option(name, says, default) for name, (default, says) in _COMMON_OPTIONS.items()]
    # Typer derives a command's options from its signature.
    export.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    export.__doc__ = f"Write the {kind.noun[1]} of a selection as CSV or XLSX."
    return export


def _build_option(parameter: Parameter) -> inspect.Parameter:
    return (_build_list_option if parameter.many else _build_text_option)(parameter.name, parameter.help)


def _build_list_option(name: str, help_text: str) -> inspect.Parameter:
    """Build an option that counts each time it is given."""
    return _build_parameter(name, Annotated[list[str], typer.Option(_format_flag(name), help=help_text)], [])


def _build_text_option(name: str, help_text: str, default: str = "") -> inspect.Parameter:
    return _build_parameter(name, Annotated[str, typer.Option(_format_flag(name), help=help_text)], default)


def _build_parameter(name: str, option: object, default: object) -> inspect.Parameter:
    # `from` is a Python keyword and cannot be a parameter name.
    parameter_name = f"{name}_" if name == "from" else name
    return inspect.Parameter(parameter_name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)


def _format_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _to_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) and value else list(value)


def _run_export(kind: Listing[Any], parameters: Mapping[str, list[str]], settings: Mapping[str, str]) -> None:
    arranged = {name: parameters[name] for name in exports.list_parameters(kind)}
    address = {**_build_query(kind, parameters), **arranged, "mode": [settings["mode"]]}
    order = export_runs.create_order(kind.name, settings["format"], address, by=describe_terminal())
    tally = _write(order, settings["out"])
    total_text = f", {money.format_naira(tally.sum_minor)}" if kind.sum_title else ""
    err.print(
        f"{kind.format_count(tally.rows)}{total_text}; SHA-256 {tally.file_sha256}; receipt {order.id}",
        highlight=False,
        soft_wrap=True,
    )


def _write(order: ExportOrder, out: str) -> Tally:
    """Write the file completely or not at all: a failed export leaves an existing file unchanged.

    A device or a pipe, such as /dev/null, is written into as it is: to put a file in its place would break it.
    """
    if out == "-":
        return export_runs.write_file(order, sys.stdout.buffer)
    target = Path(out).resolve()
    if target.is_dir():
        raise InvalidInput.for_field("--out", "is a folder: name a file in it")
    with _blaming_out():
        is_device = target.exists() and not target.is_file()
    if is_device:
        with _opened(target) as device:
            return export_runs.write_file(order, device, guard=_blaming_out)
    return _write_whole(order, target)


def _write_whole(order: ExportOrder, target: Path) -> Tally:
    draft = target.with_name(f".{target.name}.{order.id}")
    # Remove the draft of a killed export: it contains personal data.
    with _blaming_out():
        local_files.clear(target.parent, glob.escape(f".{target.name}.") + _ID_PATTERN)
    try:
        with _opened(draft) as file, ExitStack() as lock:
            with _blaming_out():
                lock.enter_context(local_files.locked(draft))
            tally = export_runs.write_file(order, file, guard=_blaming_out)
        with _blaming_out():
            draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return tally


@contextmanager
def _blaming_out() -> Iterator[None]:
    """Turn an OSError into InvalidInput of --out; around what uses its target alone, and nothing of the store."""
    try:
        yield
    except OSError as error:
        raise InvalidInput.for_field("--out", f"cannot be written: {error.strerror or error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with _blaming_out():
        file = path.open("wb")
    try:
        yield file
    finally:
        # What is left is written now.
        with _blaming_out():
            file.close()


def _build_query(kind: Listing[Any], parameters: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the parameters in the form of a URL query: record names are resolved to ids."""
    with reading(Scope.system()) as session:
        loaded_choices = load_choices(session)
        return {
            parameter.name: _resolve_values(session, parameter, parameters[parameter.name], loaded_choices)
            for parameter in kind.parameters
        }


def _resolve_values(
    session: ScopedSession, parameter: Parameter, values: Sequence[str], loaded_choices: Choices
) -> list[str]:
    if parameter.names is None or not values:
        return list(values)
    # Imported on first use, here and below: a file of everybody needs neither people nor what insurers sell.
    if parameter.names == "staff":
        from core.services.people import staff  # noqa: PLC0415

        return [str(staff.get_by_email(session, value).id) if "@" in value else value for value in values]
    ids_by_name = _index_by_name(loaded_choices.names[parameter.names])  # type: ignore[index]
    if parameter.name == "provider":
        from core.services.catalogue import products  # noqa: PLC0415

        ids_by_name |= products.get_insurer_ids(session)
    return [_resolve_id(parameter.name, ids_by_name, value) for value in values]


def _index_by_name(names: Mapping[UUID, str]) -> dict[str, UUID]:
    """Map ids and names, in any case, to ids."""
    return {word: key for key, name in names.items() for word in (str(key), name.casefold())}


def _resolve_id(dimension: str, ids_by_name: Mapping[str, UUID], value: str) -> str:
    record_id = ids_by_name.get(value.strip().casefold())
    if record_id is None:
        known_names = ", ".join(word for word, key in ids_by_name.items() if word != str(key))
        raise InvalidInput.for_field(f"--{dimension}", f"must be an id or one of {known_names}")
    return str(record_id)


class _Export(TyperCommand):
    """The export of one list, which is imported when the command is called: its filters are the options."""

    def __init__(self, name: str) -> None:
        says = f"{TITLES[name]} of a selection as CSV or XLSX."
        super().__init__(name, help=says, short_help=says)
        self._list_name = name

    def make_context(self, *given: Any, **also: Any) -> Any:  # noqa: ANN401 the library's own class
        """The context of the list's own command, which then runs in our place."""
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(self._list_name)(build_command(get_kind(self._list_name)))
        return get_command(single).make_context(*given, **also)


class _Exports(TyperGroup):
    """Every list that can be exported."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name in TITLES:
            self.add_command(_Export(name))


app = typer.Typer(cls=_Exports, help="Exports, each with a receipt.", no_args_is_help=True)
