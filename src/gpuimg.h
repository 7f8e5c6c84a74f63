/* gpuimg: image pipelines on an NVIDIA GPU or on all CPU cores, with the same bytes out on either.
 *
 * The public C API, and the only installed header. It is C89 and C++.
 *
 *     gpuimg_context *context = NULL;
 *     gpuimg_pipeline *pipeline = NULL;
 *     gpuimg_error error;
 *     if (gpuimg_context_open("auto", 0, &context, &error) ||
 *         gpuimg_pipeline_parse("gray | threshold otsu", &pipeline, &error))
 *         fprintf(stderr, "%s\n", error.text);
 *     else if (gpuimg_run_file(context, pipeline, "in.png", "out.png", NULL, &error))
 *         fprintf(stderr, "in.png: %s\n", error.text);
 *     gpuimg_pipeline_free(pipeline);
 *     gpuimg_context_close(context);
 *
 * Errors.   Whatever can fail returns a gpuimg_status, which is zero (GPUIMG_OK) on success, and tells the reason in a
 *           gpuimg_error of the caller's, which may be NULL. A function that fails has set what it was to make to NULL,
 *           or to zeros. Nothing is printed, and the process is neither ended nor put into a sandbox (SECURITY.md).
 * Threads.  Every function may be called from any thread. One context, one pipeline and one histogram may be used by
 *           any number of threads at once; runs on one context then go on side by side. Only what closes or frees an
 *           object must come after every other use of it. Two calls at once must not share a gpuimg_error or an output.
 * Text.     UTF-8, or the literal bytes of file names, which go to the system as they are.
 * Growth.   gpuimg_options and gpuimg_statistics begin with their size, so that they can grow without a change for
 *           programs built before; the other structs stay as they are. Names may be added to enumerations. */
#ifndef GPUIMG_H
#define GPUIMG_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPUIMG_API __attribute__((visibility("default")))
#else
#define GPUIMG_API
#endif

/* ---- errors and versions --------------------------------------------------------------------------------------- */

typedef enum gpuimg_status {
    GPUIMG_OK = 0,
    GPUIMG_ERR_USAGE,         /* the request makes no sense: unknown stage, value out of range, NULL, wrong shape */
    GPUIMG_ERR_IO,            /* the system refused to read, write, create or rename */
    GPUIMG_ERR_FORMAT,        /* the file is no valid PNG or JPEG, or is damaged */
    GPUIMG_ERR_UNSUPPORTED,   /* a valid file of a kind this build cannot read or write */
    GPUIMG_ERR_LIMIT,         /* larger than a limit */
    GPUIMG_ERR_EXISTS,        /* the output exists and must not be replaced */
    GPUIMG_ERR_MEMORY,        /* host memory exhausted */
    GPUIMG_ERR_DEVICE,        /* the device asked for is not usable, or failed */
    GPUIMG_ERR_DEVICE_MEMORY, /* device memory exhausted */
    GPUIMG_ERR_CANCELLED      /* gpuimg_options.cancel was set */
} gpuimg_status;

/* Why a function failed; after success GPUIMG_OK and an empty text.
 * Of an input file the text tells what is wrong, not its name. */
typedef struct gpuimg_error {
    gpuimg_status status;
    int place_offset; /* of gpuimg_pipeline_parse: the byte of the text where a caret belongs; -1: no place */
    int place_length; /* bytes to underline from there; 0 without a place */
    char text[500];   /* one line, no newline; long ones are cut */
} gpuimg_error;

/* "MAJOR.MINOR.PATCH" of the library that runs. Valid for ever. */
GPUIMG_API const char *gpuimg_version(void);

/* The name of a status in lower case words ("device memory"); "unknown" for others. Valid for ever. */
GPUIMG_API const char *gpuimg_status_name(gpuimg_status status);

/* ---- contexts -------------------------------------------------------------------------------------------------- */

/* A device, and the memory of earlier runs that later ones use again. Opening one costs next to nothing on the CPU and
 * some tenths of a second on a GPU: keep it. */
typedef struct gpuimg_context gpuimg_context;

/* Opens a context. `device`: "cpu"; "cuda" or "cuda:N", an NVIDIA GPU by the driver's number (GPUIMG_ERR_DEVICE where
 * it is not usable); "cuda:N,M,..." or "cuda:all", several over which runs are spread; "auto" or NULL: for each run the
 * one that is done first, so that a GPU is started only once there is work that is worth it, and the CPU where there is
 * none. `threads`: CPU threads that one call may use; 0: one for each core of this process. */
GPUIMG_API gpuimg_status gpuimg_context_open(const char *device, int threads, gpuimg_context **context,
                                             gpuimg_error *error);

/* Frees the context and its memory. No run may be in progress on it, and none may follow. NULL is fine. */
GPUIMG_API void gpuimg_context_close(gpuimg_context *context);

/* "auto", "cpu", or the GPU as "cuda:0", several as "cuda:0,1". Valid until the context is closed. */
GPUIMG_API const char *gpuimg_context_device(const gpuimg_context *context);

/* ---- pipelines ------------------------------------------------------------------------------------------------- */

/* Stages in order. It belongs to no context, and serves any number of runs. */
typedef struct gpuimg_pipeline gpuimg_pipeline;

/* Parses a pipeline as the command line has it: "gray 709 | threshold level=96". GPUIMG_ERR_USAGE with the place in
 * `error` for an unknown stage or option, a value out of range, an empty stage. `hist` may stand last; such a pipeline
 * is for histograms alone. Free it with gpuimg_pipeline_free. */
GPUIMG_API gpuimg_status gpuimg_pipeline_parse(const char *text, gpuimg_pipeline **pipeline, gpuimg_error *error);

/* NULL is fine. */
GPUIMG_API void gpuimg_pipeline_free(gpuimg_pipeline *pipeline);

/* The pipeline in canonical text, with its options spelt out, which parses to the same. Valid until it is freed. */
GPUIMG_API const char *gpuimg_pipeline_text(const gpuimg_pipeline *pipeline);

/* ---- images in memory ------------------------------------------------------------------------------------------ */

typedef enum gpuimg_sample {
    GPUIMG_U8 = 0, /* unsigned char, 0..255 */
    GPUIMG_U16 = 1 /* 16 bits unsigned in the machine's byte order, 0..65535 */
} gpuimg_sample;

/* A rectangle of pixels somewhere in memory. Row y begins at (char *)data + y * pitch_bytes and holds `width` pixels of
 * `channels` interleaved samples: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA. Alpha is not premultiplied. Any alignment of
 * data and pitch will do; multiples of the sample's size save a copy. Fill one with zeros first. */
typedef struct gpuimg_image {
    void *data;
    size_t pitch_bytes; /* at least width * channels * bytes of a sample; 0: just that, no gap between the rows */
    int width;          /* pixels, at least 1 */
    int height;         /* rows, at least 1 */
    int channels;       /* 1..4 */
    gpuimg_sample sample;
} gpuimg_image;

/* *output = the shape of the pipeline's result for an image like `input`, whose data is not looked at: width, height,
 * channels, sample, and the pitch without gaps; its data is NULL. GPUIMG_ERR_USAGE: a value of the pipeline is not for
 * that sample, or it ends in hist. */
GPUIMG_API gpuimg_status gpuimg_pipeline_output(const gpuimg_pipeline *pipeline, const gpuimg_image *input,
                                                gpuimg_image *output, gpuimg_error *error);

/* Runs the pipeline on `input` and writes its result to the memory of `output`, whose shape must be that of
 * gpuimg_pipeline_output (any pitch). Bytes between the rows stay untouched. Both are the caller's, and must stay until
 * it returns. `output` may be `input`, or overlap it otherwise: then the input is copied first. After a failure the
 * output's pixels are undefined. */
GPUIMG_API gpuimg_status gpuimg_run_image(gpuimg_context *context, const gpuimg_pipeline *pipeline,
                                          const gpuimg_image *input, const gpuimg_image *output, gpuimg_error *error);

/* Takes memory for the pixels of an image whose other members are set; fills data, and pitch_bytes where that is 0.
 * The pixels are undefined. Free them with gpuimg_image_free. */
GPUIMG_API gpuimg_status gpuimg_image_allocate(gpuimg_image *image, gpuimg_error *error);

/* Frees the pixels of gpuimg_image_allocate or gpuimg_load and sets image->data to NULL. NULL is fine. */
GPUIMG_API void gpuimg_image_free(gpuimg_image *image);

/* ---- files ----------------------------------------------------------------------------------------------------- */

typedef enum gpuimg_format { GPUIMG_FORMAT_AUTO = 0, GPUIMG_PNG, GPUIMG_JPEG } gpuimg_format;

typedef enum gpuimg_severity {
    GPUIMG_NOTE,    /* such as the level that `threshold otsu` found, or that alpha was composited */
    GPUIMG_WARNING, /* such as damage that still decodes */
    GPUIMG_FAILURE  /* a file of a batch failed, for that reason */
} gpuimg_severity;

/* Libraries that read and write; whatever one of them lacks, stb does. */
typedef enum gpuimg_codec {
    GPUIMG_CODEC_AUTO = 0, /* the fastest that were built in */
    GPUIMG_CODEC_ZLIB,     /* zlib in the place of ISA-L */
    GPUIMG_CODEC_STB,      /* stb alone: slower, and shares no code with the others */
    /* As AUTO, but files of a pipeline that runs on a GPU are decoded and encoded there by NVIDIA's nvJPEG, where that
     * can. Its pixels differ by a few levels from what all other codecs decode. */
    GPUIMG_CODEC_AUTO_FAST, /* where it is installed, and worth it */
    GPUIMG_CODEC_NVJPEG     /* wherever it can; GPUIMG_ERR_DEVICE without a GPU or nvJPEG */
} gpuimg_codec;

/* Chroma samples of a colour JPEG beside those of luma. */
typedef enum gpuimg_subsampling {
    GPUIMG_SUBSAMPLING_420 = 0, /* half as many across and down */
    GPUIMG_SUBSAMPLING_422,     /* half as many across */
    GPUIMG_SUBSAMPLING_444      /* as many */
} gpuimg_subsampling;

/* When a PNG gets fewer bits a pixel: black and white in one, or a palette of at most 256 colours. */
typedef enum gpuimg_png_reduce {
    GPUIMG_PNG_REDUCE_AUTO = 0, /* where the pipeline is known to give such pixels */
    GPUIMG_PNG_REDUCE_ON,       /* wherever they turn out so */
    GPUIMG_PNG_REDUCE_OFF
} gpuimg_png_reduce;

/* How files are read and written. Always begin with gpuimg_options_init. */
typedef struct gpuimg_options {
    size_t size;                 /* set by gpuimg_options_init */
    uint64_t max_pixels;         /* refuse larger images before memory is taken: 10^9; 0: no limit */
    int strict;                  /* damage that still decodes is a failure, not a warning: 0 */
    int auto_orient;             /* turn the pixels by the EXIF orientation: 1 */
    int jpeg_luma;               /* a pipeline that begins with gray 601 takes a JPEG's own luma plane: 1 */
    gpuimg_format format;        /* of outputs; AUTO: by extension (.png .jpg .jpeg), else as the input */
    int quality;                 /* of JPEG, 1..100: 90 */
    int png_level;               /* 0 (fast) .. 9 (small): 2 */
    unsigned char background[3]; /* what transparent pixels lie on in a JPEG, RGB: white */
    int skip_existing;           /* leave outputs that exist as they are, without a failure: 0 */
    int no_clobber;              /* fail with GPUIMG_ERR_EXISTS rather than replace an output: 0 */
    int fail_fast;               /* of a batch: start no other file after a failure: 0 */
    int workers;                 /* of a batch: files in work at once; 0: as many as threads of the context */
    int streams;                 /* ... and of these on a GPU at once; 0: all */
    /* What there is to say about a file. `file` is the name as given, `text` one line; both are valid during the call.
     * Calls come one at a time, from any thread. NULL: nothing is said. */
    void (*on_message)(void *user, gpuimg_severity severity, const char *file, const char *text);
    /* Of a batch: file `index` is done or skipped (GPUIMG_OK), or failed. Likewise. */
    void (*on_done)(void *user, size_t index, gpuimg_status status);
    void *user; /* given to both */
    /* Set to non-zero, by a signal handler say, it stops the run with GPUIMG_ERR_CANCELLED; what is half done leaves no
     * output. May be NULL. */
    volatile sig_atomic_t *cancel;
    gpuimg_codec codec; /* AUTO; GPUIMG_ERR_UNSUPPORTED for one that was not built in */
    /* Other values of these three than the defaults want libjpeg-turbo: where it was not built in, or with stb, a JPEG
     * is not written, GPUIMG_ERR_UNSUPPORTED. */
    gpuimg_subsampling subsampling; /* of a colour JPEG: 420; stb has its own, by the quality */
    int optimize;                   /* Huffman codes made for each JPEG: 0 */
    int progressive;                /* progressive JPEGs, which implies optimize: 0 */
    gpuimg_png_reduce png_reduce;   /* AUTO */
    int slots;                      /* of a batch: files whose pixels are held at once; 0: as many as workers */
    /* Bits of a sample that files are brought to when they are read, 8 or 16; 0: 16 where the file has as many, else 8.
     * JPEGs are written with 8. */
    int depth;
    /* Of gpuimg_run_file and gpuimg_run_files: write no metadata. Otherwise ICC profiles, what else tells of colour,
     * the resolution, EXIF and XMP go with the result as far as they suit it: 0 */
    int strip;
} gpuimg_options;

/* Sets every member to the default given above. `size` is sizeof(gpuimg_options). */
GPUIMG_API void gpuimg_options_init(gpuimg_options *options, size_t size);

/* Runs the pipeline on one PNG or JPEG file and writes the result to another, which may be the same. The input's format
 * is known by its content. The output is complete or absent: an old file is replaced in the end, in one step, and kept
 * on any failure. `options` may be NULL: the defaults. GPUIMG_ERR_USAGE for a pipeline that ends in hist. */
GPUIMG_API gpuimg_status gpuimg_run_file(gpuimg_context *context, const gpuimg_pipeline *pipeline, const char *input,
                                         const char *output, const gpuimg_options *options, gpuimg_error *error);

/* One file of a batch. */
typedef struct gpuimg_file {
    const char *input;
    const char *output;
} gpuimg_file;

/* What became of the files of a batch; the sum is their number. */
typedef struct gpuimg_batch_result {
    size_t done;
    size_t skipped; /* their outputs exist (skip_existing) */
    size_t failed;
    size_t not_started; /* or dropped, after a cancel, with fail_fast or once the disk is full */
} gpuimg_batch_result;

/* Runs the pipeline on `count` files, several at once. One bad file never stops the others, unless options->fail_fast,
 * but a full disk does: it is told to options->on_message and counted. Directories for outputs must exist. Before any
 * work GPUIMG_ERR_USAGE when two outputs are the same file, or one is another's input. GPUIMG_OK when every file is
 * done or skipped; otherwise the status of one that failed, with its name and reason in `error`. `options` and `result`
 * may be NULL. */
GPUIMG_API gpuimg_status gpuimg_run_files(gpuimg_context *context, const gpuimg_pipeline *pipeline,
                                          const gpuimg_file *files, size_t count, const gpuimg_options *options,
                                          gpuimg_batch_result *result, gpuimg_error *error);

/* Decodes a PNG or JPEG file into memory that is taken for it: *image needs no content before, and is to be freed with
 * gpuimg_image_free. The members of `options` about reading count; NULL: the defaults. */
GPUIMG_API gpuimg_status gpuimg_load(const char *path, gpuimg_image *image, const gpuimg_options *options,
                                     gpuimg_error *error);

/* Writes the image to a PNG or JPEG file, complete or not at all. The members of `options` about writing count; NULL:
 * the defaults. GPUIMG_ERR_USAGE where neither format nor extension tells the format. */
GPUIMG_API gpuimg_status gpuimg_save(const char *path, const gpuimg_image *image, const gpuimg_options *options,
                                     gpuimg_error *error);

/* ---- histograms ------------------------------------------------------------------------------------------------ */

/* Exact counts of each channel's samples. It belongs to no context. */
typedef struct gpuimg_histogram gpuimg_histogram;

/* The histogram of the pipeline's result for an image in memory, or of the image itself where `pipeline` is NULL. The
 * pipeline may end in hist, whose option `bins` then counts. Free it with gpuimg_histogram_free. */
GPUIMG_API gpuimg_status gpuimg_histogram_of_image(gpuimg_context *context, const gpuimg_pipeline *pipeline,
                                                   const gpuimg_image *input, gpuimg_histogram **histogram,
                                                   gpuimg_error *error);

/* Likewise of a PNG or JPEG file. The members of `options` about reading count; NULL: the defaults. */
GPUIMG_API gpuimg_status gpuimg_histogram_of_file(gpuimg_context *context, const gpuimg_pipeline *pipeline,
                                                  const char *input, const gpuimg_options *options,
                                                  gpuimg_histogram **histogram, gpuimg_error *error);

/* NULL is fine. */
GPUIMG_API void gpuimg_histogram_free(gpuimg_histogram *histogram);

/* Channels, 1..4, and bins of each: 256 or 65536, one for each level, unless the pipeline asked for fewer. */
GPUIMG_API int gpuimg_histogram_channels(const gpuimg_histogram *histogram);
GPUIMG_API size_t gpuimg_histogram_bins(const gpuimg_histogram *histogram);

/* "gray", "red", "green", "blue" or "alpha"; NULL for a channel that is not there. Valid for ever. */
GPUIMG_API const char *gpuimg_histogram_name(const gpuimg_histogram *histogram, int channel);

/* The channel's gpuimg_histogram_bins counts, whose sum is the number of pixels; level v of L is counted in bin
 * v * bins / L. NULL for a channel that is not there. Valid until the histogram is freed. */
GPUIMG_API const uint64_t *gpuimg_histogram_counts(const gpuimg_histogram *histogram, int channel);

/* What follows from the exact counts of one channel, whatever the bins. Levels, where nothing else is said. */
typedef struct gpuimg_statistics {
    size_t size; /* set by the caller: sizeof(gpuimg_statistics) */
    uint64_t pixels;
    uint32_t min, max, median;
    uint32_t percentiles[6]; /* 1, 5, 25, 75, 95, 99: the smallest level that so many per cent do not exceed */
    uint32_t otsu;           /* Otsu's level: v > otsu is the bright class */
    double mean;
    double std;                  /* the population's */
    double entropy;              /* bits */
    uint64_t clipped_shadows;    /* pixels at 0 */
    uint64_t clipped_highlights; /* pixels at the maximum, 255 or 65535 */
} gpuimg_statistics;

/* Fills *statistics as far as its size goes. GPUIMG_ERR_USAGE for a channel that is not there, or a size of zero. */
GPUIMG_API gpuimg_status gpuimg_histogram_statistics(const gpuimg_histogram *histogram, int channel,
                                                     gpuimg_statistics *statistics, gpuimg_error *error);

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

/* Matrix products, reductions and scans of arrays in memory, on the context's device. Arrays are the caller's, packed
 * but for the rows of matrices, and stay until the function returns; their elements may have any alignment that their
 * type has. They may hold more than 2^31 elements. `algorithm` is a word as the command line's --algo has it ("auto",
 * "fast"); NULL means "auto". GPUIMG_ERR_USAGE for one that is unknown, or not for the device that was asked for;
 * GPUIMG_ERR_DEVICE where "auto" finds no GPU for one that only GPUs have. */

/* A matrix of floats in rows: element (i, j) is data[i * stride + j]. */
typedef struct gpuimg_matrix {
    float *data; /* may be NULL where there are no elements */
    size_t rows;
    size_t columns;
    size_t stride; /* elements from row to row, at least `columns`; 0: just that, no gap */
} gpuimg_matrix;

/* c = a b: a is M x K, b is K x N, c is M x N and shares no memory with them; any of M, K and N may be 0, and K = 0
 * makes zeros. What lies between the rows of c stays untouched. NaN and infinities propagate. With exact arithmetic
 * beside it, every element is within (K + 2) 2^-24 of the sum of its products' magnitudes, but by algorithms named
 * tf32, which round the factors to 11 bits first. On the CPU the number of threads does not change the bits.
 * GPUIMG_ERR_USAGE for shapes that do not match. After a failure the elements of c are undefined. */
GPUIMG_API gpuimg_status gpuimg_matmul(gpuimg_context *context, const gpuimg_matrix *a, const gpuimg_matrix *b,
                                       const gpuimg_matrix *c, const char *algorithm, gpuimg_error *error);

typedef enum gpuimg_operation {
    GPUIMG_SUM = 0,
    GPUIMG_PROD,
    GPUIMG_MIN,
    GPUIMG_MAX,
    GPUIMG_MEAN /* of reductions alone */
} gpuimg_operation;

/* *result = the reduction of `count` values; `values` may be NULL where there are none.
 * Floats: sums and products are made in double by one fixed tree, whose bits are the same on every device, with any
 * number of threads, in every run; the error of a sum is at most ceil(log2(count)) 2^-53 times the sum of magnitudes. A
 * NaN among the values makes any result NaN, the canonical one. -0 is less than 0.
 * Integers: exact; GPUIMG_ERR_LIMIT for a sum or product that does not fit 64 bits. The mean is a double, from the
 * exact sum: gpuimg_mean_... Of nothing: sum 0, product 1; GPUIMG_ERR_USAGE for min, max and mean. */
GPUIMG_API gpuimg_status gpuimg_reduce_f32(gpuimg_context *context, gpuimg_operation operation, const float *values,
                                           size_t count, const char *algorithm, double *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_f64(gpuimg_context *context, gpuimg_operation operation, const double *values,
                                           size_t count, const char *algorithm, double *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_i32(gpuimg_context *context, gpuimg_operation operation, const int32_t *values,
                                           size_t count, const char *algorithm, int64_t *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_i64(gpuimg_context *context, gpuimg_operation operation, const int64_t *values,
                                           size_t count, const char *algorithm, int64_t *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_u8(gpuimg_context *context, gpuimg_operation operation, const uint8_t *values,
                                          size_t count, const char *algorithm, int64_t *result, gpuimg_error *error);

/* The mean of integers, for which gpuimg_reduce_... has no room: GPUIMG_MEAN there is GPUIMG_ERR_USAGE. */
GPUIMG_API gpuimg_status gpuimg_mean_i32(gpuimg_context *context, const int32_t *values, size_t count,
                                         const char *algorithm, double *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_mean_i64(gpuimg_context *context, const int64_t *values, size_t count,
                                         const char *algorithm, double *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_mean_u8(gpuimg_context *context, const uint8_t *values, size_t count,
                                        const char *algorithm, double *result, gpuimg_error *error);

/* results[i] = the reduction of values[0] .. values[i] by a sum, product, minimum or maximum; with `exclusive` of what
 * stands before i, which for i = 0 is 0, 1, the largest or the smallest value (infinities of floats).
 * Floats: sums and products in double, grouped in one fixed way, whose bits are the same everywhere, and rounded once
 * to the element; a NaN carries on, as the canonical one. Integers: exact, as int64_t; GPUIMG_ERR_LIMIT names the first
 * index whose result does not fit. `results` may be `values` where the types are the same and the scan is not
 * exclusive; else they share no memory. After a failure the results are undefined. */
GPUIMG_API gpuimg_status gpuimg_scan_f32(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                         const float *values, float *results, size_t count, const char *algorithm,
                                         gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_f64(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                         const double *values, double *results, size_t count, const char *algorithm,
                                         gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_i32(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                         const int32_t *values, int64_t *results, size_t count, const char *algorithm,
                                         gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_i64(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                         const int64_t *values, int64_t *results, size_t count, const char *algorithm,
                                         gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_u8(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                        const uint8_t *values, int64_t *results, size_t count, const char *algorithm,
                                        gpuimg_error *error);

/* ---- arrays on a GPU ------------------------------------------------------------------------------------------- */

/* The same on arrays that lie in the memory of the context's GPU (cudaMalloc; managed or page-locked memory will do):
 * the functions above with _device behind their names, and `stream`, a cudaStream_t of that GPU; NULL is its default
 * stream. Work is enqueued there, behind what the stream has already, and nothing is copied but a reduction's result.
 * Returns:  products, and scans of floats, minima and maxima, at once: their results are there once the stream has come
 *           to them, and till then the arrays must stay. Reductions, and sums and products of integers by scans, once
 *           the stream is done with them, with the result in host memory, or whether all results fit.
 * Memory:   arrays are the caller's, aligned to their elements; matrices aligned to 16 bytes, with columns and strides
 *           that are multiples of 4, are read faster. Scratch, up to 32 MiB for a product and about a hundredth of the
 * array for the others, is the context's, made at the first need and used again; closing the context waits for it.
 * Threads:  any number, on one stream or on several. The calling thread's current device stays what it was.
 * Errors:   those of the functions above; GPUIMG_ERR_DEVICE where the context is for the CPU, or the library was built
 *           without CUDA; with "auto" the GPU is started here, and GPUIMG_ERR_DEVICE tells why there is none.
 *           GPUIMG_ERR_USAGE for arrays in other memory, or on another GPU; GPUIMG_ERR_UNSUPPORTED for matrices of 2^31
 *           or more rows or columns; GPUIMG_ERR_DEVICE for an algorithm that this GPU, or these matrices, are not for,
 *           and where cuBLAS is asked for and its library is not found. Never is work done on the CPU instead. */
GPUIMG_API gpuimg_status gpuimg_matmul_device(gpuimg_context *context, const gpuimg_matrix *a, const gpuimg_matrix *b,
                                              const gpuimg_matrix *c, const char *algorithm, void *stream,
                                              gpuimg_error *error);

/* *result is in host memory. */
GPUIMG_API gpuimg_status gpuimg_reduce_f32_device(gpuimg_context *context, gpuimg_operation operation,
                                                  const float *values, size_t count, const char *algorithm,
                                                  void *stream, double *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_f64_device(gpuimg_context *context, gpuimg_operation operation,
                                                  const double *values, size_t count, const char *algorithm,
                                                  void *stream, double *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_i32_device(gpuimg_context *context, gpuimg_operation operation,
                                                  const int32_t *values, size_t count, const char *algorithm,
                                                  void *stream, int64_t *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_i64_device(gpuimg_context *context, gpuimg_operation operation,
                                                  const int64_t *values, size_t count, const char *algorithm,
                                                  void *stream, int64_t *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_reduce_u8_device(gpuimg_context *context, gpuimg_operation operation,
                                                 const uint8_t *values, size_t count, const char *algorithm,
                                                 void *stream, int64_t *result, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_mean_i32_device(gpuimg_context *context, const int32_t *values, size_t count,
                                                const char *algorithm, void *stream, double *result,
                                                gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_mean_i64_device(gpuimg_context *context, const int64_t *values, size_t count,
                                                const char *algorithm, void *stream, double *result,
                                                gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_mean_u8_device(gpuimg_context *context, const uint8_t *values, size_t count,
                                               const char *algorithm, void *stream, double *result,
                                               gpuimg_error *error);

GPUIMG_API gpuimg_status gpuimg_scan_f32_device(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                                const float *values, float *results, size_t count,
                                                const char *algorithm, void *stream, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_f64_device(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                                const double *values, double *results, size_t count,
                                                const char *algorithm, void *stream, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_i32_device(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                                const int32_t *values, int64_t *results, size_t count,
                                                const char *algorithm, void *stream, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_i64_device(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                                const int64_t *values, int64_t *results, size_t count,
                                                const char *algorithm, void *stream, gpuimg_error *error);
GPUIMG_API gpuimg_status gpuimg_scan_u8_device(gpuimg_context *context, gpuimg_operation operation, int exclusive,
                                               const uint8_t *values, int64_t *results, size_t count,
                                               const char *algorithm, void *stream, gpuimg_error *error);

#ifdef __cplusplus
}
#endif
#endif
