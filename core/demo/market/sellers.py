"""Invented distributors with their keys, how much each sells of what, and the officers of the desk."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from random import Random
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core.demo.bulk_rows import Rows, stamp
from core.demo.random_source import new_id
from core.store.access import ScopedSession
from core.store.schema.parties import ApiKey, Distributor, Staff

# What a kind of distributor sells beside or instead of the common mix: a factor per group of products.
LENDER = {"credit life": 5.0, "personal accident": 0.6, "auto": 0.08, "comprehensive": 0.05, "content": 0.2}
DEALER = {"auto": 2.0, "comprehensive": 3.0, "mini": 2.5, "credit life": 0.15, "content": 0.2}
AGENCY = {"auto": 1.4, "content": 1.8, "personal accident": 1.3, "credit life": 0.3}
TRAVELLER = {"travel": 14.0, "auto": 0.1, "comprehensive": 0.05, "credit life": 0.0, "content": 0.1}
SHOP = {"gadget": 9.0, "content": 1.5, "credit life": 0.8, "auto": 0.3, "travel": 0.3}
PORT = {"marine": 40.0, "auto": 0.5, "credit life": 0.0, "personal accident": 0.1, "travel": 0.6}
COMMON: Mapping[str, float] = {}

# (name, kind, share of the purchases, the month of the demonstration in which it began)
_DISTRIBUTORS = (
    ("Palmgrove Microcredit", LENDER, 30, 0),
    ("Tollgate Auto Hub", DEALER, 15, 0),
    ("Ekomarket", COMMON, 11, 0),
    ("Roadmark Motors", DEALER, 8, 0),
    ("Silverbrook Lending", LENDER, 8, 3),
    ("Harmattan Travels", TRAVELLER, 6, 0),
    ("Brightscreen Devices", SHOP, 5, 0),
    ("Okoro & Daughters Agency", AGENCY, 5, 0),
    ("Northgate Cooperative", LENDER, 4, 0),
    ("Lagoon Freight Desk", PORT, 4, 5),
    ("Calabash Brokers", AGENCY, 3, 9),
    ("Kingfisher Rides", {**DEALER, "comprehensive": 0.3}, 4, 14),
)
_OFFICERS = (
    ("claims@coverdesk.example", "Ifeoma Udeh", ["claims"], 50_000_000),
    ("supervisor@coverdesk.example", "Babatunde Alabi", ["claims", "supervisor"], None),
    ("h.sambo@coverdesk.example", "Hadiza Sambo", ["claims"], 50_000_000),
    ("e.okon@coverdesk.example", "Emmanuel Okon", ["claims"], 25_000_000),
    ("r.adeyemi@coverdesk.example", "Ronke Adeyemi", ["claims", "supervisor"], None),
)


@dataclass(frozen=True, slots=True)
class Seller:
    """A distributor that sells: its id, its actor in the audit log by mode, and what it is like."""

    id: str
    actors: Mapping[bool, str]
    kind: Mapping[str, float]
    share: float
    since_month: int


@dataclass(frozen=True, slots=True)
class Officer:
    """A claims officer of the desk; `limit_minor` is how much they may decide alone."""

    id: str
    email: str
    limit_minor: int | None

    def may_decide(self, minor: int) -> bool:
        """True for an amount within the officer's own authority."""
        return self.limit_minor is None or minor <= self.limit_minor

    @property
    def actor(self) -> str:
        """The officer's name in the audit log."""
        return f"staff {self.email}"


def enlist(session: ScopedSession, rows: Rows, dice: Random, began: datetime) -> list[Seller]:
    """The distributors, written at once where they are new; their keys are added to the rows."""
    sellers = []
    for name, kind, share, month in _DISTRIBUTORS:
        mailbox = "".join(letter for letter in name.lower() if letter.isalpha())
        fresh = Distributor(
            id=UUID(new_id(dice, began)),
            business_name=name,
            email=f"integrations@{mailbox}.example",
            created_at=began,
            updated_at=began,
        )
        seller_id = _known_as(session, fresh, "business_name")
        actors = {live: f"key {_key(rows, dice, seller_id, began, is_live=live)}" for live in (True, False)}
        sellers.append(Seller(seller_id, actors, kind, share, month))
    return sellers


def officers(session: ScopedSession, dice: Random, began: datetime) -> list[Officer]:
    """The people who decide claims, written where they are new; nobody can sign in as one without a password."""
    desk = []
    for email, name, roles, limit in _OFFICERS:
        fresh = Staff(
            id=UUID(new_id(dice, began)),
            email=email,
            name=name,
            roles=roles,
            claim_limit_minor=limit,
            created_at=began,
            updated_at=began,
        )
        desk.append(Officer(_known_as(session, fresh, "email"), email, limit))
    return desk


def _known_as(session: ScopedSession, fresh: Distributor | Staff, field: str) -> str:
    """The id of the row with the same name or e-mail: an earlier one, or this one, written now."""
    session.insert_if_absent(fresh)
    entity: type[SQLModel] = type(fresh)
    known = sa.select(col(getattr(entity, "id"))).where(col(getattr(entity, field)) == getattr(fresh, field))  # noqa: B009
    return UUID(str(session.execute(known).scalar_one())).hex


def _key(rows: Rows, dice: Random, seller_id: str, began: datetime, *, is_live: bool) -> UUID:
    """A key whose secret nobody has: its hash is thrown, not computed."""
    key_id = UUID(new_id(dice, began))
    prefix, letters = f"cd_{'live' if is_live else 'test'}_", f"{dice.getrandbits(32):08x}"
    rows.add(
        ApiKey,
        {
            "id": key_id.hex,
            "created_at": stamp(began),
            "updated_at": stamp(began),
            "distributor_id": seller_id,
            "is_live": is_live,
            "name": "Production" if is_live else "Sandbox",
            "hint": f"{prefix}{letters[:4]}…{letters[4:]}",
            "key_hash": f"{dice.getrandbits(256):064x}",
        },
    )
    return key_id
