// `gpuimg bench [NAME...]`: runs demonstrations and writes their tables down.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/demos.h"
#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/machine.h"
#include "cli/option_values.h"
#include "cli/records.h"
#include "cli/signals.h"
#include "core/text.h"
#include "cpu/backend_cpu.h"
#include "cuda/backend_cuda.h"
#include "gpuimg.h"
#include "run/device.h"
#include "run/output.h"
#include "run/path.h"

enum { MOST_DEMOS = 64, FILES = 3 };

typedef struct run {
    const gi_options *options;
    const char *paths[FILES]; // of JSON, CSV and plot; NULL: none
    gi_output *outputs[FILES];
    bool silent; // standard output is for a program
    gi_bench_about about;
    gi_bench_result results[MOST_DEMOS];
    size_t count;
} run;

// ---- what to do ---------------------------------------------------------------------------------------------------

static gi_status refuse_name(const char *name, gi_error *err) {
    const char *words[MOST_DEMOS] = {"all"}, *near;
    char quoted[GI_QUOTE_BYTES];
    size_t count = 1;
    for (int i = 0; gi_demo_at(i) && count < MOST_DEMOS; i++) words[count++] = gi_demo_at(i)->name;
    near = gi_word_meant(name, strlen(name), words, count);
    gi_quote(quoted, name, strlen(name));
    if (near) return gi_fail(err, GI_ERR_USAGE, "unknown demonstration '%s': did you mean '%s'?", quoted, near);
    return gi_fail(err, GI_ERR_USAGE, "unknown demonstration '%s': 'gpuimg bench' lists them", quoted);
}

static void add(run *r, const gi_demo *demo) {
    for (size_t i = 0; i < r->count; i++)
        if (r->results[i].demo == demo) return;
    if (r->count < MOST_DEMOS) r->results[r->count++].demo = demo;
}

static gi_status choose(run *r, gi_error *err) {
    for (size_t i = 0; i < r->options->operand_count; i++) {
        const char *name = r->options->operands[i];
        const gi_demo *demo = gi_demo_find(name);
        if (!demo && strcmp(name, "all") != 0) return refuse_name(name, err);
        if (demo) add(r, demo);
        for (int k = 0; !demo && gi_demo_at(k); k++) add(r, gi_demo_at(k));
    }
    return GI_OK;
}

static bool ends_in(const char *name, const char *extension) {
    const char *dot = strrchr(name, '.');
    return dot && gi_same_word(dot + 1, extension);
}

static gi_status check_outputs(run *r, gi_error *err) {
    const gi_options *options = r->options;
    const char *paths[FILES] = {options->json, options->csv, options->plot};
    if (options->plot && !ends_in(options->plot, "svg") && !ends_in(options->plot, "png"))
        return gi_fail(err, GI_ERR_USAGE, "option --plot must be the name of a file that ends in .svg or .png");
    for (int i = 0; i < FILES; i++) {
        if (paths[i] && strcmp(paths[i], "-") == 0) {
            if (r->silent) return gi_fail(err, GI_ERR_USAGE, "standard output cannot be both JSON and CSV");
            r->silent = true;
        }
        for (int k = 0; k < i; k++)
            if (paths[i] && paths[k] && gi_records_are_one(paths[i], paths[k]))
                return gi_fail(err, GI_ERR_USAGE, "%.200s and %.200s are one file",
                               gi_path_output(gi_path_of_argument(paths[k])),
                               gi_path_output(gi_path_of_argument(paths[i])));
        r->paths[i] = paths[i];
    }
    return GI_OK;
}

// ---- where --------------------------------------------------------------------------------------------------------

// Takes GPU `index`; fails with the reason.
static gi_status take_gpu(run *r, int index, gi_error *err) {
    gi_cuda_device device;
    char reason[256] = "";
    const int count = gi_cuda_device_count(reason, sizeof reason);
    if (count == 0) return gi_fail(err, GI_ERR_DEVICE, "%s", *reason ? reason : "there is none");
    if (!gi_cuda_device_get(index, &device))
        return gi_fail(err, GI_ERR_DEVICE, "there is no GPU %d: %d found", index, count);
    if (!device.usable) return gi_fail(err, GI_ERR_DEVICE, "%s", device.reason);
    gi_status status = gi_demo_use_device(index, err);
    if (status == GI_OK) {
        snprintf(r->about.gpu, sizeof r->about.gpu, "%s", device.name);
        gi_gpu_driver(r->about.driver, sizeof r->about.driver);
    }
    return status;
}

// The GPU that is named, else the first that can be used; 0 where none can, for the reason why.
static int index_of(const gi_device_request *request) {
    gi_cuda_device device;
    int index = 0;
    if (request->count > 0) return request->indices[0];
    while (gi_cuda_device_get(index, &device) && !device.usable) index++;
    return gi_cuda_device_get(index, &device) ? index : 0;
}

// The GPU that was asked for; under `auto` the first that can be used, or the reason why there is none.
static gi_status choose_device(run *r, gi_error *err) {
    gi_device_request request;
    gi_error cause = {0};
    const char *text = r->options->device ? r->options->device : getenv("GPUIMG_DEVICE");
    if (!text || !*text) text = "auto";
    if (gi_device_parse(text, &request, &cause))
        return gi_fail(err, GI_ERR_USAGE,
                       "variable GPUIMG_DEVICE must be auto, cpu, cuda, cuda:N or cuda:all, not '%.100s'", text);
    if (request.kind == GI_DEVICE_CPU) {
        snprintf(r->about.no_gpu, sizeof r->about.no_gpu, "the CPU alone was asked for");
        return GI_OK;
    }
    if (request.count > 1) return gi_fail(err, GI_ERR_USAGE, "one GPU is measured at a time, not %.100s", text);
    gi_status status = take_gpu(r, index_of(&request), &cause);
    if (status == GI_OK) return GI_OK;
    if (request.kind == GI_DEVICE_CUDA) return gi_fail(err, status, "device %s: %s", text, cause.text);
    snprintf(r->about.no_gpu, sizeof r->about.no_gpu, "%s", cause.text);
    return GI_OK;
}

static void look_about(run *r) {
    gi_bench_about *about = &r->about;
    struct tm day;
    const time_t now = time(NULL);
    if (!gi_cpuinfo("model name", about->cpu, sizeof about->cpu))
        snprintf(about->cpu, sizeof about->cpu, "unknown model");
    if (gmtime_r(&now, &day)) strftime(about->date, sizeof about->date, "%Y-%m-%dT%H:%M:%SZ", &day);
    about->version = gpuimg_version();
    about->threads = r->options->threads ? r->options->threads : gi_cpu_cores();
    about->quick = r->options->quick;
}

// ---- doing it -----------------------------------------------------------------------------------------------------

static gi_status print(gi_buffer *text, gi_error *err) {
    gi_status status = text->failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory") : GI_OK;
    if (status == GI_OK) fwrite(text->data, 1, text->size, stdout);
    fflush(stdout);
    gi_buffer_free(text);
    return status;
}

// Outputs that cannot be written are known before the work begins.
static gi_status open_outputs(run *r) {
    gi_error err = {0};
    for (int i = 0; i < FILES; i++) {
        const char *path = r->paths[i];
        if (!path) continue;
        gi_status status = gi_output_open_cancellable(gi_path_of_argument(path), &gi_interrupt, &r->outputs[i], &err);
        if (status == GI_OK) continue;
        gi_complain("%s: %s", gi_path_output(gi_path_of_argument(path)), err.text);
        return status;
    }
    return GI_OK;
}

static gi_status put_text(gi_buffer *text, const gi_sink *sink, gi_error *err) {
    gi_status status = text->failed ? gi_fail(err, GI_ERR_MEMORY, "out of memory")
                                    : sink->write(sink->context, text->data, text->size, err);
    gi_buffer_free(text);
    return status;
}

static gi_status write_output(const run *r, int i, gi_error *err) {
    const gi_sink sink = gi_output_sink(r->outputs[i]);
    gi_buffer text = {0};
    gi_status status;
    if (i == 0) {
        gi_bench_add_json(&text, &r->about, r->results, r->count);
        status = put_text(&text, &sink, err);
    } else if (i == 1) {
        gi_bench_add_csv(&text, r->results, r->count);
        status = put_text(&text, &sink, err);
    } else if (ends_in(r->paths[i], "svg")) {
        const gi_bench_sheet sheet = gi_bench_sheet_of(&r->about, r->results, r->count);
        status = gi_bench_write_svg(&sheet, &sink, err);
    } else {
        const gi_bench_sheet sheet = gi_bench_sheet_of(&r->about, r->results, r->count);
        status = gi_bench_write_png(&sheet, &sink, err);
    }
    return status == GI_OK ? gi_output_commit(r->outputs[i], false, err) : status;
}

static gi_status write_outputs(const run *r) {
    gi_status worst = GI_OK;
    for (int i = 0; i < FILES; i++) {
        gi_error err = {0};
        if (!r->outputs[i]) continue;
        gi_status status = write_output(r, i, &err);
        if (status == GI_OK) continue;
        const char *path = gi_path_of_argument(r->paths[i]);
        if (path || err.system != EPIPE) gi_complain("%s: %s", gi_path_output(path), err.text);
        worst = status;
    }
    return worst;
}

// Behind what there was no memory for: how much there is, and the option that asked for more.
static void tell_memory(const run *r, uint64_t free_bytes, gi_error *err) {
    char asked[64] = "", reason[sizeof err->text];
    if (r->options->given >> GI_GLOBAL_size & 1)
        snprintf(asked, sizeof asked, ", too little for --n %lld", (long long)r->options->size);
    snprintf(reason, sizeof reason, "%s", err->text);
    gi_fail(err, GI_ERR_MEMORY, "%.300s: %.1f GB of memory are free%s", reason, (double)free_bytes / 1e9, asked);
}

static gi_status run_demo(run *r, gi_bench_result *result) {
    const gi_bench_options options = {r->options->given >> GI_GLOBAL_size & 1 ? (long long)r->options->size : 0,
                                      r->options->quick, r->about.threads, *r->about.gpu ? NULL : r->about.no_gpu};
    gi_buffer text = {0};
    result->bench = gi_bench_open(&options);
    if (!result->bench) return result->status = gi_fail(&result->err, GI_ERR_MEMORY, "out of memory");
    const uint64_t free_bytes = gi_memory_free();
    if (free_bytes) gi_memory_limit(free_bytes);
    result->status = result->demo->run(result->bench, &result->err);
    if (result->status == GI_ERR_MEMORY && free_bytes) tell_memory(r, free_bytes, &result->err);
    if (result->status == GI_OK) result->status = gi_bench_finish(result->bench, &result->err);
    if (!r->silent) {
        gi_error err;
        gi_bench_add_tables(&text, result, r->about.no_gpu);
        if (print(&text, &err) && result->status == GI_OK)
            result->status = gi_fail(&result->err, err.status, "%s", err.text);
    }
    if (result->status) gi_complain("bench %s: %s", result->demo->name, result->err.text);
    return result->status;
}

// One that fails does not stop the others.
static gi_status run_demos(run *r) {
    gi_status worst = GI_OK;
    gi_error err = {0};
    gi_buffer head = {0};
    gi_bench_add_head(&head, &r->about);
    if (r->silent)
        gi_buffer_free(&head);
    else if (print(&head, &err))
        return GI_ERR_MEMORY;
    const size_t wanted = r->count;
    for (r->count = 0; r->count < wanted; r->count++) {
        if (gi_interrupt) return GI_ERR_CANCELLED;
        if (ferror(stdout)) return GI_ERR_IO; // said by main
        if (run_demo(r, &r->results[r->count])) worst = GI_ERR_FORMAT;
    }
    return worst;
}

static int list(void) {
    const gi_demo *demo;
    gi_buffer text = {0};
    gi_error err = {0};
    for (int i = 0; (demo = gi_demo_at(i)) != NULL; i++)
        gi_help_add_entry(&text, demo->name, demo->summary, GI_HELP_COLUMN);
    gi_buffer_puts(&text, "\n'gpuimg bench NAME...' runs them, 'gpuimg bench all' all of them.\n");
    if (print(&text, &err) == GI_OK) return 0;
    gi_complain("%s", err.text);
    return 1;
}

static void close_all(run *r) {
    for (int i = 0; i < FILES; i++) gi_output_close(r->outputs[i]);
    for (size_t i = 0; i < MOST_DEMOS; i++) gi_bench_close(r->results[i].bench);
    free(r);
}

int gi_bench_command(const gi_command *command, const gi_options *options) {
    gi_error err = {0};
    run *r = calloc(1, sizeof *r);
    gi_status status = r ? GI_OK : gi_fail(&err, GI_ERR_MEMORY, "out of memory");
    if (status == GI_OK) {
        r->options = options;
        status = choose(r, &err);
    }
    if (status == GI_OK) status = check_outputs(r, &err);
    if (status == GI_OK && (options->list || r->count == 0)) {
        close_all(r);
        return list();
    }
    if (status == GI_OK) status = choose_device(r, &err);
    if (status) {
        gi_complain_error(&err, NULL);
        if (status == GI_ERR_USAGE) gi_suggest_help(command->name);
    } else {
        look_about(r);
        status = open_outputs(r);
        if (status == GI_OK) status = run_demos(r);
        if (status != GI_ERR_CANCELLED) {
            gi_status written = write_outputs(r);
            if (status == GI_OK) status = written;
        }
    }
    if (r) close_all(r);
    return gi_exit_status(status);
}
