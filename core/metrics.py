"""Counters and histograms of this process for Prometheus (contract O3); they cost nothing while metrics are off.

Labels are words of ours: routes, statuses, pages, insurers. Never a tenant, an id or the text of an error.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

# Where API processes of one command keep what they counted, so that any of them can answer for all.
SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_KEPT_LABELS: Final = 300


@dataclass(frozen=True, slots=True)
class Metric:
    """A counter, or with `buckets` a histogram of seconds."""

    text: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


METRICS: Final[Mapping[str, Metric]] = {
    "requests": Metric("Requests to the API.", ("route", "status")),
    "request_seconds": Metric("Time to answer a request to the API.", ("route",), _SECONDS),
    "idempotent_replays": Metric("Answers given again to a request that came a second time."),
    "requests_refused": Metric("Requests refused by a limit or for want of room.", ("reason",)),
    "deliveries": Metric("Policies sent to insurers, by what became of it.", ("insurer", "outcome")),
    "webhook_deliveries": Metric("Tries of deliveries to receivers, by what became of them.", ("outcome",)),
    "webhook_seconds": Metric("Time until a receiver answered, or a try was given up.", (), _SECONDS),
    "mails": Metric("E-mails handed over, by what became of them.", ("outcome",)),
    "exports": Metric("Files of records that were sent.", ("kind", "format")),
    "screen_seconds": Metric("Time of one run of a screen.", ("page",), _SECONDS),
    "slow_statements": Metric("Statements of the store that took longer than a quarter of a second."),
}
_live: dict[str, Any] = {}
_children: dict[tuple[str, ...], Any] = {}
_registries: list["CollectorRegistry"] = []


def enable() -> None:
    """Begin to count; safe to repeat."""
    if _live:
        return
    from prometheus_client import (  # noqa: PLC0415 costs start-up
        CollectorRegistry,
        Counter,
        Histogram,
        disable_created_metrics,
    )

    # The time at which each series began: as many again, and nothing asks for them.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    for name, metric in METRICS.items():
        if metric.buckets:
            _live[name] = Histogram(
                f"coverdesk_{name}", metric.text, metric.labels, registry=registry, buckets=metric.buckets
            )
        else:
            _live[name] = Counter(f"coverdesk_{name}", metric.text, metric.labels, registry=registry)
    _registries[:] = [registry]


def disable() -> None:
    """Stop counting and forget what was counted."""
    _live.clear()
    _children.clear()
    _registries.clear()


def count(name: str, *labels: str) -> None:
    """Add one to a counter."""
    if _live:
        _child(name, labels).inc()


def observe(name: str, seconds: float, *labels: str) -> None:
    """Add a duration to a histogram."""
    if _live:
        _child(name, labels).observe(seconds)


def _child(name: str, labels: tuple[str, ...]) -> Any:  # noqa: ANN401 - prometheus-client is imported late
    """The series of these labels; past a bound, which only a mistake of ours reaches, the rest share one."""
    key = (name, *labels)
    if (child := _children.get(key)) is None:
        if labels and sum(known[0] == name for known in _children) >= _KEPT_LABELS:
            key = (name, *("other" for _ in labels))
        metric = _live[name]
        child = _children[key] = metric.labels(*key[1:]) if labels else metric
    return child


def registry() -> "CollectorRegistry":
    """Return the registry of this process, or of all processes that share a folder."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 costs start-up
    from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415

    if not os.environ.get(SHARED_FOLDER):
        return _registries[0] if _registries else CollectorRegistry()
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    return shared
