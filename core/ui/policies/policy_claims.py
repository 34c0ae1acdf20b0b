"""The claims on a policy, on its screen; who works claims can open them and lodge another."""

from typing import Final

import streamlit as st

from core.services.claims import claim_kin
from core.services.claims.claim_moves import DESK
from core.services.people.staff import Person
from core.services.policies.policy_detail import PolicyDetail
from core.store.engine import reading
from core.ui import frame
from core.ui.claims import claim_tabs

_CLAIMED_HERE: Final = "Credit Life"


def draw(policy: PolicyDetail, person: Person) -> None:
    """Every claim with where it stands, and the way to lodge one where the desk may."""
    with reading(frame.scope()) as session:
        lines = claim_kin.of_policy(session, policy.id)
    works = person.may(*DESK)
    claim_tabs.others(lines, linked=works, empty="Nobody has claimed on this policy.")
    if works and policy.sale.category == _CLAIMED_HERE and policy.sale.policy_number:
        st.page_link(
            "claims/lodge.py",
            label="Lodge a claim on it",
            icon=":material/note_add:",
            query_params={"policy": policy.sale.policy_number, **frame.mode_query()},
        )
