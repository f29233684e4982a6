"""Count what `contrib/world_check` finds: `python -m tests.bench.world_check FILE [--show]`.

A file holds cases: a world, lines that are false in it, by kind, and lines that are true.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.conf.settings")


def count(cases, show=False):
    """Return of each kind: how many lines, how many structure holds back, how many are asked of."""
    from tests.contrib.world_check.worlds import cast_of, judged, rows

    lines, held, asked = Counter(), Counter(), Counter()
    for case in cases:
        facts = rows(case["world"], cast_of(case))
        kinds = [(item.get("kind", "false"), item) for item in case["false"]]
        for kind, item in [*kinds, *(("true", item) for item in case["true"])]:
            fact, is_asked = judged(item, facts)
            lines[kind] += 1
            held[kind] += fact is not None
            asked[kind] += is_asked
            if show and (fact is None) == (kind != "true"):
                print(kind, item["line"], item["text"], fact and fact.truth, sep=" | ")
    return lines, held, asked


def main(path, *options):
    django.setup()
    import evennia

    evennia._init()
    cases = json.loads(Path(path).read_text(encoding="utf-8"))
    lines, held, asked = count(cases, "--show" in options)
    for counts in (lines, held, asked):
        counts["false"] = counts.total() - counts["true"]
    for kind in sorted(lines):
        print(f"{kind}: {held[kind]} of {lines[kind]} held back, {asked[kind]} asked of a model")


if __name__ == "__main__":
    main(*sys.argv[1:])
