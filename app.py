"""The single-process server: screens, API, sign-in and health on one port."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio.to_thread
import streamlit as st
import structlog
from starlette.middleware import Middleware
from uvicorn.config import HTTP_PROTOCOLS

from core import telemetry
from core.api import preloading
from core.api.app import routes, v1
from core.api.http.middleware import SecurityHeaders
from core.api.http.routing import EveryPath
from core.api.outside.root_address import RootAddress
from core.api.outside.signing_in import ProviderAnswers
from core.api.protection import slow_senders
from core.api.protection.load_shedding import WebSocketLimit
from core.desk import status
from core.errors import CoverdeskError
from core.settings import settings
from core.store.access import store
from core.ui.frame import frame, unavailable
from core.ui.kit import charts
from core.ui.sign_in import oidc
from core.worker import Worker

log = structlog.get_logger("coverdesk.serving")
MAX_THREADS = 40
# Imported in the background: the first page with a table or a chart needs these slow modules.
PRELOADED_MODULES = ("pandas", "plotly.graph_objects", "plotly.io", "plotly.tools")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Check settings, open the database, start the worker and preload slow modules; shut all down in order."""
    settings().check_safe_to_serve()
    anyio.to_thread.current_default_thread_limiter().total_tokens = MAX_THREADS
    telemetry.configure_logs()
    telemetry.start_spans()
    if HTTP_PROTOCOLS["auto"] != slow_senders.NAME:
        log.warning("connections have no deadlines and no bounds: `coverdesk serve` gives them both")
    status.write_at_own_version()
    with _logging_refusals():
        opened_store = store()
    worker = Worker(opened_store)
    if settings().worker:
        worker.start()
    preloading.begin(*PRELOADED_MODULES)
    yield
    # Calls to insurers in progress are finished before the database is closed.
    await anyio.to_thread.run_sync(worker.stop)
    opened_store.close()
    telemetry.stop_spans()
    telemetry.drain_logs()


@contextmanager
def _logging_refusals() -> Iterator[None]:
    """Log why the store cannot be opened: what uvicorn says of a start that failed has no words of ours."""
    try:
        yield
    except CoverdeskError as error:
        log.error("the store cannot be opened", reason=str(error))
        raise


frame.keep_upload_addresses()
frame.skip_external_ip_lookup()
app = st.App(
    Path(__file__).parent / "pages" / "_main.py",
    routes=routes,
    lifespan=lifespan,
    middleware=[
        Middleware(WebSocketLimit),
        Middleware(SecurityHeaders),
        Middleware(EveryPath, v1),
        Middleware(RootAddress, style=frame.LOOK.read_text(), beside=charts.list_scripts()),
        Middleware(ProviderAnswers),
    ],
    on_script_error=unavailable.explain,
    secrets=oidc.secrets(),
)

if __name__ == "__main__":
    app.run()
