"""Endorsements: versions of a policy in force, which cost nothing and leave what was sold as it is (contract S21)."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command

from core import clock, ids
from core.covers import endorsements as endorsable
from core.covers.claims.lines import MotorClaimRequest
from core.covers.cover import Cover
from core.covers.fields import build_example
from core.covers.insurers import insurer_a, insurer_b, insurer_d
from core.covers.pricing import offer
from core.covers.registry import COVERS
from core.covers.request import validate
from core.desk import sale as sale_view
from core.errors import DuplicateRisk, InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.intake import lodging
from core.services.claims.workflow import judgement as claim_judgement
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import certificates, changes, policies
from core.services.sales.search import select_policies
from core.services.selling import endorsing
from core.services.selling.buying import Sale
from core.store.access import Owner, Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import (
    AuditEntry,
    Certificate,
    Claim,
    Customer,
    EndorsementNotice,
    Policy,
    PolicyEndorsement,
    Purchase,
)
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import sell

SYSTEM, LIVE = Scope.system(), Scope.staff(is_live=True)
PLATE = "registration_number"


@pytest.fixture
def people(store: Store) -> Mapping[str, Person]:
    with store.writing(SYSTEM) as session:
        for role in ("operations", "finance"):
            session.add(staff.Staff(email=f"{role}@d.example", name=role, roles=[role]))
    with store.reading(SYSTEM) as session:
        return {role: staff.get_by_email(session, f"{role}@d.example") for role in ("operations", "finance")}


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    with clock.freeze(clock.now() - timedelta(days=20)):
        return sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)


def row(store: Store, entity: Any, id_: Any) -> Any:
    with store.reading(SYSTEM) as session:
        found = session.get_one(entity, id_)
        session.expunge(found)
        return found


def endorse(store: Store, sale: Sale, by: Person, *, days_back: int = 0, **fields: Any) -> int:
    version = fields.pop("version", None) or row(store, Policy, sale.policy_id).version
    reason, requester = fields.pop("reason", "New plates"), fields.pop("asked", "The owner, by phone")
    with store.writing(fields.pop("scope", LIVE)) as session:
        return endorsing.endorse(
            session,
            sale.policy_id,
            fields,
            effective_on=clock.add_days(clock.today(), -days_back),
            reason=reason,
            requested_by=requester,
            expected_version=version,
            by=by,
        )


def test_a_policy_is_found_by_what_it_was_endorsed_to(store: Store, sale: Sale, people: Mapping[str, Person]) -> None:
    endorse(store, sale, people["operations"], last_name="Kowálczyk", email="new.mail@x.example")
    for text in ("kowalczyk", "Kowálczyk ama", "New.Mail@x.example", "Eze"):
        for column, id_ in ((Policy.id, sale.policy_id), (Policy.purchase_id, sale.purchase_id)):
            with store.reading(LIVE) as session:
                assert list(session.execute(select_policies(column, text)).scalars()) == [id_], text


@pytest.mark.both_databases
def test_a_store_of_before_finds_a_policy_by_every_name_that_it_had(
    store: Store, sale: Sale, people: Mapping[str, Person]
) -> None:
    by = people["operations"]
    endorse(store, sale, by, days_back=3, last_name="Kowálczyk")
    endorse(store, sale, by, days_back=2, registration_number="ABC-123XY")
    endorse(store, sale, by, days_back=1, last_name="Obi", email="New.Mail@x.example")
    query = sa.select(PolicyEndorsement.number, PolicyEndorsement.name_key, PolicyEndorsement.email_key)
    with store.reading(LIVE) as session:
        written = sorted(tuple(each) for each in session.execute(query))
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0088")
    for _ in range(2):
        migrating.migrate(store)
    with store.reading(LIVE) as session:
        assert sorted(tuple(each) for each in session.execute(query)) == written
        assert list(session.execute(select_policies(Policy.id, "kowalczyk")).scalars()) == [sale.policy_id]
    assert migrating.differences(store) == []


def faults(store: Store, sale: Sale, by: Person, **fields: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refused:
        endorse(store, sale, by, **fields)
    return {fault.field: fault.message for fault in refused.value.faults}


def test_an_endorsement_changes_the_policy_and_nothing_that_was_sold(
    store: Store, partner: Partner, sale: Sale, people: Mapping[str, Person]
) -> None:
    by, before = people["operations"], row(store, Policy, sale.policy_id)
    purchase, customer = row(store, Purchase, sale.purchase_id), row(store, Customer, before.customer_id)
    fields = {
        PLATE: "abc-777 xy",
        "last_name": "Obi",
        "phone_number": "08099887766",
        "address": before.submitted["address"],
    }
    assert endorse(store, sale, by, **fields) == 1
    after = row(store, Policy, sale.policy_id)
    assert (after.plate_key, after.last_name, after.phone) == ("ABC777XY", "Obi", "08099887766")
    assert (after.submitted, after.payload, after.version) == (before.submitted, before.payload, 2)
    kept = ("total_minor", "start_at", "expiration_at", "policy_number", "genius_price_minor", "customer_id")
    assert all(getattr(after, name) == getattr(before, name) for name in kept if hasattr(after, name))
    assert row(store, Purchase, sale.purchase_id).model_dump() == purchase.model_dump()
    assert row(store, Customer, before.customer_id).model_dump() == customer.model_dump()
    assert endorse(store, sale, by, email="obi@people.example") == 2
    with store.reading(LIVE) as session:
        first, second = policies.list_endorsements(session, sale.policy_id)
        found = policies.get_policy(session, sale.policy_id)
        entries = [entry for entry in session.execute(sa.select(AuditEntry)).scalars() if "endors" in entry.action]
    assert [change["field"] for change in first.changes] == [PLATE, "last_name", "phone_number"], "address is as it was"
    assert first.changes[0] == {"field": PLATE, "before": before.submitted[PLATE], "after": "abc-777 xy"}
    assert (first.premium_minor, first.days_back, first.made_by, first.told_at) == (0, 0, "operations", None)
    assert second.changes == [
        {"field": "email", "before": before.submitted["email"], "after": "obi@people.example"},
    ]
    assert [made["number"] for made in found["endorsements"]] == [1, 2]
    assert found["endorsements"][0]["premium"] == "0.00"
    assert (found["last_name"], found["email"]) == ("Obi", "obi@people.example")
    assert found["meta"]["vehicle_registration_number"] == "ABC777XY"
    assert found["meta"]["payload"]["reg_no"] == before.submitted[PLATE], "what the insurer was sent stays"
    assert [entry.after["endorsement"] for entry in entries] == [1, 2]
    assert "Obi" not in json.dumps([entry.after for entry in entries]), "the log names fields and no values"


def test_a_claim_begins_with_what_was_endorsed(store: Store, sale: Sale, people: Mapping[str, Person]) -> None:
    endorse(store, sale, people["operations"], **{PLATE: "ABC-777XY", "phone_number": "08099887766"})
    with store.reading(LIVE) as session:
        (found,) = lodging.find_policies(session, "ABC-777XY")
    assert (found.known[PLATE], found.phone) == ("ABC-777XY", "08099887766")
    assert ("Registration number", "ABC-777XY") in found.cover


def test_a_purchase_shows_what_is_insured_now_beside_what_was_sold(
    store: Store, sale: Sale, people: Mapping[str, Person]
) -> None:
    endorse(store, sale, people["operations"], **{PLATE: "ABC-777XY"})
    with store.reading(LIVE) as session:
        found = sale_view.get_sale(session, sale.purchase_id)
    assert ("Registration number", "ABC-777XY") in found.insured
    assert found.submitted[PLATE] == "LSD-123AB"


def test_the_certificate_shows_the_present_version_and_one_of_an_earlier_term_shows_its_own(
    store: Store, sale: Sale, people: Mapping[str, Person]
) -> None:
    code = row(store, Policy, sale.policy_id).certificate_code
    with store.reading(LIVE) as session:
        assert certificates.get_by_code(session, code).endorsement is None
    endorse(store, sale, people["operations"], vehicle_color="Grey", last_name="Obi")
    with store.reading(LIVE) as session:
        facts = certificates.get_by_code(session, code)
    assert dict(facts.covered)["Colour"] == "Grey"
    assert facts.holder.endswith(" Obi")
    assert facts.endorsement == (1, clock.today())
    assert certificates.render_certificate(facts).startswith(b"%PDF")
    with store.writing(SYSTEM) as session:
        # A term that was over before the change keeps what it certified.
        today = clock.midnight(clock.today())
        over = {"start_at": today - timedelta(days=400), "expiration_at": today - timedelta(days=1)}
        session.execute(sa.update(Certificate).values(over))
    with store.reading(LIVE) as session:
        facts = certificates.get_by_code(session, code)
    assert facts.endorsement is None
    assert dict(facts.covered)["Colour"] == "Black"


def test_only_declared_fields_change_and_each_is_validated_as_in_its_sale(
    store: Store, sale: Sale, people: Mapping[str, Person]
) -> None:
    by = people["operations"]
    wrong = {PLATE: "", "email": "x", "first_name": "A", "vehicle_color": "Blurple", "phone_number": "12"}
    assert set(faults(store, sale, by, **wrong)) == set(wrong)
    for name in ("total", "expiration_date", "premium", "vehicle_make", "product_id", "year_of_manufacture"):
        assert faults(store, sale, by, **{name: "1"}) == {name: "cannot be changed by an endorsement"}
    same = row(store, Policy, sale.policy_id).submitted
    assert set(faults(store, sale, by, **{PLATE: same[PLATE], "reason": "", "asked": "x"})) == {
        *("changes", "reason", "requested_by")
    }
    assert "effective_on" in faults(store, sale, by, days_back=21, last_name="Obi")
    assert "effective_on" in faults(store, sale, by, days_back=-1, last_name="Obi")
    endorse(store, sale, by, days_back=5, last_name="Obi")
    assert "effective_on" in faults(store, sale, by, days_back=6, last_name="Eze"), "versions follow each other"
    assert row(store, Policy, sale.policy_id).version == 2


@every_case("cover", COVERS, ids=lambda cover: cover.key)
def test_no_endorsable_field_is_part_of_a_price_or_a_term(cover: Cover[Any]) -> None:
    other = {
        **dict.fromkeys(("first_name", "last_name"), "Zainab"),
        **dict.fromkeys(("phone", "phone_number"), "08099887766"),
        **dict.fromkeys(("registration_number", "vehicle_registration_number"), "ZZZ-999ZZ"),
        "email": "zz@people.example",
        "address": "99 Another Road, Kano",
        "vehicle_color": "White",
        "chassis_number": "ZZ1",
        "engine_number": "ZZ2",
    }
    with clock.freeze(shipped.STILL):
        changed = {name: other[name] for name in endorsable.list_fields(cover)}
        sold, endorsed = shipped.request(cover), shipped.request(cover, **changed)
        rates = shipped.rates(sold.product_id)
        assert offer(cover, sold, rates) == offer(cover, endorsed, rates)
    assert endorsable.validate_changes(cover, changed).model_dump() == changed


def test_who_may_and_when(store: Store, partner: Partner, sale: Sale, people: Mapping[str, Person]) -> None:
    by = people["operations"]
    with pytest.raises(NotAllowed):
        endorse(store, sale, people["finance"], last_name="Obi")
    with pytest.raises(StaleVersion):
        endorse(store, sale, by, version=7, last_name="Obi")
    pending = sell(store, partner, insurer_b.COMPREHENSIVE, is_live=True)
    later = clock.add_days(clock.today(), 9).isoformat()
    waiting = sell(store, partner, insurer_d.MINI_COMPREHENSIVE, is_live=True, insurance_start_date=later)
    for other, stage in ((pending, "pending"), (waiting, "not started")):
        with pytest.raises(StateForbids, match=f"A policy that is {stage} cannot be endorsed"):
            endorse(store, other, by, last_name="Obi")
    with store.writing(LIVE) as session:
        changes.cancel(session, sale.policy_id, actor="x", reason="Sold", by_insurer=False, expected_version=1)
    with pytest.raises(StateForbids, match="cancelled cannot be endorsed"):
        endorse(store, sale, by, last_name="Obi")


def test_a_plate_is_insured_once_and_the_old_one_is_free_again(
    store: Store, partner: Partner, sale: Sale, people: Mapping[str, Person]
) -> None:
    by = people["operations"]
    other = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="XYZ-111AA")
    with pytest.raises(DuplicateRisk) as refused:
        endorse(store, sale, by, **{PLATE: "xyz 111 aa"})
    assert refused.value.detail["policy_id"] == str(other.policy_id)
    old = row(store, Policy, sale.policy_id).submitted[PLATE]
    endorse(store, sale, by, **{PLATE: "NEW-222BB"})
    with pytest.raises(DuplicateRisk):
        sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="new222bb")
    sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number=old)
    with pytest.raises(DuplicateRisk):
        endorse(store, sale, by, **{PLATE: old})


def test_a_claim_is_judged_by_what_was_insured_before_the_loss(
    store: Store, partner: Partner, sale: Sale, people: Mapping[str, Person]
) -> None:
    def insured_thing(plate: str, happened_on: Any) -> bool | None:
        number = sale.policy["meta"]["policy_number"]
        loss = {PLATE: plate, "incident_date": happened_on.isoformat()}
        claim_id = _lodge(store, partner, policy_number=number, **loss)
        with store.writing(LIVE) as session:
            claim = session.get_one(Claim, claim_id)
            checks = {check.key: check.passed for check in claim_judgement.judge(session, claim).checks}
            claim.claim_status = "Declined"
        return checks["insured_thing"]

    today, by = clock.today(), people["operations"]
    old = row(store, Policy, sale.policy_id).submitted[PLATE]
    endorse(store, sale, by, days_back=10, **{PLATE: "NEW-222BB"})
    assert insured_thing("NEW-222BB", today) is False, "made on the day of the loss: backdating buys no claim"
    assert insured_thing(old, clock.add_days(today, -3)) is True
    with clock.freeze(clock.now() + timedelta(days=2)):
        assert insured_thing("NEW-222BB", clock.today()) is True
        assert insured_thing(old, clock.today()) is False


def _lodge(store: Store, partner: Partner, **fields: Any) -> Any:
    example = {**build_example(MotorClaimRequest), "incident_type": "Third party property damage", **fields}
    given = validate(MotorClaimRequest, {name: value for name, value in example.items() if value is not None})
    with store.writing(partner.scope(is_live=True)) as session:
        owner = Owner(distributor_id=partner.id, is_live=True)
        return ids.parse(lodging.lodge_claim(session, given, [], owner=owner, actor="tests")["id"])


def test_while_a_claim_is_open_only_contacts_change(
    store: Store, partner: Partner, people: Mapping[str, Person]
) -> None:
    sold = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    number = sold.policy["meta"]["policy_number"]
    _lodge(store, partner, policy_number=number, incident_date=clock.today().isoformat())
    for name, value in ((PLATE, "NEW-222BB"), ("chassis_number", "ZZ1"), ("last_name", "Obi")):
        with pytest.raises(StateForbids, match="is open, only address, e-mail and phone"):
            endorse(store, sold, people["operations"], **{name: value})
    assert endorse(store, sold, people["operations"], address="9 Another Road, Kano") == 1
    with store.reading(LIVE) as session:
        _, present, limit = endorsing.list_values(session, sold.policy_id)
    assert set(present) == {"address", "email", "phone_number"}, "nothing is asked that would be refused"
    assert limit is not None
    assert limit.endswith("is open, only address, e-mail and phone can be endorsed")


def test_the_insurer_is_told_once_by_somebody_of_operations(
    store: Store, sale: Sale, people: Mapping[str, Person]
) -> None:
    by = people["operations"]
    endorse(store, sale, by, last_name="Obi")
    with store.reading(LIVE) as session:
        (waiting,), total = policies.list_untold(session, limit=5)
        (made,) = policies.list_endorsements(session, sale.policy_id)
    assert (waiting.policy_id, waiting.fields, total) == (sale.policy_id, ["last_name"], 1)

    def tell(person: Person, note: str = "E-mail to the underwriter", scope: Scope = LIVE) -> None:
        with store.writing(scope) as session:
            endorsing.note_told(session, made.id, note=note, by=person)

    with pytest.raises(NotAllowed):
        tell(people["finance"])
    with pytest.raises(InvalidInput):
        tell(by, " ")
    with pytest.raises(NotFound):
        tell(by, scope=Scope.staff(is_live=False))
    tell(by)
    with pytest.raises(StateForbids, match="noted already"):
        tell(by)
    with store.reading(LIVE) as session:
        assert policies.list_untold(session, limit=5) == ([], 0)
        (made,) = policies.list_endorsements(session, sale.policy_id)
        assert session.execute(sa.select(sa.func.count()).select_from(EndorsementNotice)).scalar_one() == 1
    assert (made.told_by, made.told_how) == ("operations", "E-mail to the underwriter")
    assert made.told_at is not None


def test_no_other_distributor_and_no_other_mode_sees_an_endorsement(
    store: Store, partner: Partner, stranger: Partner, sale: Sale, people: Mapping[str, Person]
) -> None:
    endorse(store, sale, people["operations"], last_name="Obi")
    for scope in (stranger.scope(is_live=True), partner.scope(), Scope.staff(is_live=False)):
        with store.reading(scope) as session:
            assert policies.list_endorsements(session, sale.policy_id) == []
            assert policies.list_untold(session, limit=5) == ([], 0)
        with pytest.raises(NotFound):
            endorse(store, sale, people["operations"], last_name="Eze", scope=scope)


def test_the_store_keeps_endorsements_as_they_were_made_and_takes_no_premium(
    store: Store, sale: Sale, people: Mapping[str, Person]
) -> None:
    endorse(store, sale, people["operations"], last_name="Obi")
    for statement in (
        "UPDATE policy_endorsement SET effective_on = '2020-01-01'",
        "UPDATE policy_endorsement SET changes = '[]'",
        "UPDATE policy_endorsement SET reason = 'x'",
        "UPDATE policy_endorsement SET premium_minor = 1",
        "DELETE FROM policy_endorsement",
    ):
        with pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"), store.writing(SYSTEM) as session:
            session.connection().exec_driver_sql(statement)
    found = row(store, Policy, sale.policy_id)
    with pytest.raises(sa.exc.IntegrityError), store.writing(SYSTEM) as session:
        session.insert(
            PolicyEndorsement(
                distributor_id=found.distributor_id,
                is_live=True,
                policy_id=found.id,
                number=2,
                effective_on=clock.today(),
                reason="x",
                requested_by="x",
                premium_minor=1,
                made_by=people["operations"].id,
            )
        )
