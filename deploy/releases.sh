#!/bin/sh
# Releases beside each other on a machine with systemd, so that the one before is a switch away:
#   releases.sh install SOURCE   installs the checkout SOURCE into a folder of its own; what runs is left alone
#   releases.sh use RELEASE      makes that folder the one that /opt/coverdesk names; restart the services then
#   releases.sh list             the releases that are installed, the one in use marked
# COVERDESK_ROOT is the folder that holds them (/opt).
set -eu
root=${COVERDESK_ROOT:-/opt}
current=$root/coverdesk

case "${1:-} $#" in
"install 2")
    source=$2
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$source/pyproject.toml" | head -n 1)
    commit=$(git -C "$source" rev-parse --short=12 HEAD)
    release=coverdesk-$version-$commit
    if [ -e "$root/$release/bin/coverdesk" ]; then
        echo "$release is installed already."
        exit
    fi
    # A folder that was not finished holds no command, and is begun anew.
    rm -rf "${root:?}/$release"
    trap 'rm -rf "${root:?}/$release"' EXIT
    SOURCE_COMMIT=$(git -C "$source" rev-parse HEAD) sh "$source/deploy/install.sh" "$source" "$root/$release"
    trap - EXIT
    echo "$release is installed: stop the services, \`releases.sh use $release\`, and start them."
    ;;
"use 2")
    release=$2
    [ -x "$root/$release/bin/coverdesk" ] || { echo "$root/$release holds no release: \`releases.sh list\` names those there are." >&2; exit 1; }
    before=$(readlink "$current" || true)
    if [ -e "$current" ] && [ ! -L "$current" ]; then
        # Installed without this script: it stays a release, under a name of its own.
        before=coverdesk-before
        [ ! -e "$root/$before" ] || { echo "$root/$before is in the way." >&2; exit 1; }
        mv "$current" "$root/$before"
    fi
    # A link is renamed over the other one: at no time is there none.
    ln -s "$release" "$current.new"
    mv -T "$current.new" "$current"
    echo "$current is $release now.${before:+ Back again: \`releases.sh use $before\`.}"
    ;;
"list 1")
    used=$(readlink "$current" || true)
    for each in "$root"/coverdesk-*; do
        [ -x "$each/bin/coverdesk" ] || continue
        name=${each##*/}
        if [ "$name" = "$used" ]; then echo "* $name"; else echo "  $name"; fi
    done
    ;;
*)
    echo "releases.sh install SOURCE | use RELEASE | list" >&2
    exit 2
    ;;
esac
