// The libraries behind the interface. Their headers are seen by their own codecs alone, so the versions come from
// CMake.
#include "codec/codec.h"

#ifndef GPUIMG_ISAL_VERSION
#define GPUIMG_ISAL_VERSION NULL
#endif
#ifndef GPUIMG_ZLIB_VERSION
#define GPUIMG_ZLIB_VERSION NULL
#endif
#ifndef GPUIMG_JPEG_VERSION
#define GPUIMG_JPEG_VERSION NULL
#endif

static const gi_codec_library libraries[] = {
    {"ISA-L", GPUIMG_ISAL_VERSION, "PNG: inflate, checksums", "PNG is slower to read", "libisal-dev"},
    {"zlib", GPUIMG_ZLIB_VERSION, "PNG: inflate without ISA-L; deflate beside gpuimg's own",
     "some PNGs are larger, PNG is slower to read where ISA-L is missing too, and there is no --codec zlib",
     "zlib1g-dev"},
    {"libjpeg-turbo", GPUIMG_JPEG_VERSION, "JPEG",
     "JPEG is slower, and there is no --subsampling, --optimize or --progressive", "libjpeg-dev"},
    {"stb_image", GPUIMG_STB_VERSION, "PNG and JPEG decoding; JPEG segments and PNG checksums checked by gpuimg", "",
     "libstb-dev"},
    {"stb_image_write", GPUIMG_STB_WRITE_VERSION, "PNG compression, JPEG encoding", "", "libstb-dev"}};

const gi_codec_library *gi_codec_library_at(int index) {
    return index >= 0 && index < (int)(sizeof libraries / sizeof libraries[0]) ? &libraries[index] : NULL;
}
