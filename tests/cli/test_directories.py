"""Directories: which files are taken, -r, what is never opened."""
import os

from conftest import encoded, pixels


def tree(path):
    return sorted(os.path.relpath(os.path.join(root, name), path) for root, _, names in os.walk(path) for name in names)


def test_every_png_and_jpeg(gpuimg, image, tmp_path):
    for name in ("a.png", "b.jpg", "c.JPEG", "noname", "sub/d.png"):
        image("in/" + name)
    (tmp_path / "in/readme.txt").write_text("no image")
    result = gpuimg.ok("gray", "in", "out")
    assert tree(tmp_path / "out") == ["a.png", "b.jpg", "c.JPEG", "noname"]
    assert "4 done" in result.err and "1 skipped" in result.err


def test_recursive_mirrors_the_tree(gpuimg, image, tmp_path):
    names = ["a.png", "sub/b.png", "sub/deep/er/c.jpg", "sub2/b.png"]
    for name in names:
        image("in/" + name)
    (tmp_path / "in/empty").mkdir()
    gpuimg.ok("gray", "-r", "in", "out/new")
    assert tree(tmp_path / "out/new") == sorted(names)
    gpuimg.ok("gray", "--recursive", "in/", "slash/")
    assert tree(tmp_path / "slash") == sorted(names)


def test_several_directories_map_into_out(gpuimg, image, tmp_path):
    image("x/a.png")
    image("y/b.png")
    image("c.png")
    gpuimg.ok("gray", "x", "y", "c.png", "out")
    assert tree(tmp_path / "out") == ["a.png", "b.png", "c.png"]


def test_dot_files_and_dot_directories(gpuimg, image, tmp_path):
    for name in (".hidden.png", ".git/b.png", "c.png"):
        image("in/" + name)
    gpuimg.ok("gray", "-r", "in", "out")
    assert tree(tmp_path / "out") == ["c.png"]
    gpuimg.ok("gray", "in/.hidden.png", "out")
    assert tree(tmp_path / "out") == [".hidden.png", "c.png"]


def test_an_out_inside_in_is_not_walked(gpuimg, image, tmp_path):
    image("in/a.png")
    for _ in range(2):
        gpuimg.ok("gray", "-r", "in", "in/out")
        assert tree(tmp_path / "in") == ["a.png", "out/a.png"]


def test_links(gpuimg, image, tmp_path):
    image("real/a.png")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link.png").symlink_to("../real/a.png")
    (tmp_path / "in/linkdir").symlink_to("../real")
    (tmp_path / "in/loop").symlink_to(".")
    gpuimg.ok("gray", "-r", "in", "out")
    assert tree(tmp_path / "out") == ["link.png"]
    assert not (tmp_path / "out/link.png").is_symlink()
    (tmp_path / "named").symlink_to("real")
    gpuimg.ok("gray", "named", "out2")
    assert tree(tmp_path / "out2") == ["a.png"]


def test_a_link_beside_its_target_is_told(gpuimg, image, tmp_path):
    """In place, both results would go to one file, which is not the one that a link is named as."""
    image("in/b.png")
    (tmp_path / "in/a.png").symlink_to("b.png")
    err = gpuimg.refused("gray", "in", "in").err
    assert err.startswith("gpuimg: in/a.png and in/b.png would both be written to in/b.png, as in/a.png is a symbolic link\n")
    image("x/c.png")
    image("c.png")
    (tmp_path / "d.png").symlink_to("x/c.png")
    err = gpuimg.refused("gray", "d.png", "x/c.png", ".").err
    assert "the result of d.png would replace the input x/c.png, as ./d.png is a symbolic link" in err


def test_fifos_in_a_directory_are_never_opened(gpuimg, image, tmp_path):
    image("in/a.png")
    os.mkfifo(tmp_path / "in/pipe")
    os.mkfifo(tmp_path / "in/pipe.png")
    gpuimg.ok("gray", "in", "out", timeout=20)
    assert tree(tmp_path / "out") == ["a.png"]


def test_a_named_fifo_is_read(gpuimg, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = gpuimg.start("gray", "pipe", "out.png")
    (tmp_path / "pipe").write_bytes(encoded(pixels()))
    assert process.wait(timeout=20) == 0 and (tmp_path / "out.png").exists()
    process.stdout.close()
    process.stderr.close()


def test_an_image_name_without_a_signature_fails_by_name(gpuimg, image, tmp_path):
    image("in/a.png")
    (tmp_path / "in/text.png").write_text("this is text")
    (tmp_path / "in/empty.jpg").write_bytes(b"")
    result = gpuimg("gray", "in", "out")
    assert result.code == 1 and tree(tmp_path / "out") == ["a.png"]
    assert "in/text.png: " in result.err and "in/empty.jpg: " in result.err
    assert "gpuimg: 1 done, 2 failed" in result.err


def test_a_directory_without_images(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    for command in (("gray", "in", "out"), ("hist", "in")):
        result = gpuimg.ok(*command)
        assert "no PNG or JPEG" in result.err and result.out == b""
        assert gpuimg.ok(*command, "-q").err == ""
    (tmp_path / "in/readme.txt").write_text("x")
    assert "(1 other file)" in gpuimg.ok("gray", "in", "out").err


def test_an_unreadable_directory(gpuimg, image, tmp_path):
    image("in/a.png")
    if os.geteuid() == 0:
        result = gpuimg("gray", "in/nix/", "out")
    else:
        (tmp_path / "in").chmod(0)
        result = gpuimg("gray", "in", "out")
        (tmp_path / "in").chmod(0o755)
    assert result.code == 1 and "in" in result.err


def test_many_files(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    data = encoded(pixels(3, 5))
    for i in range(300):
        (tmp_path / f"in/{i:04}.png").write_bytes(data)
    for workers in ("1", "7"):
        result = gpuimg.ok("gray", "-j", workers, "in", "out" + workers)
        assert "gpuimg: 300 done" in result.err
        assert len(os.listdir(tmp_path / ("out" + workers))) == 300
