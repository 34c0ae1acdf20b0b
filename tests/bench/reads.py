"""W1, W2, W3: pages of purchases over HTTP, beside the bare routes of `tests.bench.raw_reads`, in turns."""

from collections.abc import Iterator, Sequence

import httpx
import sqlalchemy as sa

from core import clock
from tests.bench import serving
from tests.bench.measured import Row
from tests.bench.portfolios import LARGE, SMALL, Portfolio, Seller
from tests.bench.serving import BARE, OURS, Load

SECONDS, ROUNDS = 2, 3
_EMAILS = """
SELECT c.email_key FROM purchase p JOIN customer c ON c.id = p.customer_id
WHERE p.distributor_id = :seller AND p.is_live ORDER BY p.created_at DESC LIMIT 100
"""
_PROVIDER = """
SELECT provider_id FROM purchase WHERE distributor_id = :seller AND is_live GROUP BY 1 ORDER BY count(*) DESC LIMIT 1
"""


def measure(portfolio: Portfolio) -> list[Row]:
    """Every question to both servers."""
    sellers = {name: portfolio.seller(name) for name in (LARGE, SMALL)}
    raw = portfolio.store.is_sqlite
    known = ",".join(f"{one.key}={one.id.hex if raw else one.id}" for one in sellers.values())
    with serving.serving(OURS, portfolio) as ours, serving.serving(BARE, portfolio, RAW_SELLERS=known) as bare:
        rows = []
        for work, seller, paths in _questions(portfolio, sellers):
            _agree(ours, bare, paths[0], seller.key)
            rows.append(_row(work, portfolio.size, *_in_turns((ours, bare), paths, seller.key)))
    return rows


def _questions(portfolio: Portfolio, sellers: dict[str, Seller]) -> Iterator[tuple[str, Seller, Sequence[str]]]:
    large, small = sellers[LARGE], sellers[SMALL]
    for share, seller in (("30 %", large), ("4 %", small)):
        yield f"W1 list, distributor with {share}", seller, ["/v1/purchase?limit=10"]
        yield (
            f"W2 page N/40, distributor with {share}",
            seller,
            [f"/v1/purchase?limit=10&page={seller.purchases // 40}"],
        )
    until = clock.add_days(clock.today(), -30)
    span = f"start_date={clock.add_months(until, -3)}&end_date={until}"
    key = {"seller": large.id.hex if portfolio.store.is_sqlite else large.id}
    with portfolio.store.engine.connect() as connection:
        provider = connection.execute(sa.text(_PROVIDER), key).scalar_one()
        emails = connection.execute(sa.text(_EMAILS), key).scalars().all()
    text = str(provider) if not portfolio.store.is_sqlite else str(type(large.id)(provider))
    yield "W3 search, 3 months of one insurer", large, [f"/v1/purchase/search?{span}&provider_id={text}"]
    yield "W3 search, e-mail", large, [f"/v1/purchase/search?customer_email={email}" for email in emails]


def _agree(ours: str, bare: str, path: str, key: str) -> None:
    """Both must say the same, or comparing them says nothing."""
    answers = [httpx.get(f"{address}{path}", headers={"Authorization": f"Bearer {key}"}) for address in (ours, bare)]
    if answers[0].status_code != 200 or answers[0].json() != answers[1].json():
        raise RuntimeError(f"{path}: {answers[0].text[:600]}\n{answers[1].text[:600]}")


def _in_turns(addresses: Sequence[str], paths: Sequence[str], key: str) -> list[Load]:
    for address in addresses:
        serving.load(address, paths, key, 1)
    rounds = [[serving.load(address, paths, key, SECONDS) for address in addresses] for _ in range(ROUNDS)]
    return [serving.middle(loads) for loads in zip(*rounds, strict=True)]


def _row(work: str, size: int, ours: Load, bare: Load) -> Row:
    return Row(
        work=work,
        size=size,
        ours=1000 / ours.per_second,
        limit=1000 / bare.per_second,
        p99=ours.p99,
        limit_p99=bare.p99,
    )
