"""Customers as the desk finds and reads them: every spelling, exact counts, figures that are those of their rows."""

from collections.abc import Iterator
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.desk import customer as customer_view
from core.errors import NotFound
from core.services.customers import customers
from core.services.customers import table as customers_table
from core.services.customers.customers import CustomerFilter
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Page, Paging
from core.services.sales import search as sales_search
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, ClaimPayment, Customer, Policy, Purchase, Renewal
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales

LIVE = Scope.staff(is_live=True)


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=9, size=90),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Iterator[Store]:
    with clock.freeze(NOW):
        yield store


def found(store: Store, wanted: CustomerFilter = CustomerFilter(), **options: object) -> Page[Row]:
    with store.reading(LIVE) as session:
        paging = {"paging": Paging(1, 100), **options}
        return customers_table.list_customers(session, wanted, load_choices(session), **paging)  # type: ignore[arg-type]


def rows_of(store: Store, entity: type, customer_id: UUID) -> list[object]:
    with store.reading(LIVE) as session:
        found = session.execute(sa.select(entity).where(entity.customer_id == customer_id)).scalars().all()  # type: ignore[attr-defined]
        session.expunge_all()
        return list(found)


@every_case(
    ("text", "part"),
    [
        ("NGOZI", "Ngozi"),
        ("gozi oka", "Ngozi Okafor"),
        ("ọLÁD", "Ọládélé"),
        ("o'neil", "O'Neil"),
        ("100%", None),
        ("ngozi\nokafor", "Ngozi Okafor"),
        ("okafor  ngozi", "Ngozi Okafor"),
        ("afor, goz", "Ngozi Okafor"),
        ("ngozi ademola", None),
    ],
)
def test_any_part_of_a_name_finds_its_customers_in_any_case(sold: Store, text: str, part: str | None) -> None:
    everybody = found(sold).items
    expected = {row.id for row in everybody if part and part in row["name"]}
    page = found(sold, CustomerFilter(search=text))
    assert {row.id for row in page.items} == expected
    assert page.total_count == len(expected)
    assert bool(expected) == (part is not None)


def test_e_mail_and_every_spelling_of_a_phone_number_find(sold: Store) -> None:
    everybody = found(sold)
    one = everybody.items[0]
    assert [row.id for row in found(sold, CustomerFilter(search=one["email"].upper())).items] == [one.id]
    with sold.writing(LIVE) as session:
        session.get_one(Customer, one.id).phone_number = "0705 555 1234"
    for spelling in ("+2347055551234", "07055551234", "0705 555 1234", "555 12", "0705", "0705 5"):
        assert [row.id for row in found(sold, CustomerFilter(search=spelling)).items] == [one.id]
    assert found(sold, CustomerFilter(search="0803 123 4567")).total_count == everybody.total_count - 1


@pytest.mark.both_databases
def test_a_part_of_a_foreign_number_finds_it_however_it_was_written(sold: Store) -> None:
    with sold.writing(LIVE) as session:
        one, *others = session.execute(sa.select(Policy).order_by(Policy.id)).scalars()
        customer = session.get_one(Customer, one.customer_id)
        customer.phone_number = one.phone = "+44 (7911) 123-456"
        for other in others:
            other.phone = "08031234567"
    for text in (
        "+44 7911",
        "+447911123456",
        "44 7911 12",
        "7911 123",
        "7911123456",
        "07911 123 456",
        "11 123 45",
        "+44791",
    ):
        assert [row.id for row in found(sold, CustomerFilter(search=text)).items] == [customer.id], text
        with sold.reading(LIVE) as session:
            query = sales_search.select_policies(Policy.id, text)
            assert set(session.execute(query).scalars()) == {one.id}, text
    assert found(sold, CustomerFilter(search="7911 124")).items == []


@pytest.mark.both_databases
def test_the_narrow_indexes_of_the_desk_find_whom_the_filter_finds(sold: Store) -> None:
    """The API's lists and the files ask the filter itself; the answers may not differ by how they are found."""
    with sold.reading(LIVE) as session:
        ngozi = session.execute(sa.select(Customer).where(Customer.phone_number.is_not(None)).limit(1)).scalar_one()
        digits, email, name = ngozi.phone_number or "", ngozi.email, ngozi.first_name
    texts = [
        *(
            digits,
            digits[-8:],
            f"{digits[-8:-4]} {digits[-4:]}",
            f"0{digits[-10:]}",
            f"0{digits[-10:-7]} {digits[-7:-4]}",
        ),
        *(email, email.upper()[:6], name, name[1:4], "gozi oka", "okafor, ngozi", "ọLÁD", "zoe", "Zoë", "o'neil", "+1"),
        *("7911 123", "07911123", "+44 79", "+1 21", "%", "_", "100%", "12345", "@", "example.com", "no such person"),
    ]
    for text in texts:
        wanted = CustomerFilter(search=text)
        with sold.reading(LIVE) as session:
            query = sa.select(Customer.id).where(*customers.build_conditions(wanted))
            expected = set(session.execute(query).scalars())
        page = found(sold, wanted)
        assert {row.id for row in page.items} == expected, text
        assert page.total_count == len(expected), text


@pytest.mark.both_databases
def test_figures_are_those_of_the_rows_and_cover_divides_everybody(sold: Store) -> None:
    everybody = found(sold)
    assert everybody.total_count == len(everybody.items) == 30
    for row in everybody.items:
        sales, policies = (rows_of(sold, entity, row.id) for entity in (Purchase, Policy))
        renewed = [renewal.total_minor for renewal in rows_of(sold, Renewal, row.id) if renewal.status]  # type: ignore[attr-defined]
        assert row["policies"] == len(sales) == len(policies)
        assert row["premium"] == sum(sale.total_minor for sale in sales) + sum(renewed)  # type: ignore[attr-defined]
        assert row["last"] == max((sale.created_at for sale in sales), default=None)  # type: ignore[attr-defined]
    covered = {row.id for row in everybody.items if row["force"]}
    assert {row.id for row in found(sold, CustomerFilter(insured=True)).items} == covered
    without = found(sold, CustomerFilter(insured=False))
    assert {row.id for row in without.items} == {row.id for row in everybody.items} - covered
    assert without.total_count == 30 - len(covered)


@pytest.mark.both_databases
def test_distributor_order_and_pages_hold(sold: Store, partner: Partner) -> None:
    mine = found(sold, CustomerFilter(distributor_ids=(partner.id,)))
    assert {row["distributor"] for row in mine.items} == {"Swift Lenders"}
    oldest = found(sold, order="oldest").items
    assert oldest == found(sold).items[::-1]
    assert found(sold, order="oldest", paging=Paging(2, 20)).items == oldest[20:]
    assert found(sold, CustomerFilter(search="nobody")) == Page([], 0)


@pytest.mark.both_databases
def test_one_customer_has_all_that_is_theirs(sold: Store) -> None:
    row = max(found(sold).items, key=lambda row: len(rows_of(sold, Claim, row.id)))
    with sold.reading(LIVE) as session:
        one = customer_view.get_customer(session, row.id, load_choices(session))
    assert (one.name, one.email, one.distributor) == (row["name"], row["email"], row["distributor"])
    assert one.bought == (row["policies"], row["force"], row["premium"], row["last"])
    for entity, page in ((Purchase, one.purchases), (Renewal, one.renewals), (Policy, one.policies)):
        assert {each.id for each in page.items} == {each.id for each in rows_of(sold, entity, row.id)}  # type: ignore[attr-defined]
        assert page.total_count == len(page.items)
    claims = rows_of(sold, Claim, row.id)
    assert one.claims.total_count == len(claims) > 0
    with sold.reading(LIVE) as session:
        payments = list(session.execute(sa.select(ClaimPayment)).scalars())
    mine = {claim.id for claim in claims}  # type: ignore[attr-defined]
    assert one.claims_paid_minor == sum(each.amount_minor for each in payments if each.claim_id in mine)


def test_the_same_address_elsewhere_is_named_and_strangers_are_not_found(
    sold: Store, partner: Partner, stranger: Partner
) -> None:
    row = next(row for row in found(sold).items if row["distributor"] == "Swift Lenders")
    with sold.writing(LIVE) as session:
        details = session.get_one(Customer, row.id).model_dump(exclude={"id", "distributor_id"})
        session.insert(twin := Customer(**details, distributor_id=stranger.id))
    with sold.reading(LIVE) as session:
        names = load_choices(session)
        assert [each.id for each in customer_view.get_customer(session, row.id, names).same_email_customers] == [
            twin.id
        ]
        with pytest.raises(NotFound):
            customer_view.get_customer(session, ids.new(), names)
    with sold.reading(Scope.staff(is_live=False)) as session, pytest.raises(NotFound):
        customer_view.get_customer(session, row.id, names)


@pytest.mark.both_databases
def test_cover_stands_in_the_address_of_a_selection() -> None:
    selection = CustomerFilter(search="ngozi", insured=False)
    assert CustomerFilter.read(selection.address()) == selection
    assert selection.address() == {"q": ["ngozi"], "force": ["no"]}
