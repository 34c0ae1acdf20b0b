#!/bin/sh
# Writes a release into dist/: the wheel, a bill of materials of what it runs on (CycloneDX), and their hashes.
set -eu
bin=${BIN:-.venv/bin}
[ -z "$(git status --porcelain)" ] || { echo "A release is made of what is committed: commit or stash first." >&2; exit 1; }
version=$("$bin/coverdesk" --version | cut -d' ' -f2)
grep -q "^## \[$version\]" CHANGELOG.md || { echo "CHANGELOG.md has no section [$version]." >&2; exit 1; }
unreleased=$(awk '/^## \[/ { on = /^## \[Unreleased\]/; next } on && NF' CHANGELOG.md)
[ -z "$unreleased" ] || {
    echo "CHANGELOG.md has changes under [Unreleased], which are not in $version: give them a version, and raise it in pyproject.toml." >&2
    exit 1
}
tagged=$(git rev-parse --quiet --verify "refs/tags/$version^{commit}") || tagged=
[ -z "$tagged" ] || [ "$tagged" = "$(git rev-parse HEAD)" ] || {
    echo "Version $version was released from another commit: raise the version in pyproject.toml and run make setup." >&2
    exit 1
}
rm -rf dist
"$bin/uv" build --quiet --wheel --out-dir dist .
"$bin/cyclonedx-py" requirements --pyproject pyproject.toml --mc-type application --output-reproducible \
    --output-format JSON --output-file "dist/coverdesk-$version.cdx.json" requirements.production.lock
(cd dist && rm -f .gitignore && sha256sum ./*.whl ./*.cdx.json > SHA256SUMS)
ls -l dist
