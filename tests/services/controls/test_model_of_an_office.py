"""A model: people in league do every act in any order, and nobody is paid what is not owed (contract, Controls)."""

import hashlib
import os
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import hypothesis
import pytest
import sqlalchemy as sa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from sqlmodel import SQLModel

from core import clock
from core.desk import store_check
from core.errors import CoverdeskError
from core.store.access import Store
from tests.services.controls.model import acts, money_acts
from tests.services.controls.model.acts import Idle
from tests.services.controls.model.ledger import Ledger
from tests.services.controls.model.office import SYSTEM, Office, open_office

pytestmark = pytest.mark.both_databases

# Steps of a run of the suite; `make dishonest` sets more.
STEPS = int(os.environ.get("COVERDESK_DISHONEST_STEPS", "100"))
# Another number is another run: processes side by side, each with its own, add up.
SEED = int(os.environ.get("COVERDESK_DISHONEST_SEED", "0"))
AT_ONCE = 50 if STEPS <= 100 else 100
# What tells one chain from another of its kind.
_DETAILS = re.compile(r"[0-9a-f]{32}|\d[\d,.]*|\S+@\S+|C-[0-9A-F]{8}")
# The rows of these grow with a refusal, which is kept, or are the catalogue's.
_KEPT = {"audit_entry", "audit_head", "sign_in_attempt", "store_secret"}
# Groups of acts, each with how often it is tried beside the others of its group, and the groups beside each other.
_CLAIMS = {
    acts.work_claim: 40,
    acts.lodge: 5,
    acts.sell: 2,
    acts.put_in_force: 1,
    acts.any_move: 2,
    acts.move_by_command: 1,
    acts.comment: 1,
    acts.appeal: 1,
    acts.approve_anew: 3,
    acts.pay_part: 4,
    acts.take_back_part: 2,
    acts.hand_over: 6,
    acts.take_back: 1,
    acts.pay_handed: 6,
    acts.pay_file: 2,
    acts.pay_together: 3,
    acts.set_payee: 1,
    acts.correct_amounts: 1,
    acts.set_incident: 1,
    acts.set_claimant: 1,
    acts.attach: 1,
    acts.deduct: 1,
    acts.reserve: 1,
    acts.refer: 1,
    acts.assign: 1,
    acts.ask: 1,
    acts.second_submission: 1,
    acts.settle_many: 1,
}
_REFUNDS = {
    acts.sell: 1,
    money_acts.cancel: 2,
    money_acts.decline: 1,
    money_acts.endorse: 1,
    money_acts.renew: 1,
    money_acts.send_exits: 1,
    money_acts.send_loans: 2,
    money_acts.confirm_book: 4,
    money_acts.approve_note: 4,
    money_acts.pay_note: 5,
    money_acts.return_note: 3,
    money_acts.propose_adjustment: 3,
    money_acts.decide_adjustment: 4,
}
_PARTIES = {
    money_acts.prepare_statement: 4,
    money_acts.move_statement: 7,
    money_acts.reverse_statement: 1,
    money_acts.prepare_payout: 4,
    money_acts.decide_payout: 6,
    money_acts.approve_payout_anew: 1,
    money_acts.open_bank_file: 2,
    money_acts.withdraw_receipt: 1,
    money_acts.confirm_payment: 6,
    money_acts.return_payment: 3,
    money_acts.receive: 2,
    money_acts.reconcile: 3,
    money_acts.decide_difference: 5,
    money_acts.propose_account: 1,
    money_acts.decide_account: 2,
}
_PEOPLE = {
    money_acts.add_terms: 3,
    money_acts.decide_terms: 2,
    money_acts.propose_share: 2,
    money_acts.decide_share: 2,
    money_acts.propose_tax: 2,
    money_acts.decide_tax: 2,
    money_acts.propose_rates: 2,
    money_acts.decide_rates: 2,
    money_acts.withdraw_rates: 1,
    money_acts.close_month: 1,
    money_acts.add_person: 1,
    money_acts.change_person: 2,
    money_acts.decide_person: 5,
    money_acts.link_person: 1,
    money_acts.disable_person: 2,
    money_acts.save_by_command: 1,
    money_acts.own_details: 1,
    money_acts.wait: 5,
}
GROUPS: dict[str, tuple[int, dict[Callable[..., Any], int]]] = {
    "claims": (8, _CLAIMS),
    "refunds": (5, _REFUNDS),
    "parties": (4, _PARTIES),
    "people": (2, _PEOPLE),
}


class People(RuleBasedStateMachine):
    """One example: a new office in which one act follows another."""

    open: Callable[..., Office]
    summary: "Summary"

    def __init__(self) -> None:
        super().__init__()
        self.summary.examples += 1
        self.office = type(self).open(collects=("platform", "distributor")[self.summary.examples % 2])
        self.ledger = Ledger(self.office)
        self.steps, self.mixed, self.is_over = 0, 0, False

    def step(self, group: dict[Callable[[Office, Random], Any], int], chance: int) -> None:
        """One act of a group, and what must hold after it; where there is nothing to do, another one."""
        if self.is_over:
            return
        # What was drawn before counts too: what is drawn alike twice is not the same act twice.
        self.mixed = (self.mixed * 6_364_136_223_846_793_005 + chance + 1) % 2**64
        office, dice = self.office, Random(self.mixed)
        self.steps += 1
        self.summary.step()
        office.now += acts.MINUTE * dice.randrange(1, 90)
        for act in dice.choices(list(group), list(group.values()), k=5):
            if self._try(act, dice, watched=self.steps % 20 == 0):
                return

    def _try(self, act: Callable[[Office, Random], Any], dice: Random, *, watched: bool) -> bool:
        office = self.office
        office.acting, office.who, office.what = act.__name__.replace("_", " "), "", ""
        with clock.freeze(office.now):
            before = _print_of(office) if watched else None
            try:
                act(office, dice)
                result = "done"
            except Idle:
                result = "nothing to do"
            except CoverdeskError as error:
                result = "refused"
                self.summary.why[office.acting, type(error).__name__, str(error)[:60]] += 1
                if watched and _print_of(office) != before:
                    self._tell([f"{act.__name__} was refused, {error}, and left something"])
            except Exception as error:
                result = "broken"
                where = traceback.extract_tb(error.__traceback__)[-1]
                self._tell(
                    [f"{act.__name__}: {type(error).__name__} {error}"[:400] + f" at {where.filename}:{where.lineno}"]
                )
            self.summary.count(office.acting, result)
            if result == "done":
                office.trail.append(f"{office.now:%d %H:%M} {office.who} {office.acting} {office.what}")
            faults = self.ledger.find_faults() if result == "done" else []
        self._tell(faults)
        return result != "nothing to do"

    def _tell(self, faults: list[str]) -> None:
        """Keep the first chain of each kind with who did what; the example is over by it."""
        if faults and not self.is_over:
            self.is_over = True
            self.summary.add_chain(_DETAILS.sub("#", faults[0]), [*faults, "after", *self.office.trail])

    def teardown(self) -> None:
        """At the end of an example everything is checked by `coverdesk check`, which takes as long as ten acts."""
        with clock.freeze(self.office.now):
            self._tell(_check(self.office))


def _rule_of(group: dict[Callable[..., Any], int]) -> Any:
    def run(self: People, chance: int) -> None:
        self.step(group, chance)

    return rule(chance=st.integers(0, 2**24 - 1))(run)


for _name, (_weight, _acts) in GROUPS.items():
    for _number in range(_weight):
        setattr(People, f"{_name}_{_number + 1}", _rule_of(_acts))


def _check(office: Office) -> list[str]:
    with office.store.reading(SYSTEM) as session:
        found = store_check.list_faults(session)
    # That somebody became a party of what they had decided on is a report; the ledger knows whether they were then.
    return [f"coverdesk check: {fault}" for fault in found if "decided on by" not in fault]


def _print_of(office: Office) -> str:
    """A print of every row that a refusal may not change."""
    digest = hashlib.sha256()
    with office.store.engine.connect() as connection:
        for name in sorted(SQLModel.metadata.tables):
            if name not in _KEPT and not name.startswith("vehicle") and name != "movement":
                rows = connection.execute(sa.text(f"SELECT * FROM {name}")).all()
                digest.update(repr(sorted(map(repr, rows))).encode())
    return digest.hexdigest()


class Summary:
    """Acts done and refused, and how far it is."""

    def __init__(self) -> None:
        self.acts: dict[str, dict[str, int]] = {}
        self.why: Counter[tuple[str, ...]] = Counter()
        self.chains: dict[str, list[str]] = {}
        self.examples = 0
        self.steps, self.began, self.last = 0, time.monotonic(), 0

    def count(self, act: str, result: str) -> None:
        """One more."""
        self.acts.setdefault(act, {"done": 0, "refused": 0, "nothing to do": 0, "broken": 0})[result] += 1

    def add_chain(self, kind: str, chain: list[str]) -> None:
        """Keep the first chain of a kind; a long run says it at once."""
        if kind not in self.chains and STEPS > 100:
            print(*chain, sep="\n", file=sys.stderr, flush=True)
        self.chains.setdefault(kind, chain)

    def step(self) -> None:
        """One more step, with a line now and then."""
        self.steps += 1
        if STEPS > 100 and self.steps - self.last >= 1_000:
            self.last = self.steps
            print(
                f"{self.steps:,} steps, {time.monotonic() - self.began:,.0f} s, chains: {len(self.chains)}",
                file=sys.stderr,
                flush=True,
            )

    def __str__(self) -> str:
        lines = [f"{self.steps:,} steps in {time.monotonic() - self.began:,.0f} s", f"{'':28}  done refused idle"]
        for act, counts in sorted(self.acts.items()):
            lines.append(f"{act:28}{counts['done']:6}{counts['refused']:8}{counts['nothing to do']:5}")
        return "\n".join(lines)


def test_people_in_league_are_paid_nothing_that_is_not_owed(store: Store) -> None:
    summary = Summary()

    class Here(People):
        open = partial(open_office, store)

    Here.summary = summary
    settings = hypothesis.settings(
        max_examples=max(1, STEPS // AT_ONCE),
        stateful_step_count=AT_ONCE,
        deadline=None,
        database=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        run_state_machine_as_test(hypothesis.seed(SEED)(Here), settings=settings)
    finally:
        if STEPS > 100:
            print(summary)
            print(*(f"{count:6} {' | '.join(why)}" for why, count in summary.why.most_common(150)), sep="\n")
    assert not summary.chains, "\n\n".join("\n".join(chain) for chain in summary.chains.values())
