"""`coverdesk backup` and `coverdesk restore`: the whole store in one file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from core.commands import stores
from core.services.admin import gauges
from core.services.audit import log as audit
from core.services.compliance import erasures as erased_people
from core.services.compliance import remembering
from core.settings import settings
from core.store.access import Scope, Store, reading, store, transact, writing
from core.store.operations import backups, compacting
from core.store.operations.backups import Manifest
from core.store.schema import versions

out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True)
File = Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False)]
_ACTOR = "command line"


def backup(
    file: File, *, overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False
) -> None:
    """Write the whole store and its files into FILE; sales go on meanwhile. The server secret is not in it."""
    settings().get_secret()
    with _show_progress("Copying the store") as progress:
        manifest = backups.make(store(), file, progress=progress, overwrite=overwrite)
    _record(gauges.BACKED_UP, manifest)
    with reading(Scope.system()) as session:
        erasures_path = remembering.write_list(session, file.parent)
    out.print(
        f"[green]✓[/] {file} holds the {manifest.kind} store of {manifest.made_at}"
        f" and {manifest.files:,} uploaded files."
    )
    out.print("Keep COVERDESK_SECRET_KEY apart from it: without that secret nobody can use what it holds.")
    if erasures_path:
        out.print(f"{erasures_path} lists who was erased: keep the newest one beside the backups.")
    for code in manifest.lost:
        err.print(f"[yellow]![/] file {code} is missing from the store, and so from the backup")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False)],
    *,
    erasures: Annotated[
        Path | None,
        typer.Option("--erasures", metavar="LIST", help=f"Whom to erase again; beside FILE, {remembering.LIST_NAME}."),
    ] = None,
) -> None:
    """Make the store what FILE says. What stood there before is kept beside it under another name."""
    settings().get_secret()
    with _show_progress("Checking the backup") as progress:
        manifest = backups.read(file, progress=progress)
    # What stands there may be another server's; it is kept aside as a whole.
    with _show_progress("Restoring") as progress, closing(Store(settings().database_url)) as target:
        remembered = [*_read_list(erasures, file), *_read_previous(target)]
        previous_path = backups.put_back(target, file, manifest, progress=progress)
    _record("store restored", manifest)
    # Whoever was erased after the backup was made, by the list beside it and by the store that stood there.
    _erase_again(remembered)
    out.print(f"[green]✓[/] The store is what it was at {manifest.made_at}, with {manifest.files:,} uploaded files.")
    if previous_path:
        out.print(f"What stood there before is kept as {previous_path}; remove it when it is no longer wanted.")


def compact() -> None:
    """Rewrite the store, so that its files hold nothing that was erased; stop the servers first."""
    settings().get_secret()
    with closing(Store(settings().database_url)) as target:
        compacting.rewrite(target)
    out.print("[green]✓[/] The store is rewritten.")


def _read_list(named: Path | None, file: Path) -> list[dict[str, Any]]:
    beside = file.parent / remembering.LIST_NAME
    path = named or (beside if beside.is_file() else None)
    return remembering.read_list(path) if path else []


def _read_previous(target: Store) -> list[dict[str, Any]]:
    """The erasures of the store that is to be replaced; none of one without tables or of an earlier release."""
    # To look into a SQLite file makes it, and an empty one would be kept aside as if somebody had wanted it.
    if stores.is_missing(settings().database_url):
        return []
    if versions.version(target) != versions.newest():
        return []
    with target.reading(Scope.system()) as session:
        return remembering.remember(session)


def _erase_again(remembered: Sequence[Mapping[str, Any]]) -> None:
    if not remembered:
        return
    count, files = transact(Scope.system(), lambda session: remembering.apply_again(session, remembered))
    erased_people.remove_files(files)
    if count:
        compacting.rewrite(store())
        out.print(f"{count:,} people who were erased after this backup are erased again.")


def _record(action: str, manifest: Manifest) -> None:
    with writing(Scope.system()) as session:
        audit.write(
            session,
            actor=_ACTOR,
            action=action,
            subject=audit.subject_of("backup", UUID(manifest.id)),
            after={"made_at": manifest.made_at, "version": manifest.version, "files": manifest.files},
        )


@contextmanager
def _show_progress(title: str) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn(title), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda size: progress.advance(task, size)
