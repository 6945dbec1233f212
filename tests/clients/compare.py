"""Says where two documents of sdk.py differ: python compare.py DIRECT PROXIED. Exit 1 if they do.

One thing has to differ: a history whose calls and results lost each other is refused by the provider and put right by the proxy.
"""

import json
import sys

# Enough to see what is wrong without reading megabytes.
MOST = 40
LONGEST = 160


def differences(one, two, path=""):
    if type(one) is not type(two):
        yield path, one, two
    elif isinstance(one, dict):
        for key in sorted(one.keys() | two.keys()):
            yield from differences(one.get(key), two.get(key), f"{path}.{key}")
    elif isinstance(one, list):
        if len(one) != len(two):
            yield f"{path} (length)", len(one), len(two)
        for index, (left, right) in enumerate(zip(one, two)):
            yield from differences(left, right, f"{path}[{index}]")
    elif one != two:
        yield path, one, two


def shown(value, at):
    text = value if isinstance(value, str) else json.dumps(value)
    begin = max(0, at - LONGEST // 4)
    return ("…" if begin else "") + repr(text[begin : begin + LONGEST])


def main():
    documents = []
    for path in sys.argv[1:3]:
        with open(path, encoding="utf-8") as file:
            documents.append(json.load(file))
    found = []
    for client, (direct, proxied) in ((name, [document[name] for document in documents]) for name in documents[0]):
        torn = [seen.pop("torn", None) for seen in (direct, proxied)]
        if torn not in (["BadRequestError", None], [None, None]):
            found.append((f"{client}.torn", *torn))
    found += differences(*documents)
    for path, one, two in found[:MOST]:
        at = 0
        if isinstance(one, str) and isinstance(two, str):
            same = (index for index, (left, right) in enumerate(zip(one, two)) if left != right)
            at = next(same, min(len(one), len(two)))
        print(f"{path.lstrip('.')}\n  direct:  {shown(one, at)}\n  proxied: {shown(two, at)}")
    if len(found) > MOST:
        print(f"… and {len(found) - MOST} more")
    print(f"{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
