"""The one form in which a subject says which state may follow which, and what that takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from core.errors import StateForbids

S = TypeVar("S", bound=StrEnum)


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition(Generic[S]):
    """One allowed change of state; `label` is its button, and `needs_other` a person who has not made the step before.

    `stamps` names the pair of columns that say who made it first, and when.
    """

    start: S
    to: S
    label: str = ""
    needs_note: bool = False
    needs_other: bool = False
    stamps: str | None = None


T = TypeVar("T", bound=Transition[Any])


class TransitionTable(Generic[T]):
    """All transitions of one subject; `noun` names it in a refusal, with its article ("A payment")."""

    def __init__(self, noun: str, transitions: Sequence[T]) -> None:
        self._noun: Final = noun
        self._by_start: dict[str, list[T]] = {}
        for each in transitions:
            self._by_start.setdefault(each.start, []).append(each)

    def __iter__(self) -> Iterator[T]:
        return (each for group in self._by_start.values() for each in group)

    def __len__(self) -> int:
        return sum(len(group) for group in self._by_start.values())

    def list_from(self, start: str) -> Sequence[T]:
        """List what may follow a state; nothing follows one that ends."""
        return self._by_start.get(start, ())

    def find(self, start: str, to: str) -> T | None:
        """Return the transition between two states, None where there is none."""
        return next((each for each in self.list_from(start) if each.to == to), None)

    def get(self, start: str, to: str) -> T:
        """Return the transition between two states; StateForbids where there is none."""
        if found := self.find(start, to):
            return found
        raise StateForbids(f"{self._noun} that is {start} cannot become {to}")


def between(noun: str, targets: Mapping[S, tuple[S, ...]]) -> TransitionTable[Transition[S]]:
    """Return the table of a subject whose transitions take nothing but the right state."""
    return TransitionTable(noun, [Transition(start=start, to=to) for start, many in targets.items() for to in many])
