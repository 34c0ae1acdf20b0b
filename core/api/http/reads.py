"""Reads: what a handler asks for is bound here, as FastAPI's way to it takes longer than a short read itself.

Names that a request carries and nobody uses are listed in a header of the answer, of a refusal too; a parameter of
which one value counts is given once (contract E6).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from itertools import accumulate
from typing import Any, Final, Self, get_origin
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
from core.api.http.envelope import conflict, failure
from core.covers.request import Request as QueryModel
from core.covers.request import build_faults
from core.errors import CoverdeskError, FieldFault, raise_faults
from core.store.access import ConstraintRefused

HEADER: Final = "X-Ignored-Fields"
_MAX_NAMES, _LONGEST_HEADER = 50, 4000


def as_header(names: Iterable[str]) -> str:
    """The names, sorted, with commas between them, as many as a header holds; encoded where it cannot hold them."""
    written = sorted({quote(name, safe="", errors="replace") for name in [*names][:_MAX_NAMES]})
    lengths = accumulate(len(name) + 1 for name in written)
    return ",".join(name for name, length in zip(written, lengths, strict=True) if length <= _LONGEST_HEADER)


def list_unknown(scope: Connection, known: Collection[str]) -> list[str]:
    """The names in the query string of a request that are none of these."""
    given = QueryParams(scope["query_string"]) if scope.get("query_string") else {}
    return [name for name in given if name not in known]


def naming(ignored: Sequence[str], send: Send) -> Send:
    """`send` of a request whose answer tells the names in this list, as it is when the answer begins."""

    async def named(message: Message) -> None:
        if ignored and message["type"] == "http.response.start":
            MutableHeaders(scope=message)[HEADER] = as_header(ignored)
        await send(message)

    return named


@dataclass(frozen=True, slots=True)
class _Query:
    """One argument of a handler that is a model of the query string, and which of its names take several values."""

    name: str
    model: type[BaseModel]
    several: frozenset[str]
    aliases: Mapping[str, str]

    @classmethod
    def build(cls, name: str, model: type[BaseModel]) -> Self:
        several = {each for each, field in model.model_fields.items() if get_origin(field.annotation) is list}
        return cls(name, model, frozenset(several), getattr(model, "aliases", {}))

    def read(self, query: QueryParams) -> dict[str, Any]:
        """The query string by name: one value, or all of them where the model takes several."""
        return {**query, **{name: query.getlist(name) for name in self.several if name in query}}

    def find_repeated(self, query: QueryParams) -> list[FieldFault]:
        """Return the names that were given again: the value that is passed over would have narrowed the answer."""
        faults = [
            FieldFault(alias, f"must say the same as {name}")
            for alias, name in self.aliases.items()
            if _differ(query.get(alias, ""), query.get(name, ""))
        ]
        if len(query.multi_items()) > len(query):
            single = {*self.model.model_fields, *self.aliases} - self.several
            again = [name for name in query if name in single and len(query.getlist(name)) > 1]
            faults += [FieldFault(name, "must be given once") for name in again]
        return faults


def _differ(one: str, other: str) -> bool:
    # What is blank counts as missing.
    values = {text.strip().casefold() for text in (one, other)}
    return len(values - {""}) > 1


class ReadRoute(APIRoute):
    """A route whose GET handlers ask for the caller, the ids of their path and one model of the query, and for
    nothing else: a signature that asks for more is refused when the route is made. FastAPI documents it like any other.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **stated: Any) -> None:
        super().__init__(path, endpoint, **stated)
        wanted = self.dependant
        self._callers = [str(each.name) for each in wanted.dependencies]
        models: list[tuple[str, Any]] = [(each.name, each.field_info.annotation) for each in wanted.query_params]
        self._is_async = iscoroutinefunction(endpoint)
        if self.methods == {"GET"} and wanted.request_param_name is None:
            refuse_unbound(path, wanted)
            self.app = self._answer
        self._queries = [_Query.build(name, model) for name, model in models if _is_model(model)]
        known = [model for _, model in models if issubclass(model, QueryModel)]
        self._known = frozenset(name for model in known for name in (*model.model_fields, *model.aliases))

    async def handle(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Answer a request that matched; unknown names are told in a header, `state.ignored` has those of its body."""
        ignored = list_unknown(scope, self._known)
        if not ignored and self.methods == {"GET"}:
            await super().handle(scope, receive, send)
            return
        scope.setdefault("state", {})["ignored"] = ignored
        named = naming(ignored, send)
        try:
            await super().handle(scope, receive, named)
        except CoverdeskError as error:
            await failure(error)(scope, receive, named)
        except ConstraintRefused as error:
            await conflict(error)(scope, receive, named)

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
        for query in self._queries:
            faults += query.find_repeated(request.query_params)
            try:
                arguments[query.name] = query.model.model_validate(query.read(request.query_params))
            except ValidationError as error:
                faults += build_faults(error.errors(include_url=False, include_input=False))
        for param in self.dependant.path_params:
            arguments[param.name], wrong = param.validate(request.path_params[param.name], loc=("path", param.name))
            faults += build_faults(wrong, skip=1)
        raise_faults(faults)
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
