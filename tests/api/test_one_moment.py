"""While others sell, renew and claim, the rows and the total of one answer are of one moment (contract P2)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from core import clock
from core.covers.insurers.insurer_a import THIRD_PARTY
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.store.access import Store
from tests.api import selling
from tests.api.claiming import Lodge, claim_of
from tests.api.conftest import Client
from tests.conftest import Partner

pytestmark = pytest.mark.both_databases

RENEW = "/v1/products/insurer-a/renew-third-party"
# Together with what was there before, all of a list stands on one page of 100.
ROUNDS = 25
BUYER = "buyer.7@example.com"


def sell(client: Client, partner: Partner, number: int) -> None:
    selling.buy(client, partner.test_key, PERSONAL_ACCIDENT, email=BUYER if number % 2 else f"b{number}@example.com")


def renew(client: Client, partner: Partner, policy_id: str) -> None:
    answer = client.post(RENEW, key=partner.test_key, json={"policy_id": policy_id})
    assert answer.status_code == 201, answer.text


def expiring(client: Client, partner: Partner, number: int) -> str:
    """A policy that can be renewed now."""
    sold = selling.buy(client, partner.test_key, THIRD_PARTY, registration_number=f"ABC{number:03d}XY", email=BUYER)
    return str(sold["id"])


def differing(client: Client, key: str, path: str) -> str | None:
    """Return the first disagreement within one answer, None if total and rows agree."""
    data = selling.data_of(client, key, path)
    (rows,) = (value for value in data.values() if isinstance(value, list))
    return None if len(rows) == data["total_count"] else f"{path}: {len(rows)} of {data['total_count']}"


def seen_while(busy: Callable[[], object], client: Client, key: str, paths: list[str]) -> list[str]:
    """Return the disagreements within answers while others are busy; each list is read at least once."""
    found: list[str] = []
    with ThreadPoolExecutor() as pool:
        work = pool.submit(busy)
        while not work.done():
            found += [difference for path in paths if (difference := differing(client, key, path))]
        work.result()
    return found


def paths_of(customer_id: str) -> list[str]:
    """Every list that grows, narrowed in the ways that are read differently."""
    lists = ("purchase", "policies", "renewals", "claims", "customers")
    yesterday = (clock.now() - timedelta(days=1)).date().isoformat()
    return [
        *(f"{name}?limit=100" for name in lists),
        *(f"{name}/search?limit=100&customer_email={BUYER}" for name in lists[:4]),
        *(f"{name}/search?limit=100&start_date={yesterday}" for name in lists[:3]),
        *(f"customers/{name}/{customer_id}?limit=100" for name in ("purchases", "policies", "renewals", "claims")),
        "customers/has-purchased?limit=100",
        "policies/search?limit=100&status=true",
        *(f"{name}/search?limit=100&search={BUYER}" for name in lists[:2]),
    ]


@pytest.mark.long
def test_rows_and_total_of_every_list_agree_while_others_write(store: Store, client: Client, partner: Partner) -> None:
    with clock.freeze(clock.now() - timedelta(days=350)):
        due = [expiring(client, partner, number) for number in range(ROUNDS)]
    lodge = Lodge(client, partner, email=BUYER)
    customer_id = selling.data_of(client, partner.test_key, f"customers?search={BUYER}")["customers"][0]["id"]

    def busy() -> None:
        with ThreadPoolExecutor(2) as pool:
            sold = pool.map(lambda number: sell(client, partner, number), range(ROUNDS))
            renewed = pool.map(lambda policy_id: renew(client, partner, policy_id), due)
            lodged = pool.map(lambda _: claim_of(lodge()), range(ROUNDS))
            assert [len(list(each)) for each in (sold, renewed, lodged)] == [ROUNDS] * 3

    assert seen_while(busy, client, partner.test_key, paths_of(customer_id)) == []
    assert differing(client, partner.test_key, "purchase?limit=100") is None
