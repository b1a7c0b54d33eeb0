/* Creating the tables and bringing them up to date. */
#ifndef BOXCAR_STORE_SQLITE_DEPLOY_DEPLOY_H
#define BOXCAR_STORE_SQLITE_DEPLOY_DEPLOY_H

#include "store/sqlite/state.h"

boxcar_status sqlite_deploy(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);
boxcar_status sqlite_check_deployed(struct sqlite_store *store, boxcar_error *err);

#endif
