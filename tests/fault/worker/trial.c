/* Looking and judging. */
#include "trial.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t sql_number(struct trial *trial, const char *sqlite_text, const char *postgres_text) {
    return ledger_sql_number(&trial->ledger, sqlite_text, postgres_text);
}

int64_t count_finished(struct trial *trial) {
    return sql_number(trial,
                      "select (select coalesce(sum(last_id - first_id + 1), 0) from boxcar_finished)"
                      " + (select count(*) from boxcar_dead)",
                      "select (select coalesce(sum(last_id - first_id + 1), 0) from finished)"
                      " + (select count(*) from dead)");
}

static void write_owner(const struct worker *worker, char hex[33]) {
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", worker->owner.uuid.bytes[i]);
}

int64_t count_done_by(struct trial *trial, const struct worker *worker) {
    char sqlite_text[256], postgres_text[256], hex[33];
    write_owner(worker, hex);
    snprintf(sqlite_text, sizeof(sqlite_text),
             "select coalesce(sum(last_id - first_id + 1), 0) from boxcar_finished where owner = x'%s'", hex);
    snprintf(postgres_text, sizeof(postgres_text),
             "select coalesce(sum(last_id - first_id + 1), 0) from finished where owner = '%s'",
             worker->owner_text);
    return sql_number(trial, sqlite_text, postgres_text);
}

int64_t count_held_since(struct trial *trial, const struct worker *worker, int64_t *last_epoch,
                         int64_t charged_from) {
    char sqlite_text[512], postgres_text[512], hex[33];
    int64_t before = *last_epoch;
    write_owner(worker, hex);
    snprintf(sqlite_text, sizeof(sqlite_text),
             "select max(%" PRId64 ", ifnull(max(epoch), 0)) from boxcar_lease where owner = x'%s'", before,
             hex);
    snprintf(postgres_text, sizeof(postgres_text),
             "select greatest(%" PRId64 ", max(epoch)) from lease where owner = '%s'", before,
             worker->owner_text);
    *last_epoch = sql_number(trial, sqlite_text, postgres_text);
    snprintf(sqlite_text, sizeof(sqlite_text),
             "select (select count(*) from boxcar_lease where owner = x'%s' and epoch > %" PRId64
             " and epoch <= %" PRId64
             ") + (select count(*) from boxcar_attempt where owner = x'%s' and at >= %" PRId64 ")",
             hex, before, *last_epoch, hex, charged_from);
    snprintf(postgres_text, sizeof(postgres_text),
             "select (select count(*) from lease l, _ids(l.items) where l.owner = '%s' and epoch > %" PRId64
             " and epoch <= %" PRId64 ") + (select count(*) from attempt where owner = '%s' "
             "and extract(epoch from at) * 1000000 >= %" PRId64 ")",
             worker->owner_text, before, *last_epoch, worker->owner_text, charged_from);
    return sql_number(trial, sqlite_text, postgres_text);
}

int64_t store_clock_us(struct trial *trial) {
    return sql_number(trial, "select cast((julianday('now') - 2440587.5) * 86400000000 as integer)",
                      "select (extract(epoch from clock_timestamp()) * 1000000)::bigint");
}

int64_t count_held_by(struct trial *trial, const struct worker *worker) {
    int64_t last_epoch = 0;
    return count_held_since(trial, worker, &last_epoch, INT64_MAX);
}

static void give_up(struct trial *trial, const char *what, int64_t wanted, int64_t got) {
    char text[160];
    trial->has_failed = true;
    snprintf(text, sizeof(text), "%s in time: %lld, wanted %lld", what, (long long)got, (long long)wanted);
    judge(trial, text, 1);
}

bool wait_finished(struct trial *trial, int64_t count, int64_t ms) {
    int64_t end = now_us() + ms * 1000, got;
    while ((got = count_finished(trial)) < count) {
        if (now_us() > end || workers_any_ended(trial)) {
            give_up(trial, "messages finished", count, got);
            return false;
        }
        pause_ms(trial->full ? 200 : 30);
    }
    return true;
}

bool wait_starts(struct trial *trial, const char *event, int64_t count, int64_t ms) {
    int64_t end = now_us() + ms * 1000;
    for (;;) {
        struct starts starts;
        starts_read(&starts, trial->evidence);
        int64_t got = starts_count(&starts, event, 0);
        starts_free(&starts);
        if (got >= count)
            return true;
        if (now_us() > end) {
            give_up(trial, event, count, got);
            return false;
        }
        pause_ms(10);
    }
}

/* ---- items ---- */

static void add_item(void *context, const char *const *values) {
    struct items *items = context;
    if (items->count % 4096 == 0) {
        items->rows = realloc(items->rows, (items->count + 4096) * sizeof(*items->rows));
        if (!items->rows)
            err(99, "items");
    }
    struct item *item = &items->rows[items->count++];
    item->work_id = strtoll(values[0], NULL, 10);
    snprintf(item->topic, sizeof(item->topic), "%s", values[1]);
    snprintf(item->status, sizeof(item->status), "%s", values[2]);
    item->retry_count = atoi(values[3]);
    snprintf(item->processed_by, sizeof(item->processed_by), "%s", values[4]);
}

void items_read(struct trial *trial, struct items *items) {
    *items = (struct items){0};
    ledger_sql_each(
        &trial->ledger,
        "select work_id, topic, status, retry_count, processed_by from boxcar_outbox order by work_id",
        "select work_id, topic, status, retry_count, processed_by from outbox order by work_id", add_item,
        items);
}

void items_free(struct items *items) {
    free(items->rows);
    *items = (struct items){0};
}

/* ---- judging ---- */

void judge(struct trial *trial, const char *promise, int64_t offences) {
    verdict_add(&trial->verdict, promise, offences);
}

void judge_all_done(struct trial *trial) {
    struct items items;
    items_read(trial, &items);
    for (size_t i = 0; i < items.count; i++)
        if (strcmp(items.rows[i].status, "done") != 0)
            offend(&trial->ledger, "work id %lld is %s after %d attempts", (long long)items.rows[i].work_id,
                   items.rows[i].status, items.rows[i].retry_count);
    conclude(&trial->ledger, &trial->verdict, "every message is done");
    judge(trial, "every message that was enqueued is there once",
          llabs(trial->enqueued - (int64_t)items.count) +
              llabs(trial->enqueued - sql_number(trial, "select count(*) from boxcar_message",
                                                 "select count(*) from message")));
    judge(trial, "nothing is left in progress",
          sql_number(trial, "select count(*) from boxcar_lease", "select count(*) from lease"));
    judge(trial, "nothing is left waiting",
          sql_number(trial, "select count(*) from boxcar_parked", "select count(*) from parked"));
    items_free(&items);
}

void judge_starts(struct trial *trial, bool charged) {
    struct items items;
    struct starts starts;
    int64_t repeated = 0, most = 0;
    items_read(trial, &items);
    starts_read(&starts, trial->evidence);
    for (size_t i = 0; i < items.count; i++) {
        const struct item *item = &items.rows[i];
        int64_t count = starts_count(&starts, "start", item->work_id);
        repeated += count > 1 ? count - 1 : 0;
        most = count > most ? count : most;
        if (count < 1 || count > 1 + (charged ? item->retry_count : 0))
            offend(&trial->ledger, "work id %lld was started %lld times, %d attempts are counted",
                   (long long)item->work_id, (long long)count, item->retry_count);
    }
    printf("%s: %lld starts of %zu messages, %lld repeated, at most %lld of one\n", trial->name,
           (long long)starts_count(&starts, "start", 0), items.count, (long long)repeated, (long long)most);
    conclude(&trial->ledger, &trial->verdict,
             charged ? "every message was started, and again only for an attempt that was counted"
                     : "every message was started exactly once");
    starts_free(&starts);
    items_free(&items);
}
