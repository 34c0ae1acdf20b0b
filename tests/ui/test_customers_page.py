"""Customers on the screen: found, narrowed, opened; one with everything of theirs; a hidden value shown once."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock, seal
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_b, insurer_f
from core.desk import pii_reveal
from core.services.customers import table as customers_table
from core.services.customers.customers import CustomerFilter
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.services.policies.policies import PolicyFilter
from core.services.sales.figures import METRICS
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Customer, Policy
from core.ui.kit import words
from tests.conftest import Partner, add_colleague
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.selling import sell
from tests.ui.conftest import Screen, address, follow, lists, person_of, press, row_links, sent, texts

LIST, ONE, POLICY = "sales/customers.py", "sales/customers.py#customer", "policies/policy.py"
BVN = "22345678901"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=12, size=60),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Iterator[Store]:
    with clock.freeze(NOW):
        yield store


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_b.THIRD_PARTY, is_live=True, bvn=BVN)


def open_page(screen: Screen, path: str, *roles: str, **query: str) -> AppTest:
    return screen(*(roles or ("operations",)), path=path, **query)


def rows_of(store: Store, **given: str) -> list[Row]:
    wanted = CustomerFilter.read({name: [value] for name, value in given.items()})
    with store.reading(Scope.staff(is_live=True)) as session:
        return list(customers_table.list_customers(session, wanted, load_choices(session), paging=Paging(1, 50)).items)


def everything(at: AppTest) -> str:
    """All that the page says, in whatever element."""
    cells = [str(table.value.to_dict()) for table in at.table] + [str(shown.to_dict()) for shown in lists(at)]
    return texts(at) + "\n".join([*cells, *(str(text.value) for text in at.text), *(str(c.value) for c in at.code)])


def test_the_box_and_the_filters_narrow_and_stand_in_the_address(sold: Store, screen: Screen, partner: Partner) -> None:
    at = open_page(screen, LIST)
    (heads,) = (each["columns"] for each in sent(at) if "rows" in each)
    spare = [head["label"] for head in heads if "spare" in head["classes"].split()]
    assert spare == ["In force or about to start"], "at 1280 pixels since when somebody is a customer was cut"
    assert "Customer since" in lists(at)[0], "by which they are sorted"
    assert list(lists(at)[0]["E-mail"]) == [row["email"] for row in rows_of(sold)]
    at.text_input(key="q").set_value(" ngozi ").run()
    at.selectbox(key="force").set_value("no").run()
    at.multiselect(key="distributor").select(str(partner.id)).run()
    given = {"q": "ngozi", "force": "no", "distributor": str(partner.id)}
    assert address(at) == {name: [value] for name, value in given.items()}
    expected = rows_of(sold, **given)
    assert (list(lists(at)[0]["E-mail"]) if expected else []) == [row["email"] for row in expected]
    press(at, "Reset")
    assert address(at) == {}


@every_case(
    ("query", "message"),
    [
        ({"force": "maybe"}, "**Cover** must be one of yes, no"),
        ({"from": "yesterday"}, "**From** must be one day"),
        ({"distributor": "01900000-0000-7000-8000-00000000ffff"}, "which is not known here"),
    ],
)
def test_an_address_that_cannot_be_meant_says_so(
    store: Store, screen: Screen, query: dict[str, str], message: str
) -> None:
    at = open_page(screen, LIST, **query)
    assert message in at.error[0].value
    press(at, "Start again without filters")
    assert address(at) == {}


def test_nobody_found_and_nobody_there_say_what_to_do_next(store: Store, screen: Screen) -> None:
    assert "There is no customer in this mode yet" in open_page(screen, LIST).info[0].value
    at = open_page(screen, LIST, q="nobody")
    press(at, "Show all customers")
    assert address(at) == {}


def test_a_row_opens_the_customer_with_all_that_is_theirs_and_leads_back(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST, force="yes")
    row = rows_of(sold, force="yes")[1]
    follow(at, row_links(at)[1])
    assert address(at)["id"] == [str(row.id)]
    (figures,) = (payload for payload in sent(at) if "tiles" in payload)
    text = everything(at)
    assert row["email"] in text
    assert {words.naira(row["premium"]), str(row["force"])} <= {tile["value"] for tile in figures["tiles"]}
    assert f"Policies · {row['policies']}" in text
    # Policies whose cover has not started are counted (contract S11), and one phrase says so wherever they are.
    active = "In force or about to start"
    assert {active: str(row["force"])}.items() <= {tile["label"]: tile["value"] for tile in figures["tiles"]}.items()
    labels = [customers_table.CUSTOMERS.columns["force"].label, *(m.label for m in METRICS if m.key == "in_force")]
    labels += [field.options["yes"] for field in (CustomerFilter.FIELDS["insured"], PolicyFilter.FIELDS["status"])]
    assert labels == [active] * 4
    assert at.session_state["customers_address"] == {"force": ["yes"]}
    assert "Back to the customers" in [link.proto.label for link in at.get("page_link")]


def test_each_list_opens_only_what_the_person_has(sold: Store, screen: Screen) -> None:
    row = rows_of(sold, force="yes")[0]
    opens = {
        role: [
            all(line["href"] for line in payload["rows"])
            for payload in sent(open_page(screen, ONE, role, id=str(row.id)))
            if payload.get("alt") in {"Policies", "Purchases"}
        ]
        for role in ("operations", "claims")
    }
    assert opens == {"operations": [True, True], "claims": [True, False]}
    ways = {
        role: sum(link.proto.page == "lodge" for link in open_page(screen, ONE, role, id=str(row.id)).get("page_link"))
        for role in ("operations", "claims")
    }
    assert ways["operations"] == 0 < ways["claims"]
    at = open_page(screen, ONE, "operations", id=str(row.id))
    follow(at, row_links(at)[0])
    assert "Back to the customer" in [link.proto.label for link in at.get("page_link")]


@every_case("id_", ["", "1", "01900000-0000-7000-8000-00000000ffff"])
def test_a_wrong_customer_is_explained_and_leads_back(store: Store, screen: Screen, id_: str) -> None:
    at = open_page(screen, ONE, id=id_)
    assert "no customer" in at.error[0].value or "no such customer" in at.error[0].value
    assert "Back to the customers" in [link.proto.label for link in at.get("page_link")]


def test_who_lacks_the_role_is_refused(store: Store, screen: Screen) -> None:
    for path in (LIST, ONE):
        with pytest.raises(ValueError, match="customer"):
            screen("finance", path=path)


def test_a_hidden_value_is_shown_once_for_a_reason_and_leaves_no_trace(
    store: Store, screen: Screen, sale: Sale
) -> None:
    with store.reading(Scope.staff(is_live=True)) as session:
        customer_id = session.get_one(Policy, sale.policy_id).customer_id
    at = open_page(screen, ONE, id=str(customer_id))
    assert seal.mask(BVN) in everything(at)
    at.button(key=f"reveal.policy.{sale.policy_id}.submitted.bvn").click().run()
    at.button(key="reveal.confirm").click().run()
    assert BVN not in everything(at)
    assert "Fill this in" in texts(at)
    at.selectbox(key="reveal.reason").set_value(pii_reveal.REASONS[0])
    at.text_input(key="reveal.details").set_value("she calls about her refund")
    at.button(key="reveal.confirm").click().run()
    assert [code.value for code in at.code] == [BVN]
    assert BVN not in str(at.session_state)
    assert BVN not in str(address(at))
    assert BVN not in everything(at.run())
    with store.reading(Scope.system()) as session:
        query = sa.select(AuditEntry.actor, AuditEntry.after).where(AuditEntry.action == pii_reveal.REVEALED_ACTION)
        (entry,) = session.execute(query).all()
    assert entry.actor == "staff somebody@coverdesk.example"
    assert BVN not in str(entry.after)


def test_who_may_not_see_a_value_has_no_button_for_it(store: Store, screen: Screen, sale: Sale) -> None:
    shown = {
        role: [button.key for button in open_page(screen, POLICY, role, id=str(sale.policy_id)).button if button.key]
        for role in ("operations", "claims")
    }
    hidden = f"reveal.policy.{sale.policy_id}.submitted.bvn"
    assert hidden in shown["operations"]
    assert not [key for key in shown["claims"] if key.startswith("reveal.")]


def test_a_policy_that_ended_and_cannot_be_renewed_is_not_said_to_run_on(
    store: Store, screen: Screen, partner: Partner
) -> None:
    ended = sell(store, partner, CREDIT_LIFE, is_live=True)
    with store.writing(Scope.system()) as session:
        policy = session.get_one(Policy, ended.policy_id)
        days = (clock.add_days(clock.today(), number) for number in (-90, 0))
        policy.start_at, policy.expiration_at = map(clock.midnight, days)
        customer_id = str(policy.customer_id)
    at = open_page(screen, ONE, id=customer_id)
    assert "Due for renewal · 0" in texts(at)
    assert "None that can be renewed ends within 90 days or has ended within 30." in texts(at)


def test_a_note_is_added_beside_those_before_it(sold: Store, screen: Screen) -> None:
    customer_id = parse_qs(urlsplit(str(row_links(open_page(screen, LIST))[0])).query)["id"][0]
    at = open_page(screen, ONE, "claims", id=customer_id)
    at.button(key="add_note").click().run()
    assert "Write what was said or done" in texts(at)
    at.text_input(key="note_text").set_value("Wants *no* calls").run()
    at.button(key="add_note").click().run()
    assert "Wants *no* calls" in [text.value for text in at.text]
    assert (at.text_input(key="note_text").value, "Notes · 1" in texts(at)) == ("", True)


def test_another_record_of_the_person_is_merged_and_taken_apart(
    sale: Sale, screen: Screen, store: Store, partner: Partner
) -> None:
    sell(store, partner, insurer_f.COVERS[0], is_live=True, email="second@example.com")
    with store.writing(Scope.system()) as session:
        bola = add_colleague(session)
        rows = {row.email: row.id for row in session.execute(sa.select(Customer)).scalars()}
    other = rows.pop("second@example.com")
    (kept,) = rows.values()

    def page(key: UUID, *, by: Person = bola) -> AppTest:
        at = screen(signed_in=by, path=ONE)
        at.query_params["id"] = str(key)
        return at.run()

    at = page(kept)
    at.text_input(key="same_person").set_value("second@").run()
    at.button(key=f"merge {other}").click().run()
    at.button(key="decision.confirm").click().run()
    assert "is shown here from now on" in at.success[0].value
    assert "second@example.com" in texts(at)
    assert "Policies · 2" in texts(at)
    assert "part of another one" in page(other).info[0].value
    claims = page(kept, by=person_of("claims"))
    assert not [button for button in claims.button if button.label in ("Merge", "Take apart")]
    at = page(kept)
    at.button(key=f"apart {other}").click().run()
    at.button(key="decision.confirm").click().run()
    assert "Policies · 1" in texts(page(kept))
