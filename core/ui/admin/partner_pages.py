"""Lookup of the record named in the URL, shared by the screens of one distributor and of one insurer."""

from typing import TypeVar
from uuid import UUID

from core.services.insurers.list import InsurerRow
from core.services.sales.distributors import DistributorRow
from core.ui.frame import frame, page_links
from core.ui.lists import columns
from core.ui.lists.tables import Table

_YEAR = "Purchases and renewals of the last twelve months, before commission."
DISTRIBUTORS: Table[DistributorRow] = Table(
    name="distributors",
    noun=("distributor", "distributors"),
    opens="admin/distributor.py",
    orders={
        "name": "Names from A to Z",
        "name-back": "Names from Z to A",
        "newest": "Newest first",
        "oldest": "Oldest first",
    },
    narrow=("name", "active", "premium", "policies"),
    columns={
        "name": columns.text("Distributor", lambda row: row.name, 220, sorts=("name", "name-back")),
        "active": columns.state("State", lambda row: "Active" if row.active else "Off"),
        "premium": columns.naira("Year's premium", lambda row: row.premium_minor, says=_YEAR),
        "policies": columns.number("Policies", lambda row: row.policies),
        "customers": columns.number("Customers", lambda row: row.customers),
        "keys": columns.number("Open keys", lambda row: row.keys),
        "withheld": columns.number("Products off", lambda row: row.withheld),
        "created": columns.day("Since", lambda row: row.created_at, sorts=("oldest", "newest")),
        "email": columns.text("E-mail", lambda row: row.email, 200),
    },
)
INSURERS: Table[InsurerRow] = Table(
    name="insurers",
    noun=("insurer", "insurers"),
    opens="admin/insurer.py",
    narrow=("name", "health", "queued", "premium"),
    columns={
        "name": columns.text("Insurer", lambda row: row.name, 220),
        "connection": columns.text("Connection", lambda row: row.connection, 170),
        "health": columns.state("Health", lambda row: row.health.health),
        "queued": columns.number("Queued", lambda row: row.health.queued),
        "dead": columns.number("Set aside", lambda row: row.health.dead),
        "oldest": columns.moment("Oldest waits since", lambda row: row.health.oldest_at),
        "premium": columns.naira("Year's premium", lambda row: row.premium_minor, says=_YEAR),
        "policies": columns.number("Policies", lambda row: row.policies),
        "products": columns.number("Products", lambda row: row.products),
        "class": columns.text("Class", lambda row: row.business_type, 140),
        "segment": columns.text("Segment", lambda row: row.segment, 90),
    },
)


T = TypeVar("T")


def agreement_link(account: str, party_id: UUID) -> None:
    """Draw the link to the agreement with a distributor or an insurer ("provider")."""
    page_links.link(
        "admin/agreement.py",
        label="Agreement",
        icon=":material/contract:",
        query_params={"party": account, "id": str(party_id), **frame.mode_query()},
    )


def log_link(kind: str, record_id: UUID) -> None:
    """Draw the link to all audit log entries about a record."""
    page_links.link(
        "admin/audit_log.py",
        label="In the audit log",
        icon=":material/history:",
        query_params={"kind": kind, "id": str(record_id), **frame.mode_query()},
    )
