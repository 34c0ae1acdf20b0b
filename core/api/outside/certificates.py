"""Certificates outside /v1: the PDF and its verification page, for whoever has the code (contract S10)."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from core.api.outside import verification
from core.errors import NotFound, StoreUnavailable
from core.services.policies import certificates
from core.services.policies.certificates import CertificateFacts
from core.store.access import Scope, reading

_UNSEEN = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
}
_PAGE_HEADERS = {
    **_UNSEEN,
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{verification.STYLE_HASH}'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
}
# Our own screens show the certificate in a frame; a browser's viewer styles its page in place.
_PDF_HEADERS = {
    **_UNSEEN,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; object-src 'self';"
    " frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
}


def certificate(request: Request) -> Response:
    """The certificate as a PDF, rendered from the current record."""
    try:
        facts = _facts(request)
        pdf = certificates.render_certificate(facts)
    except (NotFound, StoreUnavailable) as error:
        return _refused(error)
    name = f'inline; filename="{facts.file_name}"'
    return Response(pdf, headers={**_PDF_HEADERS, "Content-Disposition": name}, media_type="application/pdf")


def verify(request: Request) -> Response:
    """The verification page: whether the certificate is genuine and in force; no personal data."""
    try:
        return HTMLResponse(verification.genuine_page(_facts(request)), headers=_PAGE_HEADERS)
    except (NotFound, StoreUnavailable) as error:
        return _refused(error)


def _facts(request: Request) -> CertificateFacts:
    # The code is the key: 128 random bits that lead to this certificate and nothing else.
    with reading(Scope.system()) as session:
        return certificates.get_by_code(session, request.path_params["code"])


def _refused(error: NotFound | StoreUnavailable) -> Response:
    if isinstance(error, NotFound):
        return HTMLResponse(verification.unknown_page(), error.status, _PAGE_HEADERS)
    later = {**_PAGE_HEADERS, "Retry-After": str(error.retry_after)}
    return HTMLResponse(verification.unavailable_page(), error.status, later)


routes = [
    Route("/certificates/{code}.pdf", certificate, methods=["GET"]),
    Route("/verify/{code}", verify, methods=["GET"]),
]
