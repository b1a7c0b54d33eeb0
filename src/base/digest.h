/* SHA-256. */
#ifndef BOXCAR_BASE_DIGEST_H
#define BOXCAR_BASE_DIGEST_H

#include <stdint.h>

#include "boxcar/types.h"

#define DIGEST_SIZE 32

/* Of `prefix` followed by `text`. False when it is not to be had: no memory, or a provider without it. */
bool digest_sha256(const char *prefix, boxcar_str text, uint8_t ret_digest[DIGEST_SIZE]);

#endif
