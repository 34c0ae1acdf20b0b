"""The signed-in person behind a plain route of the desk."""

from starlette.requests import Request

from core.errors import NotAllowed, Unauthorized
from core.services.people import sign_in, staff
from core.services.people.staff import Person
from core.store.access import Scope, reading


def require_person(request: Request) -> Person:
    """Return the person of the session cookie; Unauthorized without one, NotAllowed for a request of another site."""
    with reading(Scope.system()) as session:
        person = staff.get_by_token(session, request.cookies.get(sign_in.COOKIE))
    if person is None:
        raise Unauthorized("Please sign in first")
    # A link on somebody else's page must not make a file of personal data.
    if request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        raise NotAllowed
    return person
