#!/usr/bin/env bash
# The providers' own Python clients against the scripted provider, directly and through the proxy: they have to see the same.
#
#   tests/clients/run.sh [same|small|all] [TURNS]
#
# same: nothing is compacted, and everything is equal, raw bytes included. small: the provider's window is a fraction of the
# conversation; through the proxy it goes on as if there were no window. Skips with a word where the clients cannot be had.
set -euo pipefail
. "$(dirname "$0")/serving.sh"
here="$root/tests/clients"
mode="${1:-all}"
turns="${2:-200}"

if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3"
    exit 0
fi
if [ -n "${CLIENTS_PYTHON:-}" ]; then
    python="$CLIENTS_PYTHON"
else
    python="$work/venv/bin/python"
    if ! { python3 -m venv "$work/venv" && "$python" -m pip install --quiet --disable-pip-version-check openai anthropic; } \
        >"$work/pip.log" 2>&1; then
        echo "skipped: the clients could not be installed:"
        tail -3 "$work/pip.log"
        exit 0
    fi
fi
build

same() {
    start_upstream direct tools=all window=1000k
    "$python" "$here/sdk.py" "$upstream_url" "$upstream_url" "$work/direct.json" same "$turns"
    start_upstream behind tools=all window=1000k
    start_proxy same --window 1000000
    "$python" "$here/sdk.py" "$proxy_url" "$upstream_url" "$work/proxied.json" same "$turns"
    echo "same: what clients see, directly and through the proxy"
    "$python" "$here/compare.py" "$work/direct.json" "$work/proxied.json"
}

small() {
    start_upstream wide tools=all window=1000k
    "$python" "$here/sdk.py" "$upstream_url" "$upstream_url" "$work/wide.json" small "$turns"
    start_upstream narrow tools=all window=32k
    start_proxy small --window 32000
    if ! "$python" "$here/sdk.py" "$proxy_url" "$upstream_url" "$work/narrow.json" small "$turns"; then
        curl -s "$upstream_url/scripted/report"
        return 1
    fi
    echo "small: $(report requests) requests, longest prompt $(report longest_prompt) of 32000, cache share" \
        "$(report cache_share), breaks $(report breaks), malformed $(report malformed)"
    "$python" "$here/compare.py" "$work/wide.json" "$work/narrow.json"
    [ "$(report malformed)" = 0 ]
}

case "$mode" in
    same) same ;;
    small) small ;;
    all)
        same
        small
        ;;
    *)
        echo "usage: $0 [same|small|all] [TURNS]" >&2
        exit 2
        ;;
esac
