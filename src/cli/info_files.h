// `gpuimg info FILE...`: what image files hold.
#ifndef GI_CLI_INFO_FILES_H
#define GI_CLI_INFO_FILES_H

#include "cli/buffer.h"
#include "cli/command.h"
#include "codec/metadata.h"
#include "codec/npy.h"

// What is known of one file. Of one whose header could not be read there is only the reason.
typedef struct gi_file_facts {
    const char *file;
    uint64_t bytes;
    bool opened; // the header is known; array: that of a .npy file, else an image's
    bool is_array;
    gi_npy_header array;
    gi_header header;
    const gi_metadata *metadata; // NULL where no decoder could be opened
    gi_buffer damage;            // of what still decodes, and beside the pixels: texts, each with its NUL
    const char *error;           // why it could not be opened, or its pixels not be decoded; NULL: it could
    bool quick;                  // its pixels were not decoded, which an array has none of
} gi_file_facts;

int gi_info_files(const gi_command *command, const gi_options *options);

// As lines for people, and as one object of JSON:
//   {"file","bytes","format","width","height","bits","channels","colour","sampling","interlaced","progressive",
//    "arithmetic","quality","quality_exact","orientation","density":{"x","y","unit"},"profile":{"name","space","bytes"},
//    "gamma","srgb","primaries":[8 numbers],"cicp":[4],"exif","xmp","xmp_extended","iptc","damage":[texts],"checked",
//    "error"}
// Channels are those that decoding gives; what a file does not tell is null; from "exif" to "iptc" are counts of bytes;
// checked: the pixels were decoded. From "density" to "iptc" there is nothing of a file whose damage keeps it from
// being opened. Of an array, whose file is named itself:
//   {"file","bytes","format":"NPY","element","byte_order":"little"|"big"|null,"shape":[...],"count",
//    "order":"C"|"Fortran","damage":[],"checked":true,"error"}
// What can be checked of it, that the file has the size which its header tells, is checked in any case.
// Of a file whose header could not be read there are file and error alone.
void gi_info_add_text(gi_buffer *text, const gi_file_facts *facts);
void gi_info_add_json(gi_buffer *text, const gi_file_facts *facts);

#endif
