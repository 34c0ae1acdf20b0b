"""The incidents of credit life claims, whose request the specification lays down."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MEDICAL_REPORT: Final = "medical_report"


@dataclass(frozen=True, slots=True)
class Incident:
    """A type of incident: the benefit that covers it, None when none does, and its required documents."""

    benefit: str | None
    documents: tuple[str, ...] = ()


INCIDENTS: Final[Mapping[str, Incident]] = {
    "Death": Incident("death", (MEDICAL_REPORT,)),
    "Permanent disability": Incident("permanent_disability", (MEDICAL_REPORT,)),
    "Temporary disability": Incident("temporary_disability", (MEDICAL_REPORT,)),
    "Critical illness": Incident(None, (MEDICAL_REPORT,)),
    "Loss of job": Incident("loss_of_job", ("employment_termination_letter",)),
    "Burglary": Incident(None),
}
