"""States are declared once: nothing else in core or pages spells one as a string (contract C5)."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from core.settings import ROOT
from core.states.claims import CLOSED, DECIDED, RULES, TRANSITIONS, WAITING, ClaimStatus
from core.states.policies import OPEN, STAGES, PolicyAction, PolicyStage, SubmissionState
from core.states.policies import TRANSITIONS as SUBMISSION_TRANSITIONS
from tests.every_case import every_case

WORDS = {*ClaimStatus, *PolicyStage}
# Words of another subject that happen to be the same: an insurer's health, a view, the state of a proposal, of a
# letter or of a product version, and headings of figures.
OTHER_SUBJECTS = {
    "core/services/events/catalogue.py": {"Approved"},
    "core/services/insurers/awaiting.py": {"queued", "dead"},
    "core/services/policies/policies.py": {"Cancelled", "Declined"},
    "core/services/catalogue/product_list.py": {"In force"},
    "core/services/sales/purchases.py": {"Paid"},
    "core/services/catalogue/rate_changes.py": {"withdrawn"},
    "core/store/schema/catalogue.py": {"withdrawn"},
    "core/desk/queues.py": {"queued", "dead"},
    "pages/admin/system.py": {"queued", "dead"},
    "core/desk/backlog.py": {"dead"},
    "core/store/schema/parties.py": {"withdrawn"},
    "pages/admin/agreement.py": {"Approved", "Declined"},
    "pages/compliance/_shared.py": {"Declined"},
    "core/ui/kit/words.py": {"In force"},
    "pages/policies/policy.py": {"Declined", "queued", "dead"},
    "core/services/claims/lists/queue.py": {"Paid", "Approved"},
    "core/services/claims/reports/loss_ratios.py": {"Paid"},
}

# Statements, agreements and adjustments have states of their own, with some of the same words.
FINANCE = ("core/services/finance/", "pages/finance/", "core/store/schema/statements.py")
FINANCE_WORDS = {"Approved", "Declined", "Paid"}


def spelled(path: Path) -> Iterator[str]:
    """The states that a file spells; those of submissions where it is about submissions, as deliveries share them."""
    source = path.read_text()
    words = WORDS | (set(SubmissionState) if "Submission" in source else set())
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in words:
            yield node.value


def test_no_state_is_spelled_outside_its_declaration() -> None:
    found = {}
    assert [name for name in OTHER_SUBJECTS if not (ROOT / name).exists()] == []
    for path in [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]:
        name = str(path.relative_to(ROOT))
        if name.startswith(("core/states/", "core/store/schema/migrations/")):
            continue
        others = FINANCE_WORDS if name.startswith(FINANCE) else OTHER_SUBJECTS.get(name, set())
        if words := set(spelled(path)) - others:
            found[name] = words
    assert found == {}


def test_scan_finds_a_state_that_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text('if claim.claim_status == "Offer accepted":\n    pass\n')
    assert list(spelled(tmp_path / "planted.py")) == ["Offer accepted"]


def test_every_state_has_its_rule() -> None:
    assert set(RULES) == set(ClaimStatus)
    assert set(STAGES) == set(PolicyStage)
    ends = {state for each in SUBMISSION_TRANSITIONS for state in (each.start, each.to)}
    assert ends == set(SubmissionState) - {SubmissionState.DELEGATED}
    assert len({(move.start, move.to) for move in TRANSITIONS}) == len(TRANSITIONS)


def test_decided_and_waiting_statuses_are_those_of_the_clock() -> None:
    assert frozenset({ClaimStatus.PAID, ClaimStatus.SETTLED, ClaimStatus.DECLINED}) == DECIDED
    assert frozenset({ClaimStatus.OFFER_SENT}) == WAITING
    assert frozenset({ClaimStatus.SETTLED, ClaimStatus.DECLINED}) == CLOSED


def test_recorded_history_of_the_specification_is_possible() -> None:
    recorded = ("Pending", "Approved", "Offer sent", "Offer accepted", "Paid")
    assert all(TRANSITIONS.find(start, to) for start, to in pairwise(recorded))
    assert TRANSITIONS.find("Paid", "Pending") is None
    assert TRANSITIONS.find("no such status", "Paid") is None


def test_submissions_that_are_open_may_still_be_accepted() -> None:
    assert OPEN == (SubmissionState.QUEUED, SubmissionState.DEAD)


@every_case("action", PolicyAction)
def test_action_has_its_past_tense(action: PolicyAction) -> None:
    assert action.past_tense in {"activated", "declined", "cancelled", "renewed", "endorsed"}
