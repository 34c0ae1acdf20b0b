"""The filters of the audit log."""

from core.services.lists.filters.declaration import Filter, of
from core.services.lists.filters.fields import Days, Text, Texts
from core.services.lists.windows import Span
from core.store.schema.tables import AuditEntry


class AuditFilter(Filter, on=(AuditEntry,)):
    """Filter of audit entries; kind and id of a record and any text are conditions of the search itself."""

    q: str | None = of(
        Text(
            label="Find",
            address="q",
            help="Any text of an entry.",
            placeholder="Any text of an entry",
            longest=100,
            searches=True,
        )
    )
    who: tuple[str, ...] = of(
        Texts(
            label="Who",
            column="actor",
            address="who",
            help="An actor as the log names it; may be repeated.",
            anything="Everybody",
        )
    )
    action: tuple[str, ...] = of(
        Texts(
            label="What",
            column="action",
            address="action",
            help="What was done; may be repeated.",
            anything="Every action",
        )
    )
    kind: str | None = of(Text(label="Kind of record", address="kind", help="Such as policy, claim or product."))
    id: str | None = of(
        Text(
            label="Its id",
            address="id",
            help="The id of the record.",
            placeholder="As the table shows it",
            longest=100,
            searches=True,
        )
    )
    created: Span = of(Days(column="created_at", address="from to"))
