#!/bin/sh
# backup.sh FOLDER KEEP: writes a backup into FOLDER now and keeps the newest KEEP; with `nightly` as a third word it does so at
# 02:00 of every day, until stopped. A backup that fails leaves the older ones alone.
set -eu
folder=$1
keep=$2
once() {
    coverdesk backup "$folder/coverdesk-$(date -u +%Y%m%dT%H%M%SZ).tar" || return
    find "$folder" -name 'coverdesk-*.tar' -type f | sort -r | tail -n "+$((keep + 1))" | while read -r old; do rm "$old"; done
}
if [ "${3:-}" != nightly ]; then
    once
    exit
fi
trap 'kill "$!" 2>/dev/null; exit 0' TERM INT
while true; do
    now=$(date -u +%s)
    sleep "$(((26 * 3600 - now % 86400) % 86400 + 1))" & wait $!
    once || echo "The backup failed; the next is tried tomorrow." >&2
done
