"""An OpenID provider on loopback: discovery, keys, consent, codes that work once, and tokens signed with RS256."""

import base64
import hashlib
import secrets
import threading
import time
from typing import Any
from urllib.parse import urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, CLIENT_SECRET = "coverdesk", "the secret of the client"


class IdentityProvider:
    """Vouches for its accounts, each with the claims it says of them; `forged` are signed with another key."""

    def __init__(self, port: int, redirect_uri: str, accounts: dict[str, dict[str, Any]], forged: set[str]) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.redirect_uri, self.accounts, self.forged = redirect_uri, accounts, forged
        self.key, self.other_key = RSAKey.generate_key(2048, {"kid": "1"}), RSAKey.generate_key(2048, {"kid": "1"})
        self.codes: dict[str, dict[str, str]] = {}
        routes = [
            Route("/.well-known/openid-configuration", self.discovery),
            Route("/keys", self.keys),
            Route("/authorize", self.authorize),
            Route("/consent", self.consent),
            Route("/token", self.token, methods=["POST"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    def __enter__(self) -> "IdentityProvider":
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join(10)

    @property
    def metadata_url(self) -> str:
        return f"{self.issuer}/.well-known/openid-configuration"

    def discovery(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }
        )

    def keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [{**self.key.as_dict(private=False), "use": "sig", "alg": "RS256"}]})

    def authorize(self, request: Request) -> Response:
        parameters = dict(request.query_params)
        known = (parameters["client_id"], parameters["redirect_uri"], parameters["response_type"]) == (
            CLIENT,
            self.redirect_uri,
            "code",
        )
        if not known or "openid" not in parameters["scope"] or parameters["code_challenge_method"] != "S256":
            return HTMLResponse("This is not what was agreed", 400)
        lines = [
            f'<p><a href="/consent?{urlencode({**parameters, "account": email})}">{email}</a></p>'
            for email in self.accounts
        ]
        return HTMLResponse("<h1>Acme accounts</h1>" + "".join(lines))

    def consent(self, request: Request) -> Response:
        parameters, code = dict(request.query_params), secrets.token_urlsafe(16)
        self.codes[code] = parameters
        return RedirectResponse(
            f"{parameters['redirect_uri']}?{urlencode({'code': code, 'state': parameters['state']})}", 302
        )

    async def token(self, request: Request) -> Response:
        form = await request.form()
        given = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        parameters = self.codes.pop(str(form["code"]), None)
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        right = parameters and (parameters["code_challenge"], parameters["redirect_uri"]) == (
            challenge,
            form["redirect_uri"],
        )
        if (
            not parameters
            or not right
            or given not in {f"{CLIENT}:{CLIENT_SECRET}", f"{CLIENT}:{_quoted(CLIENT_SECRET)}"}
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(
            {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": self._id_token(parameters)}
        )

    def _id_token(self, parameters: dict[str, str]) -> str:
        email, now = parameters["account"], int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": hashlib.sha256(email.encode()).hexdigest()[:16],
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": parameters["nonce"],
            "email": email,
            **self.accounts[email],
        }
        key = self.other_key if email in self.forged else self.key
        return jwt.encode({"alg": "RS256", "kid": "1"}, claims, key)


def _quoted(text: str) -> str:
    return urlencode({"": text})[1:]
