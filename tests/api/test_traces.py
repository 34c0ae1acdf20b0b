"""The log of a request names the trace that its caller is in, and a sale keeps it for its insurer."""

import sqlalchemy as sa
from sqlmodel import col
from structlog.testing import capture_logs

from core.covers.insurers import insurer_a
from core.store.access import Scope, Store
from core.store.schema.tables import Submission
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
GIVEN = f"00-{TRACE}-00f067aa0ba902b7-01"


@every_case(("headers", "logged"), [({"traceparent": GIVEN}, TRACE), ({"traceparent": "nonsense"}, None), ({}, None)])
def test_the_log_names_the_trace(client: Client, partner: Partner, headers: dict[str, str], logged: str | None) -> None:
    with capture_logs() as log:
        assert client.get("/v1/genders", key=partner.test_key, headers=headers).status_code == 200
    (line,) = [line for line in log if line["event"] == "request"]
    assert line.get("trace_id") == logged


def test_a_sale_keeps_its_trace_for_the_insurer(client: Client, store: Store, partner: Partner) -> None:
    cover = insurer_a.THIRD_PARTY
    sent = client.post(
        f"/v1{cover.path}", key=partner.test_key, json=shipped.body(cover), headers={"traceparent": GIVEN}
    )
    assert sent.status_code == 201, sent.text
    with store.reading(Scope.system()) as session:
        assert session.execute(sa.select(col(Submission.trace_id))).scalar_one() == TRACE
