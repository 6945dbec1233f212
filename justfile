# What CI runs.
check:
    bash .ci/run

# Only the tests.
test:
    cargo test --workspace

# Speed, with ratios against a baseline in the same run.
bench:
    cargo bench -p mainstay-engine -p mainstay-wire -p mainstay-store -p mainstay-session
    cargo bench -p mainstay-eval --bench replay
    cargo bench -p mainstay --bench proxy

# Whether the exam's files are what its scenes make.
exam:
    python3 evals/make_fixtures.py --check

# Fuzz one reader for a minute; `just fuzz` lists the targets.
fuzz target="" seconds="60":
    #!/usr/bin/env bash
    if [ -z "{{target}}" ]; then ls fuzz/targets | sed 's/\.rs$//'; else
        cargo +nightly fuzz run "{{target}}" -- -max_total_time="{{seconds}}"
    fi
