"""`coverdesk claims ...`: claim commands, using the same services as the screens."""

from typing import Annotated, Any

import typer
from rich.console import Console

from core import ids
from core.commands import describe_terminal
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow.changes import ClaimChange
from core.services.people import staff
from core.store.access import Scope, ScopedSession, transact

app = typer.Typer(help="Claims and where they stand.", no_args_is_help=True)
out = Console()


@app.callback()
def _claims() -> None:
    """Keep `move` a word of its own while it is the only one."""


@app.command("move")
def move_claim(
    claim: Annotated[str, typer.Argument(metavar="ID", help="The id of the claim.")],
    to: Annotated[str, typer.Option(help="The status it should come to.")],
    by: Annotated[str, typer.Option(help="E-mail of the officer who moves it.")],
    version: Annotated[int, typer.Option(help="The version of the claim that you saw.")],
    note: Annotated[str | None, typer.Option(help="What the history should say.")] = None,
    amount: Annotated[str | None, typer.Option(help="Estimate, approved amount or offer, in naira.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why it is declined, as a reason code.")] = None,
    payment_reference: Annotated[str | None, typer.Option(help="How the bank knows the payment.")] = None,
    value_on: Annotated[str | None, typer.Option(help="The day on which the bank counts a payment.")] = None,
    method: Annotated[str | None, typer.Option(help="How it is paid.")] = None,
    estimate_document: Annotated[
        str | None, typer.Option(help="The paper of the claim that an estimate stands in.")
    ] = None,
    check_reason: Annotated[
        list[str] | None,
        typer.Option(metavar="CHECK=REASON", help="Why it is approved against a check that is not met."),
    ] = None,
) -> None:
    """Move a claim, as the screen does; exit code 1 when it is refused or was changed meanwhile.

    Outside a demonstration it approves, offers and pays nothing.
    """
    claim_id = ids.parse(claim, "claim")
    reasons = {key: text for key, _, text in (each.partition("=") for each in check_reason or ())}
    inputs: dict[str, Any] = {"note": note, "amount": amount, "reason": reason, "payment_reference": payment_reference}

    inputs["estimate_document"] = estimate_document
    payment = {name: text for name, text in (("method", method), ("value_on", value_on)) if text}

    terminal = describe_terminal()

    def work(session: ScopedSession) -> ClaimChange:
        person = staff.get_by_email(session, by)
        given = {"version": version, "reasons": reasons, "payment": payment, **inputs}
        return claim_moves.move_by_command(session, claim_id, to=to, person=person, terminal=terminal, **given)

    change = transact(Scope.system(), work)
    out.print(f"{claim_id} is {change.claim_status} now, at version {change.version}", highlight=False)
