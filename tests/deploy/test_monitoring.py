"""The dashboard and the alerts ask for metrics that exist, with the labels that they have."""

import json
import re
from collections.abc import Iterator

import pytest
import yaml
from fastapi.routing import APIRoute

from core import telemetry
from core.api.app import api
from core.api.outside import health
from core.desk.gauges import GAUGES
from core.settings import ROOT
from core.store.access import Store
from core.telemetry import METRICS
from tests.every_case import every_case

FOLDER = ROOT / "deploy" / "monitoring"
RULES = [rule for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"] for rule in group["rules"]]
PANELS = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
EXPRESSIONS = [rule["expr"] for rule in RULES] + [target["expr"] for panel in PANELS for target in panel["targets"]]
ALSO = {"up", "job", "instance", "le"}


def list_series(name: str) -> set[str]:
    """The series of a metric, as they are called in `/metrics`."""
    if name in GAUGES:
        return {f"coverdesk_{name}"}
    suffixes = ("_bucket", "_count", "_sum") if METRICS[name].buckets else ("_total",)
    return {f"coverdesk_{name}{suffix}" for suffix in suffixes}


@pytest.fixture
def counted() -> Iterator[None]:
    telemetry.enable_metrics()
    for name, metric in METRICS.items():
        values = ["x" for _ in metric.labels]
        telemetry.observe(name, 0.1, *values) if metric.buckets else telemetry.count(name, *values)
    yield
    telemetry.disable_metrics()


@every_case("expression", EXPRESSIONS)
def test_every_expression_asks_for_what_there_is(expression: str) -> None:
    names = set(re.findall(r"coverdesk_\w+", expression))
    assert names or expression.startswith("up{")
    assert names <= {series for name in (*METRICS, *GAUGES) for series in list_series(name)}
    labels = set(re.findall(r"(\w+)=", expression)) | {
        label for inside in re.findall(r"by \(([^)]*)\)", expression) for label in inside.split(", ")
    }
    owned = {label for name in (*METRICS, *GAUGES) if list_series(name) & names for label in labels_of(name)}
    assert labels <= owned | ALSO


def labels_of(name: str) -> tuple[str, ...]:
    return GAUGES[name][1] if name in GAUGES else METRICS[name].labels


@pytest.mark.usefixtures("counted")
def test_metrics_say_what_they_declare(store: Store) -> None:
    text = health.render()[0].decode()
    for name in METRICS:
        assert any(f"\n{series}" in text for series in list_series(name)), name
    # What needs a replica, a backup, a worker or a sale is not told of a new store.
    silent = {"replica_used", "replica_lag_seconds", "backup_age_seconds", "worker_beat_age_seconds", "sales_total"}
    # A database in a file has no clock of its own.
    silent |= {"breaker_open"} | ({"clock_skew_seconds"} if store.is_sqlite else set())
    assert {name for name in GAUGES if f"\ncoverdesk_{name}" not in text} == silent


def test_there_are_fourteen_alerts_and_each_says_what_to_do() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES) == 14
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "action"}
        assert rule["for"]


def test_a_caller_that_waits_at_the_feed_is_no_slow_request() -> None:
    quantiles = [expr for expr in EXPRESSIONS if "sum by (le) (rate(coverdesk_request_seconds" in expr]
    assert len(quantiles) == 4
    assert all('_bucket{route!="/events"}[' in expr for expr in quantiles), quantiles
    assert "/events" in {route.path for route in api.routes if isinstance(route, APIRoute)}


def test_the_dashboard_shows_every_metric() -> None:
    shown = {
        name for panel in PANELS for target in panel["targets"] for name in re.findall(r"coverdesk_\w+", target["expr"])
    }
    hidden = {name for name in (*METRICS, *GAUGES) if not list_series(name) & shown}
    assert hidden == {"up", "replica_used", "worker_beat_age_seconds"}
