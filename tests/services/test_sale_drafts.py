"""Drafts of sales: several of one cover for each person, nobody else's, and what an earlier store keeps of them."""

from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from alembic import command

from core import clock, ids
from core.covers.insurers import insurer_a
from core.services.catalogue import for_sale
from core.services.people.staff import Person
from core.services.selling import drafts
from core.services.selling.drafts import Draft
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import SaleDraft
from tests.conftest import Partner

SYSTEM = Scope.system()


def person() -> Person:
    return Person(id=ids.new(), email="o@x.example", name="O", roles=("operations",), claim_limit_minor=None)


def draft_of(store: Store, partner: Partner, **values: str) -> Draft:
    with store.reading(partner.scope()) as session:
        product = for_sale.list_products(session, insurer_a.THIRD_PARTY, partner.id)[0]
    return Draft(
        id=ids.new(),
        cover=insurer_a.THIRD_PARTY.key,
        distributor_id=partner.id,
        product_id=product.id,
        values=values,
        given={"loan_tenure": 12},
        updated_at=clock.now(),
    )


def keep(store: Store, draft: Draft, by: Person) -> None:
    with store.writing(SYSTEM) as session:
        drafts.keep_draft(session, draft, is_live=True, by=by)


def mine(store: Store, by: Person) -> dict[UUID, str]:
    with store.reading(SYSTEM) as session:
        assert drafts.list_drafts(session, is_live=False, by=by) == []
        return {draft.id: draft.customer for draft in drafts.list_drafts(session, is_live=True, by=by)}


def test_a_person_holds_several_drafts_of_a_cover_and_changes_only_their_own(store: Store, partner: Partner) -> None:
    bola, chidi = person(), person()
    first = draft_of(store, partner, first_name="Ada", last_name="Eze")
    second = draft_of(store, partner, email="uche@example.com")
    for draft in (first, second):
        keep(store, draft, bola)
    assert mine(store, bola) == {second.id: "uche@example.com", first.id: "Ada Eze"}
    keep(store, first, chidi)
    assert mine(store, chidi) == {}
    with store.writing(SYSTEM) as session:
        drafts.discard_draft(session, first.id, by=chidi)
    with store.reading(SYSTEM) as session:
        found = drafts.list_drafts(session, is_live=True, by=bola)
    assert [draft.given for draft in found] == [{"loan_tenure": 12}] * 2
    with store.writing(SYSTEM) as session:
        drafts.discard_draft(session, first.id, by=bola)
    assert mine(store, bola) == {second.id: "uche@example.com"}


def test_an_earlier_store_keeps_the_latest_draft_of_each_cover(store: Store, partner: Partner) -> None:
    bola, chidi = person(), person()
    early, late, other = (draft_of(store, partner, first_name=name) for name in ("Ada", "Uche", "Ife"))
    keep(store, late, bola)
    keep(store, early, bola)
    keep(store, other, chidi)
    with store.writing(SYSTEM) as session:
        session.get_one(SaleDraft, early.id).updated_at = clock.now() - timedelta(hours=1)
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0057")
        assert set(connection.execute(sa.select(SaleDraft.id)).scalars()) == {late.id, other.id}
    migrating.migrate(store)
    keep(store, early, bola)
    assert set(mine(store, bola)) == {early.id, late.id}
