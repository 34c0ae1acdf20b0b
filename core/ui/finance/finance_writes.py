"""Changes of finance from dialogs, in the mode of the screen."""

from core.ui.frame import frame
from core.ui.kit.dialog_writes import DialogWrites

ROLE = "finance"
_WRITES = DialogWrites(ROLE, frame.scope)
made, submitted = _WRITES.run, _WRITES.run_with_fields
