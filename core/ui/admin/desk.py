"""The admin's desk: what its screens change is over every record, and what is shown once after it."""

from functools import partial

from core.store.access import Scope
from core.ui.kit.actions import Action

ROLE = "admin"
action = partial(Action, roles=(ROLE,), scope=Scope.system)
