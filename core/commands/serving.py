"""`python -m core.commands.serving run app.py`: the screens' own server, with our bounds on its connections.

The screens' framework starts the server itself and takes no protocol from us, so its name is entered where the server
looks for one.
"""

import runpy

from uvicorn.config import HTTP_PROTOCOLS

if __name__ == "__main__":
    HTTP_PROTOCOLS["auto"] = "core.api.wire:BoundedProtocol"
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
