#!/usr/bin/env bash
# Installs what the tests need, builds and runs them all. Every stage runs; the exit status is 1 when any failed.
#   --quick         only the gcc build and its tests
#   --fuzz SECONDS  also fuzz each target for so long
#   --slurm         also run samples/slurm on a Slurm of one node, this machine (needs root)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=lib.sh
source "$root/scripts/lib.sh"

quick=false
slurm=false
fuzz_seconds=0
while (($# > 0)); do
    case $1 in
    --quick) quick=true ;;
    --slurm) slurm=true ;;
    --fuzz)
        [[ ${2:-} =~ ^[0-9]+$ ]] || die "--fuzz wants a number of seconds"
        fuzz_seconds=$2
        shift
        ;;
    *) die "unknown argument '$1' (usage: scripts/test.sh [--quick] [--fuzz SECONDS] [--slurm])" ;;
    esac
    shift
done

has_module() { "$(system_python)" -c "import importlib.util as u, sys; sys.exit(not u.find_spec('$1'))"; }
has_cmocka() {
    printf '#include <%s>\n' stdarg.h stddef.h setjmp.h stdint.h cmocka.h | gcc -E -x c -
}
clang_sanitizes() {
    printf '%s\n' '#include <stddef.h>' 'int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);' \
        'int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) { return data && size > 99; }' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null
}

have_slurm() { (PATH=$PATH:/usr/sbin:/sbin && have slurmctld && have slurmd && have sbatch && have munged); }
on_arm64() { [[ $(uname -m) == aarch64 ]]; }
have_qemu_arm64() { have qemu-aarch64-static || have qemu-aarch64; }

need_test_tools() {
    need "gcc libc6-dev" "gcc with OpenMP" compiles_openmp gcc
    need ninja-build "Ninja" have ninja
    need_codecs
    need "nettle-dev" "nettle (SHA-256 in manifests)" has_header nettle/sha2.h
    need libpng-dev "libpng (what the codecs are compared with)" has_header png.h
    need libcmocka-dev "cmocka (C unit tests)" has_cmocka
    need python3 "Python 3" have "$(system_python)"
    need python3-numpy "Python module numpy" has_module numpy
    need python3-opencv "Python module cv2 (OpenCV)" has_module cv2
    need python3-pil "Python module PIL (Pillow)" has_module PIL
    need python3-scipy "Python module scipy" has_module scipy
    need python3-pytest "Python module pytest" has_module pytest
    need fonts-dejavu-core "the DejaVu fonts" test -f /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
    need shellcheck "shellcheck" have shellcheck
    need pngcheck "pngcheck" have pngcheck
    need libjpeg-turbo-progs "cjpeg (JPEG of all kinds for the codecs to read)" have cjpeg
    need groff-base "groff" have groff
    need mandoc "mandoc" have mandoc
    need zsh "zsh" have zsh
    need fish "fish" have fish
    need pkg-config "pkg-config" have pkg-config
    need dpkg-dev "dpkg-shlibdeps" have dpkg-shlibdeps
    need file "file, which cpack asks for a .deb" have file
    if $slurm; then need "slurm-wlm munge" "Slurm and MUNGE" have_slurm; fi
    if find_nvcc >/dev/null; then need "g++" "a C++ compiler for nvcc (g++)" have g++; fi
    if $quick; then return; fi
    need "clang libomp-dev" "clang with OpenMP" compiles_openmp clang
    # Debian 12 and later keep the sanitizers in a package of their own.
    need "clang libclang-rt-dev?" "clang's sanitizers and libFuzzer" clang_sanitizes
    if on_arm64; then return; fi
    need "gcc-aarch64-linux-gnu libc6-dev-arm64-cross" "a compiler for 64-bit ARM" compiles_openmp aarch64-linux-gnu-gcc
    need qemu-user-static "QEMU for programs of 64-bit ARM" have_qemu_arm64
}

# ---- stages ---------------------------------------------------------------------------------------------------------

jobs=$(nproc)
launchers=()
if have ccache >/dev/null; then
    launchers=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
fi

build_options=() # of CMake, besides the preset's
# build PRESET COMPILER [TARGET]. A build folder of another compiler is not reused: CMake would start it anew without
# the preset's settings.
build() {
    local folder=build/$1 compiler
    compiler=$(command -v "$2") || return 1
    if ! grep -qs "^CMAKE_C_COMPILER:[A-Z]*=$compiler\$" "$folder/CMakeCache.txt"; then rm -rf "$folder"; fi
    cmake --preset "$1" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DGPUIMG_REQUIRE_TESTS=ON "${launchers[@]}" \
        "${build_options[@]}" && cmake --build "$folder" --parallel "$jobs" --target "${3:-all}"
}
run_tests() {
    local preset=$1
    shift
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$jobs" "$@"
}

# Where there is no GPU, code for it is compiled and linked, but never run: nvcc's fast compilation, which takes a tenth
# of the time for the largest kernels, is good enough for that.
compiles_fast() {
    ! gpu_architectures >/dev/null && "$1" --help | grep -e --Ofast-compile >/dev/null
}
stage_gcc() {
    local build_options=() nvcc
    if nvcc=$(find_nvcc); then
        build_options=("-DCMAKE_CUDA_FLAGS=${CUDAFLAGS:-}$(if compiles_fast "$nvcc"; then echo " --Ofast-compile=max"; fi)")
    fi
    build ci gcc && run_tests ci
}
# Instruction sets that are not the machine's own, files of every kind and size (the fuzz targets have their like) and
# what hostile ones cost are left to the first stage.
stage_sanitizers() {
    build asan gcc && PYTEST_ADDOPTS='-k "not conformance and not bounds"' run_tests asan -LE simd
}
# Without the codecs' libraries: what has to do with codecs or with how libraries are linked.
stage_bare() { build bare gcc && run_tests bare -E '^(oracle|golden|samples|completion|shellcheck|layers|benchmarks)$' -LE simd; }

# Debian's cmocka for ARM, unpacked below build/: to install it, the system would have to take packages for ARM.
fetch_arm64_cmocka() {
    local folder=$root/build/arm64-packages package
    if [[ -f $folder/fetched ]]; then return 0; fi
    is_debian && mkdir -p "$folder"/{lists,archives}/partial && : >"$folder/status" && cd "$folder" || return 1
    local apt=(apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::Lists=$folder/lists"
        -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder")
    "${apt[@]}" update || true
    "${apt[@]}" download libcmocka-dev libcmocka0 || return 1
    for package in *.deb; do dpkg -x "$package" . || return 1; done
    touch fetched
}

# Compiles for ARM, and runs unit tests and seeds in QEMU; without cmocka, what needs none.
stage_arm64() {
    local build_options=(-DGPUIMG_REQUIRE_TESTS=OFF) packages=$root/build/arm64-packages
    if (fetch_arm64_cmocka); then
        build_options=("-DGPUIMG_CMOCKA=$packages/usr/lib/aarch64-linux-gnu/libcmocka.so.0"
            "-DGPUIMG_CMOCKA_INCLUDE=$packages/usr/include")
    else
        echo "No cmocka for ARM: its unit tests are left out."
    fi
    # Threads that wait must not keep the emulated ones from working.
    build arm64 aarch64-linux-gnu-gcc && OMP_WAIT_POLICY=passive run_tests arm64 -L 'unit|fuzz'
}

# The program of the gcc build. What cannot be done here is said, and no failure.
stage_slurm() {
    local status=0
    GPUIMG=build/ci/bin/gpuimg tests/slurm/run.sh || status=$?
    ((status == 0 || status == 77))
}

# Its warnings above all, and its OpenMP; the longest tests have run twice by then.
stage_clang() { build clang clang && run_tests clang -L unit -E 'inflate|deflate|png_|unit[.](pass|sandbox|scan)$'; }
stage_fuzz() {
    build fuzz clang fuzz_targets && run_tests fuzz -L fuzz || return 1
    if ((fuzz_seconds > 0)); then fuzz_all; fi
}

# New inputs go to the build folder: what is worth keeping is copied to tests/fuzz/corpus by hand.
fuzz_all() {
    local target name found
    for target in build/fuzz/bin/fuzz_*; do
        name=${target##*/}
        found=build/fuzz/found/$name
        mkdir -p "$found"
        "$target" -max_total_time="$fuzz_seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
            -artifact_prefix="$found/" "$found" "tests/fuzz/corpus/$name" || return 1
    done
}

summary=()
failures=0
# stage FUNCTION TITLE: its output is shown and kept; the summary gets ctest's line or Slurm's, or where it failed before that.
stage() {
    local function=$1 title=$2 log=build/logs/$1.log start=$SECONDS verdict=ok result name
    printf '\n==== %s ====\n' "$title"
    if ! "$function" 2>&1 </dev/null | tee "$log"; then
        verdict=FAILED
        failures=$((failures + 1))
    fi
    result=$(grep -E '^[0-9]+% tests passed|^skipped: |the same bytes as by one run$' "$log" | tail -n 1) || result="no test ran"
    summary+=("$(printf '%-6s  %-26s %4d s  %s' "$verdict" "$title" $((SECONDS - start)) "$result")")
    # The names of failed tests, not of skipped ones.
    while read -r name; do
        summary+=("          $name")
    done < <(sed -n '/(Skipped)/d; s/^[[:space:]]*[0-9]* - \(.*\) (.*)$/\1/p' "$log")
}

require need_build_tools
require need_test_tools
check_cmake
cd "$root"
mkdir -p build/logs
stage stage_gcc "gcc"
if $slurm; then stage stage_slurm "samples/slurm on Slurm"; fi
if ! $quick; then
    stage stage_sanitizers "gcc, address and undefined"
    stage stage_bare "gcc, no optional library"
    stage stage_clang "clang, unit tests"
    stage stage_fuzz "clang, fuzz targets"
    if ! on_arm64; then stage stage_arm64 "64-bit ARM in QEMU"; fi
fi

printf '\n==== summary ====\n'
printf '%s\n' "${summary[@]}"
if ((failures > 0)); then
    printf '\n%d stages failed\n' "$failures"
    exit 1
fi
# ctest's own closing lines, for what reads them.
printf '\n'
sed -n '/^[0-9]*% tests passed/,$p' build/logs/stage_gcc.log
