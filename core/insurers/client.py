"""HTTP client for insurers: one request per policy, with time and size limits, without redirects."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx
import orjson

from core import telemetry
from core.insurers import answers
from core.insurers.answers import InsurerAnswer, InsurerFault
from core.settings import settings

MODE_HEADER = "Coverdesk-Mode"
_RETRYABLE_STATUSES = {408, 425, 429}
_SETUP_STATUSES = {401, 403, 404, 405, 407}
_MAX_RETRY_AFTER = 3_600


@dataclass(frozen=True, kw_only=True, slots=True)
class CallLimits:
    """Limits of a call: timeouts in seconds and the largest answer in bytes (contract N1)."""

    connect: float = 2
    read: float = 10
    total: float = 15
    max_bytes: int = 1 << 20


class InsurerClient:
    """The connection pool of one worker: `async with InsurerClient() as client`."""

    def __init__(self, limits: CallLimits = CallLimits()) -> None:
        self._limits = limits
        timeout = httpx.Timeout(limits.read, connect=limits.connect)
        # Plain http is allowed on loopback only, where no proxy applies.
        transport = httpx.AsyncHTTPTransport(verify=_get_ssl_context())
        self._http = httpx.AsyncClient(timeout=timeout, verify=_get_ssl_context(), mounts={"http://": transport})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def submit(
        self, segment: str, policy_id: UUID, payload: Mapping[str, Any], *, is_live: bool
    ) -> InsurerAnswer:
        """Send one policy to its insurer; raises InsurerFault if there is no usable answer."""
        with telemetry.open_span(f"POST {segment}", "client"):
            try:
                return await self._submit(segment, policy_id, payload, is_live=is_live)
            except InsurerFault as fault:
                telemetry.fail_span(fault.kind)
                raise

    async def _submit(
        self, segment: str, policy_id: UUID, payload: Mapping[str, Any], *, is_live: bool
    ) -> InsurerAnswer:
        address = settings().insurer_url(segment, is_live=is_live)
        if address is None:
            raise InsurerFault("misdirected", "This insurer has no connection")
        try:
            async with asyncio.timeout(self._limits.total):
                return await self._post(
                    f"{address}/policies", _build_headers(segment, policy_id, is_live=is_live), payload
                )
        except TimeoutError:
            raise InsurerFault("slow", _describe_timeout(self._limits.total)) from None
        except httpx.TimeoutException as error:
            seconds = self._limits.connect if isinstance(error, httpx.ConnectTimeout) else self._limits.read
            raise InsurerFault("slow", _describe_timeout(seconds)) from None
        except httpx.ConnectError:
            raise InsurerFault("unreachable", "The connection to the insurer could not be made") from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise InsurerFault("unreachable", "The insurer closed the connection without an answer") from None

    async def _post(self, url: str, headers: Mapping[str, str], payload: Mapping[str, Any]) -> InsurerAnswer:
        async with self._http.stream("POST", url, content=orjson.dumps(payload), headers=headers) as response:
            telemetry.note_span({"http.request.method": "POST", "http.response.status_code": response.status_code})
            if not response.is_success:
                raise await self._build_fault(response)
            return answers.parse_answer(await self._read_body(response))

    async def _build_fault(self, response: httpx.Response) -> InsurerFault:
        status = response.status_code
        if status >= 500 or status in _RETRYABLE_STATUSES:
            return InsurerFault("failing", f"The insurer answered {status}", retry_after=_get_retry_after(response))
        if status in _SETUP_STATUSES:
            return InsurerFault("misdirected", f"The insurer answered {status}: the connection is not set up rightly")
        if status < 400:
            return InsurerFault("misdirected", f"The insurer answered {status} and pointed elsewhere: we never follow")
        reason = answers.parse_reason(await self._read_body(response))
        return InsurerFault(
            "refused", f"The insurer refused the request ({status})" + (f": {reason}" if reason else "")
        )

    async def _read_body(self, response: httpx.Response) -> bytes:
        """Read the body, aborting if it is too large; compressed bodies are refused as they could expand without
        limit.
        """
        if response.headers.get("content-encoding", "identity") != "identity":
            raise InsurerFault("unreadable", "The insurer's answer was packed, which was not asked for")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._limits.max_bytes:
                raise InsurerFault("unreadable", f"The insurer's answer was larger than {self._limits.max_bytes} bytes")
        return bytes(body)


@cache
def _get_ssl_context() -> ssl.SSLContext:
    """The trusted CA certificates. Cached: loading takes a tenth of a second."""
    return httpx.create_ssl_context()


def _build_headers(segment: str, policy_id: UUID, *, is_live: bool) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "coverdesk",
        "Idempotency-Key": str(policy_id),
        MODE_HEADER: "live" if is_live else "test",
        **telemetry.build_trace_headers(),
    }
    key = settings().insurer_key(segment)
    return {**headers, "Authorization": f"Bearer {key}"} if key else headers


def _describe_timeout(seconds: float) -> str:
    return f"The insurer did not answer within {seconds:g} seconds"


def _get_retry_after(response: httpx.Response) -> int:
    value = response.headers.get("retry-after", "")
    return min(int(value), _MAX_RETRY_AFTER) if value.isascii() and value.isdigit() and len(value) < 10 else 0
