"""Acts that take two: after a return others than before, and whoever made a password counts as its person."""

from collections import defaultdict
from typing import Any

from tests.services.controls.model.office import Office, plain

_MADE, _CHOSEN, _SAVED = "password link made", "password chosen", "staff saved"
_BY_HAND = "policy activated"
_PROPOSALS = ("bank_account", "commission_share", "rate_proposal", "role_grant", "adjustment_proposal", "tax_rate")
_KINDS = (("claim", "claim_payment", "claim_id"), ("credit note", "credit_note_payment", "credit_note_id"))


class SecondPeople:
    """Makers of the passwords by the log, now and when an approval or a proposal was first seen."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.seen: set[str] = set()
        self.makers: dict[str, str] = {}
        self.then: dict[str, dict[str, str]] = {}

    def find_faults(self) -> list[str]:
        """Return the acts of one person that take two, since the look before."""
        self.makers = self._read_makers()
        found = [fault for kind in _KINDS for fault in self._of_payments(*kind)]
        found += self._of_own_covers()
        return found + [fault for table in _PROPOSALS for fault in self._of_proposals(table)]

    def _read_makers(self) -> dict[str, str]:
        """Return, by person, the maker of the password of now; a link of one's own is of who made the one before."""
        people = {f"staff {row.email}": plain(row.id) for row in self.office.read("SELECT id, email FROM staff")}
        made: dict[str, str] = {}
        links: dict[str, str] = {}
        for row in self.office.read(
            "SELECT actor, action, subject FROM audit_entry WHERE action IN (:made, :chosen, :saved)"
            " ORDER BY created_at, position",
            made=_MADE,
            chosen=_CHOSEN,
            saved=_SAVED,
        ):
            person = plain(row.subject.removeprefix("staff "))
            if row.action == _SAVED:
                made.pop(person, None)
            elif row.action == _MADE:
                links[person] = people[row.actor]
            elif (maker := links.pop(person, person)) != person:
                made[person] = maker
        return made

    def _is_one(self, first: Any, act: Any, second: Any) -> bool:
        """True for two of whom one had the other's password at an act of the first, or has it now."""
        then = self.then.get(plain(act), self.makers)
        first, second = plain(first), plain(second)
        return first == second or then.get(first) == second or self.makers.get(second) == first

    def _of_payments(self, kind: str, table: str, owner: str) -> list[str]:
        given: dict[str, list[Any]] = defaultdict(list)
        for row in self.office.read(
            "SELECT id, subject_id, staff_id, approved_at FROM approval WHERE subject_kind = :kind"
            " ORDER BY approved_at, id",
            kind=kind,
        ):
            given[plain(row.subject_id)].append(row)
            self.then.setdefault(plain(row.id), self.makers)
        rows: dict[str, list[Any]] = defaultdict(list)
        for row in self.office.read(
            f"SELECT id, {owner} AS owner, reverses, paid_by, created_at FROM {table} ORDER BY created_at, id"
        ):
            rows[plain(row.owner)].append(row)
        faults = []
        for key, noted in rows.items():
            for number, row in enumerate(noted):
                if plain(row.id) not in self.seen:
                    self.seen.add(plain(row.id))
                    self.then.setdefault(plain(row.id), self.makers)
                    found = self._of_payment(row, noted[:number], given[key])
                    faults += [f"{kind} {key}: {fault}" for fault in found]
        return faults

    def _of_own_covers(self) -> list[str]:
        """Whoever put a cover in force by hand approves no claim on it."""
        people = {f"staff {row.email}": row.id for row in self.office.read("SELECT id, email FROM staff")}
        makers: dict[str, list[Any]] = defaultdict(list)
        for row in self.office.read(
            "SELECT id, actor, subject FROM audit_entry WHERE action = :by_hand", by_hand=_BY_HAND
        ):
            makers[plain(row.subject.removeprefix("policy "))].append(row)
            self.then.setdefault(plain(row.id), self.makers)
        faults = []
        for row in self.office.read(
            "SELECT approval.id, staff_id, policy_id FROM approval JOIN claim ON claim.id = subject_id"
        ):
            if (key := f"cover {plain(row.id)}") not in self.seen:
                self.seen.add(key)
                made = [each for each in makers[plain(row.policy_id)] if each.actor in people]
                if any(self._is_one(people[each.actor], each.id, row.staff_id) for each in made):
                    faults.append(f"approval {row.id} of a claim is of who put its cover in force")
        return faults

    def _of_payment(self, row: Any, before: list[Any], given: list[Any]) -> list[str]:
        noted = "noted as returned" if row.reverses else "paid"
        faults = [
            f"{noted} by who approved it, or has a password of who did"
            for each in given
            if self._is_one(each.staff_id, each.id, row.paid_by)
        ]
        returns = [each for each in before if each.reverses]
        if row.reverses or not returns or not given:
            return faults
        last, newest = returns[-1], given[-1]
        if newest.approved_at <= last.created_at:
            faults.append("paid again after a return by the approval of before")
        # Whoever had a part before the return; the approvals before it, and its payments and returns.
        parts = [(each.paid_by, each.id) for each in before]
        parts += [(each.staff_id, each.id) for each in given if each.approved_at < last.created_at]
        if any(self._is_one(person, act, newest.staff_id) for person, act in parts):
            faults.append("paid again after a return by the approval of who had a part in it before")
        if any(self._is_one(each.paid_by, each.id, row.paid_by) for each in returns):
            faults.append("paid again by who noted that it came back")
        return faults

    def _of_proposals(self, table: str) -> list[str]:
        faults = []
        for row in self.office.read(f"SELECT id, state, proposed_by, decided_by FROM {table}"):
            self.then.setdefault(plain(row.id), self.makers)
            if row.state == "confirmed" and plain(row.id) not in self.seen:
                self.seen.add(plain(row.id))
                if row.proposed_by and row.decided_by and self._is_one(row.proposed_by, row.id, row.decided_by):
                    faults.append(f"{table}: who proposed it and who confirmed it have one password")
        return faults
