"""`coverdesk claims move`: the service of the screen as a command, which fails when it is refused (contract C5, C7)."""

import os
import pwd
import socket
import sys
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col
from typer.testing import CliRunner, Result

from core import cli
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.audit import demonstration as mark
from core.services.audit import log as audit
from core.services.claims.workflow import paying as claim_paying
from core.services.people import staff
from core.settings import settings
from core.store.access import Scope
from core.store.schema.tables import AuditEntry
from tests.services.claim_desk import NOON
from tests.services.claim_office import Office

pytestmark = pytest.mark.frozen_at(NOON)


def run(claim_id: UUID | str, to: str, *options: str, by: str = "bola@x.example", version: int = 1) -> Result:
    arguments = ["claims", "move", str(claim_id), "--to", to, "--by", by, "--version", str(version), *options]
    return CliRunner().invoke(cli.app, arguments)


@pytest.fixture
def mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever types the command says that this is a demonstration."""
    monkeypatch.setenv("COVERDESK_DEMO", "true")
    settings.cache_clear()


@pytest.fixture
def demonstration(office: Office, mode: None) -> None:
    """The store is a demonstration too, where the command line approves and pays as well."""
    with office.store.writing(Scope.system()) as session:
        facts = mark.Mark(purchases=1, seed=1, until=NOON, written=True).facts
        audit.write(
            session,
            actor="tests",
            action=mark.BEGUN,
            subject=mark.SUBJECT,
            after=facts,
        )


def test_outside_a_demonstration_the_command_line_neither_approves_nor_offers_nor_pays(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-10")
    for by, to, *options in (
        ("sade@x.example", "Approved", "--amount", "75000"),
        ("bola@x.example", "offer sent"),
        ("bola@x.example", "Paid", "--payment-reference", "TRF-1"),
    ):
        answer = run(claim_id, to, *options, by=by)
        assert isinstance(answer.exception, NotAllowed)
        assert "an officer does, signed in" in str(answer.exception)
    assert office.claim(claim_id).version == 1
    entries = office.log(claim_id)[-3:]
    assert {entry.action for entry in entries} == {"claim moved by command refused"}
    assert entries[0].after["officer"] == "sade@x.example"


def test_keys_accounts_and_exports_of_a_command_name_the_terminal(office: Office, tmp_path: Path) -> None:
    commands = (
        ("keys", "issue", "--distributor", "Swift Lenders", "--mode", "live"),
        ("staff", "disable", "bola@x.example"),
        ("export", "purchases", "--mode", "test", "--out", str(tmp_path / "purchases.csv")),
    )
    for each in commands:
        assert CliRunner().invoke(cli.app, list(each)).exit_code == 0, each
    with office.store.reading(Scope.system()) as session:
        query = sa.select(AuditEntry.actor).where(
            col(AuditEntry.action).in_(["key issued", "staff disabled", "export started"]),
            col(AuditEntry.actor).startswith("command line"),
        )
        actors = list(session.execute(query).scalars())
    user = pwd.getpwuid(os.getuid()).pw_name
    assert actors == [f"command line, {user} at {socket.gethostname()}"] * len(commands)


@pytest.mark.usefixtures("mode")
def test_a_store_with_business_is_no_demonstration_because_somebody_at_the_terminal_says_so(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-10")
    answer = run(claim_id, "Approved", "--amount", "75000", by="sade@x.example")
    assert "an officer does, signed in" in str(answer.exception)
    assert office.claim(claim_id).version == 1


def test_the_user_of_the_machine_is_not_who_somebody_says_to_be(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    claim_id = office.lodge()
    assert run(claim_id, "Viewed").exit_code == 0
    assert "somebody-else" not in office.log(claim_id)[-1].actor


def test_the_log_says_that_it_was_the_command_line_of_which_user_and_host(office: Office) -> None:
    claim_id = office.lodge()
    assert run(claim_id, "Viewed").exit_code == 0
    entry = office.log(claim_id)[-1]
    assert entry.action == "claim moved by command"
    assert entry.actor == f"command line, {pwd.getpwuid(os.getuid()).pw_name} at {socket.gethostname()}"
    assert entry.after == {"to": "Viewed", "officer": "bola@x.example"}


@pytest.mark.usefixtures("demonstration")
def test_claim_goes_from_pending_to_paid_by_command(office: Office) -> None:
    claim_id, sade = office.lodge(incident_date="2026-11-10"), "Sade@x.example"
    moved = run(claim_id, "Approved", "--amount", "75000", "--note", "Complete", by=sade)
    assert moved.exit_code == 0
    assert moved.stdout.replace("\n", "") == f"{claim_id} is Approved now, at version 2"
    assert run(claim_id, "Offer sent", "--amount", "70000.50", "--note", "As agreed", version=2).exit_code == 0
    assert run(claim_id, "Offer accepted", "--note", "Accepted on the phone", version=3).exit_code == 0
    assert run(claim_id, "Paid", "--payment-reference", "TRF-1", version=4).exit_code == 0
    claim = office.claim(claim_id)
    assert (claim.claim_status, claim.offer_amount_minor, claim.payment_reference) == ("Paid", 7_000_050, "TRF-1")
    assert office.log(claim_id)[-2].actor == "staff bola@x.example"


def test_claim_is_declined_by_command(office: Office) -> None:
    claim_id = office.lodge()
    assert run(claim_id, "Declined", "--reason", "documents-missing", "--note", "None came").exit_code == 0
    assert office.claim(claim_id).decline_reason == "documents missing"


@pytest.mark.usefixtures("demonstration")
def test_refused_command_fails_and_changes_nothing(office: Office) -> None:
    claim_id = office.lodge()
    for answer, kind in (
        (run(claim_id, "Viewed", version=2), StaleVersion),
        (run(claim_id, "Paid", "--payment-reference", "R"), StateForbids),
        (run(claim_id, "Approved"), InvalidInput),
        (run(claim_id, "Approved", "--amount", "much"), InvalidInput),
        (run(claim_id, "Viewed", by="funmi@x.example"), NotAllowed),
        (run(claim_id, "Viewed", by="nobody@x.example"), NotFound),
        (run(UUID(int=1), "Viewed"), NotFound),
        (run("no-id", "Viewed"), InvalidInput),
    ):
        assert answer.exit_code != 0
        assert isinstance(answer.exception, kind)
    assert office.claim(claim_id).version == 1


def test_conflict_ends_with_one_and_tells_the_version_of_now(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim_id = office.lodge()
    argv = ["coverdesk", "claims", "move", str(claim_id), "--to", "Viewed", "--by", "ada@x.example", "--version", "7"]
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit) as ended:
        cli.run()
    assert ended.value.code == 1
    assert "it is Pending now, at version 1" in " ".join(capsys.readouterr().err.split())


def test_disabled_officer_moves_nothing(office: Office) -> None:
    claim_id = office.lodge()
    with office.store.writing(Scope.system()) as session:
        staff.disable(session, "bola@x.example", actor="tests")
    assert isinstance(run(claim_id, "Viewed").exception, NotFound)


@pytest.mark.usefixtures("demonstration")
def test_payment_that_waits_for_finance_is_no_shortcut_by_command(office: Office) -> None:
    claim_id, note = office.lodge(incident_date="2026-11-10"), ("--note", "Accepted on the phone")
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    office.do(claim_paying.hand_over, claim_id, by="sade", version=4)
    pay = ("--payment-reference", "TRF-1")
    for answer, words in (
        (run(claim_id, "Paid", *pay, by="funmi@x.example", version=5), "claims officers"),
        (run(claim_id, "Paid", *pay, by="sade@x.example", version=5), "a payer other than the approver"),
        (run(claim_id, "Paid", *pay, "--amount", "99999999", version=5), "must be the offer that was accepted"),
        (run(claim_id, "Paid", *pay, version=4), "changed by somebody else"),
        (run(claim_id, "Settled", *note, version=5), "cannot become Settled"),
        (run(claim_id, "Reviewing", *note, version=5), "a supervisor"),
    ):
        assert answer.exit_code != 0
        assert words in str(answer.exception)
    assert (office.claim(claim_id).claim_status, office.claim(claim_id).version) == ("Offer accepted", 5)
    # Whoever works claims may pay it still; finance has nothing left to pay then.
    assert run(claim_id, "Paid", *pay, version=5).exit_code == 0
    with pytest.raises(StateForbids, match="was not handed to finance"):
        office.do(claim_paying.pay, claim_id, by="funmi", payment_reference="FIN-1", version=6)
