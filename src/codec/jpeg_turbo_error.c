#include "codec/jpeg_turbo.h"

#ifdef GPUIMG_HAVE_JPEG

#include <stdio.h>

#include <jpeglib.h>

#include <jerror.h>

#include "codec/jpeg_turbo_error.h"

void gi_turbo_give_up(gi_turbo_errors *errors) { longjmp(*errors->handler, 1); }

static gi_status status_of(const gi_turbo_errors *errors, int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY: return GI_ERR_MEMORY;
#if JPEG_LIB_VERSION < 70
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED: return GI_ERR_UNSUPPORTED;
    default: return errors->status;
    }
}

static void error_exit(j_common_ptr library) {
    gi_turbo_errors *errors = (gi_turbo_errors *)library->err;
    char text[JMSG_LENGTH_MAX];
    library->err->format_message(library, text);
    gi_fail(&errors->failure, status_of(errors, library->err->msg_code), "%s: %s", errors->what, text);
    gi_turbo_give_up(errors);
}

static void ignore_message(j_common_ptr library, int level) { (void)library, (void)level; }

static void ignore_output(j_common_ptr library) { (void)library; }

void gi_turbo_errors_init(gi_turbo_errors *errors, const char *what, gi_status status) {
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = error_exit;
    errors->manager.emit_message = ignore_message;
    errors->manager.output_message = ignore_output;
    errors->what = what;
    errors->status = status;
}

gi_status gi_turbo_try(gi_turbo_errors *errors, void (*step)(void *context), void *context, gi_error *err) {
    jmp_buf handler; // nothing below changes a variable of this frame, so none is lost by the jump
    errors->handler = &handler;
    if (setjmp(handler)) {
        if (err) *err = errors->failure;
        return errors->failure.status;
    }
    step(context);
    return GI_OK;
}

#endif
