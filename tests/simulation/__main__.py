"""Play simulated games: one seed with its trace, or many until one breaks a promise.

python -m tests.simulation --seed 17
python -m tests.simulation --from 0 --count 50000
"""

import argparse
import sys
import time

from tests.simulation.schedule import Simulation


def main() -> int:
    """Play the games asked for; return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="play this one and print its trace")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1_000)
    options = parser.parse_args()
    if options.seed is not None:
        return show(options.seed)
    return search(options.first, options.count)


def show(seed: int) -> int:
    """Print the trace of one game."""
    game = Simulation(seed)
    found = game.run()
    sys.stdout.write("\n".join([*game.trace, f"trace {game.digest()}", ""]))
    return int(bool(found))


def search(first: int, count: int) -> int:
    """Play games one after the other; print violations with their seed."""
    began, broken = time.process_time(), 0
    for seed in range(first, first + count):
        for violation in Simulation(seed).run():
            broken += 1
            sys.stdout.write(f"--seed {seed}: {violation}\n")
    took = time.process_time() - began
    sys.stdout.write(f"{count} games in {took:.1f} s, {broken} violations\n")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
