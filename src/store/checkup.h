/* The rules by which facts become findings, the same for every store. A store gathers the
 * facts; what is peculiar to it, it judges itself. */
#ifndef BOXCAR_STORE_CHECKUP_H
#define BOXCAR_STORE_CHECKUP_H

#include "base/buf.h"
#include "base/memory.h"
#include "finding.h"

#define CHECKUP_LEASE_OVERDUE_SECONDS 10 /* claims release expired leases long before */
#define CHECKUP_LATELY_SECONDS 3600
#define CHECKUP_COUNT_MAX 10000 /* where counting stops */

/* "42s", "5m", "3h", "2d": as the command line writes durations. */
#define CHECKUP_AGE_SIZE 24
const char *checkup_age(double seconds, char ret_text[CHECKUP_AGE_SIZE]);
#define CHECKUP_AGE(seconds) checkup_age((seconds), (char[CHECKUP_AGE_SIZE]){0})
/* "12 MiB". */
const char *checkup_bytes(int64_t bytes, char ret_text[CHECKUP_AGE_SIZE]);
#define CHECKUP_BYTES(bytes) checkup_bytes((bytes), (char[CHECKUP_AGE_SIZE]){0})

/* ---- the store itself ---- */
void checkup_schema(struct findings *findings, int version, int oldest_program);
/* `ahead_us`: this host's clock less the database's, give or take `uncertain_us`. */
void checkup_clock(struct findings *findings, int64_t ahead_us, int64_t uncertain_us);
void checkup_disk(struct findings *findings, int64_t free_bytes, int64_t all_bytes);

/* Parts of the schema that are not as they were deployed, by name: "the view outbox, the index lease_until".
 */
struct parts {
    struct buf names; /* of the first few */
    size_t count;
};

struct schema_parts {
    struct parts lost;    /* init cannot make them again: tables */
    struct parts missing; /* init makes them again, as it does those that were changed */
    struct parts changed;
};
#define SCHEMA_PARTS_INIT ((struct schema_parts){.lost = {.count = 0}})
#define AUTO_SCHEMA_PARTS CLEANUP(schema_parts_release)

/* checkup_parts.c */
void parts_add(struct parts *parts, const char *kind, boxcar_str name);
/* A finding for each sort. `init`: how to run init here. */
boxcar_status checkup_parts(struct findings *findings, const struct schema_parts *parts, const char *init,
                            boxcar_error *err);
void schema_parts_release(struct schema_parts *parts);

/* ---- the messages of a box ---- */
struct live_host {
    boxcar_str name;
    int64_t workers;
};

struct waiting_topic {
    boxcar_str topic;
    int64_t ready; /* 0 = some; the number is unknown */
    double age_seconds;
};

struct box_facts {
    boxcar_box box;            /* or the number of a subscription */
    const boxcar_stats *stats; /* of all topics, then of each */
    size_t stats_count;
    const struct waiting_topic *others; /* with ready messages, perhaps not in stats, which may be a sample */
    size_t other_count;
    int64_t live_ms; /* a worker heard of within this time is alive: the setting instance_timeout */
    const struct live_host *hosts;
    size_t host_count;
    const boxcar_str *patterns; /* of all live workers */
    size_t pattern_count;
    int64_t overdue; /* messages under leases expired for CHECKUP_LEASE_OVERDUE_SECONDS */
    double overdue_seconds;
    int64_t died_lately; /* within CHECKUP_LATELY_SECONDS, counted to CHECKUP_COUNT_MAX */
    int64_t halted;      /* streams, counted to CHECKUP_COUNT_MAX */
    int64_t violations;  /* messages acked before an earlier one of their stream, counted likewise */
    boxcar_upkeep upkeep;
    boxcar_str subscription; /* its name; absent = a main reader */
};

/* workers, unhandled_topics, expired_leases, oldest_ready, dead_letters, halted_streams, stream_order, upkeep
 */
boxcar_status checkup_box(struct findings *findings, const struct box_facts *facts, boxcar_error *err);
/* subscriptions: a finding for each of those of a box; none in a store without subscriptions. */
void checkup_subscriptions(struct findings *findings, boxcar_box box, const struct subscription_rows *rows);
/* The same checks for a role that may not look. */
void checkup_box_hidden(struct findings *findings, const char *why, const char *remedy);
/* The same checks in a store that lacks parts that looking needs; checkup_parts() has named them. */
void checkup_box_broken(struct findings *findings);
#define CHECKUP_BROKEN "not checked, because parts of the store are missing"
#define CHECKUP_BROKEN_REMEDY "mend the schema first"

#endif
