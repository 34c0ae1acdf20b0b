#!/bin/sh
# What `docker build` and `docker run` would do, without a container engine: the same install.sh in a bare directory, by a
# user without rights, then a desk on a read-only installation with one writable folder, replayed from outside.
set -eu
port=${PORT:-8601}
limit_mb=400
if [ -z "${IMAGE_CHECK_WORK:-}" ]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/coverdesk-image-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir "$work/src" "$work/data"
    # What the image would be given: tracked files and nothing that lies about.
    git ls-files -z -- app.py core data deploy docs pages pyproject.toml requirements.production.lock requirements.lock README.md LICENSE .streamlit |
        tar --create --null --files-from=- | tar --extract --directory "$work/src"
    commit=$(git rev-parse HEAD)
    chmod 755 "$work"
    set -- env -i PATH="/usr/local/bin:/usr/bin:/bin" HOME="$work/data" TMPDIR="$work/data" IMAGE_CHECK_WORK="$work" \
        SOURCE_COMMIT="$commit" PORT="$port" PIP_CONFIG_FILE="${PIP_CONFIG_FILE:-/etc/pip.conf}" \
        PIP_FIND_LINKS="${PIP_FIND_LINKS:-}" PIP_INDEX_URL="${PIP_INDEX_URL:-https://pypi.org/simple}" \
        PIP_CERT="${PIP_CERT:-}" sh "$work/src/deploy/image-check.sh"
    if [ "$(id -u)" = 0 ]; then
        chown -R 10001:10001 "$work"
        setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs "$@"
    else
        "$@"
    fi
    exit
fi
work=$IMAGE_CHECK_WORK
echo "Installing as user $(id -u) in a bare directory"
sh "$work/src/deploy/install.sh" "$work/src" "$work/opt"
rm -rf "$work/src"
chmod -R a-w "$work/opt"
size=$(du -sm --apparent-size "$work/opt" | cut -f1)
echo "The installation takes $size MB"
[ "$size" -le "$limit_mb" ] || { echo "It may take $limit_mb MB at most" >&2; exit 1; }

cd "$work/data"
export PATH="$work/opt/bin:$PATH" COVERDESK_DEMO=true PYTHONDONTWRITEBYTECODE=1
coverdesk --version
coverdesk demo --purchases 200
coverdesk serve --port "$port" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
tries=0
until python -c "from urllib.request import urlopen; urlopen('http://127.0.0.1:$port/readyz', timeout=4)" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] && kill -0 "$server" || { echo "The desk does not get ready" >&2; exit 1; }
    sleep 1
done
key=$(coverdesk keys issue --distributor "Image check" --mode test)
coverdesk verify --base-url "http://127.0.0.1:$port" --key "$key" | tail -n 3
coverdesk export purchases --format xlsx --out purchases.xlsx
coverdesk check
coverdesk backup backup.tar
kill "$server"
wait "$server" || true
chmod -R u+w "$work/opt"
echo "The image's steps hold."
