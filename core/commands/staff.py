"""`coverdesk staff`: people who sign in."""

import sys
from typing import Annotated

import typer
from rich.console import Console

from core.commands import ACTOR
from core.services import staff
from core.store import engine
from core.store.scope import Scope

app = typer.Typer(help="People who sign in.", no_args_is_help=True)
out = Console()


@app.command("add")
def add_staff(
    email: str,
    role: Annotated[list[str], typer.Option(help="operations, claims, finance, supervisor or admin.")],
    name: Annotated[str, typer.Option(help="The person's name.")] = "",
) -> None:
    """Add a person, or change their roles and password; the password is read from standard input."""
    password = typer.prompt("Password", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    with engine.writing(Scope.system()) as session:
        staff.add(session, email=email, name=name or email, roles=role, password=password, actor=ACTOR)
    out.print(f"{email} can sign in as {', '.join(role)}.", highlight=False)


@app.command("disable")
def disable_staff(email: str) -> None:
    """End a person's access at once."""
    with engine.writing(Scope.system()) as session:
        staff.disable(session, email, actor=ACTOR)
    out.print(f"{email} can no longer sign in.", highlight=False)
