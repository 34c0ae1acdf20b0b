"""Hatchling build hook: adds the commit, which a wheel cannot ask a repository for, and `deploy` without secrets."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `commit` to the shipped folder; SOURCE_COMMIT names it where the repository is not at hand."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to what the wheel includes; an editable install reads the repository itself."""
        if version == "editable":
            return
        build_data["force_include"] |= list_deploy_files(Path(self.root))
        if commit := os.environ.get("SOURCE_COMMIT") or _ask_git(self.root):
            file = Path(tempfile.mkdtemp(prefix="coverdesk-build-"), "commit")
            file.write_text(f"{commit}\n")
            build_data["force_include"][str(file)] = "core/shipped/commit"


def list_deploy_files(root: Path) -> dict[str, str]:
    """Return the files of `deploy` and their places in the wheel; an operator's own .env files stay behind."""
    found = (
        path for path in sorted((root / "deploy").rglob("*")) if path.is_file() and "__pycache__" not in path.parts
    )
    own = (path for path in found if path.name == ".env.example" or not path.name.startswith(".env"))
    return {str(path): f"core/shipped/{path.relative_to(root).as_posix()}" for path in own}


def _ask_git(root: str) -> str:
    command = ["git", "-C", root, "rev-parse", "HEAD"]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()  # noqa: S603 fixed words
