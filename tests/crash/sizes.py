"""Sizes of the crash tests: small in the ordinary suite, full in `make crash`."""

import os

import pytest

from tests.conftest import BOTH

CRASHES = int(os.environ.get("COVERDESK_CRASHES", "1"))
RACES = int(os.environ.get("COVERDESK_RACES", "5"))
IS_FULL = CRASHES > 1
CLIENTS = 16
# At most so many sales are acknowledged between two crashes.
SALES = 200 if IS_FULL else 60
# Where one kind of store is enough in the ordinary suite, the full size takes both.
ON_SQLITE = pytest.mark.parametrize("kind", BOTH if IS_FULL else ["sqlite"])
ON_POSTGRES = pytest.mark.parametrize("kind", BOTH if IS_FULL else BOTH[1:])
# Seconds in which a server that was told to stop has ended.
ENDS_WITHIN = 60
