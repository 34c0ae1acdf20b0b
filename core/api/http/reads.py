"""Reads: what a handler asks for is bound here, as FastAPI's way to it takes longer than a short read itself.

Names that a request carries and nobody uses are listed in a header of the answer (contract E6).
"""

from collections.abc import Callable, Collection, Iterable
from inspect import iscoroutinefunction
from itertools import accumulate
from typing import Any, Final, get_origin
from urllib.parse import quote

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import MutableHeaders, QueryParams
from starlette.types import Message, Receive, Send
from starlette.types import Scope as Connection

from core.api.http.auth import caller_of
from core.covers.request import Request as QueryModel
from core.covers.request import build_faults
from core.errors import FieldFault, InvalidInput

HEADER: Final = "X-Ignored-Fields"
_MAX_NAMES, _LONGEST_HEADER = 50, 4000


def as_header(names: Iterable[str]) -> str:
    """The names, comma-separated, as many as a header holds; what a header cannot hold is written as in an address."""
    written = [quote(name, safe="", errors="replace") for name in [*names][:_MAX_NAMES]]
    lengths = accumulate(len(name) + 1 for name in written)
    return ",".join(name for name, length in zip(written, lengths, strict=True) if length <= _LONGEST_HEADER)


def naming(scope: Connection, known: Collection[str], send: Send) -> Send:
    """`send` of a request; unknown names of its query string join those that the answer names already."""
    given = QueryParams(scope["query_string"]) if scope.get("query_string") else {}
    unknown = [name for name in given if name not in known]
    if not unknown:
        return send

    async def named(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            of_body = [name for name in headers.get(HEADER, "").split(",") if name]
            headers[HEADER] = ",".join(sorted({*of_body, *as_header(unknown).split(",")}))
        await send(message)

    return named


class ReadRoute(APIRoute):
    """A route whose GET handlers ask for the caller, the ids of their path and one model of the query, and for
    nothing else: a signature that asks for more is refused when the route is made. FastAPI documents it like any other.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **stated: Any) -> None:
        super().__init__(path, endpoint, **stated)
        wanted = self.dependant
        self._callers = [str(each.name) for each in wanted.dependencies]
        self._queries: list[tuple[str, Any]] = [(each.name, each.field_info.annotation) for each in wanted.query_params]
        self._is_async = iscoroutinefunction(endpoint)
        if self.methods == {"GET"} and wanted.request_param_name is None:
            refuse_unbound(path, wanted)
            self.app = self._answer
        models = [model for _, model in self._queries if issubclass(model, QueryModel)]
        self._known = frozenset(name for model in models for name in (*model.model_fields, *model.aliases))

    async def handle(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Answer a request that matched; unknown names of its query string are told in a header."""
        await super().handle(scope, receive, naming(scope, self._known, send))

    async def _answer(self, scope: Connection, receive: Receive, send: Send) -> None:
        request = Request(scope)
        arguments = self.parse_arguments(request)
        answer = self.endpoint(**arguments) if self._is_async else run_in_threadpool(self.endpoint, **arguments)
        response = await answer
        await response(scope, receive, send)

    def parse_arguments(self, request: Request) -> dict[str, Any]:
        """Return the arguments of the handler; InvalidInput names every fault of the query and the path."""
        arguments: dict[str, Any] = dict.fromkeys(self._callers, request.state.caller)
        faults: list[FieldFault] = []
        for name, model in self._queries:
            try:
                arguments[name] = model.model_validate(_given(request, model))
            except ValidationError as error:
                faults += build_faults(error.errors(include_url=False, include_input=False))
        for param in self.dependant.path_params:
            arguments[param.name], wrong = param.validate(request.path_params[param.name], loc=("path", param.name))
            faults += build_faults(wrong, skip=1)
        if faults:
            raise InvalidInput(faults)
        return arguments


def refuse_unbound(path: str, dependant: Dependant) -> None:
    """Raise TypeError for a handler that asks for what a route of ours does not bind, and would be called without."""
    unbound = [f"{each.name} (a header or cookie)" for each in (*dependant.header_params, *dependant.cookie_params)]
    unbound += [f"{each.name} (a dependency)" for each in dependant.dependencies if each.call is not caller_of]
    unbound += [
        f"{each.name} (not a model)" for each in dependant.query_params if not _is_model(each.field_info.annotation)
    ]
    special = ("websocket", "http_connection", "response", "background_tasks", "security_scopes")
    unbound += [f"{name} (of the framework)" for each in special if (name := getattr(dependant, f"{each}_param_name"))]
    if unbound:
        raise TypeError(f"{path}: nothing binds {', '.join(unbound)}")


def _is_model(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _given(request: Request, model: type[BaseModel]) -> dict[str, Any]:
    """The query string by name: the last value, or all of them where the model takes several."""
    query = request.query_params
    several = [name for name, field in model.model_fields.items() if get_origin(field.annotation) is list]
    return {**query, **{name: query.getlist(name) for name in several if name in query}}
