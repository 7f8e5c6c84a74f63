// IPTC's records in a JPEG: one of Photoshop's image resources, each a signature, number, name and data.
#include <stdlib.h>
#include <string.h>

#include "codec/bytes.h"
#include "codec/jpeg_metadata.h"

enum { IPTC = 0x0404, SIGNATURE = 4, NUMBER = 2, SIZE = 4 };

static bool begins_resource(gi_bytes bytes, size_t at) {
    size_t left = bytes.size > at ? bytes.size - at : 0;
    return left && memcmp(bytes.data + at, "8BIM", left < SIGNATURE ? left : SIGNATURE) == 0;
}

gi_bytes gi_jpeg_iptc(gi_bytes bytes, bool *others, gi_bytes *rest) {
    gi_bytes found = {NULL, 0};
    size_t at = 0;
    *rest = found;
    // The name has its length in front; both it and the data are padded to even sizes.
    while (begins_resource(bytes, at)) {
        *rest = (gi_bytes){bytes.data + at, bytes.size - at};
        if (rest->size <= SIGNATURE + NUMBER) break;
        int number = gi_be16(rest->data + SIGNATURE);
        size_t name = (rest->data[SIGNATURE + NUMBER] + 2U) / 2 * 2, head = SIGNATURE + NUMBER + name + SIZE;
        *others = *others || number != IPTC;
        if (rest->size < head) break;
        size_t size = gi_be32(rest->data + head - SIZE);
        if (size > rest->size - head) break;
        if (number == IPTC && !found.size) found = (gi_bytes){rest->data + head, size};
        *rest = (gi_bytes){NULL, 0};
        at += head + size + size % 2;
    }
    return found;
}

bool gi_jpeg_iptc_is_cut(gi_bytes rest) {
    return rest.size > SIGNATURE + NUMBER && gi_be16(rest.data + SIGNATURE) == IPTC;
}

static bool stands_alone(gi_bytes segment) {
    bool others = false;
    gi_bytes rest, iptc = gi_jpeg_iptc(segment, &others, &rest);
    return (others || iptc.size) && !rest.size;
}

static gi_status append(gi_blob *blob, gi_bytes bytes, gi_error *err) {
    uint8_t *data = realloc(blob->data, blob->size + bytes.size);
    if (!data) return gi_fail(err, GI_ERR_MEMORY, "no memory for %zu bytes of metadata", blob->size + bytes.size);
    memcpy(data + blob->size, bytes.data, bytes.size);
    *blob = (gi_blob){data, blob->size + bytes.size};
    return GI_OK;
}

gi_status gi_jpeg_resources_take(gi_jpeg_resources *to, gi_bytes segment, gi_error *err) {
    gi_blob before = to->rest;
    gi_bytes rest, all = segment;
    gi_status status = GI_OK;
    to->rest = (gi_blob){NULL, 0};
    to->others = to->found = false;
    if (before.size && before.size + segment.size > GI_BLOB_MOST) {
        to->large = to->large || gi_jpeg_iptc_is_cut(gi_blob_bytes(&before));
        gi_blob_free(&before);
    }
    if (before.size && stands_alone(segment)) {
        to->cut = to->cut || gi_jpeg_iptc_is_cut(gi_blob_bytes(&before));
        gi_blob_free(&before);
    }
    if (before.size && segment.size) status = append(&before, segment, err);
    if (before.size) all = gi_blob_bytes(&before);
    gi_bytes iptc = gi_jpeg_iptc(all, &to->others, &rest);
    to->found = iptc.size || rest.size;
    if (status == GI_OK && !to->iptc.size) status = gi_blob_set(&to->iptc, iptc, err);
    if (status == GI_OK && rest.size && rest.data == before.data) { // goes on: no copy for each of its segments
        to->rest = before;
        return GI_OK;
    }
    if (status == GI_OK) status = gi_blob_set(&to->rest, rest, err);
    gi_blob_free(&before);
    return status;
}

void gi_jpeg_resources_free(gi_jpeg_resources *resources) {
    gi_blob_free(&resources->iptc);
    gi_blob_free(&resources->rest);
}
