"""The demonstration: the same for the same seed, whole or resumed, and business like any other."""

import contextlib
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, demo, money, seal
from core.covers import registry
from core.covers import request as requests
from core.covers.claims import lines
from core.demo import accounts, portfolio
from core.demo.market.offers import on_the_shelf
from core.demo.random_source import dice
from core.desk import store_check
from core.errors import StateForbids
from core.services.audit import demonstration
from core.services.claims.intake import submitted
from core.services.claims.workflow.transitions import OF_WHAT_IS_SEEN
from core.services.people import credentials, personal
from core.services.policies import certificates
from core.services.renewals import renewals
from core.services.renewals.renewals import compute_window
from core.services.selling.buying import Seller
from core.settings import ROOT, settings
from core.states.claims import AskedRole
from core.store.access import Scope, ScopedSession, Store
from core.store.schema import migrating
from core.store.schema.tables import (
    Claim,
    ClaimEvent,
    ClaimQuestion,
    ClaimReferral,
    ClaimTask,
    Customer,
    Policy,
    Product,
    Purchase,
    Staff,
    Submission,
)
from tests.conftest import Partner, make_partner
from tests.prefilled import demonstration_copy
from tests.services import selling

UNTIL = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
PURCHASES = 120
CLAIMANT = (Claim.claim_owner_first_name, Claim.claim_owner_email, Claim.claim_owner_phone_number)
STAND_INS = re.compile(r"Q[a-z]+q|QENGINE|QCHASSIS|QSERIAL|QQQ|QX97|9753108642|%\(|Zamfara|High Chief|Otunba")


def write(store: Store, purchases: int = PURCHASES, seed: int = 1) -> demo.Summary:
    return demo.write(store, purchases=purchases, seed=seed, until=UNTIL)


def written(store: Store, purchases: int = PURCHASES) -> demo.Summary:
    """Like `write`, for a test of what is written and not of how it gets there."""
    return demonstration_copy(store, purchases=purchases, seed=1, until=UNTIL)


def read(store: Store, query: Any) -> list[Any]:
    with store.reading(Scope.system()) as session:
        return list(session.execute(query))


def rows_of(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table; sealed values, which differ each time they are sealed, as what they hold."""
    found = {}
    for table in SQLModel.metadata.sorted_tables:
        place = next((n for n, column in enumerate(table.columns) if column.name == "sealed"), None)
        rows = [tuple(row) for row in read(store, sa.select(table))]
        if place is not None:
            rows = [(*row[:place], str(seal.unseal(row[place])), *row[place + 1 :]) for row in rows]
        found[table.name] = sorted(rows, key=repr)
    return found


@pytest.fixture
def twin(sqlite_template: Path, tmp_path: Path) -> Iterator[Store]:
    """A second fresh store, always on SQLite."""
    path = tmp_path / "twin.db"
    shutil.copy(sqlite_template, path)
    store = Store(f"sqlite:///{path}")
    yield store
    store.close()


@pytest.mark.both_databases
def test_same_seed_writes_the_same_rows_into_either_database(store: Store, twin: Store) -> None:
    assert write(store) == write(twin)
    ours, theirs = rows_of(store), rows_of(twin)
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_another_seed_writes_another_business(store: Store, twin: Store) -> None:
    written(store), write(twin, seed=2)
    assert rows_of(store)["customer"] != rows_of(twin)["customer"]


def test_writing_again_changes_nothing(store: Store) -> None:
    first = written(store)
    before = rows_of(store)
    again = demo.write(store, purchases=PURCHASES, seed=1)
    assert again.already_there
    assert not first.already_there
    assert (again.purchases, again.until) == (PURCHASES, UNTIL)
    assert rows_of(store) == before


def test_another_demonstration_is_refused(store: Store) -> None:
    written(store)
    with pytest.raises(StateForbids, match=f"{PURCHASES} purchases, seed 1"):
        write(store, purchases=PURCHASES + 1)


def test_store_with_its_own_business_is_refused(store: Store, partner: Partner) -> None:
    selling.sell(store, partner, registry.COVERS[0])
    before = rows_of(store)
    with pytest.raises(StateForbids, match="business of its own"):
        write(store)
    assert rows_of(store) == before


@pytest.mark.both_databases
def test_killed_run_leaves_a_sound_store_and_goes_on(
    store: Store, twin: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A quarter of it is the first.
    monkeypatch.setattr(portfolio, "_SMALLEST", 160)
    whole = portfolio.write_chunk

    def killed(session: ScopedSession, chunk: portfolio.Chunk) -> None:
        whole(session, chunk)
        if chunk.upto > 40:
            raise KeyboardInterrupt

    monkeypatch.setattr(portfolio, "write_chunk", killed)
    with pytest.raises(KeyboardInterrupt):
        write(store)
    assert len(read(store, sa.select(col(Purchase.id)))) == 40
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
        assert demonstration.is_demonstration(session)
    monkeypatch.setattr(portfolio, "write_chunk", whole)
    write(store), write(twin)
    ours, theirs = rows_of(store), rows_of(twin)
    assert [name for name in ours if ours[name] != theirs[name]] == []


@pytest.mark.exhaustive
def test_a_large_one_is_made_by_another_process_and_indexed_at_the_end_and_is_the_same(
    store: Store, twin: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(twin)
    monkeypatch.setattr(portfolio, "_WORTH_A_PROCESS", PURCHASES)
    write(store)
    ours, theirs = rows_of(store), rows_of(twin)
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert migrating.differences(store) == []


@pytest.mark.both_databases
def test_indexes_are_back_after_an_end_in_between(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "_WORTH_A_PROCESS", 0)
    monkeypatch.setattr(portfolio, "making", lambda _: contextlib.nullcontext(portfolio.chunks))
    monkeypatch.setattr(portfolio, "write_chunk", stop)
    with pytest.raises(KeyboardInterrupt):
        write(store)
    assert migrating.differences(store) == []


def stop(_session: ScopedSession, _chunk: portfolio.Chunk) -> None:
    raise KeyboardInterrupt


def test_every_document_of_a_claim_has_a_specimen_of_its_own() -> None:
    drawn = {path.stem for path in (ROOT / "data" / "demonstration" / "specimens").iterdir()}
    required = {name for line in lines.LINES for incident in line.incidents for name in line.list_required(incident)}
    assert {name for name in required if not name.endswith("image")} - drawn == set()
    assert {"loan_offer_letter", "medical_report", "employment_termination_letter", "death_certificate"} <= drawn


def test_a_claim_that_was_approved_has_its_loss_within_the_cover(store: Store) -> None:
    # A moment and a seed at which a claim that was lodged after the cover was paid for a loss after it.
    with clock.freeze(datetime(2026, 11, 26, 18, 49, tzinfo=UTC)):
        demo.write(store, purchases=400, seed=14)
        with store.reading(Scope.system()) as session:
            assert store_check.list_faults(session) == []


def test_store_without_a_demonstration_says_so(store: Store) -> None:
    with store.reading(Scope.system()) as session:
        assert not demonstration.is_demonstration(session)


def test_every_request_is_worded_by_its_cover_and_nothing_of_a_stand_in_is_left(store: Store) -> None:
    with store.reading(Scope.system()) as session:
        offers = on_the_shelf(session, UNTIL)
    assert {offer.cover for offer in offers if offer.cover} == set(registry.COVERS)
    thrown = dice(1, "tests")
    for offer in offers:
        for variant in [offer.variant(thrown) for _ in range(5)]:
            texts = (variant.submitted, variant.payload, variant.explained, variant.twin or "")
            assert not STAND_INS.search(re.sub(r"%\([a-z_]+\)s", "", " ".join(texts))), texts
            assert variant.split.total_minor > 0


def test_policies_hold_no_stand_in_and_no_open_personal_number(store: Store) -> None:
    written(store)
    for typed, payload, explained, sealed in read(
        store, sa.select(col(Policy.submitted), col(Policy.payload), col(Policy.explained), col(Policy.sealed))
    ):
        text = f"{typed} {payload} {explained}"
        assert not STAND_INS.search(text), text
        assert not any(number in text for number in seal.unseal(sealed).values())


def test_people_are_invented(store: Store) -> None:
    written(store)
    people = read(store, sa.select(col(Customer.email), col(Customer.phone_number)))
    assert all(re.search(r"@(example\.(com|net|org)|post\.example)$", email) for email, _ in people)
    assert all(re.fullmatch(r"(0|\+234)[789]00\d{7}", phone) for _, phone in people)


def test_business_is_believable(store: Store) -> None:
    """One portfolio, looked at as the desk would."""
    counts = written(store, purchases=2_000)
    assert counts.purchases == counts.policies == 2_000
    by_distributor = Counter(row[0] for row in read(store, sa.select(col(Purchase.distributor_id))))
    assert len(by_distributor) == 12
    assert 0.25 < max(by_distributor.values()) / 2_000 < 0.36
    assert 0.05 < sum(not row[0] for row in read(store, sa.select(col(Purchase.is_live)))) / 2_000 < 0.11
    sold = [row[0] for row in read(store, sa.select(col(Purchase.created_at)))]
    assert min(sold) > UNTIL - timedelta(days=732)
    assert max(sold) < UNTIL
    half = UNTIL - timedelta(days=365)
    assert sum(at > half for at in sold) > 1.2 * sum(at < half for at in sold)
    weekdays = Counter(clock.to_lagos_day(at).weekday() for at in sold)
    assert weekdays[6] < weekdays[0] / 2
    states = {row[0] for row in read(store, sa.select(col(Submission.state)))}
    assert {"delegated", "accepted"} <= states
    sources = {row[0] for row in read(store, sa.select(col(Purchase.request_source)))}
    assert sources == {"api", "desk", "bulk"}
    assert counts.renewals > 200
    assert 700 < counts.customers < 1_500


def test_claims_stand_in_every_status(store: Store) -> None:
    written(store, purchases=2_000)
    assert {row[0] for row in read(store, sa.select(col(Claim.claim_status)))} == set(submitted.CLAIM_STATUSES)
    reasons = {row[0] for row in read(store, sa.select(col(Claim.decline_reason)))}
    assert reasons <= {*submitted.DECLINE_REASONS, submitted.NOT_DECLINED}
    flags = {flag for row in read(store, sa.select(col(Claim.flags))) for flag in row[0]}
    assert flags <= set(submitted.FLAG_DESCRIPTIONS)
    giver = sa.select(ClaimReferral.asks_role, Staff.roles).join(Staff, col(Staff.id) == col(ClaimReferral.staff_id))
    referred = read(store, giver)
    who = [(role, "supervisor" in roles) for role, roles in referred]
    assert set(who) == {(AskedRole.SUPERVISOR, False), (AskedRole.FINANCE, True)}, "no supervisor refers to supervisors"


def test_only_what_somebody_can_look_at_is_inspected_or_repaired(store: Store) -> None:
    written(store)
    with store.reading(Scope.system()) as session:
        seen = sa.select(col(ClaimEvent.claim_id)).where(col(ClaimEvent.status).in_(OF_WHAT_IS_SEEN))
        claims = list(session.execute(sa.select(Claim).where(col(Claim.id).in_(seen))).scalars())
    assert claims
    assert not {claim.claim_type for claim in claims if not submitted.is_inspected(claim)}


def test_nobody_reports_their_own_death_and_what_is_asked_fits_the_loss(store: Store) -> None:
    written(store, purchases=2_000)
    died = col(Claim.claim_description).startswith("Death")
    names = (Policy.first_name, Policy.email, Policy.phone), CLAIMANT
    insured, claimant = ([col(name) for name in each] for each in names)
    query = sa.select(*insured, *claimant).join(Policy, col(Policy.id) == col(Claim.policy_id)).where(died)
    deaths = read(store, query)
    assert deaths
    for first, email, phone, *theirs in deaths:
        assert {first, email, phone}.isdisjoint(theirs)
    words: dict[str, set[str]] = {}
    for of_claim, text in ((ClaimTask.claim_id, ClaimTask.text), (ClaimQuestion.claim_id, ClaimQuestion.text)):
        for line, sentence in read(
            store, sa.select(col(Claim.claim_type), col(text)).join(Claim, col(Claim.id) == of_claim)
        ):
            words.setdefault(line, set()).add(sentence)
    for line, sentences in words.items():
        assert line == "Credit life" or not re.search("lender|loan|offer letter", " ".join(sentences)), line
        assert line in {"Motor", "Contents", "Marine"} or "surveyor" not in " ".join(sentences), line
    assert len(words) > 4


def test_product_that_is_no_longer_sold_was_sold_in_the_first_year(store: Store) -> None:
    written(store, purchases=600)
    query = sa.select(col(Purchase.created_at)).join(Product, col(Product.id) == col(Purchase.product_id))
    sold = [row[0] for row in read(store, query.where(col(Product.active).is_(False)))]
    assert sold
    assert max(sold) < UNTIL - timedelta(days=364)


def test_next_sale_gets_the_next_number(store: Store) -> None:
    written(store)
    partner = make_partner(store, "Swift Lenders")
    for cover in registry.COVERS:
        selling.sell(store, partner, cover)
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_policy_of_the_demonstration_can_be_renewed_for_what_it_cost(store: Store) -> None:
    written(store, purchases=600)
    renewed = set()
    with clock.freeze(UNTIL), store.writing(Scope.system()) as session:
        for policy, total in session.execute(_due()).all():
            start_on, ends_on = clock.to_lagos_day(policy.start_at), clock.to_lagos_day(policy.expiration_at)
            if policy.product_id in renewed or not compute_window(start_on, ends_on, {}).contains(clock.today()):
                continue
            seller = Seller(distributor_id=policy.distributor_id, is_live=policy.is_live, actor="tests")
            assert money.to_minor(renewals.renew(session, policy.id, seller).price.total) == total
            renewed.add(policy.product_id)
        assert len(renewed) > 8
        assert store_check.list_faults(session) == []


def _due() -> Any:
    """Policies of renewable products in their first term, with what was paid for them."""
    return (
        sa.select(Policy, col(Purchase.total_minor))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .where(col(Product.renewable), col(Policy.version) == 1, col(Policy.activated))
        .order_by(col(Policy.created_at))
    )


def test_submitted_data_can_be_read_again_by_its_cover(store: Store) -> None:
    written(store)
    query = sa.select(Policy, Product).join(Product, col(Product.id) == col(Policy.product_id))
    with store.reading(Scope.system()) as session:
        for policy, product in session.execute(query):
            cover = registry.get_cover(product.prefix, product.route_name)
            if cover is None:
                continue
            submitted = personal.restore_personal_numbers(policy.submitted, policy.sealed, "submitted")
            with clock.freeze(policy.created_at):
                request = requests.validate(cover.request, submitted)
            assert cover.registration(request) == policy.plate_key
            assert cover.device_number(request) == policy.device_serial_number
            risk = cover.risk_key(request)
            assert (risk and seal.keyed_hash("risk", risk)) == policy.risk_hash
            assert cover.duplicate_key(request) == policy.twin_key
            assert request.first_name == policy.first_name


def test_certificates_of_the_demonstration_open(store: Store) -> None:
    written(store)
    codes = [row[0] for row in read(store, sa.select(col(Policy.certificate_code))) if row[0]]
    with store.reading(Scope.system()) as session:
        for code in codes[::20]:
            assert certificates.get_by_code(session, code).policy_number


def test_accounts_can_sign_in_and_are_added_once(store: Store) -> None:
    written(store)
    password = settings().demo_password.get_secret_value()
    for _ in range(2):
        with store.writing(Scope.system()) as session:
            accounts.add_accounts(session)
    with store.reading(Scope.system()) as session:
        for account in accounts.DEMO_ACCOUNTS:
            assert credentials.verify_password(session, account.email, password)
    saved = read(store, sa.text("SELECT count(*) FROM audit_entry WHERE action = 'staff saved'"))
    assert saved[0][0] == len(accounts.DEMO_ACCOUNTS)
