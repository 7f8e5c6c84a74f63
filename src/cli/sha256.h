// SHA-256, where the build has a library for it.
#ifndef GI_CLI_SHA256_H
#define GI_CLI_SHA256_H

#include "run/output.h"

// NULL: this build has none.
const gi_digester *gi_sha256(void);

// "nettle 3.8", or NULL.
const char *gi_sha256_library(void);

#endif
