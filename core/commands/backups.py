"""`coverdesk backup`, `restore`, `compact` and `reseal`: the store as a whole, on this machine and under new keys."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from core import telemetry
from core.commands import describe_terminal, stores
from core.desk import resealing
from core.services.audit import log as audit
from core.services.compliance import erasures as erased_people
from core.services.compliance import remembering
from core.services.compliance.remembering import ErasureList
from core.settings import settings
from core.store.access import Scope, Store, reading, store, transact, writing
from core.store.operations import backups
from core.store.operations.backups import Manifest
from core.store.schema import versions


def reseal() -> None:
    """Seal every personal number anew with the newest key, while sales go on; older keys may be removed afterwards."""
    rows = sum(_reseal_table(entity) for entity in resealing.SEALED_TABLES)
    with writing(Scope.system()) as session:
        resealing.record_resealing(session, rows, actor=describe_terminal())
    out.print(f"{rows:,} records are sealed with the newest key.")


def _reseal_table(entity: object) -> int:
    rows, last_id = 0, None
    while True:
        done, last_id = _reseal_batch(entity, last_id)
        rows += done
        if last_id is None:
            return rows


def _reseal_batch(entity: object, last_id: UUID | None) -> tuple[int, UUID | None]:
    with writing(Scope.system()) as session:
        return resealing.reseal(session, entity, after=last_id)


out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, soft_wrap=True)
File = Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False)]
_WARNING = (
    "[yellow]![/] Whoever was erased since this backup comes back, as {}."
    " Erase them again under Compliance, or restore again with --erasures LIST."
)


def backup(
    file: File, *, overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False
) -> None:
    """Write the whole store and its files into FILE; sales go on meanwhile. The server secret is not in it."""
    settings().get_secret()
    with _show_progress("Copying the store") as progress:
        manifest = backups.make(store(), file, progress=progress, overwrite=overwrite)
    _record(audit.BACKED_UP, manifest, folder=str(file.parent.resolve()))
    with reading(Scope.system()) as session:
        erasures_path = remembering.write_list(session, file.parent)
        if settings().erasures_folder:
            remembering.keep_list(session)
    out.print(
        f"[green]✓[/] {escape(str(file))} holds the {manifest.kind} store of {manifest.made_at}"
        f" and {manifest.files:,} uploaded files."
    )
    out.print("Keep COVERDESK_SECRET_KEY apart from it: without that secret nobody can use what it holds.")
    out.print(f"{escape(str(erasures_path))} lists who was erased: keep the newest one with the backups.")
    for code in manifest.lost:
        err.print(f"[yellow]![/] file {code} is missing from the store, and so from the backup")


@telemetry.muting_warnings()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False)],
    *,
    erasures: Annotated[
        Path | None,
        typer.Option(
            "--erasures", metavar="LIST", help=f"Whom to erase again, beside {remembering.LIST_NAME} in FILE's folder."
        ),
    ] = None,
) -> None:
    """Make the store what FILE says. What stood there before is kept beside it under another name."""
    settings().get_secret()
    with _show_progress("Checking the backup") as progress:
        manifest = backups.read(file, progress=progress)
    lists = _find_lists(erasures, file, manifest)
    # What stands there may be another server's; it is kept aside as a whole.
    with _show_progress("Restoring") as progress, closing(Store(settings().database_url)) as target:
        remembered = [*(entry for found in lists for entry in found.entries), *_read_previous(target)]
        previous_path = backups.put_back(target, file, manifest, progress=progress)
    _record(audit.RESTORED, manifest)
    # Whoever was erased after the backup was made, by the list beside it and by the store that stood there.
    _erase_again(remembered)
    out.print(f"[green]✓[/] The store is what it was at {manifest.made_at}, with {manifest.files:,} uploaded files.")
    if backups.is_move(store(), manifest):
        out.print("It was a SQLite store and is a PostgreSQL one now: run `coverdesk check` before it is served.")
    if previous_path:
        out.print(
            f"What stood there before is kept as {escape(str(previous_path))}; remove it when it is no longer wanted."
        )


def compact() -> None:
    """Rewrite the store, so that its files hold nothing that was erased; stop the servers first."""
    settings().get_secret()
    with closing(Store(settings().database_url)) as target:
        backups.rewrite(target)
    out.print("[green]✓[/] The store is rewritten.")


def _find_lists(named: Path | None, file: Path, manifest: Manifest) -> list[ErasureList]:
    """Return every list of erasures at hand; without one that is newer than the backup, ask for it and warn."""
    lists = remembering.find_lists(file.parent)
    if named is None and not lists and sys.stdin.isatty():
        question = f"No {remembering.LIST_NAME} is beside the backup. Where is the newest one (empty: there is none)"
        answer = typer.prompt(question, default="", show_default=False).strip()
        named = Path(answer) if answer else None
    lists += [remembering.read_list(named)] if named else []
    made_at = datetime.fromisoformat(manifest.made_at)
    if not lists:
        err.print(_WARNING.format(f"no {remembering.LIST_NAME} is at hand"))
    elif not any(found.written_at and found.written_at >= made_at for found in lists):
        err.print(_WARNING.format("every list of erasures at hand is older than this backup"))
    return lists


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
        backups.rewrite(store())
        one, many = "person who was erased after this backup is", "people who were erased after this backup are"
        out.print(f"{count:,} {one if count == 1 else many} erased again.")


def _record(action: str, manifest: Manifest, **more: str) -> None:
    with writing(Scope.system()) as session:
        audit.write(
            session,
            actor=describe_terminal(),
            action=action,
            subject=audit.subject_of("backup", UUID(manifest.id)),
            after={"made_at": manifest.made_at, "version": manifest.version, "files": manifest.files, **more},
        )


@contextmanager
def _show_progress(title: str) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn(title), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda size: progress.advance(task, size)
