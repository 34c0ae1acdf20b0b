"""`coverdesk init`: creating a store."""

import sys

import typer

from core import telemetry
from core.services.audit import demonstration
from core.services.catalogue import shipped
from core.services.people import accounts
from core.settings import settings
from core.store.access import Scope, read_in, reading, store, writing
from core.store.schema import migrating, versions


@telemetry.muting_warnings()
def init() -> None:
    """Create or migrate the store and load the catalogue, and print how to begin; safe to repeat."""
    typer.echo(prepare_store())
    if not print_first_steps():
        _print_set_up_link()


def prepare_store() -> str:
    """Create or migrate the tables, load the catalogue, and return a line on both."""
    settings().check_safe_to_serve()
    migrating.migrate(store())
    with writing(Scope.system()) as session:
        new = shipped.load_catalogue(session)
    return f"The store stands at version {versions.version(store())}; {new} catalogue records are new."


def print_first_steps() -> bool:
    """Until there is an admin, the link that makes the first one; False when there is one."""
    link = read_in(Scope.system(), accounts.create_set_up_link)
    if link:
        typer.echo("Nobody can administer this store yet. Once it is served, open this link to become its admin:")
        sys.stdout.write(f"{link}\n")
        typer.echo("It works once and for 24 hours; `coverdesk staff set-up-link` prints another.")
    return link is not None


def _print_set_up_link() -> None:
    with reading(Scope.system()) as session:
        is_demonstration = demonstration.is_demonstration(session)
    typer.echo("An admin can sign in already and adds everybody else, under Admin > Staff.")
    if is_demonstration:
        typer.echo("This store holds the demonstration: name one of your own with COVERDESK_DATABASE_URL.")
