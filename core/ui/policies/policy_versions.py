"""The versions of a policy as a list: as it was sold, and after each endorsement, with what each changed and cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise

from core import clock
from core.services.views.policy import PolicyDetail
from core.ui.kit import words
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version of a policy; `last_on` is None where the next version does not begin after it, or there is none.

    `difference_minor` is what its endorsement cost, `premium_minor` the premium with all endorsements so far.
    """

    number: int
    from_on: date | None
    last_on: date | None
    changed: str
    difference_minor: int | None
    premium_minor: int
    made_by: str | None
    made_at: datetime

    @property
    def name(self) -> str:
        """Name of the version in words."""
        return f"Endorsement {self.number}" if self.number else "As sold"


VERSIONS: Table[Version] = Table(
    name="versions",
    noun=("version", "versions"),
    key=lambda row: str(row.number),
    narrow=("version", "from", "changed", "difference"),
    columns={
        "version": columns.text("Version", lambda row: row.name, 130),
        "from": columns.day("Holds from", lambda row: row.from_on),
        "last": columns.day("To", lambda row: row.last_on),
        "changed": columns.text("Changed", lambda row: row.changed, 260),
        "difference": columns.naira("Premium difference", lambda row: row.difference_minor),
        "premium": columns.naira("Premium", lambda row: row.premium_minor),
        "by": columns.text("Made by", lambda row: row.made_by, 130),
        "at": columns.moment("Made", lambda row: row.made_at),
    },
)


def draw(policy: PolicyDetail) -> None:
    """Draw the versions, the newest first."""
    tables.draw_short(VERSIONS, list(list_versions(policy))[::-1])


def list_versions(policy: PolicyDetail) -> Iterator[Version]:
    """Yield the versions of a policy in the order in which they were made."""
    starts_on = clock.to_lagos_day(policy.sale.start_at) if policy.sale.start_at else None
    days = [starts_on, *(made.effective_on for made in policy.endorsements), None]
    lasts = [after - timedelta(days=1) if own and after and after > own else None for own, after in pairwise(days)]
    premium = policy.sale.total_minor
    yield Version(
        number=0,
        from_on=starts_on,
        last_on=lasts[0],
        changed="–",
        difference_minor=None,
        premium_minor=premium,
        made_by=policy.sale.distributor,
        made_at=policy.sale.created_at,
    )
    for made, last_on in zip(policy.endorsements, lasts[1:], strict=True):
        premium += made.premium_minor
        yield Version(
            number=made.number,
            from_on=made.effective_on,
            last_on=last_on,
            changed="; ".join(
                f"{words.title(change['field'])}: {change['before'] or '–'} → {change['after']}"
                for change in made.changes
            ),
            difference_minor=made.premium_minor,
            premium_minor=premium,
            made_by=made.made_by,
            made_at=made.made_at,
        )
