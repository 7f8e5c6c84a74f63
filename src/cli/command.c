#include "cli/command.h"

#include <string.h>

#include "bench/demos.h"
#include "cli/help_text.h"
#include "cli/option_values.h"

static const gi_command own_commands[] = {
    {"run",
     "[OPTIONS] 'STAGE [KEY=VALUE]... | STAGE ...' IN... OUT",
     "a pipeline of stages in one pass",
     "Stages are separated by |, their options written as key=value; a bare word sets a stage's first option. A "
     "pipeline that ends in hist reports on its result instead of writing it: there is no OUT then, and -o names the "
     "report's file. Quote the pipeline, so that the shell leaves the | alone, or write it into a file "
     "(--pipeline-file), where # begins a comment and newlines are spaces.",
     {"run 'gray 709 | threshold otsu' scans/ masks/", "run 'gray | hist' photo.jpg"},
     NULL,
     GI_FOR_RUN | GI_FOR_PIPELINE,
     GI_OPERANDS_PIPELINE,
     NULL,
     gi_run_command},
    {"matmul",
     "[OPTIONS] A.npy B.npy -o C.npy",
     "the product of two matrices",
     "A is M x K, B is K x N, C becomes M x N, all of float32; any of M, K and N may be 0. NaN and infinities "
     "propagate. Each element is within (K + 2) 2^-24 of the sum of its products' magnitudes.",
     {"matmul a.npy b.npy -o c.npy", "matmul --algo naive a.npy - -o - < b.npy > c.npy"},
     NULL,
     GI_FOR_MATMUL,
     GI_OPERANDS_ARRAYS,
     NULL,
     gi_matmul_command},
    {"reduce",
     "[OPTIONS] sum|prod|min|max|mean IN",
     "one number from all of an array's, or each channel's",
     "Of an array, prints the number, with as many digits as it takes to read the same one back; of an image, a line "
     "CHANNEL NUMBER for each channel. Sums and products of floats are made in double by one fixed tree: the same "
     "bits on CPU and GPU, with any number of threads, in every run. Those of integers are exact, and fail past 64 "
     "bits. A NaN in the array makes the result NaN. Of an empty array: sum 0, product 1, no minimum, maximum or mean.",
     {"reduce sum values.npy", "reduce mean photo.jpg"},
     NULL,
     GI_FOR_REDUCE,
     GI_OPERANDS_VALUES,
     GI_OPERATION_WORDS,
     gi_reduce_command},
    {"scan",
     "[OPTIONS] sum|prod|min|max IN.npy -o OUT.npy",
     "running sums, products, minima or maxima",
     "Each number becomes the sum (product, ...) of all up to it, in C order over the whole array; the shape stays. "
     "Floats are added up in double, grouped in one fixed way, so that the bits are the same on CPU and GPU, with any "
     "number of threads, in every run. Integers become int64, exactly, and fail past 64 bits.",
     {"scan sum counts.npy -o sums.npy", "scan max --exclusive levels.npy -o -"},
     NULL,
     GI_FOR_SCAN,
     GI_OPERANDS_ARRAYS,
     GI_SCAN_WORDS,
     gi_scan_command},
    {"bench",
     "[OPTIONS] [NAME...]",
     "classic CUDA kernels, measured beside the best known",
     "Each demonstration computes one thing in several ways, checks every result, and prints the median times, what "
     "they "
     "are of the memory's or a library's speed, and how many times as fast as OpenMP that is, with and without the "
     "copies to the GPU and back. Without a NAME they are listed; `all` runs all. Where no GPU can be used the CPU's "
     "rows are measured, and a row says why the others are not. Each is a file below kernels/demos to read.",
     {"bench matmul --n 2048", "bench all --json bench.json --plot bench.png"},
     NULL,
     GI_FOR_BENCH,
     GI_OPERANDS_WORDS,
     "all" GI_DEMO_WORDS,
     gi_bench_command},
    {"info",
     "[OPTIONS] [FILE...]",
     "version, codecs, processor and GPUs; or what image files hold",
     "Without FILE, what this gpuimg was built with and what it finds on this machine; where no GPU is usable, the "
     "reason. Of each FILE, and of each PNG and JPEG in a directory: format, size, depth, colour, the quality that a "
     "JPEG's tables tell, orientation, resolution, ICC profile and other metadata, and what is damaged: metadata, what "
     "decoding finds, and bytes behind the image. "
     "Of a .npy FILE: element type, shape, order.",
     {"info", "info --json photos/"},
     NULL,
     GI_FOR_INFO | GI_FOR_FILE_INFO,
     GI_OPERANDS_IMAGES,
     NULL,
     gi_info_command},
    {"help",
     "[COMMAND|TOPIC]",
     "help on a command or topic",
     "Without a command: all commands. Topics are manifests, status (of exit) and variables (of the environment).",
     {"help gray", "help status"},
     NULL,
     GI_FOR_INFO,
     GI_OPERANDS_COMMAND,
     NULL,
     gi_help_command},
};
enum { OWN_COUNT = sizeof own_commands / sizeof own_commands[0] };

static gi_command of_stage(const gi_stage *stage) {
    bool sink = stage->kind == GI_STAGE_MEASURE;
    gi_command command = {stage->name,
                          sink ? "[OPTIONS] IN..." : "[OPTIONS] IN... OUT",
                          stage->summary,
                          stage->detail,
                          {stage->examples[0], stage->examples[1]},
                          stage,
                          sink ? GI_FOR_HIST : GI_FOR_IMAGE,
                          GI_OPERANDS_IMAGES,
                          NULL,
                          sink ? gi_hist_command : gi_image_command};
    return command;
}

bool gi_command_at(int i, gi_command *command) {
    if (i < 0 || i >= GI_STAGE_COUNT + OWN_COUNT) return false;
    *command = i < GI_STAGE_COUNT ? of_stage(&gi_stage_table[i]) : own_commands[i - GI_STAGE_COUNT];
    return true;
}

bool gi_command_find(const char *name, gi_command *command) {
    for (int i = 0; gi_command_at(i, command); i++)
        if (strcmp(command->name, name) == 0) return true;
    return false;
}

const char *gi_command_nearest(const char *name, bool topics) {
    enum { TOPICS_MOST = 16 };
    const char *words[GI_STAGE_COUNT + OWN_COUNT + TOPICS_MOST];
    gi_command command;
    size_t count = 0;
    for (int i = 0; gi_command_at(i, &command); i++) words[count++] = command.name;
    for (int i = 0; topics && i < TOPICS_MOST && gi_help_topics[i].name; i++) words[count++] = gi_help_topics[i].name;
    return gi_word_meant(name, strlen(name), words, count);
}
