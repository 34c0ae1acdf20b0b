"""Changes of finance from dialogs, in the mode of the screen."""

from core.ui.frame import frame
from core.ui.kit.dialog_writes import DialogWrites

ROLE = "finance"
_WRITES = DialogWrites(ROLE, frame.scope)
carry_out, made, submitted = _WRITES.carry_out, _WRITES.run, _WRITES.run_with_fields
