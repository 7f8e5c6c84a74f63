"""What a person sees of reports as HTML: nothing touches, nothing is cut, everything can be read."""
import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from conftest import pixels


def towers(channels=3, levels=(0, 3, 250, 255), size=200):
    """An image with a few levels that tower over all others, so that its plot has labels above the scale."""
    random = np.random.default_rng(5)
    array = np.clip(random.normal(110, 40, (size, size, channels)), 0, 255).astype(np.uint8)
    for channel in range(channels):
        for level in levels:
            array[..., channel][random.random((size, size)) < 0.04] = (level + 7 * channel) % 256
    return array if channels > 1 else array[..., 0]


def boxes(svg):
    """Of the texts: left, top, right, bottom at 0.6 em a letter."""
    found = []
    for attributes, text in re.findall(r"<text ([^>]*)>([^<]*)</text>", svg):
        x, y, size = (float(re.search(rf'\b{name}="([^"]*)"', attributes).group(1)) for name in ("x", "y", "font-size"))
        length = 0.6 * size * len(html.unescape(text))
        back = length * (0.5 if '"middle"' in attributes else 1 if '"end"' in attributes else 0)
        found.append((x - 0.75 * size, y + back - length, x + 0.2 * size, y + back, text) if "rotate" in attributes
                     else (x - back, y - 0.75 * size, x - back + length, y + 0.2 * size, text))
    return found


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_no_two_labels_touch(gpuimg, image, tmp_path, channels):
    image("a.png", towers(channels))
    image("b.png", towers(channels, size=150))
    for total, forms in ((), ["wide", "narrow"] * 2), (("--total",), ["broad", "wide", "narrow"]):
        gpuimg.ok("hist", *total, "-o", "r.html", "a.png", "b.png")
        text = (tmp_path / "r.html").read_text()
        plots = re.findall(r'<svg class="plot (\w+)" viewBox="0 0 (\d+) (\d+)".*?</svg>', text, re.S)
        assert [form for form, _, _ in plots] == forms
        for found in re.finditer(r'<svg class="plot (\w+)" viewBox="0 0 (\d+) (\d+)"(.*?)</svg>', text, re.S):
            width, height, here = int(found[2]), int(found[3]), boxes(found[4])
            assert len([box for box in here if ":" in box[4]]) >= 1 and {"0", "255", "0%"} <= {box[4] for box in here}
            for i, a in enumerate(here):
                assert a[0] >= 0 and a[1] >= 0 and a[2] <= width and a[3] <= height, a
                for b in here[:i]:
                    assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (found[1], a, b)
        assert text.count(">triangles: higher than the scale, with their share</p>") == 2 - len(total)


PROBE = """<iframe id="f" src="r.html" width="%d" height="900"></iframe><pre id="told"></pre><script>f.onload = () => {
const page = f.contentDocument, root = page.scrollingElement, style = f.contentWindow.getComputedStyle;
const wide = [...page.querySelectorAll("*")].filter(e => e.scrollWidth > e.clientWidth + 1 &&
                                                    style(e).overflowX == "auto");
const shown = e => e.getClientRects().length > 0, letters = [];
let plots = 0, touching = 0;
for (const chart of page.querySelectorAll(".chart")) {
  plots += [...chart.querySelectorAll("svg")].filter(shown).length;
  const rects = [...chart.querySelectorAll("text,.note")].filter(shown).map(e => e.getBoundingClientRect());
  for (const a of rects) for (const b of rects)
    touching += a !== b && a.left + 1 < b.right && b.left + 1 < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  for (const e of chart.querySelectorAll("text")) if (shown(e))
    letters.push(parseFloat(style(e).fontSize) * e.getScreenCTM().a || 99); // 0: upwards
}
told.textContent = JSON.stringify({beyond: root.scrollWidth - root.clientWidth, scrolled: wide.length, plots, touching,
                                   letters: Math.min(...letters)}) }</script>"""


def laid_out(tmp_path, width):
    """What the browser tells of r.html on a screen of that width."""
    (tmp_path / "probe.html").write_text(PROBE % width)
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
               f"--user-data-dir={tmp_path}/browser", "--virtual-time-budget=3000", "--window-size=1400,1000",
               "--dump-dom", f"file://{tmp_path}/probe.html"]
    dump = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    return json.loads(html.unescape(re.search(r'<pre id="told">(.*?)</pre>', dump).group(1)))


# Where there is a browser to lay the page out: neither the page nor a table or plot in it is wider than the screen, and
# each chart is one plot, with letters that can be read and do not touch.
@pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium")
@pytest.mark.parametrize("width", [320, 360, 400, 640, 660, 661, 800, 1000, 1280])
@pytest.mark.parametrize("total", [False, True])
def test_html_fits_the_screen(gpuimg, image, tmp_path, width, total):
    image("a.png", towers(4))
    image("a_name_that_cannot_be_broken_and_is_longer_than_a_telephone_is_wide.png", towers(3, (255,)))
    image("b.png", pixels(1, 3000, 1))
    gpuimg.ok("hist", *["--total"][:total], "-o", "r.html", *sorted(path.name for path in tmp_path.glob("*.png")))
    told = laid_out(tmp_path, width)
    assert told.pop("letters") >= 9
    assert told == {"beyond": 0, "scrolled": 0, "plots": 1 if total else 3, "touching": 0}


def test_large_counts(gpuimg, image, tmp_path):
    """Of more pixels than anybody has: columns neither touch nor leave a screen of the usual width."""
    image("a.png", towers(4))
    report = json.loads(gpuimg.ok("hist", "--total", "--format", "json", "a.png").out)
    whole, = report["images"]
    whole["pixels"] *= 10**13
    for channel in whole["channels"]:
        channel["bins"] = [count * 10**13 for count in channel["bins"]]
        for name in ("count", "clipped_shadows", "clipped_highlights"):
            channel[name] *= 10**13
    (tmp_path / "large.json").write_text(json.dumps(report))
    text = gpuimg.ok("hist", "--merge", "large.json").text
    for channel in whole["channels"]:
        fields = re.search(rf"^{channel['name']} +\d+\.\d{{4}} .*", text, re.M).group().replace("(", " ").split()
        assert fields[3] == str(channel["clipped_shadows"]) and fields[-2] == str(channel["clipped_highlights"])
    gpuimg.ok("hist", "--merge", "-o", "r.html", "large.json")
    if shutil.which("chromium"):
        assert laid_out(tmp_path, 1280)["scrolled"] == 0


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_letters_stand_out(gpuimg, image, tmp_path):
    """At least 4.5 to 1, as WCAG AA asks for, on a bright and on a dark screen and on paper."""
    image("a.png", towers(4))
    gpuimg.ok("hist", "-o", "r.html", "a.png")
    gpuimg.ok("hist", "-o", "r.svg", "a.png")
    text = (tmp_path / "r.html").read_text()
    bright, dark = (dict(re.findall(r"--(\w+):(#\w+)", block)) for block in re.findall(r":root\{(.*?)\}", text))
    for palette in bright, dark:
        card = {"#fff": "#ffffff"}.get(palette["card"], palette["card"])
        for name in ("ink", "muted", "link", "gray", "red", "green", "blue", "alpha"):
            assert contrast(palette.get(name, bright[name]), card) >= 4.5, name
    for page_text in text, (tmp_path / "r.svg").read_text():
        fills = set(re.findall(r'<text [^>]*fill="(#\w+)"', page_text))
        assert len(fills) >= 3 and all(contrast(fill, "#ffffff") >= 4.5 for fill in fills), fills
