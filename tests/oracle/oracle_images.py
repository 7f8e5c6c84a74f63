"""Images of the oracle tests: made from seeds, written without an image library, read by Pillow or OpenCV."""

import io
import struct
import zlib

import cv2
import numpy as np

try:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
except ImportError:  # a machine with OpenCV alone
    Image = None

SIZES = [(1, 1), (15, 1), (1, 15), (17, 31), (1, 10000), (10000, 1), (1920, 1080)]  # width, height
SEED = 20261130


def size_name(size):
    return f"{size[0]}x{size[1]}"


def random_image(size, channels, seed=SEED):
    """A uint8 array (height, width[, channels]) of noise; two dimensions for one channel."""
    shape = (size[1], size[0]) if channels == 1 else (size[1], size[0], channels)
    return np.random.default_rng([seed, *size, channels]).integers(0, 256, shape, np.uint8)


def colour_cube():
    """Every colour of 24 bits once, as 4096 x 4096 RGB."""
    index = np.arange(1 << 24, dtype=np.uint32)
    cube = np.stack([index >> 16, index >> 8 & 255, index & 255], axis=-1)
    return cube.astype(np.uint8).reshape(4096, 4096, 3)


def channels_of(image):
    return 1 if image.ndim == 2 else image.shape[2]


def write_png(path, image):
    """Eight bits, or sixteen of uint16, no filter, fast compression."""
    height, width = image.shape[:2]
    wide = image.dtype == np.uint16
    stored = image.astype(">u2").reshape(height, -1).view(np.uint8) if wide else image.reshape(height, -1)
    rows = np.zeros((height, 1 + stored.shape[1]), np.uint8)
    rows[:, 1:] = stored
    colour_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels_of(image)]

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 16 if wide else 8, colour_type, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        file.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)) + chunk(b"IEND", b""))
    return path


def read_png(path):
    """The pixels as they are: gray, gray+alpha, RGB or RGBA of eight bits or sixteen; masks, which have fewer, as eight."""
    with open(path, "rb") as file:
        deep = file.read(25)[24] == 16  # which Pillow reads of gray alone
    if Image and not deep:
        with Image.open(path) as image:
            mode = {"1": "L", "P": "RGB"}.get(image.mode, image.mode)
            assert image.format == "PNG" and mode in ("L", "LA", "RGB", "RGBA"), (image.format, image.mode)
            return np.asarray(image.convert(mode))
    data = np.fromfile(path, np.uint8)
    colour_type = data[25]
    image = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
    if colour_type == 0:
        return image
    if colour_type == 4:  # OpenCV makes it BGRA
        return image[:, :, [0, 3]]
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB if colour_type in (2, 3) else cv2.COLOR_BGRA2RGBA)


def encode_jpeg(image, quality=90, subsampling="4:2:0"):
    """The bytes of a JPEG, or None where the library at hand has no such subsampling."""
    if Image:
        data = io.BytesIO()
        Image.fromarray(image).save(data, "JPEG", quality=quality, subsampling=subsampling)
        return data.getvalue()
    if subsampling != "4:2:0":
        return None
    bgr = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    return cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def decode_jpeg_luma(data):
    """The luma plane, by libjpeg: both libraries ask it for gray output, which leaves the chroma out."""
    if Image:
        with Image.open(io.BytesIO(data)) as image:
            image.draft("L", image.size)
            assert image.mode == "L"
            return np.asarray(image)
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)


def smooth_image(size, seed=SEED):
    """RGB with gradients, edges and a little noise, as photographs have them."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    waves = [127 + 100 * np.sin(x / (9 + 5 * c) + y / (17 - 3 * c) + c) for c in range(3)]
    image = np.stack(waves, axis=-1) + np.random.default_rng(seed).normal(0, 4, (height, width, 3))
    image[height // 3 : height // 2, width // 4 : width // 2] = (250, 5, 20)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def assert_same(actual, expected, what=""):
    """Equal shape and pixels; says where they differ first and how the image was made."""
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}"
    if np.array_equal(actual, expected):
        return
    places = np.argwhere(actual != expected)
    first = tuple(places[0])
    raise AssertionError(
        f"{what}: {len(places)} of {actual.size} samples differ, first at {first}: "
        f"{actual[first]}, expected {expected[first]} (seed {SEED})"
    )
