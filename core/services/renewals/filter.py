"""The filters of renewals, and of the policies that are due for renewal."""

from core.services.filters.declaration import Filter, Ids, of
from core.services.filters.fields import Flag
from core.services.sales.filter import SalesFilter
from core.services.windows import Span
from core.store.schema.tables import Policy, Renewal


class RenewalFilter(SalesFilter, on=(Renewal,)):
    """Filter of the list of renewals; `status` true means that it took effect (contract P5)."""

    product_ids: Ids = SalesFilter.redeclare("product_ids", api="product_id")
    customer_email: str | None = SalesFilter.redeclare("customer_email", place="grid")
    request_sources: tuple[str, ...] = SalesFilter.redeclare("request_sources", place="grid")
    expiring: Span = SalesFilter.redeclare("expiring", address="expires_from expires_to", months_ahead=120)
    status: bool | None = of(
        Flag(
            label="Status",
            column="status",
            address="status",
            api="status",
            options={"true": "Took effect", "false": "Failed or reversed"},
            words={"true": "took effect", "false": "failed or reversed"},
            help="true for renewals that took effect, false for failed ones.",
            anything="Any status",
        )
    )


class DueFilter(Filter, on=(Policy,)):
    """Filter of the policies that are due for renewal, whatever the days until they end."""

    provider_ids: Ids = SalesFilter.redeclare("provider_ids")
    product_ids: Ids = SalesFilter.redeclare("product_ids")
    distributor_ids: Ids = SalesFilter.redeclare("distributor_ids")
