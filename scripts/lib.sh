# shellcheck shell=bash
# What quickstart.sh and test.sh share; they set `root`, the project's folder. Everything said here goes to stderr: stdout is
# the tool's.
: "${root:?}"

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$(basename "$0"): $*"
    exit 1
}

# ---- what has to be there -------------------------------------------------------------------------------------------

missing_packages=() # Debian packages
missing_names=()    # the same for people of other systems
lists_are_new=false # apt's, since this script began

# need 'DEBIAN PACKAGES' 'WHAT IT IS' PROBE...: notes the packages unless the probe succeeds. One that ends in ? is wanted
# only where the distribution has it.
need() {
    local packages=$1 name=$2
    shift 2
    if "$@" >/dev/null 2>&1; then return; fi
    local package
    for package in $packages; do missing_packages+=("$package"); done
    missing_names+=("$name")
}

have() { command -v "$1"; }
have_ninja_or_make() { have ninja || have make; }

# True when that compiler makes OpenMP programs, C library headers and all.
compiles_openmp() {
    printf '#include <omp.h>\n#include <stdio.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' |
        "$1" -fopenmp -x c - -o /dev/null
}

has_header() { printf '#include <%s>\n' stdio.h "$1" | "${CC:-cc}" -E -x c -; }
has_libjpeg_turbo() {
    printf '%s\n' '#include <stdio.h>' '#include <jpeglib.h>' '#ifndef LIBJPEG_TURBO_VERSION' '#error' '#endif' |
        "${CC:-cc}" -E -x c -
}

has_stb() {
    local folder
    for folder in /usr/include/stb /usr/include /usr/local/include/stb /usr/local/include; do
        if [[ -f $folder/stb_image.h && -f $folder/stb_image_write.h ]]; then return 0; fi
    done
    return 1
}

is_debian() {
    have apt-get >/dev/null && grep -Eqs '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release
}

need_build_tools() {
    need "gcc libc6-dev" "a C compiler with OpenMP (gcc)" compiles_openmp "${CC:-cc}"
    need cmake "CMake 3.22 or newer" have cmake
    need ninja-build "Ninja or Make" have_ninja_or_make
    need libstb-dev "stb_image.h and stb_image_write.h (stb)" has_stb
}

# What makes the codecs fast. The names are good for Debian and Ubuntu: libjpeg-dev is libjpeg-turbo's in both.
need_codecs() {
    need "libisal-dev?" "ISA-L" has_header isa-l/igzip_lib.h
    need "zlib1g-dev?" "zlib" has_header zlib.h
    need "libjpeg-dev?" "libjpeg-turbo" has_libjpeg_turbo
}

check_cmake() {
    local version oldest
    version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
    oldest=$(printf '%s\n3.22\n' "$version" | sort -V | head -n 1)
    [[ $oldest == 3.22 ]] ||
        die "CMake $version is too old: 3.22 or newer is needed ($(command -v cmake)). 'pip install cmake' has a newer one."
}

# Installs what `need` noted; on a system without apt, names it and stops.
install_missing() {
    if ! is_debian; then
        say "This is no Debian or Ubuntu, so install these yourself, then run this again:"
        printf '  - %s\n' "${missing_names[@]}" >&2
        exit 1
    fi
    local by_hand="apt-get install ${missing_packages[*]%\?}" log=$root/build/apt.log
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
    if ((EUID != 0)); then
        have sudo >/dev/null || die "packages are missing, and there is no sudo. As root: $by_hand"
        apt=(sudo "${apt[@]}")
    fi
    say "Installing ${missing_packages[*]%\?} ..."
    mkdir -p "$root/build"
    if ! $lists_are_new; then
        logged "$log" "${apt[@]}" update || say "No new package lists (no network?); going on with those that are there."
        lists_are_new=true
    fi
    local package chosen=()
    for package in "${missing_packages[@]}"; do
        if [[ $package != *\? ]] || apt-cache show "${package%\?}" >/dev/null 2>&1; then chosen+=("${package%\?}"); fi
    done
    logged "$log" "${apt[@]}" install -y --no-install-recommends "${chosen[@]}" ||
        die "the packages could not be installed (no network?). By hand, as root: $by_hand"
}

# Runs a function of `need` calls, installs what it misses, and makes sure that the probes are then content.
require() {
    missing_packages=()
    missing_names=()
    "$@"
    if ((${#missing_names[@]} == 0)); then return; fi
    install_missing
    missing_packages=()
    missing_names=()
    "$@"
    if ((${#missing_names[@]} == 0)); then return; fi
    say "Still missing after the installation (CC=${CC:-cc}):"
    printf '  - %s\n' "${missing_names[@]}" >&2
    exit 1
}

# Like require, for what can be done without: where it cannot be installed, says so and goes on. What was tried in vain is
# in the file LAST and is not tried again.
wish() {
    local last=$1
    shift
    missing_packages=()
    missing_names=()
    "$@"
    if ((${#missing_names[@]} == 0)) || [[ -f $last && $(<"$last") == "${missing_names[*]}" ]]; then return; fi
    if is_debian; then (install_missing) || true; fi
    missing_packages=()
    missing_names=()
    "$@"
    if ((${#missing_names[@]} == 0)); then return; fi
    say "Going on without ${missing_names[*]}: PNG or JPEG will be slower ('gpuimg info' says how). To try again: rm $last"
    mkdir -p "$(dirname "$last")"
    printf '%s' "${missing_names[*]}" >"$last"
}

# ---- building -------------------------------------------------------------------------------------------------------

# Debian's own, which sees Debian's modules.
system_python() { if [[ -x /usr/bin/python3 ]]; then echo /usr/bin/python3; else echo python3; fi; }
generator() { if have ninja >/dev/null; then echo Ninja; else echo "Unix Makefiles"; fi; }

find_nvcc() {
    local nvcc
    for nvcc in "${CUDACXX:-}" nvcc "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc"; do
        if [[ -n $nvcc ]] && have "$nvcc"; then return 0; fi
    done
    return 1
}

# Compute capabilities of the GPUs present as CMake writes them ("86;90"); fails when there are none.
gpu_architectures() {
    local found
    found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -Ex '[0-9]+' | sort -un) ||
        return 1
    paste -sd ';' <<<"$found"
}

# logged LOG COMMAND...: its output goes to LOG; when it fails, the end of it is shown.
logged() {
    local log=$1
    shift
    if "$@" >"$log" 2>&1 </dev/null; then return 0; fi
    tail -n 30 "$log" >&2
    say "failed: $* (all of it: $log)"
    return 1
}
