"""The one process: the screens and, beside them, the API, sign-in and health, on one port."""

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
import streamlit as st
from starlette.middleware import Middleware

from core import logs
from core.api.app import routes
from core.api.headers import SecurityHeaders
from core.settings import settings
from core.store.engine import store
from core.ui import unavailable

THREADS = 40
# The first page with a chart would wait more than a second for these.
WARM = ("pandas", "plotly.express", "plotly.graph_objects")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Refuse to start unsafely, open the store, load what is slow; close the store at the end."""
    settings().refuse_unsafe()
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    for name in WARM:
        importlib.import_module(name)
    logs.configure()
    opened = store()
    yield
    opened.close()


app = st.App(
    Path(__file__).parent / "pages" / "_main.py",
    routes=routes,
    lifespan=lifespan,
    middleware=[Middleware(SecurityHeaders)],
    on_script_error=unavailable.explain,
)

if __name__ == "__main__":
    app.run()
