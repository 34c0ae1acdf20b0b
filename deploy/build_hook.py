"""Hatchling build hook: writes the commit into the wheel, which has no repository to ask."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `commit` to the shipped folder; SOURCE_COMMIT names it where the repository is not at hand."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to what the wheel includes; an editable install reads the repository itself."""
        commit = os.environ.get("SOURCE_COMMIT") or _ask_git(self.root)
        if version == "editable" or not commit:
            return
        file = Path(tempfile.mkdtemp(prefix="coverdesk-build-"), "commit")
        file.write_text(f"{commit}\n")
        build_data["force_include"][str(file)] = "core/shipped/commit"


def _ask_git(root: str) -> str:
    command = ["git", "-C", root, "rev-parse", "HEAD"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()  # noqa: S603 fixed words
