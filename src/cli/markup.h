// Texts inside XML and HTML.
#ifndef GI_CLI_MARKUP_H
#define GI_CLI_MARKUP_H

#include "cli/buffer.h"

// Appends any bytes as character data or a quoted attribute: valid in XML 1.0 and in HTML, harmless in both. What
// gi_buffer_safe escapes, and the characters that XML forbids, appear as \n, \xNN, \u{NNNN}.
void gi_markup_add(gi_buffer *out, const char *text);

// Appends the base64 (RFC 4648) of the bytes.
void gi_base64_add(gi_buffer *out, const void *bytes, size_t size);

#endif
