"""The texts of e-mails: a subject and a plain body for each, with the values that they need by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Final


@dataclass(frozen=True, slots=True)
class MailTemplate:
    """One e-mail, with `$name` where a value goes."""

    subject: str
    body: str

    def render(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return subject and body; KeyError names a value that is missing. A subject is one line."""
        plain = {name: str(value) for name, value in values.items()}
        one_line = {name: " ".join(value.split()) for name, value in plain.items()}
        return Template(self.subject).substitute(one_line), Template(self.body).substitute(plain)


TEMPLATES: Final[Mapping[str, MailTemplate]] = {
    "endpoint failing": MailTemplate(
        "A webhook endpoint is failing ($mode)",
        "Every delivery to one of your $mode endpoints has failed for an hour.\n\n"
        "Endpoint: $endpoint\nLast answer: $reason\n\n"
        "Deliveries are still tried. After five days of failures the endpoint is disabled; its events are then held\n"
        "until it is enabled again, and none is lost.\n",
    ),
    "endpoint disabled": MailTemplate(
        "A webhook endpoint was disabled ($mode)",
        "One of your $mode endpoints takes no deliveries any more.\n\n"
        "Endpoint: $endpoint\nReason: $reason\n\n"
        "Its events are held. Enable the endpoint to get those that were held meanwhile.\n",
    ),
}
