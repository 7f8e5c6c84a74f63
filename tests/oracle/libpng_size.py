"""What libpng would write: its choice of filters and its use of zlib, done afresh, so that sizes can be compared without it.

libpng 1.6 tries all filters of rows of 8-bit samples and takes the least sum of absolute values, the first of equals;
then zlib compresses with Z_FILTERED, all of the image in one stream, in IDAT chunks of 8 KiB."""

import zlib

import numpy as np

IDAT_BYTES = 8192
AROUND_PIXELS = 8 + 25 + 12  # signature, IHDR, IEND


def filtered_rows(image):
    """The image's rows with their filter bytes, as libpng filters them."""
    height, width = image.shape[:2]
    pixel = 1 if image.ndim == 2 else image.shape[2]
    now = image.reshape(height, -1).astype(np.int16)
    above = np.vstack([np.zeros_like(now[:1]), now[:-1]])
    left, corner = (np.hstack([np.zeros((height, pixel), np.int16), a])[:, : now.shape[1]] for a in (now, above))
    to_left, to_above, to_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
    paeth = np.where((to_left <= to_above) & (to_left <= to_corner), left, np.where(to_above <= to_corner, above, corner))
    candidates = [(now - p).astype(np.uint8) for p in (np.zeros_like(now), left, above, (left + above) // 2, paeth)]
    costs = [np.minimum(c, 256 - c.astype(np.int32)).sum(axis=1) for c in candidates]
    best = np.argmin(costs, axis=0)
    rows = np.empty((height, 1 + now.shape[1]), np.uint8)
    rows[:, 0] = best
    rows[:, 1:] = np.stack(candidates)[best, np.arange(height)]
    return rows


def packed_rows(index, bits):
    """Rows of `bits` to a pixel with their filter bytes: libpng filters none of fewer than 8 bits."""
    height, width = index.shape
    padded = np.zeros((height, -(-width * bits // 8) * 8 // bits), np.uint8)
    padded[:, :width] = index
    places = padded.reshape(height, -1, 8 // bits) << np.arange(8 - bits, -1, -bits, dtype=np.uint8)
    return np.hstack([np.zeros((height, 1), np.uint8), np.bitwise_or.reduce(places, axis=2)])


def packed_file_bytes(index, bits, colours, level=6):
    """The size of the PNG file that libpng makes of so many bits to a pixel, with a palette of so many colours."""
    size = len(zlib.compress(packed_rows(index, bits).tobytes(), level))
    return AROUND_PIXELS + (12 + 3 * colours if colours else 0) + size + 12 * -(-size // IDAT_BYTES)


def file_bytes(image, level=6):
    """The size of the PNG file that libpng makes of 8-bit samples."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, 15, 8, zlib.Z_FILTERED)
    size = len(compressor.compress(filtered_rows(image).tobytes()) + compressor.flush())
    return AROUND_PIXELS + size + 12 * -(-size // IDAT_BYTES)
