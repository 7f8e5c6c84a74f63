#include "codec/xmp.h"

#include <string.h>

static size_t skip_space(const uint8_t *packet, size_t at, size_t size) {
    while (at < size && (packet[at] == ' ' || packet[at] == '\t' || packet[at] == '\n' || packet[at] == '\r')) at++;
    return at;
}

void gi_xmp_settle(uint8_t *packet, size_t size, int orientation) {
    static const char name[] = "tiff:Orientation";
    const size_t length = sizeof name - 1;
    for (size_t at = 0; at < size;) {
        const uint8_t *found = memchr(packet + at, 't', size - at);
        if (!found) return;
        at = (size_t)(found - packet) + 1;
        if (size - (at - 1) < length || memcmp(found, name, length) != 0) continue;
        // ="6", ='6' or >6, with white space between.
        size_t value = skip_space(packet, at - 1 + length, size);
        if (value < size && packet[value] == '=') {
            value = skip_space(packet, value + 1, size);
            if (value == size || (packet[value] != '"' && packet[value] != '\'')) continue;
        } else if (value == size || packet[value] != '>') {
            continue;
        }
        value = skip_space(packet, value + 1, size);
        if (value < size && packet[value] >= '1' && packet[value] <= '8') packet[value] = (uint8_t)('0' + orientation);
    }
}
