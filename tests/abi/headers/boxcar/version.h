/* boxcar/version.h: which Boxcar this is. */
#ifndef BOXCAR_VERSION_H
#define BOXCAR_VERSION_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOXCAR_VERSION "0.1.0"

/* The version of the library that is running, which may be newer than BOXCAR_VERSION. */
BOXCAR_API const char *boxcar_version(void);

/* The schema version this library deploys. */
BOXCAR_API int boxcar_schema_version(void);

#ifdef __cplusplus
}
#endif
#endif
