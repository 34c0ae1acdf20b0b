"""Rules of money that hold after every act, worked out of the rows and by no function of a service."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

from tests.services.controls.model.book_people import BookPeople
from tests.services.controls.model.office import BORROWER, Office, Sold, moment, plain
from tests.services.controls.model.second_people import SecondPeople

_CLAIMANT = ("first_name", "last_name", "email", "phone_number")
_METAS = ("vehicle_claim_meta", "gadget_claim_meta", "credit_life_claim_meta", "claim_meta")
_SETTERS = ("claim lodged", "claim corrected", "claim deductions set")


# Without those that a payment wrote down as the claimant named them.
_ROWS = (
    "SELECT {0}.*, transfer.reference FROM {0} JOIN transfer ON transfer.id = transfer_id"
    " ORDER BY {0}.created_at, {0}.id"
)
LAGOS = timedelta(hours=1)
_PAYEES = "SELECT * FROM payment_payee WHERE staff_id IS NOT NULL ORDER BY created_at, id"


def _meta(row: Any) -> dict[str, Any]:
    for name in _METAS:
        found = getattr(row, name)
        found = json.loads(found) if isinstance(found, str) else found
        if found:
            return dict(found)
    return {}


def _term_of(claim: Any, renewed: Sequence[Any]) -> str:
    """The renewal in whose term a loss fell; "" for the first term."""
    day = str(claim.incident_date)[:10]
    begun = [
        plain(row.id)
        for row in renewed
        if row.policy_id == claim.policy_id and str((moment(row.start_at) + LAGOS).date()) <= day
    ]
    return begun[-1] if begun else ""


def _cost(claim: Any) -> int:
    return int(claim.repair_estimate_minor or _kobo(_meta(claim).get("cost_of_repair")))


class Ledger:
    """The money as it was seen so far, and the faults of what is seen now."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.facts: dict[str, dict[str, Any]] = {}
        self.seen: set[str] = set()
        self.limited: set[str] = set()
        self.staff: dict[str, tuple[Any, ...]] = self._read_staff()
        self.grants: set[str] = set()
        self.people: dict[str, dict[str, Any]] = {}
        self.second_people = SecondPeople(office)
        self.book_people = BookPeople(office)

    def find_faults(self) -> list[str]:
        """Everything that does not hold now."""
        with self.office.reading():
            self.people = self._read_people()
            return [fault for look in self._looks() for fault in look()]

    def _looks(self) -> Sequence[Callable[[], list[str]]]:
        return (
            *(self._of_claims, self._of_own_claims, self._of_notes, self._of_policies, self._of_statements),
            *(self._of_bank_files, self._of_transfers, self._of_two_people, self._of_accounts, self._of_chains),
            *(self._of_split_limits, self.second_people.find_faults, self.book_people.find_faults),
        )

    def _of_claims(self) -> list[str]:
        read, faults = self.office.read, []
        claims = {plain(row.id): row for row in read("SELECT * FROM claim")}
        approvals: dict[str, list[Any]] = defaultdict(list)
        for row in read(
            "SELECT approval.*, approval_lapse.reason AS lapsed FROM approval LEFT JOIN approval_lapse"
            " ON approval_id = approval.id WHERE subject_kind = 'claim' ORDER BY approved_at, approval.id"
        ):
            approvals[plain(row.subject_id)].append(row)
        payees = {plain(row.claim_id): row for row in read(_PAYEES)}
        for key, given in approvals.items():
            newest = given[-1]
            if plain(newest.id) not in self.facts:
                self.facts[plain(newest.id)] = _facts(claims[key], payees.get(key))
                faults += self._of_authority(claims, key, newest)
                faults += self._of_typed_account(claims[key], newest, payees)
                faults += self._of_second_loss(claims, key, newest, approvals)
        payments = read(_ROWS.format("claim_payment"))
        paid: dict[str, int] = defaultdict(int)
        back: dict[str, Any] = {}
        for row in payments:
            paid[plain(row.claim_id)] += row.amount_minor
            if row.reverses:
                if plain(row.reverses) in back:
                    faults.append(f"claim payment {row.reverses} came back twice")
                back[plain(row.reverses)] = row
        for row in payments:
            if plain(row.id) in self.seen:
                continue
            self.seen.add(plain(row.id))
            claim = claims[plain(row.claim_id)]
            if row.reverses:
                faults += _of_return(row, payments)
            else:
                faults += self._of_payment(row, claim, approvals[plain(row.claim_id)], payees, paid, claims, payments)
        faults += [f"claim {key} was paid {minor}" for key, minor in paid.items() if minor < 0]
        return faults

    def _of_own_claims(self) -> list[str]:
        """Nobody moves a claim on which they are the claimant at that moment."""
        staff, faults = self.people, []
        for row in self.office.read(
            "SELECT claim_event.id, claim_event.staff_id, claim_event.status, claim_owner_email AS email, claim_id"
            " FROM claim_event JOIN claim ON claim.id = claim_id"
            " WHERE staff_id IS NOT NULL AND status NOT IN ('Viewed', 'Pending')"
        ):
            if plain(row.id) not in self.seen:
                self.seen.add(plain(row.id))
                person = staff[plain(row.staff_id)]
                if person["email"] == (row.email or "").lower():
                    faults.append(
                        f"claim {plain(row.claim_id)} was made {row.status} by {person['email']}, whose it is"
                    )
        return faults

    def _of_authority(self, claims: dict[str, Any], key: str, approval: Any) -> list[str]:
        """An officer approves no more than the limit, with all that is approved on the policy."""
        staff = self.people[plain(approval.staff_id)]
        claim = claims[key]
        if approval.role != "claims":
            return []
        limit = staff["limit"]
        same = sum(
            other.approved_amount_minor
            for other in claims.values()
            if other.policy_id == claim.policy_id and other.approved_by and other.deleted_at is None
        )
        if limit is not None and same > limit:
            return [f"{staff['email']} approved {same} of one policy with a limit of {limit}"]
        return []

    def _of_second_loss(
        self, claims: dict[str, Any], key: str, approval: Any, approvals: dict[str, list[Any]]
    ) -> list[str]:
        """Whoever approved one of two losses of a policy or a car that are of one kind does not approve the other."""
        claim = claims[key]
        if _meta(claim).get("loan_amount"):
            return []
        paid = {plain(row.claim_id) for row in self.office.read("SELECT claim_id FROM claim_payment")}
        faults = []
        for other, given in approvals.items():
            row = claims[other]
            is_second = (row.second_of and plain(row.second_of) == key) or claim.second_of == row.id
            is_linked = is_second and other not in paid
            if other == key or is_linked or not (row.approved_by or other in paid):
                continue
            is_same = row.policy_id == claim.policy_id or self._is_one_accident(claim, row)
            if is_same and plain(approval.staff_id) in {plain(each.staff_id) for each in given}:
                faults.append(f"claims {key} and {other} of one policy or car were approved by one person")
        return faults

    def _is_one_accident(self, claim: Any, other: Any) -> bool:
        """True for two of one car on two policies, or for the damage of one third party, within two weeks."""
        plates = [self._find_sold(each).plate for each in (claim, other)]
        others = [_meta(each).get("third_party_registration_number") for each in (claim, other)]
        days = [date.fromisoformat(str(each.incident_date)[:10]) for each in (claim, other)]
        is_one = any(first and first == second for first, second in (plates, others))
        return is_one and abs(days[0] - days[1]).days <= 14

    def _find_sold(self, claim: Any) -> Sold:
        return next(each for each in self.office.sold if plain(each.id) == plain(claim.policy_id))

    def _of_payment(
        self,
        row: Any,
        claim: Any,
        given: list[Any],
        payees: dict[str, Any],
        paid: dict[str, int],
        claims: dict[str, Any],
        payments: list[Any],
    ) -> list[str]:
        key, staff = plain(row.claim_id), self.people
        payer = staff[plain(row.paid_by)]
        what = f"claim {key}: {row.amount_minor} paid by {payer['email']}"
        if not given:
            return [f"{what} without an approval"]
        newest, faults = given[-1], []
        approver = staff[plain(newest.staff_id)]
        if newest.lapsed:
            faults.append(f"{what} on an approval that lapsed: {newest.lapsed}")
        now, then = _facts(claim, payees.get(key)), self.facts[plain(newest.id)]
        faults += [f"{what}, and {name} is not what was approved" for name in then if now.get(name) != then[name]]
        if paid[key] > newest.amount_minor:
            faults.append(f"{what}: {paid[key]} in all, and {newest.amount_minor} was approved")
        if approver["id"] == payer["id"]:
            faults.append(f"{what}, who approved it")
        if approver["disabled"] or not {newest.role, "admin"} & set(approver["roles"]):
            faults.append(f"{what}, approved by {approver['email']}, who is {approver['roles']} or disabled")
        if payer["id"] in self._setters(row.claim_id, key, payer):
            faults.append(f"{what}, who set a figure or the payee, or approved it before")
        for each in (payer, approver):
            if each["email"] == (claim.claim_owner_email or "").lower():
                faults.append(f"{what}: it is the claim of {each['email']}")
        faults += self._of_debt(what, claim, claims, paid, payments)
        faults += self._of_late_cover(what, claim)
        return faults + _of_reference(what, row)

    def _of_late_cover(self, what: str, claim: Any) -> list[str]:
        """Cover that the desk put in force after the loss is paid on with a reason alone."""
        issued = self.office.read(
            "SELECT max(created_at) AS at FROM audit_entry WHERE subject = :policy AND actor LIKE 'staff %'"
            " AND action IN ('policy activated', 'policy issued by hand')",
            policy=f"policy {_dashed(plain(claim.policy_id))}",
        )[0].at
        if issued is None or str((moment(issued) + LAGOS).date()) <= claim.incident_date[:10]:
            return []
        why = "SELECT 1 FROM claim_override WHERE claim_id = :claim AND check_key = 'in_force'"
        if self.office.read(why, claim=claim.id):
            return []
        return [f"{what} for a loss of {claim.incident_date}, and the desk put the cover in force on {issued}"]

    def _setters(self, claim_id: Any, key: str, payer: dict[str, Any]) -> set[str]:
        """Everybody who ever set a figure or the payee of a claim, or approved it."""
        found = self.office.read(
            "SELECT staff_id FROM payment_payee WHERE claim_id = :claim"
            " UNION SELECT staff_id FROM claim_event WHERE claim_id = :claim AND status = 'Repair estimate submitted'"
            " UNION SELECT staff_id FROM approval WHERE subject_id = :claim",
            claim=claim_id,
        )
        audited = self.office.read(
            "SELECT actor FROM audit_entry WHERE subject = :subject AND action IN (:a, :b, :c)",
            **dict(zip("abc", _SETTERS, strict=True)),
            subject=f"claim {_dashed(key)}",
        )
        by_log = {payer["id"]} if f"staff {payer['email']}" in {each.actor for each in audited} else set()
        return {plain(each.staff_id) for each in found} | by_log

    def _of_debt(
        self, what: str, claim: Any, claims: dict[str, Any], paid: dict[str, int], payments: list[Any]
    ) -> list[str]:
        """The claims of a policy were paid, together, no more than is insured and was owed."""
        mine = [each for each in claims.values() if each.policy_id == claim.policy_id]
        together = sum(paid.get(plain(each.id), 0) for each in mine)
        sold = self._find_sold(claim)
        faults = []
        if claim.claim_owner_first_name == BORROWER["first_name"] and not sold.is_borrowed:
            faults.append(f"{what} to who bought another policy under the customer's e-mail")
        if together > sold.most_minor:
            faults.append(f"{what}: {together} on the policy, which is insured for {sold.most_minor}")
        if sold.is_loan:
            touched = sorted((each for each in mine if paid.get(plain(each.id))), key=lambda each: each.created_at)
            owed = _owed(touched[0]) if touched else 0
            if together > max(owed, _owed(claim)) or (touched and together > owed):
                faults.append(f"{what}: {together} on the loan, of which {owed} was owed")
        else:
            owed = _cost(claim)
            if paid[plain(claim.id)] > owed:
                faults.append(f"{what}: {paid[plain(claim.id)]} in all, and {owed} is owed")
            same = [each for each in mine if each.incident_date == claim.incident_date and paid.get(plain(each.id))]
            if len(same) > 1 and (loss := sum(paid[plain(each.id)] for each in same)) > max(map(_cost, same)):
                faults.append(f"{what}: {loss} for the loss of {claim.incident_date} on {len(same)} claims")
        return faults

    def _of_notes(self) -> list[str]:
        """Credit notes are paid by one who has no other part in them, to who was approved, and never above it."""
        read, faults = self.office.read, []
        given: dict[str, list[Any]] = defaultdict(list)
        for row in read("SELECT * FROM approval WHERE subject_kind = 'credit note' ORDER BY approved_at, id"):
            given[plain(row.subject_id)].append(row)
        rows = read(_ROWS.format("credit_note_payment"))
        notes = {
            plain(row.id): row
            for row in read(
                "SELECT credit_note.*, policy.id AS policy, policy.email AS email, refund.renewal_id AS renewal"
                " FROM credit_note"
                " JOIN refund ON refund.id = refund_id JOIN policy ON policy.id = refund.policy_id"
            )
        }
        paid: dict[str, int] = defaultdict(int)
        for row in rows:
            key = plain(row.credit_note_id)
            paid[key] += row.amount_minor
            if not 0 <= paid[key] <= notes[key].total_minor:
                faults.append(f"credit note {notes[key].number}: {paid[key]} paid of {notes[key].total_minor}")
            if plain(row.id) in self.seen:
                continue
            self.seen.add(plain(row.id))
            faults += _of_return(row, rows) if row.reverses else self._of_note(row, notes[key], given[key], rows)
        self.refunded = {
            (plain(notes[key].policy), plain(notes[key].renewal or "")): minor for key, minor in paid.items() if minor
        }
        return faults

    def _of_note(self, row: Any, note: Any, given: list[Any], rows: list[Any]) -> list[str]:
        staff = self.people
        payer = staff[plain(row.paid_by)]
        what = f"credit note {note.number}: {row.amount_minor} by {payer['email']}"
        if not given:
            return [f"{what} without an approval"]
        approver, faults = staff[plain(given[-1].staff_id)], _of_reference(what, row)
        if payer["id"] in {plain(note.first_by), *(plain(each.staff_id) for each in given)}:
            faults.append(f"{what}, who approved it")
        if note.made_by == f"staff {payer['email']}":
            faults.append(f"{what}, who ended the policy")
        if plain(note.payee_id) != plain(row.payee_id) or note.total_minor != given[-1].amount_minor:
            faults.append(f"{what}, and {given[-1].amount_minor} to another payee was approved")
        if approver["disabled"] or not {"finance", "admin"} & set(approver["roles"]):
            faults.append(f"{what}, approved by {approver['email']}, who may approve nothing")
        own = [each["email"] for each in (payer, approver) if each["email"] == note.email.lower()]
        return faults + [f"{what}: it is the refund of {each}" for each in own]

    def _of_policies(self) -> list[str]:
        """No premium goes back that was not paid, nor one of which a claim was paid; no commission is above it."""
        faults = []
        for row in self.office.read(
            "SELECT policy_id, sum(total_minor) AS premium, sum(mca_profit_minor) AS ours,"
            " sum(distributor_profit_minor) AS theirs FROM movement GROUP BY policy_id"
        ):
            commissions = int(row.ours) + int(row.theirs)
            if row.premium < 0:
                faults.append(f"policy {plain(row.policy_id)}: {row.premium} of premium is left")
            if min(int(row.ours), int(row.theirs)) < -2 or commissions > int(row.premium) + 2:
                faults.append(f"policy {plain(row.policy_id)}: commissions of {commissions} on {row.premium}")
        approved = {
            plain(row.subject_id): row.minor
            for row in self.office.read(
                "SELECT subject_id, max(amount_minor) AS minor FROM approval WHERE subject_kind = 'claim'"
                " GROUP BY subject_id"
            )
        }
        paid: Counter[tuple[str, str]] = Counter()
        most: Counter[tuple[str, str]] = Counter()
        renewed = self.office.read("SELECT id, policy_id, start_at FROM renewal ORDER BY start_at")
        for row in self.office.read(
            "SELECT claim.id, policy_id, incident_date, sum(amount_minor) AS minor FROM claim_payment JOIN claim"
            " ON claim.id = claim_id GROUP BY claim.id, policy_id, incident_date HAVING sum(amount_minor) > 0"
        ):
            term = plain(row.policy_id), _term_of(row, renewed)
            paid[term] += int(row.minor)
            most[term] += approved[plain(row.id)]
        for term, back in self.refunded.items():
            # What went back before a claim came was taken off what the claim was paid.
            if paid[term] and paid[term] + back > most[term]:
                faults.append(f"policy {term[0]}: {paid[term]} of {most[term]} paid on claims, and {back} went back")
        return faults

    def _of_chains(self) -> list[str]:
        """No refund goes to the customer and to the parties, and nobody who set an account approves what goes there."""
        read, faults = self.office.read, []
        for row in read(
            "SELECT number, (SELECT sum(amount_minor) FROM credit_note_payment WHERE credit_note_id = note.id) AS paid,"
            " (SELECT sum(total_minor) FROM adjustment WHERE corrects_id = note.refund_id) AS back"
            " FROM credit_note AS note"
        ):
            if (row.paid or 0) > 0 and (row.back or 0) > 0:
                faults.append(f"credit note {row.number}: {row.paid} was paid and {row.back} corrected away")
        for row in read(
            "SELECT note.number, sum(paid.amount_minor) AS paid FROM credit_note AS note"
            " JOIN statement_line AS line ON line.movement_id = refund_id AND line.account = 'distributor'"
            " JOIN credit_note_payment AS paid ON credit_note_id = note.id WHERE line.released_by IS NULL"
            " AND line.net_minor - line.commission_minor - line.vat_minor + line.withheld_minor <> 0"
            " GROUP BY note.number, note.id HAVING sum(paid.amount_minor) > 0"
        ):
            faults.append(f"credit note {row.number}: {row.paid} was paid, and the distributor has it on its statement")
        for row in read(
            "SELECT note.number, name, first_name, last_name FROM credit_note AS note"
            " JOIN payment_payee ON payment_payee.id = payee_id JOIN refund ON refund.id = refund_id"
            " JOIN policy ON policy.id = refund.policy_id WHERE approved_by IS NOT NULL AND first_by IS NULL"
        ):
            if row.name.casefold().split() != f"{row.first_name} {row.last_name}".casefold().split():
                faults.append(f"credit note {row.number}: one person approved {row.name}, who is not the customer")
        for row in read(
            "SELECT payout_batch.number FROM payment JOIN payout_batch ON payout_batch.id = batch_id"
            " JOIN bank_account ON bank_account.id = bank_account_id"
            " WHERE proposed_by IN (payout_batch.prepared_by, payout_batch.approved_by)"
        ):
            faults.append(f"payout {row.number} was prepared or approved by who proposed the account")
        for row in read(
            "SELECT number, month, effective_at FROM statement JOIN commission_share AS share"
            " ON share.distributor_id = statement.distributor_id AND proposed_by = approved_by"
            " WHERE share.state = 'confirmed' AND decided_at < approved_at AND reverses_id IS NULL"
        ):
            if str((moment(row.effective_at) + LAGOS).date())[:7] == str(row.month)[:7]:
                faults.append(f"statement {row.number} was approved by who proposed a share of its month")
        return faults

    def _of_split_limits(self) -> list[str]:
        """Without an admin nobody writes off or corrects more of a party within 30 days than finance may."""
        admins = {key for key, each in self.people.items() if "admin" in each["roles"]}
        written_off = self.office.read(
            "SELECT difference.id, provider_id AS party, changed_at AS at, decided_by, difference_minor AS a"
            " FROM difference JOIN reconciliation ON reconciliation.id = reconciliation_id"
            " WHERE difference.state = 'Written off'"
        )
        adjusted = self.office.read(
            "SELECT id, distributor_id AS party, created_at AS at, approved_by AS decided_by, total_minor AS a,"
            " mca_profit_minor AS b, distributor_profit_minor AS c FROM adjustment"
        )
        faults = []
        for rows, limit in ((written_off, 5_000_000), (adjusted, 50_000_000)):
            alone = [row for row in rows if plain(row.decided_by) not in admins]
            for row in alone:
                if plain(row.id) in self.limited:
                    continue
                since = moment(row.at) - timedelta(days=30)
                counted = [each for each in alone if each.party == row.party and moment(each.at) > since]
                together = max(sum(map(abs, minors)) for minors in zip(*(each[4:] for each in counted), strict=True))
                if together > limit:
                    faults.append(f"{together} of party {row.party} was decided on without an admin, last {row.id}")
            # What was looked at when it was done: who became no admin since has decided as one.
            self.limited |= {plain(row.id) for row in rows}
        return faults

    def _of_typed_account(self, claim: Any, approval: Any, payees: dict[str, Any]) -> list[str]:
        """Whoever typed a claim with its account does not approve it, unless somebody named another payee."""
        key = plain(claim.id)
        if key in payees or not _meta(claim).get("account_name"):
            return []
        subject = f"claim {_dashed(key)}"
        lodged = self.office.read(
            "SELECT actor FROM audit_entry WHERE subject = :subject AND action = 'claim lodged'", subject=subject
        )
        approver = self.people[plain(approval.staff_id)]["email"]
        is_own = f"staff {approver}" in {row.actor for row in lodged}
        return [f"claim {key} was approved by {approver}, who typed it with its account"] if is_own else []

    def _of_statements(self) -> list[str]:
        """Statements are what their lines come to, and what was paid on those of a party is within what they say."""
        faults = []
        faults += [
            f"statement {row.number} was stated before a rate of tax that holds for it was confirmed"
            for row in self.office.read(
                "SELECT statement.number FROM statement JOIN tax_rate ON tax_rate.effective_on <= statement.month"
                " AND tax_rate.decided_at > statement.prepared_at WHERE tax_rate.state = 'confirmed'"
                " AND statement.distributor_id IS NOT NULL AND statement.state <> 'Void' AND reverses_id IS NULL"
            )
        ]
        lines = self._sum("SELECT statement_id, sum(net_minor) FROM statement_line GROUP BY statement_id")
        # Balances of a party after each statement that was sent: a later one may turn what is due around.
        due: dict[str, list[int]] = defaultdict(lambda: [0])
        stand = "SELECT * FROM statement WHERE reverses_id IS NULL AND state <> 'Void' ORDER BY sent_at, id"
        for row in self.office.read(stand):
            own = row.closing_minor - row.opening_minor + row.paid_minor
            balances = due[plain(row.distributor_id or row.provider_id)]
            balances.append(balances[-1] + (own if row.sent_at else 0))
            if lines.get(plain(row.id), 0) != own:
                faults.append(f"statement {row.number} of {own} has lines of {lines.get(plain(row.id), 0)}")
        rows = self.office.read("SELECT * FROM payment")
        paid: dict[str, int] = defaultdict(int)
        for row in rows:
            if row.state in ("Approved", "Confirmed"):
                paid[plain(row.distributor_id or row.provider_id)] += row.net_minor
        for party, minor in paid.items():
            if not min(due[party]) <= minor <= max(due[party]):
                faults.append(f"party {party} was paid {minor}, and {due[party]} was stated")
        return faults + self._of_payouts(rows)

    def _of_payouts(self, rows: list[Any]) -> list[str]:
        settled = self._sum("SELECT payment_id, sum(net_minor) FROM payment_settlement GROUP BY payment_id")
        faults = []
        batches: dict[str, int] = defaultdict(int)
        noted = {(plain(row.payment_id), plain(row.paid_by)) for row in self.office.read("SELECT * FROM party_payment")}
        for row in rows:
            batches[plain(row.batch_id)] += row.net_minor
            if settled.get(plain(row.id)) != row.net_minor:
                faults.append(f"payment {plain(row.id)} of {row.net_minor} settles {settled.get(plain(row.id))}")
            if (plain(row.id), plain(row.prepared_by)) in noted:
                faults.append(f"payment {plain(row.id)} was prepared and answered by one person")
        batched = self.office.read("SELECT * FROM payout_batch")
        return faults + [
            f"payout {row.number} of {row.net_minor} pays {batches[plain(row.id)]}"
            for row in batched
            if batches[plain(row.id)] != row.net_minor
        ]

    def _of_bank_files(self) -> list[str]:
        """A bank file is opened on an approval whose approver is active and of finance, and of nobody's own payout."""
        faults, staff = [], self.people
        for row in self.office.read("SELECT id, actor, subject FROM audit_entry WHERE action = 'bank file opened'"):
            if plain(row.id) in self.seen:
                continue
            self.seen.add(plain(row.id))
            batch = row.subject.rpartition(" ")[2]
            given = self.office.read("SELECT * FROM approval WHERE subject_kind = 'payout' ORDER BY approved_at, id")
            mine = [each for each in given if plain(each.subject_id) == plain(batch)]
            approver = staff[plain(mine[-1].staff_id)] if mine else None
            if approver is None or approver["disabled"] or not {"finance", "admin"} & set(approver["roles"]):
                faults.append(f"the bank file of payout {batch} was opened by {row.actor} on an approval of {approver}")
        return faults

    def _of_transfers(self) -> list[str]:
        """A reference names one transfer, whatever it paid, and a transfer is the lines that it was made with."""
        made: dict[str, list[int]] = defaultdict(list)
        for table in ("claim_payment", "credit_note_payment", "party_payment"):
            for row in self.office.read(
                f"SELECT made.transfer_id, made.amount_minor FROM {table} AS made LEFT JOIN {table} AS paid"
                " ON paid.id = made.reverses WHERE paid.id IS NULL OR paid.transfer_id <> made.transfer_id"
            ):
                made[plain(row.transfer_id)].append(row.amount_minor)
        faults, named = [], set[tuple[Any, str]]()
        for row in self.office.read("SELECT * FROM transfer"):
            name = (row.is_live, _key(row.reference))
            if name in named and not row.reference_key.startswith("received:"):
                faults.append(f"the reference {row.reference!r} names two transfers")
            named |= {name} if not row.reference_key.startswith("received:") else set()
            lines = made[plain(row.id)]
            if (len(lines), sum(lines)) != (row.lines, row.amount_minor):
                faults.append(f"transfer {row.reference} of {row.amount_minor} has {len(lines)} lines of {sum(lines)}")
        return faults

    def _sum(self, statement: str) -> dict[str, int]:
        return {plain(row[0]): int(row[1]) for row in self.office.read(statement)}

    def _of_two_people(self) -> list[str]:
        pairs = (
            ("adjustment", "proposed_by", "approved_by"),
            ("payout_batch", "prepared_by", "approved_by"),
            ("payment", "prepared_by", "approved_by"),
            ("statement", "prepared_by", "approved_by"),
            ("difference", "asked_by", "decided_by"),
        )
        proposals = ("bank_account", "commission_share", "rate_proposal", "role_grant", "adjustment_proposal")
        proposals += ("tax_rate",)
        both = [f"SELECT '{table}: one person is {a} and {b}' FROM {table} WHERE {a} = {b}" for table, a, b in pairs]
        alone = "SELECT '{0}: one person proposed and confirmed it' FROM {0} WHERE state = 'confirmed'"
        both += [f"{alone.format(table)} AND proposed_by = decided_by" for table in proposals]
        return [row[0] for row in self.office.read(" UNION ALL ".join(both))]

    def _read_staff(self) -> dict[str, tuple[Any, ...]]:
        return {
            plain(row.id): (_roles(row.roles), row.claim_limit_minor, row.disabled_at is not None)
            for row in self.office.read("SELECT * FROM staff")
        }

    def _read_people(self) -> dict[str, dict[str, Any]]:
        """Everybody by id, with roles and limit as the rows have them; a raised limit counts as it was for a day."""
        found = {}
        for row in self.office.read("SELECT * FROM staff"):
            limit = row.claim_limit_minor
            if row.limit_holds_from and str(row.limit_holds_from)[:19] > self.office.now.isoformat(" ")[:19]:
                limit = row.limit_before_minor
            found[plain(row.id)] = {
                "id": plain(row.id),
                "email": row.email.lower(),
                "roles": _roles(row.roles),
                "limit": limit,
                "disabled": row.disabled_at is not None,
            }
        return found

    def _of_accounts(self) -> list[str]:
        """An account that moves money is changed by a confirmed proposal of two admins alone."""
        now, faults = self._read_staff(), []
        confirmed = {
            plain(row.id): plain(row.staff_id)
            for row in self.office.read("SELECT * FROM role_grant WHERE state = 'confirmed'")
        }
        fresh = [person for grant, person in confirmed.items() if grant not in self.grants]
        for key, facts in now.items():
            before = self.staff.get(key, ((), None, False))
            gained = set(facts[0]) - set(before[0]) - {"operations"}
            is_more = gained or (facts[1] != before[1] and before[1] is not None) or (before[2] and not facts[2])
            is_money = set(facts[0]) | set(before[0]) != {"operations"}
            if is_more and is_money and key not in fresh:
                faults.append(f"account {key} went from {before} to {facts} by one person")
        self.staff, self.grants = now, set(confirmed)
        return faults


def _roles(value: Any) -> tuple[str, ...]:
    return tuple(json.loads(value) if isinstance(value, str) else value)


def _dashed(key: str) -> str:
    return f"{key[:8]}-{key[8:12]}-{key[12:16]}-{key[16:20]}-{key[20:]}"


def _facts(claim: Any, payee: Any) -> dict[str, Any]:
    meta = {name: value for name, value in _meta(claim).items() if name != "signed_discharge"}
    return {
        "the amount": claim.approved_amount_minor,
        "the incident": (claim.incident_date, claim.claim_description),
        "the claimant": tuple(getattr(claim, f"claim_owner_{name}") for name in _CLAIMANT),
        "the estimate": claim.repair_estimate_minor,
        "the payee": payee and (payee.name, payee.bank_name, payee.hint),
        "what was submitted": json.dumps(meta, sort_keys=True),
        "the approver": plain(claim.approved_by),
    }


def _kobo(naira: Any) -> int:
    return round(float(naira or 0) * 100)


def _owed(claim: Any) -> int:
    meta = _meta(claim)
    return min(_kobo(meta[name]) for name in ("pending_repayment_amount", "loan_amount") if meta.get(name) is not None)


def _of_return(row: Any, rows: list[Any]) -> list[str]:
    paid = next(each for each in rows if plain(each.id) == plain(row.reverses))
    faults = []
    if paid.amount_minor != -row.amount_minor:
        faults.append(f"payment {plain(paid.id)} of {paid.amount_minor} came back as {row.amount_minor}")
    if plain(paid.paid_by) == plain(row.paid_by):
        faults.append(f"payment {plain(paid.id)} of {paid.amount_minor} was noted as returned by who paid it")
    return faults


def _of_reference(what: str, row: Any) -> list[str]:
    is_plain = row.reference.isascii() and _key(row.reference)
    return [] if is_plain else [f"{what}: its reference is {row.reference!r}"]


def _key(reference: str) -> str:
    return "".join(each for each in reference.lower() if not each.isspace())
