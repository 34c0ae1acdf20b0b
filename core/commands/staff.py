"""`coverdesk staff`: people who sign in."""

import sys
from typing import Annotated

import typer
from rich.console import Console

from core.commands import describe_terminal
from core.errors import StateForbids
from core.services.people import accounts, staff
from core.store.access import Scope, ScopedSession, read_in, transact, writing

app = typer.Typer(help="People who sign in.", no_args_is_help=True)
out = Console()


@app.command("add")
def add_staff(
    email: str,
    role: Annotated[list[str], typer.Option(help="operations, claims, finance, supervisor or admin.")],
    name: Annotated[str, typer.Option(help="The person's name.")] = "",
    claim_limit: Annotated[
        str | None, typer.Option(help="Up to how many naira they decide a claim alone; left out, there is no limit.")
    ] = None,
) -> None:
    """Add a person, or change their roles and password; the password is read from standard input."""
    password = typer.prompt("Password", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    with writing(Scope.system()) as session:
        staff.add_or_update(
            session,
            email=email,
            name=name or email,
            roles=role,
            password=password,
            claim_limit=claim_limit,
            actor=describe_terminal(),
        )
    out.print(f"{email} can sign in as {', '.join(role)}.", highlight=False)


@app.command("disable")
def disable_staff(email: str) -> None:
    """End a person's access at once."""
    with writing(Scope.system()) as session:
        staff.disable(session, email, actor=describe_terminal())
    out.print(f"{email} can no longer sign in.", highlight=False)


@app.command("details")
def set_details(
    email: str,
    phone: Annotated[str | None, typer.Option(help="The person's own phone number.")] = None,
    account: Annotated[str | None, typer.Option(help="The person's own bank account, ten digits.")] = None,
) -> None:
    """Set the phone and bank account of a person, who then decides on no claim that has one of them."""

    def work(session: ScopedSession) -> None:
        person = staff.get_by_email(session, email)
        staff.set_own_details(session, person.id, phone_number=phone, account_number=account, actor=describe_terminal())

    transact(Scope.system(), work)
    out.print(f"The details of {email} are kept.", highlight=False)


@app.command("set-up-link")
def print_set_up_link() -> None:
    """Print a link that makes the first admin; good once and for a day, and only while there is no admin."""
    link = read_in(Scope.system(), accounts.create_set_up_link)
    if link is None:
        raise StateForbids("An admin can sign in already and invites everybody else, under Admin > Staff")
    sys.stdout.write(link + "\n")
