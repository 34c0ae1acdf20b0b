"""The claims on a policy, on its screen; people who handle claims can open them and lodge another."""

from core.services.claims.review import related
from core.services.people.staff import Person
from core.services.views.policy import PolicyDetail
from core.states.claims import CLAIMS_ROLES
from core.store.access import reading
from core.ui.claims import tabs as claim_tabs
from core.ui.frame import frame, page_links


def draw(policy: PolicyDetail, person: Person) -> None:
    """Draw every claim with its state, and the link to lodge one for people who may."""
    with reading(frame.scope()) as session:
        lines = related.list_by_policy(session, policy.id)
    works = person.has_role(*CLAIMS_ROLES)
    claim_tabs.draw_claims(lines, linked=works, empty="Nobody has claimed on this policy.")
    if works and policy.sale.policy_number:
        page_links.link(
            "claims/lodge.py",
            label="Lodge a claim on it",
            icon=":material/note_add:",
            query_params={"policy": policy.sale.policy_number, **frame.mode_query()},
        )
