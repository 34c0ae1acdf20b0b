"""Certificates outside /v1: the PDF and its verification page, for whoever has the code (contract S10)."""

import base64
import hashlib
from collections.abc import Callable
from datetime import datetime
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from core import clock
from core.errors import NotFound, StoreUnavailable
from core.services.policies import certificates
from core.services.policies.certificates import TEST_MODE, CertificateFacts, format_day
from core.states.policies import PolicyStage
from core.store.access import Scope, read_in

_HERE = Path(__file__).parent
_STYLE = (_HERE / "verification.css").read_text()
_PAGE = Template((_HERE / "verification.html").read_text())
STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


class _Mark(NamedTuple):
    """Words, symbol and colour of a status."""

    tone: str
    shape: str
    means: str


_TICK, _CLOCK, _CROSS = "M7 12.5l3.5 3.5L17 9", "M12 7v5l3.5 2", "M8.5 8.5l7 7M15.5 8.5l-7 7"
_MARKS = {
    PolicyStage.IN_FORCE: _Mark("good", _TICK, "This insurance is in force today."),
    PolicyStage.NOT_STARTED: _Mark("wait", _CLOCK, "This insurance is valid and has not started yet."),
    PolicyStage.EXPIRED: _Mark("bad", _CROSS, "The period of this certificate is over."),
    PolicyStage.CANCELLED: _Mark("bad", _CROSS, "This insurance was cancelled."),
}
_NEVER_ISSUED = _Mark("bad", _CROSS, "No certificate with this code was issued by us.")


def genuine_page(facts: CertificateFacts) -> str:
    """The page of a genuine certificate: number, insurer, status and dates, nothing personal."""
    lines = [
        ("Policy number", facts.policy_number),
        ("Insurer", facts.insurer),
        ("Starts", _day(facts.start_at)),
        ("Ends", _day(facts.expiration_at)),
        *([(PolicyStage.CANCELLED, _day(facts.cancelled_at))] if facts.cancelled_at else []),
    ]
    parts = [
        f"<h1>{escape(facts.title)}</h1>",
        "" if facts.is_live else f'<p class="test">{TEST_MODE}</p>',
        _status(facts.status, _MARKS[facts.status]),
        "<dl>",
        *(f"<div><dt>{label}</dt><dd>{escape(value)}</dd></div>" for label, value in lines),
        "</dl>",
        f"<footer>Checked on {clock.format_lagos(clock.now())}, Lagos time. Compare the policy number and the dates",
        "with the certificate that you were shown.</footer>",
    ]
    return _page(f"{facts.status}: {facts.policy_number}", parts)


def unknown_page() -> str:
    """The page for a code that we did not issue."""
    return _page(
        "Certificate not found",
        [
            "<h1>No such certificate</h1>",
            _status("Not confirmed", _NEVER_ISSUED),
            "<p>Scan the code on the certificate once more, or type its address exactly as it is printed.</p>",
            "<p>If it still leads here, do not rely on the certificate and ask the insurer that it names.</p>",
        ],
    )


def _status(words: str, mark: _Mark) -> str:
    drawn = (
        '<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2"'
        ' stroke-linecap="round" stroke-linejoin="round"><circle cx="12" cy="12" r="10"/>'
        f'<path d="{mark.shape}"/></svg>'
    )
    return f'<p class="status {mark.tone}">{drawn}<span><strong>{words}</strong>{mark.means}</span></p>'


def _day(instant: datetime) -> str:
    return format_day(clock.to_lagos_day(instant))


def _page(title: str, parts: list[str]) -> str:
    return _PAGE.substitute(title=escape(title), style=_STYLE, content="\n".join(parts))


_UNSEEN = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
}
_PAGE_HEADERS = {
    **_UNSEEN,
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none';"
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
    return _answer(request, _render)


def _render(facts: CertificateFacts) -> Response:
    headers = {**_PDF_HEADERS, "Content-Disposition": f'inline; filename="{facts.file_name}"'}
    return Response(certificates.render_certificate(facts), headers=headers, media_type="application/pdf")


def verify(request: Request) -> Response:
    """The verification page: whether the certificate is genuine and in force; no personal data."""
    return _answer(request, lambda facts: HTMLResponse(genuine_page(facts), headers=_PAGE_HEADERS))


def _answer(request: Request, make: Callable[[CertificateFacts], Response]) -> Response:
    try:
        # The code is the key: 128 random bits that lead to this certificate and nothing else.
        facts = read_in(Scope.system(), certificates.get_by_code, request.path_params["code"])
        return make(facts)
    except NotFound as error:
        return HTMLResponse(unknown_page(), error.status, _PAGE_HEADERS)
    except StoreUnavailable as error:
        parts = ["<h1>Try again shortly</h1>", "<p>No certificate can be checked just now.</p>"]
        later = {**_PAGE_HEADERS, "Retry-After": str(error.retry_after)}
        return HTMLResponse(_page("Try again shortly", parts), error.status, later)


routes = [
    Route("/certificates/{code}.pdf", certificate, methods=["GET"]),
    Route("/verify/{code}", verify, methods=["GET"]),
]
