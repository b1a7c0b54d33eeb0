/* UUIDs as 16 bytes: making, deriving, reading and writing them. */
#ifndef BOXCAR_BASE_UUID_H
#define BOXCAR_BASE_UUID_H

#include "boxcar/error.h"
#include "boxcar/types.h"

/* RFC 9562 version 7 from a Unix time in milliseconds and 10 random bytes. */
void uuid_make_v7(uint64_t unix_ms, const uint8_t random[10], uint8_t ret_uuid[16]);
/* New ones from this machine's clock and the system's randomness; false = there is none. */
bool uuid_new_v7(uint8_t (*ret_uuids)[16], size_t count);
/* The same in parts: each id is greater than the one before, as RFC 9562 proposes, so that indexes grow at
 * their end. Start with zeros. At most 2^25 in a series. */
struct uuid_series {
    uint64_t unix_ms;
    uint32_t next; /* stands in front of the random bits */
    bool begun;
};
bool uuid_series_next(struct uuid_series *series, uint8_t (*ret_uuids)[16], size_t count);
/* Makes one unless it is there. BOXCAR_E_UNAVAILABLE: no randomness for `what`. */
boxcar_status uuid_ensure(boxcar_uuid *uuid, const char *what, boxcar_error *err);
/* Version 8: the first 16 bytes of SHA-256 of a namespace text followed by `text`, with
 * version and variant bits set. The SQL function _derive_id computes the same. Gives nil when
 * the digest cannot be computed (out of memory). */
void uuid_derive(const char *name_space, boxcar_str text, uint8_t ret_uuid[16]);
bool uuid_is_nil(const uint8_t uuid[16]);
void uuid_format(const uint8_t uuid[16], char ret_text[BOXCAR_UUID_TEXT_SIZE]);

/* The name spaces of ids derived from a caller's key: from the key alone, and from that id and a topic. */
#define UUID_NAMESPACE_KEY "boxcar:key:"
#define UUID_NAMESPACE_TOPIC_KEY "boxcar:topic-key:"

#endif
