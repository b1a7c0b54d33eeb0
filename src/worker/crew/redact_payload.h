/* Keeping payloads out of what is kept, shown and logged about failures (BX-010). */
#ifndef BOXCAR_WORKER_CREW_REDACT_PAYLOAD_H
#define BOXCAR_WORKER_CREW_REDACT_PAYLOAD_H

#include "base/buf.h"
#include "boxcar/types.h"

/* This many bytes of a payload in a row are no coincidence. */
#define REDACT_STRETCH 16

/* Appends `text` with "[payload]" in place of every stretch of REDACT_STRETCH bytes or more that is also in
 * the payload, and of a shorter payload (from four bytes) where it stands as a whole, without the space
 * around it. The cost grows with text and payload together, whatever is in them. */
void redact_payload(struct buf *into, boxcar_str text, boxcar_str payload);

/* The same with a seed for its hash. Authors of payloads must not know the seed. Returns how many stretches
 * were compared. Pure. */
size_t redact_payload_seeded(struct buf *into, boxcar_str text, boxcar_str payload, uint64_t seed);

#endif
