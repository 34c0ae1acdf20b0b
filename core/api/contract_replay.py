"""Replay every operation of our OpenAPI document against a running server, as a distributor would."""

import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

import httpx
from fpdf import FPDF
from jsonschema import Draft202012Validator

from core import clock
from core.api.app import api
from core.covers import fields
from core.covers.claims.lines import LINES, get_line_of
from core.covers.registry import COVERS
from core.errors import InvalidInput, NotAllowed

TIMEOUT_SECONDS = 30
# What must differ from run to run, or the second run would be a duplicate of the first.
_UNIQUE = frozenset(name for cover in COVERS for name in fields.list_numbers(cover.request))
# Where an answer's ids are needed later: the path parameter, and where the id stands in an answer.
_KEPT = {
    "purchases": "purchase_id",
    "policies": "policy_id",
    "customers": "customer_id",
    "claims": "claim_id",
    "renewals": "renewal_id",
    "statements": "statement_id",
    "loan_books": "loan_book_id",
    "products": "id",
}
# Where a claim is lodged on what an endpoint sold.
_LODGED_AT = {
    cover.path: f"/claims/{line.route}" for cover in COVERS if (line := get_line_of((cover.prefix, cover.route)))
}
_UNSOLD = {f"/claims/{line.route}" for line in LINES} - set(_LODGED_AT.values())
_UNAUTHORIZED = {"responseCode": 0, "responseText": "Unauthorized", "errorData": None, "data": {}}
# What a run leaves in the server's store, by kind.
LEFT = ("customers", "policies", "renewals", "claims", "endpoints", "files", "loan books")
_NOBODY = "01900000-0000-7000-8000-0000000000ff"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one operation: "ok", or what differs from the document."""

    operation: str
    status: int
    fault: str | None


@dataclass
class Replay:
    """One run against one server: ids learned so far, and records left behind."""

    client: httpx.Client
    known: dict[str, str] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in LEFT})
    document: dict[str, Any] = field(default_factory=api.openapi)

    def outcomes(self) -> Iterator[Outcome]:
        """Run every operation, sales first so that later reads find something."""
        operations = [
            (method.upper(), path, operation)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        ]
        for method, path, operation in sorted(operations, key=_order):
            yield self._run(method, path, operation)

    def sale(self, path: str) -> dict[str, Any]:
        """One more policy by the example of a cover, which is left behind; HTTPError when it is refused."""
        answer = self.client.post(
            f"/v1{path}", **self._body(self.document["paths"][path]["post"], path)
        ).raise_for_status()
        self._note_left(path, answer, ())
        data: dict[str, Any] = answer.json()["data"]
        return cast(dict[str, Any], data.get("policy", data))

    def _run(self, method: str, path: str, operation: dict[str, Any]) -> Outcome:
        name = f"{method} /v1{path}"
        address, query = self._address(path, operation)
        body = self._body(operation, path)
        try:
            answer = self.client.request(method, address, params=query, **body)
            self._note_left(path, answer, body.get("files", {}))
            fault = self._difference(operation, path, answer) or self._open_to_strangers(method, address)
        except httpx.HTTPError as error:
            return Outcome(name, 0, f"no answer: {type(error).__name__}")
        if fault is None and answer.status_code < 400:
            self._learn(path, answer)
            fault = self._check_search(address, operation, answer)
        if fault is None and "requestBody" in operation:
            fault = self._check_empty_body(method, address, operation)
        return Outcome(name, answer.status_code, fault)

    def _address(self, path: str, operation: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        query: dict[str, Any] = {}
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            if parameter["in"] == "path":
                path = path.replace(f"{{{name}}}", self.known.get(name, _NOBODY))
            elif parameter["in"] == "query" and parameter.get("required"):
                query[name] = _example_of(parameter)
        return f"/v1{path}", query

    def _body(self, operation: dict[str, Any], path: str) -> dict[str, Any]:
        content = operation.get("requestBody", {}).get("content", {})
        if "multipart/form-data" in content:
            return self._form(content["multipart/form-data"], path)
        if "application/json" in content:
            return {"json": self._filled(content["application/json"]["example"], path)}
        return {}

    def _filled(self, example: dict[str, Any], path: str) -> dict[str, Any]:
        # A claim is lodged on a policy of its own line.
        sources = {"policy_id": "policy_id", "policy_number": path if path in self.known else "policy_number"}
        known = {name: self.known[source] for name, source in sources.items() if source in self.known}
        unique = {name: _make_number(str(example[name])) for name in _UNIQUE & example.keys()}
        return {**example, **unique, **{name: value for name, value in known.items() if name in example}}

    def _form(self, media: dict[str, Any], path: str) -> dict[str, Any]:
        schema = self._resolved(media["schema"])
        binary = {name for name, part in schema["properties"].items() if "binary" in str(part)}
        values = self._filled(media.get("example", {}), path)
        # A form without any file would not be a multipart one.
        wanted = binary & (set(schema.get("required", [])) | set(values)) or set(sorted(binary)[:1])
        return {
            "data": {name: str(value) for name, value in values.items() if name not in binary},
            "files": {name: _file(name, path) for name in sorted(wanted)},
        }

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in schema:
            return schema
        named: dict[str, Any] = self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        return named

    def _difference(self, operation: dict[str, Any], path: str, answer: httpx.Response) -> str | None:
        """Return how a response differs from the document; None if it conforms."""
        stated = operation["responses"].get(str(answer.status_code))
        if stated is None:
            return f"status {answer.status_code} is not documented"
        expected_refusal = answer.status_code in {404, 409} and self._may_be_refused(operation)
        # Nobody answers for the endpoint of the example: it stays unverified, and is neither enabled nor sent to.
        expected_refusal |= answer.status_code == 409 and path.startswith("/webhooks/{endpoint_id}/")
        if answer.status_code >= 400 and not expected_refusal and not self._has_no_policy(path, answer):
            return f"refused its own example: {answer.text[:200]}"
        media = stated.get("content", {}).get("application/json")
        if media is None or "json" not in answer.headers.get("content-type", ""):
            return None
        whole = {**media["schema"], "components": self.document["components"]}
        judge = Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
        wrong = next(judge.iter_errors(answer.json()), None)
        if wrong:
            return f"{'.'.join(map(str, wrong.absolute_path))}: {wrong.message[:160]}"
        return _other_text(answer, media["example"])

    def _may_be_refused(self, operation: dict[str, Any]) -> bool:
        """True where a fresh store has nothing to read or nothing due for renewal."""
        return any(p["in"] == "path" and p["name"] not in self.known for p in operation.get("parameters", []))

    def _has_no_policy(self, path: str, answer: httpx.Response) -> bool:
        """True where a claim is refused for its policy alone, and nothing that it could be lodged on is sold now."""
        wrong = {fault["field"] for fault in answer.json().get("errorData") or ()}
        return path in _UNSOLD and answer.status_code == 400 and wrong == {"policy_number"}

    def _open_to_strangers(self, method: str, address: str) -> str | None:
        answer = self.client.request(method, address, headers={"Authorization": ""})
        if (answer.status_code, answer.json()) != (401, _UNAUTHORIZED):
            return f"without a key it answers {answer.status_code}"
        return None

    def _check_search(self, address: str, operation: dict[str, Any], answer: httpx.Response) -> str | None:
        """Check that a search finds the newest record by its e-mail or name, and nothing by a text that none has."""
        if not any(parameter["name"] == "search" for parameter in operation.get("parameters", [])):
            return None
        rows = _get_rows(answer)
        if not rows:
            return None
        text = rows[0].get("customer", rows[0]).get("email") or rows[0]["name"]
        known, unknown = (
            self.client.get(address, params={"search": each, "limit": 100}) for each in (text, secrets.token_hex(16))
        )
        if not known.is_success or rows[0]["id"] not in [row["id"] for row in _get_rows(known)]:
            return f"a search answers {known.status_code} without the newest record"
        return f"a search finds {len(_get_rows(unknown))} by a text that none has" if _get_rows(unknown) else None

    def _check_empty_body(self, method: str, address: str, operation: dict[str, Any]) -> str | None:
        """Check that an empty body is refused with the names of the missing fields, where there are required ones."""
        content = operation["requestBody"]["content"]
        if not any(self._resolved(media["schema"]).get("required") for media in content.values()):
            return None
        empty: dict[str, Any] = {"json": {}} if "application/json" in content else {"files": {"x": ("x", b"")}}
        answer = self.client.request(method, address, **empty)
        if answer.status_code != 400 or not answer.json()["errorData"]:
            return f"an empty body answers {answer.status_code}"
        return None

    def _learn(self, path: str, answer: httpx.Response) -> None:
        if "json" not in answer.headers.get("content-type", ""):
            return
        data = answer.json()["data"]
        if not isinstance(data, dict):
            return
        for name, parameter in _KEPT.items():
            if data.get(name):
                self.known.setdefault(parameter, data[name][0]["id"])
        if "file_url" in data:
            self.known["code"] = data["file_url"].rsplit("/", 1)[-1]
        policy = data.get("policy", data)
        if path.endswith("buy-thirdparty"):
            self.known["policy_id"] = policy["id"]
        if path.endswith("buy-credit-life"):
            self.known["policy_number"] = policy["meta"]["policy_number"]
        if (lodging := _LODGED_AT.get(path)) and policy["meta"]["policy_number"]:
            self.known[lodging] = policy["meta"]["policy_number"]

    def _note_left(self, path: str, answer: httpx.Response, sent: Collection[str]) -> None:
        """Remember what stays in the server's store, whatever else is wrong with the answer."""
        if answer.request.method == "DELETE" and answer.is_success:
            self.left["endpoints"].remove(answer.json()["data"]["id"])
        if answer.status_code == 202 and path == "/loan-books":
            self.left["loan books"].append(answer.json()["data"]["loan_book"]["id"])
        if answer.status_code != 201:
            return
        data = answer.json()["data"]
        if "file_url" in data:
            self.left["files"].append(data["file_url"].rsplit("/", 1)[-1])
        elif "endpoint" in data:
            # Its own, which it tries and deletes; those of the distributor it leaves alone.
            self.known["endpoint_id"] = data["endpoint"]["id"]
            self.left["endpoints"].append(data["endpoint"]["id"])
        elif "claim" in data:
            self.left["claims"].append(data["claim"]["id"])
            self.left["files"] += [f"{name} of that claim" for name in sent]
        else:
            policy = data.get("policy", data)
            kind = "renewals" if "renew" in path else "policies"
            self.left[kind].append(f"{policy['meta']['policy_number'] or 'pending'} ({policy['id']})")
            if policy["customer_id"] not in self.left["customers"]:
                self.left["customers"].append(policy["customer_id"])


def _other_text(answer: httpx.Response, example: dict[str, Any]) -> str | None:
    """A success says what its example says."""
    if answer.is_success and answer.json()["responseText"] != example["responseText"]:
        return f"its responseText is not {example['responseText']!r}"
    return None


def _get_rows(answer: httpx.Response) -> list[dict[str, Any]]:
    """Return the records of a list's answer."""
    return next((rows for rows in answer.json()["data"].values() if isinstance(rows, list)), [])


def _make_number(example: str) -> str:
    """Return a number of the example's kind that no run before had."""
    if example.isdecimal():
        return "".join(secrets.choice("0123456789") for _ in example)
    return f"CD{secrets.token_hex(4).upper()}"


def _file(name: str, path: str) -> tuple[str, bytes, str]:
    """A file for a field of a form: a loan that no run before had for a loan book, an empty PDF for any other."""
    if path != "/loan-books":
        return f"{name}.pdf", _empty_pdf(), "application/pdf"
    heading = "loan_account_number,first_name,last_name,date_of_birth,loan_amount,loan_tenure_months,loan_start_date"
    row = f"CD{secrets.token_hex(4)},Ngozi,Okafor,1990-04-12,100000,12,{clock.today()}"
    return "loans.csv", f"{heading}\n{row}\n".encode(), "text/csv"


@cache
def _empty_pdf() -> bytes:
    """A PDF of one empty page."""
    pdf = FPDF()
    pdf.add_page()
    return bytes(pdf.output())


def _order(operation: tuple[str, str, dict[str, Any]]) -> tuple[int, bool, str]:
    method, path, _ = operation
    # Sales, then what needs a sale, then lists, then single records, and at last what ends one.
    rank = 0 if "buy-" in path else {"POST": 1, "DELETE": 3}.get(method, 2)
    return rank, "{" in path, path


def _example_of(parameter: dict[str, Any]) -> object:
    schema = parameter.get("schema", {})
    given = parameter.get("example", (parameter.get("examples") or schema.get("examples") or [None])[0])
    return given if given is not None else schema.get("example", schema.get("enum", ["x"])[0])


@contextmanager
def prepare_replay(base_url: str, key: str) -> Iterator[Replay]:
    """Prepare a run; needs a test key, because it sells."""
    if not key.startswith("cd_test_"):
        raise NotAllowed("Verifying sells policies, so it takes a test key only")
    base = base_url.rstrip("/")
    if base.endswith("/v1"):
        raise InvalidInput.for_field("--base-url", "must be the address without /v1 at its end")
    with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT_SECONDS) as client:
        _refuse_wrong_place(client)
        yield Replay(client)


def _refuse_wrong_place(client: httpx.Client) -> None:
    """Say once what every operation would stumble over."""
    try:
        answer = client.get("/v1/genders")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise InvalidInput.for_field("--base-url", f"must be where a server answers: {type(error).__name__}") from None
    if '"responseCode"' not in answer.text:
        raise InvalidInput.for_field("--base-url", "must be where Coverdesk answers: something else does there")
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        raise NotAllowed("This server does not take the key: issue one there with `coverdesk keys issue --mode test`")
