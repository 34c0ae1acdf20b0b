"""A call to an insurer is a span in the trace of its sale, and the insurer is told that span."""

import pytest

from core import telemetry
from tests.collector import Collector
from tests.insurers.conftest import IMPATIENT, Line

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
pytestmark = pytest.mark.parametrize("database", ["sqlite"])


def test_a_call_is_a_span_of_the_trace_of_its_sale_and_one_that_fails_says_how(
    line: Line, collector: Collector
) -> None:
    with telemetry.within_trace(TRACE):
        sale = line.sell()
        line.sell("hangs", registration_number="KJA-777ZZ")
    line.drain(limits=IMPATIENT)
    telemetry.stop_spans()
    calls = collector.named("POST insurer-b")
    assert {(each.kind, each.trace_id) for each in calls} == {("client", TRACE)}
    (good,) = [each for each in calls if not each.is_failed]
    (bad,) = [each for each in calls if each.is_failed]
    assert good.facts["http.response.status_code"] == 200
    assert bad.facts["error.type"] == "slow"
    caller = telemetry.parse_caller(str(line.read_record(sale).traceparent))
    assert caller
    assert (caller.trace_id, caller.span_id) == (TRACE, good.span_id)
    assert b"example.com" not in b"".join(collector.bodies)
