#!/usr/bin/env bash
# Unmodified agents, as npm has them, in a scripted tool loop: first straight to the scripted provider, then through the proxy with a
# window that the loop does not fit.
#
#   tests/clients/agents.sh [AGENT…]          claude, codex, opencode-{anthropic,chat,responses}, pi-{anthropic,chat,responses}
#   TURNS=120 WINDOW=64000 AGENTS_DIR=DIR     steps of the loop, the provider's window, where agents are installed and kept
#
# An agent passes if it comes to the end of the loop with every request accepted. Agents that cannot be installed are skipped with
# a word. They run in an empty home and an empty project; the commands they are told to run print numbers.
set -euo pipefail
. "$(dirname "$0")/serving.sh"
turns="${TURNS:-120}"
window="${WINDOW:-64000}"
agents_dir="${AGENTS_DIR:-$work/agents}"
all=(claude codex opencode-anthropic opencode-chat opencode-responses pi-anthropic pi-chat pi-responses)
[ $# -gt 0 ] || set -- "${all[@]}"

if ! command -v npm >/dev/null; then
    echo "skipped: there is no npm"
    exit 0
fi

# install NAME PACKAGE: the package below agents_dir, unless it is there.
install() {
    [ -x "$agents_dir/$1/node_modules/.bin/$1" ] && return 0
    mkdir -p "$agents_dir/$1"
    (cd "$agents_dir/$1" && npm init -y && npm install --no-audit --no-fund "$2") >"$work/npm-$1.log" 2>&1
}

package_of() {
    case "$1" in
        claude) echo @anthropic-ai/claude-code ;;
        codex) echo @openai/codex ;;
        opencode) echo opencode-ai ;;
        pi) echo @earendil-works/pi-coding-agent ;;
    esac
}

# clean COMMAND…: in an empty environment, an own home and an own project.
clean() {
    (cd "$project" && timeout 600 env -i PATH="$PATH" HOME="$home" TERM=dumb "$@" </dev/null)
}

prompt="Look around, step by step."

run_claude() {
    clean ANTHROPIC_BASE_URL="$1" ANTHROPIC_API_KEY=sk-ant-scripted CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        "$bin" -p "$prompt" --output-format json --allowedTools "Bash Read" --model claude-sonnet-4-5
}

run_codex() {
    mkdir -p "$home/.codex"
    cat >"$home/.codex/config.toml" <<TOML
model = "gpt-5"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "$1/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
TOML
    clean SCRIPTED_KEY=sk-scripted "$bin" exec --skip-git-repo-check --json --dangerously-bypass-approvals-and-sandbox "$prompt"
}

run_opencode() {
    local package model
    case "$form" in
        anthropic) package=@ai-sdk/anthropic model=claude-sonnet-4-5 ;;
        chat) package=@ai-sdk/openai-compatible model=scripted-1 ;;
        responses) package=@ai-sdk/openai model=gpt-5 ;;
    esac
    mkdir -p "$home/.config/opencode"
    cat >"$home/.config/opencode/opencode.json" <<JSON
{
  "autoupdate": false,
  "share": "disabled",
  "provider": {
    "scripted": {
      "npm": "$package",
      "name": "Scripted",
      "options": {"baseURL": "$1/v1", "apiKey": "sk-scripted"},
      "models": {"$model": {"name": "Scripted", "limit": {"context": 1000000, "output": 8192}}}
    }
  },
  "permission": {"bash": "allow", "read": "allow"}
}
JSON
    clean OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
        "$bin" run -m "scripted/$model" --format json "$prompt"
}

run_pi() {
    local api base="$1/v1"
    case "$form" in
        anthropic) api=anthropic-messages base="$1" ;;
        chat) api=openai-completions ;;
        responses) api=openai-responses ;;
    esac
    mkdir -p "$home/.pi/agent"
    cat >"$home/.pi/agent/models.json" <<JSON
{
  "providers": {
    "scripted": {
      "baseUrl": "$base",
      "api": "$api",
      "apiKey": "sk-scripted",
      "models": [{"id": "scripted-1", "reasoning": true, "contextWindow": 1000000, "maxTokens": 8192}]
    }
  }
}
JSON
    clean PI_OFFLINE=1 PI_SKIP_VERSION_CHECK=1 \
        "$bin" -p --mode json --provider scripted --model scripted-1 --thinking medium "$prompt"
}

# judge NAME WAY URL: runs the agent and looks at what it says, and at what the provider says of it.
judge() {
    local name="$1" way="$2" out="$work/$1-$2"
    home="$work/home-$name-$way" project="$work/project-$name-$way"
    mkdir -p "$home" "$project"
    printf '# A project\n' >"$project/README.md"
    local began=$SECONDS code=0
    "run_$agent" "$3" >"$out.out" 2>"$out.err" || code=$?
    printf '%-20s %-8s %3ds  requests %s, longest prompt %s, cache share %.3f, overflows %s, malformed %s\n' "$name" "$way" \
        $((SECONDS - began)) "$(report requests)" "$(report longest_prompt)" "$(report cache_share)" "$(report overflows)" \
        "$(report malformed)"
    if [ "$code" != 0 ] || ! grep -q "Done after $turns steps" "$out.out" || [ "$(report malformed)" != 0 ]; then
        echo "$name, $way: exit $code, and did not come to its end with everything accepted:"
        tail -c 800 "$out.out" "$out.err"
        curl -s "$upstream_url/scripted/report" | grep -A8 '"rejections"' | cut -c1-400
        failed=1
    fi
}

build
failed=0
for name in "$@"; do
    agent="${name%%-*}" form="${name#*-}"
    if ! install "$agent" "$(package_of "$agent")"; then
        echo "$name: skipped: it could not be installed: $(tail -1 "$work/npm-$agent.log")"
        continue
    fi
    bin="$agents_dir/$agent/node_modules/.bin/$agent"
    [ "$form" != "$name" ] || echo "$name: $(clean_version="$("$bin" --version 2>/dev/null | head -1)"; echo "$clean_version")"
    start_upstream "wide-$name" "turns=$turns" parallel=2 window=1000k
    judge "$name" direct "$upstream_url"
    start_upstream "narrow-$name" "turns=$turns" parallel=2 "window=$window"
    start_proxy "proxy-$name" --window "$window"
    judge "$name" proxied "$proxy_url"
done
exit "$failed"
