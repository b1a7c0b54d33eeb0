#include "statement.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/limits/limits.h"
#include "store/postgres/state.h"

/* What the tokens in our SQL stand for. No function of ours is worth compiling (jit). Those that are
 * called often keep generic plans made for indexes: a plan made while tables are empty would scan
 * them whole later. */
#define PINNED "set search_path = pg_catalog, pg_temp set jit = off"
#define HOT                                                                                                  \
    PINNED " set plan_cache_mode = force_generic_plan set enable_seqscan = off "                             \
           "set enable_hashjoin = off set enable_mergejoin = off set max_parallel_workers_per_gather = 0"

/* Statements cannot rely on the session's search_path: on a borrowed connection its owner has set it, a
 * handler's own statements rely on it, and behind a pooler no setting stays. So statements name types,
 * functions and operators with their schema, and objects that other roles have put into other schemas cannot
 * be found instead. */
#define IS "operator(pg_catalog.=)"
#define IS_NOT "operator(pg_catalog.<>)"

/* CLAIMED: the columns of a claim in the order in which pg_read_claimed() reads them. */
#define CLAIMED                                                                                              \
    "work_id, epoch, message_id, topic, payload, created_at, due_at, available_at, expires_at, "             \
    "stream, correlation_id, headers::pg_catalog.text, retry_count, crash_count, max_attempts, last_error, " \
    "owner, locked_until, source, external_id, stages, causation_id, event_type, metadata::pg_catalog.text"

/* ITEM: the columns of _item in the order in which pg_read_item() reads them. */
#define ITEM                                                                                                 \
    "work_id, message_id, box, topic, payload, status, created_at, due_at, available_at, expires_at, "       \
    "stream, correlation_id, headers::pg_catalog.text, retry_count, crash_count, max_attempts, last_error, " \
    "owner, "                                                                                                \
    "epoch, locked_until, processed_at, processed_by, reason, died_at, source, external_id, "                \
    "causation_id, event_type, metadata::pg_catalog.text, stages"

/* What pg_read_join_counts() reads, and a change of a join. */
#define JOIN_COUNTS "expected_steps, completed_steps, failed_steps, status, reason"
#define JOIN "join_id, " JOIN_COUNTS ", grouping_key, created_at, last_updated_at, deadline, metadata"
#define JOIN_CHANGE "counted, ended, " JOIN_COUNTS

#define EVENT                                                                                                \
    "event_id, stream, version, position, type, payload, headers::pg_catalog.text, correlation_id, "         \
    "created_at, "                                                                                           \
    "causation_id"

/* What pg_diagnose() executes; PG_DOCTOR_FUNCTIONS of them. */
#define DOCTOR_FUNCTIONS                                                                                     \
    "'_stats', '_checkup', '_live_hosts', '_live_patterns', '_ready_topics', '_snapshot_holders', "          \
    "'_table_health', '_claim_blockers', '_stream_holders', '_upkeep'"

static const char *const STATEMENTS[PG_STATEMENTS] = {
    [PG_STORE_INFO] = "select schema_version, oldest_program, store_id from :\"schema\"._store_info()",
    [PG_BEGIN] = "begin isolation level read committed",
    [PG_COMMIT] = "commit",
    [PG_ENQUEUE] = "select work_id, message_id, duplicate from "
                   ":\"schema\"._enqueue_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
                   "null, null, $14, $15, "
                   "$16, $17, $18)",
    /* One message, without arrays. What the first one stores is new and has the id that was given. */
    [PG_ENQUEUE_PLAIN] = "select :\"schema\"._enqueue_plain($1, $2, $3), $1, false",
    [PG_ENQUEUE_KNOWN] = "select (r).work_id, (r).message_id, (r).duplicate from "
                         "(select :\"schema\"._enqueue_known($1, $2, $3, $4) as r) e",
    [PG_ENQUEUE_ONE] =
        "select (r).work_id, (r).message_id, (r).duplicate from (select :\"schema\"._enqueue_one("
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as r) e",
    [PG_HOLD_KEYS] = "select :\"schema\"._hold_keys($1)",
    [PG_ACK] = "select :\"schema\"._ack($1, $2, $3, $4)",
    [PG_ACK_RUN] = "select :\"schema\"._ack_run($1, $2, $3, $4, $5)",
    [PG_ABANDON] = "select :\"schema\"._abandon($1, $2, $3, $4, $5, $6)",
    [PG_DEFER] = "select :\"schema\"._defer($1, $2, $3, $4, $5)",
    [PG_FAIL] = "select :\"schema\"._fail($1, $2, $3, $4, $5, $6)",
    [PG_RESOLVE] = "select :\"schema\"._resolve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    [PG_RECORD_STAGES] = "select :\"schema\"._record_stages($1, $2, $3, $4, $5)",
    [PG_RENEW] = "select :\"schema\"._renew($1, $2, $3, $4, $5)",
    [PG_REAP] = "select :\"schema\"._reap($1)",
    [PG_CLAIM] =
        "select " CLAIMED " from :\"schema\"._claim_numbered($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    [PG_CLAIM_STORED] = "select " CLAIMED " from :\"schema\"._claim_own($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    [PG_RETURNED] = "select " CLAIMED " from :\"schema\"._returned($1, $2, $3)",
    [PG_BEFORE_CLAIMS] = "select :\"schema\"._before_claims()",
    [PG_GIVE_BACK_CLAIM] = "select :\"schema\"._give_back_claim($1, $2, $3)",
    [PG_BURY_EXPIRED] = "select :\"schema\"._bury_expired($1, 1000)",
    [PG_BURY_MALFORMED] = "select :\"schema\"._bury_malformed()",
    [PG_WAS_SETTLED] = "select :\"schema\"._was_settled($1, $2, $3, $4, $5)",
    [PG_ADOPT] = "select :\"schema\".adopt()",
    [PG_FIND] = "select " ITEM " from :\"schema\"._find($1, $2, $3)",
    [PG_WORK_IDS] = "select :\"schema\"._work_ids($1, $2)",
    [PG_PAGE] = "select " ITEM " from :\"schema\"._page($1, $2, $3, $4, $5, $6)",
    [PG_ATTEMPTS] = "select at, retry_count, outcome, owner, epoch, error from :\"schema\"._attempts($1)",
    [PG_STATS] =
        "select topic, ready, waiting, in_progress, done, failed, oldest_ready_age_seconds, exact, estimated "
        "from :\"schema\"._stats($1, $2)",
    [PG_DEAD_PAGE] = "select " ITEM " from :\"schema\"._dead_page($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    [PG_DEAD_ACT] = "select affected, oldest, counted_steps, ended from :\"schema\"._dead_act($1, $2, $3, "
                    "$4, $5, $6, $7, $8, $9, $10, $11)",
    [PG_CANCEL] = "select :\"schema\"._cancel_message($1, $2, $3)",
    [PG_MAINTAIN] = "select reaped, expired, purged_done, purged_dead, more, settled, timed_out, "
                    "purged_joins, ended, purged_keys "
                    "from :\"schema\"._maintain($1)",
    [PG_UPKEEP] = "select has_run, seconds from :\"schema\"._upkeep()",
    [PG_FACTS] = "select has_run, seconds, :\"schema\"._stream_violations() from :\"schema\"._upkeep()",
    [PG_EXPIRE_FRESH] = "select :\"schema\"._expire_fresh($1, $2, $3)",
    [PG_AUDIT] = "select lost, repaired from :\"schema\".audit($1)",
    [PG_SETTINGS] = "select name, number, text from :\"schema\"._settings()",
    [PG_SET] = "select :\"schema\"._set($1, $2, $3)",
    [PG_WANT_PARTITIONS] = "select :\"schema\"._want_partitions($1)",
    [PG_LOCK_AHEAD] = "select :\"schema\"._lock_ahead($1, $2, $3, $4, $5, $6)",
    [PG_JOINS_ENDED] = "select join_id, " JOIN_COUNTS " from :\"schema\"._joins_ended()",
    [PG_JOIN_START] = "select :\"schema\"._join_start($1, $2, $3, $4, $5, $6)",
    [PG_ATTACH] = "select attached, message_exists from :\"schema\"._attach($1, $2)",
    [PG_JOIN_REPORT] = "select " JOIN_CHANGE " from :\"schema\"._join_report($1, $2, $3)",
    [PG_JOIN_CANCEL] = "select " JOIN_CHANGE " from :\"schema\"._join_cancel($1)",
    [PG_JOIN_WAIT] =
        "select work_id, duplicate, " JOIN_CHANGE " from :\"schema\"._join_wait($1, $2, $3, $4, $5, $6)",
    [PG_EVALUATE_WAITS] = "select evaluated, ended from :\"schema\"._evaluate_due_waits($1)",
    [PG_JOIN_FIND] = "select " JOIN " from :\"schema\"._join_find($1)",
    [PG_JOIN_PAGE] = "select " JOIN " from :\"schema\"._join_page($1, $2, $3, $4, $5, $6)",
    [PG_JOIN_MEMBERS] = "select message_id, work_id, case when status " IS " 'pending' then 0 when status " IS
                        " 'completed' then 1 "
                        "else 2 end, created_at from :\"schema\"._join_members($1, $2, $3)",
    [PG_INBOX_ENQUEUE] =
        "select work_id, message_id, duplicate, hash_mismatch from :\"schema\"._inbox_enqueue("
        "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
    [PG_INBOX_ENQUEUE_ONE] =
        "select (r).work_id, (r).message_id, (r).duplicate, (r).hash_mismatch from (select "
        ":\"schema\"._inbox_enqueue_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
        "$16, $17) "
        "as r) e",
    [PG_INBOX_ENQUEUE_PLAIN] = "select (r).work_id, (r).message_id, (r).duplicate, (r).hash_mismatch from "
                               "(select :\"schema\"._inbox_enqueue_plain($1, $2, $3, $4, $5, $6, $7) as r) e",
    [PG_INBOX_LOOK] = "select processed, hash_mismatch from :\"schema\"._inbox_look($1, $2, $3, $4)",
    [PG_INBOX_ACCEPT] = "select is_new, hash_mismatch from :\"schema\"._inbox_accept($1, $2, $3, $4)",
    [PG_INBOX_FIND] = "select source, external_id, message_id, work_id, state, content_hash, first_seen_at, "
                      "last_seen_at, seen_count, ended_at from :\"schema\"._inbox_find($1, $2)",
    [PG_EVENT_APPEND] = "select event_id, version, duplicate from :\"schema\"._event_append($1, $2, $3, $4, "
                        "$5, $6, $7, $8, $9)",
    [PG_EVENT_READ] = "select " EVENT " from :\"schema\".event_read($1, $2, $3)",
    [PG_EVENT_READ_ALL] = "select " EVENT " from :\"schema\"._event_read_all($1, $2, $3, $4, $5, $6)",
    [PG_SEQUENCE_EVENTS] = "select :\"schema\"._sequence_events($1, false)",
    [PG_REGISTER] = "select :\"schema\"._register($1, $2, $3, $4, $5, $6, $7)",
    [PG_BEAT_ALONE] = "select :\"schema\"._beat_alone($1, $2, $3, $4)",
    [PG_REMOVE_STALE] = "select :\"schema\"._remove_stale($1)",
    [PG_STREAM_PAGE] =
        "select stream, state, partition, pending, head, topic, available_at, retry_count, owner, "
        "halted_at, halted_by from :\"schema\"._stream_page($1, $2, $3, $4, $5, $6)",
    [PG_STREAM_HEAD] = "select :\"schema\"._stream_head($1, $2)",
    [PG_HALTED_BY] = "select :\"schema\"._halted_by($1, $2)",
    [PG_RESUME_HALT] = "select :\"schema\"._resume_halt($1, $2, $3, $4)",
    [PG_STREAM_RULE] = "select :\"schema\"._stream_rule($1, $2)",
    [PG_STREAM_RULES] = "select pattern, halts from :\"schema\"._stream_rules()",
    [PG_INSTANCES] =
        "select instance_id, host, pid, concurrency, started_at, seen_at, rank, first_partition, "
        "partition_count, leased, oldest_lease_at, box from :\"schema\"._instances()",
    [PG_HEARTBEAT] = "select :\"schema\"._heartbeat($1, $2, $3, $4, $5, $6, $7)",
    [PG_FAREWELL] = "select :\"schema\"._farewell($1)",
    [PG_FALL_ASLEEP] = "select :\"schema\"._fall_asleep($1, $2, $3, $4, $5, $6)",
    [PG_GET_UP] = "select :\"schema\"._get_up($1)",
    [PG_IS_DRAINED] = "select :\"schema\"._is_drained($1, $2, $3, $4, $5)",
    [PG_CLOCK] = "select pg_catalog.clock_timestamp()",
    /* No function of ours: for roles that may execute none of them. */
    [PG_SERVER] =
        "select pg_catalog.current_setting('fsync') " IS " 'on', "
        "pg_catalog.current_setting('synchronous_commit') " IS_NOT " 'off', "
        "(select s.reset_val from pg_catalog.pg_settings s where s.name " IS
        " 'default_transaction_isolation'), "
        "pg_catalog.current_setting('autovacuum') " IS " 'on' "
        "and pg_catalog.current_setting('track_counts') " IS " 'on', "
        "pg_catalog.pg_is_in_recovery(), current_user::pg_catalog.text, f.there, f.allowed, "
        "pg_catalog.pg_backend_pid(), coalesce(c.may_claim, false) "
        "from (select pg_catalog.count(*) as there, pg_catalog.count(*) filter (where "
        "pg_catalog.has_function_privilege(p.oid, 'execute')) as allowed from pg_catalog.pg_proc p "
        "join pg_catalog.pg_namespace n on n.oid " IS " p.pronamespace "
        "where n.nspname " IS " :'schema' and p.proname " IS " any (array[" DOCTOR_FUNCTIONS
        "]::pg_catalog.name[])) f, "
        "(select pg_catalog.bool_or(pg_catalog.has_function_privilege(p.oid, 'execute')) as may_claim "
        "from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid " IS " p.pronamespace "
        "where n.nspname " IS " :'schema' and p.proname " IS " '_try_claim') c",
    /* The schema's owner, our role, whether we may act for the owner, which other roles may create there, and
     * the owner's number. A schema of pg_database_owner is the database owner's. */
    [PG_SCHEMA_RIGHTS] =
        "select pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(n.owner)::pg_catalog.text), "
        "pg_catalog.quote_ident(current_user::pg_catalog.text), pg_catalog.pg_has_role(n.owner, 'member'), "
        "(select pg_catalog.string_agg(distinct case when a.grantee " IS " 0 then 'public' "
        "else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)::pg_catalog.text) end, ', ') "
        "from pg_catalog.aclexplode(n.nspacl) a where a.privilege_type " IS " 'CREATE' "
        "and case when a.grantee " IS " 0 then true when a.grantee " IS " n.nspowner then false "
        "else not pg_catalog.pg_has_role(a.grantee, n.owner, 'member') end), n.owner::pg_catalog.int8, "
        "(select pg_catalog.quote_ident(r.rolname::pg_catalog.text) from pg_catalog.pg_roles r "
        "where r.rolcanlogin and not r.rolsuper and pg_catalog.pg_has_role(r.oid, n.owner, 'member') and "
        "exists ("
        "select from pg_catalog.pg_roles s where s.rolsuper and s.rolname " IS " session_user) "
        "order by r.oid operator(pg_catalog.<>) n.owner, r.rolname limit 1) "
        "from (select n.nspowner, n.nspacl, case when o.rolname " IS " 'pg_database_owner' then d.datdba "
        "else n.nspowner end as owner from pg_catalog.pg_namespace n "
        "join pg_catalog.pg_roles o on o.oid " IS " n.nspowner "
        "join pg_catalog.pg_database d on d.datname " IS " pg_catalog.current_database() "
        "where n.nspname " IS " :'schema') n",
    [PG_CHECKUP] =
        "select schema_version, oldest_program, functions_digest, is_own, overdue, "
        "overdue_seconds, died_lately, halted, violations from :\"schema\"._checkup($1, $2, $3, $4)",
    [PG_LIVE_HOSTS] = "select host, workers from :\"schema\"._live_hosts($1, $2)",
    [PG_LIVE_PATTERNS] = "select pattern from :\"schema\"._live_patterns($1, $2) pattern",
    [PG_READY_TOPICS] = "select topic, seconds from :\"schema\"._ready_topics($1, $2)",
    [PG_SNAPSHOT_HOLDERS] = "select pid, gid, name, role_name, state, seconds, query, kind, xids "
                            "from :\"schema\"._snapshot_holders($1)",
    [PG_TABLE_HEALTH] =
        "select name, live, dead, vacuumed_seconds, is_left_alone from :\"schema\"._table_health()",
    [PG_CLAIM_BLOCKERS] =
        "select b.pid, gid, name, role_name, state, seconds, command, has_turn, relation, mode, behind, "
        "(select l.virtualtransaction from pg_catalog.pg_locks l where l.pid " IS " b.pid limit 1) "
        "from :\"schema\"._claim_blockers($1) b",
    [PG_STREAM_HOLDERS] =
        "select pid, gid, name, role_name, state, seconds, query, streams, stream, waits_for "
        "from :\"schema\"._stream_holders($1)",
    [PG_TRY_CLAIM] = "select had_turn, seconds, failure from :\"schema\"._try_claim($1)",
};

bool pg_statement_is_long(enum pg_statement statement) {
    switch (statement) {
    case PG_MAINTAIN:
    case PG_EXPIRE_FRESH:
    case PG_EVALUATE_WAITS:
    case PG_SEQUENCE_EVENTS:
    case PG_AUDIT:
    case PG_ADOPT:
    case PG_STATS:
    case PG_PAGE:
    case PG_DEAD_PAGE:
    case PG_DEAD_ACT:
    case PG_STREAM_PAGE:
    case PG_JOIN_PAGE:
    case PG_EVENT_READ_ALL:
    case PG_CHECKUP:
    case PG_READY_TOPICS:
    case PG_TABLE_HEALTH:
        return true;
    default:
        return false;
    }
}

static bool starts_with(const char *text, const char *token) {
    return strncmp(text, token, strlen(token)) == 0;
}

/* Appends what a word after a colon stands for; false = it is none of ours. */
static bool append_word(struct buf *out, const char *word, size_t len) {
    static const struct { const char *name, *text; } WORDS[] = {{"hot", HOT}, {"pinned", PINNED}};

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strlen(WORDS[i].name) == len && strncmp(WORDS[i].name, word, len) == 0) {
            buf_append_text(out, WORDS[i].text);
            return true;
        }
    for (const struct limit *limit = LIMITS; limit->name; limit++)
        if (strlen(limit->name) == len && strncmp(limit->name, word, len) == 0) {
            buf_append_format(out, "%" PRId64, limit->value);
            return true;
        }
    return false;
}

/* Schema names are letters, digits and underscores only, so quoting needs no escaping. */
char *pg_fill_in(const char *text, const char *schema) {
    struct buf out = BUF_INIT;

    if (!*text)
        return strdup("");
    while (*text) {
        if (starts_with(text, ":\"schema\"")) {
            buf_append_format(&out, "\"%s\"", schema);
            text += strlen(":\"schema\"");
        } else if (starts_with(text, ":'schema'")) {
            buf_append_format(&out, "'%s'", schema);
            text += strlen(":'schema'");
        } else {
            size_t len = *text == ':' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;

            if (len > 0 && append_word(&out, text + 1, len))
                text += 1 + len;
            else
                buf_append_char(&out, *text++);
        }
    }
    if (out.failed) {
        buf_release(&out);
        return NULL;
    }
    return out.data;
}

boxcar_status pg_statements_make(struct pg_store *pg, boxcar_error *err) {
    for (int i = 0; i < PG_STATEMENTS; i++) {
        pg->sql[i] = pg_fill_in(STATEMENTS[i], pg->schema);
        if (!pg->sql[i])
            return error_no_memory(err);
    }
    return BOXCAR_OK;
}

void pg_statements_free(struct pg_store *pg) {
    for (int i = 0; i < PG_STATEMENTS; i++)
        free(pg->sql[i]);
}
