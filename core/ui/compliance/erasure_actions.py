"""Preparing an erasure, deciding one of somebody else, and legal holds, each in a dialog."""

from uuid import UUID

from core.errors import StateForbids
from core.services.compliance import erasures, remembering, retention
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.retention import Hold, Preview
from core.ui.compliance.compliance_writes import carry_out, made, read, submitted
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision


def preparing(preview: Preview) -> Decision:
    """Return the dialog that prepares the erasure of what is due of a class."""
    return Decision(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"**{words.plain(preview.label)}** that were kept for {preview.period}: {words.count(preview.count)} are"
        f" due (people: {retention.MOST_AT_ONCE} at once, the oldest first). Somebody else carries it out.",
        confirm="Prepare it",
        act=lambda: made(
            lambda session, by: erasures.prepare_due(session, preview.record_class, by=by),
            "The erasure is prepared: somebody else of compliance carries it out.",
        ),
    )


def deciding(row: ErasureRow) -> Decision:
    """Return the dialog that carries an erasure out."""

    def act() -> str:
        files = carry_out(lambda session, by: erasures.carry_out(session, row.id, by=by))
        erasures.remove_files(files)
        done = f"{row.number} is carried out, with {len(files)} files. The certificate is on this page."
        try:
            return f"{done} {read(remembering.keep_list)} has it for a backup that is restored."
        except StateForbids as refusal:
            return (
                f"{done} Tell whoever makes the backups: until the next one is made, a backup that is restored brings"
                f" the person back. {refusal}."
            )

    return Decision(
        title="Carry the erasure out",
        icon="delete_forever",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}. **This cannot be undone**, not"
        " even by restoring a backup: it is erased again then.",
        confirm="Erase now",
        act=act,
    )


def refusing(row: ErasureRow) -> Decision:
    """Return the dialog that refuses an erasure."""

    return Decision(
        title="Refuse the erasure",
        icon="block",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        confirm="Refuse it",
        act=submitted(
            ("reason",),
            lambda session, typed, by: erasures.refuse(session, row.id, reason=typed["reason"], by=by),
            f"{row.number} is refused.",
        ),
    )


def taking_back(row: ErasureRow) -> Decision:
    """Return the dialog that withdraws one's own preparation."""
    return Decision(
        title="Take the erasure back",
        icon="undo",
        says="Nobody can carry it out any more.",
        confirm="Take it back",
        act=lambda: made(
            lambda session, by: erasures.take_back(session, row.id, by=by), f"{row.number} is taken back."
        ),
    )


def holding(customer_id: UUID, name: str) -> Decision:
    """Return the dialog that sets a legal hold."""

    return Decision(
        title="Set a legal hold",
        icon="gavel",
        says=f"Nothing erases the records of **{words.plain(name)}** until somebody else lifts the hold.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        confirm="Set it",
        act=submitted(
            ("reason",),
            lambda session, typed, by: retention.set_hold(session, customer_id, reason=typed["reason"], by=by),
            "The hold stands: nothing erases these records until somebody else lifts it.",
        ),
    )


def lifting(hold: Hold) -> Decision:
    """Return the dialog that lifts somebody else's hold."""
    return Decision(
        title="Lift the hold",
        icon="lock_open",
        says=f"Set by **{words.plain(hold.setter)}**: {words.plain(hold.reason)}.",
        confirm="Lift it",
        act=lambda: made(lambda session, by: retention.lift_hold(session, hold.id, by=by), "The hold is lifted."),
    )
