#include "checkup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "core/topic.h"

#define SKEW_WARNING_US 2000000
#define OLD_WARNING_SECONDS 300
#define DIED_WARNING 100
#define UPKEEP_NOTE_SECONDS 3600
#define UPKEEP_WARNING_SECONDS (26 * 3600) /* once a day is often enough, give or take */
#define DISK_WARNING_BYTES ((int64_t)256 << 20)
#define DISK_WARNING_SHARE 0.05
#define TOPICS_SHOWN 10
#define HOSTS_SHOWN 10
#define NAME_SHOWN 100 /* bytes of a subscription's */
#define READER_SIZE (NAME_SHOWN + 32)

const char *checkup_age(double seconds, char ret_text[CHECKUP_AGE_SIZE]) {
    static const struct {
        double unit;
        const char *name;
    } UNITS[] = {{86400, "d"}, {3600, "h"}, {60, "m"}};

    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        if (seconds < 2 * UNITS[i].unit)
            continue;
        snprintf(ret_text, CHECKUP_AGE_SIZE, "%.0f%s", seconds / UNITS[i].unit, UNITS[i].name);
        return ret_text;
    }
    snprintf(ret_text, CHECKUP_AGE_SIZE, seconds < 10 ? "%.1fs" : "%.0fs", seconds);
    return ret_text;
}

const char *checkup_bytes(int64_t bytes, char ret_text[CHECKUP_AGE_SIZE]) {
    static const char *const UNITS[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double amount = (double)bytes;
    size_t unit = 0;

    for (; amount >= 1024 && unit + 1 < sizeof(UNITS) / sizeof(UNITS[0]); unit++)
        amount /= 1024;
    snprintf(ret_text, CHECKUP_AGE_SIZE, unit && amount < 10 ? "%.1f %s" : "%.0f %s", amount, UNITS[unit]);
    return ret_text;
}

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

/* ---- the store itself ---- */

/* Opening refuses a store that is too old or too new, so only the ways to differ are left (BX-029). */
void checkup_schema(struct findings *findings, int version, int oldest_program) {
    if (version > STORE_SCHEMA_VERSION) {
        findings_add(
            findings, "schema", BOXCAR_SEVERITY_NOTE,
            "schema version %d is newer than this program's %d, which it still accepts (%d or newer)",
            version, STORE_SCHEMA_VERSION, oldest_program);
        findings_remedy(findings, "upgrade this program when it suits you");
        return;
    }
    findings_add(findings, "schema", BOXCAR_SEVERITY_OK,
                 "schema version %d, as this program wants it; programs from version %d on are accepted",
                 version, oldest_program);
}

/* Nothing Boxcar decides depends on this clock (BX-009); logs and times that people type do. */
void checkup_clock(struct findings *findings, int64_t ahead_us, int64_t uncertain_us) {
    int64_t size = ahead_us < 0 ? -ahead_us : ahead_us;
    double seconds = (double)size / 1e6, uncertain = (double)uncertain_us / 1e6;

    if (size - uncertain_us <= SKEW_WARNING_US) {
        findings_add(findings, "clock_skew", BOXCAR_SEVERITY_OK,
                     "this host's clock and the database's differ by %.3fs (give or take %.3fs)", seconds,
                     uncertain);
        return;
    }
    findings_add(
        findings, "clock_skew", BOXCAR_SEVERITY_WARNING,
        "this host's clock is %.1fs %s the database's (give or take %.3fs); only the database's counts, "
        "but this host's logs, and due times it works out itself, are off",
        seconds, ahead_us < 0 ? "behind" : "ahead of", uncertain);
    findings_remedy(findings, "synchronise this host's clock: timedatectl set-ntp true");
}

void checkup_disk(struct findings *findings, int64_t free_bytes, int64_t all_bytes) {
    double share = all_bytes > 0 ? (double)free_bytes / (double)all_bytes : 1;
    bool low = free_bytes < DISK_WARNING_BYTES || share < DISK_WARNING_SHARE;

    findings_add(findings, "disk", low ? BOXCAR_SEVERITY_WARNING : BOXCAR_SEVERITY_OK,
                 "%s (%.0f%%) free where the file is", CHECKUP_BYTES(free_bytes), share * 100);
    if (low)
        findings_remedy(findings, "free some space; boxcar maintain --once removes old messages");
}

/* ---- workers ---- */

/* Counters of a large store are estimates. */
static const char *about(const struct box_facts *facts) {
    return facts->stats_count > 0 && !facts->stats[0].exact ? "about " : "";
}

/* Counting stops there. */
static const char *at_least(int64_t count) { return count >= CHECKUP_COUNT_MAX ? "at least " : ""; }

/* For remedies: commands look at the main reader of the outbox unless told otherwise. */
static const char *box_option(const struct box_facts *facts, char ret_text[READER_SIZE]) {
    boxcar_str name = utf8_cut(facts->subscription, NAME_SHOWN);

    if (facts->box > BOXCAR_INBOX)
        snprintf(ret_text, READER_SIZE, " --subscription %.*s", name.data ? (int)name.len : 4,
                 name.data ? name.data : "NAME");
    return facts->box > BOXCAR_INBOX ? ret_text : facts->box == BOXCAR_INBOX ? " --box inbox" : "";
}
#define BOX_OPTION(facts) box_option((facts), (char[READER_SIZE]){0})

/* For what may stand among findings about the outbox. */
static const char *of_box(const struct box_facts *facts) {
    return facts->box > BOXCAR_INBOX    ? " of the subscription"
           : facts->box == BOXCAR_INBOX ? " of the inbox"
                                        : "";
}

static bool is_anything_ready(const struct box_facts *facts) {
    return facts->stats_count > 0 && facts->stats[0].ready > 0;
}

/* A program that claims by SQL or in C sends no heartbeat; its leases show that it is there. */
static void judge_absence(struct findings *findings, const struct box_facts *facts) {
    const boxcar_stats *all = facts->stats;
    const char *live = CHECKUP_AGE((double)facts->live_ms / 1000);

    if (!is_anything_ready(facts)) {
        findings_add(findings, "workers", BOXCAR_SEVERITY_OK, "no worker is running, and nothing is ready");
        return;
    }
    if (all->in_progress > 0) {
        findings_add(findings, "workers", BOXCAR_SEVERITY_NOTE,
                     "no worker has reported within %s; a program without heartbeats holds leases", live);
        return;
    }
    findings_add(findings, "workers", BOXCAR_SEVERITY_WARNING,
                 "no worker has reported within %s while %s%lld message%s %s ready", live, about(facts),
                 (long long)all->ready, plural(all->ready), all->ready == 1 ? "is" : "are");
    findings_remedy(findings, "start one: boxcar worker%s --%shandler TOPIC=exec:COMMAND",
                    facts->box > BOXCAR_INBOX ? BOX_OPTION(facts) : "",
                    facts->box == BOXCAR_INBOX ? "inbox-" : "");
}

static void judge_workers(struct findings *findings, const struct box_facts *facts) {
    AUTO_BUF struct buf text = BUF_INIT;
    int64_t workers = 0;

    if (facts->host_count == 0) {
        judge_absence(findings, facts);
        return;
    }
    for (size_t i = 0; i < facts->host_count; i++)
        workers += facts->hosts[i].workers;
    buf_append_format(&text, "%lld worker%s on %zu host%s: ", (long long)workers, plural(workers),
                      facts->host_count, plural((int64_t)facts->host_count));
    for (size_t i = 0; i < facts->host_count && i < HOSTS_SHOWN; i++)
        buf_append_format(&text, "%s%.*s (%lld)", i ? ", " : "", FINDING_TEXT(facts->hosts[i].name),
                          (long long)facts->hosts[i].workers);
    if (facts->host_count > HOSTS_SHOWN)
        buf_append_text(&text, ", ...");
    findings_add_text(findings, "workers", BOXCAR_SEVERITY_OK, &text);
}

/* ---- topics that no worker handles (BX-024) ---- */

static bool is_handled(const struct box_facts *facts, boxcar_str topic) {
    return topic_best_match(facts->patterns, facts->pattern_count, sizeof(*facts->patterns), topic) >= 0;
}

static bool is_in_stats(const struct box_facts *facts, boxcar_str topic) {
    for (size_t i = 1; i < facts->stats_count; i++)
        if (facts->stats[i].ready > 0 && str_equal(facts->stats[i].topic, topic))
            return true;
    return false;
}

/* Those that are only known to be many come first. */
static int by_backlog(const void *left, const void *right) {
    const struct waiting_topic *a = left, *b = right;
    int64_t ready_a = a->ready ? a->ready : INT64_MAX, ready_b = b->ready ? b->ready : INT64_MAX;

    if (ready_a != ready_b)
        return ready_a < ready_b ? 1 : -1;
    return a->age_seconds < b->age_seconds ? 1 : a->age_seconds > b->age_seconds ? -1 : 0;
}

static size_t find_unhandled(const struct box_facts *facts, struct waiting_topic *ret_topics) {
    size_t count = 0;

    for (size_t i = 1; i < facts->stats_count; i++) {
        const boxcar_stats *stats = &facts->stats[i];

        if (stats->ready > 0 && !is_handled(facts, stats->topic))
            ret_topics[count++] =
                (struct waiting_topic){stats->topic, stats->ready, stats->oldest_ready_age_seconds};
    }
    for (size_t i = 0; i < facts->other_count; i++)
        if (!is_handled(facts, facts->others[i].topic) && !is_in_stats(facts, facts->others[i].topic))
            ret_topics[count++] = facts->others[i];
    qsort(ret_topics, count, sizeof(*ret_topics), by_backlog);
    return count;
}

static void add_unhandled(struct findings *findings, const struct box_facts *facts,
                          const struct waiting_topic *topic) {
    if (topic->ready > 0)
        findings_add(findings, "unhandled_topics", BOXCAR_SEVERITY_WARNING,
                     "no running worker handles %.*s: %s%lld ready, the oldest for %s",
                     FINDING_TEXT(topic->topic), about(facts), (long long)topic->ready,
                     CHECKUP_AGE(topic->age_seconds));
    else
        findings_add(findings, "unhandled_topics", BOXCAR_SEVERITY_WARNING,
                     "no running worker handles %.*s: the oldest is ready for %s", FINDING_TEXT(topic->topic),
                     CHECKUP_AGE(topic->age_seconds));
    findings_remedy(findings, "give a worker %s for this topic (discard drops its messages)",
                    facts->box == BOXCAR_INBOX ? "an --inbox-handler" : "a --handler");
}

static boxcar_status judge_topics(struct findings *findings, const struct box_facts *facts,
                                  boxcar_error *err) {
    AUTO_FREE struct waiting_topic *topics =
        calloc(facts->stats_count + facts->other_count + 1, sizeof(*topics));

    if (!topics)
        return error_no_memory(err);
    if (facts->host_count == 0) {
        findings_add(findings, "unhandled_topics", BOXCAR_SEVERITY_OK,
                     "not compared with workers, since none is running");
        return BOXCAR_OK;
    }
    size_t count = find_unhandled(facts, topics);
    for (size_t i = 0; i < count && i < TOPICS_SHOWN; i++)
        add_unhandled(findings, facts, &topics[i]);
    if (count > TOPICS_SHOWN) {
        findings_add(findings, "unhandled_topics", BOXCAR_SEVERITY_WARNING,
                     "%zu more topics with ready messages are handled by no running worker",
                     count - TOPICS_SHOWN);
        findings_remedy(findings, "boxcar stats --by-topic%s lists them all", BOX_OPTION(facts));
    }
    if (count == 0)
        findings_add(findings, "unhandled_topics", BOXCAR_SEVERITY_OK,
                     "every topic with ready messages is handled by a running worker");
    return BOXCAR_OK;
}

/* ---- the rest of a box ---- */

static void judge_leases(struct findings *findings, const struct box_facts *facts) {
    if (facts->overdue == 0) {
        findings_add(findings, "expired_leases", BOXCAR_SEVERITY_OK, "no lease has expired unnoticed");
        return;
    }
    findings_add(findings, "expired_leases", BOXCAR_SEVERITY_WARNING,
                 "%lld message%s under leases that expired up to %s ago and were not released",
                 (long long)facts->overdue, facts->overdue == 1 ? " is" : "s are",
                 CHECKUP_AGE(facts->overdue_seconds));
    findings_remedy(findings, "no worker claims their topics: start one; until then run boxcar reap%s",
                    BOX_OPTION(facts));
}

static void judge_oldest(struct findings *findings, const struct box_facts *facts) {
    double age = facts->stats_count > 0 ? facts->stats[0].oldest_ready_age_seconds : 0;

    if (!is_anything_ready(facts)) {
        findings_add(findings, "oldest_ready", BOXCAR_SEVERITY_OK, "nothing is ready");
        return;
    }
    findings_add(findings, "oldest_ready",
                 age > OLD_WARNING_SECONDS ? BOXCAR_SEVERITY_WARNING : BOXCAR_SEVERITY_OK,
                 "%s%lld message%s ready, the oldest for %s", about(facts), (long long)facts->stats[0].ready,
                 facts->stats[0].ready == 1 ? " is" : "s are", CHECKUP_AGE(age));
    if (age > OLD_WARNING_SECONDS)
        findings_remedy(findings,
                        "more workers, or a higher --concurrency; boxcar stats --by-topic%s shows where",
                        BOX_OPTION(facts));
}

static void judge_dead(struct findings *findings, const struct box_facts *facts) {
    int64_t all = facts->stats_count > 0 ? facts->stats[0].failed : 0;
    boxcar_severity severity =
        facts->died_lately >= DIED_WARNING ? BOXCAR_SEVERITY_WARNING : BOXCAR_SEVERITY_NOTE;

    if (all == 0 && facts->died_lately == 0) {
        findings_add(findings, "dead_letters", BOXCAR_SEVERITY_OK, "there are none");
        return;
    }
    findings_add(findings, "dead_letters", severity,
                 "%lld dead letter%s, %s%lld of them died in the last hour", (long long)all, plural(all),
                 at_least(facts->died_lately), (long long)facts->died_lately);
    findings_remedy(findings, "boxcar dead ls%s shows why; boxcar dead replay%s makes them ready again",
                    BOX_OPTION(facts), BOX_OPTION(facts));
}

static void judge_halted(struct findings *findings, const struct box_facts *facts) {
    if (facts->halted == 0) {
        findings_add(findings, "halted_streams", BOXCAR_SEVERITY_OK, "no stream is halted");
        return;
    }
    findings_add(findings, "halted_streams", BOXCAR_SEVERITY_WARNING,
                 "%s%lld stream%s%s %s halted: a message died, and the messages after it wait",
                 at_least(facts->halted), (long long)facts->halted, plural(facts->halted), of_box(facts),
                 facts->halted == 1 ? "is" : "are");
    findings_remedy(findings, "boxcar stream ls --halted%s shows them; boxcar stream resume%s resumes one",
                    BOX_OPTION(facts), BOX_OPTION(facts));
}

static void judge_order(struct findings *findings, const struct box_facts *facts) {
    if (facts->violations == 0) {
        findings_add(findings, "stream_order", BOXCAR_SEVERITY_OK, "no stream was handled out of order");
        return;
    }
    findings_add(findings, "stream_order", BOXCAR_SEVERITY_PROBLEM,
                 "%s%lld message%s of streams%s %s acked before an earlier one was finished",
                 at_least(facts->violations), (long long)facts->violations, plural(facts->violations),
                 of_box(facts), facts->violations == 1 ? "was" : "were");
    findings_remedy(findings, "a claimer handled the messages of a stream out of order, or continued after "
                              "one that failed: let it handle them in order, as boxcar worker does");
}

static bool is_anything_there(const struct box_facts *facts) {
    const boxcar_stats *all = facts->stats;

    return facts->stats_count > 0 &&
           all->ready + all->waiting + all->in_progress + all->done + all->failed > 0;
}

/* Claims release expired leases, too. Only upkeep removes messages that are past their retention. */
static void judge_upkeep(struct findings *findings, const struct box_facts *facts) {
    double seconds = facts->upkeep.seconds;
    const char *age = CHECKUP_AGE(seconds);
    boxcar_severity severity = seconds > UPKEEP_WARNING_SECONDS ? BOXCAR_SEVERITY_WARNING
                               : seconds > UPKEEP_NOTE_SECONDS  ? BOXCAR_SEVERITY_NOTE
                                                                : BOXCAR_SEVERITY_OK;

    if (!is_anything_there(facts))
        severity = BOXCAR_SEVERITY_OK;
    if (facts->upkeep.has_run)
        findings_add(findings, "upkeep", severity, "upkeep ran %s ago", age);
    else
        findings_add(findings, "upkeep", severity,
                     "upkeep never ran in the %s since the store was deployed or upgraded", age);
    if (severity == BOXCAR_SEVERITY_OK)
        return;
    findings_remedy(findings,
                    "old messages are not removed, and counters get slow: run a worker whose maintain is "
                    "not 0, or boxcar maintain, or boxcar maintain --once from cron");
}

boxcar_status checkup_box(struct findings *findings, const struct box_facts *facts, boxcar_error *err) {
    judge_workers(findings, facts);
    TRY(judge_topics(findings, facts, err));
    judge_leases(findings, facts);
    judge_oldest(findings, facts);
    judge_dead(findings, facts);
    judge_halted(findings, facts);
    judge_order(findings, facts);
    judge_upkeep(findings, facts);
    return BOXCAR_OK;
}

void checkup_box_hidden(struct findings *findings, const char *why, const char *remedy) {
    static const char *const CHECKS[] = {"workers",      "unhandled_topics", "expired_leases",
                                         "oldest_ready", "dead_letters",     "halted_streams",
                                         "stream_order", "upkeep",           NULL};

    findings_add_unchecked(findings, CHECKS, why, remedy);
}
