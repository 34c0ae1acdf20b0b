"""The registry of all covers, by the endpoint that sells them."""

from collections.abc import Mapping
from typing import Any

from core.covers import credit_life
from core.covers.cover import Cover
from core.covers.insurers import insurer_a, insurer_b, insurer_c, insurer_d, insurer_e, insurer_f, insurer_g
from core.covers.request import Request

COVERS: tuple[Cover[Any], ...] = (
    *insurer_a.COVERS,
    *insurer_b.COVERS,
    *insurer_c.COVERS,
    *insurer_d.COVERS,
    *insurer_e.COVERS,
    *insurer_f.COVERS,
    *insurer_g.COVERS,
    *credit_life.COVERS,
)
_BY_ENDPOINT = {(cover.prefix, cover.route): cover for cover in COVERS}
# What the policies of endpoints that sell no more say of the thing insured.
_RETIRED: Mapping[tuple[str, str], type[Request]] = {("insurer-b", "buy-gadget"): insurer_b.GadgetRequest}


def get_cover(prefix: str, route: str) -> Cover[Any] | None:
    """Return the cover of a product row's `prefix` and `route_name`, or None if no endpoint sells it."""
    return _BY_ENDPOINT.get((prefix, route))


def get_request(prefix: str, route: str) -> type[Request] | None:
    """Return the request of an endpoint, also of one that sells no more; None for an unknown one."""
    cover = get_cover(prefix, route)
    return cover.request if cover else _RETIRED.get((prefix, route))
