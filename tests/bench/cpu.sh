#!/usr/bin/env bash
# The CPU's stages beside OpenCV's functions, at 8K: builds the library in build/bench and runs cpu.py, whose options these
# are (--help). GPUIMG_SIMD=avx2 or portable measures another level.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=lib.sh
source "$root/scripts/lib.sh"

build=$root/build/bench
mkdir -p "$build"
logged "$build/bench.log" cmake -S "$root" -B "$build" -G "$(generator)" -DCMAKE_BUILD_TYPE=Release -DGPUIMG_CUDA=OFF
logged "$build/bench.log" cmake --build "$build" --target gpuimg_shared gpuimg_cli
exec "$(system_python)" "$root/tests/bench/cpu.py" --build "$build" "$@"
