# Starting the scripted provider and the proxy for the scripts beside this one. To be sourced.
#
# UPSTREAM and MAINSTAY name the binaries; without them they are built. Everything that was started ends with the script.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
started=()

finish() {
    for process in "${started[@]}"; do
        kill "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT

build() {
    if [ -z "${UPSTREAM:-}" ] || [ -z "${MAINSTAY:-}" ]; then
        (cd "$root" && cargo build --quiet --locked -p mainstay-tests --bin upstream -p mainstay --bin mainstay)
        local target="${CARGO_TARGET_DIR:-$root/target}"
        UPSTREAM="${UPSTREAM:-$target/debug/upstream}"
        MAINSTAY="${MAINSTAY:-$target/debug/mainstay}"
    fi
}

# await_line FILE PATTERN: prints what matches as soon as the file holds it.
await_line() {
    local found
    for _ in $(seq 200); do
        found="$(grep -o "$2" "$1" 2>/dev/null | head -1 || true)"
        if [ -n "$found" ]; then
            printf '%s' "$found"
            return 0
        fi
        sleep 0.05
    done
    echo "nothing like $2 in $1:" >&2
    cat "${1%.log}".* >&2
    return 1
}

# start_upstream NAME CHOICE…: sets upstream_url.
start_upstream() {
    local name="$1"
    shift
    "$UPSTREAM" "$@" >"$work/$name.log" 2>&1 &
    started+=($!)
    upstream_url="$(await_line "$work/$name.log" 'http://127[0-9.]*:[0-9]*')"
}

# start_proxy NAME FLAG…: in front of upstream_url; sets proxy_url.
start_proxy() {
    local name="$1"
    shift
    "$MAINSTAY" proxy --listen 127.0.0.1:0 --upstream "$upstream_url" --store "$work/$name-store/store.db" "$@" \
        >"$work/$name.log" 2>"$work/$name.err" &
    started+=($!)
    proxy_url="$(await_line "$work/$name.log" 'http://127[0-9.]*:[0-9]*')"
}

# report FIELD: a figure of the provider at upstream_url.
report() {
    curl -sf "$upstream_url/scripted/report" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}
