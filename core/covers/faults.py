"""Validation errors in our own words."""

from pydantic_core import PydanticCustomError


def fault(message: str) -> PydanticCustomError:
    """A validation error with this message."""
    return PydanticCustomError("fault", message.replace("{", "{{").replace("}", "}}"))
