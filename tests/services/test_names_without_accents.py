"""People are found by any part of their names, with or without accents, in either Unicode form (contract P6)."""

from unicodedata import normalize

import pytest

from core.covers import request_parts
from core.covers.credit_life import CREDIT_LIFE
from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.selling import sell

pytestmark = pytest.mark.both_databases

LIVE = Scope.staff(is_live=True)
WAYS = ("Ade", "adé", "ADÉ", "Ola", "ọlá", "Ogundele", "ola-og", "ade ola", "ola-ogundele ade", "Ọlá-Ògúndélé, Adé")


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    """Of somebody whose names are written with accents; somebody else has none like them."""
    sell(store, partner, CREDIT_LIFE, is_live=True, email="b@example.com", first_name="Bisi", last_name="Eze")
    return sell(
        store, partner, CREDIT_LIFE, is_live=True, email="x@example.com", first_name="Adé", last_name="Ọlá-Ògúndélé"
    )


def policies_of(store: Store, text: str) -> list[object]:
    with store.reading(LIVE) as session:
        page = policies.search_policies(session, PolicyFilter(find=text), load_choices(session), paging=Paging(1, 50))
    return [row.id for row in page.items]


def people(store: Store, text: str) -> list[str]:
    with store.reading(LIVE) as session:
        found = customers.list_customers(session, CustomerFilter(search=text), Paging(1, 50))
    return [row["first_name"] for row in found.items]


@every_case("form", ["NFC", "NFD"])
@every_case("text", WAYS)
def test_policies_are_found_by_a_name_however_it_is_written(store: Store, sale: Sale, text: str, form: str) -> None:
    assert policies_of(store, normalize(form, text)) == [sale.policy_id]


@every_case("form", ["NFC", "NFD"])
@every_case("text", WAYS[:8])
def test_customers_are_found_by_a_name_however_it_is_written(store: Store, sale: Sale, text: str, form: str) -> None:
    assert people(store, normalize(form, text)) == ["Adé"]


def test_a_new_name_is_found_and_the_old_one_is_not(store: Store, partner: Partner, sale: Sale) -> None:
    sell(
        store,
        partner,
        CREDIT_LIFE,
        is_live=True,
        email="x@example.com",
        first_name=normalize("NFD", "Ṣadé"),
        last_name="Ɗanjuma",
        loan_amount="90000",
    )
    assert people(store, "sade danjuma") == people(store, "ɗanjuma") == [normalize("NFD", "Ṣadé")]
    assert people(store, "ogundele") == []


@every_case("text", ["\u0301", "Ade%", "adx", "é\u0301\u0301_"])
def test_what_nobody_is_called_finds_nobody(store: Store, sale: Sale, text: str) -> None:
    assert people(store, text) == []


def test_a_key_is_lower_case_bare_and_never_longer_than_the_names() -> None:
    assert request_parts.build_name_key("ÉMILE", normalize("NFD", "Ọ̀ṣun")) == "emile osun"
    assert len(request_parts.fold_text("각" * 9)) == 9
