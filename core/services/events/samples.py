"""The JSON schema of each type of event, and a sample that fits it."""

from typing import Any, Final

from core.services.events.appending import VERSION, object_path
from core.services.events.catalogue import EventType

_OBJECT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000f1"
_EVENT_ID: Final = "01a1f7c0-3c00-7000-8000-0000000000e1"


def build_schema(made: EventType) -> dict[str, Any]:
    """Return the JSON schema of an event's whole body."""
    data = made.data.model_json_schema()
    definitions = data.pop("$defs", {})
    text: dict[str, Any] = {"type": "string"}
    fields: dict[str, Any] = {
        "id": {**text, "format": "uuid"},
        "type": {"const": made.name},
        "timestamp": {**text, "format": "date-time"},
        "mode": {"enum": ["live", "test"]},
        "version": {"const": VERSION},
        "sequence": {"type": "integer", "minimum": 1},
        "object": {
            "type": "object",
            "properties": {"type": {"const": made.object}, "id": {**text, "format": "uuid"}, "url": text},
            "required": ["type", "id", "url"],
            "additionalProperties": False,
        },
        "data": data,
        "previous": {"type": "object", "properties": data["properties"], "additionalProperties": False},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": made.name,
        "description": made.when,
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
        **({"$defs": definitions} if definitions else {}),
    }


def build_sample(made: EventType) -> dict[str, Any]:
    """Return an event of this type with the example of every field that has one."""
    data = {name: field.examples[0] for name, field in made.data.model_fields.items() if field.examples}
    return {
        "id": _EVENT_ID,
        "type": made.name,
        "timestamp": "2026-11-20T08:30:00.000Z",
        "mode": "test",
        "version": VERSION,
        "sequence": 1,
        "object": {
            "type": made.object,
            "id": _OBJECT_ID,
            "url": f"https://desk.example{object_path(made.object, _OBJECT_ID)}",
        },
        "data": data,
        "previous": {},
    }
