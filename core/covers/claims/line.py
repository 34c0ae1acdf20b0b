"""ClaimLine: the frozen declaration of the claims of one line of cover (contract C16)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from core.covers import fields
from core.covers.claims.request import CLAIMANT_FIELDS, POLICE_REPORT, LossRequest

Endpoint = tuple[str, str]
_NO_POLICE_REPORT: Final = "no_police_report"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a line's own check: the question, the answer (None when the records cannot tell) and the evidence."""

    question: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, kw_only=True)
class ClaimLine:
    """The claims of one line of cover: endpoint, form, documents and checks follow from it.

    `covers` are the endpoints that sell it (prefix and route), each with the incidents that it insures; `incidents`
    are all that can be lodged, with the documents that each requires besides those in `always`. `column` is where the
    claim keeps what was submitted, `amount` the field with the amount claimed, and `stored_names` renames fields there.
    `same_thing` compares what was submitted with what was insured.
    """

    route: str
    title: str
    request: type[LossRequest]
    column: str
    covers: Mapping[Endpoint, frozenset[str]]
    incidents: Mapping[str, tuple[str, ...]]
    always: tuple[str, ...] = ()
    amount: str = "amount_claimed"
    same_thing: Callable[[Mapping[str, Any], Mapping[str, Any]], Finding]
    stored_names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The fields that are documents, in the order of the form."""
        return tuple(
            name
            for name, each in self.request.model_fields.items()
            if any(isinstance(mark, fields.Upload) for mark in fields.get_metadata(each))
        )

    def list_required(self, incident_type: str | None, *, no_police_report: str | None = None) -> tuple[str, ...]:
        """Return the documents that an incident requires; a reason for having no police report stands in for it."""
        wanted = {*self.always, *self.incidents.get(incident_type or "", ())}
        return tuple(
            name for name in self.documents if name in wanted and not (name == POLICE_REPORT and no_police_report)
        )

    def list_required_of(self, meta: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the required documents of a lodged claim."""
        return self.list_required(meta.get("incident_type"), no_police_report=meta.get(_NO_POLICE_REPORT))

    def build_meta(self, request: LossRequest) -> dict[str, Any]:
        """Return what a claim keeps of a request: amounts and days as text, absent values as None."""
        return {
            self.stored_names.get(name, name): _to_plain(getattr(request, name))
            for name in self.request.model_fields
            if name not in CLAIMANT_FIELDS
        }


def _to_plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    return value.isoformat() if isinstance(value, date) else value


def compare(question: str, claimed: str | None, insured: str | None, *, differs: bool | None = False) -> Finding:
    """Compare two texts without case and punctuation.

    Unknown while one is missing; `differs` is the result when they do not agree.
    """
    if not claimed or not insured:
        return Finding(question, None, "not said" if not claimed else "the policy does not say")
    if normalise(claimed) == normalise(insured):
        return Finding(question, passed=True, detail=claimed)
    return Finding(question, differs, f"{claimed}, insured {insured}")


def normalise(text: str) -> str:
    """Return a text in lower case, letters and digits only."""
    return "".join(character for character in text.casefold() if character.isalnum())
