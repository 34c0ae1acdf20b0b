"""`python -m tests.load.visits URL PID`: whether the memory of a desk grows with the visits that it had.

Each visit is a browser's session by hand: a WebSocket with the cookie of a person who signed in, one run of a screen,
and gone. `COVERDESK_SOAK_VISITS` of them (1,000) walk the screens of operations, four at once; resident memory of the
process is printed after each tenth. The store is that of the settings, in which a session is opened.
"""

import asyncio
import os
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import sqlalchemy as sa
from rich.console import Console
from sqlmodel import col
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from core.services.people import credentials, sign_in
from core.store.access import Scope, writing
from core.store.schema.tables import Staff

VISITS: Final = int(os.environ.get("COVERDESK_SOAK_VISITS", "1000"))
AT_ONCE, STEPS = 4, 10
SCREENS: Final = ("dashboard", "purchases", "renewals", "due", "customers", "search", "awaiting", "credit_life", "buy")
EMAIL: Final = os.environ.get("COVERDESK_BENCH_EMAIL", "operations@coverdesk.example")


def open_session() -> str:
    """Return the cookie of a person of the desk."""
    with writing(Scope.system()) as session:
        person = session.execute(sa.select(col(Staff.id)).where(col(Staff.email) == EMAIL)).scalar_one()
        return credentials.open_session(session, person)


async def visit(url: str, cookie: str, screen: str) -> int:
    """Open a screen, wait until its script has run, and leave; returns how many messages came."""
    request = BackMsg()
    request.rerun_script.page_name = screen
    headers = {"Cookie": f"{sign_in.COOKIE}={cookie}", "Origin": url}
    address = f"ws://{urlsplit(url).netloc}/_stcore/stream"
    count, reply = 0, ForwardMsg()
    async with connect(address, additional_headers=headers, subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        await socket.send(request.SerializeToString())
        async for message in socket:
            count += 1
            reply.ParseFromString(message if isinstance(message, bytes) else message.encode())
            if reply.WhichOneof("type") == "script_finished":
                break
    return count


def resident(process: int) -> float:
    """Return the resident memory of a process in MB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def soak(url: str, process: int, cookie: str) -> None:
    """Visit, and print after each tenth."""
    out, screens = Console(), cycle(SCREENS)
    out.print(f"{resident(process):.0f} MB before")
    done, began = 0, time.perf_counter()
    for _ in range(STEPS):
        wave = list(islice(screens, VISITS // STEPS))
        messages = 0
        for start in range(0, len(wave), AT_ONCE):
            messages += sum(await asyncio.gather(*(visit(url, cookie, each) for each in wave[start : start + AT_ONCE])))
        done += len(wave)
        out.print(
            f"{resident(process):.0f} MB after {done:,} visits, {messages / len(wave):.0f} messages a visit,"
            f" {done / (time.perf_counter() - began):.1f} a second"
        )
    await asyncio.sleep(150)
    out.print(f"{resident(process):.0f} MB once their sessions are over")


def main() -> None:
    """Soak the desk at the address, of the process with that number."""
    asyncio.run(soak(sys.argv[1].rstrip("/"), int(sys.argv[2]), open_session()))


if __name__ == "__main__":
    main()
