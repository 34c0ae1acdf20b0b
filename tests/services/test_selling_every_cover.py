"""Selling: the example of every cover on both stores, to the letter of its golden file (contract S7-S10)."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import credit_life
from core.covers.cover import Cover
from core.covers.insurers import insurer_a, insurer_b, insurer_c
from core.covers.registry import COVERS
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.policies import policies
from core.services.sales import api_purchases
from core.store.access import Scope, Store
from core.store.schema.tables import Certificate, Submission
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import every_cover, kept, plate_field, sell, sold

pytestmark = pytest.mark.frozen_at(shipped.STILL)

PERSONAL = {"bvn": "*******5678", "passport_number": "*****5678"}


@every_cover
def test_its_example_is_sold_as_its_golden_file_says(store: Store, partner: Partner, cover: Cover[Any]) -> None:
    golden = json.loads(shipped.golden_file(cover).read_text(encoding="utf-8"))
    sale = sell(store, partner, cover)
    found = sale.policy
    assert {name: found[name] for name in golden["flags"]} == golden["flags"]
    assert found["genius_price"] == found["market_price"] == golden["price"]["total"]
    assert sale.price.explain == golden["price"]["steps"]
    dates = {name: found[f"{name}_date"] for name in golden["term"]}  # type: ignore[literal-required]
    assert dates == golden["term"]
    with store.reading(partner.scope()) as session:
        assert policies.get_policy(session, sale.policy_id)["meta"] == found["meta"]


@every_cover
def test_the_meta_echoes_what_was_submitted_with_personal_numbers_masked(
    store: Store, partner: Partner, cover: Cover[Any]
) -> None:
    golden = json.loads(shipped.golden_file(cover).read_text(encoding="utf-8"))
    hidden = {golden["request"][name]: mask for name, mask in PERSONAL.items() if name in golden["request"]}
    sale = sell(store, partner, cover)
    meta, policy = sale.policy["meta"], kept(store, partner, sale)
    expected = {name: hidden.get(str(value), value) for name, value in golden["payload"].items()}
    assert meta[cover.echo_field] == expected
    assert {"payload", "requestData"} & set(meta) == {cover.echo_field}
    written = json.dumps([policy.submitted, policy.payload, policy.explained])
    assert not any(number in written for number in hidden)
    assert (policy.sealed is not None) is bool(hidden)
    if cover.registration(shipped.request(cover)):
        assert meta["vehicle_registration_number"] == golden["request"][plate_field(cover)]


@every_cover
def test_a_sale_leaves_a_submission_an_audit_line_and_when_active_a_number_and_a_certificate(
    store: Store, partner: Partner, cover: Cover[Any]
) -> None:
    sale = sell(store, partner, cover)
    meta, active = sale.policy["meta"], cover.initial_state.active
    assert (meta["policy_number"] is not None) is active
    assert (meta["certificate_url"] is not None) is active
    with store.reading(partner.scope()) as session:
        certified = session.execute(sa.select(col(Certificate.policy_id))).scalars().all()
        state = session.get_one(Submission, sale.policy_id).state
    assert certified.count(sale.policy_id) == int(active)
    assert state == ("delegated" if cover.initial_state.submitted else "queued")
    with store.reading(Scope.system()) as session:
        lines = audit.list_history(session, audit.subject_of("policy", sale.policy_id))
        assert [(line.action, line.actor) for line in lines] == [("policy sold", "tests")]


@every_cover
def test_the_parts_of_the_money_add_up(store: Store, partner: Partner, cover: Cover[Any]) -> None:
    sale = sell(store, partner, cover)
    product = shipped.products()[sale.policy["product_id"]]
    with store.reading(partner.scope()) as session:
        record = api_purchases.get_purchase(session, sale.purchase_id)
    total, mca, ours = (round(float(record[name]) * 100) for name in ("total", "mca_profit", "distributor_profit"))
    assert total == int(sale.price.total * 100)
    assert abs(mca - total * float(product["mca_commission_percentage"]) / 100) <= 0.5
    assert abs(ours - total * float(product["distributor_commission_percentage"]) / 100) <= 0.5
    assert 0 <= mca + ours <= total
    assert record["policy_id"] == str(sale.policy_id)


def test_a_product_of_another_endpoint_is_refused(store: Store, partner: Partner) -> None:
    retired, unknown = "01900000-0000-7000-8000-000000020601", str(UUID(int=1))
    for cover, other in zip(COVERS, (*COVERS[1:], COVERS[0]), strict=True):
        for product_id in (shipped.body(other)["product_id"], retired, unknown):
            with pytest.raises(InvalidInput) as refused:
                sell(store, partner, cover, product_id=product_id)
            assert [fault.field for fault in refused.value.faults] == ["product_id"]
    assert sold(store, partner.scope()) == 0


@every_case(
    ("cover", "changed"),
    [
        (insurer_b.OFFICE, {"office_items": [{"name": "Pen", "amount": "0.01"}]}),
        (insurer_b.HOME, {"home_items": [{"name": "Pen", "amount": "0.01"}]}),
        (credit_life.CREDIT_LIFE, {"loan_amount": "0.01"}),
    ],
    ids=["office", "home", "credit life"],
)
def test_what_costs_nothing_is_not_covered(
    store: Store, partner: Partner, cover: Cover[Any], changed: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="costs nothing") as refused:
        sell(store, partner, cover, **changed)
    assert [fault.field for fault in refused.value.faults] == [*changed]
    assert sold(store, partner.scope()) == 0


@every_cover
def test_a_cover_is_rated_on_a_field_of_its_own(cover: Cover[Any]) -> None:
    assert cover.rated_on == "body" or cover.rated_on in cover.request.model_fields


def test_the_extremes_of_money_are_sold_exactly(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.OFFICE, office_items=[{"name": "Mint", "amount": 10**13}])
    assert sale.policy["genius_price"] == "35000000000.00"
    assert kept(store, partner, sale).sum_insured_minor == 10**15


def test_a_traveller_leaves_the_country_of_residence_on_the_customer(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_c.TRAVEL, nationality="ghana", state="Ashanti")
    with store.reading(partner.scope()) as session:
        customer = policies.get_policy(session, sale.policy_id)["customer"]
    assert (customer["country"], customer["state_of_residence"]) == ("Ghana", "Ashanti")


def test_policies_of_one_insurer_are_numbered_on(store: Store, partner: Partner) -> None:
    plates = [f"ABC-10{n}XY" for n in range(3)]
    sales = [sell(store, partner, insurer_a.THIRD_PARTY, registration_number=plate) for plate in plates]
    assert len({sale.policy["meta"]["policy_number"] for sale in sales}) == 3


def test_a_trip_of_today_is_in_force_until_the_day_ends(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_c.TRAVEL, departure_date="2026-11-20", arrival_date="2026-11-20")
    assert sale.policy["active"]
    with clock.freeze(shipped.STILL + timedelta(hours=16)), store.reading(partner.scope()) as session:
        assert not policies.get_policy(session, sale.policy_id)["active"]
