/* Claimers and handlers in one expression, for calls that need nothing else of them. */
#ifndef BOXCAR_TESTS_CLAIMERS_H
#define BOXCAR_TESTS_CLAIMERS_H

#include "boxcar.h"

#define CLAIMER_FOR(box_, owner_, lease_ms_)                                                                 \
    (&(boxcar_claimer){.struct_size = sizeof(boxcar_claimer),                                                \
                       .box = (box_),                                                                        \
                       .owner = (owner_),                                                                    \
                       .lease_ms = (lease_ms_),                                                              \
                       .batch_size = BOXCAR_BATCH_SIZE_DEFAULT,                                              \
                       .batch_bytes = BOXCAR_BATCH_BYTES_DEFAULT})
#define CLAIMER(box, owner) CLAIMER_FOR(box, owner, BOXCAR_LEASE_MS_DEFAULT)

#define HANDLER(box_, topic_, run_, context_)                                                                \
    (&(boxcar_handler){.struct_size = sizeof(boxcar_handler),                                                \
                       .box = (box_),                                                                        \
                       .topic = (topic_),                                                                    \
                       .run = (run_),                                                                        \
                       .context = (context_)})
#define HANDLER_EXEC(box_, topic_, command_)                                                                 \
    (&(boxcar_handler){.struct_size = sizeof(boxcar_handler),                                                \
                       .box = (box_),                                                                        \
                       .topic = (topic_),                                                                    \
                       .kind = BOXCAR_HANDLER_EXEC,                                                          \
                       .command = (command_)})
#define HANDLER_DISCARD(box_, topic_)                                                                        \
    (&(boxcar_handler){.struct_size = sizeof(boxcar_handler),                                                \
                       .box = (box_),                                                                        \
                       .topic = (topic_),                                                                    \
                       .kind = BOXCAR_HANDLER_DISCARD})

#endif
