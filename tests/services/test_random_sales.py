"""Random sales of every cover: the parts of each are its total, and both databases keep the same of them, to the byte.

COVERDESK_RANDOM_SALES says how many, 120 unless told.
"""

import csv
import os
from decimal import Decimal
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from core import clock, ids
from core.covers.registry import COVERS
from core.demo.sales.requests import wishes
from core.desk import store_check
from core.desk.exported_lists import get_kind
from core.services.catalogue import for_sale
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.policies.policies import PolicyFilter
from core.services.sales.purchases import PurchaseFilter
from core.services.selling import buying
from core.store.access import Scope, Store
from tests.conftest import Partner, fresh_store, make_partner
from tests.covers import shipped

pytestmark = pytest.mark.both_databases

NUMBER = int(os.environ.get("COVERDESK_RANDOM_SALES", "120"))
SEED = 20_261_120


@pytest.mark.postgres
def test_random_sales_add_up_and_are_the_same_on_both_databases(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    books = []
    for kind in ("sqlite", "postgres"):
        with monkeypatch.context() as patch, fresh_store(request, kind, tmp_path, patch) as store:
            _replay_chance(patch)
            with clock.freeze(shipped.STILL):
                _sell(store, make_partner(store, "Swift Lenders"))
                books.append([_csv(store, "purchases", PurchaseFilter()), _csv(store, "policies", PolicyFilter())])
                with store.reading(Scope.system()) as session:
                    assert store_check.list_faults(session) == []
    first, second = books
    assert first == second
    rows = list(csv.DictReader(StringIO(first[0].decode())))
    assert len(rows) == NUMBER
    for row in rows:
        parts = [Decimal(row[name]) for name in ("provider_share", "mca_profit", "distributor_profit")]
        assert sum(parts) == Decimal(row["total"]) > 0
        assert min(parts) >= 0


def _replay_chance(patch: pytest.MonkeyPatch) -> None:
    """The same ids and codes each time."""
    dice = Random(SEED)
    patch.setattr(ids, "_last", [0])
    patch.setattr(ids.os, "urandom", dice.randbytes)
    patch.setattr(ids.secrets, "token_bytes", dice.randbytes)


def _sell(store: Store, partner: Partner) -> None:
    dice = Random(SEED)
    for number in range(NUMBER):
        cover = COVERS[number % len(COVERS)]
        with store.reading(partner.scope()) as session:
            product = dice.choice(for_sale.list_products(session, cover, partner.id))
        wished = wishes(dice, product.name, product.rates.meta, clock.today())
        of_its_own = {**shipped.numbers(cover, number), "email": f"buyer{number % 37}@example.com"}
        known: dict[str, Any] = {**wished, **of_its_own, "product_id": str(product.id)}
        request = shipped.request(cover, **{name: known[name] for name in cover.request.model_fields if name in known})
        store.transact(partner.scope(), lambda session: buying.sell(session, cover, request, partner.seller()))  # noqa: B023 - done at once


def _csv(store: Store, kind: str, wanted: Any) -> bytes:
    with store.reading(Scope.staff(is_live=False)) as session:
        return b"".join(exports.stream_lines(session, get_kind(kind), wanted, Tally()))
