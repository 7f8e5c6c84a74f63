#!/usr/bin/env bash
# gpuimg beside vips, Pillow, OpenCV and ffmpeg, from file to file: builds the program in build/bench, makes the images in
# build/bench/images unless they are there, and runs end_to_end.py, whose options these are (--help). IMAGES=FOLDER takes
# others.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=lib.sh
source "$root/scripts/lib.sh"

build=$root/build/bench
images=${IMAGES:-$build/images}
mkdir -p "$build"
logged "$build/bench.log" cmake -S "$root" -B "$build" -G "$(generator)" -DCMAKE_BUILD_TYPE=Release -DGPUIMG_CUDA=OFF
logged "$build/bench.log" cmake --build "$build" --target gpuimg_cli
if [[ ! -f $images/chart_4k.png ]]; then
    say "Making images in $images (some minutes) ..."
    "$(system_python)" "$root/tests/bench/images.py" "$images"
fi
exec "$(system_python)" "$root/tests/bench/end_to_end.py" "$build/bin/gpuimg" "$images" "$@"
