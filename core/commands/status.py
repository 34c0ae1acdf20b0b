"""`coverdesk status`: what runs, what waits, and what needs a person."""

import sys
from dataclasses import replace
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.markup import escape

from core import clock
from core.desk import status as service
from core.desk.status import QueueStatus, Status
from core.services.compliance import remembering
from core.store.access import Scope, reading, store
from core.store.schema import versions

out = Console(highlight=False, soft_wrap=True)


def status(
    *,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
    worker: Annotated[bool, typer.Option("--worker", help="Only whether a worker runs on this machine.")] = False,
) -> None:
    """Print the status of the installation; exit code 1 when something needs a person."""
    if worker:
        _print_worker()
        return
    if fault := versions.describe_fault(versions.version(store())):
        sys.stdout.write(f"{orjson.dumps({'faults': [fault]}).decode()}\n" if json else f"✗ {fault}\n")
        raise typer.Exit(1)
    with reading(Scope.system()) as session:
        found = service.get_status(session)
        if unlisted := remembering.find_fault(session):
            found = replace(found, faults=[*found.faults, unlisted])
    if json:
        sys.stdout.write(f"{orjson.dumps(found.as_json(), option=orjson.OPT_INDENT_2).decode()}\n")
    else:
        _print(found)
    if found.faults:
        raise typer.Exit(1)


def _print_worker() -> None:
    """For the health check of a container, whose name is that of its machine."""
    with reading(Scope.system()) as session:
        beats = [beat for beat in service.list_beats(session) if beat.is_fresh and beat.is_here]
    if not beats:
        out.print("No worker of this machine was heard of for two minutes.")
        raise typer.Exit(1)
    out.print(f"Heard of {beats[0].name} at {clock.format_lagos(beats[0].seen_at)}.")


def _describe(queue: QueueStatus) -> str:
    parts = {
        f"{queue.depth:,} wait": True,
        f"due for {queue.oldest_seconds:,} s": queue.oldest_seconds,
        f"{queue.by_hand:,} for insurers without a connection, whom operations tells by hand": queue.by_hand,
        f"{queue.refused:,} given up because of their receivers": queue.refused,
        "no server configured": not queue.configured,
    }
    return ", ".join(part for part, holds in parts.items() if holds)


def _print(found: Status) -> None:
    backup = clock.format_lagos(found.backup_at) if found.backup_at else "never"
    lines = {
        "Release": f"{found.version}, commit {(found.commit or 'unknown')[:12]}",
        "Migration": f"{found.migration}",
        "Workers": ", ".join(f"{beat.name} ({beat.release})" for beat in found.workers if beat.is_fresh) or "none",
        **{queue.name: _describe(queue) for queue in found.queues},
        "Free on the disk": f"{found.disk_free_bytes / (1 << 30):,.1f} GiB",
        "Clock": f"{found.clock_skew_seconds:+.1f} s",
        "Newest backup": backup,
        "Replica": found.replica or "not configured",
    }
    for name, value in lines.items():
        out.print(f"{name:<18}{value}", markup=False)
    for fault in found.faults:
        out.print(f"[red]✗[/] {escape(fault[0].upper() + fault[1:])}.")
    if not found.faults:
        out.print("[green]✓[/] Nothing needs a person.")
