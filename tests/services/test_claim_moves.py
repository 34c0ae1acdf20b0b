"""Every pair of statuses, allowed and forbidden, from one table that contract and page agree with (contract C5)."""

import dataclasses
from collections.abc import Iterable
from itertools import pairwise, product
from typing import Any
from uuid import UUID

import pytest

from core.demo.claims import paths as claim_paths
from core.errors import StateForbids
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.judgement import judge
from core.services.claims.workflow.limits import Limits
from core.settings import ROOT
from core.states import claims as claim_states
from core.states.claims import TRANSITIONS, ClaimStatus
from core.store.schema.tables import Claim
from tests.every_case import every_case
from tests.services.claim_office import DESK, INPUTS, WHO, Office

STATUSES = list(ClaimStatus)
RETURN = {"Offer accepted": {"payment_reference": "RET-1", "note": "The account was closed"}}


def promised() -> set[tuple[str, str]]:
    """The pairs of clause C5, read off the page that it refers to."""
    page = (ROOT / "docs" / "claims.md").read_text()
    table = page[page.index("<!-- moves -->") : page.index("<!-- end of moves -->")]
    heads, _, *rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]
    return {(start, to) for start, *cells in rows for to, cell in zip(heads[1:], cells, strict=True) if cell}


def test_table_is_that_of_the_contract() -> None:
    assert {(move.start, move.to) for move in TRANSITIONS} == promised()


def test_table_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        next(iter(TRANSITIONS)).to = "Paid"  # type: ignore[misc]


@every_case("path", [path for path, _ in (*claim_paths.INSPECTED, *claim_paths.REPAIRED)], ids=" ".join)
def test_demonstration_goes_allowed_ways_only(path: tuple[str, ...]) -> None:
    assert all(claim_states.TRANSITIONS.find(start, to) for start, to in pairwise(("Pending", *path)))


# Sade does the rest: who declined takes up no appeal, and who paid notes no return.
BY: dict[Any, str] = {"Declined": WHO["Declined"], ("Paid", "Offer accepted"): "root"}


def test_every_allowed_pair_of_statuses_moves_and_two_of_each_start_are_refused(office: Office) -> None:
    refused = {start: [to for to in STATUSES if (start, to) not in promised()] for start in STATUSES}
    tried = promised() | {(start, to) for start, found in refused.items() for to in (*found[:1], *found[-1:])}
    assert_moved_or_refused(office, [pair for pair in product(STATUSES, STATUSES) if pair in tried])


@pytest.mark.exhaustive
def test_every_pair_of_statuses_moves_or_is_refused(office: Office) -> None:
    assert_moved_or_refused(office, product(STATUSES, STATUSES))


def assert_moved_or_refused(office: Office, pairs: Iterable[tuple[str, str]]) -> None:
    claim_id, approver = office.lodge(), office.people["root"].id
    paid_id = office.lodge()
    standing = {"approved_amount_minor": 7_500_000, "offer_amount_minor": 7_000_000, "approved_by": approver}
    for start, to in pairs:
        is_payment = "Paid" in {start, to} and to in {"Paid", "Offer accepted"}
        if is_payment:
            # What was paid once is owed no more: this claim pays, the other has never been paid.
            claim_id, paid_id = paid_id, claim_id
        office.put(claim_id, claim_status=start, **standing)
        office.certify(claim_id)
        before = office.claim(claim_id)
        if (start, to) in promised():
            office.move(claim_id, to, by=BY.get((start, to)) or BY.get(to, "sade"), **inputs(start, to))
            after = office.claim(claim_id)
            assert (after.claim_status, after.version) == (to, before.version + 1)
        else:
            with pytest.raises(StateForbids, match=f"that is {start} cannot become {to}") as refused:
                office.move(claim_id, to, by="sade", **inputs(start, to))
            assert refused.value.detail == {"claim_status": start, "allowed": targets(start)}
            assert office.claim(claim_id) == before
        if is_payment:
            claim_id, paid_id = paid_id, claim_id
    assert len(office.events(claim_id)) + len(office.events(paid_id)) == 2 + len(TRANSITIONS)


def inputs(start: str, to: str) -> dict[str, Any]:
    """All that a transition needs; a note goes with any."""
    return {"note": "As agreed", **(RETURN if start == "Paid" else INPUTS).get(to, {})}


OF_WHAT_IS_SEEN = {"Inspection submitted", "Repair estimate submitted"}


def targets(start: str) -> list[str]:
    return [move.to for move in claim_states.TRANSITIONS.list_from(start)]


def words(office: Office, claim_id: UUID, by: str) -> dict[str, tuple[str, ...]]:
    with office.store.reading(DESK) as session:
        claim = session.get_one(Claim, claim_id)
        nothing_against = judge(session, claim)
        vars(nothing_against).update(limits=Limits(), checks=(), duplicates=(), links=(), approval_fault=None)
        allowed = claim_transitions.list_allowed(claim, office.people[by], nothing_against)
        return {move.to: move.missing for move in allowed}


def test_officer_is_told_what_each_move_still_needs(office: Office) -> None:
    claim_id = office.lodge()
    assert set(words(office, claim_id, "ada")) == {*targets("Pending")} - OF_WHAT_IS_SEEN, "of a loan"
    assert not any(words(office, claim_id, "ada").values())
    office.put(claim_id, credit_life_claim_meta={"incident_type": "Death", "accidental": "true"})
    assert words(office, claim_id, "ada")["Approved"] == (
        "the required documents: loan offer letter, police report, medical report, death certificate",
    )
    office.put(claim_id, claim_status="Repair estimate submitted")
    assert words(office, claim_id, "ada")["Offer sent"] == ("an earlier approval",)


def test_an_inspection_and_an_estimate_are_offered_where_somebody_looks_at_the_loss(office: Office) -> None:
    claim_id = office.lodge()
    offered = {"Credit life": False, "Personal accident": False, "Motor": True, "Gadget": True, "Contents": True}
    for title, is_offered in offered.items():
        meta = {} if title == "Credit life" else {"credit_life_claim_meta": None}
        office.put(claim_id, claim_type=title, **meta)
        for start in ("Pending", "Viewed", "Reviewing"):
            office.put(claim_id, claim_status=start)
            offered_here = OF_WHAT_IS_SEEN & {*words(office, claim_id, "ada")}
            expected = OF_WHAT_IS_SEEN & {*targets(start)} if is_offered else set()
            assert offered_here == expected, (title, start)


def test_officer_is_told_who_else_has_to_move(office: Office) -> None:
    claim_id = office.lodge()
    office.put(claim_id, claim_status="Declined")
    assert words(office, claim_id, "bola") == {"Reviewing": ("a supervisor",)}
    assert words(office, claim_id, "sade") == words(office, claim_id, "root") == {"Reviewing": ()}
    offered = {"approved_amount_minor": 10_000_001, "offer_amount_minor": 10_000_001}
    office.put(claim_id, claim_status="Offer accepted", approved_by=office.people["ada"].id, **offered)
    assert words(office, claim_id, "ada")["Paid"] == (
        "a payer other than the approver",
        "a supervisor: ₦100,000.01 is above the limit of ₦100,000.00",
    )
    assert words(office, claim_id, "bola") == {"Paid": (), "Reviewing": ("a supervisor",)}


def test_who_works_no_claims_is_offered_no_move(office: Office) -> None:
    assert words(office, office.lodge(), "funmi") == {}


def test_move_says_what_a_form_has_to_ask(office: Office) -> None:
    fields = {move.to: [need.field for need in move.inputs_needed] for move in TRANSITIONS}
    assert fields["Declined"] == ["reason", "note"]
    assert fields["Approved"] == ["amount", "reasons"]
    assert fields["Offer sent"] == ["amount"]
    assert fields["Repair estimate submitted"] == ["amount", "estimate_document"]
    assert fields["Paid"] == ["payment_reference"]
    assert fields["Reviewing"] == fields["Settled"] == []
