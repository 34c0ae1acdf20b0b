"""Texts that would be formatted, followed or run where somebody forgot to show them as text, and where they show up."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from streamlit.testing.v1 import AppTest

MARKDOWN = "**Zq** [x](//e.example) `c` :red[r] $m$"
LINKED = "**Zq**"
HTML = "<img src=x onerror=alert(1)><script>zq</script>"
FORMULA = '=HYPERLINK("//e.example","zq")'
# What of these must never stand unescaped where Markdown is read.
RAW = ("**Zq**", "[x](//e", "`c`", ":red[r]", "$m$", "<img src=x", "<script>zq")
# Where the browser shows a text as it stands, by the kind of element and the field of its message.
VERBATIM = {
    ("arrow_data_frame", "data"),
    ("text_input", "default"),
    ("text_input", "value"),
    ("text_area", "default"),
    ("text_area", "value"),
    ("selectbox", "options"),
    ("selectbox", "raw_value"),
    ("multiselect", "options"),
    ("multiselect", "raw_values"),
    ("code", "code_text"),
    ("code", "text"),
    ("json", "body"),
    ("text", "body"),
    # The few tags that a chart knows are escaped: tests/ui/test_dashboard_page.py reads its texts.
    ("plotly_chart", "spec"),
    ("plotly_chart", "alt"),
    ("file_uploader", "default"),
    # Our own list sets every text as text: tests/ui/test_navigation_calls.py reads its script.
    ("bidi_component", "json"),
}


def unescaped(at: AppTest) -> Iterator[str]:
    """Every place on a screen where a planted text stands raw although Markdown is read there."""
    for node in at._tree:
        proto = getattr(node, "proto", None)
        kind = str(getattr(node, "type", "?"))
        if kind == "table":
            yield from _in("table", "cells", node.value.to_csv() if hasattr(node, "value") else "")
        elif proto is not None and hasattr(proto, "ListFields"):
            for name, text in _texts(proto):
                if (kind, name) not in VERBATIM:
                    yield from _in(kind, name, text)


def _in(kind: str, name: str, text: str) -> Iterator[str]:
    if any(raw in text for raw in RAW):
        yield f"{kind}.{name}: {text[:200]}"


def _texts(proto: Any, within: str = "") -> Iterator[tuple[str, str]]:
    for field, value in proto.ListFields():
        values = value if field.is_repeated else [value]
        for each in values:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                if hasattr(each, "ListFields"):
                    yield from _texts(each, field.name)
            elif field.type == FieldDescriptor.TYPE_STRING:
                yield field.name, each
