/* Nothing lost, nothing from nowhere, everything at its end, and the counts agree. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxcar/inspect.h"
#include "boxcar/maintain.h"
#include "lease.h"

static const char *show(const uint8_t *id) {
    static char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_message_id message_id;
    memcpy(message_id.uuid.bytes, id, sizeof(message_id.uuid.bytes));
    boxcar_uuid_format(message_id.uuid, text);
    return text;
}

static int compare_by_message(const void *left, const void *right) {
    const struct end_state *const *a = left, *const *b = right;
    return memcmp((*a)->message_id.uuid.bytes, (*b)->message_id.uuid.bytes,
                  sizeof((*a)->message_id.uuid.bytes));
}

/* All that the clients wrote about one message id. */
struct birth {
    const struct record *intent;
    const struct record *stored; /* reported as stored */
    size_t intents;
    size_t rolled_back;
    size_t firsts; /* reported as stored and not as duplicate */
    bool differs;  /* reported under two work ids */
};

static size_t read_birth(const struct ledger *ledger, size_t first, struct birth *ret_birth) {
    const struct record *all = ledger->enqueues;
    size_t i = first;
    *ret_birth = (struct birth){0};
    for (; i < ledger->enqueue_count && memcmp(all[i].id, all[first].id, sizeof(all[i].id)) == 0; i++) {
        if (all[i].kind == RECORD_INTENT) {
            ret_birth->intents++;
            ret_birth->intent = &all[i];
        } else if (all[i].kind == RECORD_ROLLED_BACK) {
            ret_birth->rolled_back++;
        } else {
            ret_birth->differs =
                ret_birth->differs || (ret_birth->stored && ret_birth->stored->work_id != all[i].work_id);
            ret_birth->firsts += !all[i].duplicate;
            if (!ret_birth->stored || all[i].after < ret_birth->stored->after)
                ret_birth->stored = &all[i];
        }
    }
    return i;
}

static void check_birth(struct ledger *ledger, const struct birth *birth, struct end_state *end_state) {
    const uint8_t *id = birth->intent ? birth->intent->id : birth->stored->id;
    if (birth->stored && !end_state)
        offend(ledger, "message %s was enqueued as work id %lld and is gone", show(id),
               (long long)birth->stored->work_id);
    if (birth->stored && end_state && birth->stored->work_id != end_state->work_id)
        offend(ledger, "message %s was enqueued as work id %lld and is now %lld", show(id),
               (long long)birth->stored->work_id, (long long)end_state->work_id);
    if (birth->differs || birth->firsts > 1)
        offend(ledger, "message %s was enqueued more than once", show(id));
    if (!birth->stored && birth->rolled_back >= birth->intents && end_state)
        offend(ledger, "message %s was rolled back and is there as work id %lld", show(id),
               (long long)end_state->work_id);
    if (!end_state)
        return;
    end_state->intent = birth->intent;
    end_state->stored_after = birth->stored ? birth->stored->after : 0;
}

/* Goes through both lists in the order of message ids. */
static void check_births(struct ledger *ledger) {
    struct end_state **end_states = malloc((ledger->end_state_count + 1) * sizeof(*end_states));
    size_t next = 0;
    if (!end_states)
        err(99, "end_states");
    for (size_t i = 0; i < ledger->end_state_count; i++)
        end_states[i] = &ledger->end_states[i];
    qsort(end_states, ledger->end_state_count, sizeof(*end_states), compare_by_message);
    for (size_t i = 0; i < ledger->enqueue_count;) {
        const uint8_t *id = ledger->enqueues[i].id;
        struct birth birth;
        while (next < ledger->end_state_count && memcmp(end_states[next]->message_id.uuid.bytes, id, 16) < 0)
            next++;
        bool found =
            next < ledger->end_state_count && memcmp(end_states[next]->message_id.uuid.bytes, id, 16) == 0;
        i = read_birth(ledger, i, &birth);
        check_birth(ledger, &birth, found ? end_states[next] : NULL);
    }
    for (size_t i = 0; i < ledger->end_state_count; i++)
        if (!end_states[i]->intent)
            offend(ledger, "work id %lld comes from nowhere", (long long)end_states[i]->work_id);
    free(end_states);
}

static bool has_act(const struct ledger *ledger, int64_t work_id, enum record_kind kind, enum verb verb) {
    size_t first, end = ledger_acts(ledger, work_id, &first);
    for (; first < end; first++)
        if (ledger->acts[first].kind == kind && (kind != RECORD_SETTLING || ledger->acts[first].verb == verb))
            return true;
    return false;
}

static bool is_allowed(const struct ledger *ledger, const struct end_state *end_state) {
    switch (end_state->reason) {
    case BOXCAR_REASON_REJECTED:
        return has_act(ledger, end_state->work_id, RECORD_SETTLING, VERB_FAIL);
    case BOXCAR_REASON_CANCELLED:
        return has_act(ledger, end_state->work_id, RECORD_CANCELLING, VERB_ACK);
    case BOXCAR_REASON_EXPIRED:
        return end_state->intent && end_state->intent->expires;
    case BOXCAR_REASON_EXHAUSTED:
        return true; /* check_attempts() */
    default:
        return false;
    }
}

static void check_ends(struct ledger *ledger) {
    for (size_t i = 0; i < ledger->end_state_count; i++) {
        const struct end_state *end_state = &ledger->end_states[i];
        bool done = end_state->status == BOXCAR_DONE &&
                    has_act(ledger, end_state->work_id, RECORD_SETTLING, VERB_ACK);
        bool dead = end_state->status == BOXCAR_FAILED && is_allowed(ledger, end_state);
        if (!done && !dead)
            offend(ledger, "work id %lld is %s (%s)", (long long)end_state->work_id,
                   boxcar_message_status_name(end_state->status), boxcar_reason_name(end_state->reason));
        if (i > 0 && end_state[-1].work_id == end_state->work_id)
            offend(ledger, "work id %lld is listed twice", (long long)end_state->work_id);
    }
}

void check_messages(struct ledger *ledger, struct verdict *verdict) {
    check_births(ledger);
    conclude(ledger, verdict, "what was enqueued is there, once; what was rolled back is not");
    check_ends(ledger);
    conclude(ledger, verdict, "everything is done or dead, and for a reason");
}

static int64_t count_status(const struct ledger *ledger, boxcar_message_status status) {
    int64_t count = 0;
    for (size_t i = 0; i < ledger->end_state_count; i++)
        count += ledger->end_states[i].status == status;
    return count;
}

static void expect(struct ledger *ledger, const char *what, int64_t wanted, int64_t actual) {
    if (wanted != actual)
        offend(ledger, "%s: %lld, should be %lld", what, (long long)actual, (long long)wanted);
}

static void check_sql(struct ledger *ledger) {
    int64_t done = count_status(ledger, BOXCAR_DONE);
    expect(ledger, "messages in the log", (int64_t)ledger->end_state_count,
           ledger_sql_number(ledger, "select count(*) from boxcar_message", "select count(*) from message"));
    expect(ledger, "dead letters", count_status(ledger, BOXCAR_FAILED),
           ledger_sql_number(ledger, "select count(*) from boxcar_dead", "select count(*) from dead"));
    expect(ledger, "finished", done,
           ledger_sql_number(ledger, "select coalesce(sum(last_id - first_id + 1), 0) from boxcar_finished",
                             "select coalesce(sum(last_id - first_id + 1), 0) from finished"));
    expect(ledger, "finished, each once", done,
           ledger_sql_number(ledger,
                             "select count(distinct m.work_id) from boxcar_finished f join boxcar_message m"
                             " on m.work_id between f.first_id and f.last_id",
                             "select count(distinct m.work_id) from finished f join message m"
                             " on m.work_id between f.first_id and f.last_id"));
    expect(ledger, "leases left", 0,
           ledger_sql_number(ledger, "select count(*) from boxcar_lease", "select count(*) from lease"));
    expect(ledger, "parked left", 0,
           ledger_sql_number(ledger, "select count(*) from boxcar_parked", "select count(*) from parked"));
}

static boxcar_store *open_store(struct ledger *ledger) {
    boxcar_store_options options = storm_store_options(ledger->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    return store;
}

static boxcar_stats_list *stats_by_topic(boxcar_store *store) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list = NULL;
    boxcar_maintenance upkeep = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (upkeep.more)
        if (boxcar_maintenance_run(store, &upkeep, &error) != BOXCAR_OK)
            errx(99, "maintain: %s", error.message);
    if (boxcar_stats_read(store, BOXCAR_OUTBOX, true, &list, &error) != BOXCAR_OK)
        errx(99, "stats: %s", error.message);
    return list;
}

static bool done_is_exact(const boxcar_stats_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->estimated & BOXCAR_STATS_DONE)
            return false;
    return true;
}

/* Upkeep looks at the pages behind it once a minute (_fold_tally). Until it has, much that is done may not be
 * counted by topic yet: the numbers are marked as estimates. They have to become exact soon, and then to be
 * right. */
static void check_stats(struct ledger *ledger, boxcar_store *store) {
    enum { MOST_SECONDS = 130 };
    boxcar_stats_list *list = stats_by_topic(store);
    for (int i = 0; i < MOST_SECONDS && !done_is_exact(list); i++) {
        boxcar_list_free(list);
        sleep(1);
        list = stats_by_topic(store);
    }
    const boxcar_stats *all = list->items[0];
    int64_t done = 0;
    for (size_t i = 1; i < list->count; i++)
        done += list->items[i]->done;
    expect(ledger, "the number of done messages is exact", 1, done_is_exact(list));
    expect(ledger, "done in stats", count_status(ledger, BOXCAR_DONE), all->done);
    expect(ledger, "done in stats by topic", count_status(ledger, BOXCAR_DONE), done);
    if (all->exact)
        expect(ledger, "failed in stats", count_status(ledger, BOXCAR_FAILED), all->failed);
    expect(ledger, "unfinished in stats", 0, all->ready + all->waiting + all->in_progress);
    boxcar_list_free(list);
}

void check_counts(struct ledger *ledger, struct verdict *verdict) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_audit audit = BOXCAR_AUDIT_INIT;
    boxcar_store *store = open_store(ledger);
    check_sql(ledger);
    conclude(ledger, verdict, "the tables agree with the listing; nothing is done and dead, or done twice");
    check_stats(ledger, store);
    conclude(ledger, verdict, "the stats agree with the listing");
    if (boxcar_audit_run(store, false, &audit, &error) != BOXCAR_OK)
        errx(99, "audit: %s", error.message);
    expect(ledger, "without a trace", 0, audit.lost);
    conclude(ledger, verdict, "the audit finds no message without a trace");
    boxcar_store_close(store);
}
