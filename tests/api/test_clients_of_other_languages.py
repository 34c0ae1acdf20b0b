"""Clients in TypeScript and Go that generators make of the document: compiled, and a claim with files lodged by each.

TypeScript is part of every run where there is Node; Go, whose generator is a Java program, runs as `make clients`.
"""

import base64
import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from core.api.app import api
from core.covers import credit_life
from core.store.access import Store
from tests import papers
from tests.conftest import Partner
from tests.covers import shipped

pytestmark = pytest.mark.long

CLIENTS = Path(__file__).with_name("clients")
# The command of a generator that needs Java, which `make clients` names.
GENERATE = shlex.split(os.environ.get("COVERDESK_GENERATE_CLIENT", ""))


def try_to_run(*words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def run(*words: str, cwd: Path, **variables: str) -> None:
    done = try_to_run(*words, cwd=cwd, **variables)
    assert done.returncode == 0, f"{words[0]}: {done.stdout[-4000:]}{done.stderr[-4000:]}"


def require_programs(toolchain: str, *programs: str) -> None:
    if missing := [name for name in programs if shutil.which(name) is None]:
        give_up(toolchain, f"no {', '.join(missing)} on this machine")


def give_up(toolchain: str, reason: str) -> None:
    """Skip loudly, or fail where the toolchain is required."""
    if toolchain in os.environ.get("COVERDESK_TESTS_REQUIRE", "").split(","):
        pytest.fail(f"A client made with {toolchain} is required: {reason}")
    pytest.skip(f"SKIPPED LOUDLY: no client made with {toolchain}: {reason}")


def write_document(folder: Path) -> None:
    (folder / "document.json").write_text(json.dumps(api.openapi()))


def build_variables(server: str, partner: Partner) -> dict[str, str]:
    """Return what a client reads from its environment: address, key, loan and paper."""
    return {
        "CLIENT_SERVER": f"{server}/v1",
        "CLIENT_KEY": partner.test_key,
        "CLIENT_LOAN": json.dumps(shipped.body(credit_life.CREDIT_LIFE)),
        "CLIENT_PAPER": base64.b64encode(papers.pdf()).decode(),
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_client_in_typescript_compiles_and_lodges_a_claim(
    store: Store, partner: Partner, server: str, tmp_path: Path
) -> None:
    require_programs("node", "node", "npm")
    folder = tmp_path / "typescript"
    shutil.copytree(CLIENTS / "typescript", folder)
    write_document(folder)
    installed = try_to_run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", cwd=folder)
    if installed.returncode != 0:
        give_up("node", installed.stderr[-1000:])
    run("node", "generate.mjs", "document.json", "schema.ts", cwd=folder)
    run("node", "node_modules/typescript/bin/tsc", cwd=folder)
    run("node", "out/lodge.js", cwd=folder, **build_variables(server, partner))


@pytest.mark.skipif(not GENERATE, reason="the client in Go is made by `make clients`")
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_client_in_go_compiles_and_lodges_a_claim(
    store: Store, partner: Partner, server: str, tmp_path: Path
) -> None:
    require_programs("go", "java", "go")
    write_document(tmp_path)
    names = ("--git-host", "local", "--git-user-id", "desk", "--git-repo-id", "client")
    wanted = ("-i", "document.json", "-g", "go", "-o", "go", *names, "--additional-properties", "packageName=desk")
    run(*GENERATE, "generate", *wanted, cwd=tmp_path)
    (tmp_path / "go" / "lodge").mkdir()
    shutil.copy(CLIENTS / "go" / "lodge.go", tmp_path / "go" / "lodge" / "main.go")
    run("go", "vet", ".", "./lodge", cwd=tmp_path / "go")
    run("go", "build", "-o", "lodging", "./lodge", cwd=tmp_path / "go")
    run("./lodging", cwd=tmp_path / "go", **build_variables(server, partner))
