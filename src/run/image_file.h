// Image files opened for decoding; whole images between files and memory, without a pipeline.
#ifndef GI_RUN_IMAGE_FILE_H
#define GI_RUN_IMAGE_FILE_H

#include "run/batch.h"
#include "run/read.h"

// Opens an image file and a decoder for it, `path` NULL: standard input. On success both are the caller's, *decoder to
// be closed before *file is freed; on failure there is neither.
gi_status gi_image_open(const char *path, const gi_read_options *reading, const gi_decode_options *decoding,
                        gi_file_data *file, gi_decoder **decoder, gi_error *err);

// What is known of an image that gi_image_open does not open, for damage behind its header or for its kind: what that
// tells, and the file's size.
gi_status gi_image_of_refused(const char *path, const gi_read_options *reading, gi_header *header, uint64_t *bytes,
                              gi_error *err);

// Decodes a file into memory that it takes: *image owns its data (free), packed. Of the options count decode, threads,
// messages and cancel.
gi_status gi_image_load(const char *path, const gi_batch_options *options, gi_view *image, gi_error *err);

// Likewise of a file, named `path`, of which some bytes were read already. NULL: of none.
gi_status gi_image_load_begun(const char *path, const gi_begun *begun, const gi_batch_options *options, gi_view *image,
                              gi_error *err);

// Encodes the image, of any pitch and alignment, and writes it, complete or not at all. Of the options count encode,
// threads, skip_existing, no_clobber, messages and cancel. GI_ERR_USAGE where nothing tells the format.
gi_status gi_image_save(const char *path, const gi_batch_options *options, const gi_view *image, gi_error *err);

#endif
