"""A mountain lake in the evening, computed for each pixel from integer noise.

Only +, -, *, / and square roots of float64 are used, each rounded alike everywhere, so that the pixels are the same on
every machine and with every version of numpy. Coordinates: y from 0 (top) to 1 (bottom), x from 0 to width / height."""
from typing import NamedTuple

import numpy as np

HORIZON = 0.64
SUN_X, SUN_Y = 1.24, 0.47
BAND_ROWS = 128


class Detail(NamedTuple):
    """What depends on the resolution."""
    octaves: int  # of noise
    edge: float  # half the width of a smooth edge


def hash01(ix, iy, seed):
    """Uniform numbers in [0, 1) for integer lattice points."""
    mixed = (ix.astype(np.uint32) * np.uint32(0x9E3779B1)) ^ (iy.astype(np.uint32) * np.uint32(0x85EBCA77))
    mixed = mixed + np.uint32(seed * 0x27D4EB2F & 0xFFFFFFFF)
    for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    return ((mixed ^ (mixed >> np.uint32(15))) >> np.uint32(8)).astype(np.float64) / (1 << 24)


def smooth(low, high, value):
    """0 below low, 1 above high, a cubic between."""
    t = np.clip((value - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def noise(x, y, seed):
    """Value noise in [0, 1) with unit lattice."""
    fx, fy = np.floor(x), np.floor(y)
    ix, iy = fx.astype(np.int64), fy.astype(np.int64)
    tx, ty = x - fx, y - fy
    tx = tx * tx * tx * (tx * (tx * 6.0 - 15.0) + 10.0)
    ty = ty * ty * ty * (ty * (ty * 6.0 - 15.0) + 10.0)
    top = hash01(ix, iy, seed) * (1.0 - tx) + hash01(ix + 1, iy, seed) * tx
    bottom = hash01(ix, iy + 1, seed) * (1.0 - tx) + hash01(ix + 1, iy + 1, seed) * tx
    return top * (1.0 - ty) + bottom * ty


def fractal(x, y, seed, octaves, ridged=False):
    """Octaves of noise in [0, 1), each turned so that no lattice shows; ridged folds them into crests."""
    total, weight, sum_of_weights = 0.0, 1.0, 0.0
    for octave in range(octaves):
        value = noise(x, y, seed + octave)
        if ridged:
            fold = 1.0 - np.abs(2.0 * value - 1.0)
            value = fold * fold
        total = total + weight * value
        sum_of_weights += weight
        weight *= 0.5
        x, y = 1.6 * x - 1.2 * y + 5.2, 1.2 * x + 1.6 * y + 1.3
    return total / sum_of_weights


def blend(image, colour, amount):
    """image towards colour, both H x W x 3 or a triple, by an amount for each pixel."""
    return image + (np.asarray(colour, dtype=np.float64) - image) * amount[..., None]


def sky(x, y):
    up = 1.0 - y / HORIZON
    image = np.zeros(x.shape + (3,)) + np.array((0.99, 0.72, 0.46))
    image = blend(image, (0.93, 0.62, 0.52), smooth(0.02, 0.30, up))
    image = blend(image, (0.45, 0.48, 0.68), smooth(0.18, 0.62, up))
    image = blend(image, (0.13, 0.22, 0.47), smooth(0.48, 1.05, up))
    distance2 = (x - SUN_X) * (x - SUN_X) + (y - SUN_Y) * (y - SUN_Y)
    image = blend(image, (1.0, 0.83, 0.50), 0.75 / (1.0 + 22.0 * distance2) / (1.0 + 22.0 * distance2))
    depth = 0.10 + 1.1 * up
    cloud = fractal(x * 1.6 / depth + 3.0, up * 3.4 / depth * 1.9, 11, 6)
    thick = smooth(0.50, 0.74, cloud) * smooth(0.03, 0.25, up) * (0.95 - 0.35 * up)
    lit = 1.0 / (1.0 + 2.2 * distance2)
    image = blend(image, (0.42, 0.36, 0.50), thick * 0.85)
    image = blend(image, (1.0, 0.73, 0.55), smooth(0.48, 0.60, cloud) * (1.0 - smooth(0.60, 0.72, cloud)) * lit
                  * smooth(0.03, 0.25, up) * 0.9)
    disc = 1.0 - smooth(0.034 * 0.034, 0.037 * 0.037, distance2)
    image = blend(image, (1.0, 0.96, 0.80), 0.55 / (1.0 + 420.0 * distance2))
    return blend(image, (1.0, 0.98, 0.88), disc)


def ridge_height(x, seed, scale, octaves):
    zero = np.zeros_like(x)
    return fractal(x * scale + seed * 7.0, zero + seed * 3.7, seed, octaves, ridged=True)


# For each range of mountains: seed, frequency, foot, height, colour in the shade, colour in the sun, haze, snow line.
RANGES = (
    (21, 1.5, 0.640, 0.47, (0.36, 0.36, 0.52), (0.86, 0.62, 0.56), 0.40, 0.36),
    (33, 2.3, 0.645, 0.30, (0.21, 0.24, 0.37), (0.62, 0.43, 0.40), 0.24, 0.0),
    (47, 2.9, 0.650, 0.19, (0.11, 0.16, 0.22), (0.36, 0.30, 0.24), 0.12, 0.0),
)


def mountains(image, x, y, detail):
    row = x[:1]
    for seed, scale, foot, height, shade, sun, haze, snow_line in RANGES:
        centred = (row - 0.62) * (1.0 if seed == 21 else 0.0)
        crest = foot - height * ridge_height(row, seed, scale, detail.octaves) / (1.0 + 1.9 * centred * centred)
        inside = smooth(-detail.edge, detail.edge, y - crest)
        if not inside.any():
            continue
        below = y - crest
        rock = fractal(x * 9.0 + 0.8 * below * 9.0, y * 15.0, seed + 100, detail.octaves, ridged=True)
        shifted = fractal((x + 0.012) * 9.0 + 0.8 * below * 9.0, y * 15.0, seed + 100, detail.octaves, ridged=True)
        light = np.clip(0.42 + 2.0 * (rock - shifted) + 0.25 * (rock - 0.5), 0.0, 1.0)
        colour = blend(np.zeros(image.shape) + np.array(shade), sun, light)
        if snow_line > 0.0:
            snow = smooth(-0.03, 0.05, snow_line + 0.10 * (rock - 0.4) - y)
            colour = blend(colour, (0.97, 0.84, 0.80), snow * (0.35 + 0.65 * light))
        mist = haze + (1.0 - haze) * 0.75 * smooth(foot - 0.16, foot, y)
        distance2 = (x - SUN_X) * (x - SUN_X)
        air = blend(np.zeros(image.shape) + np.array((0.72, 0.58, 0.60)), (1.0, 0.74, 0.50), 1.0 / (1.0 + 5.0 * distance2))
        colour = blend(colour, air, mist * (1.0 if seed == 21 else 0.8 if seed == 33 else 0.55))
        image = blend(image, colour, inside)
    return image


def far_shore(image, x, y, detail):
    """A strip of forest along the far shore."""
    tops = 0.645 - 0.018 * fractal(x * 14.0, np.zeros_like(x) + 0.5, 61, 3) \
        - 0.022 * fractal(x * 150.0, np.zeros_like(x) + 0.5, 67, 2)
    leaf = noise(x * 210.0, y * 210.0, 71)
    colour = blend(np.zeros(image.shape) + np.array((0.06, 0.10, 0.11)), (0.21, 0.22, 0.15), leaf * 0.8)
    colour = blend(colour, (0.80, 0.55, 0.40), 0.30 / (1.0 + 6.0 * (x - SUN_X) * (x - SUN_X)))
    return blend(image, colour, smooth(-detail.edge, detail.edge, y - tops))


def above_water(x, y, detail):
    return far_shore(mountains(sky(x, y), x, y, detail), x, y, detail)


def water(x, y, detail):
    """The scene above mirrored in ripples that grow towards the viewer, tinted, with the sun's glitter."""
    near = np.clip((y - HORIZON) / (1.0 - HORIZON), 0.0, 1.0)
    depth = 0.03 + near
    ripple = fractal(x * 5.0 / depth, 9.0 / depth, 81, detail.octaves) - 0.5
    fine = fractal(x * 26.0 / depth, 46.0 / depth, 91, 3) - 0.5
    swell = ripple * 0.05 * (0.25 + near) + fine * 0.045 * near
    mirrored_y = np.clip(2.0 * HORIZON - y + swell, 0.0, HORIZON)
    # The mountains' crests are computed for one row of x, so the reflection's ripples move y alone.
    image = above_water(x, mirrored_y, detail)
    image = blend(image, (0.05, 0.12, 0.20), 0.16 + 0.34 * near)
    image = blend(image, (0.05, 0.11, 0.18), smooth(0.0, 0.22, fine) * 0.35 * near)
    column = (x - SUN_X) / (0.028 + 0.12 * near)
    glitter = smooth(0.02, 0.20, fine + 0.6 * ripple + 0.04) / (1.0 + column * column * 1.6)
    return blend(image, (1.0, 0.86, 0.60), np.clip(glitter * 0.85, 0.0, 1.0))


def bank_top(x):
    """The near bank: high at the left, a tip at the right."""
    left = 0.80 + 0.30 * smooth(0.0, 0.95, x)
    right = 1.10 - 0.20 * smooth(1.42, 1.70, x)
    rough = 0.03 * fractal(x * 6.0, np.zeros_like(x) + 0.25, 103, 4)
    return np.minimum(left, right) - rough


def grass(image, x, y, detail):
    blades = 0.016 * noise(x * 330.0, np.zeros_like(x) + 0.5, 107) * (0.4 + noise(x * 21.0, np.zeros_like(x), 108))
    inside = smooth(-detail.edge, detail.edge, y - bank_top(x[:1]) + blades)
    texture = 0.45 * fractal(x * 11.0, y * 9.0, 109, 3) + 0.55 * fractal(x * 190.0, y * 75.0, 113, 3)
    colour = blend(np.zeros(image.shape) + np.array((0.03, 0.05, 0.045)), (0.25, 0.22, 0.11), smooth(0.36, 0.80, texture) * 0.8)
    return blend(image, colour, inside)


def trees():
    """x, foot y, height and a seed of each conifer, the far ones first."""
    index = np.arange(30)
    places = hash01(index, index * 0, 201)
    found = []
    for i in range(30):
        x = 0.56 * float(places[i]) if i < 22 else 1.58 + 0.20 * float(places[i])
        size = 0.62 + 0.55 * float(hash01(index[i:i + 1], index[i:i + 1] * 0 + 1, 202)[0])
        foot = float(bank_top(np.array([[x]]))[0, 0]) + 0.012 + 0.04 * (i % 5) / 5.0
        height = size * (0.44 - 0.36 * x if x < 1.0 else 0.26)
        found.append((x, foot, height, 300 + i))
    return sorted(found, key=lambda tree: tree[1])


def conifer(image, x, y, tree, detail):
    """Draws one conifer into the part of the image around it."""
    centre, foot, height, seed = tree
    columns = np.nonzero(np.abs(x[0] - centre) < height * 0.27)[0]
    rows = np.nonzero((y[:, 0] > foot - height) & (y[:, 0] < foot))[0]
    if columns.size == 0 or rows.size == 0:
        return
    box = np.s_[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]
    px, py = x[box], y[box]
    down = (py - (foot - height)) / height
    tiers = down * (9.0 + seed % 4)
    step = tiers - np.floor(tiers)
    side = (px - centre) / height
    ragged = fractal(side * 60.0, tiers * 3.0, seed, detail.octaves // 3)
    edge = detail.edge / height
    reach = 0.23 * down * (0.42 + 0.58 * step) * (0.62 + 0.6 * ragged) + 0.004
    lean = np.abs(side) + 0.012 * (noise(tiers * 2.0, side * 0.0, seed + 7) - 0.5)
    body = (1.0 - smooth(-edge, edge, lean - reach)) * (1.0 - smooth(0.93, 0.935, down))
    trunk = (1.0 - smooth(0.012 - edge, 0.012 + edge, np.abs(side))) * smooth(0.90, 0.91, down)
    needles = noise(px * 420.0, py * 420.0, seed + 3)
    colour = blend(np.zeros(px.shape + (3,)) + np.array((0.025, 0.05, 0.05)), (0.10, 0.15, 0.09), needles * (1.0 - step))
    colour = blend(colour, (0.55, 0.33, 0.16), smooth(0.25, 0.95, side / np.maximum(reach, 0.01)) * 0.45 * needles)
    image[box] = blend(blend(image[box], (0.06, 0.045, 0.04), trunk), colour, body)


def draw(width, height):
    """The picture as H x W x 3 bytes, drawn in bands of rows so that 8K fits any memory."""
    detail = Detail(octaves=9 if height > 1080 else 6, edge=0.65 / height)
    forest = trees()
    picture = np.empty((height, width, 3), dtype=np.uint8)
    for first in range(0, height, BAND_ROWS):
        rows = np.arange(first, min(first + BAND_ROWS, height))
        x = np.broadcast_to(((np.arange(width) + 0.5) / height)[None, :], (rows.size, width))
        y = np.broadcast_to(((rows + 0.5) / height)[:, None], (rows.size, width))
        image = np.empty((rows.size, width, 3))
        wet = int(np.searchsorted(y[:, 0], HORIZON))
        if wet > 0:
            image[:wet] = above_water(x[:wet], y[:wet], detail)
        if wet < rows.size:
            image[wet:] = water(x[wet:], y[wet:], detail)
        image = grass(image, x, y, detail)
        for tree in forest:
            conifer(image, x, y, tree, detail)
        column_index = np.broadcast_to(np.arange(width)[None, :], x.shape)
        row_index = np.broadcast_to(rows[:, None], x.shape)
        grain = hash01(column_index, row_index, 401) + hash01(column_index, row_index, 402) - 1.0
        image = image * 255.0 + 2.2 * grain[..., None] + 0.5
        picture[first:first + rows.size] = np.clip(np.floor(image), 0.0, 255.0).astype(np.uint8)
    return picture
