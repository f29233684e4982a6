"""Line charts as SVG text, without a library: equal input gives equal bytes.

Axes are logarithmic, by decades. Colours follow the reader's light or dark setting.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 680, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 40, 46
COLOURS = 6
STYLE = """
  text { font: 12px sans-serif; fill: #333 }
  .title { font-size: 14px; font-weight: bold }
  .grid { stroke: #8884; stroke-width: 1 }
  .line { fill: none; stroke-width: 2 }
  .c0 { --c: #0072b2 } .c1 { --c: #d55e00 } .c2 { --c: #009e73 }
  .c3 { --c: #b5489a } .c4 { --c: #9a7b00 } .c5 { --c: #5b5bd6 }
  .line { stroke: var(--c) } .dot, .name { fill: var(--c) }
  .b { stroke-dasharray: 6 4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .c0 { --c: #56b4e9 } .c1 { --c: #ff9a52 } .c2 { --c: #3fd0a4 }
    .c3 { --c: #e58fce } .c4 { --c: #e0c04a } .c5 { --c: #a3a3ff }
  }
"""

Points = Sequence[tuple[float, float]]


class Chart(NamedTuple):
    """What a chart shows: a line for each name, its points by rising x; all values over 0.

    Lines whose names differ only behind a comma have one colour; the second of them is dashed.
    """

    title: str
    x_name: str
    lines: Mapping[str, Points]


class Axis(NamedTuple):
    """A logarithmic axis: the exponents of its ends, and their places on the paper."""

    low: int
    high: int
    begin: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def draw(chart: Chart) -> str:
    """Return a chart as SVG; raises ValueError without any point."""
    points = [point for line in chart.lines.values() for point in line]
    if not points:
        raise ValueError(f"There is nothing to draw for '{chart.title}'.")
    x = axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<title>{escape(chart.title)}</title>",
        f"<style>{STYLE}</style>",
        text(LEFT, 20, chart.title, "title"),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, chart.x_name, anchor="middle"),
        *grid(x, y),
    ]
    groups = list(dict.fromkeys(name.partition(",")[0] for name in chart.lines))
    labels: list[float] = []
    for name, line in chart.lines.items():
        if line:
            group, _, variant = name.partition(",")
            colour = f"c{groups.index(group) % COLOURS}"
            place = free_place(y.at(line[-1][1]), labels)
            is_dashed = bool(variant) and name != first_of(group, chart.lines)
            body += draw_line(line, (x, y), f"{colour}{' b' if is_dashed else ''}")
            body.append(text(WIDTH - RIGHT + 8, place + 4, name, f"name {colour}"))
    return "\n".join([*body, "</svg>"]) + "\n"


def first_of(group: str, names: Mapping[str, Points]) -> str:
    """Return the first of the names that share a colour."""
    return next(name for name in names if name.partition(",")[0] == group)


def axis(values: Sequence[float], begin: float, end: float) -> Axis:
    """Return an axis of whole decades that holds all values."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return Axis(low, max(high, low + 1), begin, end)


def grid(x: Axis, y: Axis) -> list[str]:
    """Return the decades' lines and their labels."""
    parts = []
    for power in range(x.low, x.high + 1):
        place = x.at(10.0**power)
        parts.append(rule(place, y.begin, place, y.end))
        parts.append(text(place, y.begin + 18, decade(power), anchor="middle"))
    for power in range(y.low, y.high + 1):
        place = y.at(10.0**power)
        parts.append(rule(x.begin, place, x.end, place))
        parts.append(text(x.begin - 8, place + 4, decade(power), anchor="end"))
    return parts


def draw_line(line: Points, axes: tuple[Axis, Axis], look: str) -> list[str]:
    """Return a line and a dot at each of its points, which shows its value to a pointer."""
    x, y = axes
    places = [(x.at(one), y.at(other)) for one, other in line]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    dots = [
        f'<circle class="dot {look}" cx="{a:.1f}" cy="{b:.1f}" r="3">'
        f"<title>{value:g}</title></circle>"
        for (a, b), (_, value) in zip(places, line, strict=True)
    ]
    return [f'<polyline class="line {look}" points="{path}"/>', *dots]


def free_place(wanted: float, taken: list[float]) -> float:
    """Return a height for a label near the wanted one, away from those before; note it."""
    steps = (step * side for step in range(40) for side in (4, -4))
    place = next(
        wanted + step for step in steps if all(abs(wanted + step - one) >= 14 for one in taken)
    )
    taken.append(place)
    return place


def decade(power: int) -> str:
    """Return a power of ten as people write it."""
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"


def rule(x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a line of the grid."""
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def text(x: float, y: float, words: str, look: str = "", anchor: str = "start") -> str:
    """Return a text."""
    kind = f' class="{look}"' if look else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
