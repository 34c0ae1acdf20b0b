"""The whole process, the screens' framework included, as somebody meets it who forges what a browser sends."""

import httpx

from core.api.http import middleware
from tests.e2e.conftest import Desk
from tests.every_case import every_case

# Routes of the framework, of the desk and of nobody; the API has tests of its own.
ADDRESSES = (
    *("/", "/purchases", "/nope", "/nope.json", "/v1", "/v1/genders", "/healthz", "/healthz/", "/readyz", "/verify/x"),
    *("/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/_stcore/stream", "/_stcore/upload_file/a/b"),
    *(
        "/static/nope.js",
        "/media/nope.png",
        "/component/nope",
        "/app/static/x",
        "/auth/login",
        "/auth/logout",
        "/files/x",
    ),
    *(
        "/oauth2callback",
        "/exports/purchases.csv",
        "/..%2f..%2fetc%2fpasswd",
        "/static/..%2f..%2fapp.py",
        "/%00",
        "//x",
    ),
)


@every_case("method", ["GET", "HEAD", "OPTIONS", "TRACE"])
def test_every_answer_of_the_process_is_guarded_and_names_no_forged_host(desk: Desk, method: str) -> None:
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-For": "6.6.6.6"}
    with httpx.Client(base_url=desk.url, timeout=20) as client:
        for address in ADDRESSES:
            answer = client.request(method, address, headers=forged)
            context = f"{method} {address}: {answer.status_code}"
            assert answer.status_code < 500, context
            for name in middleware._EVERYWHERE:
                assert name in answer.headers, f"{context} lacks {name}"
            assert "evil.example" not in str(answer.headers), context
            assert "evil.example" not in answer.text, context
            assert "root:" not in answer.text, context
            assert "import streamlit" not in answer.text, context
