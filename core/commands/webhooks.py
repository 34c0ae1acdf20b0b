"""`coverdesk webhooks listen`: a receiver that prints what arrives, and whether its signature is right."""

import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from core.outbound import signing

app = typer.Typer(help="Webhooks: a receiver to try them with.", no_args_is_help=True)
out = Console(soft_wrap=True, highlight=False)
_MAX_BODY = 64 * 1024


@app.callback()
def webhooks() -> None:
    """Webhooks: a receiver to try them with."""


@app.command("listen")
def listen(
    port: Annotated[int, typer.Option(help="Port to listen on, on this machine alone.")] = 8700,
    secret: Annotated[str, typer.Option(help="The endpoint's secret, whsec_...; without it nothing is verified.")] = "",
    status: Annotated[int, typer.Option(min=200, max=599, help="What is answered.")] = 204,
) -> None:
    """Print each delivery that arrives, for trying: register http://127.0.0.1:PORT/ in a demonstration."""

    class Receiver(BaseHTTPRequestHandler):
        """Prints what is posted to it."""

        def do_POST(self) -> None:
            """Print one delivery and answer."""
            length = self.headers.get("content-length", "")
            body = self.rfile.read(min(int(length), _MAX_BODY)) if length.isdigit() else b""
            headers = {name.lower(): value for name, value in self.headers.items()}
            for line in signing.describe(headers, body, secret):
                out.print(escape(line))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Print nothing beside the deliveries."""

    signal.signal(signal.SIGTERM, _stop)
    with ThreadingHTTPServer(("127.0.0.1", port), Receiver) as server:
        out.print(f"Listening at http://127.0.0.1:{server.server_address[1]}/ and answering {status}.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.print("Stopped.")


def _stop(*_: Any) -> None:
    raise SystemExit(0)
