"""CPU seconds of commands that do next to nothing, on the store of the environment."""

import resource
import subprocess
import sys
from typing import Final

from tests.load.serving import COVERDESK

TRIES: Final = 5
COMMANDS: Final = (
    ("--version",),
    ("keys", "list"),
    ("export", "purchases", "--from", "2031-01-01", "--to", "2031-01-02"),
    ("status",),
)


def cpu_seconds(words: tuple[str, ...]) -> float:
    """The least of some tries, which a busy machine disturbs less than the time on the clock."""
    best = float("inf")
    for _ in range(TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([COVERDESK, *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


if __name__ == "__main__":
    for words in COMMANDS:
        sys.stdout.write(f"{cpu_seconds(words):5.2f} s  coverdesk {' '.join(words)}\n")
