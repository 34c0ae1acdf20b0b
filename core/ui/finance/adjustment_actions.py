"""Proposing an adjustment and deciding one of somebody else, each in a dialog."""

from uuid import UUID

from core.services.finance import adjustments
from core.services.finance.adjustments import Proposal
from core.services.finance.movements import MovementRow
from core.ui.finance.finance_writes import made, submitted
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

_AMOUNTS = ("premium", "platform_commission", "distributor_commission")


def proposing(row: MovementRow) -> Decision:
    """Return the dialog that proposes the correction of a movement."""

    def ask() -> None:
        dialogs.field("premium", "Premium, in naira (minus takes away)", longest=20)
        dialogs.field("platform_commission", "Of it platform commission", longest=20)
        dialogs.field("distributor_commission", "Of it distributor commission", longest=20)
        dialogs.field("reason", "Reason", longest=500)

    return Decision(
        title="Propose an adjustment",
        icon="edit_note",
        says="What you type is **added** to the money of this policy, dated when somebody else confirms it. The"
        " insurer's share is what remains of the premium.",
        asks=ask,
        given=dict.fromkeys(_AMOUNTS, "0.00"),
        confirm="Propose it",
        act=submitted(
            (
                *_AMOUNTS,
                "reason",
            ),
            lambda session, typed, by: adjustments.propose(session, row.id, typed, by=by),
            "The adjustment is proposed: somebody else of finance confirms it.",
        ),
    )


def confirming(proposal: Proposal) -> Decision:
    """Return the dialog that confirms somebody else's proposal."""
    return Decision(
        title="Confirm the adjustment",
        icon="fact_check",
        says=f"**{words.plain(proposal.proposer)}** proposed {words.naira(proposal.parts.total_minor)}:"
        f" {words.plain(proposal.reason)}. It becomes a movement of today, and cannot be taken back.",
        confirm="Confirm it",
        act=lambda: made(
            lambda session, by: adjustments.confirm(session, proposal.id, by=by), "The adjustment is confirmed."
        ),
    )


def refusing(proposal: Proposal) -> Decision:
    """Return the dialog that refuses somebody else's proposal, with a reason."""

    return Decision(
        title="Refuse the adjustment",
        icon="block",
        says=f"Proposed by **{words.plain(proposal.proposer)}**: {words.plain(proposal.reason)}.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        confirm="Refuse it",
        act=submitted(
            ("reason",),
            lambda session, typed, by: adjustments.refuse(session, proposal.id, reason=typed["reason"], by=by),
            "The adjustment is refused.",
        ),
    )


def taking_back(proposal_id: UUID) -> Decision:
    """Return the dialog that withdraws one's own proposal."""
    return Decision(
        title="Take the proposal back",
        icon="undo",
        says="Nobody can confirm it any more.",
        confirm="Take it back",
        act=lambda: made(
            lambda session, by: adjustments.take_back(session, proposal_id, by=by), "The proposal is taken back."
        ),
    )
