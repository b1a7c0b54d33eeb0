/* boxcar/error.h: what went wrong, described once, in a struct the caller owns.
 *
 * Every function that can fail returns a boxcar_status and takes a boxcar_error * as
 * its last argument; pass NULL when the status is enough. The struct is written only on
 * failure and holds no pointers, so it can be copied and needs no cleanup. Nothing is
 * kept per thread. Error texts never contain payloads or passwords. */
#ifndef BOXCAR_ERROR_H
#define BOXCAR_ERROR_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum boxcar_status {
    BOXCAR_OK = 0,
    BOXCAR_E_INVALID = 1,      /* an argument is wrong; `argument` names it; nothing changed */
    BOXCAR_E_NOT_FOUND = 2,    /* no such message, setting, ... */
    BOXCAR_E_CONFLICT = 3,     /* exists, but not in a state that allows this */
    BOXCAR_E_UNAVAILABLE = 4,  /* store cannot be reached or is too busy; try again later */
    BOXCAR_E_NOT_DEPLOYED = 5, /* the database has no Boxcar schema: run `boxcar init` */
    BOXCAR_E_VERSION = 6,      /* the schema is too new or too old for this library */
    BOXCAR_E_READ_ONLY = 7,    /* the store refuses writes */
    BOXCAR_E_FULL = 8,         /* no space left where the store lives */
    BOXCAR_E_DENIED = 9,       /* the database user lacks a right */
    BOXCAR_E_TRANSACTION = 10, /* the caller's transaction cannot be used for this */
    BOXCAR_E_NO_MEMORY = 11,
    BOXCAR_E_UNSUPPORTED = 12, /* this store or version cannot do that */
    BOXCAR_E_STORE = 13        /* any other error of the database */
} boxcar_status;

typedef struct boxcar_error {
    boxcar_status status;
    bool retryable;        /* the same call may succeed later */
    bool must_roll_back;   /* the caller's own transaction is unusable until rolled back */
    bool outcome_unknown;  /* the connection broke after the request was sent: it may have
                              taken effect. Enqueueing the same message ids again is safe. */
    char sqlstate[6];      /* PostgreSQL's code, or "" */
    char argument[64];     /* the argument at fault, or "" */
    char message[512];     /* one line of UTF-8 that says what is wrong and what to do */
} boxcar_error;

#ifdef __cplusplus
#define BOXCAR_ERROR_INIT (boxcar_error{})
#else
#define BOXCAR_ERROR_INIT ((boxcar_error){.status = BOXCAR_OK})
#endif

/* A short fixed name such as "invalid" or "not_found". Any thread. */
BOXCAR_API const char *boxcar_status_name(boxcar_status status);

#ifdef __cplusplus
}
#endif
#endif
