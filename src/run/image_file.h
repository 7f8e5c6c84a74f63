// Whole images between files and memory, without a pipeline.
#ifndef GI_RUN_IMAGE_FILE_H
#define GI_RUN_IMAGE_FILE_H

#include "run/batch.h"

// Decodes a file into memory that it takes: *image owns its data (free), packed. Of the options count decode, threads,
// messages and cancel.
gi_status gi_image_load(const char *path, const gi_batch_options *options, gi_view *image, gi_error *err);

// Encodes the image, of any pitch and alignment, and writes it, complete or not at all. Of the options count encode,
// threads, skip_existing, no_clobber, messages and cancel. GI_ERR_USAGE where nothing tells the format.
gi_status gi_image_save(const char *path, const gi_batch_options *options, const gi_view *image, gi_error *err);

#endif
