"""Claims of every line of cover are declared once: fields, documents by incident, what is checked (contract C16)."""

from typing import Any

from core.covers.claims.line import ClaimLine
from core.covers.claims.lines import LINES, MOTOR, get_line_of
from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.registry import COVERS
from tests.covers import shipped
from tests.every_case import every_case

every_line = every_case("line", LINES, ids=lambda line: line.route)
OTHER = {
    "claimant": "next of kin",
    "claimant_first_name": "Chidi",
    "claimant_last_name": "Eze",
    "claimant_phone_number": "08027654321",
}


def faults(line: ClaimLine, **changed: Any) -> dict[str, str]:
    body = {**build_example(line.request), **changed}
    return shipped.faults(line.request, {name: value for name, value in body.items() if value is not None})


def test_every_cover_that_is_sold_has_a_line_of_claims() -> None:
    without = [cover.key for cover in COVERS if get_line_of((cover.prefix, cover.route)) is None]
    assert without == [CREDIT_LIFE.key]


@every_line
def test_what_a_line_declares_holds_together(line: ClaimLine) -> None:
    assert all(set(papers) <= set(line.documents) for papers in (*line.incidents.values(), line.always))
    assert all(insured <= set(line.incidents) for insured in line.covers.values())
    assert line.amount in line.request.model_fields
    assert faults(line) == {}
    assert faults(line, **dict.fromkeys(line.documents)) == {}, "a first notice needs no papers"


def test_claimant_who_is_not_the_owner_is_named_and_can_be_reached() -> None:
    assert faults(MOTOR, **OTHER) == {}
    assert set(faults(MOTOR, claimant="Third party")) == {
        "claimant_first_name",
        "claimant_last_name",
        "claimant_phone_number",
    }
    assert faults(MOTOR, **{**OTHER, "claimant_phone_number": None, "claimant_email": "chidi@example.com"}) == {}
    assert set(faults(MOTOR, claimant="Neighbour")) == {"claimant"}
    wrong = {**OTHER, "claimant_phone_number": None, "claimant_email": "chidi"}
    assert set(faults(MOTOR, **wrong)) == {"claimant_email"}


def test_a_town_is_place_enough() -> None:
    assert faults(MOTOR, incident_place="Jos") == {}


@every_case("line", [line for line in LINES if "Death" in line.incidents], ids=lambda line: line.route)
def test_nobody_claims_for_their_own_death(line: ClaimLine) -> None:
    assert set(faults(line, incident_type="Death")) == {"claimant"}
    assert faults(line, incident_type="Death", **OTHER) == {}
    assert "death_certificate" in line.list_required("Death")


def test_reason_stands_in_for_a_police_report_and_for_no_other_paper() -> None:
    assert "police_report" in MOTOR.list_required("Theft")
    assert MOTOR.list_required("Theft", no_police_report="The station is closed") == ("vehicle_licence",)


@every_case(
    ("field", "value"),
    [("incident_time", "25:00"), ("account_number", "12345"), ("cost_of_repair", "0"), ("incident_place", "x")],
)
def test_wrong_fact_is_refused_by_name(field: str, value: str) -> None:
    assert set(faults(MOTOR, **{field: value})) == {field}
