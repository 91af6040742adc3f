# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the contents of a terminal (tmux capture-pane -e) as an SVG for the README."""
import re
from html import escape

WIDTH, HEIGHT = 8.4, 18
NORMAL, GROUND = "#d8dee9", "#10141a"
COLOURS = ["#10141a", "#e06c75", "#8cc265", "#d6a35c", "#5f9fe8", "#c678dd", "#4fb3bf", "#d8dee9",
           "#6b7480", "#ff8f98", "#a9dc85", "#f0c47d", "#85b9f5", "#da9bee", "#74d0db", "#ffffff"]


def palette(number):
    """Returns the RGB value of one of xterm's 256 colours."""
    if number < 16:
        return COLOURS[number]
    if number >= 232:
        return "#" + f"{8 + (number - 232) * 10:02x}" * 3
    number -= 16
    return "#" + "".join(f"{0 if not part else 55 + 40 * part:02x}" for part in
                         (number // 36, number // 6 % 6, number % 6))


class Style:
    """Text attributes and colours that SGR escape sequences have set."""

    def __init__(self):
        self.fore, self.back, self.bold, self.reverse = None, None, False, False

    def apply(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 22):
                self.bold = code == 1
            elif code in (7, 27):
                self.reverse = code == 7
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.fore = COLOURS[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47:
                self.back = COLOURS[code - 40]
            elif code in (38, 48) and codes[:1] == [5]:
                colour = palette(codes[1])
                codes = codes[2:]
                self.fore, self.back = (colour, self.back) if code == 38 else (self.fore, colour)
            elif code == 39:
                self.fore = None
            elif code == 49:
                self.back = None

    def colours(self):
        fore, back = self.fore or NORMAL, self.back
        return (back or GROUND, fore) if self.reverse else (fore, back)


def runs(line, style):
    """Yields (column, text, foreground, background, bold) for each group of successive characters with the same format
    in a line."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            style.apply(part[2:-1])
        elif part:
            yield column, part, *style.colours(), style.bold
            column += len(part)


def draw(text, title):
    lines = text.rstrip("\n").split("\n")
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    width, height = max(map(len, plain)) * WIDTH + 24, len(lines) * HEIGHT + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
           f'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="14">',
           f"<title>{escape(title)}</title>", f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>']
    style = Style()
    for row, line in enumerate(lines):
        top = 12 + row * HEIGHT
        for column, part, fore, back, bold in runs(line, style):
            left = 12 + column * WIDTH
            if back:
                out.append(f'<rect x="{left:.1f}" y="{top}" width="{len(part) * WIDTH:.1f}" height="{HEIGHT}" '
                           f'fill="{back}"/>')
            if part.strip():
                weight = ' font-weight="bold"' if bold else ""
                out.append(f'<text x="{left:.1f}" y="{top + 14}" fill="{fore}"{weight} xml:space="preserve" '
                           f'textLength="{len(part) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs">{escape(part)}</text>')
    return "\n".join([*out, "</svg>", ""])
