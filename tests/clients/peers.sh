#!/usr/bin/env bash
# The benchmark of the proxy with another proxy from the registries in the same run: what each adds to a request on loopback.
# Needs python3 and pip; says so and ends well where the peer cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder="${PEERS_DIR:-$(mktemp -d)}"
provider=127.0.0.1:43180
peer=127.0.0.1:43181

if [ ! -x "$folder/venv/bin/kompact" ]; then
    python3 -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet kompact==0.4.0 || {
        echo "skipped: kompact 0.4.0 cannot be installed here"
        exit 0
    }
fi
"$folder/venv/bin/kompact" proxy --host 127.0.0.1 --port "${peer##*:}" --openai-base-url "http://$provider" --no-otel >"$folder/kompact.log" 2>&1 &
trap 'kill $! 2>/dev/null || true' EXIT
for _ in $(seq 200); do
    if (exec 3<>"/dev/tcp/${peer%:*}/${peer##*:}") 2>/dev/null; then break; fi
    sleep 0.1
done

cargo bench --quiet -p mainstay --bench proxy -- --upstream "$provider" --peer "kompact=http://$peer"
