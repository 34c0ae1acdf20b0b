"""A small proxy before several processes: the API by turns, each visitor of the screens always to the same one."""

import asyncio
import contextlib
import itertools
import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Final

_HEAD_BYTES: Final = 1 << 16
_TURNS: Final = 5
_STICKS: Final = "coverdesk_app"


class RoundRobin:
    """Listens on a port of this machine until closed; `taken` counts the connections that each process got."""

    def __init__(self, port: int, *, api: Sequence[int], screens: Sequence[int]) -> None:
        self._port, self._screens = port, screens
        self._next_api, self._next_screens = itertools.cycle(api), itertools.cycle(screens)
        self.taken: Counter[int] = Counter()
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        # The loop itself knows its tasks weakly: one whose connections are both half closed would be collected.
        self._serving: set[asyncio.Task[None] | None] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "RoundRobin":
        self._thread.start()
        self._listening.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self._port))
        self._listening.set()
        self._loop.run_forever()
        server.close()
        # What was just accepted gets to its task first: a connection that is cancelled on the way there leaks.
        self._turn()
        while rest := asyncio.all_tasks(self._loop):
            for task in rest:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait(rest))
            self._turn()
        self._loop.close()

    def _turn(self) -> None:
        """Run what is ready, and what becomes ready by it."""
        for _ in range(_TURNS):
            self._loop.run_until_complete(asyncio.sleep(0))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, or one websocket, for each connection."""
        task = asyncio.current_task()
        self._serving.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            port, is_new = self._choose(head)
            self.taken[port] += 1
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", port, limit=_HEAD_BYTES)
            with contextlib.closing(back_writer):
                back_writer.write(_closing(head))
                sending = asyncio.create_task(_pass_on(reader, back_writer))
                answer = _closing(await back_reader.readuntil(b"\r\n\r\n"))
                mark = f"Set-Cookie: {_STICKS}={port}; Path=/\r\n\r\n".encode() if is_new else b"\r\n"
                writer.write(answer[:-2] + mark)
                await _pass_on(back_reader, writer)
                sending.cancel()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self._serving.discard(task)

    def _choose(self, head: bytes) -> tuple[int, bool]:
        """The process for a request, and whether its visitor has to be told to come back to it."""
        if head.split(b" ", 2)[1].startswith(b"/v1"):
            return next(self._next_api), False
        kept = re.search(rf"{_STICKS}=(\d+)".encode(), head)
        if kept and int(kept[1]) in self._screens:
            return int(kept[1]), False
        return next(self._next_screens), True


def _closing(head: bytes) -> bytes:
    """The head of a request or an answer whose connection ends with it, unless it becomes a websocket."""
    if re.search(rb"(?im)^upgrade: *websocket", head):
        return head
    return re.sub(rb"(?im)^connection:.*\r\n", b"", head)[:-2] + b"Connection: close\r\n\r\n"


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(_HEAD_BYTES):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()
