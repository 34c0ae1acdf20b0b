"""`make house`: size and shape of the source, and how much of it runs for one request. Nothing is asserted.

Requests go to the application in this process, on a temporary SQLite store with the shipped catalogue. Each kind is
sent twice: the first request fills caches and compiles statements, the second finds them.
"""

import ast
import asyncio
import inspect
import os
import re
import secrets
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from statistics import median
from types import CodeType, FrameType
from typing import Any

import httpx

from core.covers.fields import build_example
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT as COVER
from core.settings import ROOT
from tests.bench.sales import SECRET, build, partner

MOST_FILES = 20
_QUESTION = re.compile(r"(What|Who|How)\b")
_Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Tracer:
    """Records the functions of the project that run, on this thread and on all threads that start later."""

    def __init__(self) -> None:
        self._folders = tuple(f"{ROOT / name}{os.sep}" for name in ("core", "pages"))
        self._codes: set[CodeType] | None = None
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if self._codes is not None and event == "call":
            self._codes.add(frame.f_code)

    @contextmanager
    def recording(self) -> Iterator[set[CodeType]]:
        """Yield a set that holds, after the block, the code of each function that ran in it."""
        found: set[CodeType] = set()
        codes: set[CodeType] = set()
        self._codes = codes
        try:
            yield found
        finally:
            self._codes = None
            found.update(code for code in codes if self._is_ours(code))

    def _is_ours(self, code: CodeType) -> bool:
        # Bodies of modules and classes are no functions.
        return bool(code.co_flags & inspect.CO_OPTIMIZED) and code.co_filename.startswith(self._folders)


def _definitions(path: Path) -> Iterator[_Definition]:
    return (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, _Definition))


def _size(modules: Sequence[Path]) -> Iterator[str]:
    lengths = {path: path.read_text().count("\n") for path in modules}
    files = [length for path, length in lengths.items() if path.name != "__init__.py"]
    nodes = [node for path in modules for node in _definitions(path)]
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    questions = sum(bool(_QUESTION.match(ast.get_docstring(node) or "")) for node in nodes)
    full = Counter(path.parent for path in modules)
    named = [f"{path.relative_to(ROOT)} {count}" for path, count in full.most_common() if count > MOST_FILES]
    yield f"core/: {sum(lengths.values()):,} lines in {len(lengths)} modules ({len(files)} without __init__.py)"
    yield f"median file {median(files):.0f} lines, median function {median(functions):.0f} lines"
    yield f"folders above {MOST_FILES} files: {', '.join(named) or 'none'}"
    yield f"docstrings that begin with What, Who or How: {questions}"


def _ran(codes: set[CodeType]) -> str:
    named = [code for code in codes if not code.co_name.startswith("<")]
    files = {code.co_filename for code in codes}
    return f"{len(files)} files, {len(named)} functions ({len(codes)} with lambdas and comprehensions)"


async def _requests(key: str) -> list[str]:
    from core.api.app import app

    tracer = Tracer()
    sold: dict[str, Any] = {"url": f"/v1{COVER.path}", "json": build_example(COVER.request)}
    transport = httpx.ASGITransport(app)
    headers = {"Authorization": f"Bearer {key}"}
    lines = []
    async with httpx.AsyncClient(transport=transport, base_url="http://house", headers=headers) as client:
        for name, method, options in (("sale", "POST", sold), ("list", "GET", {"url": "/v1/purchase?limit=10"})):
            ran = []
            for _ in range(2):
                # After this pause the key is read from the store again, as in a request that comes alone.
                await asyncio.sleep(1)
                with tracer.recording() as codes:
                    answer = await client.request(method, headers={"Idempotency-Key": secrets.token_hex(8)}, **options)
                    await asyncio.sleep(0.1)  # the writing thread ends its turn after the answer
                answer.raise_for_status()
                ran.append(_ran(codes))
            lines.append(f"one {name} over HTTP: {ran[1]}; the first of the process {ran[0]}")
    return lines


def _run() -> list[str]:
    """Send the requests to a new store and return a line on each kind."""
    from core import telemetry
    from core.store.access import store

    with tempfile.TemporaryDirectory(prefix="cd-") as folder, open(os.devnull, "w") as nowhere:
        url = f"sqlite:///{Path(folder, 'house.db')}"
        given = {"SECRET_KEY": SECRET, "DATABASE_URL": url, "FILES_URL": folder, "LOG_LEVEL": "INFO"}
        os.environ.update({f"COVERDESK_{name}": value for name, value in given.items()})
        build(url, 0)
        _, key = partner(url)
        telemetry.configure_logs()
        try:
            with redirect_stderr(nowhere):  # one line a request
                return asyncio.run(_requests(key))
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            store().close()


def main() -> None:
    """Measure and print."""
    for line in (*_size(sorted((ROOT / "core").rglob("*.py"))), *_run()):
        print(line)


if __name__ == "__main__":
    main()
