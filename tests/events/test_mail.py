"""E-mail: written with its cause, sent later by a real server, tried again, or put into a folder (contract W1)."""

import email
import email.policy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from aiosmtpd.controller import Controller
from sqlmodel import col

from core import settings
from core.desk import queues
from core.errors import InvalidInput
from core.outbound import mail as smtp
from core.services.mail import mail
from core.services.mail.mail import TEMPLATES
from core.store.access import Scope
from core.store.schema.tables import Mail
from tests.commands.command_line import coverdesk
from tests.events.conftest import Hooks
from tests.every_case import every_case
from tests.ports import free_port

VALUES = {"mode": "test", "endpoint": "Back office", "reason": "The receiver answered 500"}


class Inbox:
    """The mails that an SMTP server took; `refuse` is its answer instead."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.refuse: str | None = None

    async def handle_RCPT(  # noqa: N802 - the name of the interface
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if self.refuse:
            return self.refuse
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.letters.append(envelope)
        return "250 taken"


@pytest.fixture
def inbox(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inbox]:
    taken = Inbox()
    server = Controller(taken, hostname="127.0.0.1", port=free_port())
    server.start()
    monkeypatch.setenv("COVERDESK_SMTP_URL", f"smtp://127.0.0.1:{server.port}")
    monkeypatch.setenv("COVERDESK_MAIL_FROM", "desk@coverdesk.example")
    settings.settings.cache_clear()
    yield taken
    server.stop()


def send(hooks: Hooks, to: str = "tech@lender.example") -> None:
    with hooks.store.writing(Scope.system()) as session:
        mail.send(session, to, "endpoint failing", VALUES)


def row(hooks: Hooks) -> Mail:
    with hooks.store.reading(Scope.system()) as session:
        found = session.execute(sa.select(Mail)).scalar_one()
        session.expunge(found)
        return found


@pytest.mark.both_databases
def test_a_letter_is_sent_once_with_the_id_of_its_row(hooks: Hooks, inbox: Inbox) -> None:
    send(hooks)
    assert inbox.letters == []
    hooks.drain()
    hooks.drain()
    (envelope,) = inbox.letters
    letter = email.message_from_bytes(envelope.content)
    assert (envelope.rcpt_tos, letter["From"]) == (["tech@lender.example"], "desk@coverdesk.example")
    assert letter["Message-ID"] == f"<{row(hooks).id}@coverdesk>"
    assert "Back office" in letter.get_payload()
    assert row(hooks).state == "sent"


@pytest.mark.both_databases
def test_a_letter_whose_cause_is_rolled_back_was_never_written(hooks: Hooks, inbox: Inbox) -> None:
    def fail(session: Any) -> None:
        mail.send(session, "tech@lender.example", "endpoint failing", VALUES)
        raise KeyError("cause")

    with pytest.raises(KeyError):
        hooks.store.transact(Scope.system(), fail)
    hooks.drain()
    assert inbox.letters == []


def test_a_busy_server_is_tried_again_and_a_refused_recipient_is_given_up(hooks: Hooks, inbox: Inbox) -> None:
    send(hooks)
    inbox.refuse = "451 try later"
    hooks.drain()
    found = row(hooks)
    assert (found.state, found.failures) == ("queued", 1)
    assert found.next_try_at is not None
    assert found.next_try_at > hooks.now
    inbox.refuse = "550 no such mailbox"
    hooks.later(minutes=2)
    hooks.drain()
    found = row(hooks)
    assert (found.state, found.last_error) == ("dead", "The mail server refused the recipient")


def test_a_server_that_is_away_is_tried_again(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_SMTP_URL", "smtp://127.0.0.1:1")
    settings.settings.cache_clear()
    send(hooks)
    hooks.drain()
    assert (row(hooks).state, row(hooks).last_error) == ("queued", "The mail server could not be reached")


def test_a_password_is_not_told_to_a_server_without_tls(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Controller(Inbox(), hostname="127.0.0.1", port=free_port())
    server.start()
    try:
        port = server.port
        monkeypatch.setenv("COVERDESK_SMTP_URL", f"smtp://user:word@127.0.0.1:{port}")
        monkeypatch.setattr(smtp, "LOOPBACK_HOSTS", frozenset())
        settings.settings.cache_clear()
        with pytest.raises(smtp.MailFault, match="offers no TLS"):
            smtp.deliver("1", "tech@lender.example", "Subject", "Body")
    finally:
        server.stop()


def test_a_demonstration_puts_its_mail_into_a_folder(hooks: Hooks) -> None:
    send(hooks)
    hooks.drain()
    (letter,) = list(smtp.folder().iterdir())
    assert "Back office" in letter.read_text()
    assert letter.stem == str(row(hooks).id)


@pytest.mark.both_databases
def test_without_a_server_mail_waits_and_is_not_configured_rather_than_stuck(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COVERDESK_DEMO")
    settings.settings.cache_clear()
    send(hooks)
    hooks.drain()
    with hooks.store.reading(Scope.system()) as session:
        found = {each.name: each for each in queues.list_queues(session)}
        assert session.execute(sa.select(col(Mail.state))).scalar_one() == "queued"
    assert (found["E-mail"].queued, found["E-mail"].due, found["E-mail"].oldest_due_at) == (1, 0, None)
    hooks.later(days=2)
    output = coverdesk("status").stdout
    assert "E-mail            1 wait, no server configured" in output
    assert "E-mail:" not in output
    assert "no worker was heard of" not in output


def test_a_server_that_is_away_is_a_fault_though_no_mail_is_due(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try in vain puts off the next one, so that nothing is ever due for long."""
    monkeypatch.setenv("COVERDESK_SMTP_URL", f"smtp://127.0.0.1:{free_port()}")
    settings.settings.cache_clear()
    send(hooks)
    hooks.drain()
    assert "E-mail: work has been due" not in coverdesk("status").stdout
    hooks.later(minutes=61)
    hooks.drain()
    assert row(hooks).next_try_at > hooks.now
    output = coverdesk("status").stdout
    assert "E-mail: work has been due for 61 minutes (The mail server could not be reached)" in output


@every_case("to", ["", "nobody", "a@b.example\r\nBcc: c@d.example", "a@b.example,c@d.example"])
def test_what_is_not_one_address_is_refused(hooks: Hooks, to: str) -> None:
    with hooks.store.writing(Scope.system()) as session, pytest.raises(InvalidInput, match="to must be one e-mail"):
        mail.send(session, to, "endpoint failing", VALUES)


@every_case("name", sorted(TEMPLATES))
def test_a_template_names_its_values_and_its_subject_is_one_line(name: str) -> None:
    template = TEMPLATES[name]
    names = set(re.findall(r"\$(\w+)", f"{template.subject}\n{template.body}"))
    subject, body = template.render({each: f"<{each}>\r\nBcc: x@y.example" for each in names})
    assert "\n" not in subject
    assert all(f"<{each}>" in subject + body for each in names)
    assert Path(name).name == name


@pytest.mark.both_databases
def test_a_letter_to_a_policyholder_arrives_whole_and_stands_on_its_record(hooks: Hooks, inbox: Inbox) -> None:
    names = TEMPLATES["policy certificate"].names
    values = {name: f"₦1,068.75 for {name} of Ọládélé" for name in names}
    with hooks.store.writing(Scope.system()) as session:
        mail.send(
            session, "ada@customer.example", "policy certificate", values, about="policy 1", by="staff a@x.example"
        )
    hooks.drain()
    (taken,) = inbox.letters
    letter = email.message_from_bytes(taken.content, policy=email.policy.default)
    assert (taken.rcpt_tos, letter["Subject"]) == (["ada@customer.example"], f"Your policy {values['policy_number']}")
    assert all(values[name] in letter.get_content() for name in names - {"policy_number"})
    with hooks.store.reading(Scope.system()) as session:
        (line,) = mail.list_about(session, "policy 1")
        assert mail.list_about(session, "policy 2") == []
    assert (line.state, line.sent_by) == ("sent", "staff a@x.example")
