"""Endpoints as an admin works them at the desk, for any distributor: the same services behind the admin's role."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.catalogue import key_admin
from core.services.events.webhooks import endpoints, log
from core.services.events.webhooks.endpoints import Endpoint, EndpointChange, EndpointRequest, NewSecret, ReplayRequest
from core.services.events.webhooks.log import Delivery
from core.services.people.accounts import require_admin
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor


def register(
    session: ScopedSession, request: EndpointRequest, *, distributor_id: UUID, is_live: bool, by: Person
) -> NewSecret:
    """Register an endpoint of a distributor."""
    require_admin(by)
    return endpoints.register(session, request, distributor_id=distributor_id, is_live=is_live, actor=by.actor)


def change(session: ScopedSession, endpoint_id: UUID, request: EndpointChange, *, by: Person) -> Endpoint:
    """Change an endpoint."""
    require_admin(by)
    return endpoints.change(session, endpoint_id, request, actor=by.actor)


def rotate_secret(session: ScopedSession, endpoint_id: UUID, *, by: Person) -> NewSecret:
    """Give an endpoint another secret."""
    require_admin(by)
    return endpoints.rotate_secret(session, endpoint_id, actor=by.actor)


def enable(session: ScopedSession, endpoint_id: UUID, *, send_held: bool, by: Person) -> int:
    """Enable an endpoint; what was held is sent or withdrawn."""
    require_admin(by)
    return endpoints.enable(session, endpoint_id, send_held=send_held, actor=by.actor)


def delete(session: ScopedSession, endpoint_id: UUID, *, by: Person) -> None:
    """Delete an endpoint."""
    require_admin(by)
    endpoints.delete(session, endpoint_id, actor=by.actor)


def redeliver(session: ScopedSession, delivery_id: UUID, *, by: Person) -> Delivery:
    """Send one delivery again."""
    require_admin(by)
    return log.redeliver(session, delivery_id, actor=by.actor)


def replay(session: ScopedSession, endpoint_id: UUID, request: ReplayRequest, *, by: Person) -> int:
    """Send the events of a span again."""
    require_admin(by)
    return log.replay(session, endpoint_id, request, actor=by.actor)


def revoke_key(session: ScopedSession, key_id: UUID, *, with_endpoints: bool, by: Person) -> int:
    """Revoke a key, and disable the endpoints that it registered if it was in wrong hands; returns how many."""
    key_admin.revoke_key(session, key_id, by=by)
    return endpoints.disable_of_key(session, key_id, actor=by.actor) if with_endpoints else 0


def list_names(session: ScopedSession) -> dict[UUID, str]:
    """Return the name of every distributor."""
    rows = session.execute(sa.select(col(Distributor.id), col(Distributor.business_name)))
    return {row.id: row.business_name for row in rows}
