#include "cli/confine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend_cuda.h"
#include "run/sandbox.h"
#include "run/sandbox_gpu.h"

typedef enum confine_mode { CONFINE_AUTO, CONFINE_OFF, CONFINE_REQUIRE } confine_mode;

// *source: who says so.
static gi_status mode_of(const gi_options *options, confine_mode *mode, const char **source, gi_error *err) {
    static const char *const words[] = {"auto", "off", "require"};
    const char *text = options->sandbox;
    *source = "option --sandbox";
    if (!text) {
        text = getenv("GPUIMG_SANDBOX");
        *source = "variable GPUIMG_SANDBOX";
    }
    *mode = CONFINE_AUTO;
    if (!text || !*text) return GI_OK;
    for (int i = 0; i < (int)(sizeof words / sizeof words[0]); i++) {
        if (strcmp(text, words[i]) != 0) continue;
        *mode = (confine_mode)i;
        return GI_OK;
    }
    return gi_fail(err, GI_ERR_USAGE, "%s must be auto, off or require, not '%.100s'", *source, text);
}

static gi_status refuse(gi_sandbox_means means, const char *source, gi_error *err) {
    return gi_fail(err, GI_ERR_DEVICE, "%s requires a sandbox, and %s: %s", source,
                   means.landlock || means.seccomp ? "only a part of it is to be had here" : "none is to be had here",
                   means.landlock  ? "no filter of system calls (seccomp)"
                   : means.seccomp ? "no Landlock (Linux 5.13 or newer, unless it is switched off)"
                                   : "neither Landlock (Linux 5.13 or newer, unless it is switched off) nor seccomp");
}

static bool is_whole(gi_sandbox_means means) { return means.landlock && means.seccomp; }

// GPUs asked for of which one, or with `all` each, cannot be used end the run before anything is made for it.
static bool is_hopeless(const gi_device_request *request) {
    gi_cuda_device device;
    char reason[256];
    if (request->kind != GI_DEVICE_CUDA) return false;
    const int count = request->all ? gi_cuda_device_count(reason, sizeof reason) : request->count;
    int usable = 0;
    for (int i = 0; i < count; i++)
        usable += gi_cuda_device_get(request->all ? i : request->indices[i], &device) && device.usable;
    return request->all ? usable == 0 : usable < count;
}

static gi_sandbox_means enter(const gi_confinement *c, gi_sandbox_means means, bool gpu) {
    gi_sandbox sandbox;
    gi_sandbox_begin(&sandbox, means, gpu);
    if (c->list) gi_sandbox_allow_outputs(&sandbox, c->list, c->make);
    for (int i = 0; i < GI_CONFINE_FILES; i++)
        if (c->files[i] && strcmp(c->files[i], "-") != 0) gi_sandbox_allow_output(&sandbox, c->files[i], c->make);
    return gi_sandbox_enter(&sandbox);
}

gi_status gi_confine(gi_confinement *c, gi_error *err) {
    confine_mode mode;
    const char *source;
    char text[80];
    gi_status status = mode_of(c->options, &mode, &source, err);
    if (status != GI_OK) return status;
    gi_sandbox_means means = gi_sandbox_of_kernel();
    if (mode == CONFINE_REQUIRE && !is_whole(means)) return refuse(means, source, err);
    if (mode == CONFINE_OFF || is_hopeless(&c->device)) {
        snprintf(c->about, sizeof c->about, "off");
        return GI_OK;
    }
    const bool gpu = c->device.kind != GI_DEVICE_CPU && gi_sandbox_finds_gpu();
    // What a driver needs is its maker's to know: only who asks for walls around one gets them.
    if (mode == CONFINE_AUTO && gpu) {
        snprintf(c->about, sizeof c->about, "off, as a GPU may be used (--sandbox require)");
        return GI_OK;
    }
    means = enter(c, means, gpu);
    if (mode == CONFINE_REQUIRE && !is_whole(means)) return refuse(means, source, err);
    snprintf(c->about, sizeof c->about, "%s%s", gi_sandbox_text(means, text, sizeof text),
             gpu && (means.landlock || means.seccomp) ? ", open to the GPU's driver" : "");
    return GI_OK;
}

void gi_confine_note(const gi_confinement *c, const gi_messages *messages) {
    gi_say(messages, GI_NOTE, NULL, "sandbox %s", c->about);
}
