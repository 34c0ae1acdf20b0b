"""The process that writes the demonstration for a server: its sales first, and the papers of its months behind it."""

import os
import signal
import subprocess
import sys
import threading
from typing import Final

_COMMAND: Final = (sys.executable, "-c", "from core.cli import main; main()", "demo")
_SALES_WRITTEN: Final = b"\n"


class Writer:
    """Another process that runs `coverdesk demo`; it ends when this one does, however that ends."""

    def __init__(self, purchases: int) -> None:
        reading_end, writing_end = os.pipe()
        # In a group of its own: Ctrl-C of a terminal reaches it through us, once. Its input ends when we do.
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [*_COMMAND, "--purchases", str(purchases), "--sales-written-to", str(writing_end)],
            stdin=subprocess.PIPE,
            process_group=0,
            pass_fds=(writing_end,),
        )
        os.close(writing_end)
        self._pipe = reading_end

    def wait_for_sales(self) -> int | None:
        """Wait until the sales are in the store: None then, and the exit code of a process that ended before."""
        are_written = os.read(self._pipe, 1) == _SALES_WRITTEN
        os.close(self._pipe)
        return None if are_written else self._process.wait()

    def is_writing(self) -> bool:
        """True until all of it is written, or the process has failed."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Let it undo what it has begun, and end; safe to repeat."""
        if self._process.stdin is not None:
            self._process.stdin.close()


_begun: list[Writer] = []


def begin(purchases: int) -> Writer:
    """Begin to write a demonstration in another process."""
    _begun.append(Writer(purchases))
    return _begun[-1]


def is_writing() -> bool:
    """True while a process that this one has begun writes the demonstration."""
    return any(writer.is_writing() for writer in _begun)


def announce_sales(descriptor: int) -> None:
    """Say, in the process that writes, that the sales are in the store; `descriptor` is the pipe to its `Writer`."""
    os.write(descriptor, _SALES_WRITTEN)
    os.close(descriptor)


def end_with_parent() -> None:
    """Interrupt this process, which a `Writer` has begun, as Ctrl-C would when the other one is gone."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            """Nothing is ever sent: the input ends."""
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()
