"""A delivery of a webhook is a span in the trace of the request behind it, and its receiver is told that span."""

import pytest

from core import telemetry
from tests.collector import Collector
from tests.events.conftest import Hooks
from tests.events.receivers import answers, receiving

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
pytestmark = pytest.mark.parametrize("database", ["sqlite"])


def test_a_delivery_is_a_span_of_the_trace_of_its_sale_and_one_that_fails_says_how(
    hooks: Hooks, collector: Collector
) -> None:
    with receiving() as receiver:
        hooks.register(receiver.url)
        with telemetry.within_trace(TRACE):
            hooks.sell()
        hooks.drain()
        receiver.behave = answers(500)
        hooks.sell()
        hooks.drain()
    telemetry.stop_spans()
    _ping, good, bad = receiver.received
    sent = {each.span_id: each for each in collector.named("POST webhook")}
    caller, untraced = (telemetry.parse_caller(each.headers["traceparent"]) for each in (good, bad))
    assert caller
    assert untraced
    assert caller.trace_id == sent[caller.span_id].trace_id == TRACE
    assert (sent[caller.span_id].kind, sent[caller.span_id].facts["http.response.status_code"]) == ("client", 200)
    assert sent[untraced.span_id].trace_id == untraced.trace_id != TRACE
    assert sent[untraced.span_id].is_failed
    assert sent[untraced.span_id].facts["error.type"] == "answered_5xx"
