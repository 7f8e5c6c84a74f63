#!/usr/bin/env bash
# Installs what is missing, builds gpuimg, and shows what it does.
#   scripts/quickstart.sh             makes gray.png from a sample
#   scripts/quickstart.sh ARGUMENT... runs gpuimg with these arguments
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=lib.sh
source "$root/scripts/lib.sh"

build=$root/build/quickstart
gpuimg=$build/bin/gpuimg
jobs=$(nproc)

# Sets `backend`, CMake's arguments. CUDA only for the GPUs that are here: code for every architecture takes minutes.
backend=()
choose_backend() {
    local architectures
    if ! find_nvcc >/dev/null; then
        backend=(-DGPUIMG_CUDA=OFF)
    elif ! architectures=$(gpu_architectures); then
        backend=(-DGPUIMG_CUDA=OFF)
        cuda_note="nvcc is here but no GPU, so this is for the CPU (README.md says how to build with CUDA)."
    else
        backend=(-DGPUIMG_CUDA=ON "-DCMAKE_CUDA_COMPILER=$(find_nvcc)" "-DCMAKE_CUDA_ARCHITECTURES=$architectures")
        require need_cuda_tools
    fi
}

need_cuda_tools() { need "g++" "a C++ compiler for nvcc (g++)" have g++; }

# configure ARGUMENT...: only when the arguments, the place or the libraries that are missing differ from the last time;
# CMake itself sees edited files.
configure() {
    local wanted="$root ${CC:-} $without $*"
    if [[ -f $build/configured && $(<"$build/configured") == "$wanted" ]]; then return 0; fi
    say "Building gpuimg ..."
    if [[ -n $cuda_note ]]; then say "$cuda_note"; fi
    rm -rf "$build"
    mkdir -p "$build"
    logged "$build/configure.log" cmake -S "$root" -B "$build" -G "$(generator)" -DCMAKE_BUILD_TYPE=Release \
        -DGPUIMG_TESTS=OFF "$@" || return 1
    printf '%s' "$wanted" >"$build/configured"
}

make_gpuimg() {
    configure "$@" && logged "$build/build.log" cmake --build "$build" --target gpuimg_cli --parallel "$jobs"
}

# What could not be built once is not tried again, until the GPU or the compiler is another.
build_for_backend() {
    local unbuildable=$root/build/quickstart.unbuildable
    if [[ -f $unbuildable && $(<"$unbuildable") == "${backend[*]}" ]]; then backend=(-DGPUIMG_CUDA=OFF); fi
    if make_gpuimg "${backend[@]}"; then return 0; fi
    [[ ${backend[0]} == *=ON ]] || return 1
    mkdir -p "$root/build"
    printf '%s' "${backend[*]}" >"$unbuildable"
    cuda_note="The CUDA part did not build (above), so this is for the CPU. To try again: rm $unbuildable"
    make_gpuimg -DGPUIMG_CUDA=OFF
}

cuda_note=
require need_build_tools
check_cmake
wish "$root/build/quickstart.without" need_codecs
without=${missing_names[*]}
choose_backend
build_for_backend || die "the build failed"
if (($# > 0)); then exec "$gpuimg" "$@"; fi

"$gpuimg" gray "$root/samples/landscape.png" "$root/gray.png"
printf '%s is samples/landscape.png in gray. Next: scripts/quickstart.sh hist samples/landscape.png\n' "$root/gray.png"
