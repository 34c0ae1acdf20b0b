"""The texts of e-mails, as an admin changes them (contract W1)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from string import Template
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import FieldFault, NotFound, StaleVersion, raise_faults
from core.services.audit import log as audit
from core.services.mail.mail import TEMPLATES, MailTemplate
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import MailText

TITLES: Final[Mapping[str, str]] = {
    "policy certificate": "Certificate of a policy",
    "renewal reminder": "Reminder of a renewal",
    "endpoint failing": "A webhook endpoint is failing",
    "endpoint disabled": "A webhook endpoint was disabled",
    "claim acknowledgement": "Claim: acknowledgement",
    "claim documents": "Claim: request for documents",
    "claim offer": "Claim: offer with discharge form",
    "claim decline": "Claim: decline",
    "claim payment": "Claim: payment advice",
    "complaint acknowledgement": "Complaint: acknowledgement",
    "complaint answer": "Complaint: answer",
}
_LONGEST: Final[Mapping[str, int]] = {"subject": 150, "body": 4_000}


@dataclass(frozen=True, kw_only=True, slots=True)
class TextInUse:
    """One text as it is sent now; `version` is 0 while it is the one that comes with the software."""

    name: str
    title: str
    text: MailTemplate
    values: tuple[str, ...]
    version: int


def list_texts(session: ScopedSession) -> list[TextInUse]:
    """Return every text as it is sent now."""
    changed = {row.name: row for row in session.execute(sa.select(MailText)).scalars()}
    return [_build(name, changed.get(name)) for name in sorted(TEMPLATES, key=lambda name: TITLES.get(name, name))]


def _build(name: str, row: MailText | None) -> TextInUse:
    usual = TEMPLATES[name]
    return TextInUse(
        name=name,
        title=TITLES.get(name, name.capitalize()),
        text=MailTemplate(row.subject, row.body) if row else usual,
        values=tuple(sorted(usual.names)),
        version=row.version if row else 0,
    )


def change_text(session: ScopedSession, name: str, inputs: Mapping[str, Any], *, version: int, by: Person) -> None:
    """Replace a text by `subject` and `body`, with `$name` where a value goes.

    InvalidInput names what is wrong, StaleVersion if somebody else has changed it meanwhile."""
    row = _get_for_update(session, name, version, by)
    text = _validate(name, inputs)
    before = _build(name, row).text
    if row is None:
        session.insert(MailText(name=name, subject=text.subject, body=text.body))
    else:
        row.subject, row.body, row.version, row.updated_at = text.subject, text.body, version + 1, clock.now()
        session.flush()
    _record(session, "e-mail text changed", name, before, text, by)


def reset_text(session: ScopedSession, name: str, *, version: int, by: Person) -> None:
    """Return to the text that comes with the software."""
    row = _get_for_update(session, name, version, by)
    if row is None:
        return
    before = _build(name, row).text
    session.delete(row)
    session.flush()
    _record(session, "e-mail text reset", name, before, TEMPLATES[name], by)


def preview(name: str, text: MailTemplate) -> tuple[str, str]:
    """Return a text with each value's name in its place: "Dear [name]"."""
    return text.render({each: f"[{each}]" for each in TEMPLATES[name].names})


def _validate(name: str, inputs: Mapping[str, Any]) -> MailTemplate:
    subject, body = (str(inputs.get(field) or "").replace("\r\n", "\n").strip() for field in _LONGEST)
    faults = [
        FieldFault(field, message)
        for field, written in (("subject", subject), ("body", body))
        if (message := _find_fault(name, field, written))
    ]
    raise_faults(faults)
    return MailTemplate(subject, f"{body}\n")


def _find_fault(name: str, field: str, written: str) -> str | None:
    if not 0 < len(written) <= _LONGEST[field]:
        return f"must have 1 to {_LONGEST[field]:,} characters"
    if field == "subject" and not written.isprintable():
        return "must be one line of plain text"
    if not written.replace("\n", "").isprintable():
        return "must be plain text"
    known, template = TEMPLATES[name].names, Template(written)
    if not template.is_valid():
        return "has a $ that begins no value: write $$ for the sign itself"
    if unknown := set(template.get_identifiers()) - known:
        return f"uses {', '.join(f'${each}' for each in sorted(unknown))}, which this e-mail does not have"
    return None


def _get_for_update(session: ScopedSession, name: str, version: int, by: Person) -> MailText | None:
    by.require_role(otherwise="Texts of e-mails are changed by an admin")
    if name not in TEMPLATES:
        raise NotFound("No such text")
    row = session.execute(sa.select(MailText).where(col(MailText.name) == name).with_for_update()).scalar_one_or_none()
    if (row.version if row else 0) != version:
        raise StaleVersion("Somebody else has changed this text")
    return row


def _record(
    session: ScopedSession, action: str, name: str, before: MailTemplate, after: MailTemplate, by: Person
) -> None:
    subject = f"text {name.replace(' ', '-')}"
    audit.write(session, actor=by.actor, action=action, subject=subject, before=asdict(before), after=asdict(after))
