// XMP that goes on in further segments of a JPEG (XMP specification part 3, 1.1.3.1).
#include <stdlib.h>
#include <string.h>

#include "codec/md5.h"
#include "codec/xmp.h"

_Static_assert((int)GI_MD5_HEX == (int)GI_XMP_GUID, "a GUID is a digest in hexadecimal");

// All that is left in the first segment where a whole packet goes on; the GUID stands between them.
static const char before[] = "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
                             "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
                             "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
                             "<rdf:Description rdf:about=\"\" xmlns:xmpNote=\"http://ns.adobe.com/xmp/note/\" "
                             "xmpNote:HasExtendedXMP=\"";
static const char behind[] = "\"/></rdf:RDF></x:xmpmeta><?xpacket end=\"w\"?>";
enum { BEFORE = sizeof before - 1, BEHIND = sizeof behind - 1, NAMING = BEFORE + GI_XMP_GUID + BEHIND };

static gi_bytes text_of(const gi_blob *more) { return (gi_bytes){more->data + GI_XMP_GUID, more->size - GI_XMP_GUID}; }

// A blob of that text with its GUID in front.
static gi_status name_text(gi_bytes text, gi_blob *more, gi_error *err) {
    gi_blob made = {malloc(GI_XMP_GUID + text.size), GI_XMP_GUID + text.size};
    if (!made.data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of XMP", made.size);
    gi_md5(text, made.data);
    memcpy(made.data + GI_XMP_GUID, text.data, text.size);
    gi_blob_free(more);
    *more = made;
    return GI_OK;
}

gi_status gi_xmp_split(gi_blob *packet, gi_blob *more, gi_error *err) {
    gi_blob naming = {malloc(NAMING), NAMING};
    gi_status status = naming.data ? name_text(gi_blob_bytes(packet), more, err)
                                   : gi_fail(err, GI_ERR_MEMORY, "no memory for %d bytes of XMP", NAMING);
    if (status != GI_OK) {
        gi_blob_free(&naming);
        return status;
    }
    memcpy(naming.data, before, BEFORE);
    memcpy(naming.data + BEFORE, more->data, GI_XMP_GUID);
    memcpy(naming.data + BEFORE + GI_XMP_GUID, behind, BEHIND);
    gi_blob_free(packet);
    *packet = naming;
    return GI_OK;
}

gi_status gi_xmp_join(gi_blob *packet, gi_blob *more, gi_error *err) {
    gi_blob whole = {NULL, 0};
    if (more->size <= GI_XMP_GUID || packet->size != NAMING || memcmp(packet->data, before, BEFORE) != 0 ||
        memcmp(packet->data + BEFORE, more->data, GI_XMP_GUID) != 0 ||
        memcmp(packet->data + BEFORE + GI_XMP_GUID, behind, BEHIND) != 0)
        return GI_OK;
    gi_status status = gi_blob_set(&whole, text_of(more), err);
    if (status != GI_OK) return status;
    gi_blob_free(packet);
    gi_blob_free(more);
    *packet = whole;
    return GI_OK;
}

gi_status gi_xmp_fit_more(const gi_blob *packet, gi_blob *more, const gi_xmp_now *now, gi_error *err) {
    gi_blob text = {NULL, 0};
    const uint8_t *named = more->size > GI_XMP_GUID ? gi_xmp_guid(gi_blob_bytes(packet)) : NULL;
    if (!named) return GI_OK;
    gi_status status = gi_blob_set(&text, text_of(more), err);
    if (status == GI_OK) status = gi_xmp_fit(&text, now, err);
    const gi_bytes old = text_of(more);
    if (status == GI_OK && (text.size != old.size || memcmp(text.data, old.data, old.size) != 0)) {
        status = name_text(gi_blob_bytes(&text), more, err);
        if (status == GI_OK) memcpy(packet->data + (named - packet->data), more->data, GI_XMP_GUID);
    }
    gi_blob_free(&text);
    return status;
}
