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


def count(cases, check, show=False):
    """Return how many lines there are of each kind, and how many of them were held back."""
    from tests.contrib.world_check.worlds import cast_of, caught, rows

    lines, held = Counter(), Counter()
    for case in cases:
        facts = rows(case["world"], cast_of(case))
        kinds = [(item.get("kind", "false"), item) for item in case["false"]]
        for kind, item in [*kinds, *(("true", item) for item in case["true"])]:
            found = caught(check, item, facts)
            lines[kind] += 1
            held[kind] += found is not None
            if show and (found is None) == (kind != "true"):
                print(kind, item["line"], item["text"], found and found[1].truth, sep=" | ")
    return lines, held


def main(path, *options):
    django.setup()
    import evennia

    evennia._init()
    from evennia_ai.contrib.world_check.check import ClaimCheck
    from evennia_ai.memory import embedders
    from evennia_ai.memory.remote_vectors import TextNearness
    from evennia_ai.testing.minds import StandInServices

    nearness = TextNearness(embedders.default)
    services = StandInServices(None)

    class PreparedCheck(ClaimCheck):
        def contradicted(self, claims):
            nearness.prepare(services, self.to_prepare(claims))
            return super().contradicted(claims)

    cases = json.loads(Path(path).read_text(encoding="utf-8"))
    lines, held = count(cases, PreparedCheck(nearness.cosines), "--show" in options)
    for kind in sorted(lines):
        print(f"{kind}: {held[kind]} of {lines[kind]} held back")
    wrong = lines.total() - lines["true"]
    print(f"false: {(held.total() - held['true']) / wrong:.1%} held back")
    print(f"true: {held['true'] / lines['true']:.1%} held back")


if __name__ == "__main__":
    main(*sys.argv[1:])
