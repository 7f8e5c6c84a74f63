// Whether the libraries of this build can do what the options ask.
#include "codec/codec.h"

gi_status gi_codec_check(gi_codec_choice codec, gi_error *err) {
#ifndef GPUIMG_HAVE_ZLIB
    if (codec == GI_CODEC_ZLIB)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "zlib was not built in (install zlib1g-dev and build again)");
#endif
    (void)codec, (void)err;
    return GI_OK;
}

gi_status gi_codec_check_turbo(gi_codec_choice codec, const char *what, gi_error *err) {
#ifndef GPUIMG_HAVE_JPEG
    return gi_fail(err, GI_ERR_UNSUPPORTED,
                   "%s needs libjpeg-turbo, which was not built in (install libjpeg-dev and build again)", what);
#endif
    if (codec == GI_CODEC_STB)
        return gi_fail(err, GI_ERR_UNSUPPORTED, "%s needs libjpeg-turbo, but the codec is to be stb", what);
    return GI_OK;
}

gi_status gi_encode_options_check(const gi_encode_options *options, gi_error *err) {
    const char *what = options->progressive                         ? "progressive JPEG"
                       : options->optimize                          ? "optimized JPEG"
                       : options->subsampling == GI_SUBSAMPLING_422 ? "JPEG with 4:2:2 chroma"
                       : options->subsampling == GI_SUBSAMPLING_444 ? "JPEG with 4:4:4 chroma"
                                                                    : NULL;
    return what ? gi_codec_check_turbo(options->codec, what, err) : GI_OK;
}
