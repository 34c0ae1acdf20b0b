"""The commands of finance: `coverdesk statements`, `bordereaux` and `close`, each about a month.

What they do in somebody's name stands in the log with the user and the machine too (contract K11).
"""

import sys
from collections.abc import Callable, Iterable
from datetime import date
from functools import partial
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer
from rich.console import Console

from core import clock, money
from core.commands import describe_terminal
from core.desk import closing
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.finance import journal, tax
from core.services.finance.bordereaux import bordereaux
from core.services.finance.parties import Party
from core.services.finance.payments import payouts
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.lists import windows
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, read_in, reading, transact

Made = TypeVar("Made")
Month = Annotated[str, typer.Option("--month", help="The month, YYYY-MM in Lagos; the last that is over unless told.")]
statements_app = typer.Typer(
    help="Statements, payouts and taxes of distributors and insurers: what is due, and preparing it.",
    no_args_is_help=True,
)
bordereaux_app = typer.Typer(
    help="Premium and claims bordereaux of insurers: what is due, and issuing it.", no_args_is_help=True
)
close_app = typer.Typer(help="Closing a month: its check list, beginning it, and the journal.", no_args_is_help=True)
out, err = Console(markup=False), Console(stderr=True, markup=False)
_LIVE = Scope.staff(is_live=True)


def parse_month(month: str) -> date:
    """Return the first day of a month, of the last that is over for an empty text; InvalidInput for anything else."""
    if not month:
        return clock.add_months(clock.today().replace(day=1), -1)
    return windows.parse_month(month, "--month")


def _load_person(email: str) -> Person:
    return read_in(Scope.system(), staff.get_by_email, email)


def _act(work: Callable[[ScopedSession], Made], kind: str, action: str, *, officer: Person, **facts: Any) -> Made:
    """Do one act on live records in a transaction of its own, and return what it makes, perhaps the id of a `kind`.

    Refused or not, it stands in the log as the terminal's beside the entry of the officer whom it names.
    """
    terminal, action = describe_terminal(), f"{action} by command"

    def run(session: ScopedSession) -> Made:
        named: dict[str, Any] = {"officer": officer.email, **facts}
        with audit.keep_command_refusal(terminal=terminal, action=action, subject=kind, **named):
            made = work(session)
        subject = audit.subject_of(kind, made) if isinstance(made, UUID) else kind
        audit.write(session, actor=terminal, action=action, subject=subject, after=named)
        return made

    return transact(_LIVE, run)


def _count_done(acts: Iterable[tuple[str, Callable[[], object]]]) -> tuple[int, int]:
    """Do each act; print the name and the refusal of those that were refused, and return how many of each there are."""
    done = refused = 0
    for name, act in acts:
        try:
            act()
            done += 1
        except StateForbids as refusal:
            refused += 1
            err.print(f"{name}: {refusal}", highlight=False)
    return done, refused


# coverdesk statements ...


@statements_app.command("list")
def list_statements(month: Month = "") -> None:
    """Print every account of a month, with its state and balances."""
    rows = read_in(_LIVE, statement_reading.list_month, parse_month(month))
    for row in rows:
        closing_balance = money.format_naira(row.closing_minor) if row.closing_minor is not None else "–"
        # Past Rich, which makes blanks of tabs.
        sys.stdout.write(f"{row.number or '–'}\t{row.state}\t{row.name}\t{row.lines}\t{closing_balance}\n")


@statements_app.command("prepare")
def prepare(
    by: Annotated[str, typer.Option(help="E-mail of the person of finance who prepares them.")],
    month: Month = "",
    *,
    without_withholding_tax: Annotated[
        bool, typer.Option(help="State a month for which no rate is on file; nothing is withheld in it.")
    ] = False,
) -> None:
    """Prepare the month for every party that is due; exit code 1 when one was refused."""
    wanted, person = parse_month(month), _load_person(by)
    statements.require_finance(person)
    given: dict[str, Any] = {"month": wanted, "by": person, "without_withholding": without_withholding_tax}

    def prepare_one(name: str, party: Party) -> None:
        work = partial(statements.prepare, party=party, **given)
        _act(work, "statement", "statement prepared", officer=person, party=name)
        out.print(f"{name}: prepared", highlight=False)

    due = read_in(_LIVE, statements.list_due, wanted)
    done, refused = _count_done((name, partial(prepare_one, name, party)) for party, name in due)
    out.print(f"{done} statements of {wanted:%B %Y} are prepared.", highlight=False)
    if refused:
        raise typer.Exit(1)


@statements_app.command("payout")
def payout(by: Annotated[str, typer.Option(help="E-mail of the person of finance who prepares it.")]) -> None:
    """Prepare one payout of everything that can be paid out; somebody else approves it on the screen."""
    person = _load_person(by)
    with reading(_LIVE) as session:
        found = {balance.party: None for balance in payouts.list_payable(session)}
    work = partial(payouts.prepare, chosen=found, by=person)
    batch_id = _act(work, "payout", "payout prepared", officer=person)
    row = read_in(_LIVE, payment_reading.get_batch, batch_id)
    total = money.format_naira(row.net_minor)
    out.print(f"{row.number}: {row.payments} payments, {total}, wait for a second person.", highlight=False)


@statements_app.command("taxes")
def print_taxes(kind: Annotated[str, typer.Argument(help=f"{' or '.join(tax.KINDS)}.")], month: Month = "") -> None:
    """Print the schedule of a tax as CSV."""
    if kind not in tax.KINDS:
        raise InvalidInput.for_field("kind", f"must be {' or '.join(tax.KINDS)}")
    lines = read_in(_LIVE, tax.list_lines, kind, parse_month(month))
    for chunk in tax.csv_chunks(lines):
        sys.stdout.write(chunk.decode())


# coverdesk bordereaux ...


@bordereaux_app.command("list")
def list_bordereaux(month: Month = "") -> None:
    """Print every bordereau of a month, with its state, rows and main sum."""
    rows = read_in(_LIVE, bordereaux.list_month, parse_month(month))
    for row in rows:
        # Past Rich, which makes blanks of tabs.
        cells = (row.number or "–", row.state, row.kind, row.party, str(row.rows), money.format_naira(row.main_minor))
        sys.stdout.write("\t".join(cells) + "\n")


@bordereaux_app.command("issue")
def issue(
    by: Annotated[str, typer.Option(help="E-mail of the person of finance who issues them.")], month: Month = ""
) -> None:
    """Issue every bordereau that is next for the month; exit code 1 when one was refused."""
    wanted, person = parse_month(month), _load_person(by)
    bordereaux.require_finance(person)

    def issue_one(provider_id: UUID, name: str, kind: str) -> None:
        work = partial(bordereaux.issue, provider_id=provider_id, kind=kind, month=wanted, by=person)
        _act(work, "bordereau", "bordereau issued", officer=person, insurer=name)

    due = read_in(_LIVE, bordereaux.list_due, wanted)
    done, refused = _count_done((name, partial(issue_one, key, name, kind)) for key, name, kind in due)
    out.print(f"{done} bordereaux of {wanted:%B %Y} are issued.", highlight=False)
    if refused:
        raise typer.Exit(1)


# coverdesk close ...


@close_app.command("checks")
def print_checks(month: Month = "") -> None:
    """Print the check list of a month; exit code 1 when something stands against closing it."""
    found = read_in(_LIVE, closing.list_checks, parse_month(month))
    for check in found:
        verdict = "stands against it" if check.stands_against else "to be looked at" if check.rows else "ok"
        verdict = check.unproved or verdict
        sys.stdout.write(f"{verdict}\t{len(check.rows)}\t{check.name}\n")
    if any(check.stands_against for check in found):
        raise typer.Exit(1)


@close_app.command("begin")
def begin(
    by: Annotated[str, typer.Option(help="E-mail of the person of finance who begins it.")], month: Month = ""
) -> None:
    """Begin to close a month; somebody else closes it on the screen."""
    wanted, person = parse_month(month), _load_person(by)
    work = partial(closing.begin, month=wanted, by=person)
    _act(work, "month", "month closing begun", officer=person, month=f"{wanted:%Y-%m}")
    out.print(f"{wanted:%B %Y} is being closed: a second person closes it.", highlight=False)


@close_app.command("journal")
def print_journal(
    month: Month = "",
    format_: Annotated[
        str, typer.Option("--format", help=f"For a bookkeeping package: {', '.join(filter(None, journal.FORMATS))}.")
    ] = "",
) -> None:
    """Print the journal of a month as CSV, or as a bookkeeping package imports it."""
    with reading(_LIVE) as session:
        sys.stdout.write(journal.print_journal(session, parse_month(month), format_).decode())
