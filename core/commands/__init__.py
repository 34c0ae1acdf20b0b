"""The commands of `coverdesk`, one module per subject."""

import os
import pwd
import socket


def describe_terminal() -> str:
    """Return who runs the command, "command line, ada at desk-1", as the audit log names it.

    By the machine's own list of users: LOGNAME and USER say whatever somebody sets them to.
    """
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # A container's user may have no name.
        user = f"user {os.getuid()}"
    return f"command line, {user} at {socket.gethostname()}"[:120]
