#!/usr/bin/env python3
"""Fits the weights by which evidence is chosen, and says how well they do on sessions they were not fitted on.

    scripts/fit_evidence.py FOLDER [--write]

FOLDER holds recorded sessions as JSON lines (see crates/engine/examples/evidence_features.rs, which this runs: the features
are the engine's own). Sessions are dealt into five parts by a hash of their name, trials of one task together. Each
part is scored by weights fitted on the other four; then weights are fitted on all of them, and written to
crates/engine/src/ledger/evidence/weights.tsv with --write. A ridge logistic regression by Newton's method: no
randomness, so the same sessions give the same weights. Needs numpy.
"""
import os
import subprocess
import sys
import zlib

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEIGHTS = os.path.join(ROOT, "crates/engine/src/ledger/evidence/weights.tsv")
PARTS = 5
# Keeps weights small where the sessions say little; a tenth and ten times of it give the same figures.
RIDGE = 20.0


def read(folder):
    """The table that the engine prints: names, features, needed, weight, session, cut, scored."""
    command = ["cargo", "run", "-q", "--release", "-p", "mainstay-engine", "--example", "evidence_features", "--", folder]
    table = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    names = table[0].split("\t")[5:]
    rows = [line.split("\t") for line in table[1:]]
    features = np.array([row[5:] for row in rows], dtype=float)
    scored, cut, needed, weight = (np.array([float(row[i]) for row in rows]) for i in (1, 2, 3, 4))
    return names, features, needed, weight, [row[0] for row in rows], cut, scored > 0


def shares(needed, groups, session):
    """A weight for each row: neither a cut with many needed identifiers nor a source with many cuts outweighs others by as many."""
    totals = np.bincount(groups, weights=needed)
    sources = np.unique([one.split("/")[0] for one in session], return_inverse=True)[1]
    cuts = np.bincount(sources[np.unique(groups, return_index=True)[1]])
    share = 1 / np.sqrt(np.maximum(totals[groups], 1) * cuts[sources])
    return share / share.mean()


def fit(features, needed, weight):
    """Ridge logistic regression on standardised features, given back for raw ones."""
    mean, deviation = features.mean(0), features.std(0)
    mean[0], deviation[0] = 0, 1
    deviation[deviation == 0] = 1
    x = (features - mean) / deviation
    penalty = np.full(x.shape[1], RIDGE)
    penalty[0] = 0
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (weight * (needed - p)) - penalty * w
        curvature = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        w += step
        if np.abs(step).max() < 1e-8:
            break
    raw = w / deviation
    raw[0] = w[0] - (w * mean / deviation).sum()
    return raw


def report(name, p, needed, weight, share, groups, rows):
    """Log loss, and which part of the needed identifiers is among the likeliest 2, 5 and 10 per cent of a cut."""
    loss = -(needed * np.log(p) + (1 - needed) * np.log(1 - p)) * weight * share
    found = []
    for group in np.unique(groups[rows]):
        here = np.flatnonzero((groups == group) & rows)
        order = here[np.argsort(-p[here], kind="stable")]
        rank = np.cumsum(weight[order]) / weight[here].sum()
        found.append([needed[order][rank <= top].sum() / needed[here].sum() for top in (0.02, 0.05, 0.10)])
    figures = " / ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
    print(f"{name:24s} log loss {loss[rows].sum() / (weight * share)[rows].sum():.4f}   among the likeliest 2/5/10 %: {figures}   cuts {len(found)}")


def main():
    folder = os.path.abspath(next(a for a in sys.argv[1:] if not a.startswith("--")))
    names, x, needed, weight, session, cut, scored = read(folder)
    key = {one: i for i, one in enumerate(dict.fromkeys(zip(session, cut)))}
    groups = np.array([key[one] for one in zip(session, cut)])
    share = shares(needed, groups, session)
    part = np.array([zlib.crc32(one.encode()) % PARTS for one in session])
    print(f"{len(set(session))} sessions, {len(key)} cuts, {int(needed.sum())} needed identifiers")
    held_out, seen = np.zeros(len(x)), np.zeros(len(x))
    for one in range(PARTS):
        w = fit(x[part != one], needed[part != one], (weight * share)[part != one])
        p = np.clip(1 / (1 + np.exp(-x @ w)), 1e-9, 1 - 1e-9)
        held_out[part == one] = p[part == one]
        seen += np.where(part != one, p, 0) / (PARTS - 1)
        if "--parts" in sys.argv:
            write(WEIGHTS + f".{one}", names, w)
    report("fitted on the same", seen, needed, weight, share, groups, scored)
    report("fitted on the others", held_out, needed, weight, share, groups, scored)
    w = fit(x, needed, weight * share)
    if "--write" in sys.argv:
        write(WEIGHTS, names, w)


def write(path, names, weights):
    """The weights as the engine reads them."""
    with open(path, "w") as file:
        file.write("# How an identifier's past speaks for its future use. Written by scripts/fit_evidence.py; docs/ledger-evidence.md explains.\n")
        for name, weight in zip(names, weights):
            file.write(f"{name}\t{weight:.5f}\n")


main()
