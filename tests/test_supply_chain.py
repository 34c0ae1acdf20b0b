"""Installed packages are those that were pinned, under a licence that somebody agreed to; all without a network."""

import re
import subprocess
import tomllib
from collections.abc import Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# What a virtual environment brings along, and what sets it up (Makefile).
NOT_OURS = {"coverdesk", "pip", "setuptools", "wheel", "uv"}
ENTRY = re.compile(
    r"^(?P<requirement>[A-Za-z0-9][^\\\n]*?) \\\n(?P<hashes>(?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE
)


def locked() -> list[tuple[Requirement, list[str]]]:
    """Each entry of the lock with its hashes; a few have one for each version of Python."""
    text = (ROOT / "requirements.lock").read_text()
    return [
        (Requirement(entry["requirement"]), re.findall(r"--hash=(\S+)", entry["hashes"]))
        for entry in ENTRY.finditer(text)
    ]


def pins() -> dict[str, str]:
    """The version of each distribution that this machine is to have."""
    here = [each for each, _ in locked() if each.marker is None or each.marker.evaluate()]
    return {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in here}


def installed() -> dict[str, Distribution]:
    found = {canonicalize_name(each.metadata["Name"]): each for each in distributions()}
    return {name: each for name, each in found.items() if name not in NOT_OURS}


EXTRA = PROJECT["project"]["optional-dependencies"]["otel"]


def wanted() -> list[Requirement]:
    mine = (*PROJECT["project"]["dependencies"], *EXTRA, *PROJECT["dependency-groups"]["dev"])
    return [Requirement(each) for each in mine]


def needed(first: Sequence[Requirement] = ()) -> dict[str, Distribution]:
    """Return the project's requirements, or those of `first`, and theirs in turn."""
    here, found, pending = installed(), dict[str, Distribution](), [*(first or wanted())]
    done = set()
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        if (name, frozenset(requirement.extras)) in done or name not in here:
            continue
        done.add((name, frozenset(requirement.extras)))
        found[name] = here[name]
        for line in here[name].requires or []:
            next_ = Requirement(line)
            if any(next_.marker is None or next_.marker.evaluate({"extra": e}) for e in ("", *requirement.extras)):
                pending.append(next_)
    return found


def test_every_entry_of_the_lock_is_one_version_with_hashes() -> None:
    text = (ROOT / "requirements.lock").read_text()
    assert len(locked()) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE)) > 100
    for requirement, hashes in locked():
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert requirement.url is None
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), requirement


def test_lock_has_what_the_project_asks_for() -> None:
    pinned = pins()
    missing = [
        each.name
        for each in wanted()
        if (each.marker is None or each.marker.evaluate())
        and not each.specifier.contains(pinned.get(canonicalize_name(each.name), "0"), prereleases=True)
    ]
    assert not missing, "run `make lock`"


# What the product is to be made of, and what is to stand at the top of its source.
CARD = {"streamlit", "pandas", "sqlmodel", "httpx", "plotly", "pytest"}
TOP = ("app.py", "pages/", "core/", "data/", "tests/", "pyproject.toml", "README.md")


def test_product_is_made_of_what_its_card_names() -> None:
    direct = {canonicalize_name(each.name) for each in wanted()}
    assert CARD - direct == set(), "a package of the card is not asked for in pyproject.toml"
    run = {canonicalize_name(Requirement(each).name) for each in PROJECT["project"]["dependencies"]}
    assert CARD - run == {"pytest"}, "only the tests are not part of what is served"
    for lock in ("requirements.lock", "requirements.production.lock"):
        missing = [name for name in run & CARD if f"\n{name}==" not in (ROOT / lock).read_text()]
        assert not missing, lock
    places = {path.name + "/" * path.is_dir() for path in ROOT.iterdir()}
    assert [name for name in TOP if name not in places] == []


def test_installed_is_what_was_locked_down_to_the_last_dependency() -> None:
    pinned = pins()
    assert len(needed()) > 100
    assert {name: each.version for name, each in needed().items() if pinned.get(name) != each.version} == {}


def test_everything_that_is_installed_may_be_used() -> None:
    page = (ROOT / "docs" / "licences.md").read_text()
    _, anything, alone, by_hand = page.split("\n## ", 4)[:4]
    allowed = set(re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^\| (`.*) \|", anything, re.MULTILINE))))
    named = dict(re.findall(r"^\| `([^`]+)` \| `?([^`|]+?)`? \|", alone + by_hand, re.MULTILINE))
    assert len(allowed) > 10
    for name, each in needed().items():
        words = licence(each)
        if name in named:
            assert words in {named[name], ""}, f"{name} is under {words!r} now"
        else:
            assert all(_is_allowed(part, allowed) for part in words.split(" AND ")), f"{name}: {words!r}"


def test_a_server_installs_of_the_lock_of_development_what_the_extra_adds_and_nothing_else(tmp_path: Path) -> None:
    run = (ROOT / "requirements.production.lock").read_text()
    added = {name for name in needed([Requirement(each) for each in EXTRA]) if f"\n{name}==" not in run}
    (line,) = [each for each in (ROOT / "deploy" / "install.sh").read_text().splitlines() if "awk" in each]
    written = tmp_path / "otel.lock"
    command = line.replace("$source", str(ROOT)).replace("$target/otel.lock", str(written))
    subprocess.run(["sh", "-c", command], check=True)
    taken = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", written.read_text(), re.MULTILINE))
    # The interface comes with the web framework already, in the same version.
    assert taken.keys() - {"opentelemetry-api"} == added
    assert f"\nopentelemetry-api=={taken['opentelemetry-api']} " in run
    assert not re.search(r"^opentelemetry-sdk", run, re.MULTILINE)


def test_nothing_tells_people_to_install_our_name_from_an_index_where_it_may_be_anybodys() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "core").rglob("*.py")]
    offenders = [
        f"{page.relative_to(ROOT)}: {line.strip()}"
        for page in (*pages, *(path for path in (ROOT / "deploy").rglob("*") if path.suffix in {".sh", ".yaml"}))
        for line in page.read_text().splitlines()
        if re.search(r"pip install [^`&\n]*\bcoverdesk(?![-.\w/]*\*?\.whl|-\*|-\{)", line)
    ]
    assert offenders == []


def _is_allowed(part: str, allowed: set[str]) -> bool:
    return part in allowed or any(choice in allowed for choice in part.strip("()").split(" OR "))


def licence(each: Distribution) -> str:
    """Return a distribution's own statement of its licence, in the newest of its ways to say it."""
    classifiers = [
        line.split(" :: ")[-1] for line in each.metadata.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    first_line = (each.metadata.get("License") or "").split("\n")[0]
    return str(each.metadata.get("License-Expression") or " AND ".join(classifiers) or first_line)
