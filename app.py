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
from core.api import preloading
from core.api.app import routes, v1
from core.api.http.routing import EveryPath
from core.api.http.security_headers import SecurityHeaders
from core.api.outside.oidc_failures import ProviderAnswers
from core.api.outside.root_address import RootAddress
from core.api.protection import slow_senders
from core.api.protection.load_shedding import Sockets
from core.settings import settings
from core.store.access.engine import store
from core.ui.kit import frame, unavailable
from core.ui.sign_in import oidc
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
    if HTTP_PROTOCOLS["auto"] != slow_senders.NAME:
        log.warning("connections have no deadlines and no bounds: `coverdesk serve` gives them both")
    opened = store()
    worker = Worker(opened)
    if settings().worker:
        worker.start()
    preloading.begin(*WARM)
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
    secrets=oidc.secrets(),
)

if __name__ == "__main__":
    app.run()
