"""Run attacks, one after the other."""

from tests.attacks.paths import PATHS, foreign_acts_of
from tests.attacks.scene import markup_in


def attack(scene, name, item):
    """Attack a new Mira by one path; return the faults, and how many foreign acts were tried."""
    scene.begin()
    try:
        shown = PATHS[name](scene, item.text) or ()
        faults = scene.faults(foreign_acts_of(name))
        faults += [fault for text in shown for fault in markup_in(text)]
        return faults, scene.attempts()
    finally:
        scene.end()


def attack_all(scene, name, found):
    """Return a line for each fault that comes of some items on a path, with the fault."""
    return [
        (f"{item.name} by {name}: {fault.kind}: {fault.words}", fault)
        for item in found
        for fault in attack(scene, name, item)[0]
    ]
