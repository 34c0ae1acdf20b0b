"""A wheel holds everything: it serves a demonstration from an empty folder, without a checkout beside it."""

import os
import runpy
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import ROOT, VERSION, get_commit
from tests.ports import free_port, get_status

PATIENCE_SECONDS = 120


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this tree, made without an index."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    environment = {**os.environ, "SOURCE_COMMIT": "c" * 40}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="session")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as pip unpacks it, read-only."""
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(site)
    return site


class Installed:
    """`coverdesk` of a wheel, in a folder of its own."""

    def __init__(self, site: Path, folder: Path) -> None:
        usual = {name: value for name, value in os.environ.items() if not name.startswith("COVERDESK_")}
        self.environment = {**usual, "PYTHONPATH": str(site), "HOME": str(folder)}
        self.folder = folder

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", "from core.cli import main; main()", *words]

    def run(self, *words: str) -> str:
        done = subprocess.run(
            self.command(*words), cwd=self.folder, env=self.environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def installed(site: Path, tmp_path: Path) -> Iterator[Installed]:
    yield Installed(site, tmp_path)
    assert {each.name for each in tmp_path.iterdir()} <= {"data", ".streamlit", ".cache"}


def test_a_wheel_holds_screens_data_and_docs_and_no_store(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "app.py",
        "pages/_main.py",
        "data/catalogue/products.json",
        "docs/contract.md",
        "docs/contract/selling.md",
        "deploy/compose.yaml",
        "deploy/.env.example",
        ".streamlit/config.toml",
    ):
        assert f"core/shipped/{name}" in names
    assert not [name for name in names if "data/var" in name or "__pycache__" in name or name.startswith("tests")]


def test_settings_of_a_server_that_lie_in_the_checkout_stay_out_of_a_wheel(tmp_path: Path) -> None:
    kept = ("compose.yaml", ".env.example", "systemd/coverdesk.service")
    for name in (*kept, ".env", ".env.settings", "__pycache__/build_hook.cpython-311.pyc"):
        path = tmp_path / "deploy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    hook = runpy.run_path(str(ROOT / "deploy" / "build_hook.py"))
    listed = hook["list_deploy_files"](tmp_path)
    assert listed == {str(tmp_path / "deploy" / name): f"core/shipped/deploy/{name}" for name in kept}


def test_a_wheel_says_its_release_and_its_commit(installed: Installed) -> None:
    assert installed.run("--version") == f"coverdesk {VERSION}\n"
    completed = subprocess.run(
        [sys.executable, "-c", "from core.settings import get_commit; print(get_commit())"],
        cwd=installed.folder, env=installed.environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert completed.stdout.strip() == "c" * 40


@pytest.mark.exhaustive
def test_every_screen_of_a_wheel_can_be_drawn(site: Path, installed: Installed) -> None:
    drawn = "print({callable(screen.load()) for screen in SCREENS}, SCREENS[0].load().__code__.co_filename)"
    command = [sys.executable, "-W", "ignore", "-c", f"from core.ui.frame.menu import SCREENS; {drawn}"]
    completed = subprocess.run(
        command, cwd=installed.folder, env=installed.environment, check=True, capture_output=True, text=True
    )
    assert completed.stdout.split() == ["{True}", str(site / "core/shipped/pages/sales/dashboard.py")]


@pytest.mark.exhaustive
def test_demo_and_serve_work_in_an_empty_folder(installed: Installed) -> None:
    installed.run("demo", "--purchases", "20")
    assert (installed.folder / "data" / "var" / "demonstration.db").exists()
    port = free_port()
    process = subprocess.Popen(
        installed.command("serve", "--port", str(port)),
        cwd=installed.folder,
        env=installed.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _wait_until_ready(process, port)
        for path in ("/", "/v1/docs"):
            assert get_status(f"http://127.0.0.1:{port}{path}") == 200
    finally:
        process.terminate()
        output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    assert f"http://127.0.0.1:{port}" in output


def _wait_until_ready(process: "subprocess.Popen[str]", port: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while get_status(f"http://127.0.0.1:{port}/readyz") != 200:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_checkout_knows_its_commit(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text("a" * 40 + "\n")
    assert get_commit(tmp_path) == "a" * 40
    (git / "refs" / "heads" / "main").unlink()
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{'b' * 40} refs/heads/main\n")
    assert get_commit(tmp_path) == "b" * 40
    (git / "HEAD").write_text("d" * 40 + "\n")
    assert get_commit(tmp_path) == "d" * 40
    assert get_commit(tmp_path / "absent") is None
