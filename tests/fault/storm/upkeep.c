/* The one that looks after the store while the storm is on: reap, maintain, cancel, replay, look. */
#include <stdio.h>
#include <string.h>

#include "boxcar/dead_letter.h"
#include "boxcar/inspect.h"
#include "boxcar/maintain.h"
#include "storm.h"

static boxcar_work_id draw_work_id(struct client *client) {
    int64_t last = atomic_load(&client->storm->board->last_work_id);
    int64_t reach = last < 3000 ? last : 3000;
    return (boxcar_work_id){last - draw_between(client, 0, reach) + (last == 0)};
}

static void cancel_one(struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_ref ref = {.work_id = draw_work_id(client)};
    if (ref.work_id.value < 1)
        return;
    struct record record = {.kind = RECORD_CANCELLING,
                            .client = (uint16_t)client->number,
                            .work_id = ref.work_id.value,
                            .before = now_us()};
    journal_add(&client->journal, record);
    journal_flush(&client->journal);
    boxcar_status status = boxcar_message_cancel(client->store, BOXCAR_OUTBOX, ref, &err);
    if (status == BOXCAR_E_NOT_FOUND || status == BOXCAR_E_CONFLICT)
        return;
    if (!accept_status(client, status, &err, "cancel"))
        return;
    record.kind = RECORD_CANCELLED;
    record.after = now_us();
    journal_add(&client->journal, record);
    journal_flush(&client->journal);
    count(client, TALLY_CANCELS, 1);
}

static void replay_some(struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_list *list = NULL;
    boxcar_message_ref refs[20] = {0};
    int64_t replayed = 0;
    if (!accept_status(client, boxcar_dead_page(client->store, &filter, 20, (boxcar_work_id){0}, &list, &err),
                       &err, "dead page"))
        return;
    filter.ref_count = list->count;
    for (size_t i = 0; i < filter.ref_count; i++)
        refs[i].work_id = list->items[i]->work_id;
    boxcar_list_free(list);
    filter.refs = refs;
    if (filter.ref_count > 0 &&
        accept_status(client,
                      boxcar_dead_replay(client->store, &filter, BOXCAR_STR("again"), &replayed, &err), &err,
                      "replay"))
        count(client, TALLY_REPLAYS, replayed);
}

static void read_stats(struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list = NULL;
    if (!accept_status(client, boxcar_stats_read(client->store, BOXCAR_OUTBOX, true, &list, &err), &err,
                       "stats"))
        return;
    const boxcar_stats *all = list->items[0];
    if (!all || all->ready < 0 || all->waiting < 0 || all->in_progress < 0 || all->done < 0 ||
        all->failed < 0)
        complain(client, "stats has no first row, or counts below zero");
    boxcar_list_free(list);
}

static void read_page(struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_message_list *list = NULL;
    options.by_status = draw_percent(client, 50);
    options.status = (boxcar_message_status)draw_between(client, BOXCAR_READY, BOXCAR_FAILED);
    if (!accept_status(client, boxcar_message_page(client->store, &options, &list, &err), &err, "page"))
        return;
    for (size_t i = 1; i < list->count; i++)
        if (list->items[i]->work_id.value >= list->items[i - 1]->work_id.value)
            complain(client, "a page that shows a message twice or not newest first: work id %lld",
                     (long long)list->items[i]->work_id.value);
    boxcar_list_free(list);
}

/* At no time is a message without a trace, whatever is going on. */
static void audit(struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_audit found = BOXCAR_AUDIT_INIT;
    if (accept_status(client, boxcar_audit_run(client->store, false, &found, &err), &err, "audit") &&
        found.lost > 0)
        complain(client, "the audit found %lld messages without a trace", (long long)found.lost);
}

static void look_after_something(struct client *client) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int64_t what = draw_between(client, 1, 100);
    if (what <= 15)
        accept_status(client, boxcar_reap(client->store, BOXCAR_OUTBOX, NULL, &err), &err, "reap");
    else if (what <= 30)
        accept_status(client, boxcar_maintenance_run(client->store, NULL, &err), &err, "maintain");
    else if (what <= 65)
        cancel_one(client);
    else if (what <= 75)
        replay_some(client);
    else if (what <= 85)
        read_stats(client);
    else if (what <= 97)
        read_page(client);
    else
        audit(client);
}

void look_after(struct client *client) {
    while (!atomic_load(&client->storm->board->stop)) {
        look_after_something(client);
        pause_ms(draw_between(client, 1, 80));
    }
}
