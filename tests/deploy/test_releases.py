"""Releases: made of what the changelog calls released, and installed beside each other with a way back in seconds."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from core.settings import ROOT, VERSION

SCRIPTS = ROOT / "deploy"


def run(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", *words], cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=tests", "-c", "user.email=tests@x.example", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, check=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small repository whose installer makes a folder with a command in it, as ours does in minutes."""
    folder = tmp_path / "checkout"
    (folder / "deploy").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')
    installer = 'mkdir -p "$2/bin" && echo "echo $SOURCE_COMMIT" > "$2/bin/coverdesk" && chmod +x "$2/bin/coverdesk"\n'
    (folder / "deploy" / "install.sh").write_text(installer)
    git(folder, "init", "--quiet")
    commit(folder, "first")
    return folder


def commit(folder: Path, message: str) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True)
    return found.stdout.strip()


def releases(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(str(SCRIPTS / "releases.sh"), *words, folder=folder, COVERDESK_ROOT=str(folder / "opt"))


def test_a_release_is_installed_while_another_runs_and_one_goes_back_to_it(tmp_path: Path, checkout: Path) -> None:
    opt = tmp_path / "opt"
    # As the releases before this script were installed: a folder that is no link.
    shutil.copytree(checkout, opt / "coverdesk" / "bin")
    (opt / "coverdesk" / "bin" / "coverdesk").write_text("echo the first\n")
    (opt / "coverdesk" / "bin" / "coverdesk").chmod(0o755)
    command, commits = opt / "coverdesk" / "bin" / "coverdesk", []
    for number in range(2):
        made = commit(checkout, f"release {number}")
        installed = releases(tmp_path, "install", str(checkout))
        assert installed.returncode == 0, installed.stderr
        commits.append(run(str(command), folder=tmp_path).stdout.strip())
        assert releases(tmp_path, "use", f"coverdesk-0.2.0-{made[:12]}").returncode == 0
        assert run(str(command), folder=tmp_path).stdout.strip() == made
        commits.append(made)
    assert commits == ["the first", commits[1], commits[1], commits[3]]
    assert f"* coverdesk-0.2.0-{commits[3][:12]}" in releases(tmp_path, "list").stdout
    back = releases(tmp_path, "use", f"coverdesk-0.2.0-{commits[1][:12]}")
    assert f"Back again: `releases.sh use coverdesk-0.2.0-{commits[3][:12]}`" in back.stdout
    assert run(str(command), folder=tmp_path).stdout.strip() == commits[1]
    assert releases(tmp_path, "use", "coverdesk-before").returncode == 0
    assert run(str(command), folder=tmp_path).stdout.strip() == "the first"


def test_an_installation_that_fails_leaves_what_runs_and_nothing_half(tmp_path: Path, checkout: Path) -> None:
    opt = tmp_path / "opt"
    opt.mkdir()
    made = commit(checkout, "good")
    releases(tmp_path, "install", str(checkout))
    releases(tmp_path, "use", f"coverdesk-0.2.0-{made[:12]}")
    (checkout / "deploy" / "install.sh").write_text('mkdir -p "$2/bin" && exit 1\n')
    commit(checkout, "broken")
    assert releases(tmp_path, "install", str(checkout)).returncode == 1
    assert sorted(path.name for path in opt.iterdir()) == ["coverdesk", f"coverdesk-0.2.0-{made[:12]}"]
    assert releases(tmp_path, "use", "coverdesk-0.3.0").returncode == 1
    assert (opt / "coverdesk").resolve().name == f"coverdesk-0.2.0-{made[:12]}"


@pytest.mark.parametrize("unreleased", ["", "\n### Added\n\n- Something new.\n"])
def test_a_version_is_released_without_what_is_not_in_it(tmp_path: Path, checkout: Path, unreleased: str) -> None:
    changelog = f"# Changelog\n\n## [Unreleased]\n{unreleased}\n## [{VERSION}] - 2026-11-23\n\n- What it has.\n"
    (checkout / "CHANGELOG.md").write_text(changelog)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "coverdesk").write_text(f"#!/bin/sh\necho Coverdesk {VERSION}\n")
    (tools / "coverdesk").chmod(0o755)
    commit(checkout, "changes")
    ended = run(str(SCRIPTS / "release.sh"), folder=checkout, BIN=str(tools))
    # Without changes that wait it goes on to the build, for which this folder has no tools.
    assert ("under [Unreleased]" in ended.stderr) == bool(unreleased)
    assert ended.returncode == (1 if unreleased else 127)
