"""Every operation of our own OpenAPI document, as something that can be asked with any values in it."""

import copy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from core.api.app import api


@dataclass(frozen=True)
class Operation:
    """One method of one path; what it takes in the path, the query and the body."""

    method: str
    path: str
    in_path: tuple[str, ...]
    in_query: tuple[str, ...]
    fields: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    example: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        return self.method in {"POST", "PATCH"}

    @property
    def takes_json(self) -> bool:
        return "application/json" in self.media

    def body(self, **changed: Any) -> dict[str, Any]:
        """The documented example with some fields changed."""
        return {**copy.deepcopy(self.example), **changed}


def _operation(path: str, method: str, described: dict[str, Any]) -> Operation:
    content = described.get("requestBody", {}).get("content", {})
    parameters = described.get("parameters", [])
    fields: tuple[str, ...] = ()
    example: dict[str, Any] = {}
    for media in content.values():
        fields = tuple(_resolved(media["schema"])["properties"])
        example = media.get("example", example)
    return Operation(
        method=method.upper(),
        path=f"/v1{path}",
        in_path=tuple(each["name"] for each in parameters if each["in"] == "path"),
        in_query=tuple(each["name"] for each in parameters if each["in"] == "query"),
        fields=fields,
        # A claim may be sent as JSON too, which the document says in words.
        media=(
            *content,
            *(("application/json",) if "JSON" in described.get("requestBody", {}).get("description", "") else ()),
        ),
        example=example,
    )


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = api.openapi()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return found


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation that the document states."""
    return tuple(
        _operation(path, method, described)
        for path, methods in api.openapi()["paths"].items()
        for method, described in methods.items()
    )


def posts() -> tuple[Operation, ...]:
    return tuple(each for each in operations() if each.writes)


def lists() -> tuple[Operation, ...]:
    """The operations that answer a page of many."""
    return tuple(each for each in operations() if {"page", "limit"} <= set(each.in_query))
