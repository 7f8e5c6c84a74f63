#include "codec/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "codec/exif.h"
#include "codec/icc.h"
#include "codec/jpeg_metadata.h"
#include "codec/orient.h"
#include "codec/xmp.h"

gi_status gi_blob_set(gi_blob *blob, gi_bytes bytes, gi_error *err) {
    if (!bytes.size) return GI_OK;
    blob->data = malloc(bytes.size);
    if (!blob->data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of metadata", bytes.size);
    memcpy(blob->data, bytes.data, bytes.size);
    blob->size = bytes.size;
    return GI_OK;
}

void gi_blob_free(gi_blob *blob) {
    free(blob->data);
    *blob = (gi_blob){NULL, 0};
}

gi_metadata *gi_metadata_new(void) { return calloc(1, sizeof(gi_metadata)); }

void gi_metadata_free(gi_metadata *metadata) {
    if (!metadata) return;
    gi_blob_free(&metadata->icc);
    gi_blob_free(&metadata->exif);
    gi_blob_free(&metadata->xmp);
    gi_blob_free(&metadata->xmp_more);
    gi_blob_free(&metadata->iptc);
    free(metadata);
}

void gi_metadata_check_exif(gi_metadata *metadata, const gi_decode_options *options) {
    gi_exif_state state = metadata->exif.size ? gi_exif_check(gi_blob_bytes(&metadata->exif)) : GI_EXIF_SOUND;
    if (state == GI_EXIF_CUT)
        gi_say(options->messages, GI_FLAW, options->file, "EXIF is damaged: some of its values lie past its end");
    if (state != GI_EXIF_NONE) return;
    gi_say(options->messages, GI_FLAW, options->file, "EXIF is damaged: not kept");
    gi_blob_free(&metadata->exif);
}

void gi_metadata_check_icc(const gi_metadata *metadata, const gi_decode_options *options) {
    if (metadata->icc.size && !gi_icc_tags_inside(gi_blob_bytes(&metadata->icc)))
        gi_say(options->messages, GI_FLAW, options->file,
               "the ICC profile is damaged: some of its tags lie past its end");
}

static void fit_profile(gi_metadata *m, const gi_metadata_use *use) {
    bool gray = gi_colour_channels(use->shape.channels) == 1;
    char space[5], name[GI_ICC_NAME];
    if (!m->icc.size) return;
    gi_icc_space(gi_blob_bytes(&m->icc), space);
    if (strcmp(space, gray ? "GRAY" : "RGB") == 0) return;
    gi_icc_name(gi_blob_bytes(&m->icc), name);
    gi_say(use->messages, GI_NOTE, use->file, "the %s profile%s%s%s does not fit %s pixels: it is not kept", space,
           *name ? " '" : "", name, *name ? "'" : "", gray ? "gray" : "RGB");
    gi_blob_free(&m->icc);
}

// gAMA, sRGB and cICP tell how samples follow light, which holds for gray as well.
static void fit_light(gi_metadata *m, const gi_metadata_use *use) {
    if (m->primaries.size && gi_colour_channels(use->shape.channels) == 1) {
        gi_say(use->messages, GI_NOTE, use->file, "primaries (cHRM) mean nothing to gray pixels: they are not kept");
        m->primaries.size = 0;
    }
    // A JPEG without a profile is taken for sRGB; and a profile that is kept outranks all but cICP.
    bool told = m->icc.size || m->srgb.size;
    if (use->format != GI_FORMAT_JPEG || (!m->code_points.size && (told || (!m->gamma.size && !m->primaries.size))))
        return;
    gi_say(use->messages, GI_NOTE, use->file, "JPEG has no place for%s%s%s: not kept", m->gamma.size ? " gAMA" : "",
           m->primaries.size ? " cHRM" : "", m->code_points.size ? " cICP" : "");
}

// The block as it is now, or one that tells the orientation alone.
static gi_status fit_exif(gi_metadata *m, const gi_metadata_use *use, gi_error *err) {
    int orientation = use->orientation > 1 ? use->orientation : 1;
    const gi_exif_now now = {orientation, use->shape.width, use->shape.height, gi_orient_transposes(m->turned)};
    const char *why = NULL;
    int told = 1;
    bool whole = !m->exif.size || gi_exif_settle(m->exif.data, &m->exif.size, &now);
    if (m->exif.size) told = gi_exif_orientation(gi_blob_bytes(&m->exif));
    if (!whole || (told != 1 && told != orientation)) // its directories overlap
        why = "is damaged";
    else if (use->format == GI_FORMAT_JPEG && m->exif.size > GI_JPEG_EXIF_MOST)
        why = "is longer than a JPEG can hold";
    if (why) {
        gi_say(use->messages, GI_NOTE, use->file, "EXIF %s: it is not kept", why);
        gi_blob_free(&m->exif);
        told = 1;
    }
    if (told == orientation) return GI_OK;
    uint8_t block[GI_EXIF_BYTES];
    gi_blob_free(&m->exif);
    gi_exif_write(orientation, block);
    return gi_blob_set(&m->exif, (gi_bytes){block, sizeof block}, err);
}

// Whether the packet still names what there is more: a hostile one has the name within what was changed.
static bool names_more(const gi_metadata *m) {
    const uint8_t *guid = gi_xmp_guid(gi_blob_bytes(&m->xmp));
    return guid && memcmp(guid, m->xmp_more.data, GI_XMP_GUID) == 0;
}

// A packet too long for a JPEG's segment goes on in others, and comes back from there.
static gi_status fit_xmp(gi_metadata *m, const gi_metadata_use *use, gi_error *err) {
    const gi_xmp_now now = {use->orientation > 1 ? use->orientation : 1, gi_orient_transposes(m->turned)};
    const bool jpeg = use->format == GI_FORMAT_JPEG;
    gi_status status = gi_xmp_fit_more(&m->xmp, &m->xmp_more, &now, err);
    if (status == GI_OK) status = gi_xmp_fit(&m->xmp, &now, err);
    if (status == GI_OK && m->xmp_more.size && !names_more(m)) gi_blob_free(&m->xmp_more);
    if (status == GI_OK && !jpeg) status = gi_xmp_join(&m->xmp, &m->xmp_more, err);
    if (status != GI_OK || !jpeg || m->xmp.size <= GI_JPEG_XMP_MOST) return status;
    if (!m->xmp_more.size) return gi_xmp_split(&m->xmp, &m->xmp_more, err);
    gi_say(use->messages, GI_NOTE, use->file, "XMP of %zu bytes is longer than a JPEG can hold: it is not kept",
           m->xmp.size);
    gi_blob_free(&m->xmp);
    return GI_OK;
}

static void fit_jpegs_own(gi_metadata *m, const gi_metadata_use *use) {
    bool png = use->format == GI_FORMAT_PNG, more = m->xmp_more.size, iptc = m->iptc.size;
    if (png && (more || iptc))
        gi_say(use->messages, GI_NOTE, use->file, "PNG has no place for %s%s%s: not kept", more ? "extended XMP" : "",
               more && iptc ? " and " : "", iptc ? "IPTC" : "");
    if (png) gi_blob_free(&m->iptc);
    if (png || !m->xmp.size) gi_blob_free(&m->xmp_more);
}

gi_status gi_metadata_fit(gi_metadata *metadata, const gi_metadata_use *use, gi_error *err) {
    gi_density *density = &metadata->density;
    if (gi_orient_transposes(metadata->turned)) *density = (gi_density){density->unit, density->y, density->x};
    fit_profile(metadata, use);
    fit_light(metadata, use);
    gi_status status = fit_xmp(metadata, use, err);
    fit_jpegs_own(metadata, use);
    if (status == GI_OK) status = fit_exif(metadata, use, err);
    metadata->turned = 1;
    return status;
}
