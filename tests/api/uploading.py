"""Uploading over the API, for the tests of files."""

from typing import Any

from tests.api.conftest import Client

UPLOAD = "/v1/upload-file"


def uploaded(client: Client, key: str, content: bytes, name: str = "paper.bin") -> dict[str, Any]:
    answer = client.post(UPLOAD, key=key, files={"file": (name, content)})
    assert answer.status_code == 201, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def path_in(link: str) -> str:
    return link.removeprefix("http://127.0.0.1:8501")
