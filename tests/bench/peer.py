"""The work of one gpuimg command done by Pillow or OpenCV: peer.py pillow|opencv WORK IN OUT [PROCESSES]

A process of its own, as gpuimg is one, so that starting it and importing the library count: that is what a user waits for.
IN and OUT may be folders; their images are shared among the processes. WORK is gray, mask (gray, then the threshold 128),
box (radius 5), gauss (sigma 3) or hist; gray-luma and mask-luma take the luma of a JPEG alone.
"""

import os
import pathlib
import sys

BLACK_TO_128 = [0] * 129 + [255] * 127


def with_pillow(work, source, target):
    from PIL import Image, ImageFilter
    Image.MAX_IMAGE_PIXELS = None
    image = Image.open(source)
    if work.endswith("-luma"):
        image.draft("L", image.size)
    if work.startswith(("gray", "mask")):
        image = image.convert("L")
    if work.startswith("mask"):
        image = image.point(BLACK_TO_128)
    elif work == "box":
        image = image.filter(ImageFilter.BoxBlur(5))
    elif work == "gauss":
        image = image.filter(ImageFilter.GaussianBlur(3))
    elif work == "hist":
        target.write_text(str(image.histogram()))
        return
    image.save(target, **({"quality": 90} if target.suffix == ".jpg" else {}))


def with_opencv(work, source, target):
    import cv2
    image = cv2.imread(str(source), cv2.IMREAD_GRAYSCALE if work.endswith("-luma") else cv2.IMREAD_COLOR)
    if work in ("gray", "mask"):
        image = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    if work.startswith("mask"):
        image = cv2.threshold(image, 128, 255, cv2.THRESH_BINARY)[1]
    elif work == "box":
        image = cv2.blur(image, (11, 11))
    elif work == "gauss":
        image = cv2.GaussianBlur(image, (0, 0), 3)
    elif work == "hist":
        counts = [cv2.calcHist([image], [channel], None, [256], [0, 256]).tolist() for channel in range(3)]
        target.write_text(str(counts))
        return
    if not cv2.imwrite(str(target), image, [cv2.IMWRITE_JPEG_QUALITY, 90] if target.suffix == ".jpg" else []):
        sys.exit(f"{target} was not written")


def share_out(function, work, folders, processes):
    source, target = folders
    target.mkdir(exist_ok=True)
    names = sorted(path.name for path in source.iterdir())
    workers = []
    for first in range(processes):
        worker = os.fork()
        if worker:
            workers.append(worker)
            continue
        if function is with_opencv:
            import cv2
            cv2.setNumThreads(1)
        for name in names[first::processes]:
            function(work, source / name, target / name)
        os._exit(0)
    # A worker that fails ends with its exception, and a status that is not 0.
    sys.exit(any([os.waitpid(worker, 0)[1] for worker in workers]))


def main():
    library, work, source, target = sys.argv[1:5]
    function = {"pillow": with_pillow, "opencv": with_opencv}[library]
    source, target = pathlib.Path(source), pathlib.Path(target)
    if source.is_dir():
        share_out(function, work, (source, target), int(sys.argv[5]))
    function(work, source, target)


if __name__ == "__main__":
    main()
