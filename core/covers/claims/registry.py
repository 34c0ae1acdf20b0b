"""The registry of claim lines, by endpoint of their cover, by claim type and by path."""

from typing import Final

from core.covers.claims.contents import CONTENTS
from core.covers.claims.credit_life import INCIDENTS
from core.covers.claims.gadget import GADGET
from core.covers.claims.line import ClaimLine, Endpoint
from core.covers.claims.marine import MARINE
from core.covers.claims.motor import MOTOR
from core.covers.claims.personal_accident import PERSONAL_ACCIDENT
from core.covers.claims.request import LossRequest
from core.covers.claims.travel import TRAVEL
from core.covers.credit_life import CREDIT_LIFE

LINES: Final = (MOTOR, TRAVEL, CONTENTS, GADGET, PERSONAL_ACCIDENT, MARINE)
_BY_TITLE: Final = {line.title: line for line in LINES}
_BY_ENDPOINT: Final = {endpoint: line for line in LINES for endpoint in line.covers}


def get_line(claim_type: str) -> ClaimLine | None:
    """Return the line of a claim's type; None for credit life, whose claims the specification lays down."""
    return _BY_TITLE.get(claim_type)


def get_line_of(endpoint: Endpoint) -> ClaimLine | None:
    """Return the line of the claims on a product, by its prefix and route name."""
    return _BY_ENDPOINT.get(endpoint)


def list_incidents(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the incidents that a claim on a product can be about; none where nothing can be claimed."""
    line = get_line_of(endpoint)
    if line is not None:
        return tuple(incident for incident in line.incidents if incident in line.covers[endpoint])
    return tuple(INCIDENTS) if endpoint == (CREDIT_LIFE.prefix, CREDIT_LIFE.route) else ()


def get_line_by_request(model: type[LossRequest]) -> ClaimLine:
    """Return the line that a request belongs to."""
    return next(line for line in LINES if line.request is model)


def list_endpoints() -> tuple[Endpoint, ...]:
    """Return every endpoint whose policies can have a claim of a line."""
    return tuple(_BY_ENDPOINT)
