// THE TABLE of the global options, from which the parser, the help, the man page and the completion are made; a
// stage's own options come from core/stages.h.
//
// OPTION(TYPE, name, "long", 'short' or 0, "ARGUMENT", "words", min, max, "default", TAKEN_BY, "help")
//   TYPE    field in gi_options   accepted text
//   FLAG    bool                  none
//   COUNT   int                   a decimal integer in [min, max]
//   SIZE    uint64_t              the same, also with k, M or G (10^3, 10^6, 10^9)
//   BYTES   uint64_t              the same, also with K, M or G (2^10, 2^20, 2^30)
//   CHOICE  const char *          one of `words` ("a|b|c"); points at what was typed
//   DEVICE  const char *          auto, cpu, or GPUs as cuda, cuda:N, cuda:N,M,... or cuda:all; points at the text
//   SHARD   const char *          I/N or auto; points at what was typed
//   COLOUR  gi_colour             #rgb, #rrggbb, r,g,b, white or black
//   TEXT    const char *          anything but nothing; points at what was typed
// The default is parsed as if typed; "" leaves the field zero. Rows of the same name are one option that takes other
// values for other commands; each has a field of its own, and a command that both are for (run) takes what either does.
#ifndef GI_CLI_OPTIONS_H
#define GI_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "core/primitives.h"
#include "core/stage_table.h"
#include "core/status.h"

// Which commands take an option.
enum {
    GI_FOR_IMAGE = 1,
    GI_FOR_HIST = 2,
    GI_FOR_INFO = 4,
    GI_FOR_PIPELINE = 8,
    GI_FOR_MATMUL = 16,
    GI_FOR_REDUCE = 32,
    GI_FOR_SCAN = 64,
    GI_FOR_BENCH = 128,
    GI_FOR_FILE_INFO = 256,
    GI_FOR_RUN = GI_FOR_IMAGE | GI_FOR_HIST,
    GI_FOR_ARRAYS = GI_FOR_MATMUL | GI_FOR_REDUCE | GI_FOR_SCAN,
    GI_FOR_DECODE = GI_FOR_RUN | GI_FOR_REDUCE,  // that read images
    GI_FOR_LIST = GI_FOR_RUN | GI_FOR_FILE_INFO, // ... and may have many
    GI_FOR_COMPUTE = GI_FOR_RUN | GI_FOR_ARRAYS,
    GI_FOR_ALL = GI_FOR_COMPUTE | GI_FOR_BENCH | GI_FOR_INFO
};

// A number of the code's as the text of a default.
#define GI_OPTION_TEXT(number) #number
#define GI_OPTION_NUMBER(macro) GI_OPTION_TEXT(macro)

#define GI_GLOBAL_OPTIONS(OPTION)                                                                                      \
    OPTION(TEXT, output, "output", 'o', "FILE", "", 0, 0, "", GI_FOR_HIST,                                             \
           "write the report to FILE (.txt, .json, .csv, .svg, .png or .html) instead of standard output")             \
    OPTION(TEXT, array_output, "output", 'o', "FILE", "", 0, 0, "", GI_FOR_MATMUL | GI_FOR_SCAN,                       \
           "write the result to the .npy file FILE, or to standard output for -; there is no default")                 \
    OPTION(FLAG, exclusive, "exclusive", 0, "", "", 0, 0, "", GI_FOR_SCAN,                                             \
           "of what stands before each number, without it; the first result is the operation's identity")              \
    OPTION(CHOICE, matmul_algo, "algo", 0, "ALGORITHM", GI_MATMUL_ALGORITHMS, 0, 0, "auto", GI_FOR_MATMUL,             \
           "which one; the CPU has auto, naive and fast, a GPU all; tf32 rounds the factors to 11 bits")               \
    OPTION(CHOICE, reduce_algo, "algo", 0, "ALGORITHM", GI_REDUCE_ALGORITHMS, 0, 0, "auto", GI_FOR_REDUCE,             \
           "which one, of arrays alone; auto has the same bits everywhere, the others want a GPU")                     \
    OPTION(CHOICE, scan_algo, "algo", 0, "ALGORITHM", GI_SCAN_ALGORITHMS, 0, 0, "auto", GI_FOR_SCAN,                   \
           "which one; auto has the same bits everywhere, the others want a GPU")                                      \
    OPTION(FLAG, total, "total", 0, "", "", 0, 0, "", GI_FOR_HIST,                                                     \
           "add all images up, channel by channel, into one report named total")                                       \
    OPTION(FLAG, merge, "merge", 0, "", "", 0, 0, "", GI_FOR_HIST,                                                     \
           "IN are no images but reports as JSON, of shards: add them all up into one named total")                    \
    OPTION(CHOICE, format, "format", 0, "FORMAT", "png|jpg|jpeg", 0, 0, "", GI_FOR_IMAGE,                              \
           "format of the images, whatever OUT is named")                                                              \
    OPTION(CHOICE, report_format, "format", 0, "FORMAT", "txt|json|csv|svg|png|html", 0, 0, "", GI_FOR_HIST,           \
           "format of the report, whatever its file is named")                                                         \
    OPTION(                                                                                                            \
        CHOICE, codec, "codec", 0, "CODEC", "auto|zlib|stb|auto-fast|nvjpeg", 0, 0, "auto",                            \
        GI_FOR_DECODE | GI_FOR_FILE_INFO,                                                                              \
        "which libraries read and write images: the fastest of this build, these with zlib instead of ISA-L, or stb "  \
        "alone, which is slower and shares no code with the others; auto-fast: on a GPU nvJPEG does what JPEG it can " \
        "where it is installed and started, whose pixels differ by a few levels, and the CPU does the rest; nvjpeg: "  \
        "all that it can, or the run fails without it; not for reduce and info, which decode on the CPU")              \
    OPTION(                                                                                                            \
        CHOICE, depth, "depth", 0, "BITS", "8|16", 0, 0, "", GI_FOR_DECODE,                                            \
        "bits of a sample that images are brought to when they are read; without it 16 where the file has as many, "   \
        "else 8. JPEGs are written with 8")                                                                            \
    OPTION(COUNT, quality, "quality", 0, "N", "", 1, 100, "90", GI_FOR_IMAGE, "JPEG quality")                          \
    OPTION(CHOICE, subsampling, "subsampling", 0, "CHROMA", "420|422|444", 0, 0, "420", GI_FOR_IMAGE,                  \
           "chroma of a colour JPEG: halved both ways, halved in width, or whole (libjpeg-turbo; stb goes by the "     \
           "quality)")                                                                                                 \
    OPTION(FLAG, optimize, "optimize", 0, "", "", 0, 0, "", GI_FOR_IMAGE,                                              \
           "smaller JPEGs, by Huffman codes made for each image (libjpeg-turbo)")                                      \
    OPTION(FLAG, progressive, "progressive", 0, "", "", 0, 0, "", GI_FOR_IMAGE,                                        \
           "JPEGs that show all of the image early on, and take longer to write; implies --optimize (libjpeg-turbo)")  \
    OPTION(COUNT, png_level, "png-level", 0, "N", "", 0, 9, GI_OPTION_NUMBER(GI_PNG_LEVEL), GI_FOR_IMAGE,              \
           "PNG compression. 0: none; 1 to 7: repetitions are looked for in more and more places, which photographs "  \
           "have too few of: they mostly come out the same at each of these; 8 and 9: every way is tried on all of "   \
           "the image, in several times the time")                                                                     \
    OPTION(                                                                                                            \
        CHOICE, png_reduce, "png-reduce", 0, "WHEN", "auto|on|off", 0, 0, "auto", GI_FOR_IMAGE,                        \
        "PNGs of fewer bits a pixel, black and white or a palette of at most 256 colours: for what threshold makes, "  \
        "wherever the file gets smaller by it, or never")                                                              \
    OPTION(FLAG, strip, "strip", 0, "", "", 0, 0, "", GI_FOR_IMAGE,                                                    \
           "write no metadata: neither profile nor EXIF, XMP or resolution, not even an orientation")                  \
    OPTION(COLOUR, background, "background", 0, "COLOUR", "", 0, 0, "white", GI_FOR_IMAGE,                             \
           "what transparent pixels lie on in a JPEG: #rgb, #rrggbb, r,g,b, white or black")                           \
    OPTION(FLAG, recursive, "recursive", 'r', "", "", 0, 0, "", GI_FOR_LIST, "directories with all below them")        \
    OPTION(TEXT, files_from, "files-from", 0, "LIST", "", 0, 0, "", GI_FOR_LIST,                                       \
           "read more input names from the file LIST, or from standard input for -, one a line")                       \
    OPTION(FLAG, null, "null", '0', "", "", 0, 0, "", GI_FOR_LIST, "names in LIST end with a NUL byte, not a newline") \
    OPTION(FLAG, skip_existing, "skip-existing", 0, "", "", 0, 0, "", GI_FOR_IMAGE,                                    \
           "leave outputs that exist as they are, without a failure")                                                  \
    OPTION(FLAG, no_clobber, "no-clobber", 0, "", "", 0, 0, "", GI_FOR_RUN | GI_FOR_MATMUL | GI_FOR_SCAN,              \
           "fail rather than replace an output")                                                                       \
    OPTION(FLAG, fail_fast, "fail-fast", 0, "", "", 0, 0, "", GI_FOR_RUN, "stop at the first file that fails")         \
    OPTION(TEXT, manifest, "manifest", 0, "FILE", "", 0, 0, "", GI_FOR_RUN,                                            \
           "record each input in FILE as it ends, a line of JSON: path, status, reason, output, bytes, ms, pipeline "  \
           "('gpuimg help manifests')")                                                                                \
    OPTION(FLAG, sha256, "sha256", 0, "", "", 0, 0, "", GI_FOR_IMAGE, "with --manifest: the SHA-256 of each output")   \
    OPTION(TEXT, retry_failed, "retry-failed", 0, "FILE", "", 0, 0, "", GI_FOR_RUN,                                    \
           "do what failed or was not started by the manifest FILE: with the inputs and outputs recorded there, "      \
           "where none or OUT alone is named, else of those that are named")                                           \
    OPTION(SHARD, shard, "shard", 0, "I/N", "auto", 0, 0, "", GI_FOR_RUN,                                              \
           "of all inputs, only share I of N, by a hash of their names; auto: by Slurm's variables")                   \
    OPTION(FLAG, strict, "strict", 0, "", "", 0, 0, "", GI_FOR_DECODE,                                                 \
           "damage that still decodes is a failure, not a warning, as it always is for a file that the "               \
           "result would replace")                                                                                     \
    OPTION(SIZE, max_pixels, "max-pixels", 0, "N", "", 1, 1e15, "1G", GI_FOR_DECODE | GI_FOR_FILE_INFO,                \
           "refuse images of more pixels; k, M and G may follow the number")                                           \
    OPTION(FLAG, no_auto_orient, "no-auto-orient", 0, "", "", 0, 0, "", GI_FOR_RUN,                                    \
           "do not turn the pixels by the EXIF orientation")                                                           \
    OPTION(FLAG, no_jpeg_luma, "no-jpeg-luma", 0, "", "", 0, 0, "", GI_FOR_RUN,                                        \
           "gray of a JPEG from its RGB colours, not from its own luma")                                               \
    OPTION(DEVICE, device, "device", 0, "DEVICE", "auto|cpu|cuda|cuda:N|cuda:N,M,...|cuda:all", 0, 0, "",              \
           GI_FOR_COMPUTE | GI_FOR_BENCH,                                                                              \
           "where to compute (without it the variable GPUIMG_DEVICE counts, else auto, the faster one for the job); "  \
           "over several GPUs, runs of many files are spread")                                                         \
    OPTION(CHOICE, sandbox, "sandbox", 0, "WHEN", "auto|off|require", 0, 0, "", GI_FOR_COMPUTE | GI_FOR_FILE_INFO,     \
           "give up, before input is decoded, what is not needed for it: network, other programs, changes to files "   \
           "elsewhere than beside the outputs. auto: as far as the system can, and not where a GPU may be used; "      \
           "require: wholly, or not at all "                                                                           \
           "(without it the variable GPUIMG_SANDBOX counts, else auto)")                                               \
    OPTION(                                                                                                            \
        COUNT, workers, "workers", 'j', "N", "", 1, 1024, "", GI_FOR_RUN,                                              \
        "images in work at once, at most one a core (two where a GPU decodes them, by --codec); without it as many "   \
        "as that")                                                                                                     \
    OPTION(COUNT, slots, "slots", 0, "N", "", 1, 1024, "", GI_FOR_RUN,                                                 \
           "of these, images whose pixels are held at once: it bounds the memory; without it as many as workers")      \
    OPTION(COUNT, streams, "streams", 0, "N", "", 1, 64, "", GI_FOR_RUN,                                               \
           "of these, images on a device at once; without it as many as slots")                                        \
    OPTION(BYTES, max_memory, "max-memory", 0, "BYTES", "", 1, 1e15, "", GI_FOR_RUN,                                   \
           "work in bands of rows that take at most so much memory, all images in work together: of the device, or "   \
           "beside the images themselves; K, M and G may follow the number. Without it: a few MiB an image, or what "  \
           "the device has")                                                                                           \
    OPTION(TEXT, pipeline_file, "pipeline-file", 0, "FILE", "", 0, 0, "", GI_FOR_PIPELINE,                             \
           "read the pipeline from FILE, which may span lines and hold comments after #")                              \
    OPTION(FLAG, explain, "explain", 0, "", "", 0, 0, "", GI_FOR_PIPELINE,                                             \
           "print how the pipeline would run on each IN, or on an 8K image without one, and do nothing; a last name "  \
           "of what is not there yet is OUT")                                                                          \
    OPTION(CHOICE, progress, "progress", 0, "HOW", "auto|json|none", 0, 0, "auto", GI_FOR_RUN,                         \
           "a bar on a terminal unless -q is given, lines of JSON on standard error for programs, or nothing")         \
    OPTION(FLAG, stats, "stats", 0, "", "", 0, 0, "", GI_FOR_RUN,                                                      \
           "say where the time went: each phase's busy and wall time, their overlap, images/s, MB/s, peak memory")     \
    OPTION(TEXT, stats_json, "stats-json", 0, "FILE", "", 0, 0, "", GI_FOR_RUN, "write the same to FILE, as JSON")     \
    OPTION(TEXT, trace, "trace", 0, "FILE", "", 0, 0, "", GI_FOR_RUN,                                                  \
           "write every phase of every image to FILE, as JSON for chrome://tracing or Perfetto")                       \
    OPTION(FLAG, list, "list", 0, "", "", 0, 0, "", GI_FOR_BENCH, "list the demonstrations and do nothing")            \
    OPTION(SIZE, size, "n", 0, "N", "", 1, 1e12, "", GI_FOR_BENCH,                                                     \
           "how large: the sides of matrices and images, the elements of all else; k, M and G may follow the number. " \
           "Without it each demonstration has its own")                                                                \
    OPTION(FLAG, quick, "quick", 0, "", "", 0, 0, "", GI_FOR_BENCH,                                                    \
           "small sizes and few runs, to see that all works; the times then say little")                               \
    OPTION(COUNT, threads, "workers", 'j', "N", "", 1, 1024, "", GI_FOR_BENCH,                                         \
           "threads of the OpenMP versions; without it as many as cores")                                              \
    OPTION(TEXT, json, "json", 0, "FILE", "", 0, 0, "", GI_FOR_BENCH,                                                  \
           "write all tables to FILE as JSON; with - to standard output, in the place of the tables for people")       \
    OPTION(TEXT, csv, "csv", 0, "FILE", "", 0, 0, "", GI_FOR_BENCH,                                                    \
           "write them to FILE, or to standard output, as CSV: a line for each number")                                \
    OPTION(TEXT, plot, "plot", 0, "FILE", "", 0, 0, "", GI_FOR_BENCH,                                                  \
           "draw them as bars into FILE, whose name ends in .svg or .png")                                             \
    OPTION(FLAG, file_json, "json", 0, "", "", 0, 0, "", GI_FOR_FILE_INFO, "of files: one document of JSON")           \
    OPTION(FLAG, file_quick, "quick", 0, "", "", 0, 0, "", GI_FOR_FILE_INFO,                                           \
           "of files: do not decode pixels, so that damage in them is not found")                                      \
    OPTION(FLAG, quiet, "quiet", 'q', "", "", 0, 0, "", GI_FOR_COMPUTE, "no warnings and no summary")                  \
    OPTION(FLAG, verbose, "verbose", 'v', "", "", 0, 0, "", GI_FOR_COMPUTE,                                            \
           "say more: the device and why, what was found and converted on the way")                                    \
    OPTION(FLAG, help, "help", 'h', "", "", 0, 0, "", GI_FOR_ALL, "show this help; -h: in short")                      \
    OPTION(FLAG, version, "version", 0, "", "", 0, 0, "", GI_FOR_ALL, "show the version")

typedef struct gi_colour {
    uint8_t rgb[3];
} gi_colour;

#define GI_OPTION_FIELD_FLAG bool
#define GI_OPTION_FIELD_COUNT int
#define GI_OPTION_FIELD_SIZE uint64_t
#define GI_OPTION_FIELD_BYTES uint64_t
#define GI_OPTION_FIELD_CHOICE const char *
#define GI_OPTION_FIELD_DEVICE const char *
#define GI_OPTION_FIELD_SHARD const char *
#define GI_OPTION_FIELD_COLOUR gi_colour
#define GI_OPTION_FIELD_TEXT const char *
#define GI_GLOBAL_FIELD(type, name, long_name, letter, argument, words, min, max, standard, taken_by, help)            \
    GI_OPTION_FIELD_##type name;
#define GI_GLOBAL_ENUM(type, name, long_name, letter, argument, words, min, max, standard, taken_by, help)             \
    GI_GLOBAL_##name,

typedef enum gi_global_id { GI_GLOBAL_OPTIONS(GI_GLOBAL_ENUM) GI_GLOBAL_COUNT } gi_global_id;
#undef GI_GLOBAL_ENUM

// What a command line says.
typedef struct gi_options {
    GI_GLOBAL_OPTIONS(GI_GLOBAL_FIELD)
    uint64_t given;        // bit 1 << GI_GLOBAL_name: typed
    bool brief;            // help was asked for by its letter
    gi_stage_args stage;   // of the command's stage
    const char **operands; // owned array of argv's strings
    size_t operand_count;
} gi_options;
#undef GI_GLOBAL_FIELD

typedef enum gi_global_type {
    GI_TYPE_FLAG,
    GI_TYPE_COUNT,
    GI_TYPE_SIZE,
    GI_TYPE_BYTES,
    GI_TYPE_CHOICE,
    GI_TYPE_DEVICE,
    GI_TYPE_SHARD,
    GI_TYPE_COLOUR,
    GI_TYPE_TEXT
} gi_global_type;

// A row of the table.
typedef struct gi_global_option {
    const char *name;     // without dashes
    const char *argument; // as the help names it; "" for flags
    const char *words;    // "a|b|c" or ""
    const char *standard;
    const char *help;
    double min, max;
    size_t field_offset; // into gi_options
    gi_global_type type;
    unsigned taken_by;
    char letter; // 0: none
} gi_global_option;

extern const gi_global_option gi_global_table[GI_GLOBAL_COUNT];

// Who parses: the command's name, its mask of GI_FOR_ bits, and its stage, or NULL.
typedef struct gi_option_user {
    const char *name;
    unsigned mask;
    const gi_stage *stage;
} gi_option_user;

// Parses argv (without program and command names). Options and operands may mix; "--" ends the options. Parsing stops
// at --help and --version. GI_ERR_USAGE names the option and what it accepts. Free with gi_options_free, also after
// failure.
gi_status gi_options_parse(const gi_option_user *user, char *const *argv, gi_options *options, gi_error *err);
void gi_options_free(gi_options *options);

// GI_ERR_USAGE when an option was typed that is not for `mask` (run knows what its pipeline takes only later; options
// of run itself pass).
gi_status gi_options_check(const gi_options *options, const char *user, unsigned mask, gi_error *err);

// Which of its words a CHOICE was given, counted from 0.
int gi_options_choice(const gi_options *options, gi_global_id id);

// GI_ERR_USAGE where this build lacks a library that --codec asks for, or the command decodes on the CPU alone
// (`on_cpu`) and the codec wants a GPU.
gi_status gi_options_check_codec(const gi_options *options, bool on_cpu, gi_error *err);

// --depth as gi_decode_options has it.
int gi_options_depth(const gi_options *options);

// Writes what the option accepts ("an integer from 1 to 100"); "" for flags. Truncates.
void gi_global_accepts(const gi_global_option *option, char *text, size_t size);

#endif
