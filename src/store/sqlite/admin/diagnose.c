/* What an operator should know about a store in a file: the file and the disk it is on, then
 * what the tables tell. Only reads, but for the write lock, which it takes and gives back. */
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "admin.h"
#include "base/utf8.h"
#include "setting.h"
#include "store/checkup.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/deploy/deploy.h"
#include "store/sqlite/stream/stream.h"
#include "store/sqlite/subscription/reader.h"

#define WAL_WARNING_BYTES ((int64_t)64 << 20) /* copied back at a few MiB, unless a reader is in the way */
#define WAL_PROBLEM_BYTES ((int64_t)1 << 30)
#define FREE_PAGES_NOTE_BYTES ((int64_t)16 << 20)
#define FUTURE_WARNING_US 2000000

/* ---- the connection ---- */

static boxcar_status ask(struct sqlite_store *store, const char *pragma, int64_t *ret_number,
                         boxcar_error *err) {
    AUTO_QUERY struct query query = query_once(store, pragma);
    *ret_number = query_next(&query) ? query_get_int(&query, 0) : 0;
    return query_status(&query, err);
}

/* Locks, and the memory that WAL mode shares, do not work over these. The numbers are Linux's. */
static const char *network_of(int64_t type) {
    static const struct {
        int64_t type;
        const char *name;
    } NETWORKS[] = {
        {0x6969, "NFS"},      {0x517B, "SMB"},        {0xFE534D42, "SMB"},   {0xFF534D42, "CIFS"},
        {0x00C36400, "Ceph"}, {0x5346414F, "AFS"},    {0x6B414653, "AFS"},   {0x73757245, "Coda"},
        {0x01021997, "9p"},   {0x0BD00BD0, "Lustre"}, {0x7461636F, "OCFS2"},
    };
    for (size_t i = 0; i < sizeof(NETWORKS) / sizeof(NETWORKS[0]); i++) {
        if (NETWORKS[i].type == (type & 0xFFFFFFFF))
            return NETWORKS[i].name;
    }
    return NULL;
}

static void judge_file_system(struct findings *findings, const char *path) {
    struct statfs info;
    const char *network = statfs(path, &info) == 0 ? network_of((int64_t)info.f_type) : NULL;
    if (network == NULL)
        return;
    findings_add(findings, "connection", BOXCAR_SEVERITY_PROBLEM,
                 "the file is on a network file system (%s), where SQLite's locks cannot be relied on",
                 network);
    findings_remedy(findings, "move the file to a local disk, or use PostgreSQL");
}

/* The setting of a connection of our own changes from call to call, so its durability is shown; a borrowed
 * connection keeps its setting. */
static const char *sync_name(const struct sqlite_store *store, int64_t synchronous) {
    static const char *const NAMES[] = {"off", "normal", "full", "extra"};
    if (!store->borrowed)
        return store->relaxed ? "normal" : "full";
    return synchronous >= 0 && synchronous < 4 ? NAMES[synchronous] : "unknown";
}

static void judge_journal(struct findings *findings, boxcar_str journal) {
    bool is_unsafe = str_equal(journal, BOXCAR_STR("off")) || str_equal(journal, BOXCAR_STR("memory"));
    if (str_equal(journal, BOXCAR_STR("wal")))
        return;
    findings_add(findings, "connection", is_unsafe ? BOXCAR_SEVERITY_PROBLEM : BOXCAR_SEVERITY_NOTE,
                 "journal mode %.*s: %s", FINDING_TEXT(journal),
                 is_unsafe ? "a crash in the middle of a write destroys the file"
                           : "readers and writers wait for each other");
    findings_remedy(findings, "pragma journal_mode = wal;");
}

static boxcar_status check_connection(struct sqlite_store *store, const char *path, struct findings *findings,
                                      boxcar_error *err) {
    AUTO_QUERY struct query query = query_once(store, "pragma journal_mode");
    int64_t synchronous;
    boxcar_str journal = query_next(&query) ? query_get_text(&query, 0) : BOXCAR_NO_STR;
    TRY(query_status(&query, err));
    TRY(ask(store, "pragma synchronous", &synchronous, err));
    const char *sync = sync_name(store, synchronous);
    findings_add(findings, "connection", BOXCAR_SEVERITY_OK, "SQLite %s, journal mode %.*s, synchronous %s",
                 sqlite3_libversion(), FINDING_TEXT(journal), sync);
    judge_journal(findings, journal);
    if (strcmp(sync, "off") == 0) {
        findings_add(findings, "connection", BOXCAR_SEVERITY_WARNING,
                     "synchronous is off: a power cut can destroy the file");
        findings_remedy(findings, "pragma synchronous = full;");
    }
    if (path != NULL)
        judge_file_system(findings, path);
    return BOXCAR_OK;
}

/* ---- the file ---- */

/* The WAL cannot start over while a process reads an old state of the file. */
static void check_wal(const char *path, struct findings *findings) {
    struct stat info;
    int64_t size = path != NULL && stat(sqlite3_filename_wal(path), &info) == 0 ? (int64_t)info.st_size : 0;
    if (size <= WAL_WARNING_BYTES) {
        findings_add(findings, "held_snapshot", BOXCAR_SEVERITY_OK, "the WAL is copied back in time (%s)",
                     CHECKUP_BYTES(size));
        return;
    }
    sqlite_report_reader(
        path, size, size > WAL_PROBLEM_BYTES ? BOXCAR_SEVERITY_PROBLEM : BOXCAR_SEVERITY_WARNING, findings);
}

static boxcar_status check_bloat(struct sqlite_store *store, struct findings *findings, boxcar_error *err) {
    int64_t pages, free_pages, page_size;
    TRY(ask(store, "pragma page_count", &pages, err));
    TRY(ask(store, "pragma freelist_count", &free_pages, err));
    TRY(ask(store, "pragma page_size", &page_size, err));
    int64_t bytes = free_pages * page_size;
    if (bytes <= FREE_PAGES_NOTE_BYTES || free_pages * 2 <= pages) {
        findings_add(findings, "bloat", BOXCAR_SEVERITY_OK, "%s of the file's %s are free for new messages",
                     CHECKUP_BYTES(bytes), CHECKUP_BYTES(pages * page_size));
        return BOXCAR_OK;
    }
    findings_add(findings, "bloat", BOXCAR_SEVERITY_NOTE,
                 "%s of the file's %s are free: new messages will use them, or give them back",
                 CHECKUP_BYTES(bytes), CHECKUP_BYTES(pages * page_size));
    findings_remedy(findings, "vacuum; (it rewrites the file, and all other programs wait)");
    return BOXCAR_OK;
}

static void check_disk(const char *path, struct findings *findings) {
    struct statvfs info;
    if (path != NULL && statvfs(path, &info) == 0)
        checkup_disk(findings, (int64_t)(info.f_bavail * info.f_frsize),
                     (int64_t)(info.f_blocks * info.f_frsize));
}

/* ---- the tables ---- */

static boxcar_status check_schema(struct sqlite_store *store, sqlite3 *model, struct findings *findings,
                                  bool *ret_whole, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_SCHEMA_READ);
    *ret_whole = true;
    if (!query_next(&query))
        return query_status(&query, err);
    checkup_schema(findings, (int)query_get_int(&query, 0), (int)query_get_int(&query, 1));
    if (query_get_int(&query, 0) != STORE_SCHEMA_VERSION) /* a newer store may have other parts */
        return BOXCAR_OK;
    return sqlite_check_parts(store, model, findings, ret_whole, err);
}

/* There is one clock here; it may have been wrong before (BX-009). */
static boxcar_status check_clock(struct sqlite_store *store, struct findings *findings, boxcar_error *err) {
    boxcar_time newest = store->now;
    TRY(query_find_int(store, S_NEWEST_MESSAGE, &newest, err));
    int64_t ahead = newest - store->now;
    if (ahead <= FUTURE_WARNING_US) {
        findings_add(findings, "clock_skew", BOXCAR_SEVERITY_OK, "the newest message is not from the future");
        return BOXCAR_OK;
    }
    findings_add(findings, "clock_skew", BOXCAR_SEVERITY_WARNING,
                 "the newest message was created %s from now: the clock was set back, and leases, delays and "
                 "retentions take that much longer",
                 CHECKUP_AGE((double)ahead / 1e6));
    findings_remedy(findings, "synchronise this host's clock: timedatectl set-ntp true");
    return BOXCAR_OK;
}

/* ---- the facts about a box ---- */

struct diagnosing {
    boxcar_box box;
    const char *path; /* NULL = in memory */
    sqlite3 *model;   /* a new store to compare with */
    bool is_whole;    /* everything is there that looking needs */
    struct findings findings;
    struct arena arena; /* of the facts */
    struct box_facts facts;
};

static boxcar_status count_overdue(struct sqlite_store *store, struct box_facts *facts, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(
        store, S_OVERDUE_LEASES, Q_INT(facts->box),
        Q_INT(store->now - CHECKUP_LEASE_OVERDUE_SECONDS * INT64_C(1000000)), Q_INT(CHECKUP_COUNT_MAX));
    if (query_next(&query) && query_get_int(&query, 0) > 0) {
        facts->overdue = query_get_int(&query, 0);
        facts->overdue_seconds = (double)(store->now - query_get_int(&query, 1)) / 1e6;
    }
    return query_status(&query, err);
}

static struct query live_query(struct sqlite_store *store, enum statement statement, boxcar_box box) {
    return query_with(store, statement, Q_INT(box),
                      Q_INT(store->now - store->settings.instance_timeout_ms * 1000));
}

static boxcar_status gather_hosts(struct sqlite_store *store, struct diagnosing *diagnosing,
                                  boxcar_error *err) {
    struct box_facts *facts = &diagnosing->facts;
    AUTO_QUERY struct query query = live_query(store, S_LIVE_HOSTS, facts->box);
    struct live_host *hosts = NULL;
    for (size_t capacity = 0; query_next(&query);) {
        hosts = arena_make_room(&diagnosing->arena, hosts, facts->host_count, &capacity, sizeof(*hosts));
        if (hosts == NULL)
            return error_no_memory(err);
        facts->hosts = hosts;
        struct live_host *host = &hosts[facts->host_count++];
        host->workers = query_get_int(&query, 1);
        TRY(query_copy_text(&query, 0, &diagnosing->arena, &host->name, err));
    }
    return query_status(&query, err);
}

static boxcar_status gather_patterns(struct sqlite_store *store, struct diagnosing *diagnosing,
                                     boxcar_error *err) {
    struct box_facts *facts = &diagnosing->facts;
    AUTO_QUERY struct query query = live_query(store, S_LIVE_PATTERNS, facts->box);
    boxcar_str *patterns = NULL;
    for (size_t capacity = 0; query_next(&query);) {
        patterns =
            arena_make_room(&diagnosing->arena, patterns, facts->pattern_count, &capacity, sizeof(*patterns));
        if (patterns == NULL)
            return error_no_memory(err);
        facts->patterns = patterns;
        TRY(query_copy_text(&query, 0, &diagnosing->arena, &patterns[facts->pattern_count++], err));
    }
    return query_status(&query, err);
}

static boxcar_status gather_facts(struct sqlite_store *store, struct diagnosing *diagnosing,
                                  boxcar_error *err) {
    struct box_facts *facts = &diagnosing->facts;
    TRY(sqlite_settings_load(store, err));
    facts->live_ms = store->settings.instance_timeout_ms;
    TRY(count_overdue(store, facts, err));
    TRY(query_find_int(store, S_DIED_LATELY, &facts->died_lately, err, Q_INT(facts->box),
                       Q_INT(store->now - CHECKUP_LATELY_SECONDS * INT64_C(1000000)),
                       Q_INT(CHECKUP_COUNT_MAX)));
    TRY(sqlite_stream_count_halted(store, facts->box, CHECKUP_COUNT_MAX, &facts->halted, err));
    TRY(sqlite_stream_count_violations(store, (int)facts->box, CHECKUP_COUNT_MAX, &facts->violations, err));
    TRY(sqlite_upkeep_look(store, &facts->upkeep, err));
    TRY(gather_hosts(store, diagnosing, err));
    return gather_patterns(store, diagnosing, err);
}

/* ---- all together ---- */

/* May run again when the file was busy, so it begins with nothing. */
static boxcar_status examine(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct diagnosing *diagnosing = context;
    struct findings *findings = &diagnosing->findings;
    list_free(findings->list);
    *findings = findings_begin();
    arena_release(&diagnosing->arena);
    diagnosing->facts = (struct box_facts){.box = diagnosing->box};
    TRY(check_connection(store, diagnosing->path, findings, err));
    TRY(check_schema(store, diagnosing->model, findings, &diagnosing->is_whole, err));
    check_wal(diagnosing->path, findings);
    TRY(check_bloat(store, findings, err));
    check_disk(diagnosing->path, findings);
    if (!diagnosing->is_whole)
        return BOXCAR_OK;
    TRY(check_clock(store, findings, err));
    TRY(sqlite_check_rows(store, findings, err));
    TRY(sqlite_reader_enter(store, diagnosing->box, err));
    return gather_facts(store, diagnosing, err);
}

static boxcar_status judge_box(struct boxcar_store *base, struct diagnosing *diagnosing, boxcar_error *err) {
    if (!diagnosing->is_whole) {
        checkup_box_broken(&diagnosing->findings);
        return BOXCAR_OK;
    }
    struct stats_rows *stats;
    TRY(sqlite_stats(base, diagnosing->box, true, &stats, err));
    diagnosing->facts.stats = stats->items;
    diagnosing->facts.stats_count = stats->count;
    boxcar_status status = checkup_box(&diagnosing->findings, &diagnosing->facts, err);
    list_free(stats);
    return status;
}

boxcar_status sqlite_diagnose(struct boxcar_store *base, boxcar_box box, bool tries_claim,
                              struct finding_rows **ret_list, boxcar_error *err) {
    struct sqlite_store *store = sqlite_of(base);
    const char *path = sqlite3_db_filename(store->db, "main");
    AUTO_MODEL sqlite3 *model = NULL;
    TRY(sqlite_model_open(store, &model, err));
    struct diagnosing diagnosing = {
        .box = box, .path = path != NULL && path[0] != '\0' ? path : NULL, .model = model};
    boxcar_status status = sqlite_transaction(store, ACCESS_READ, examine, &diagnosing, err);
    if (status == BOXCAR_OK) {
        if (tries_claim)
            sqlite_check_turn(store, diagnosing.path, &diagnosing.findings);
        status = judge_box(base, &diagnosing, err);
    }
    arena_release(&diagnosing.arena);
    return findings_end(&diagnosing.findings, status, ret_list, err);
}
