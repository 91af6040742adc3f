# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws an SVG bar chart of the instructions that each command adds to an operation."""

from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 860, 210, 70, 56, 30, 11
COLOURS = {"arm64": "#2f6f9f", "amd64": "#d08a2e"}


def step_of(largest):
    """Returns a round number as the distance of grid lines, such that the chart has three to seven lines."""
    step = 10
    for factor in (2, 2.5, 2) * 6:
        if largest / step <= 7:
            break
        step *= factor
    return step


def text(x, y, words, anchor="start", size=12, colour="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{colour}">{escape(words)}</text>')


def grid(largest, bottom, scale):
    step = step_of(largest)
    for number in range(int(largest / step) + 1):
        x = LEFT + number * step * scale
        yield f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'
        yield text(x, bottom + 16, f"{number * step:,.0f}", "middle", 11, "#555")


def legend(architectures):
    x = WIDTH - RIGHT - 90 * len(architectures)
    for arch in architectures:
        yield f'<rect x="{x}" y="14" width="12" height="12" fill="{COLOURS[arch]}"/>'
        yield text(x + 18, 24, arch)
        x += 90


def bars(rows, architectures, scale):
    for number, (name, values) in enumerate(rows):
        y = TOP + number * ROW
        yield text(LEFT - 10, y + BAR + 4, name, "end")
        for place, arch in enumerate(architectures):
            value = values.get(arch)
            if value is None:
                continue
            top = y + place * (BAR + 1)
            length = max(value * scale, 1)
            yield (f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR}" '
                   f'fill="{COLOURS[arch]}"/>')
            yield text(LEFT + length + 5, top + BAR - 1, f"{value:,.0f}", size=10, colour="#444")


def draw(title, rows, architectures):
    """Returns the chart as SVG. rows: [(name of the command, {architecture: instructions})]"""
    largest = max([v for _, values in rows for v in values.values() if v is not None] or [1])
    scale = (WIDTH - LEFT - RIGHT) / largest
    bottom = TOP + ROW * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 30}" '
             f'viewBox="0 0 {WIDTH} {bottom + 30}" font-family="sans-serif" role="img">',
             f"<title>{escape(title)}</title>",
             f'<rect width="{WIDTH}" height="{bottom + 30}" fill="#fff"/>',
             text(14, 24, title, size=14), *legend(architectures), *grid(largest, bottom, scale),
             *bars(rows, architectures, scale), "</svg>"]
    return "\n".join(parts) + "\n"
