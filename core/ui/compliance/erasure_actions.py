"""Preparing an erasure, deciding one of somebody else, and legal holds, each in a dialog."""

from collections.abc import Sequence
from uuid import UUID

from core.errors import StateForbids
from core.services.compliance import erasures, remembering, retention
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.retention import Hold, Preview
from core.ui.compliance.desk import action, read
from core.ui.kit import words
from core.ui.kit.actions import Action, Text


def preparing(preview: Preview) -> Action:
    """Return the dialog that prepares the erasure of what is due of a class."""
    return action(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"**{words.plain(preview.label)}** that were kept for {preview.period}: {words.count(preview.count)} are"
        f" due (people: {retention.MOST_AT_ONCE} at once, the oldest first). Somebody else carries it out.",
        confirm="Prepare it",
        work=lambda session, _, by: erasures.prepare_due(session, preview.record_class, by=by),
        done="The erasure is prepared: somebody else of compliance carries it out.",
    )


def deciding(row: ErasureRow) -> Action:
    """Return the dialog that carries an erasure out; its files go once it is written."""
    return action(
        title="Carry the erasure out",
        icon="delete_forever",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}. **This cannot be undone**, not"
        " even by restoring a backup: it is erased again then.",
        confirm="Erase now",
        work=lambda session, _, by: erasures.carry_out(session, row.id, by=by),
        done=lambda files: _remove_files(row, files),
    )


def _remove_files(row: ErasureRow, files: Sequence[str]) -> str:
    erasures.remove_files(files)
    done = f"{row.number} is carried out, with {len(files)} files. The certificate is on this page."
    try:
        return f"{done} {read(remembering.keep_list)} has it for a backup that is restored."
    except StateForbids as refusal:
        return (
            f"{done} Tell whoever makes the backups: until the next one is made, a backup that is restored brings"
            f" the person back. {refusal}."
        )


def refusing(row: ErasureRow) -> Action:
    """Return the dialog that refuses an erasure."""
    return action(
        title="Refuse the erasure",
        icon="block",
        says=f"Prepared by **{words.plain(row.preparer)}**: {words.plain(row.reason)}.",
        confirm="Refuse it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: erasures.refuse(session, row.id, reason=typed["reason"], by=by),
        done=f"{row.number} is refused.",
    )


def taking_back(row: ErasureRow) -> Action:
    """Return the dialog that withdraws one's own preparation."""
    return action(
        title="Take the erasure back",
        icon="undo",
        says="Nobody can carry it out any more.",
        confirm="Take it back",
        work=lambda session, _, by: erasures.take_back(session, row.id, by=by),
        done=f"{row.number} is taken back.",
    )


def holding(customer_id: UUID, name: str) -> Action:
    """Return the dialog that sets a legal hold."""
    return action(
        title="Set a legal hold",
        icon="gavel",
        says=f"Nothing erases the records of **{words.plain(name)}** until somebody else lifts the hold.",
        confirm="Set it",
        fields=[Text("reason", "Reason", longest=500)],
        work=lambda session, typed, by: retention.set_hold(session, customer_id, reason=typed["reason"], by=by),
        done="The hold stands: nothing erases these records until somebody else lifts it.",
    )


def lifting(hold: Hold) -> Action:
    """Return the dialog that lifts somebody else's hold."""
    return action(
        title="Lift the hold",
        icon="lock_open",
        says=f"Set by **{words.plain(hold.setter)}**: {words.plain(hold.reason)}.",
        confirm="Lift it",
        work=lambda session, _, by: retention.lift_hold(session, hold.id, by=by),
        done="The hold is lifted.",
    )
