"""Four tenants with a record of every kind each: two distributors in two modes, none of whom may notice another."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

import sqlalchemy as sa

from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_a
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.store.access import Scope, Store
from core.store.access.scope import owned_entities
from core.store.schema.tables import Statement
from tests import papers
from tests.api.claiming import LODGE
from tests.api.conftest import Client
from tests.api.selling import buy
from tests.conftest import Partner, make_partner
from tests.portfolio import Portfolio
from tests.services.finance_office import Finance

# What a tenant could know another by; the catalogue's ids are everybody's.
_OWN_TEXTS = ("code", "policy_number", "email", "email_key", "certificate_code", "plate_key")
_COMMON = {"product_id", "product_category_id", "provider_id", "product_version_id"}
_TOKEN = re.compile(r"[A-Za-z0-9@_+-]+")
_TEST_NUMBER = re.compile(r"TEST/[^\s\",]+")


@dataclass(frozen=True)
class Tenant:
    """A distributor in one mode: its key, and what it uploaded."""

    name: str
    partner: Partner
    is_live: bool
    file_url: str = field(compare=False)

    @property
    def key(self) -> str:
        return self.partner.live_key if self.is_live else self.partner.test_key

    def owns(self, row: Any) -> bool:
        return bool(row.distributor_id == self.partner.id and row.is_live == self.is_live)


class World:
    """The store with its four tenants."""

    def __init__(self, store: Store, client: Client) -> None:
        self.store, self.client = store, client
        partners = [make_partner(store, name) for name in ("Swift Lenders", "Other Motors")]
        self.tenants = tuple(
            self._tenant(partner, is_live=is_live, seed=seed)
            for seed, (partner, is_live) in enumerate((p, mode) for p in partners for mode in (False, True))
        )
        self._send_statements(partners)

    def _send_statements(self, partners: list[Partner]) -> None:
        finance = Finance(self.store)
        for party in (Party("distributor", each.id) for each in partners):
            month = finance.read(statements.find_due_month, party)
            made = finance.do(statements.prepare, party, month, by="funmi")
            finance.do(statements.move, made, "Approved", by="femi")
            finance.do(statements.move, made, "Sent", by="femi")

    def _tenant(self, partner: Partner, *, is_live: bool, seed: int) -> Tenant:
        # Sizes differ, so that a count of somebody else's records cannot pass for one's own.
        Portfolio(seed=seed + 1, size=16 + 3 * seed, sellers=(partner.id,), is_live=is_live).write(self.store)
        key = partner.live_key if is_live else partner.test_key
        who = {"email": f"owner{seed}@tenant{seed}.example", "first_name": f"Tenant{'abcd'[seed]}"}
        buy(self.client, key, insurer_a.THIRD_PARTY, registration_number=f"TEN{seed}00", **who)
        number = buy(self.client, key, CREDIT_LIFE, **who)["meta"]["policy_number"]
        sent = self.client.post("/v1/upload-file", key=key, files={"file": (f"tenant{seed}.pdf", papers.pdf())})
        url = sent.json()["data"]["file_url"]
        self._lodge(key, number, url)
        return Tenant(f"tenant{seed}", partner, is_live, url)

    def _lodge(self, key: str, number: str, url: str) -> None:
        body = {
            "policy_number": number,
            "incident_type": "Loss of job",
            "accidental": False,
            "loan_offer_date": "2026-08-01",
            "loan_repayment_date": "2027-08-01",
            "loan_amount": 100000,
            "pending_repayment_amount": 75000,
            "loan_offer_letter": url,
            "employment_termination_letter": url,
        }
        answer = self.client.post(LODGE, key=key, json=body)
        assert answer.status_code == 201, answer.text

    def rows(self) -> dict[str, list[Any]]:
        """Every row that belongs to somebody, by table."""
        with self.store.reading(Scope.system()) as session:
            # A statement has no mode of its own: all are of live records.
            statements_query = sa.select(*sa.inspect(Statement).columns, sa.literal(value=True).label("is_live"))
            return {
                entity.__tablename__: list(session.execute(sa.select(*sa.inspect(entity).columns)))
                for entity in owned_entities()
            } | {"statement": list(session.execute(statements_query))}

    @cached_property
    def known(self) -> dict[Tenant, dict[str, list[str]]]:
        """Return the identifiers of each tenant's records by kind: `customer` -> ids, `policy.email` -> addresses."""
        found: dict[Tenant, dict[str, list[str]]] = {tenant: {} for tenant in self.tenants}
        for table, rows in self.rows().items():
            for tenant in self.tenants:
                mine = [row for row in rows if tenant.owns(row)]
                for column, values in _names(mine).items():
                    kind = table if column == "id" else f"{table}.{column}"
                    found[tenant][kind] = sorted(values)
        return found

    def names(self, tenant: Tenant) -> frozenset[str]:
        """Everything by which records of a tenant are known, in lower case."""
        kinds = self.known[tenant].values()
        return frozenset(name.lower() for names in kinds for name in names)

    @cached_property
    def secret(self) -> dict[Tenant, frozenset[str]]:
        """Return the texts that each tenant must never read: the names of the others' records."""
        return {
            tenant: frozenset().union(*(self.names(other) for other in self.tenants if other != tenant))
            - self.names(tenant)
            for tenant in self.tenants
        }

    def fingerprint(self, tenants: Iterable[Tenant]) -> str:
        """A hash of every row of some tenants: whatever is written to one of them changes it."""
        chosen = tuple(tenants)
        digest = hashlib.sha256()
        for table, rows in sorted(self.rows().items()):
            mine = sorted(repr(tuple(row)) for row in rows if any(tenant.owns(row) for tenant in chosen))
            digest.update("\n".join([table, *mine]).encode())
        return digest.hexdigest()

    def count(self, tenant: Tenant, table: str) -> int:
        """Return the number of records of a table that a tenant has."""
        return sum(tenant.owns(row) for row in self.rows()[table])


def _names(rows: list[Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        for column, value in row._mapping.items():
            if (isinstance(value, UUID) and column not in _COMMON) or (value and column in _OWN_TEXTS):
                found.setdefault(column, set()).add(str(value))
    return found


def words_in(text: str) -> frozenset[str]:
    """Every word of an answer by which a record could be known: whole JSON texts, and what stands inside them."""
    whole = re.findall(r'"([^"]*)"', text)
    # A test policy's number is one word: behind its slash may stand what is a live policy's whole number.
    numbers = _TEST_NUMBER.findall(text)
    tokens = _TOKEN.findall(_TEST_NUMBER.sub(" ", text))
    return frozenset(word.lower() for word in (*whole, *numbers, *tokens))
