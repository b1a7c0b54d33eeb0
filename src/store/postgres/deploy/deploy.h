/* Deployment, and which version a store has. */
#ifndef BOXCAR_STORE_POSTGRES_DEPLOY_DEPLOY_H
#define BOXCAR_STORE_POSTGRES_DEPLOY_DEPLOY_H

#include "store/postgres/state.h"

boxcar_status pg_deploy(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);
/* Which functions and views this library brings. */
boxcar_status pg_digest_functions(char ret_digest[BOXCAR_UUID_TEXT_SIZE], boxcar_error *err);
/* Reads the store's version and refuses what this library does not know (BX-029). */
boxcar_status pg_check_version(struct pg_store *pg, boxcar_error *err);

#endif
