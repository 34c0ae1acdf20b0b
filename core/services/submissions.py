"""What insurers have to be told, written in the sale's own transaction."""

from core import clock
from core.settings import settings
from core.store.scope import ScopedSession
from core.store.tables import Policy, Submission


def open_for(session: ScopedSession, policy: Policy, segment: str) -> None:
    """Queue a policy for its insurer; without a connection it is issued here and reported by bordereau."""
    delegated = policy.submitted_to_provider and settings().insurer_url(segment) is None
    session.insert(
        Submission(
            distributor_id=policy.distributor_id,
            is_live=policy.is_live,
            policy_id=policy.id,
            provider_id=policy.provider_id,
            state="delegated" if delegated else "queued",
            next_try_at=None if delegated else clock.now(),
            created_at=clock.now(),
            updated_at=clock.now(),
        )
    )
