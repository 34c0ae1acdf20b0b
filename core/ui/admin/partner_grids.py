"""The tables of distributors and of insurers on a screen: their columns."""

from core.services.distributors.distributor_list import DistributorRow
from core.services.insurers.insurer_list import InsurerRow
from core.ui import tables
from core.ui.tables import Table

_YEAR = "Purchases and renewals of the last twelve months, before commission."
DISTRIBUTORS: Table[DistributorRow] = Table(
    name="distributors",
    noun=("distributor", "distributors"),
    opens="admin/distributor.py",
    columns={
        "name": tables.text("Distributor", lambda row: row.name, 175),
        "active": tables.text("State", lambda row: "Active" if row.active else "Off", 70),
        "premium": tables.naira("Year's premium", lambda row: row.premium_minor, says=_YEAR),
        "policies": tables.number("Policies", lambda row: row.policies, 85),
        "customers": tables.number("Customers", lambda row: row.customers, 85),
        "keys": tables.number("Open keys", lambda row: row.keys, 85),
        "withheld": tables.number("Products off", lambda row: row.withheld, 95),
        "created": tables.day("Since", lambda row: row.created_at),
        "email": tables.text("E-mail", lambda row: row.email, 200),
    },
)
INSURERS: Table[InsurerRow] = Table(
    name="insurers",
    noun=("insurer", "insurers"),
    opens="admin/insurer.py",
    columns={
        "name": tables.text("Insurer", lambda row: row.name, 220),
        "connection": tables.text("Connection", lambda row: row.connection, 170),
        "health": tables.text("Health", lambda row: row.health.health, 95),
        "queued": tables.number("Queued", lambda row: row.health.queued, 75),
        "dead": tables.number("Set aside", lambda row: row.health.dead, 80),
        "oldest": tables.moment("Oldest waits since", lambda row: row.health.oldest_at),
        "premium": tables.naira("Year's premium", lambda row: row.premium_minor, says=_YEAR),
        "policies": tables.number("Policies", lambda row: row.policies, 85),
        "products": tables.number("Products", lambda row: row.products, 80),
        "class": tables.text("Class", lambda row: row.business_type, 140),
        "segment": tables.text("Segment", lambda row: row.segment, 90),
    },
)
