"""States of a loan book and of its rows, and the transitions between them (contract B4, B5)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from core.states.transitions import between


class LoanBookState(StrEnum):
    """The state of a loan book; `paused` is resumed where it stopped."""

    UPLOADED = "uploaded"
    READING = "reading"
    REFUSED = "refused"
    VALIDATED = "validated"
    CONFIRMED = "confirmed"
    SELLING = "selling"
    PAUSED = "paused"
    DONE = "done"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


_S = LoanBookState
TRANSITIONS: Final = between(
    "A loan book",
    {
        _S.UPLOADED: (_S.READING, _S.CANCELLED),
        # A snapshot is done once it is read: it sells and ends nothing.
        _S.READING: (_S.REFUSED, _S.VALIDATED, _S.DONE, _S.CANCELLED),
        # It is read again where rows, rates or counts have moved.
        _S.VALIDATED: (_S.CONFIRMED, _S.UPLOADED, _S.CANCELLED, _S.EXPIRED),
        _S.CONFIRMED: (_S.SELLING, _S.CANCELLED),
        _S.SELLING: (_S.DONE, _S.PAUSED),
        # What was sold until then stays sold.
        _S.PAUSED: (_S.SELLING, _S.CANCELLED),
    },
)
# A book that was given up, or that nobody confirmed, is over; what failed or stands still is red or orange.
COLOURS: Final[Mapping[LoanBookState, str]] = {
    _S.UPLOADED: "blue",
    _S.READING: "blue",
    _S.REFUSED: "red",
    _S.VALIDATED: "orange",
    _S.CONFIRMED: "blue",
    _S.SELLING: "blue",
    _S.PAUSED: "orange",
    _S.DONE: "green",
    _S.CANCELLED: "gray",
    _S.EXPIRED: "gray",
}
# States in which the worker has something to do.
WORKED: Final = (_S.UPLOADED, _S.READING, _S.CONFIRMED, _S.SELLING)
# States in which the same file may come again.
GIVEN_UP: Final = (_S.REFUSED, _S.CANCELLED, _S.EXPIRED)


class RowOutcome(StrEnum):
    """The outcome of a row: a valid one is sold or ended, which makes it covered or ended."""

    VALID = "valid"
    REFERRED = "referred"
    REJECTED = "rejected"
    COVERED = "covered"
    ENDED = "ended"
    INSURED = "insured"
    UNINSURED = "uninsured"
