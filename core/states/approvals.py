"""The frozen subject of an approval: each part as a keyed hash, and one fingerprint of the whole (contract K3)."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from core import seal


def freeze(parts: Mapping[str, Any]) -> dict[str, str]:
    """Return each part of a subject as a keyed hash: a part may hold a name or an account, and is kept for ever."""
    return {name: seal.keyed_hash("approved part", json.dumps(value, default=str)) for name, value in parts.items()}


def fingerprint(  # noqa: PLR0913 - all that an approval says, each by its name
    *,
    approval_id: UUID | str,
    kind: str,
    subject_id: UUID | str,
    amount_minor: int | None,
    limit_minor: int | None,
    role: str,
    staff_id: UUID | str,
    approved_at: datetime,
    parts: Mapping[str, str],
) -> str:
    """Return the keyed hash of an approval, which nobody can make who has the database alone."""
    ids = [UUID(str(each)).hex for each in (approval_id, subject_id, staff_id)]
    at = approved_at if approved_at.tzinfo else approved_at.replace(tzinfo=UTC)
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    whole = [*ids, kind, amount_minor, limit_minor, role, moment, sorted(parts.items())]
    return seal.keyed_hash("approval", json.dumps(whole))
