"""The parameters of selections, as commands offer them and as receipts put them into words."""

from core.services.exports.exports import Parameter

FROM = Parameter(name="from", title="From", says="First day, YYYY-MM-DD in Lagos.")
TO = Parameter(name="to", title="To", says="Last day, that day included.")
_NAMED = "A name, an id or insurer-a ... insurer-g; repeat it for any of several."
DISTRIBUTOR = Parameter(name="distributor", title="Distributor", says=_NAMED, many=True, names="distributor")
OF_SALES = (
    FROM,
    TO,
    Parameter(name="provider", title="Insurer", says=_NAMED, many=True, names="provider"),
    Parameter(name="category", title="Category", says=_NAMED, many=True, names="category"),
    Parameter(name="product", title="Product", says=_NAMED, many=True, names="product"),
    DISTRIBUTOR,
    Parameter(name="email", title="E-mail", says="E-mail of the customer."),
    Parameter(name="source", title="Source", says="Where sales came from: api, desk, ...", many=True),
)
EXPIRING = (
    Parameter(name="expires_from", title="Expires from", says="First day of expiry, YYYY-MM-DD."),
    Parameter(name="expires_to", title="Expires to", says="Last day of expiry, that day included."),
)
