"""People of loan books: whoever sold a cover by one, or ended it, has a part in its refund and in its claims."""

from collections import defaultdict
from typing import Any

from tests.services.controls.model.office import Office, plain

_ROWS = (
    "SELECT policy_id, outcome, uploader_id, confirmer_id FROM loan_book_row JOIN loan_book ON loan_book.id = book_id"
    " WHERE outcome IN ('covered', 'ended')"
)
_APPROVALS = "SELECT id, subject_id, staff_id FROM approval WHERE subject_kind = :kind ORDER BY approved_at, id"
_NOTES = (
    "SELECT credit_note.id, number, policy_id, made_by, first_by, paid.paid_by FROM credit_note"
    " JOIN refund ON refund.id = refund_id JOIN credit_note_payment AS paid ON credit_note_id = credit_note.id"
    " WHERE paid.reverses IS NULL ORDER BY paid.created_at, paid.id"
)


class BookPeople:
    """Uploaders and confirmers of the books of a policy, and the acts of theirs that are told already."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.seen: set[str] = set()

    def find_faults(self) -> list[str]:
        """Return what was approved or paid by who sold or ended the cover, since the look before."""
        uploaded: dict[tuple[str, str], set[str]] = defaultdict(set)
        confirmed: dict[str, set[str]] = defaultdict(set)
        for row in self.office.read(_ROWS):
            if row.uploader_id:
                uploaded[plain(row.policy_id), row.outcome].add(plain(row.uploader_id))
            if row.outcome == "ended" and row.confirmer_id:
                confirmed[plain(row.policy_id)].add(plain(row.confirmer_id))
        return self._of_claims(uploaded) + self._of_notes(uploaded, confirmed)

    def _of_claims(self, uploaded: dict[tuple[str, str], set[str]]) -> list[str]:
        policies = {plain(row.id): plain(row.policy_id) for row in self.office.read("SELECT id, policy_id FROM claim")}
        return [
            f"claim {key} was approved by who uploaded the book that sold its cover"
            for row in self.office.read(_APPROVALS, kind="claim")
            if self._is_new(row.id)
            and plain(row.staff_id) in uploaded[policies[key := plain(row.subject_id)], "covered"]
        ]

    def _of_notes(self, uploaded: dict[tuple[str, str], set[str]], confirmed: dict[str, set[str]]) -> list[str]:
        emails = {f"staff {row.email}": plain(row.id) for row in self.office.read("SELECT id, email FROM staff")}
        approvers: dict[str, list[str]] = defaultdict(list)
        for row in self.office.read(_APPROVALS, kind="credit note"):
            approvers[plain(row.subject_id)].append(plain(row.staff_id))
        faults = []
        for row in self.office.read(_NOTES):
            key, policy, given = f"{row.id} {row.paid_by}", plain(row.policy_id), approvers[plain(row.id)]
            if not given or not self._is_new(key):
                continue
            sellers = uploaded[policy, "covered"]
            enders = uploaded[policy, "ended"] | confirmed[policy] | {emails.get(row.made_by, "")}
            parts = {plain(row.paid_by), given[-1]}
            if enders & parts:
                faults.append(f"credit note {row.number} was approved or paid by who ended the policy")
            is_alone = row.first_by is None
            if is_alone and given[-1] in sellers:
                faults.append(f"credit note {row.number}: who uploaded the book that sold the cover approved it alone")
            if is_alone and sellers & (uploaded[policy, "ended"] | {emails.get(row.made_by, "")}):
                faults.append(f"credit note {row.number}: one person sold and ended the cover, and one approved it")
        return faults

    def _is_new(self, key: Any) -> bool:
        is_new = plain(key) not in self.seen
        self.seen.add(plain(key))
        return is_new
