"""The one process: the screens and, beside them, the API, sign-in and health, on one port."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import streamlit as st
import structlog
from starlette.middleware import Middleware
from uvicorn.config import HTTP_PROTOCOLS

from core import logs
from core.api import warming, wire
from core.api.app import routes, v1
from core.api.headers import SecurityHeaders
from core.api.provider_answers import ProviderAnswers
from core.api.root_address import RootAddress
from core.api.routing import EveryPath
from core.api.turnstile import Sockets
from core.settings import settings
from core.store.engine import store
from core.ui import frame, identity, unavailable
from core.worker import Worker

log = structlog.get_logger("coverdesk.serving")
THREADS = 40
# The first page with a table or a chart waits for these.
WARM = ("pandas", "plotly.express", "plotly.graph_objects")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Refuse to start unsafely, open the store, let a worker run beside and load what is slow; end all well."""
    settings().refuse_unsafe()
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    logs.configure()
    if HTTP_PROTOCOLS["auto"] != wire.NAME:
        log.warning("connections have no deadlines and no bounds: `coverdesk serve` gives them both")
    opened = store()
    worker = Worker(opened)
    if settings().worker:
        worker.start()
    warming.begin(*WARM)
    yield
    # What is under way with an insurer is brought home first.
    await anyio.to_thread.run_sync(worker.stop)
    opened.close()


app = st.App(
    Path(__file__).parent / "pages" / "_main.py",
    routes=routes,
    lifespan=lifespan,
    middleware=[
        Middleware(Sockets),
        Middleware(SecurityHeaders),
        Middleware(EveryPath, v1),
        Middleware(RootAddress, style=frame.LOOK.read_text()),
        Middleware(ProviderAnswers),
    ],
    on_script_error=unavailable.explain,
    secrets=identity.secrets(),
)

if __name__ == "__main__":
    app.run()
