"""Acts of people, one function each: anybody tries it, with figures, days and references that are made up.

An act that needs something which is not there does nothing and returns False; a refusal is a CoverdeskError.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from random import Random
from typing import Any, Final
from uuid import UUID

from core import clock
from core.services.claims.intake import lodging
from core.services.claims.review.coverage_checks import CHECK_KEYS
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import questions, reserves
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow.assignment import ChosenClaim
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.finance import claim_payment_files as payment_files
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import changes
from core.states.claims import RULES, ClaimStatus
from core.store.access import Owner, ScopedSession
from tests import papers
from tests.services.controls.model.office import LIVE, PEOPLE, Office

Act = Callable[[Office, Random], bool | None]
NAMES: Final = list(PEOPLE)
STATES: Final = list(RULES)
# What an honest desk does next with a claim in a state.
NEXT: Final[Mapping[str, tuple[str, ...]]] = {
    "Pending": (*["Approved"] * 9, "Viewed", "Viewed", "Reviewing", "Reviewing", "Declined"),
    "Viewed": (*["Approved"] * 4, "Repair estimate submitted", "Repair estimate submitted", "Declined"),
    "Reviewing": (*["Approved"] * 5, "Repair estimate submitted", "Inspection submitted", "Declined"),
    "Inspection submitted": (*["Approved"] * 5, "Declined"),
    "Repair estimate submitted": ("Approved", "Reviewing"),
    "Approved": (*["Offer sent"] * 9, "Reviewing"),
    "Offer sent": (*["Offer accepted"] * 9, "Offer rejected", "Reviewing"),
    "Offer rejected": ("Offer sent", "Reviewing", "Declined"),
    "Offer accepted": (*["Paid"] * 9, "Reviewing"),
    "Paid": ("Settled", "Offer accepted"),
    "Settled": ("Reviewing",),
    "Declined": ("Reviewing",),
}
MINUTE: Final = timedelta(minutes=1)
# A transfer to whom no account is named is refused; the desk then pays otherwise.
METHODS: Final = ("Bank transfer", "Cheque", "Cheque")
ACCOUNTS: Final = ("0123456789", "0123456788", "0999999999")


def anybody(office: Office, dice: Random, *usual: str) -> UUID:
    """One of the usual people for an act mostly, and now and then anybody else, also who was added since."""
    if usual and dice.random() < 0.85:
        return office.people[NAMES.index(dice.choice(usual))]
    return dice.choice(office.people)


DESK: Final = ("ada", "bola", "bola", "chi", "sade", "uche", "root")


def reference(office: Office, dice: Random) -> str:
    """A payment reference: a new one mostly, else one that was used, or one that only looks different."""
    office.papers += 1
    chance = dice.random()
    if chance < 0.8:
        return f"TRF-{office.papers}"
    used = f"TRF-{dice.randrange(1, office.papers + 1)}"
    odd = ("\u2011", "\u2013", "\u2212", "-\u034f", "-\ufe0f", "-\u3164", "-\u200b")
    if chance < 0.9:
        return dice.choice((used, used.lower(), used.replace("-", " - "), f" {used} "))
    return dice.choice((used.replace("-", dice.choice(odd)), used.replace("T", "\u0422"), "#", ""))


def naira(minor: int) -> str:
    """Kobo as somebody types them."""
    sign, rest = ("-" if minor < 0 else ""), abs(minor)
    return f"{sign}{rest // 100}.{rest % 100:02d}"


def a_claim(office: Office, dice: Random, *states: str) -> Any:
    """A claim to work on: the newest ones mostly, in one of these states where there is one."""
    if not office.claims:
        return None
    rows = office.read(
        "SELECT id, claim_status, version, approved_amount_minor, offer_amount_minor, policy_id FROM claim"
        " ORDER BY created_at, id"
    )
    fit = [row for row in rows if row.claim_status in states] if states else rows
    if not fit and dice.random() < 0.9:
        raise Idle
    chosen = (fit or rows)[-1 - int(len(fit or rows) * dice.random() ** 2)]
    office.what = f"of claim {as_id(chosen.id).hex} ({chosen.claim_status})"
    return chosen


def as_id(value: Any) -> UUID:
    """An id of plain SQL on either database."""
    return value if isinstance(value, UUID) else UUID(str(value))


@contextmanager
def acting(office: Office, by: UUID) -> Iterator[tuple[ScopedSession, Person]]:
    """A transaction of a person; nothing happens for somebody whose account is disabled."""
    with office.store.writing(LIVE) as session:
        person = staff.find_by_id(session, by)
        if person is None:
            raise Idle
        office.who = person.email
        yield session, person


class Idle(Exception):
    """There was nothing to do, or nobody to do it."""


def sell(office: Office, dice: Random) -> None:
    """A sale over the API, perhaps with a start in the past."""
    office.sell(dice)


def lodge(office: Office, dice: Random) -> None:
    """A claim over the API or at the desk."""
    claims = office.read("SELECT policy_id, incident_date FROM claim ORDER BY created_at, id")
    days = {as_id(row.policy_id): str(row.incident_date)[:10] for row in claims}
    known = [each for each in office.sold if each.number]
    fresh = [each for each in known if each.id not in days]
    # The accident of a car that a claim was lodged for, on the other policy that covers it.
    accidents = {each.plate: days[each.id] for each in known if each.plate and each.id in days}
    twins = [each for each in fresh if each.plate in accidents]
    sold = dice.choice(twins if twins and dice.random() < 0.5 else fresh if fresh and dice.random() < 0.65 else known)
    names = office.read("SELECT email FROM staff ORDER BY created_at, id")
    actor = "key distributor" if dice.random() < 0.7 else f"staff {dice.choice(names).email}"
    made = office.lodge(sold, dice, actor=actor, day=accidents[sold.plate] if sold in twins else None)
    office.what = f"of claim {made.hex} on {sold.id.hex}"


def put_in_force(office: Office, dice: Random) -> None:
    """Somebody at the desk puts a cover that waits in force, from a day that may lie in the past."""
    waiting = office.read("SELECT id, version FROM policy WHERE NOT activated ORDER BY created_at, id")
    if not waiting:
        raise Idle
    policy = dice.choice(waiting)
    sold = next(each for each in office.sold if each.id == as_id(policy.id))
    number = f"BY/HAND/{len(office.trail)}"
    given: dict[str, Any] = {"start_on": clock.today() - timedelta(days=dice.choice((0, 1, 10, 60)))}
    given |= {"insurer_accepted": "By telephone", "policy_number": number, "expected_version": policy.version}
    with acting(office, anybody(office, dice, "wale", "root")) as (session, person):
        changes.activate(session, sold.id, actor=person.actor, **given)
    sold.number = number


def _move(office: Office, dice: Random, claim: Any, to: str, by: UUID) -> None:
    inputs: dict[str, Any] = {}
    if to == ClaimStatus.APPROVED:
        debt = office.debts.get(as_id(claim.id), 7_500_000)
        amount = dice.choice((debt, debt, debt // 2, debt - 100, 2_000_000, 4_999_900, 45_000_000))
        inputs = {"amount": naira(amount)}
        if dice.random() < 0.97:
            inputs["reasons"] = dict.fromkeys(CHECK_KEYS, "Seen, and accepted")
    elif to == ClaimStatus.OFFER_SENT and dice.random() < 0.4:
        inputs = {
            "amount": naira(dice.choice((claim.approved_amount_minor, 2_000_000, 9_000_000))),
            "note": "As agreed",
        }
    elif to == ClaimStatus.ESTIMATE_SUBMITTED:
        paper = dice.choice(("loan_offer_letter", "loan_offer_letter", "police_report", "police_report", "other"))
        inputs = {"amount": naira(dice.choice((3_000_000, 7_500_000, 275_000_000))), "estimate_document": paper}
        inputs["note"] = "By the workshop"
    elif to == ClaimStatus.OFFER_ACCEPTED:
        inputs = {"note": "Accepted on the phone"}
        if claim.claim_status == ClaimStatus.PAID:
            inputs["payment_reference"] = reference(office, dice)
    elif to == ClaimStatus.DECLINED:
        inputs = {"reason": dice.choice(("exclusion", "misrepresentation")), "note": "By the wording"}
    elif to == ClaimStatus.PAID:
        inputs = {"payment_reference": reference(office, dice)}
        if dice.random() < 0.3:
            inputs["payment"] = {"value_on": office.today(dice.choice((-40, -1, 0, 1)))}
    version = claim.version - (dice.random() < 0.03)
    with acting(office, by) as (session, person):
        claim_moves.move_claim(session, as_id(claim.id), to=to, person=person, version=version, **inputs)


def work_claim(office: Office, dice: Random) -> None:
    """The next move of a claim as a desk makes it, by anybody of the desk."""
    usual_states = [state for state in STATES if state not in ("Settled", "Declined", "Paid")]
    claim = a_claim(office, dice, *usual_states) if dice.random() < 0.9 else a_claim(office, dice, "Paid")
    if claim is None:
        raise Idle
    if claim.claim_status in ("Approved", "Offer sent", "Offer accepted") and _has_lapsed(office, claim):
        office.acting = "approve anew"
        _approve_anew(office, dice, claim, anybody(office, dice, "uche", "root", "second"))
        return
    to = dice.choice(NEXT[claim.claim_status])
    if to == "Paid" and dice.random() < 0.5:
        handed = [row for row in office.read(_HANDED) if row.id == claim.id]
        office.acting = "pay handed" if handed else "hand over"
        (pay_handed if handed else hand_over)(office, dice)
        return
    usual = {
        "Approved": ("sade", "uche", "sade", "uche", "bola", "ada", "root"),
        "Paid": ("ada", "bola", "sade", "uche"),
    }
    office.acting = "claim: came back" if claim.claim_status == "Paid" and to == "Offer accepted" else f"claim to {to}"
    _move(office, dice, claim, to, anybody(office, dice, *usual.get(to, ("bola", "ada", "sade", "uche"))))


def _has_lapsed(office: Office, claim: Any) -> bool:
    rows = office.read(
        "SELECT approval_id FROM approval LEFT JOIN approval_lapse ON approval_id = approval.id"
        " WHERE subject_id = :claim ORDER BY approved_at DESC, approval.id DESC LIMIT 1",
        claim=claim.id,
    )
    # A third of them is tried as it is.
    return bool(rows and rows[0].approval_id and claim.version % 3)


def move_by_command(office: Office, dice: Random) -> None:
    """A claim is moved from the command line, in the name of an officer."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    inputs: dict[str, Any] = {
        "to": dice.choice(NEXT[claim.claim_status]),
        "version": claim.version,
        "note": "As written",
    }
    if inputs["to"] == ClaimStatus.APPROVED:
        inputs |= {"amount": "75000", "reasons": dict.fromkeys(CHECK_KEYS, "Seen, and accepted")}
    elif inputs["to"] == ClaimStatus.PAID:
        inputs["payment_reference"] = reference(office, dice)
    elif inputs["to"] == ClaimStatus.DECLINED:
        inputs["reason"] = "exclusion"
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        claim_moves.move_by_command(
            session, as_id(claim.id), person=person, terminal="command line, eve at desk-1", **inputs
        )


def comment(office: Office, dice: Random) -> None:
    """A comment for the desk or for the claimant."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        claim_questions.add_comment(
            session, as_id(claim.id), text="Seen", for_claimant=dice.random() < 0.5, person=person
        )


def any_move(office: Office, dice: Random) -> None:
    """Any move of any claim by anybody."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    _move(office, dice, claim, dice.choice(STATES), anybody(office, dice))


def appeal(office: Office, dice: Random) -> None:
    """A decided claim is taken up again."""
    claim = a_claim(office, dice, "Declined", "Settled")
    if claim is None:
        raise Idle
    _move(office, dice, claim, "Reviewing", anybody(office, dice, "sade", "uche", "root"))


def approve_anew(office: Office, dice: Random) -> None:
    """A lapsed approval is given again."""
    claim = a_claim(office, dice, "Approved", "Offer sent", "Offer accepted")
    if claim is None:
        raise Idle
    _approve_anew(office, dice, claim, anybody(office, dice, *DESK))


def _approve_anew(office: Office, dice: Random, claim: Any, by: UUID) -> None:
    reasons = dict.fromkeys(CHECK_KEYS, "Seen, and accepted") if dice.random() < 0.97 else {}
    with acting(office, by) as (session, person):
        claim_moves.approve_anew(session, as_id(claim.id), person=person, version=claim.version, reasons=reasons)


def pay_part(office: Office, dice: Random) -> None:
    """A part of an accepted offer is paid."""
    claim = a_claim(office, dice, "Offer accepted")
    if claim is None:
        raise Idle
    amount = naira(dice.choice((100_000, 1_000_000, claim.offer_amount_minor // 2, claim.offer_amount_minor - 1)))
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        how = {"amount": amount, "payment_reference": reference(office, dice)}
        claim_paying.pay_part(session, as_id(claim.id), person=person, version=claim.version, **how)


def take_back_part(office: Office, dice: Random) -> None:
    """A part came back."""
    claim = a_claim(office, dice, "Offer accepted")
    if claim is None:
        raise Idle
    with acting(office, anybody(office, dice, "sade", "uche")) as (session, person):
        how = {"payment_reference": reference(office, dice), "note": "The bank returned it"}
        claim_paying.take_back_part(session, as_id(claim.id), person=person, version=claim.version, **how)


def hand_over(office: Office, dice: Random) -> None:
    """An accepted offer is handed to finance."""
    claim = a_claim(office, dice, "Offer accepted")
    if claim is None:
        raise Idle
    with acting(office, anybody(office, dice, "sade", "uche")) as (session, person):
        claim_paying.hand_over(session, as_id(claim.id), person=person, version=claim.version)


def take_back(office: Office, dice: Random) -> None:
    """A payment is taken back from finance."""
    claim = a_claim(office, dice, "Offer accepted")
    if claim is None:
        raise Idle
    with acting(office, anybody(office, dice, "sade", "uche")) as (session, person):
        claim_paying.take_back(session, as_id(claim.id), person=person, version=claim.version)


_HANDED = (
    "SELECT claim.id, claim.version, claim.offer_amount_minor, claim.provider_id FROM claim_referral JOIN claim"
    " ON claim.id = claim_id WHERE closed_at IS NULL AND asks_role = 'finance' ORDER BY claim.created_at, claim.id"
)


def pay_handed(office: Office, dice: Random) -> None:
    """Finance pays what was handed to it."""
    waiting = office.read(_HANDED)
    if not waiting:
        raise Idle
    claim = dice.choice(waiting)
    with acting(office, anybody(office, dice, "funmi", "wale", "chi", "uche")) as (session, person):
        how: dict[str, Any] = {"payment_reference": reference(office, dice), "version": claim.version}
        claim_paying.pay(session, as_id(claim.id), person=person, payment={"method": dice.choice(METHODS)}, **how)


def pay_together(office: Office, dice: Random) -> None:
    """Finance pays several claims that were handed to it by one transfer, of their sum or of another."""
    waiting = office.read(_HANDED)
    if not waiting:
        raise Idle
    first = dice.choice(waiting)
    if dice.random() < 0.8:
        waiting = [each for each in waiting if each.provider_id == first.provider_id]
    chosen = dice.sample(waiting, min(len(waiting), dice.randrange(1, 4)))
    minor = sum(claim.offer_amount_minor for claim in chosen) + (dice.random() < 0.1)
    typed = {"payment_reference": reference(office, dice), "total": naira(minor), "value_on": office.today()}
    typed["method"] = dice.choice(METHODS)
    seen = {as_id(claim.id): claim.version for claim in chosen}
    with acting(office, anybody(office, dice, "funmi", "wale", "chi", "uche")) as (session, person):
        claim_paying.pay_together(session, seen, typed, person=person)


def pay_file(office: Office, dice: Random) -> None:
    """Finance pays what was handed to it from a file."""
    waiting = office.read(_HANDED)
    if not waiting:
        raise Idle
    lines = ["Claim,Amount,Reference"]
    for claim in waiting[: dice.randrange(1, 4)]:
        minor = claim.offer_amount_minor + (dice.random() < 0.1)
        lines.append(f"C-{as_id(claim.id).hex[-8:].upper()},{naira(minor)},{reference(office, dice)}")
    if dice.random() < 0.1:
        lines.append(lines[-1])
    seen = {as_id(claim.id): claim.version for claim in waiting}
    columns = {"claim": "Claim", "amount": "Amount", "reference": "Reference"}
    content = "\r\n".join(lines).encode()
    with acting(office, anybody(office, dice, "funmi", "wale", "chi", "uche")) as (session, person):
        payment_files.pay(session, "pay.csv", content, columns, seen=seen, by=person)


def set_payee(office: Office, dice: Random) -> None:
    """Another payee."""
    claim = a_claim(office, dice, "Pending", "Approved", "Offer sent", "Offer accepted")
    if claim is None:
        raise Idle
    who = {"name": dice.choice(("Ngozi Okafor", "A Friend", "Puppet Ltd")), "bank_name": "Access Bank"}
    who |= {"account_number": dice.choice(ACCOUNTS), "reason": "By telephone"}
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        claim_corrections.set_payee(session, as_id(claim.id), person=person, version=claim.version, **who)


def correct_amounts(office: Office, dice: Random) -> None:
    """A submission is corrected."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    named = dice.choice(("pending_repayment_amount", "loan_amount", "cost_of_repair"))
    amounts = {named: dice.choice(("20000", "75000", "100000", "5000000"))}
    with acting(office, anybody(office, dice, "sade", "uche", "bola")) as (session, person):
        how: dict[str, Any] = {"amounts": amounts, "reason": "By the letter", "version": claim.version}
        claim_corrections.correct_amounts(session, as_id(claim.id), person=person, **how)


def set_incident(office: Office, dice: Random) -> None:
    """The day of the incident is another one."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    day = office.today(-dice.choice((0, 1, 5, 30, 100, 400)))
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        how: dict[str, Any] = {"on": day, "reason": "By the letter", "version": claim.version}
        claim_corrections.set_incident_date(session, as_id(claim.id), person=person, **how)


def set_claimant(office: Office, dice: Random) -> None:
    """Somebody else claims, perhaps one of the staff."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    who = {
        "claimant": "Representative",
        "claimant_first_name": "Puppet",
        "claimant_last_name": "Person",
        "claimant_phone_number": f"080355500{dice.randrange(10, 99)}",
    }
    if dice.random() < 0.3:
        who["claimant_email"] = f"{dice.choice(NAMES)}@x.example"
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        how: dict[str, Any] = {"claimant": who, "reason": "By telephone", "version": claim.version}
        claim_corrections.set_claimant(session, as_id(claim.id), person=person, **how)


def attach(office: Office, dice: Random) -> None:
    """A paper is added or replaced, by the desk or over the API."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    name = dice.choice(("loan_offer_letter", "employment_termination_letter", "police_report", "driving_licence"))
    received = ReceivedFile(field=name, file_name="b.pdf", content=papers.pdf(text=office.text(dice)))
    over_api = dice.random() < 0.4
    with files.store_files([received]) as kept:
        if over_api:
            owner = Owner(distributor_id=office.partner.id, is_live=True)
            with office.store.writing(office.partner.scope(is_live=True)) as session:
                lodging.attach_over_api(session, as_id(claim.id), kept, {}, owner=owner, actor="key distributor")
        else:
            with acting(office, anybody(office, dice, *DESK)) as (session, person):
                lodging.attach_document(session, as_id(claim.id), kept[0], person=person, version=claim.version)


def deduct(office: Office, dice: Random) -> None:
    """A deduction before an offer."""
    claim = a_claim(office, dice, "Approved", "Reviewing")
    if claim is None:
        raise Idle
    how: dict[str, Any] = {"excess": dice.choice(("0", "1000")), "betterment": dice.choice(("0", "500", "900000"))}
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        claim_moves.set_deductions(session, as_id(claim.id), person=person, version=claim.version, **how)


def reserve(office: Office, dice: Random) -> None:
    """Another reserve."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    how: dict[str, Any] = {"amount": dice.choice(("0", "75000", "9000000")), "reason": "As it looks now"}
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        reserves.set_reserve(session, as_id(claim.id), person=person, version=claim.version, **how)


def refer(office: Office, dice: Random) -> None:
    """A decision is referred to the supervisors."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    how: dict[str, Any] = {"to": dice.choice(NEXT[claim.claim_status]), "note": "Above my limit"}
    with acting(office, anybody(office, dice, "ada", "bola", "chi")) as (session, person):
        claim_tasks.refer_claim(session, as_id(claim.id), person=person, version=claim.version, **how)


def assign(office: Office, dice: Random) -> None:
    """A claim is given to somebody, or taken as the next one."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        if dice.random() < 0.5:
            claim_assignment.assign_next(session, person=person)
        else:
            to = dice.choice(office.people)
            claim_moves.assign_claim(session, as_id(claim.id), to=to, person=person, version=claim.version)


def ask(office: Office, dice: Random) -> None:
    """The claimant is asked something, which answers a comment as well."""
    claim = a_claim(office, dice)
    if claim is None:
        raise Idle
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        questions.ask_claimant(session, as_id(claim.id), text="When was it?", person=person)


def second_submission(office: Office, dice: Random) -> None:
    """A claim is closed as the second submission of another."""
    if len(office.claims) < 2:
        raise Idle
    claim = a_claim(office, dice, "Pending", "Reviewing")
    same = office.read(
        "SELECT id FROM claim WHERE policy_id = :policy AND id <> :id", policy=claim.policy_id, id=claim.id
    )
    if not same:
        raise Idle
    first = f"C-{as_id(dice.choice(same).id).hex[-8:].upper()}"
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        how: dict[str, Any] = {"first": first, "version": claim.version}
        claim_moves.link_second_submission(session, as_id(claim.id), person=person, **how)


def settle_many(office: Office, dice: Random) -> None:
    """Several paid claims are settled at once."""
    rows = office.read("SELECT id, version FROM claim WHERE claim_status = 'Paid' ORDER BY created_at, id")
    if not rows:
        raise Idle
    chosen = [ChosenClaim(id=as_id(row.id), version=row.version, reference="C", assigned_to=None) for row in rows]
    with acting(office, anybody(office, dice, *DESK)) as (session, person):
        claim_assignment.settle_claims(session, chosen, person=person)
