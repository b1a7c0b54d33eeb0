#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream_trial.h"

/* Messages by stream and work id, with the place of their evidence. */
struct member {
    char stream[32];
    int64_t work_id;
    const struct start *first; /* of its events, in the order of time */
    size_t count;
};

struct members {
    struct member *rows;
    size_t count;
};

static void add_member(void *context, const char *const *values) {
    struct members *members = context;
    if (members->count % 4096 == 0) {
        members->rows = realloc(members->rows, (members->count + 4096) * sizeof(*members->rows));
        if (!members->rows)
            err(99, "members");
    }
    struct member *member = &members->rows[members->count++];
    *member = (struct member){.work_id = strtoll(values[1], NULL, 10)};
    snprintf(member->stream, sizeof(member->stream), "%s", values[0]);
}

static int compare_ids(const void *key, const void *row) {
    int64_t a = *(const int64_t *)key, b = ((const struct start *)row)->work_id;
    return (a > b) - (a < b);
}

static void find_events(struct member *member, const struct starts *starts) {
    const struct start *end = starts->rows + starts->count, *found = NULL;
    if (starts->count > 0)
        found = bsearch(&member->work_id, starts->rows, starts->count, sizeof(*starts->rows), compare_ids);
    if (!found)
        return;
    while (found > starts->rows && found[-1].work_id == member->work_id)
        found--;
    member->first = found;
    while (found + member->count < end && found[member->count].work_id == member->work_id)
        member->count++;
}

/* The last event before a time, or NULL. */
static const struct start *last_before(const struct member *member, int64_t at_us) {
    const struct start *last = NULL;
    for (size_t i = 0; i < member->count && member->first[i].at_us <= at_us; i++)
        last = &member->first[i];
    return last;
}

static bool is(const struct start *event, const char *name) {
    return event && strcmp(event->event, name) == 0;
}

static int64_t last_start_us(const struct member *member) {
    int64_t at = -1;
    for (size_t i = 0; i < member->count; i++)
        if (is(&member->first[i], "start"))
            at = member->first[i].at_us;
    return at;
}

static void check_pair(struct trial *trial, const struct member *earlier, const struct member *later) {
    for (size_t i = 0; i < later->count; i++) {
        const struct start *event = &later->first[i], *before;
        if (!is(event, "start"))
            continue;
        before = last_before(earlier, event->at_us);
        if (!is(before, "end"))
            offend(&trial->ledger, "%s: work id %lld was begun while %lld was %s", later->stream,
                   (long long)later->work_id, (long long)earlier->work_id,
                   before ? before->event : "not yet begun");
    }
    if (last_start_us(earlier) > last_start_us(later))
        offend(&trial->ledger, "%s: work id %lld was handled again after %lld", later->stream,
               (long long)earlier->work_id, (long long)later->work_id);
}

void check_order(struct trial *trial) {
    struct members members = {0};
    struct starts starts;
    int64_t untouched = 0, again = 0;
    ledger_sql_each(&trial->ledger, "select stream, work_id from boxcar_message order by stream, work_id",
                    "select stream, work_id from message order by stream, work_id", add_member, &members);
    starts_read(&starts, trial->evidence);
    for (size_t i = 0; i < members.count; i++) {
        find_events(&members.rows[i], &starts);
        untouched += members.rows[i].count == 0;
        if (i > 0 && strcmp(members.rows[i - 1].stream, members.rows[i].stream) == 0)
            check_pair(trial, &members.rows[i - 1], &members.rows[i]);
    }
    conclude(&trial->ledger, &trial->verdict,
             "no message was handled before the one before it in its stream");
    judge(trial, "every message was handled", untouched);
    for (size_t i = 0; i < starts.count; i++)
        again += is(&starts.rows[i], "fail");
    printf("%s: %zu messages, %lld starts, %lld of them failed on purpose\n", trial->name, members.count,
           (long long)starts_count(&starts, "start", 0), (long long)again);
    judge(trial, "the store has seen no message acked before an earlier one",
          sql_number(trial, "select count(*) from boxcar_stream_violation",
                     "select count(*) from stream_violation"));
    starts_free(&starts);
    free(members.rows);
}
