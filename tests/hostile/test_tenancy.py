"""No tenant reads, counts or writes a record of another distributor or mode, whatever is put where (contract M1, M2).

The matrix is generated: every operation of our own OpenAPI document by everything that it takes (path, query,
body, form), by names of records of every kind that belong to somebody else, by ids that nobody has or that are
none, and by whatever could widen a filter. Four tries in five are drawn from it, the rest are random
combinations of several things; `COVERDESK_TENANCY_TRIES=20000` is the full size.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import httpx
import pytest

from core import ids
from core.desk.exported_lists import TITLES, get_kind
from core.dispatch import webhooks
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.conftest import SEED
from tests.hostile.routes import Operation, lists, operations
from tests.hostile.worlds import Tenant, World, words_in

pytestmark = pytest.mark.both_databases

TRIES = int(os.environ.get("COVERDESK_TENANCY_TRIES", "300"))
STORES = 2
# What could be taken for a way past one's own scope, where nothing of the kind is declared.
WIDENERS = {
    "distributor_id": (),
    "distributor_ids": (),
    "business_id": (),
    "user_id": (),
    "customer_id": (),
    "is_live": ("true", "false", "1", "null"),
    "mode": ("live", "test", "all", "*"),
    "app_mode": ("live", "test"),
    "scope": ("staff", "system", "*"),
    "staff": ("true",),
    "all": ("true",),
    "include_deleted": ("true",),
    "sort": ("distributor_id", "id); select 1 --"),
    "fields": ("*",),
    "limit": ("100", "-1", "0", "1000000", "1e3", "%"),
    "page": ("2", "0", "-1", "99999999", "1e20"),
}
SERVER_OWNED = (
    *("id", "distributor_id", "business_id", "customer_id", "buyer_id", "purchase_id", "claim_id", "user_id"),
    *("is_live", "app_mode", "mode", "status", "total", "mca_profit", "distributor_profit", "created_at", "scope"),
)
WILD = (
    *(
        "%",
        "_",
        "%%",
        "*",
        "?",
        "\\",
        "\\%",
        "'",
        "' OR 1=1 --",
        '" OR ""="',
        "%' OR distributor_id <> '",
        "a%",
        "[a-z]",
    ),
    *("{{7*7}}", "${1}", "..", "null", "None", "undefined", "0", "-1", "true", "\u200b", "%00", "%25"),
)
# The lists of what a tenant owns, by the name that they have in an answer, and the table of each.
COUNTED = {
    "purchases": "purchase",
    "policies": "policy",
    "renewals": "renewal",
    "customers": "customer",
    "claims": "claim",
    "endpoints": "webhook_endpoint",
    "deliveries": "webhook_delivery",
    "statements": "statement",
    "loan_books": "loan_book",
}
# Lists of what everybody is told alike.
COMMON = {"products", "product_category", "event_types"}
NO_IDS = ("x", "1", "-1", "01900000000070008000000000ffffff", "01900000-0000-7000-8000-0000000000fg", "..%2f", "'", "%")


@dataclass(frozen=True)
class Case:
    """One thing put in one place of one operation, by one tenant."""

    tenant: Tenant
    operation: Operation
    place: str
    name: str
    value: str
    foreign: bool
    more: dict[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        put = f"{self.name}={self.value[:60]!r} in {self.place} {self.more}"
        return f"{self.tenant.name}: {self.operation.name} with {put}"


class Asker:
    """Asks a case and judges the answer."""

    def __init__(self, world: World, client: Client) -> None:
        self.world, self.client = world, client
        self.tries = self.refused = 0
        self._unknown: dict[tuple[str, str, str, str, str], tuple[int, str]] = {}
        self._most: dict[tuple[Tenant, str], int] = {}
        self._sent: dict[Tenant, frozenset[str]] = {tenant: frozenset() for tenant in world.tenants}

    def check(self, case: Case) -> None:
        """AssertionError when the answer says or does anything about another tenant's records."""
        answer = self.send(case)
        self.tries += 1
        self.refused += answer.status_code >= 400
        assert answer.status_code < 500, f"{case}: {answer.status_code} {answer.text[:300]}"
        self._says_nothing(case, answer)
        if case.foreign and not case.more:
            self._like_unknown(case, answer)
        if answer.status_code == 200 and "json" in answer.headers["content-type"]:
            self._counts_own(case, answer.json()["data"])
        if case.operation.writes and answer.status_code == 201:
            self._most.clear()

    def send(self, case: Case) -> httpx.Response:
        """The answer to a case."""
        operation, query = case.operation, dict(case.more)
        path = operation.path
        for name in operation.in_path:
            wanted = case.value if case.place == "path" and case.name == name else str(ids.new())
            path = path.replace(f"{{{name}}}", wanted if "%" in wanted else wanted.replace("/", "%2f"))
        if "make_id" in operation.in_query:
            query |= {"year": "2020", "provider": "insurer-a", "make_id": str(ids.new())}
        if case.place == "query":
            query[case.name] = case.value
        return self.client.request(operation.method, path, key=case.tenant.key, params=query, **self._body(case))

    def _body(self, case: Case) -> dict[str, Any]:
        operation = case.operation
        if not operation.writes:
            return {}
        own = {"policy_number": "none", "policy_id": str(ids.new())}
        own |= {name: case.tenant.file_url for name in operation.fields if name in {"loan_offer_letter", "file"}}
        body = operation.body(**{name: value for name, value in own.items() if name in operation.fields})
        if case.place in {"body", "form"}:
            body[case.name] = case.value
        if case.place == "form":
            return {"data": {name: str(value) for name, value in body.items()}, "files": {"": ("", b"")}}
        return {"json": body}

    def _says_nothing(self, case: Case, answer: httpx.Response) -> None:
        text = answer.text + str(answer.headers)
        if case.operation.writes and answer.status_code < 300 and case.name in case.operation.fields:
            # It was taken as a plate, an address or the like, and is the sender's own from then on.
            self._sent[case.tenant] |= words_in(case.value) | {case.value.lower()}
        leaked = words_in(text) & self.world.secret[case.tenant] - self._sent[case.tenant]
        assert not leaked, f"{case} tells of {sorted(leaked)[:3]}"

    def _like_unknown(self, case: Case, answer: httpx.Response) -> None:
        """Somebody else's record answers as one that does not exist: not even that it exists is told."""
        taken = case.operation.writes and answer.status_code < 300
        if taken or case.value.lower() in self._sent[case.tenant]:
            return
        shape, nobodys = unknown_like(case.value)
        key = (case.tenant.name, case.operation.name, case.place, case.name, shape)
        if key not in self._unknown:
            other = self.send(replace(case, value=nobodys))
            self._unknown[key] = (other.status_code, other.text)
        assert (answer.status_code, answer.text) == self._unknown[key], f"{case} answers unlike one that nobody has"

    def _counts_own(self, case: Case, data: Any) -> None:
        if not isinstance(data, dict) or "total_count" not in data:
            return
        (kind,) = data.keys() - {"total_count", "total", "total_result"}
        if kind in COMMON:
            return
        table = COUNTED[kind]
        if (case.tenant, table) not in self._most:
            self._most[case.tenant, table] = self.world.count(case.tenant, table)
        assert len(data[kind]) <= data["total_count"] <= self._most[case.tenant, table], f"{case} counts too many"
        for row in data[kind]:
            assert row["is_live"] is case.tenant.is_live if "is_live" in row else True, case
            assert row.get("distributor_id", str(case.tenant.partner.id)) == str(case.tenant.partner.id), case


def unknown_like(value: str) -> tuple[str, str]:
    """The shape of a name, and a name of that shape by which nothing is known."""
    if ids.is_code(value):
        return "code", ids.new_code()
    head, _, last = value.partition("/files/")
    if last:
        return f"{head}/files/", f"{head}/files/{ids.new_code()}{last[26:]}"
    if re.fullmatch(r"[0-9a-f-]{36}", value):
        return "uuid", str(ids.new())
    return value, f"z{value}"


def matrix(world: World, tenant: Tenant) -> Iterator[Case]:
    """Every operation by everything that it takes by everything that is not the tenant's."""
    others = [other for other in world.tenants if other != tenant]
    foreign = [name for other in others for names in world.known[other].values() for name in (names[0], names[-1])]
    foreign += [other.file_url for other in others]
    foreign += [other.file_url.replace("/v1/files", "/files") + "?x" for other in others]
    foreign = sorted(set(foreign) - set().union(*map(set, world.known[tenant].values())))
    nobodys = [str(ids.new()), str(ids.new()).upper(), ids.new_code(), *NO_IDS, *WILD]
    for operation in operations():
        for place, name in places(operation):
            for value in foreign:
                yield Case(tenant, operation, place, name, value, foreign=True)
            for value in nobodys:
                yield Case(tenant, operation, place, name, value, foreign=False)
        if operation in lists():
            for name, values in WIDENERS.items():
                for value in values or foreign:
                    yield Case(tenant, operation, "query", name, value, foreign=False)


def places(operation: Operation) -> list[tuple[str, str]]:
    """List the places for a foreign id: declared parameters, fields of the body, and fields that are the server's
    own.
    """
    found = [("path", name) for name in operation.in_path]
    found += [("query", name) for name in operation.in_query if name not in {"page", "limit"}]
    bodies = [place for place, media in (("body", "application/json"), ("form", "multipart/form-data"))
              if media in operation.media]  # fmt: skip
    return found + [(place, name) for place in bodies for name in (*operation.fields, *SERVER_OWNED)]


def random_case(world: World, dice: Random, values: dict[Tenant, list[str]]) -> Case:
    """Any tenant, any operation, several things at once."""
    tenant = dice.choice(world.tenants)
    operation = dice.choice([each for each in operations() if places(each)])
    place, name = dice.choice(places(operation))
    pool = values[dice.choice(world.tenants)]
    value = dice.choice((dice.choice(pool), dice.choice(pool), dice.choice(WILD), dice.choice(NO_IDS), str(ids.new())))
    more = {}
    for _ in range(dice.randrange(4)):
        other = dice.choice((*operation.in_query, *WIDENERS)) if operation.in_query else dice.choice((*WIDENERS,))
        if other != name:
            more[other] = dice.choice(WIDENERS.get(other) or pool)
    return Case(tenant, operation, place, name, value, foreign=False, more=more)


def test_no_tenant_reads_counts_or_writes_what_is_anothers(store: Store, client: Client) -> None:
    world = World(store, client)
    dice, asker = Random(SEED), Asker(world, client)
    tenant = world.tenants[0]
    others = [other for other in world.tenants if other != tenant]
    # Whoever reads the feed makes events of what is committed, everybody's.
    webhooks.catch_up(store)
    before = world.fingerprint(others)
    for operation in lists():
        # A list that is not declared above would be found at full size alone.
        asker.check(Case(tenant, operation, "query", "limit", "100", foreign=False))
    whole = list(matrix(world, tenant))
    wanted = TRIES // STORES
    chosen = dice.sample(whole, min(len(whole), wanted * 4 // 5))
    for case in chosen:
        asker.check(case)
    assert world.fingerprint(others) == before, f"something of another tenant was written (seed {SEED})"
    values = {each: sorted(world.names(each)) for each in world.tenants}
    while asker.tries < wanted:
        asker.check(random_case(world, dice, values))
    assert asker.refused > asker.tries // 4
    print(f"tenancy: {asker.tries} tries of {len(whole)} in the matrix, 0 leaks, seed {SEED}")


MODES = (
    *("mode=test", "mode=TEST", "mode=live&mode=test", "mode=test&mode=live"),
    *(
        "mode=test%00",
        "is_live=false",
        "is_live=true&mode=test",
        "mode[]=test",
        "app_mode=test",
        "mode=all",
        "Mode=test",
    ),
)


@pytest.mark.parametrize("database", ["sqlite"])
def test_no_export_mixes_modes_whatever_its_address_says(store: Store, client: Client) -> None:
    world = World(store, client)
    live, test = (frozenset().union(*(world.names(t) for t in world.tenants if t.is_live is mode))
                  for mode in (True, False))  # fmt: skip
    shared = live & test
    with store.writing(Scope.system()) as session:
        admin = staff.add_or_update(
            session, email="a@x.example", name="A", roles=["admin"], password="x" * 12, actor="tests"
        )
        cookie = {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, admin)}"}
    for kind in map(get_kind, TITLES):
        # The audit log is one for both modes.
        for query in MODES if kind.name != "audit" else ():
            answer = client.get(f"/exports/{kind.name}.csv?{query}", headers=cookie)
            assert answer.status_code in {200, 400}, (kind.name, query, answer.text[:200])
            shown, name = words_in(answer.text), answer.headers.get("content-disposition", "-live-")
            other = live if "-test-" in name else test
            assert not shown & (other - shared), (kind.name, query)
            # Loss ratios are sums of one mode, by product and distributor: they name no record.
            # A policy that its insurer needs not be told of waits for none, and no statement of this world was paid or
            # compared with a file.
            without_records = ("loss-ratios", "awaiting", "payments", "reconciliations")
            is_known = kind.name in without_records or shown & (live | test)
            assert answer.status_code != 200 or is_known, f"{kind.name} shows nothing at all"
