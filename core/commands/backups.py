"""`coverdesk backup` and `coverdesk restore`: the whole store in one file."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from core.services.admin import gauges
from core.services.audit import log as audit
from core.settings import settings
from core.store.access import Scope, Store, store, writing
from core.store.operations import backups
from core.store.operations.backups import Manifest

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
    out.print(
        f"[green]✓[/] {file} holds the {manifest.kind} store of {manifest.made_at}"
        f" and {manifest.files:,} uploaded files."
    )
    out.print("Keep COVERDESK_SECRET_KEY apart from it: without that secret nobody can use what it holds.")
    for code in manifest.lost:
        err.print(f"[yellow]![/] file {code} is missing from the store, and so from the backup")


def restore(file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False)]) -> None:
    """Make the store what FILE says. What stood there before is kept beside it under another name."""
    settings().get_secret()
    with _show_progress("Checking the backup") as progress:
        manifest = backups.read(file, progress=progress)
    # What stands there may be another server's; it is kept aside as a whole.
    with _show_progress("Restoring") as progress, closing(Store(settings().database_url)) as store:
        previous_path = backups.put_back(store, file, manifest, progress=progress)
    _record("store restored", manifest)
    out.print(f"[green]✓[/] The store is what it was at {manifest.made_at}, with {manifest.files:,} uploaded files.")
    if previous_path:
        out.print(f"What stood there before is kept as {previous_path}; remove it when it is no longer wanted.")


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
