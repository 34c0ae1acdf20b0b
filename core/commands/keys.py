"""`coverdesk keys`: API keys of distributors."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from core import clock
from core.commands import describe_terminal
from core.services.catalogue import keys
from core.store.access import Scope, read_in, writing

app = typer.Typer(help="API keys of distributors.", no_args_is_help=True)
# Whole in a pipe and a narrow window too: `keys revoke` takes an id, and a key is told by its ends.
out = Console(markup=False, width=1000)
err = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


@app.command("issue")
def issue_key(
    distributor: Annotated[str, typer.Option(help="The distributor's name; in any case; made when it is new.")],
    mode: Annotated[str, typer.Option(help="test or live.")],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "issued by command",
) -> None:
    """Print a new key, and only the key; it cannot be shown again.

    A refund of what a live key from here sells takes two who approve, as it may be anybody's.
    """
    if mode not in {"test", "live"}:
        raise typer.BadParameter("must be test or live", param_hint="--mode")
    # Imported on first use, here and below: whoever looks at the keys does without mail, staff and webhooks.
    from core.services.catalogue import key_admin  # noqa: PLC0415

    fields = {"distributor": distributor, "mode": mode, "name": name}
    with writing(Scope.system()) as session:
        issued = key_admin.issue_unasked(session, fields, actor=describe_terminal())
    if issued.new_distributor:
        err.print(f"{issued.new_distributor} is a new distributor.")
    if mode == "live":
        two = "Each refund of what this key sells takes two who approve, as it may be anybody's"
        err.print(f"{two}; a key from the screen has its issuer.")
    sys.stdout.write(issued.key + "\n")


@app.command("list")
def list_keys() -> None:
    """Show every key without the key itself."""
    found = read_in(Scope.system(), keys.list_keys)
    table = Table("id", "distributor", "mode", "name", "key", "last used", "revoked", box=None)
    for key in found:
        used, revoked = clock.format_lagos(key.last_used_at), clock.format_lagos(key.revoked_at)
        mode = "live" if key.is_live else "test"
        table.add_row(str(key.id), key.distributor, mode, key.name, key.hint, used, revoked)
    out.print(table)


@app.command("revoke")
def revoke_key(
    id_or_key: Annotated[str, typer.Argument(help="The id of the key, or the key.")],
    *,
    with_endpoints: Annotated[
        bool, typer.Option("--with-endpoints", help="Disable the webhook endpoints that it registered too.")
    ] = False,
) -> None:
    """End a key; it stops working within a second. Webhook endpoints that it registered go on by themselves."""
    from core.services.events.webhooks import endpoints  # noqa: PLC0415

    with writing(Scope.system()) as session:
        revoked = keys.revoke_key(session, id_or_key, actor=describe_terminal())
        going_on = len(endpoints.list_of_key(session, revoked))
        disabled = endpoints.disable_of_key(session, revoked, actor=describe_terminal()) if with_endpoints else 0
    out.print(f"Revoked {revoked}")
    if disabled:
        out.print(f"Webhook endpoints disabled with it, whose events are held: {disabled}")
    elif going_on:
        out.print(f"Webhook endpoints that it registered, which go on (--with-endpoints disables them): {going_on}")
