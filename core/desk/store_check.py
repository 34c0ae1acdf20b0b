"""Audit of the whole store: database, invariants, claims, files, roll-ups and the audit log."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.audit import log as audit
from core.services.catalogue import rate_changes, share_changes, shares
from core.services.claims import invariants as claim_invariants
from core.services.claims.review import officers
from core.services.claims.workflow import clock as claim_clock
from core.services.customers import merging
from core.services.finance import agreements, parties, proofs, tax_rates
from core.services.finance.payments import proofs as payment_proofs
from core.services.people import approvals, role_grants
from core.services.selling.loan_books import books
from core.states import claims as claim_states
from core.states.claims import DECIDED, ClaimStatus
from core.states.policies import SubmissionState
from core.store.access import AnySelect, ScopedSession, wal_is_safe
from core.store.expressions import sum_of
from core.store.operations import blob_storage
from core.store.rollups import daily_rollup
from core.store.schema import tables, versions
from core.store.schema.tables import (
    Certificate,
    Claim,
    ClaimEvent,
    ClaimPayment,
    ClaimReserve,
    Customer,
    KeptAnswer,
    Policy,
    ProductVersion,
    Purchase,
    Refund,
    Renewal,
    Submission,
    UploadedFile,
)


@dataclass(frozen=True, slots=True, eq=False)
class Invariant:
    """One invariant: the violation in words, and the query of the violating ids."""

    description: str
    violations: AnySelect


def _find_wrong_splits(entity: type[Purchase] | type[Renewal]) -> AnySelect:
    """Amounts that are not the split of their total by the rates they were sold at (contract S7)."""
    return (
        sa.select(col(entity.id))
        .join(ProductVersion, col(ProductVersion.id) == col(entity.product_version_id))
        .where(_divides_otherwise(entity))
    )


def _divides_otherwise(entity: type[Purchase] | type[Renewal] | type[Refund]) -> sa.ColumnElement[bool]:
    total, mca, distributor = (
        col(entity.total_minor),
        col(entity.mca_profit_minor),
        col(entity.distributor_profit_minor),
    )
    platform = _share(total, col(ProductVersion.mca_commission_bp))
    partner = _share(total, col(ProductVersion.distributor_commission_bp))
    return sa.or_(
        mca != platform,
        distributor != sa.case((partner > total - mca, total - mca), else_=partner),
        mca + distributor > total,
    )


_AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
_PAID = {name: sa.func.coalesce(col(getattr(Renewal, name)), col(getattr(Purchase, name))) for name in _AMOUNTS}


def _refunds(*wrong: sa.ColumnElement[bool]) -> AnySelect:
    """Refunds beside the term that each belongs to: its renewal, or its purchase where there is none."""
    return (
        sa.select(col(Refund.id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .join(Purchase, col(Purchase.id) == col(Refund.purchase_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Refund.renewal_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Refund.product_version_id))
        .where(*wrong)
    )


def _any_more_than_paid() -> sa.ColumnElement[bool]:
    return sa.or_(*(col(getattr(Refund, name)) > paid for name, paid in _PAID.items()))


def _not_whole() -> sa.ColumnElement[bool]:
    """A refund of everything that does not reverse each part of its term."""
    differs = sa.or_(*(col(getattr(Refund, name)) != paid for name, paid in _PAID.items()))
    return sa.and_(col(Refund.total_minor) == _PAID["total_minor"], differs)


def _share(total: Any, basis_points: object) -> Any:
    return (total * basis_points + 5_000) // 10_000


def _find_duplicates(*columns: Any) -> AnySelect:
    return sa.select(*columns).where(columns[-1].is_not(None)).group_by(*columns).having(sa.func.count() > 1)


def _terms() -> sa.Subquery:
    """Return every renewal with the expiration of the previous renewal of the same policy."""
    before = sa.func.lag(col(Renewal.expiration_at)).over(
        partition_by=col(Renewal.policy_id), order_by=col(Renewal.start_at)
    )
    return (
        sa.select(col(Renewal.id), col(Renewal.previous_expiration_at), before.label("before"))
        .where(col(Renewal.status), col(Renewal.deleted_at).is_(None))
        .subquery("terms")
    )


def _per_policy(total: Any, entity: type[Renewal] | type[Refund]) -> sa.Subquery:
    return sa.select(col(entity.policy_id), total.label("value")).group_by(col(entity.policy_id)).subquery()


_TERMS = _terms()
_LAST_TERM = _per_policy(sa.func.max(col(Renewal.expiration_at)), Renewal)
_RENEWED = _per_policy(sa.func.sum(col(Renewal.total_minor)), Renewal)
_REFUNDED = _per_policy(sa.func.sum(col(Refund.total_minor)), Refund)
_PAYMENTS = (
    sa.select(sa.func.count())
    .where(col(ClaimPayment.claim_id) == col(ClaimEvent.claim_id))
    .correlate(ClaimEvent)
    .scalar_subquery()
)
_RESERVE = sa.func.sum(col(ClaimReserve.change_minor))
_OF_PURCHASE = col(Policy.purchase_id) == col(Purchase.id)
_POLICIES = sa.select(col(Policy.id))
_SALES = _POLICIES.join(Purchase, _OF_PURCHASE)


def _any_differs(one: type[object], other: type[object], *names: str) -> sa.ColumnElement[bool]:
    return sa.or_(*(getattr(one, name) != getattr(other, name) for name in names))


_OWNER = ("distributor_id", "is_live")


def _find_differing(entity: Any, owner: Any, *names: str) -> AnySelect:
    """Rows that differ in these columns, or in their distributor or mode, from the record that they are of."""
    owner_id = getattr(entity, f"{owner.__tablename__}_id")
    differs = _any_differs(entity, owner, *_OWNER, *names)
    return sa.select(col(entity.id)).join(owner, col(owner.id) == col(owner_id)).where(differs)


INVARIANTS = (
    Invariant("purchases whose parts are not those of their total", _find_wrong_splits(Purchase)),
    Invariant("renewals whose parts are not those of their total", _find_wrong_splits(Renewal)),
    Invariant(
        "purchases without a policy",
        sa.select(col(Purchase.id)).outerjoin(Policy, _OF_PURCHASE).where(col(Policy.id).is_(None)),
    ),
    Invariant(
        "policies without a purchase", _POLICIES.outerjoin(Purchase, _OF_PURCHASE).where(col(Purchase.id).is_(None))
    ),
    Invariant("purchases with several policies", _find_duplicates(col(Policy.purchase_id))),
    Invariant(
        "policies that differ from their purchase",
        _SALES.where(
            sa.or_(
                _any_differs(Policy, Purchase, *_OWNER, "product_id", "provider_id", "customer_id", "created_at"),
                col(Policy.genius_price_minor) != col(Purchase.total_minor),
                col(Policy.profit_minor) != col(Purchase.mca_profit_minor),
            )
        ),
    ),
    Invariant("policies of another distributor's customer", _find_differing(Policy, Customer)),
    Invariant(
        "policy numbers that stand twice at one insurer",
        _find_duplicates(col(Policy.provider_id), col(Policy.number_key)),
    ),
    Invariant(
        "active policies without a number or dates",
        _POLICIES.where(
            col(Policy.activated),
            sa.or_(
                col(Policy.number_key).is_(None), col(Policy.start_at).is_(None), col(Policy.expiration_at).is_(None)
            ),
        ),
    ),
    Invariant(
        "active policies whose certificate is missing",
        _POLICIES.outerjoin(Certificate, col(Certificate.code) == col(Policy.certificate_code)).where(
            col(Policy.activated),
            sa.or_(col(Certificate.code).is_(None), col(Certificate.policy_id) != col(Policy.id)),
        ),
    ),
    Invariant(
        "policies that no submission accounts for",
        _POLICIES.outerjoin(Submission, col(Submission.policy_id) == col(Policy.id)).where(
            col(Submission.policy_id).is_(None)
        ),
    ),
    Invariant(
        "submissions settled otherwise than their policy",
        _POLICIES.join(Submission, col(Submission.policy_id) == col(Policy.id)).where(
            sa.or_(
                sa.and_(col(Submission.state) == SubmissionState.ACCEPTED, sa.not_(col(Policy.activated))),
                sa.and_(col(Submission.state) == SubmissionState.DECLINED, col(Policy.declined_at).is_(None)),
            )
        ),
    ),
    Invariant(
        "renewals whose dates run backwards",
        sa.select(col(Renewal.id)).where(
            sa.or_(
                col(Renewal.expiration_at) <= col(Renewal.start_at),
                col(Renewal.start_at) < col(Renewal.previous_expiration_at),
            )
        ),
    ),
    Invariant(
        "terms that were renewed twice", _find_duplicates(col(Renewal.policy_id), col(Renewal.previous_expiration_at))
    ),
    Invariant(
        "renewals that do not follow the term before them",
        sa.select(_TERMS.c.id).where(_TERMS.c.before != _TERMS.c.previous_expiration_at),
    ),
    Invariant(
        "policies that do not end with their last term",
        _POLICIES.join(_LAST_TERM, _LAST_TERM.c.policy_id == col(Policy.id)).where(
            col(Policy.expiration_at) != _LAST_TERM.c.value
        ),
    ),
    Invariant(
        "renewals that differ from their policy",
        _find_differing(Renewal, Policy, "purchase_id", "customer_id", "product_id"),
    ),
    Invariant(
        "policies refunded by more than was paid",
        _SALES.join(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id))
        .outerjoin(_RENEWED, _RENEWED.c.policy_id == col(Policy.id))
        .where(_REFUNDED.c.value > col(Purchase.total_minor) + sa.func.coalesce(_RENEWED.c.value, 0)),
    ),
    Invariant("refunds above what was paid for their term", _refunds(_any_more_than_paid())),
    Invariant(
        "refunds whose parts are not those of their total",
        _refunds(
            sa.or_(
                _not_whole(),
                sa.and_(col(Refund.total_minor) != _PAID["total_minor"], _divides_otherwise(Refund)),
            )
        ),
    ),
    Invariant(
        "refunds that differ from the term they belong to",
        _refunds(
            sa.or_(
                _any_differs(Refund, Policy, *_OWNER, "purchase_id", "customer_id", "product_id", "provider_id"),
                _any_differs(Refund, Purchase, "product_category_id"),
                col(Renewal.policy_id) != col(Refund.policy_id),
                sa.and_(col(Refund.renewal_id).is_not(None), sa.not_(col(Renewal.status))),
                col(Refund.product_version_id)
                != sa.func.coalesce(col(Renewal.product_version_id), col(Purchase.product_version_id)),
            )
        ),
    ),
    Invariant(
        "declined policies whose premium and commissions did not go back whole",
        _SALES.outerjoin(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id)).where(
            col(Policy.declined_at).is_not(None),
            sa.func.coalesce(_REFUNDED.c.value, 0) != col(Purchase.total_minor),
        ),
    ),
    Invariant(
        "cancelled policies without a refund, not even one of nothing",
        _POLICIES.outerjoin(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id)).where(
            col(Policy.cancelled_at).is_not(None), _REFUNDED.c.policy_id.is_(None)
        ),
    ),
    Invariant(
        "refunds of policies that never ended",
        sa.select(col(Refund.id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .where(col(Policy.cancelled_at).is_(None), col(Policy.declined_at).is_(None)),
    ),
    Invariant(
        "claims that differ from their policy",
        _find_differing(Claim, Policy, "customer_id", "product_id", "provider_id"),
    ),
    Invariant("payments that differ from their claim", _find_differing(ClaimPayment, Claim, "provider_id")),
    Invariant(
        "claims that came to Paid more often than they have payments",
        sa.select(col(ClaimEvent.claim_id))
        .join(Claim, col(Claim.id) == col(ClaimEvent.claim_id))
        .where(col(ClaimEvent.status) == ClaimStatus.PAID, col(Claim.offer_amount_minor) > 0)
        .group_by(col(ClaimEvent.claim_id))
        .having(sa.func.count() > _PAYMENTS),
    ),
    Invariant(
        "claims with a reserve below zero, or with one after their decision",
        sa.select(col(Claim.id))
        .join(ClaimReserve, col(ClaimReserve.claim_id) == col(Claim.id))
        .group_by(col(Claim.id), col(Claim.claim_status))
        .having(sa.or_(_RESERVE < 0, sa.and_(_RESERVE != 0, col(Claim.claim_status).in_(sorted(DECIDED))))),
    ),
    Invariant("answers kept without their work", sa.select(col(KeptAnswer.key)).where(col(KeptAnswer.status) == 0)),
)


_BATCH_SIZE = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that was checked, in words, and one line per violation."""

    rule: str
    faults: list[str]


def list_faults(session: ScopedSession) -> list[str]:
    """List every fault of the store, one line each; empty when all is well.

    Needs the system's scope. Reads the whole store: minutes at a million purchases.
    """
    return [fault for finding in run_rules(session) for fault in finding.faults]


def run_rules(session: ScopedSession) -> Iterator[Finding]:
    """Check every rule in turn and yield its finding."""
    for rule, look in _RULES.items():
        yield Finding(rule, list(look(session)))


def count_rules() -> int:
    """Return the number of rules."""
    return len(_RULES)


# Tables whose rows are neither changed nor removed (contract K15).
_KEPT_TABLES = (
    *("audit_entry", "approval", "approval_lapse", "claim_event", "claim_payment", "payment_payee", "claim_comment"),
    *("claim_referral", "claim_reserve", "credit_note_payment", "party_payment", "payment_settlement", "transfer"),
)
# Of this store alone: what stood in the database before a restore is kept in another schema, with its triggers.
_GUARDS = (
    "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
    " WHERE NOT tgisinternal AND tgenabled <> 'D' AND relnamespace = quote_ident(current_schema())::regnamespace"
)
_WITHOUT_TEXTS = frozenset({"approval", "payment_settlement"})


def _find_missing_guards(session: ScopedSession) -> Iterator[str]:
    """Tables that only grow and have lost a trigger that keeps them, with their rows and sum (contract K15)."""
    is_sqlite = session.connection().dialect.name == "sqlite"
    known = "SELECT name FROM sqlite_master WHERE type = 'trigger'" if is_sqlite else _GUARDS
    there = {row[0] for row in session.connection().exec_driver_sql(known)}
    if session.count_rows(tables.ErasureWindow):
        yield "the window of an erasure stands open: the texts of tables that only grow can be rewritten"
    for table in _KEPT_TABLES:
        for act in ("update", "delete", *(() if table in _WITHOUT_TEXTS else ("texts",))):
            if f"{table}_{act}" not in there:
                yield f"nothing in the database keeps {_sum_rows(session, table)}: its trigger for {act} is gone"


def _sum_rows(session: ScopedSession, table: str) -> str:
    """Return the rows of a table in words, with their sum where they have one."""
    known = tables.metadata().tables[table]
    amount = next((known.c[name] for name in ("amount_minor", "net_minor", "change_minor") if name in known.c), None)
    total = sa.func.count() if amount is None else sum_of(amount)
    rows, minor = session.execute(sa.select(sa.func.count(), total).select_from(known)).one()
    words = f"the {rows:,} rows of {table}"
    return words if amount is None else f"{words}, {money.format_naira(int(minor))}"


def _sqlite_version(session: ScopedSession) -> str:
    return str(session.connection().exec_driver_sql("SELECT sqlite_version()").scalar_one())


def _find_database_faults(session: ScopedSession) -> Iterator[str]:
    connection = session.connection()
    current, expected = versions.version_of(connection), versions.newest()
    if current != expected:
        yield f"the store stands at version {current}, this release wants {expected}"
    if connection.dialect.name != "sqlite":
        return
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    if mode == "wal" and not wal_is_safe():
        yield f"SQLite {_sqlite_version(session)} can corrupt the write-ahead log that this store uses"
    for row in connection.exec_driver_sql("PRAGMA integrity_check(5)"):
        if row[0] != "ok":
            yield f"the file is damaged: {row[0]}"
    for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield f"a row of {row[0]} points to nothing in {row[2]}"


@cache
def _count_violations(invariant: Invariant) -> AnySelect:
    return sa.select(sa.func.count()).select_from(invariant.violations.subquery())


def _find_violations(session: ScopedSession, invariant: Invariant) -> Iterator[str]:
    count = session.execute(_count_violations(invariant)).scalar_one()
    if count:
        example = session.execute(invariant.violations.limit(1)).one()
        yield f"{count:,} {invariant.description}, such as {' '.join(map(str, example))}"


def _find_history_faults(session: ScopedSession) -> Iterator[str]:
    """Claims whose history is not a path of allowed transitions, or does not end at the current status."""
    rows = session.execute(
        sa.select(col(Claim.id), col(Claim.claim_status), col(ClaimEvent.status))
        .outerjoin(ClaimEvent, col(ClaimEvent.claim_id) == col(Claim.id))
        .order_by(col(Claim.id), col(ClaimEvent.created_at), col(ClaimEvent.id))
    )
    for (claim_id, current_status), events in groupby(rows, key=lambda row: (row.id, row.claim_status)):
        history = [event.status for event in events if event.status is not None]
        if not history:
            yield f"claim {claim_id} has no history"
        elif history[-1] != current_status:
            yield f"claim {claim_id} stands at {current_status}, its history at {history[-1]}"
        for start, to in pairwise(history):
            if claim_states.TRANSITIONS.find(start, to) is None:
                yield f"claim {claim_id} moved from {start} to {to}, which no move allows"


def _find_clock_faults(session: ScopedSession) -> Iterator[str]:
    """Claims whose stored clock differs from the one computed from the history (contract C9)."""
    columns = (Claim.id, Claim.claim_status, Claim.created_at, Claim.clock_from, Claim.clock_stopped_at)
    now = clock.now()
    for rows in session.execute(sa.select(*map(col, columns)).order_by(col(Claim.id))).partitions(_BATCH_SIZE):
        expected = claim_clock.load(session, [row.id for row in rows], now=now)
        for row in rows:
            stored = claim_clock.compute_from_stored(
                lodged_at=row.created_at,
                begins_at=row.clock_from,
                stopped_at=row.clock_stopped_at,
                status=row.claim_status,
                now=now,
            )
            if row.id in expected and expected[row.id] != stored:
                yield f"claim {row.id} keeps another clock than its history gives"


def _find_file_faults(session: ScopedSession) -> Iterator[str]:
    for row in session.execute(sa.select(col(UploadedFile.code), col(UploadedFile.sha256))):
        path = blob_storage.path_of(row.code)
        if not path.is_file():
            yield f"file {row.code} is missing"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != row.sha256:
            yield f"file {row.code} was changed"


def list_stray_files(session: ScopedSession) -> list[Path]:
    """List files without a row, left by interrupted uploads: harmless and unreachable.

    Files younger than an hour are left out, as their row may still follow.
    """
    codes = set(session.execute(sa.select(col(UploadedFile.code))).scalars())
    return sorted(blob_storage.strays(codes, minutes=60))


def _build_rule(invariant: Invariant) -> Callable[[ScopedSession], Iterable[str]]:
    return lambda session: _find_violations(session, invariant)


_RULES: dict[str, Callable[[ScopedSession], Iterable[str]]] = {
    "The database is whole and of this release": _find_database_faults,
    **{f"No {invariant.description}": _build_rule(invariant) for invariant in INVARIANTS},
    "The daybook has the sums of the sales": lambda session: daily_rollup.list_faults(session.connection()),
    "Every sale is by the commission share that its distributor had": shares.find_share_faults,
    "Every movement is its row, and its premium the sum of its shares": proofs.find_movement_faults,
    "Accounts that move money are as the log has them": role_grants.find_account_faults,
    "Adjustments stay within what they correct": proofs.find_adjustment_faults,
    "No limit of finance is split over several acts": proofs.find_split_limits,
    "Movements have the sums of the daybook": proofs.find_rollup_faults,
    "Merged customers are of one distributor and mode, and in no chain": merging.find_merge_faults,
    "Every bordereau is its rows, its hash, and leaves nothing out": proofs.find_bordereau_faults,
    "Every refund has its credit note, in numbers without gaps": payment_proofs.find_credit_note_faults,
    "Every loan book was sold as its rows say": books.find_book_faults,
    "Every reconciliation's differences make both sides equal": proofs.find_reconciliation_faults,
    "The journal of every closed month is as it was, and balances": proofs.find_month_faults,
    "Every payment is what it settles, and the state of each statement follows": payment_proofs.find_payment_faults,
    "Every statement is its lines, its hash, and one of a chain": proofs.find_statement_faults,
    "Every file of claim payments is the payments made from it": proofs.find_file_faults,
    "No loss from before its sale was paid without a reason": claim_invariants.find_paid_for_an_earlier_loss,
    "No loss outside its cover was paid without a reason": claim_invariants.find_paid_outside_cover,
    "Nothing was paid on an approval that had lapsed": claim_invariants.find_paid_on_a_lapse,
    "What a claim was paid, somebody approved": claim_invariants.find_paid_without_approval,
    "Nobody paid a claim whose approval, payee or estimate was theirs": claim_invariants.find_two_links,
    "Nobody approved a claim of a payee whom they had named, or on a cover of theirs": claim_invariants.find_own_parts,
    "Nobody noted the return of a claim that they approved or paid": claim_invariants.find_own_returns,
    "Every approved claim is what was approved": claim_invariants.find_changed_since_approval,
    "The claims of a policy come to no more than is owed": claim_invariants.find_more_than_owed,
    "Nobody approves two losses of a policy near each other": claim_invariants.find_second_losses,
    "Nobody approves one loss on two policies": claim_invariants.find_losses_on_two_policies,
    "No claim was approved after it was erased with its customer": claim_invariants.find_approved_after_erasure,
    "No estimate is above what was claimed without a note": claim_invariants.find_unexplained_estimates,
    "Nobody approved what they had declined": claim_invariants.find_own_appeals,
    "More than before a decline takes a new paper": claim_invariants.find_raised_appeals,
    "No two claims were paid on one paper without a word": claim_invariants.find_paid_on_one_paper,
    "Nobody decided on a claim of their own": officers.find_own_decisions,
    "Nobody decided on a refund of their own": payment_proofs.find_own_decisions,
    "No refund goes to the customer and to the parties": payment_proofs.find_corrected_faults,
    "No refund goes to another payee or account by one person": payment_proofs.find_other_payees,
    "What one person sold and ended, two approve to give back": payment_proofs.find_sold_and_ended,
    "No limit on refunds is split over several": payment_proofs.find_split_limits,
    "No refund is given back by us and by the distributor": payment_proofs.find_given_back_twice,
    "Nobody decided on a statement or payment of their own": parties.find_own_decisions,
    "Every approval was given on the desk": approvals.find_forged,
    "No second submission of a paid claim was paid": claim_invariants.find_paid_second_submissions,
    "No claim was decided on by the command line": claim_invariants.find_decided_by_command,
    "Every payment reference can be typed": payment_proofs.find_odd_references,
    "Every statement and payout is what was approved": payment_proofs.find_unapproved,
    "Every rate is what two admins confirmed": rate_changes.find_unconfirmed,
    "Every share of a distributor is what two admins confirmed": share_changes.find_unconfirmed,
    "Terms are what two admins confirmed": agreements.find_unconfirmed,
    "Every rate of tax is what two of finance confirmed": tax_rates.find_unconfirmed,
    "Every transfer is the payments that it made": payment_proofs.find_transfer_faults,
    "Each transfer received settles one debt": payment_proofs.find_received_twice,
    "The bank's answer to a payment is not its preparer's": payment_proofs.find_own_answers,
    "Who proposed an account has no part in its payouts": payment_proofs.find_own_accounts,
    "Who noted a return has no part in paying it again": payment_proofs.find_own_returns,
    "The database keeps the rows that stay": _find_missing_guards,
    "Every claim came to where it stands by allowed moves": _find_history_faults,
    "The clock of every claim is the one of its history": _find_clock_faults,
    "What claims were paid is the same in every figure and export": payment_proofs.find_claim_payment_faults,
    "Every file is there and unchanged": _find_file_faults,
    "The audit log is unbroken": audit.find_broken_links,
}
