"""`coverdesk check`: auditing a store."""

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track

from core import telemetry
from core.desk import status, store_check
from core.store.access import Scope, ScopedSession, reading

out, err = Console(), Console(stderr=True)
# Not removed by us: whoever names one store's database and another's folder would lose the files of that one.
_STRAY_FILES_HINT = "harmless if a crash broke off their upload. They lie in the folder of COVERDESK_FILES_URL."


def check() -> None:
    """Audit the whole store; exit code 1 when anything does not hold."""
    err.print("Auditing the store: every row, file, total and link of the audit log ...", highlight=False)
    # It reads everything: that some of it takes long is no news, and would stand between its findings.
    with telemetry.muting_warnings(), reading(Scope.system()) as session:
        faults, strays = _list_faults(session), store_check.list_stray_files(session)
    if strays:
        err.print(f"{len(strays):,} files that no record names: {_STRAY_FILES_HINT}", highlight=False, soft_wrap=True)
    if (replica := status.describe_replica()) not in {None, "in use"}:
        err.print(f"Figures and exports are read from the primary: the replica is {replica}.", highlight=False)
    for fault in faults:
        err.print(f"[red]✗[/] {escape(fault)}", highlight=False, soft_wrap=True)
    if faults:
        err.print("Stop selling, keep a backup of this state, and ask.", highlight=False)
        raise typer.Exit(1)
    out.print("[green]✓[/] Everything holds.")


def _list_faults(session: ScopedSession) -> list[str]:
    findings = store_check.run_rules(session)
    shown = track(findings, "Rules checked", total=store_check.count_rules(), console=err, transient=True)
    return [fault for finding in shown for fault in finding.faults]
