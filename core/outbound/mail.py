"""Delivers e-mail by SMTP, or, in a demonstration, into a folder."""

import smtplib
import ssl
from contextlib import suppress
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from core import clock
from core.settings import LOOPBACK_HOSTS, settings

SECONDS: Final = 15
_SCHEMES: Final = {"smtp": 587, "smtps": 465}


class MailFault(Exception):
    """An e-mail that was not taken; `is_final` when trying again cannot help."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


def can_send() -> bool:
    """Return True when e-mail goes anywhere: to a server, or into the folder of a demonstration."""
    return bool(settings().smtp_url.get_secret_value()) or settings().demo


def deliver(message_id: str, recipient: str, subject: str, body: str) -> None:
    """Deliver one e-mail; MailFault says why it was not taken. The id stays the same on every try."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings().get_sender(), recipient, subject
    message["Message-ID"], message["Date"] = f"<{message_id}@coverdesk>", format_datetime(clock.now())
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(body)
    address = settings().smtp_url.get_secret_value()
    if not address:
        _write(message_id, message)
        return
    try:
        _submit(urlsplit(address), message)
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise MailFault("The mail server refused the recipient", is_final=all(code >= 500 for code in codes)) from None
    except smtplib.SMTPResponseException as error:
        raise MailFault(f"The mail server answered {error.smtp_code}", is_final=False) from None
    except (smtplib.SMTPException, OSError):
        raise MailFault("The mail server could not be reached") from None


def _submit(server: SplitResult, message: EmailMessage) -> None:
    host, port = server.hostname or "", server.port or _SCHEMES[server.scheme]
    context = ssl.create_default_context()
    if server.scheme == "smtps":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=context)
    else:
        connection = smtplib.SMTP(host, port, timeout=SECONDS)
    with connection:
        connection.ehlo()
        if server.scheme == "smtp" and connection.has_extn("starttls"):
            connection.starttls(context=context)
        if server.username:
            if not isinstance(connection.sock, ssl.SSLSocket) and host not in LOOPBACK_HOSTS:
                raise MailFault("The mail server offers no TLS, and is not told the password without it")
            connection.login(unquote(server.username), unquote(server.password or ""))
        connection.send_message(message)


def folder() -> Path:
    """Return where a demonstration writes its e-mail: beside its files."""
    return Path(settings().files_url.removeprefix("file://") + "-mail")


def _write(message_id: str, message: EmailMessage) -> None:
    folder().mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), (folder() / f"{message_id}.eml").open("xb") as file:
        file.write(message.as_bytes())
