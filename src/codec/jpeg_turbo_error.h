// How libjpeg-turbo's failures come back as a gi_status. For jpeg_turbo_*.c alone, which have <jpeglib.h> before it.
#ifndef GI_CODEC_JPEG_TURBO_ERROR_H
#define GI_CODEC_JPEG_TURBO_ERROR_H

#ifdef GPUIMG_HAVE_JPEG

#include "core/status.h"
#include <setjmp.h>

// The library keeps a pointer to `manager`, so this must not move.
typedef struct gi_turbo_errors {
    struct jpeg_error_mgr manager;
    const char *what; // goes before the library's words
    gi_status status; // of what is neither want of memory nor unsupported
    gi_error failure; // the last
    jmp_buf *handler; // of the call in work
} gi_turbo_errors;

// Fills in the manager, silent about warnings; an emit_message of the caller's may take their place.
void gi_turbo_errors_init(gi_turbo_errors *errors, const char *what, gi_status status);

// Runs step(context), the only place where the library is called. It must own nothing that a jump out of it would leak.
// What the library gives up for, or gi_turbo_give_up, becomes the status and *err.
gi_status gi_turbo_try(gi_turbo_errors *errors, void (*step)(void *context), void *context, gi_error *err);

// From within a callback of the library's: leaves gi_turbo_try with errors->failure.
_Noreturn void gi_turbo_give_up(gi_turbo_errors *errors);

#endif

#endif
