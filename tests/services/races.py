"""Works that begin together."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from core.errors import CoverdeskError


def run_at_once(*works: Callable[[], object]) -> list[CoverdeskError | None]:
    """Begin all works at one moment, each in a thread; return the refusal of each, None where it succeeded."""
    meet = Barrier(len(works))

    def attempt(work: Callable[[], object]) -> CoverdeskError | None:
        meet.wait()
        try:
            work()
        except CoverdeskError as error:
            return error
        return None

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(attempt, works))
