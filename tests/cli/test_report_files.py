"""Reports worth keeping: SVG, PNG and HTML. What they say is what the JSON report says."""
import base64
import html.parser
import json
import os
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from conftest import decoded, listing, pixels

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = ("svg", "png", "html")
HOSTILE = [b"<script>alert(1)<b>.png", b"q\"uo'te &amp; <.png", b"new\nline\t.png", b"bad\xff\xfe\xc3.png",
           b"]]>--><!--.png", "caf\u00e9 \u65e5\u672c \U0001f600.png".encode(), "\ufffe\uffff\u202e.png".encode(),
           b"\x01\x1b[31m.png", b"%s%n${x}.png", b"l" * 240 + b".png"]


class Page(html.parser.HTMLParser):
    """Checks that every element is closed in order; collects tags, texts and what is referred to."""
    VOID = {"meta", "br", "image", "path", "use"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        assert not [name for name in attributes if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag):
        return [text for where, text in self.texts if where == tag]


def page(path):
    return Page(path.read_bytes().decode())


def svg_texts(path):
    return [text.text for text in ElementTree.parse(path).iter(SVG + "text")]


def numbers_of(channel):
    return [str(channel["min"]), str(channel["median"]), str(channel["max"]), f"{channel['mean']:.2f}",
            f"{channel['std']:.2f}", f"{channel['entropy']:.4f}", str(channel["otsu"])]


def grouped(number):
    return f"{number:,}".replace(",", " ")


def test_svg_says_what_the_json_says(gpuimg, image, tmp_path):
    for name, channels in (("gray.png", 1), ("rgb.png", 3), ("rgba.png", 4)):
        image(name, pixels(40, 50, channels))
    gpuimg.ok("hist", "-o", "r.svg", "gray.png", "rgb.png", "rgba.png")
    texts = svg_texts(tmp_path / "r.svg")
    for report in json.loads(gpuimg.ok("hist", "--format", "json", "gray.png", "rgb.png", "rgba.png").out)["images"]:
        at = texts.index(report["file"])
        for channel in report["channels"]:
            at = texts.index(channel["name"], at)
            assert texts[at + 1:at + 8] == numbers_of(channel)
            assert texts[at + 8].startswith(f"{grouped(channel['clipped_shadows'])} (")
            assert texts[at + 9].startswith(f"{grouped(channel['clipped_highlights'])} (")
    root = ElementTree.parse(tmp_path / "r.svg").getroot()
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("1000", "1800", "0 0 1000 1800")
    for level in ("0", "64", "128", "192", "255"):
        assert texts.count(level) >= 3


def test_html_says_what_the_json_says(gpuimg, image, tmp_path):
    for name, channels in (("a.png", 1), ("b.jpg", 3), ("c.png", 4)):
        image(name, pixels(400, 50, channels))
    gpuimg.ok("hist", "-o", "r.html", "a.png", "b.jpg", "c.png")
    text = (tmp_path / "r.html").read_text()
    for report in json.loads(gpuimg.ok("hist", "--format", "json", "a.png", "b.jpg", "c.png").out)["images"]:
        section = re.search(rf"<h2>{report['file']}</h2>.*?</section>", text, re.S).group()
        for channel in report["channels"]:
            row = re.search(rf"</i>{channel['name']}</th>(.*?)</tr>", section, re.S).group(1)
            cells = re.findall(r'<td>(?:<span class="count">)?([^<]*)', row)
            points = [str(channel["percentiles"][p]) for p in ("1", "5", "25", "75", "95", "99")]
            low, median, high, *rest = numbers_of(channel)
            assert cells[:13] == [low, *points[:3], median, *points[3:], high, *rest]
            assert cells[13].strip() == grouped(channel["clipped_shadows"])
            assert cells[14].strip() == grouped(channel["clipped_highlights"])
    overview = re.search(r'<section id="overview">.*?</section>', text, re.S).group()
    assert [overview.count(f">{name}</a>") for name in ("a.png", "b.jpg", "c.png")] == [1, 1, 1]


def test_html_stands_alone(gpuimg, image, tmp_path):
    for name in ("a.png", "b.png", "c.png"):
        image(name)
    gpuimg.ok("hist", "-o", "r.html", "a.png", "b.png", "c.png")
    found = page(tmp_path / "r.html")
    assert "script" not in found.tags and "link" not in found.tags
    assert len(set(found.ids)) == len(found.ids)
    for link in found.links:
        assert link.startswith("data:image/") or link[1:] in found.ids and link[0] == "#"
    assert "url(" not in (tmp_path / "r.html").read_text() and "@import" not in (tmp_path / "r.html").read_text()


def thumbnails(path):
    return [decoded(base64.b64decode(data, validate=True))
            for data in re.findall(r'href="data:image/(?:png|jpeg);base64,([^"]*)"', path.read_text())]


def test_thumbnails(gpuimg, image, tmp_path):
    wide = image("wide.png", np.tile(np.arange(200, dtype=np.uint8)[:, None], (1, 800)))
    clear = image("clear.png", pixels(30, 20, 4))
    image("one.png", np.full((1, 1, 3), 7, np.uint8))
    gpuimg.ok("hist", "-o", "r.html", "wide.png", "clear.png", "one.png")
    first, second, third = thumbnails(tmp_path / "r.html")
    assert first.size == (320, 80) and third.size == (1, 1)
    assert abs(np.asarray(first.convert("L")).astype(float).mean() - wide.mean()) < 1
    assert second.mode == "RGBA" and np.array_equal(np.asarray(second), clear)


def test_png_is_a_picture_of_the_histogram(gpuimg, image, tmp_path):
    image("a.png", pixels(40, 50, 3))
    image("b.png", np.full((10, 10), 128, np.uint8))
    gpuimg.ok("hist", "-o", "r.png", "a.png", "b.png")
    picture = decoded((tmp_path / "r.png").read_bytes())
    assert picture.format == "PNG" and picture.mode == "RGB" and picture.size == (1000, 1200)
    shown = np.asarray(picture).astype(int)
    dark = (shown.sum(axis=2) < 500).mean(axis=1)
    assert (dark[:600].mean(), dark[600:].mean()) > (0.002, 0.002)
    red = (shown[:600, :, 0] - shown[:600, :, 1] > 100).sum()
    assert red > 300 and (shown[600:, :, 0] - shown[600:, :, 1] > 100).sum() == 0
    # The spike of the constant image: a bar in the middle, nothing beside it.
    assert (shown[600 + 150, 500:560].sum(axis=1) < 700).any()
    assert (shown[600 + 150, 120:480].sum(axis=1) > 740).all()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(gpuimg, image, tmp_path, name):
    image(name)
    image("plain.png")
    for word in PICTURES:
        gpuimg.ok("hist", "-o", f"out.{word}", name, "plain.png")
    titles = svg_texts(tmp_path / "out.svg")
    found = page(tmp_path / "out.html")
    assert "script" not in found.tags and "b" not in found.tags
    assert found.tags.count("section") == 3 and "plain.png" in titles
    if name == HOSTILE[0]:
        assert name.decode() in titles and name.decode() in "".join(found.of("h2"))
    if name == HOSTILE[3]:
        assert "bad\\xff\\xfe\\xc3.png" in titles and "bad\\xff\\xfe\\xc3.png" in found.of("h2")
    assert decoded((tmp_path / "out.png").read_bytes()).size == (1000, 1200)


def test_total(gpuimg, image, tmp_path):
    image("a.png", pixels(40, 50, 3))
    image("b.png", pixels(10, 10, 1))
    report, = json.loads(gpuimg.ok("hist", "--total", "--format", "json", "a.png", "b.png").out)["images"]
    for word in PICTURES:
        gpuimg.ok("hist", "--total", "-o", f"t.{word}", "a.png", "b.png")
    texts = svg_texts(tmp_path / "t.svg")
    assert texts.count("total") == 1 and "2 images, 2 100 pixels" in texts
    for channel in report["channels"]:
        at = texts.index(channel["name"])
        assert texts[at + 1:at + 8] == numbers_of(channel)
    found = page(tmp_path / "t.html")
    assert found.tags.count("section") == 1 and "2 images, 2 100 pixels" in found.of("p")
    assert decoded((tmp_path / "t.png").read_bytes()).size == (1000, 600)


def test_failed_images_leave_no_gap(gpuimg, image, tmp_path):
    image("a.png")
    image("c.png")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    for word in PICTURES:
        assert gpuimg("hist", "-o", f"r.{word}", "a.png", "b.png", "c.png").code == 1
    assert ElementTree.parse(tmp_path / "r.svg").getroot().get("height") == "1200"
    assert decoded((tmp_path / "r.png").read_bytes()).size == (1000, 1200)
    assert page(tmp_path / "r.html").tags.count("section") == 4  # the last names what failed


def test_html_names_what_failed(gpuimg, image, tmp_path):
    image("a.png")
    for name in HOSTILE:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\nrubbish")
    for total in ((), ("--total",)):
        result = gpuimg("hist", "-j4", *total, "-o", "r.html", "a.png", *HOSTILE)
        assert result.code == 1
        found = page(tmp_path / "r.html")
        assert "failures" in found.ids and found.tags.count("li") == len(HOSTILE)
        assert [text for text in found.of("span")].count("q\"uo'te &amp; <.png") == 1
        reasons = [text for text in found.of("li") if text.strip()]
        assert len(reasons) == len(HOSTILE) and all(r.startswith(": ") and r[2:] in result.err for r in reasons)
    gpuimg.ok("hist", "-o", "good.html", "a.png")
    assert "failures" not in page(tmp_path / "good.html").ids


def test_html_names_what_is_damaged(gpuimg, image, tmp_path):
    image("a.png")
    for name in ("<b>.jpg", "c.jpg", "d.jpg"):
        image(name, pixels(200, 200, 3))
        data = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(data[:len(data) // 2])
    for total in ((), ("--total",)):
        result = gpuimg.ok("hist", "-j4", *total, "-o", "r.html", "a.png", "d.jpg", "c.jpg", "<b>.jpg")
        found = page(tmp_path / "r.html")
        assert "damaged" in found.ids and "failures" not in found.ids and found.tags.count("li") == 3
        reasons = [text[2:] for text in found.of("li") if text.strip()]
        assert len(reasons) == 3 and all("damaged JPEG" in reason and reason in result.err for reason in reasons)
        text = (tmp_path / "r.html").read_text()
        names = re.findall(r'<li><span class="file">(.*?)</span>', text)
        expected = ["d.jpg", "c.jpg", "&lt;b&gt;.jpg"]
        linked = [f'<a href="#image{i}">{name}</a>' for i, name in enumerate(expected, 1)]
        assert names == (expected if total else linked)
    gpuimg.ok("hist", "-o", "r.html", "a.png")
    assert "damaged" not in page(tmp_path / "r.html").ids


@pytest.mark.parametrize("word", PICTURES)
def test_no_images(gpuimg, tmp_path, word):
    (tmp_path / "empty").mkdir()
    gpuimg.ok("hist", "-o", f"r.{word}", "empty")
    data = (tmp_path / f"r.{word}").read_bytes()
    if word == "png":
        assert decoded(data).size == (1000, 600)
    else:
        assert b"no images" in data


@pytest.mark.parametrize("word", PICTURES)
def test_same_bytes_on_stdout_and_for_any_workers(gpuimg, image, tmp_path, word):
    names = [f"{i}.png" for i in range(6)]
    for name in names:
        image(name)
    gpuimg.ok("hist", "-j", "1", "-o", f"r.{word}", *names)
    data = (tmp_path / f"r.{word}").read_bytes()
    assert gpuimg.ok("hist", "-j", "2", "--format", word, *names).out == data


@pytest.mark.parametrize("word", PICTURES)
def test_old_report_stays_when_the_new_one_fails(gpuimg, image, tmp_path, word):
    image("a.png")
    old = tmp_path / f"r.{word}"
    old.write_bytes(b"old")
    (tmp_path / "bad.png").write_bytes(b"no image")
    assert gpuimg("hist", "-o", old.name, "bad.png").code == 1
    assert old.read_bytes() == b"old"
    assert gpuimg("hist", "--no-clobber", "-o", old.name, "a.png").code == 1
    assert old.read_bytes() == b"old"
    assert sorted(os.path.basename(path) for path in listing(tmp_path)) == sorted(
        [b"a.png", b"bad.png", old.name.encode()])
    gpuimg.ok("hist", "-o", old.name, "a.png")
    assert len(old.read_bytes()) > 1000


def test_unknown_formats_name_the_known(gpuimg, image):
    image("a.png")
    for name in ("report.pdf", "report", "a.svg/", "png"):
        message = gpuimg.refused("hist", "-o", name, "a.png").err
        assert ".txt, .json, .csv, .svg, .png and .html" in message
    assert "txt, json, csv, svg, png or html" in gpuimg.refused("hist", "--format", "jpg", "a.png").err
    assert "png, jpg or jpeg" in gpuimg.refused("gray", "--format", "svg", "a.png", "b.png").err
    text = gpuimg.ok("help", "hist").text
    assert ".svg, .png and .html" in " ".join(text.split())


def test_more_plots_than_a_png_holds(gpuimg, image, tmp_path):
    image("a.png", np.zeros((2, 2), np.uint8))
    result = gpuimg("hist", "-o", "r.png", *["a.png"] * 55)
    assert result.code == 1 and "54" in result.err and "html" in result.err
    assert not (tmp_path / "r.png").exists()
    gpuimg.ok("hist", "--total", "-o", "r.png", *["a.png"] * 55)
    gpuimg.ok("hist", "-o", "r.html", *["a.png"] * 55)


def test_pipeline_and_bins(gpuimg, image, tmp_path):
    image("a.png")
    gpuimg.ok("run", "gray | hist bins=16", "-o", "r.svg", "a.png")
    assert "share of the pixels in each of 16 bins" in svg_texts(tmp_path / "r.svg")
    gpuimg.ok("run", "gray | hist", "-o", "r.html", "a.png")
    assert "the input, before the pipeline" in page(tmp_path / "r.html").of("figcaption")
    gpuimg.ok("hist", "-o", "r.html", "a.png")
    assert "figcaption" not in page(tmp_path / "r.html").tags


def test_towering_bins_do_not_flatten_the_rest(gpuimg, image, tmp_path):
    array = np.clip(np.random.default_rng(3).normal(120, 30, (100, 100)), 1, 254).astype(np.uint8)
    array[:60] = 255
    image("blown.png", array)
    gpuimg.ok("hist", "-o", "r.svg", "blown.png")
    texts = svg_texts(tmp_path / "r.svg")
    assert "255: 60.0%" in texts and "triangles: higher than the scale, with their share" in texts
    assert not [text for text in texts if re.fullmatch(r"\d\d%", text)]
