"""The fields of a sold policy that an endorsement may change, by line of cover (contract S21)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pydantic import create_model

from core.covers.claims import lines
from core.covers.claims.lines import CONTENTS, MOTOR
from core.covers.cover import Cover
from core.covers.request import Request, refuse_unless, validate


@dataclass(frozen=True, slots=True)
class EndorsableField:
    """A field that an endorsement may change, under the names that requests give it.

    `column` is the column of the policy with its present value; `is_contact` is true of what says neither who nor
    what is insured.
    """

    names: tuple[str, ...]
    column: str | None = None
    is_contact: bool = False


_NAME: Final = (EndorsableField(("first_name",), "first_name"), EndorsableField(("last_name",), "last_name"))
_CONTACT: Final = (
    EndorsableField(("email",), "email", is_contact=True),
    EndorsableField(("phone_number", "phone"), "phone", is_contact=True),
)
_ADDRESS: Final = EndorsableField(("address",), is_contact=True)
# What says neither who nor what is insured, by every name that requests have for it.
CONTACTS: Final = frozenset(name for each in (*_CONTACT, _ADDRESS) for name in each.names)
REGISTRATION: Final = EndorsableField(("registration_number", "vehicle_registration_number"))
_VEHICLE: Final = (
    REGISTRATION,
    *(EndorsableField((name,)) for name in ("chassis_number", "engine_number", "vehicle_color")),
)
# Never what is covered, for which days, for which sum or at which price. The address of contents is the insured place.
_OF_LINE: Final[Mapping[str, Sequence[EndorsableField]]] = {
    MOTOR.route: (*_VEHICLE, *_NAME, _ADDRESS, *_CONTACT),
    CONTENTS.route: (*_NAME, *_CONTACT),
}
_OF_OTHERS: Final = (*_NAME, _ADDRESS, *_CONTACT)


def list_fields(cover: Cover[Any]) -> Mapping[str, EndorsableField]:
    """Return the fields of a cover that an endorsement may change, by their names in its request, in reading order."""
    line = lines.get_line_of((cover.prefix, cover.route))
    declared = _OF_LINE.get(line.route, _OF_OTHERS) if line else _OF_OTHERS
    known = cover.request.model_fields
    return {name: each for each in declared for name in each.names if name in known}


@cache
def build_model(cover: Cover[Any], names: tuple[str, ...]) -> type[Request]:
    """Build the request of these fields alone, each validated as in the sale."""
    fields: Mapping[str, Any] = cover.request.model_fields
    declared: dict[str, Any] = {name: (fields[name].annotation, fields[name]) for name in names}
    return create_model("EndorsementRequest", __base__=Request, **declared)


def validate_changes(cover: Cover[Any], changes: Mapping[str, str]) -> Request:
    """Return the changed fields as their sale would store them; InvalidInput names every field at fault."""
    allowed = list_fields(cover)
    refuse_unless([(name in allowed, name, "cannot be changed by an endorsement") for name in changes])
    model = build_model(cover, tuple(name for name in allowed if name in changes))
    valid: Request = validate(model, dict(changes))
    # Some of them could be left out of the sale; what was known once is replaced and never taken away.
    refuse_unless([(getattr(valid, name) is not None, name, "is required") for name in changes])
    return valid
