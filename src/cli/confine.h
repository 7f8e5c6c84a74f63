// The command line's way into the sandbox (--sandbox, GPUIMG_SANDBOX).
#ifndef GI_CLI_CONFINE_H
#define GI_CLI_CONFINE_H

#include "cli/options.h"
#include "core/message.h"
#include "run/device.h"
#include "run/inputs.h"

enum { GI_CONFINE_FILES = 4 };

// What a command is going to do.
typedef struct gi_confinement {
    const gi_options *options;
    gi_device_request device;
    const gi_item_list *list;            // whose outputs are written; NULL: none
    bool make;                           // the directories that are missing for them, and for `files`
    const char *files[GI_CONFINE_FILES]; // others that are written; NULL or "-": none
    char about[160];                     // filled: what holds now, for gi_confine_note
} gi_confinement;

// Enters the sandbox, before the first image is opened and the first thread is started. GI_ERR_USAGE for a bad
// variable, before that; GI_ERR_DEVICE when a sandbox is required that is not to be had.
gi_status gi_confine(gi_confinement *confinement, gi_error *err);

// Tells with -v what holds.
void gi_confine_note(const gi_confinement *confinement, const gi_messages *messages);

#endif
