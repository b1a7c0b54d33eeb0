#include "boxcar/version.h"

#include "store/store.h"

const char *boxcar_version(void) { return BOXCAR_VERSION; }

int boxcar_schema_version(void) { return STORE_SCHEMA_VERSION; }
