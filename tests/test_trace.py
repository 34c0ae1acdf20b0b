"""A trace is taken from the caller, stands in the log, and goes on to the insurer of what was sold in it."""

import re

from core import telemetry
from tests.every_case import every_case

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
GIVEN = f"00-{TRACE}-00f067aa0ba902b7-01"


@every_case("header", [GIVEN, f"01-{TRACE}-00f067aa0ba902b7-00-later"])
def test_a_trace_is_read_from_its_header(header: str) -> None:
    caller = telemetry.parse_caller(header)
    assert caller is not None
    assert caller.trace_id == TRACE


@every_case(
    "header",
    [
        "",
        TRACE,
        GIVEN.upper(),
        GIVEN + "x",
        f"ff-{TRACE}-00f067aa0ba902b7-01",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-{TRACE}-{'0' * 16}-01",
        GIVEN.replace("-", "_"),
    ],
)
def test_what_is_not_well_formed_is_no_trace(header: str) -> None:
    assert telemetry.parse_caller(header) is None


def test_a_trace_goes_on_with_a_span_of_ours() -> None:
    with telemetry.within_trace(TRACE):
        header, again = (telemetry.build_trace_headers()[telemetry.TRACE_HEADER] for _ in range(2))
    assert re.fullmatch(rf"00-{TRACE}-[0-9a-f]{{16}}-01", header)
    assert header != again
    with telemetry.within_trace(TRACE, "00f067aa0ba902b7"):
        assert telemetry.build_trace_headers() == {telemetry.TRACE_HEADER: GIVEN}
    assert telemetry.build_trace_headers() == {}


def test_nothing_is_in_a_trace_unless_it_was_begun_in_one() -> None:
    assert telemetry.current_trace() is None
    with telemetry.within_trace(TRACE):
        assert telemetry.current_trace() == TRACE
    assert telemetry.current_trace() is None
