// `gpuimg info` without files: what this build has and what it finds on this machine.
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/info_files.h"
#include "cli/machine.h"
#include "cli/sha256.h"
#include "codec/codec.h"
#include "core/simd.h"
#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "gpuimg.h"
#include "run/sandbox.h"

#ifndef GPUIMG_BUILD_TYPE
#define GPUIMG_BUILD_TYPE "unknown"
#endif
#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

enum { COLUMN = 12 };

static void print_line(const char *name, const char *value) {
    gi_buffer text = {0};
    gi_buffer_printf(&text, "%-*s", COLUMN, name);
    gi_buffer_wrap(&text, value, COLUMN, COLUMN, gi_help_width());
    printf("%s\n", text.failed ? value : text.data);
    gi_buffer_free(&text);
}

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *p = words; (p = strstr(p, word)) != NULL; p += length)
        if ((p == words || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0')) return true;
    return false;
}

static const char *openmp_version(void) {
#ifdef _OPENMP
    return _OPENMP >= 202111   ? "5.2 or later"
           : _OPENMP >= 202011 ? "5.1"
           : _OPENMP >= 201811 ? "5.0"
           : _OPENMP >= 201511 ? "4.5"
                               : "4.0 or earlier";
#else
    return "none: one thread";
#endif
}

static void print_cpu(void) {
    // Those that matter for the loops here.
    static const char *const known[] = {"ssse3",   "sse4_1",   "sse4_2",   "avx",         "avx2",  "fma", "bmi2",
                                        "avx512f", "avx512bw", "avx512vl", "avx512_vbmi", "asimd", "sve"};
    char value[8192], text[256] = "";
    print_line("CPU", gi_cpuinfo("model name", value, sizeof value) ? value : "unknown model");
    if (gi_cpuinfo("flags", value, sizeof value) || gi_cpuinfo("Features", value, sizeof value)) {
        size_t used = 0;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (!has_word(value, known[i])) continue;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", known[i]);
        }
        print_line("  features", *text ? text : "none of interest");
    }
    print_line("  SIMD", gi_simd_name(gi_simd_level()));
    printf("%-12s%d\n", "  cores", gi_cpu_cores());
    print_line("OpenMP", openmp_version());
}

// Those that were built in, or those that were not.
static void print_codecs(bool built) {
    const gi_codec_library *library;
    char text[256];
    int lines = 0;
    for (int i = 0; (library = gi_codec_library_at(i)) != NULL; i++) {
        if (built != (library->version != NULL)) continue;
        if (built)
            snprintf(text, sizeof text, "%s %s (%s)", library->name, library->version, library->work);
        else
            snprintf(text, sizeof text, "%s: without it %s (install %s and build again)", library->name,
                     library->without, library->package);
        print_line(lines++ ? "" : built ? "codecs" : "missing", text);
    }
}

static void print_sandbox(void) {
    char text[80];
    print_line("sandbox", gi_sandbox_text(gi_sandbox_of_kernel(), text, sizeof text));
}

static void print_cuda(void) {
    const char *about = "";
    char reason[256] = "";
    gi_cuda_device device;
    bool built = gi_cuda_built(&about);
    print_line("CUDA", about);
    char library[256];
    gi_cuda_nvjpeg(library, sizeof library);
    if (built) print_line("  nvJPEG", library);
    int count = gi_cuda_device_count(reason, sizeof reason);
    if (count == 0 && built) print_line("  devices", *reason ? reason : "none");
    for (int i = 0; i < count && gi_cuda_device_get(i, &device); i++) {
        char name[24], text[640];
        snprintf(name, sizeof name, "  cuda:%d", i);
        snprintf(text, sizeof text, "%s, sm_%d%d, %d multiprocessors, %.1f GiB%s%s", device.name, device.major,
                 device.minor, device.multiprocessors, (double)device.memory_bytes / (1 << 30),
                 device.usable ? "" : ": not usable, ", device.usable ? "" : device.reason);
        print_line(name, text);
    }
}

int gi_info_command(const gi_command *command, const gi_options *options) {
    if (options->operand_count || options->files_from) return gi_info_files(command, options);
    for (int i = 0; i < GI_GLOBAL_COUNT; i++) {
        if (!(options->given >> i & 1) || (gi_global_table[i].taken_by & GI_FOR_INFO)) continue;
        gi_complain("--%s is for files: name one", gi_global_table[i].name);
        gi_suggest_help(command->name);
        return gi_exit_status(GI_ERR_USAGE);
    }
    print_line("gpuimg", gpuimg_version());
    print_line("compiler", COMPILER);
    print_line("build", GPUIMG_BUILD_TYPE);
    print_codecs(true);
    print_codecs(false);
    const char *sha256 = gi_sha256_library();
    print_line("SHA-256", sha256 ? sha256 : "none: no --sha256 (install nettle-dev and build again)");
    print_sandbox();
    print_cpu();
    print_cuda();
    return 0;
}
