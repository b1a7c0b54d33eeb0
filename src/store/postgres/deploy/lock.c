/* An upgrade changes tables and views that all clients use, and needs exclusive locks on them.
 *
 * While the upgrade waits for a lock, all later requests for that lock wait behind it. If it held some locks
 * while it waits for others, it could deadlock with a client, and the server might end the client's
 * transaction. So the upgrade takes all locks first, in one statement. That statement gives up after a
 * moment, before the server looks for deadlocks (deadlock_timeout, 1 s by default). The upgrade then releases
 * its locks, lets clients continue, and tries again. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "objects.h"
#include "steps.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"

#define PAUSE_ROUND 8 /* of pg_pause(): a quarter to half a second */
#define MOMENT "'300ms'"
#define VACUUM "'10s'" /* after deadlock_timeout the server ends an autovacuum that others wait for */

/* Appends those of our tables, and with `views` of our views, that exist already. */
static void append_names(struct buf *text, const struct pg_object_list *there, bool views) {
    const char *between = "";

    for (size_t i = 0; i < there->count; i++) {
        const struct pg_object *object = &there->items[i];

        if (object->kind != PG_OBJECT_TABLE && !(views && object->kind == PG_OBJECT_VIEW))
            continue;
        buf_append_format(text, "%s:\"schema\".%.*s", between, (int)object->name.len, object->name.data);
        between = ", ";
    }
}

static boxcar_status lock(struct pg_store *pg, const struct pg_object_list *there, bool views,
                          const char *mode, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;

    buf_append_text(&text, "lock table ");
    append_names(&text, there, views);
    buf_append_format(&text, " in %s mode", mode);
    return pg_deploy_run_buf(pg, &text, err);
}

/* The first lock conflicts with vacuums and with nothing that clients do, so waiting for it blocks no client.
 * Locking a view also locks the tables that it reads, which are ours. MOMENT limits the whole statement, so
 * it is not a lock_timeout. */
static boxcar_status try_lock(struct pg_store *pg, const struct pg_object_list *there, boxcar_error *err) {
    TRY(pg_deploy_run(pg, "set local lock_timeout = " VACUUM, err));
    TRY(lock(pg, there, false, "share update exclusive", err));
    TRY(pg_deploy_run(pg, "set local statement_timeout = " MOMENT, err));
    return lock(pg, there, true, "access exclusive", err);
}

static boxcar_status lock_in_time(struct pg_store *pg, const struct pg_object_list *there,
                                  boxcar_error *err) {
    int64_t give_up_at = clock_ms() + pg_deploy_patience_ms(pg);

    for (;;) {
        boxcar_error why = BOXCAR_ERROR_INIT;

        TRY(pg_deploy_run(pg, "savepoint unlocked", err));
        boxcar_status status = try_lock(pg, there, &why);
        if (status == BOXCAR_OK)
            return BOXCAR_OK;
        (void)pg_deploy_run(pg, "rollback to savepoint unlocked", NULL);
        bool in_the_way = pg_error_is(&why, PG_LOCK_TIMEOUT " 57014 40P01");
        if (in_the_way && clock_ms() < give_up_at) {
            pg_pause(PAUSE_ROUND);
            continue;
        }
        if (in_the_way) /* what a lock that was not free is elsewhere */
            memcpy(why.sqlstate, PG_LOCK_TIMEOUT, sizeof(PG_LOCK_TIMEOUT));
        return pg_error_pass(status, &why, err);
    }
}

boxcar_status pg_deploy_lock(struct pg_store *pg, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct pg_object_list there;

    TRY(pg_objects_find(pg, true, &arena, &there, err));
    TRY(pg_deploy_run(
        pg,
        "select set_config('boxcar.statement_timeout', current_setting('statement_timeout'), true), "
        "set_config('boxcar.lock_timeout', current_setting('lock_timeout'), true)",
        err));
    TRY(lock_in_time(pg, &there, err));
    return pg_deploy_run(
        pg,
        "select set_config('statement_timeout', current_setting('boxcar.statement_timeout'), true), "
        "set_config('lock_timeout', current_setting('boxcar.lock_timeout'), true)",
        err);
}
