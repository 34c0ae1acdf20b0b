"""Sales over HTTP of the examples of covers, for the tests of the API."""

from typing import Any

from core.covers.cover import Cover, ResponseShape
from tests.api.conftest import Client
from tests.covers import shipped

UNKNOWN = "01900000-0000-7000-8000-0000000000ff"


def buy(client: Client, key: str, cover: Cover[Any], **changed: Any) -> dict[str, Any]:
    """The policy that a purchase answered with."""
    answer = client.post(f"/v1{cover.path}", key=key, json=shipped.body(cover, **changed))
    assert answer.status_code == 201, answer.text
    data = answer.json()["data"]
    policy: dict[str, Any] = data["policy"] if cover.response_shape is ResponseShape.UNDER_POLICY else data
    return policy


def data_of(client: Client, key: str, path: str) -> Any:
    """The data of a read that went well."""
    answer = client.get(f"/v1/{path}", key=key)
    assert answer.status_code == 200, answer.text
    assert answer.json()["responseCode"] == 1
    return answer.json()["data"]


def page_of(key: str, rows: list[Any], total: int | None = None) -> dict[str, Any]:
    """The data of a page with these rows; as many as there are in all unless `total` says otherwise."""
    count = len(rows) if total is None else total
    return {key: rows, "total_count": count, "total": count, "total_result": count}


def broken(answer: Any) -> list[str]:
    """The fields that a refusal names."""
    assert answer.status_code == 400, answer.text
    return [fault["field"] for fault in answer.json()["errorData"]]
