/* A worker for a subscription: it serves this reader alone, in the box that the subscription reads. */
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "pump.h"

#define SHOWN_MAX 100 /* bytes of a name in an error */

static boxcar_status refuse_box(boxcar_str name, boxcar_box box, boxcar_error *err) {
    boxcar_str shown = utf8_cut(name, SHOWN_MAX);

    return error_invalid(
        err, "subscription",
        "subscription \"%.*s\" reads the %s, and a handler is for the other box: register all "
        "handlers for the %s",
        (int)shown.len, shown.data, boxcar_box_name(box), boxcar_box_name(box));
}

/* Its handlers would take what is to be forwarded. */
static boxcar_status refuse_policy(boxcar_str name, boxcar_error *err) {
    boxcar_str shown = utf8_cut(name, SHOWN_MAX);

    return error_invalid(
        err, "subscription",
        "subscription \"%.*s\" is that of a policy: workers forward its messages without being "
        "told, so leave it out, or make a subscription of your own",
        (int)shown.len, shown.data);
}

static boxcar_status subscribe(struct pump *pump, boxcar_error *err) {
    struct boxcar_worker *worker = pump->worker;
    struct subscription_rows *rows;

    TRY(pump->store->ops->subscription_read(
        pump->store, &(struct subscription_choice){.name = worker->subscription, .is_brief = true}, &rows,
        err));
    boxcar_box box = rows->items[0].box, reader = rows->items[0].reader;
    bool is_of_policy = rows->items[0].destination_count > 0;
    list_free(rows);
    if (is_of_policy)
        return refuse_policy(worker->subscription, err);
    if (worker->handlers->boxes[1 - box].count > 0)
        return refuse_box(worker->subscription, box, err);
    worker->subscribed_box = box;
    atomic_store(&worker->reader, reader);
    return BOXCAR_OK;
}

boxcar_status pump_set_readers(struct pump *pump, boxcar_error *err) {
    if (!str_is_absent(pump->worker->subscription))
        TRY(subscribe(pump, err));
    for (int box = 0; box < BOXES; box++)
        pump->boxes[box].reader = worker_reader(pump->worker, box);
    return BOXCAR_OK;
}

/* One of the same name that was made since is another reader. */
static bool is_removed(struct pump *pump) {
    struct subscription_rows *rows;
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (pump->store->ops->subscription_read(
            pump->store, &(struct subscription_choice){.name = pump->worker->subscription, .is_brief = true},
            &rows, &err) != BOXCAR_OK)
        return err.status == BOXCAR_E_NOT_FOUND;
    bool is_same = rows->items[0].reader == atomic_load(&pump->worker->reader);
    list_free(rows);
    return !is_same;
}

/* Nothing can be settled any more. Handlers that run are told, and have the grace time to end. */
static void lose_all(struct pump *pump) {
    for (struct job *job = pump->held; job; job = job->held_next) {
        job->lost = true;
        desk_cancel(pump->desk, job, CANCEL_LEASE_LOST);
    }
}

bool pump_ends_with_subscription(struct pump *pump, const boxcar_error *err) {
    boxcar_str name = utf8_cut(pump->worker->subscription, SHOWN_MAX);

    if (err->status != BOXCAR_E_NOT_FOUND || str_is_absent(name) || !is_removed(pump))
        return false;
    if (pump->end_error.status == BOXCAR_OK) {
        error_set(&pump->end_error, BOXCAR_E_NOT_FOUND,
                  "subscription \"%.*s\" was removed: there is nothing left to do for it", (int)name.len,
                  name.data);
        snprintf(pump->end_error.argument, sizeof(pump->end_error.argument), "subscription");
        store_log(pump_logger(pump), BOXCAR_LOG_ERROR, "subscription", NULL, 0, "%s",
                  pump->end_error.message);
        worker_stop(pump->worker);
    }
    lose_all(pump);
    return true;
}
