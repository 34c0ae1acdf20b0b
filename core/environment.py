"""The variables of the environment that are ours: which exist, and which is meant by one that does not."""

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Final

from core.paths import ROOT

PREFIX: Final = "COVERDESK_"
PROVIDERS = ROOT / "data" / "catalogue" / "providers.json"
# Read by `coverdesk verify`, tests and benchmarks: a server passes over exactly these.
READ_ELSEWHERE: Final = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *(
            "VERIFY_KEY",
            "TESTS_REQUIRE",
            "TESTS_DATABASES",
            "GENERATE_CLIENT",
            "BENCH_EMAIL",
            "BENCH_FOLDER",
            "BENCH_ONLY",
            "BENCH_SIZES",
            "BENCH_STORE",
        ),
        *(
            "CORPUS_TRIES",
            "CRASHES",
            "DISHONEST_STEPS",
            "E2E_SEVERAL",
            "FUZZ_CASES",
            "OVERLOAD_SECONDS",
            "RACES",
            "RANDOM_MONTHS",
            "RANDOM_SALES",
            "SELL_EVERY_COVER",
        ),
        *("SOAK_PURCHASES", "SOAK_REQUESTS", "SOAK_SECONDS", "TENANCY_TRIES"),
    )
)


def coverdesk_variables() -> dict[str, str]:
    """Our variables as this process has them, in capitals."""
    return {name.upper(): value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def insurer_variables(parts: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the insurer of the shipped catalogue and the part of its connection that each variable sets."""
    parts = list(parts)
    segments = [row["segment"] for row in json.loads(PROVIDERS.read_text(encoding="utf-8"))]
    return {
        f"{PREFIX}{segment}_{part}".replace("-", "_").upper(): (segment, part) for segment in segments for part in parts
    }


def by_insurer(variables: Mapping[str, str], places: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, str]]:
    """The parts of each insurer's connection that are given."""
    found: dict[str, dict[str, str]] = {}
    for name, (segment, part) in places.items():
        if name in variables:
            found.setdefault(segment, {})[part] = variables[name]
    return found


def unknown(variables: Iterable[str], real: Iterable[str]) -> list[str]:
    """A line for each variable that nothing reads, with the nearest that exists."""
    names = sorted(real)
    return [
        f"{name}: is no setting; the nearest is {difflib.get_close_matches(name, names, n=1, cutoff=0)[0]}"
        for name in sorted(set(variables) - set(names) - READ_ELSEWHERE)
    ]
