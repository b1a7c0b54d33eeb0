/* What an operator should know about a store on PostgreSQL. Facts come from a few small
 * queries; only reads, each a statement of its own, so that a pooler does no harm. A query that
 * the role may not run is not tried: in a borrowed transaction the error would end it. */
#include "diagnose.h"

#include <string.h>
#include <time.h>

#include "admin.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "core/setting.h"
#include "store/checkup.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/deploy/deploy.h"

#define CLOCK_TRIES 3
#define TOPICS_MAX 1000
#define DEAD_ROWS_WARNING 100000
#define OLDEST_SERVER 140000

struct server {
    bool syncs, commits_durably, vacuums, is_standby;
    boxcar_str isolation, role; /* lent by the result */
    bool has_functions, may_look, may_claim;
    bool is_direct; /* no pooler between */
};

static struct server read_server(const struct pg_store *pg, const PGresult *result) {
    bool has_functions = pg_get_int8(result, 0, 6) >= PG_DOCTOR_FUNCTIONS;

    return (struct server){.syncs = pg_get_bool(result, 0, 0),
                           .commits_durably = pg_get_bool(result, 0, 1),
                           .isolation = pg_get_text(result, 0, 2),
                           .vacuums = pg_get_bool(result, 0, 3),
                           .is_standby = pg_get_bool(result, 0, 4),
                           .role = pg_get_text(result, 0, 5),
                           .has_functions = has_functions,
                           .may_look = has_functions && pg_get_int8(result, 0, 7) >= PG_DOCTOR_FUNCTIONS,
                           .is_direct = pg_get_int4(result, 0, 8) == PQbackendPID(pg->conn),
                           .may_claim = pg_get_bool(result, 0, 9)};
}

/* ---- connection ---- */

/* libpq takes a path, or @, for a socket; PQhost() may be a name while PQhostaddr() is set. */
static bool is_local(PGconn *conn) {
    const char *address = PQhostaddr(conn), *host = PQhost(conn);
    const char *where = address && address[0] ? address : host ? host : "";

    return where[0] == '\0' || where[0] == '/' || where[0] == '@' || strcmp(where, "localhost") == 0 ||
           strncmp(where, "127.", 4) == 0 || strcmp(where, "::1") == 0;
}

static void judge_line(struct findings *findings, const struct pg_store *pg, bool is_direct) {
    int version = PQserverVersion(pg->conn);
    bool local = is_local(pg->conn), encrypted = PQsslInUse(pg->conn);

    findings_add(findings, "connection",
                 version < OLDEST_SERVER ? BOXCAR_SEVERITY_PROBLEM : BOXCAR_SEVERITY_OK,
                 "PostgreSQL %d.%d, %s, %s", version / 10000, version % 10000,
                 is_direct ? "directly" : "through a pooler",
                 encrypted ? "with TLS"
                 : local   ? "on this host"
                           : "without TLS");
    if (version < OLDEST_SERVER)
        findings_remedy(findings, "upgrade the server: Boxcar needs PostgreSQL %d", OLDEST_SERVER / 10000);
    if (local || encrypted)
        return;
    findings_add(findings, "connection", BOXCAR_SEVERITY_NOTE,
                 "the server is another host and the connection is not encrypted");
    findings_remedy(findings, "add sslmode=verify-full to the URL");
}

static void judge_server(struct findings *findings, const struct server *server) {
    if (!server->syncs) {
        findings_add(findings, "connection", BOXCAR_SEVERITY_WARNING,
                     "fsync is off: a crash of the server's host can destroy the database");
        findings_remedy(findings, "alter system set fsync = on; select pg_reload_conf();");
    }
    if (!server->commits_durably) {
        findings_add(findings, "connection", BOXCAR_SEVERITY_WARNING,
                     "synchronous_commit is off: the newest messages can be lost when the server crashes");
        findings_remedy(findings, "alter role %.*s set synchronous_commit = on;", FINDING_TEXT(server->role));
    }
    if (server->is_standby) {
        findings_add(findings, "connection", BOXCAR_SEVERITY_WARNING,
                     "this server is a standby: it can be looked at, but nothing can be enqueued or claimed");
        findings_remedy(findings, "connect to the primary: add target_session_attrs=read-write to the URL");
    }
    if (!str_equal(server->isolation, BOXCAR_STR("read committed"))) {
        findings_add(findings, "connection", BOXCAR_SEVERITY_NOTE,
                     "transactions are %.*s by default: claims by SQL are refused in them (the library says "
                     "READ COMMITTED itself)",
                     FINDING_TEXT(server->isolation));
        findings_remedy(findings, "begin isolation level read committed; before you claim by SQL");
    }
}

/* ---- clock ---- */

static int64_t host_now_us(void) {
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* The database's clock was read at some time between sending and receiving; the shortest of a
 * few round trips tells most. */
static boxcar_status check_clock(struct pg_store *pg, struct findings *findings, boxcar_error *err) {
    int64_t best_ahead = 0, best_uncertain = INT64_MAX;

    for (int i = 0; i < CLOCK_TRIES; i++) {
        AUTO_RESULT PGresult *result = NULL;
        int64_t sent_at = host_now_us();

        TRY(pg_ask(pg, PG_CLOCK, &result, err));
        int64_t uncertain = (host_now_us() - sent_at) / 2;
        if (uncertain < 0 || uncertain >= best_uncertain)
            continue;
        best_uncertain = uncertain;
        if (__builtin_sub_overflow(sent_at + uncertain, pg_get_time(result, 0, 0), &best_ahead))
            return pg_malformed(pg, "a time that cannot be", err);
    }
    if (best_uncertain != INT64_MAX)
        checkup_clock(findings, best_ahead, best_uncertain);
    return BOXCAR_OK;
}

/* ---- bloat ---- */

static void judge_table(struct findings *findings, struct pg_store *pg, const PGresult *result, int row) {
    boxcar_str name = pg_get_text(result, row, 0);
    int64_t live = pg_get_int8(result, row, 1), dead = pg_get_int8(result, row, 2);
    bool never = PQgetisnull(result, row, 3);

    if (pg_get_bool(result, row, 4)) {
        findings_add(findings, "bloat", BOXCAR_SEVERITY_WARNING, "autovacuum is off for the table %.*s",
                     FINDING_TEXT(name));
        findings_remedy(findings, "alter table \"%s\".%.*s reset (autovacuum_enabled);", pg->schema,
                        FINDING_TEXT(name));
    }
    if (dead > DEAD_ROWS_WARNING && dead > live) {
        findings_add(findings, "bloat", BOXCAR_SEVERITY_WARNING,
                     "the table %.*s has %lld dead rows and %lld live ones, and was vacuumed %s%s",
                     FINDING_TEXT(name), (long long)dead, (long long)live,
                     never ? "never" : CHECKUP_AGE(pg_get_float8(result, row, 3)), never ? "" : " ago");
        findings_remedy(findings, "look at held_snapshot first, then: vacuum \"%s\".%.*s;", pg->schema,
                        FINDING_TEXT(name));
    }
}

static boxcar_status check_bloat(struct pg_store *pg, struct findings *findings, bool vacuums,
                                 boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    size_t before = findings->list ? findings->list->count : 0;
    int64_t dead = 0;

    TRY(pg_ask(pg, PG_TABLE_HEALTH, &result, err));
    if (!vacuums) {
        findings_add(findings, "bloat", BOXCAR_SEVERITY_WARNING, "autovacuum is off: dead rows pile up");
        findings_remedy(findings, "alter system set autovacuum = on; alter system set track_counts = on; "
                                  "select pg_reload_conf();");
    }
    for (int row = 0; row < PQntuples(result); row++) {
        judge_table(findings, pg, result, row);
        dead += pg_get_int8(result, row, 2);
    }
    if (findings->list && findings->list->count == before)
        findings_add(findings, "bloat", BOXCAR_SEVERITY_OK,
                     "autovacuum keeps up: about %lld dead rows in all", (long long)dead);
    return BOXCAR_OK;
}

/* ---- the store's own tables ---- */

static boxcar_status judge_schema(struct pg_store *pg, struct findings *findings, const PGresult *result,
                                  boxcar_error *err) {
    char digest[BOXCAR_UUID_TEXT_SIZE];
    boxcar_str deployed = pg_get_text(result, 0, 2);
    int version = pg_get_int4(result, 0, 0);

    TRY(pg_digest_functions(digest, err));
    checkup_schema(findings, version, pg_get_int4(result, 0, 1));
    if (version == STORE_SCHEMA_VERSION && (!deployed.data || strcmp(deployed.data, digest) != 0)) {
        findings_add(findings, "schema", BOXCAR_SEVERITY_NOTE,
                     "another build of Boxcar than this program made the store's functions");
        findings_remedy(findings, "if this program is the newer one: boxcar init");
    } else if (version == STORE_SCHEMA_VERSION) {
        TRY(pg_check_changed(pg, findings, err));
    }
    if (!pg_get_bool(result, 0, 3)) {
        findings_add(findings, "schema", BOXCAR_SEVERITY_PROBLEM,
                     "this store was restored or copied from another server, and claims refuse to run");
        findings_remedy(findings, "boxcar init, as the owner of the schema");
    }
    return BOXCAR_OK;
}

static void read_host(const PGresult *result, int row, void *item) {
    *(struct live_host *)item = (struct live_host){pg_get_text(result, row, 0), pg_get_int8(result, row, 1)};
}

static void read_text(const PGresult *result, int row, void *item) {
    *(boxcar_str *)item = pg_get_text(result, row, 0);
}

static void read_topic(const PGresult *result, int row, void *item) {
    *(struct waiting_topic *)item = (struct waiting_topic){.topic = pg_get_text(result, row, 0),
                                                           .age_seconds = pg_get_float8(result, row, 1)};
}

/* The setting instance_timeout; the store has only settings that were changed. */
static boxcar_status read_live_ms(struct pg_store *pg, int64_t *ret_ms, boxcar_error *err) {
    const struct setting *setting = setting_find(BOXCAR_STR("instance_timeout"));
    struct setting_value_list settings;
    double live_ms;

    TRY(setting_parse(setting, boxcar_str_of(setting->default_value), &live_ms, err));
    TRY(pg_settings_read(&pg->base, &settings, err));
    for (size_t i = 0; i < settings.count; i++)
        if (str_equal(settings.items[i].name, boxcar_str_of(setting->name)))
            live_ms = settings.items[i].number;
    arena_release(&settings.arena);
    *ret_ms = (int64_t)live_ms;
    return BOXCAR_OK;
}

static boxcar_status gather_workers(struct pg_store *pg, struct arena *arena, struct box_facts *facts,
                                    boxcar_error *err) {
    PGresult *result;

    TRY(read_live_ms(pg, &facts->live_ms, err));
    TRY(pg_ask(pg, PG_LIVE_HOSTS, &result, err, P_INT2(facts->box), P_MS(facts->live_ms)));
    facts->host_count = (size_t)PQntuples(result);
    facts->hosts = pg_read_rows(result, arena, sizeof(*facts->hosts), read_host);
    TRY(pg_ask(pg, PG_LIVE_PATTERNS, &result, err, P_INT2(facts->box), P_MS(facts->live_ms)));
    facts->pattern_count = (size_t)PQntuples(result);
    facts->patterns = pg_read_rows(result, arena, sizeof(*facts->patterns), read_text);
    TRY(pg_ask(pg, PG_READY_TOPICS, &result, err, P_INT2(facts->box), P_INT4(TOPICS_MAX)));
    facts->other_count = (size_t)PQntuples(result);
    facts->others = pg_read_rows(result, arena, sizeof(*facts->others), read_topic);
    return facts->hosts && facts->patterns && facts->others ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status check_box(struct pg_store *pg, boxcar_box box, const PGresult *checkup,
                               struct findings *findings, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct stats_rows *stats;
    struct box_facts facts = {.box = box,
                              .overdue = pg_get_int8(checkup, 0, 4),
                              .overdue_seconds = pg_get_float8(checkup, 0, 5),
                              .died_lately = pg_get_int8(checkup, 0, 6),
                              .halted = pg_get_int8(checkup, 0, 7),
                              .violations = pg_get_int8(checkup, 0, 8)};

    TRY(gather_workers(pg, &arena, &facts, err));
    TRY(pg_upkeep(pg, &facts.upkeep, err));
    TRY(pg_stats(&pg->base, box, true, &stats, err));
    facts.stats = stats->items;
    facts.stats_count = stats->count;
    boxcar_status status = checkup_box(findings, &facts, err);
    list_free(stats);
    return status;
}

/* ---- roles that may create in the schema ---- */

static boxcar_status check_creators(struct pg_store *pg, struct findings *findings, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_SCHEMA_RIGHTS, &result, err));
    if (PQntuples(result) == 0 || PQgetisnull(result, 0, 3))
        return BOXCAR_OK;
    findings_add(findings, "schema", BOXCAR_SEVERITY_PROBLEM,
                 "other roles may create in the schema (%.*s): their code could run with the owner's rights",
                 FINDING_TEXT(pg_get_text(result, 0, 3)));
    findings_remedy(findings, "as the owner: revoke create on schema \"%s\" from %.*s;", pg->schema,
                    FINDING_TEXT(pg_get_text(result, 0, 3)));
    return BOXCAR_OK;
}

/* ---- encoding ---- */

static void check_encoding(const struct pg_store *pg, struct findings *findings) {
    if (!pg_is_sql_ascii(pg->conn))
        return;
    findings_add(
        findings, "encoding", BOXCAR_SEVERITY_WARNING,
        "the database has the encoding SQL_ASCII: a text that is not UTF-8 makes claims and lists fail");
    findings_remedy(findings, "dump the database and restore it into one with the encoding UTF8");
}

/* ---- all together ---- */

/* What the tables tell. While one of them is locked, looking would take as long as that. */
static boxcar_status examine_tables(struct pg_store *pg, boxcar_box box, boxcar_str role, bool locked,
                                    struct findings *findings, boxcar_error *err) {
    static const char *const CHECKS[] = {"held_streams", "schema", NULL};
    static const char WHY[] = "not checked, because another session has locked a table of the store";
    static const char REMEDY[] = "see claim";
    AUTO_RESULT PGresult *checkup = NULL;

    if (locked) {
        findings_add_unchecked(findings, CHECKS, WHY, REMEDY);
        checkup_box_hidden(findings, WHY, REMEDY);
        return BOXCAR_OK;
    }
    TRY(pg_check_streams(pg, box, role, findings, err));
    TRY(pg_ask(pg, PG_CHECKUP, &checkup, err, P_INT2(box), P_MS(CHECKUP_LEASE_OVERDUE_SECONDS * 1000),
               P_MS(CHECKUP_LATELY_SECONDS * 1000), P_INT4(CHECKUP_COUNT_MAX)));
    TRY(judge_schema(pg, findings, checkup, err));
    return check_box(pg, box, checkup, findings, err);
}

static boxcar_status examine(struct pg_store *pg, boxcar_box box, const struct server *server,
                             struct findings *findings, boxcar_error *err) {
    bool locked = false;

    TRY(pg_check_snapshots(pg, server->role, findings, err));
    TRY(check_bloat(pg, findings, server->vacuums, err));
    if (!server->is_standby)
        TRY(pg_check_claim(pg, box, server->role, server->may_claim, findings, &locked, err));
    return examine_tables(pg, box, server->role, locked, findings, err);
}

/* The owner grants; or the functions came with a newer library than the one that deployed. */
static boxcar_status examine_hidden(struct pg_store *pg, const struct server *server,
                                    struct findings *findings, boxcar_error *err) {
    static const char *const CHECKS[] = {"schema", "held_snapshot", "bloat", "claim", "held_streams", NULL};
    AUTO_BUF struct buf remedy = BUF_INIT;
    const char *why = server->has_functions ? "not visible to this role"
                                            : "the store lacks the functions that this program looks with";

    if (server->has_functions)
        buf_append_format(&remedy, "as the owner: select \"%s\".grant_access('%.*s', 'viewer');", pg->schema,
                          FINDING_TEXT(server->role));
    else
        buf_append_text(&remedy, "boxcar init");
    if (remedy.failed)
        return error_no_memory(err);
    findings_add_unchecked(findings, CHECKS, why, remedy.data);
    checkup_box_hidden(findings, why, remedy.data);
    return BOXCAR_OK;
}

static boxcar_status diagnose(struct pg_store *pg, boxcar_box box, bool tries_claim,
                              struct findings *findings, boxcar_error *err) {
    static const char *const CHECKS[] = {"held_snapshot", "bloat", "claim", "held_streams", NULL};
    AUTO_RESULT PGresult *result = NULL;
    bool is_whole = true;

    TRY(pg_ask(pg, PG_SERVER, &result, err));
    struct server server = read_server(pg, result);
    server.may_claim = server.may_claim && tries_claim;
    judge_line(findings, pg, server.is_direct);
    judge_server(findings, &server);
    check_encoding(pg, findings);
    TRY(check_clock(pg, findings, err));
    TRY(check_creators(pg, findings, err));
    TRY(pg_check_missing(pg, findings, &is_whole, err));
    if (!is_whole) { /* the rest needs parts that are missing; a finding has named those */
        findings_add_unchecked(findings, CHECKS, CHECKUP_BROKEN, CHECKUP_BROKEN_REMEDY);
        checkup_box_broken(findings);
        return BOXCAR_OK;
    }
    return server.may_look ? examine(pg, box, &server, findings, err)
                           : examine_hidden(pg, &server, findings, err);
}

boxcar_status pg_diagnose(struct boxcar_store *store, boxcar_box box, bool tries_claim,
                          struct finding_rows **ret_list, boxcar_error *err) {
    struct findings findings = findings_begin();
    boxcar_status status =
        findings.list ? diagnose(pg_store_of(store), box, tries_claim, &findings, err) : error_no_memory(err);

    return findings_end(&findings, status, ret_list, err);
}
