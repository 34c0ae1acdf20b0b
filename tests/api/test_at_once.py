"""Reads run on the event loop when they are short and wait for nobody, and in a thread otherwise."""

import asyncio
import threading

import pytest
from starlette.responses import Response

from core.api.http.run_inline import run_inline
from core.store.access import Store

pytestmark = pytest.mark.both_databases


@pytest.mark.parametrize("is_short", [True, False])
def test_only_a_short_read_of_a_file_holds_the_loop(store: Store, *, is_short: bool) -> None:
    did: list[int] = []

    def read() -> Response:
        did.append(threading.get_ident())
        return Response()

    asyncio.run(run_inline(read, is_short=is_short))
    assert (did == [threading.get_ident()]) == (is_short and store.reads_never_block)
