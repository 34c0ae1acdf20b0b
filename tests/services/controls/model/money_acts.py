"""Acts on money beside claims: refunds, corrections, statements, payouts, files, accounts, rates."""

from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.desk import closing
from core.dispatch import loan_books as worker
from core.services.catalogue import rate_changes, share_changes
from core.services.finance import adjustments, agreements, bank_accounts, tax_rates
from core.services.finance.credit_notes import deciding
from core.services.finance.payments import payouts, settlement
from core.services.finance.reconciling import differences, reconciliations
from core.services.finance.statements import statements
from core.services.people import accounts, role_grants, staff
from core.services.policies import changes
from core.services.renewals import renewals
from core.services.renewals.renewals import ShownTerm
from core.services.selling import endorsing
from core.services.selling.loan_books import books
from core.services.selling.loan_books.books import Expected, Uploader
from core.store.access import Owner
from core.store.schema.tables import Policy, Staff
from tests.services.controls.model.acts import ACCOUNTS, Idle, acting, anybody, as_id, naira, reference
from tests.services.controls.model.office import PASSWORD, SYSTEM, Office, Sold, moment
from tests.services.loan_books import FORM, as_csv, loan
from tests.services.sign_in_links import choose

FINANCE: Final = ("funmi", "wale", "uche", "chi", "funmi", "wale")
ADMINS: Final = ("root", "second", "third")
WHY: Final = "The insurer charged another rate than agreed"
MONTHS: Final = ("2026-08-01", "2026-09-01", "2026-10-01", "2026-11-01", "2026-12-01")


def _pick(office: Office, dice: Random, statement: str) -> Any:
    rows = office.read(statement)
    if not rows:
        raise Idle
    chosen = rows[-1 - int(len(rows) * dice.random() ** 2)]
    office.what = f"of {chosen[0]}"
    return chosen


def cancel(office: Office, dice: Random) -> None:
    """A policy ends, by whoever may."""
    policy = _pick(office, dice, "SELECT id, version FROM policy WHERE cancelled_at IS NULL ORDER BY created_at, id")
    given: dict[str, Any] = {"reason": "Sold the car", "by_insurer": dice.random() < 0.5}
    with acting(office, anybody(office, dice, "wale", "root", "second")) as (session, person):
        changes.cancel(session, as_id(policy.id), actor=person.actor, expected_version=policy.version, **given)


def decline(office: Office, dice: Random) -> None:
    """Somebody says that the insurer does not want a policy that waits for it: everything goes back."""
    query = "SELECT id, version FROM policy WHERE NOT activated AND cancelled_at IS NULL ORDER BY created_at, id"
    policy = _pick(office, dice, query)
    with acting(office, anybody(office, dice, "wale", "root", "second")) as (session, person):
        given: dict[str, Any] = {"reason": "Not wanted", "expected_version": policy.version}
        changes.decline(session, as_id(policy.id), actor=person.actor, **given)


def endorse(office: Office, dice: Random) -> None:
    """The holder of a policy gets another name, e-mail or phone, or its car another number."""
    policy = _pick(office, dice, "SELECT id, version FROM policy WHERE activated ORDER BY created_at, id")
    changed = dice.choice(
        (
            {"first_name": "Ama", "last_name": "Friend"},
            {"email": dice.choice(("wale@x.example", "friend@x.example", "funmi@x.example"))},
            {"phone_number": "08069999999"},
            {"registration_number": f"ABC-{dice.randrange(1_000):03d}XY"},
        )
    )
    how: dict[str, Any] = {"reason": "As asked", "requested_by": "The customer", "expected_version": policy.version}
    day = clock.to_lagos_day(office.now - timedelta(days=dice.choice((0, 0, 3))))
    with acting(office, anybody(office, dice, "wale", "root", "second")) as (session, person):
        endorsing.endorse(session, as_id(policy.id), changed, effective_on=day, by=person, **how)


def renew(office: Office, dice: Random) -> None:
    """A car whose term ends, or has just ended, gets one term more: over the distributor's key or at the desk."""
    soon = office.now + timedelta(days=30)
    query = (
        "SELECT id, version, expiration_at FROM policy WHERE activated AND cancelled_at IS NULL ORDER BY created_at, id"
    )
    ending = [row for row in office.read(query) if clock.to_lagos_day(moment(row.expiration_at)) < soon.date()]
    if not ending:
        raise Idle
    policy = dice.choice(ending)
    office.what = f"of {policy.id}"
    if dice.random() < 0.5:
        with office.store.writing(office.partner.scope(is_live=True)) as session:
            renewals.renew(session, as_id(policy.id), office.partner.seller(is_live=True))
        return
    with acting(office, anybody(office, dice, "wale", "root")) as (session, person):
        price = money.to_minor(renewals.preview_next_term(session, as_id(policy.id)).price.total)
        shown = ShownTerm(policy_id=as_id(policy.id), expiration_at=moment(policy.expiration_at), total_minor=price)
        if renewals.renew_each(session, [shown], by=person).left_out:
            raise Idle


def send_exits(office: Office, dice: Random) -> None:
    """A lender's file, by its key or at the desk, says that a loan is over since a day, perhaps of long ago."""
    running = office.read(
        "SELECT id FROM policy WHERE cancelled_at IS NULL AND id NOT IN (SELECT policy_id FROM claim) ORDER BY id"
    )
    unclaimed = {as_id(row.id) for row in running}
    loans = [each for each in office.sold if each.is_loan and each.number]
    loans = [each for each in loans if each.id in unclaimed or dice.random() < 0.2]
    if not loans:
        raise Idle
    sold, day = dice.choice(loans), office.today(-dice.choice((0, 5, 30, 70)))
    office.what = f"of {sold.id.hex} as of {day}"
    content = f"policy_number,exit_date,exit_reason\n{sold.number},{day},settled_early\n".encode()
    with acting(office, anybody(office, dice, "wale", "root", "sade")) as (session, person):
        owner = Owner(distributor_id=office.partner.id, is_live=True)
        uploader = Uploader(owner=owner, actor=person.actor, staff_id=person.id)
        if dice.random() < 0.4:
            uploader = Uploader(owner=owner, actor=f"key {ids.new()}")
        product = session.execute(sa.select(col(Policy.product_id)).where(col(Policy.id) == sold.id)).scalar_one()
        typed = {"kind": "exits", "product_id": str(product), "month": office.today()[:7]}
        books.upload(session, typed, "exits.csv", content + b"\n" * dice.randrange(9), uploader)
    worker.work(office.store)


def send_loans(office: Office, dice: Random) -> None:
    """A lender's file of a loan that is new, by its key or at the desk."""
    office.customers += 1
    whose = {"phone_number": f"0807{office.customers:07d}", "email": f"borrower{office.customers}@x.example"}
    row = loan(office.customers, **whose, loan_start_date=office.today(-dice.choice((0, 20, 50))))
    with acting(office, anybody(office, dice, "wale", "root", "sade")) as (session, person):
        owner = Owner(distributor_id=office.partner.id, is_live=True)
        uploader = Uploader(owner=owner, actor=person.actor, staff_id=person.id)
        if dice.random() < 0.3:
            uploader = Uploader(owner=owner, actor=f"key {ids.new()}")
        typed = {**FORM, "month": office.today()[:7], "attested_on": office.today()}
        books.upload(session, typed, "loans.csv", as_csv([row]), uploader)
    worker.work(office.store)


def confirm_book(office: Office, dice: Random) -> None:
    """A file of loans that are new or over is confirmed, at the desk or by the lender's key, and carried out."""
    book = _pick(office, dice, "SELECT id FROM loan_book WHERE state = 'validated' ORDER BY created_at, id")
    with acting(office, anybody(office, dice, "sade", "uche", "root", "wale")) as (session, person):
        made = books.get(session, as_id(book.id))
        amounts: dict[str, Any] = {"rows": made.preview["valid"], "premium": Decimal(made.preview["premium"])}
        seen = Expected(**amounts, preview_hash=str(made.preview_hash))
        if made.uploader_id is None and dice.random() < 0.5:
            books.confirm_by_key(session, made.id, accept="valid", expected=seen, actor=made.uploaded_by)
        else:
            books.confirm_by_person(session, made.id, accept="valid", expected=seen, by=person)
    worker.work(office.store)
    known = {each.id for each in office.sold}
    for row in office.read(
        "SELECT policy.id, policy_number FROM policy JOIN loan_book_row ON policy_id = policy.id"
        " WHERE outcome = 'covered' ORDER BY policy.created_at, policy.id"
    ):
        if as_id(row.id) not in known:
            office.sold.append(Sold(as_id(row.id), row.policy_number or "", True, 10_000_000))


_NOTES = "SELECT id, state, total_minor FROM credit_note {} ORDER BY created_at, id"


def approve_note(office: Office, dice: Random) -> None:
    """A credit note is approved, for the customer or for somebody else; one that waits for the second of two mostly."""
    awaiting = _NOTES.format("WHERE state = 'Awaiting second person'")
    wanted = "WHERE state IN ('Computed', 'Awaiting second person')" if dice.random() < 0.8 else ""
    is_second = bool(office.read(awaiting)) and dice.random() < 0.6
    note = _pick(office, dice, awaiting if is_second else _NOTES.format(wanted))
    typed = {} if dice.random() < 0.8 else {"payee": dice.choice(("A Friend", "Puppet Ltd", "Ngozi Okafor"))}
    if dice.random() < 0.9:
        # What the first of two typed is on the form of the second.
        accounts = ("0999999999", "0123456780")
        account = accounts[as_id(note.id).int % 2] if dice.random() < 0.9 else dice.choice(accounts)
        typed |= {"payee_bank": "Access Bank", "payee_account": account}
    with acting(office, anybody(office, dice, *FINANCE, "root")) as (session, person):
        deciding.approve(session, as_id(note.id), typed, by=person)


def pay_note(office: Office, dice: Random) -> None:
    """A credit note is noted as paid."""
    note = _pick(office, dice, _NOTES.format("WHERE state IN ('Approved', 'Returned')"))
    typed = {
        "bank_reference": reference(office, dice),
        "value_on": office.today(dice.choice((0, 0, 0, 0, 0, 0, -1, 1))),
    }
    if dice.random() < 0.2:
        typed["payee"] = dice.choice(("A Friend", "Ngozi Okafor"))
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        deciding.pay(session, as_id(note.id), typed, by=person)


def return_note(office: Office, dice: Random) -> None:
    """The payment of a credit note is noted as returned."""
    note = _pick(office, dice, _NOTES.format("WHERE state = 'Paid'"))
    typed = {"returned_on": office.today(dice.choice((0, 0, -1))), "reason": "The account is closed"}
    if dice.random() < 0.4:
        typed["bank_reference"] = reference(office, dice)
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        deciding.return_payment(session, as_id(note.id), typed, by=person)


def propose_adjustment(office: Office, dice: Random) -> None:
    """The correction of a movement is proposed, bounded or not; that of a refund would take it back mostly."""
    columns = "id, total_minor, mca_profit_minor, distributor_profit_minor"
    kind = "WHERE kind = 'refund'" if dice.random() < 0.3 else ""
    row = _pick(office, dice, f"SELECT {columns} FROM movement {kind} ORDER BY created_at, id")
    total = int(row.total_minor)
    premium = dice.choice((0, 0, -total, -total // 2, total, 100, 5_000_000_000))
    platform = dice.choice((0, -int(row.mca_profit_minor), 100, total // 3))
    rest = total + premium - int(row.mca_profit_minor) - platform - int(row.distributor_profit_minor)
    distributor = dice.choice((0, -int(row.distributor_profit_minor), rest, total // 3))
    if kind and dice.random() < 0.7:
        premium, platform, distributor = -total, -int(row.mca_profit_minor), -int(row.distributor_profit_minor)
    names = ("premium", "platform_commission", "distributor_commission")
    typed = dict(zip(names, map(naira, (premium, platform, distributor)), strict=True)) | {"reason": WHY}
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        adjustments.propose(session, as_id(row.id), typed, by=person)


_OPEN = "SELECT * FROM {} WHERE state = 'open' ORDER BY proposed_at, id"


def decide_adjustment(office: Office, dice: Random) -> None:
    """A proposed correction is confirmed, or refused, or taken back."""
    row = _pick(office, dice, _OPEN.format("adjustment_proposal"))
    with acting(office, anybody(office, dice, *FINANCE, "root", "second")) as (session, person):
        chance = dice.random()
        if chance < 0.8:
            adjustments.confirm(session, as_id(row.id), by=person)
        elif chance < 0.9:
            adjustments.refuse(session, as_id(row.id), reason="Not so", by=person)
        else:
            adjustments.take_back(session, as_id(row.id), by=person)


def prepare_statement(office: Office, dice: Random) -> None:
    """The statement of a month of a party."""
    party = dice.choice(office.parties)
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        due = statements.find_due_month(session, party)
        if due is None or due >= clock.today().replace(day=1):
            raise Idle
        month = clock.add_months(due, dice.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, -1)))
        statements.prepare(session, party, month, by=person, without_withholding=dice.random() < 0.9)


def move_statement(office: Office, dice: Random) -> None:
    """A statement is approved, sent, disputed or settled, by anybody of finance."""
    wanted = "WHERE state IN ('Prepared', 'Approved')" if dice.random() < 0.7 else ""
    row = _pick(office, dice, f"SELECT id, state FROM statement {wanted} ORDER BY prepared_at, id")
    usual = {"Prepared": "Approved", "Approved": "Sent", "Sent": "Disputed", "Disputed": "Sent"}
    to = usual.get(row.state, "Void") if dice.random() < 0.9 else dice.choice(("Approved", "Sent", "Paid", "Void"))
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        statements.move(session, as_id(row.id), to, by=person, note="As they said on the phone")


def reverse_statement(office: Office, dice: Random) -> None:
    """A statement is reversed."""
    row = _pick(office, dice, "SELECT id FROM statement ORDER BY prepared_at, id")
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        statements.reverse(session, as_id(row.id), reason="It was of the wrong month", by=person)


def prepare_payout(office: Office, dice: Random) -> None:
    """A payout to a party or two, of all that is due or of an amount."""
    chosen: dict[Any, int | None] = {}
    for party in dice.sample(office.parties, dice.choice((1, 1, 2))):
        chosen[party] = dice.choice((None, None, 100, 1_000_000, 900_000_000))
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        if dice.random() < 0.6:
            payable = [balance.party for balance in payouts.list_payable(session)]
            chosen = dict.fromkeys(payable, dice.choice((None, None, 5_000))) or chosen
        payouts.prepare(session, chosen, by=person)


def decide_payout(office: Office, dice: Random) -> None:
    """A payout is approved or given up."""
    row = _pick(office, dice, "SELECT id FROM payout_batch WHERE state = 'Prepared' ORDER BY prepared_at, id")
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        if dice.random() < 0.85:
            payouts.approve(session, as_id(row.id), by=person)
        else:
            payouts.withdraw(session, as_id(row.id), reason="Not this month", by=person)


def approve_payout_anew(office: Office, dice: Random) -> None:
    """A payout whose approval lapsed, or any other, is approved again."""
    row = _pick(office, dice, "SELECT id FROM payout_batch WHERE state = 'Approved' ORDER BY prepared_at, id")
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        payouts.approve_anew(session, as_id(row.id), by=person)


def open_bank_file(office: Office, dice: Random) -> None:
    """The file of a payout is opened for the bank."""
    row = _pick(office, dice, "SELECT id FROM payout_batch ORDER BY prepared_at, id")
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        payouts.open_bank_file(session, as_id(row.id), by=person)


def _payment(office: Office, dice: Random, *wanted: str) -> Any:
    names = ", ".join(f"'{state}'" for state in wanted)
    where = f"WHERE state IN ({names})" if dice.random() < 0.9 else ""
    return _pick(office, dice, f"SELECT id, direction FROM payment {where} ORDER BY prepared_at, id")


def confirm_payment(office: Office, dice: Random) -> None:
    """The bank made a payout, or a receipt is confirmed."""
    row = _payment(office, dice, "Approved", "Prepared")
    typed = {"bank_reference": reference(office, dice), "value_on": office.today(dice.choice((0, 0, 0, -2)))}
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        if row.direction == "in":
            settlement.approve_receipt(session, as_id(row.id), by=person)
        else:
            settlement.confirm(session, as_id(row.id), typed, by=person)


def return_payment(office: Office, dice: Random) -> None:
    """The bank returned a payment."""
    row = _payment(office, dice, "Approved", "Confirmed")
    typed = {"returned_on": office.today(), "reason": "The account is closed"}
    if dice.random() < 0.5:
        typed["bank_reference"] = reference(office, dice)
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        settlement.return_payment(session, as_id(row.id), typed, by=person)


def withdraw_receipt(office: Office, dice: Random) -> None:
    """A noted receipt, or a payment of a payout, is given up."""
    row = _payment(office, dice, "Prepared")
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        settlement.withdraw(session, as_id(row.id), reason="It was of another party", by=person)


def receive(office: Office, dice: Random) -> None:
    """Something was received from a party."""
    typed = {"bank_reference": reference(office, dice), "value_on": office.today()}
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        owing = {each.party: -each.amount_minor for each in settlement.list_balances(session) if each.amount_minor < 0}
        party = dice.choice(list(owing) if owing and dice.random() < 0.8 else office.parties)
        due = owing.get(party, 50_000)
        typed["amount"] = naira(dice.choice((due, due // 2, due + 100)))
        settlement.receive(session, party, typed, by=person)


def reconcile(office: Office, dice: Random) -> None:
    """A file of an insurer is compared, with some figures that are not ours, within a tolerance."""
    party = dice.choice([each for each in office.parties if each.account == "provider"])
    month = dice.choice(MONTHS[:4])
    rows = office.read(
        "SELECT policy_number, sum(provider_share_minor) AS minor FROM movement"
        " JOIN policy ON policy.purchase_id = movement.purchase_id WHERE policy_number IS NOT NULL"
        " AND movement.provider_id = :party GROUP BY policy_number ORDER BY policy_number",
        party=party.id if not office.store.is_sqlite else party.id.hex,
    )
    if not rows:
        raise Idle
    off = dice.choice((0, 1, 9_000, -9_000, 4_000_000))
    lines = ["Policy No,Net", *(f"{row.policy_number},{naira(int(row.minor) + off)}" for row in rows)]
    typed = {"kind": "insurer", "month": month, "file_name": "file.csv", "timing_days": dice.choice((0, 5, 31))}
    typed["tolerance"] = dice.choice(("0", "1", "100", "1000", "10000000"))
    typed["columns"] = {"policy_number": "Policy No", "amount": "Net"}
    content = "\r\n".join(lines).encode()
    with acting(office, anybody(office, dice, *FINANCE, "root")) as (session, person):
        reconciliations.run(session, typed, content, by=person, provider_id=party.id)


def decide_difference(office: Office, dice: Random) -> None:
    """A difference is explained, written off, or ended by an adjustment."""
    row = _pick(office, dice, "SELECT id, state FROM difference ORDER BY changed_at, id")
    with acting(office, anybody(office, dice, *FINANCE, "root")) as (session, person):
        if row.state == "Open" or dice.random() < 0.1:
            typed = {"cause": "Wrong amount of theirs", "note": "They have another rate"}
            differences.explain(session, as_id(row.id), typed, by=person)
        elif dice.random() < 0.2:
            differences.adjust(session, as_id(row.id), by=person)
        elif row.state == "Explained":
            differences.ask_write_off(session, as_id(row.id), by=person)
        else:
            differences.write_off(session, as_id(row.id), by=person)


def propose_account(office: Office, dice: Random) -> None:
    """Another bank account of a party."""
    details = {"bank_name": "Access Bank", "account_name": "A friend"}
    details["account_number"] = dice.choice(("0999999999", "0123456780", "12"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        bank_accounts.propose(session, dice.choice(office.parties), details, by=person)


def decide_account(office: Office, dice: Random) -> None:
    """A proposed bank account is confirmed, refused or taken back."""
    row = _pick(office, dice, _OPEN.format("bank_account"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        verb = dice.choice(
            (bank_accounts.confirm, bank_accounts.confirm, bank_accounts.refuse, bank_accounts.take_back)
        )
        verb(session, as_id(row.id), by=person)


def add_terms(office: Office, dice: Random) -> None:
    """Other terms with a party, by one admin, perhaps from a day that is past."""
    office.papers += 1
    typed: dict[str, Any] = {
        "number": f"AG/{office.papers + 2}",
        "starts_on": office.today(dice.choice((-60, 0, 5, 40))),
    }
    if (party := dice.choice((office.parties[0], *office.parties))).account == "distributor":
        typed |= {"charges_vat": dice.random() < 0.5, "is_small": dice.random() < 0.5}
        typed["collects"] = dice.choice(("platform", "distributor"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        agreements.add(session, party, typed, by=person)


def decide_terms(office: Office, dice: Random) -> None:
    """Proposed terms are confirmed, refused or taken back."""
    row = _pick(office, dice, _OPEN.format("terms_proposal"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        verb = dice.choice((agreements.confirm, agreements.confirm, agreements.refuse, agreements.take_back))
        verb(session, as_id(row.id), by=person)


def propose_share(office: Office, dice: Random) -> None:
    """An own share of the distributor."""
    typed = {
        "commission": dice.choice(("0", "5", "12.5", "100")),
        "starts_on": office.today(dice.choice((-30, 0, 1, 5))),
    }
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        share_changes.propose(session, office.partner.id, typed, by=person)


def decide_share(office: Office, dice: Random) -> None:
    """A proposed share is confirmed, refused or taken back."""
    row = _pick(office, dice, _OPEN.format("commission_share"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        verb = dice.choice(
            (share_changes.confirm, share_changes.confirm, share_changes.refuse, share_changes.take_back)
        )
        verb(session, as_id(row.id), by=person)


def propose_tax(office: Office, dice: Random) -> None:
    """Another rate of VAT, or none any more."""
    typed = {"effective_on": dice.choice(MONTHS), "resident": dice.choice(("0", "10", "50")), "source": WHY}
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        tax_rates.propose(session, "vat", typed, by=person)


def decide_tax(office: Office, dice: Random) -> None:
    """A proposed rate of tax is confirmed, refused or taken back."""
    row = _pick(office, dice, "SELECT id FROM tax_rate WHERE state = 'open'")
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        verb = dice.choice((tax_rates.confirm, tax_rates.confirm, tax_rates.refuse, tax_rates.take_back))
        verb(session, as_id(row.id), by=person)


def _product(office: Office, dice: Random) -> Any:
    return _pick(
        office,
        dice,
        "SELECT product.id, product.version, (SELECT v.id FROM product_version v WHERE v.product_id = product.id"
        " AND share_id IS NULL ORDER BY effective_at LIMIT 1) AS start FROM product"
        " WHERE EXISTS (SELECT 1 FROM policy WHERE policy.product_id = product.id) ORDER BY product.id",
    )


def propose_rates(office: Office, dice: Random) -> None:
    """Other commissions of a product."""
    row = _product(office, dice)
    typed = {"mca_commission": dice.choice(("1", "10", "90")), "distributor_commission": dice.choice(("1", "5", "99"))}
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        at = rate_changes.earliest() if dice.random() < 0.8 else clock.now()
        how: dict[str, Any] = {"start": as_id(row.start), "effective_at": at, "seen": row.version}
        rate_changes.propose(session, as_id(row.id), typed, by=person, **how)


def decide_rates(office: Office, dice: Random) -> None:
    """Proposed rates are confirmed, refused or taken back."""
    row = _pick(
        office,
        dice,
        "SELECT rate_proposal.id, product_id, product.version FROM rate_proposal"
        " JOIN product ON product.id = product_id WHERE state = 'open' ORDER BY proposed_at, rate_proposal.id",
    )
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        given = (session, as_id(row.product_id), as_id(row.id))
        if dice.random() < 0.7:
            rate_changes.confirm(*given, seen=row.version, by=person)
        elif dice.random() < 0.5:
            rate_changes.refuse(*given, reason="Too high", seen=row.version, by=person)
        else:
            rate_changes.take_back(*given, seen=row.version, by=person)


def withdraw_rates(office: Office, dice: Random) -> None:
    """A confirmed change of rates that is still to come is cancelled."""
    row = _product(office, dice)
    found = office.read(
        "SELECT id FROM product_version WHERE product_id = :product ORDER BY effective_at, id", product=row.id
    )
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        rate_changes.withdraw(session, as_id(row.id), as_id(found[-1].id), seen=row.version, by=person)


def close_month(office: Office, dice: Random) -> None:
    """A month is begun to be closed, or that is given up."""
    month = date.fromisoformat(dice.choice(MONTHS))
    with acting(office, anybody(office, dice, *FINANCE)) as (session, person):
        (closing.begin if dice.random() < 0.6 else closing.give_up)(session, month, by=person)


def add_person(office: Office, dice: Random) -> None:
    """Somebody new, with roles and a limit."""
    key = ids.new()
    roles = dice.choice((["claims"], ["finance"], ["admin"], ["supervisor", "finance"], ["operations"]))
    typed = {"email": f"puppet{len(office.people)}@x.example", "name": "Puppet", "roles": roles}
    if "claims" in roles:
        typed["claim_limit"] = dice.choice(("50000", "250000"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        accounts.add_person(session, key, typed, by=person)
    office.people.append(key)


def change_person(office: Office, dice: Random) -> None:
    """Other roles or another limit of somebody."""
    key = dice.choice(office.people)
    roles = dice.choice((["claims"], ["claims", "finance"], ["finance"], ["admin"], ["supervisor"]))
    typed: dict[str, Any] = {"roles": roles}
    if "claims" in roles:
        typed["claim_limit"] = dice.choice(("50000", "1000000", None))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        row = session.get_one(Staff, key)
        seen, name = row.updated_at, row.name
        accounts.change_person(session, key, {"name": name, **typed}, seen_at=seen, by=person)


def decide_person(office: Office, dice: Random) -> None:
    """A proposal that waits for a second admin is confirmed or refused; a link that it makes is opened."""
    row = _pick(office, dice, _OPEN.format("role_grant"))
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        if dice.random() < 0.2:
            role_grants.refuse(session, as_id(row.id), by=person)
            return
        office.what = f"of {session.get_one(Staff, as_id(row.staff_id)).email}"
        link = accounts.confirm_change(session, as_id(row.id), by=person)
    _open_link(office, link)


def link_person(office: Office, dice: Random) -> None:
    """A password link for somebody, of one's own now and then; it is opened by whoever has it."""
    by = anybody(office, dice, *ADMINS)
    with acting(office, by) as (session, person):
        whose = by if dice.random() < 0.3 else dice.choice(office.people)
        office.what = f"of {session.get_one(Staff, whose).email}"
        link = accounts.create_password_link(session, whose, by=person)
    _open_link(office, link)


def _open_link(office: Office, link: str | None) -> None:
    if link:
        choose(office.store, link, f"{PASSWORD}-{office.papers}-new")


def disable_person(office: Office, dice: Random) -> None:
    """Somebody is disabled, or enabled again."""
    key = dice.choice(office.people)
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        verb = accounts.enable_person if dice.random() < 0.6 else accounts.disable_person
        verb(session, key, by=person)


def own_details(office: Office, dice: Random) -> None:
    """The phone and the account of somebody on the staff are set, by the command or by another admin."""
    given: dict[str, Any] = {"phone_number": f"080355500{dice.randrange(10, 99)}", "account_number": None}
    if dice.random() < 0.4:
        given["account_number"] = dice.choice((*ACCOUNTS, "0123456780"))
    key = dice.choice(office.people)
    if dice.random() < 0.5:
        with office.store.writing(SYSTEM) as session:
            staff.set_own_details(session, key, actor="command line", **given)
        return
    with acting(office, anybody(office, dice, *ADMINS)) as (session, person):
        accounts.set_own_details(session, key, given, by=person)


def save_by_command(office: Office, dice: Random) -> None:
    """Whoever runs the server disables somebody by the command, or sets a password: neither takes a second admin."""
    actor = "command line, eve at desk-1"
    with office.store.writing(SYSTEM) as session:
        row = session.get_one(Staff, dice.choice(office.people))
        office.what = f"of {row.email}"
        if dice.random() < 0.5 or row.disabled_at is not None or not row.roles:
            staff.disable(session, row.email, actor=actor)
            return
        limit = None if row.claim_limit_minor is None else naira(row.claim_limit_minor)
        known: dict[str, Any] = {"email": row.email, "name": row.name, "roles": row.roles, "claim_limit": limit}
        staff.add_or_update(session, **known, password=f"{PASSWORD}-{office.papers}-set", actor=actor)


def wait(office: Office, dice: Random) -> None:
    """Hours or days go by."""
    office.now += timedelta(hours=dice.choice((1, 5, 25, 25, 49, 24 * 8)))
