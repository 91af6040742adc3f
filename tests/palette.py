# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates colour blindness, and computes the difference of two colours."""
import itertools
import math

# Matrices for linear RGB that simulate colour-blind vision, which lacks one kind of cone cells. The matrices are from
# Machado, Oliveira and Fernandes 2009, severity 1.
VISIONS = {
    "normal vision": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# White has the XYZ value (1, 1, 1).
TO_XYZ = ((0.4339, 0.3762, 0.1899), (0.2126, 0.7152, 0.0722), (0.0177, 0.1095, 0.8730))


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def lab(colour, vision):
    """Converts a colour #rrggbb to CIE L*a*b*."""
    srgb = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in srgb]
    seen = [min(1.0, max(0.0, c)) for c in times(VISIONS[vision], linear)]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in times(TO_XYZ, seen))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def alike(colours, least):
    """Returns the pairs of colours whose distance in L*a*b* is less than @least. A distance of 2 in
    L*a*b* is just visible."""
    for vision in VISIONS:
        seen = {name: lab(colour, vision) for name, colour in colours.items()}
        for a, b in itertools.combinations(seen, 2):
            if math.dist(seen[a], seen[b]) < least:
                yield f"{a} {colours[a]} and {b} {colours[b]} differ by {math.dist(seen[a], seen[b]):.0f} in {vision}"
