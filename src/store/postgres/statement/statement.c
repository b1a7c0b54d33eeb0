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

#define CALL "select :\"schema\"."
#define FROM " from :\"schema\"."

/* The columns of a message, as pg_read_claimed() and pg_read_message() read them, and the shape of the last
 * nineteen. A claim's last row may be a note without texts. */
#define CLAIMED                                                                                              \
    "work_id, epoch, message_id, topic, payload, created_at, due_at, available_at, expires_at, "             \
    "stream, correlation_id, headers::pg_catalog.text, retry_count, crash_count, max_attempts, last_error, " \
    "owner, locked_until, source, external_id, stages, causation_id, event_type, metadata::pg_catalog.text"
#define MESSAGE CLAIMED ", box, status, processed_at, processed_by, reason, died_at"
#define REST_SHAPE "TTTTnnniiinuTnninnn"
#define CLAIMED_SHAPE "*llunn" REST_SHAPE
#define MESSAGE_SHAPE "*llutn" REST_SHAPE "BtTnRT"

/* What pg_read_join_counts() reads, a join, and a change of one. */
#define JOIN_COUNTS "expected_steps, completed_steps, failed_steps, status, reason"
#define JOIN_COUNTS_SHAPE "iiitn"
#define JOIN "join_id, " JOIN_COUNTS ", grouping_key, created_at, last_updated_at, deadline, metadata"
#define JOIN_SHAPE "*u" JOIN_COUNTS_SHAPE "nTTTn"
#define JOIN_CHANGE "counted, ended, " JOIN_COUNTS
#define JOIN_CHANGE_SHAPE "bb" JOIN_COUNTS_SHAPE

#define EVENT                                                                                                \
    "event_id, stream, version, position, type, payload, headers::pg_catalog.text, correlation_id, "         \
    "created_at, causation_id"

/* The texts of an array in one: the length of each in bytes, a colon, and the text. */
#define TEXTS(array)                                                                                         \
    "(select pg_catalog.string_agg(pg_catalog.octet_length(p)::pg_catalog.text "                             \
    "operator(pg_catalog.||) ':' operator(pg_catalog.||) p, '' order by n) "                                 \
    "from pg_catalog.unnest(" array ") with ordinality u(p, n))"
#define SUBSCRIPTION                                                                                         \
    "select name, number, box, " TEXTS("patterns") ", \"only\", created_at, start_at, paused_at, "           \
                                                   "rewound_at, (pg_catalog.date_part('epoch', max_lag) "    \
                                                   "operator(pg_catalog.*) 1000)::pg_catalog.int8, "         \
                                                   "max_lag_count, ready, in_progress, failed, "             \
                                                   "oldest_unread_at, lag_seconds, held_messages, " TEXTS(   \
                                                       "destinations") ", then_topic, else_topic" FROM
#define SUBSCRIPTION_SHAPE "*titnbTtTTlllllTflnnn"

/* Of a function that returns one row. */
#define ENQUEUED "(r).work_id, (r).message_id, (r).duplicate"

/* What pg_diagnose() executes; PG_DOCTOR_FUNCTIONS of them. */
#define DOCTOR_FUNCTIONS                                                                                     \
    "'_stats', '_checkup', '_live_hosts', '_live_patterns', '_ready_topics', '_snapshot_holders', "          \
    "'_table_health', '_claim_blockers', '_stream_holders', '_upkeep'"

/* No function of ours: for roles that may execute none of them. */
static const char SERVER[] =
    "select pg_catalog.current_setting('fsync') " IS " 'on', "
    "pg_catalog.current_setting('synchronous_commit') " IS_NOT " 'off', "
    "(select s.reset_val from pg_catalog.pg_settings s where s.name " IS " 'default_transaction_isolation'), "
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
    "where n.nspname " IS " :'schema' and p.proname " IS " '_try_claim') c";

/* The schema's owner, our role, whether we may act for the owner, which other roles may create there, and
 * the owner's number. A schema of pg_database_owner is the database owner's. */
static const char SCHEMA_RIGHTS[] =
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
    "where n.nspname " IS " :'schema') n";

#define COMMAND "" /* no rows at all */
#define NOTHING "1v"
#define COUNT "1l"
#define IDS "1L"

const struct pg_statement_entry PG_STATEMENT_TABLE[PG_STATEMENTS] = {
    [PG_STORE_INFO] = {"select schema_version, oldest_program, store_id" FROM "_store_info()", "1iit"},
    [PG_BEGIN] = {"begin isolation level read committed", COMMAND},
    [PG_COMMIT] = {"commit", COMMAND},
    [PG_ENQUEUE] = {"select work_id, message_id, duplicate" FROM
                    "_enqueue_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, null, null, "
                    "$14, $15, $16, $17, $18)",
                    "*lub"},
    /* One message, without arrays. What the first one stores is new and has the id that was given. */
    [PG_ENQUEUE_PLAIN] = {CALL "_enqueue_plain($1, $2, $3), $1, false", "1lub"},
    [PG_ENQUEUE_KNOWN] = {"select " ENQUEUED " from (" CALL "_enqueue_known($1, $2, $3, $4) as r) e", "1lub"},
    [PG_ENQUEUE_ONE] =
        {"select " ENQUEUED " from (" CALL
         "_enqueue_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) as r) e",
         "1lub"},
    [PG_HOLD_KEYS] = {CALL "_hold_keys($1)", NOTHING},
    [PG_ACK] = {CALL "_ack($1, $2, $3, $4)", IDS},
    [PG_ACK_RUN] = {CALL "_ack_run($1, $2, $3, $4, $5)", IDS}, /* null: all */
    [PG_ABANDON] = {CALL "_abandon($1, $2, $3, $4, $5, $6)", IDS},
    [PG_DEFER] = {CALL "_defer($1, $2, $3, $4, $5)", IDS},
    [PG_FAIL] = {CALL "_fail($1, $2, $3, $4, $5, $6)", IDS},
    [PG_RESOLVE] = {CALL "_resolve($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", IDS},
    [PG_RECORD_STAGES] = {CALL "_record_stages($1, $2, $3, $4, $5)", IDS},
    [PG_RENEW] = {CALL "_renew($1, $2, $3, $4, $5)", IDS},
    [PG_REAP] = {CALL "_reap($1)", COUNT},
    [PG_CLAIM] = {"select " CLAIMED FROM "_claim_numbered($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                  CLAIMED_SHAPE},
    [PG_CLAIM_STORED] = {"select " CLAIMED FROM "_claim_own($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                         CLAIMED_SHAPE},
    [PG_RETURNED] = {"select " CLAIMED FROM "_returned($1, $2, $3)", CLAIMED_SHAPE},
    [PG_BEFORE_CLAIMS] = {CALL "_before_claims()", NOTHING},
    [PG_GIVE_BACK_CLAIM] = {CALL "_give_back_claim($1, $2, $3)", COUNT},
    [PG_BURY_EXPIRED] = {CALL "_bury_expired($1, 1000)", COUNT},
    [PG_BURY_MALFORMED] = {CALL "_bury_malformed()", COUNT},
    [PG_WAS_SETTLED] = {CALL "_was_settled($1, $2, $3, $4, $5)", IDS},
    [PG_ADOPT] = {CALL "adopt()", "1b", PG_SLOW},
    [PG_FIND] = {"select " MESSAGE FROM "_find($1, $2, $3)", MESSAGE_SHAPE},
    [PG_WORK_IDS] = {CALL "_work_ids($1, $2)", IDS},
    [PG_PAGE] = {"select " MESSAGE FROM "_page($1, $2, $3, $4, $5, $6)", MESSAGE_SHAPE, PG_SLOW},
    [PG_ATTEMPTS] = {"select at, retry_count, outcome, owner, epoch, error" FROM "_attempts($1)", "*Tituln"},
    [PG_DELIVERY_ATTEMPTS] = {"select at, retry_count, outcome, owner, epoch, error" FROM
                              "_delivery_attempts($1, $2)",
                              "*Tituln"},
    [PG_STATS] = {"select topic, ready, waiting, in_progress, done, failed, oldest_ready_age_seconds, exact, "
                  "estimated" FROM "_stats($1, $2)",
                  "*nlllllfbi", PG_SLOW},
    [PG_DEAD_PAGE] = {"select " MESSAGE FROM "_dead_page($1, $2, $3, $4, $5, $6, $7, $8, $9)", MESSAGE_SHAPE,
                      PG_SLOW},
    [PG_DEAD_ACT] = {"select affected, oldest, counted_steps, ended" FROM
                     "_dead_act($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                     "1lllU", PG_SLOW},
    [PG_CANCEL] = {CALL "_cancel_message($1, $2, $3)", "1U"},
    [PG_READER] = {CALL "_check_reader($1)", NOTHING},
    [PG_READERS] = {CALL "_readers()", "*s"},
    [PG_MAINTAIN] = {"select reaped, expired, purged_done, purged_dead, more, settled, timed_out, "
                     "purged_joins, ended, purged_keys" FROM "_maintain($1)",
                     "1llllblllUl", PG_SLOW},
    [PG_UPKEEP] = {"select has_run, seconds" FROM "_upkeep()", "1bf"},
    [PG_FACTS] = {"select has_run, seconds, :\"schema\"._stream_violations()" FROM "_upkeep()", "1bfl"},
    [PG_EXPIRE_FRESH] = {CALL "_expire_fresh($1, $2, $3)", COUNT, PG_SLOW},
    [PG_AUDIT] = {"select lost, repaired" FROM "audit($1)", "1ll", PG_SLOW},
    [PG_SETTINGS] = {"select name, number, text" FROM "_settings()", "*tfn"},
    [PG_SET] = {CALL "_set($1, $2, $3)", NOTHING},
    [PG_WANT_PARTITIONS] = {CALL "_want_partitions($1)", NOTHING},
    [PG_LOCK_AHEAD_OF] = {CALL "_lock_ahead_of($1, $2, $3, $4, $5, $6, $7, $8)", NOTHING},
    [PG_LOCK_AHEAD] = {CALL "_lock_ahead($1, $2, $3, $4, $5, $6)", NOTHING},
    [PG_JOINS_ENDED] = {"select join_id, " JOIN_COUNTS FROM "_joins_ended()", "*u" JOIN_COUNTS_SHAPE},
    [PG_JOIN_START] = {CALL "_join_start($1, $2, $3, $4, $5, $6)", NOTHING},
    [PG_ATTACH] = {"select attached, message_exists" FROM "_attach($1, $2)", "*bb"},
    [PG_JOIN_REPORT] = {"select " JOIN_CHANGE FROM "_join_report($1, $2, $3)", "1" JOIN_CHANGE_SHAPE},
    [PG_JOIN_CANCEL] = {"select " JOIN_CHANGE FROM "_join_cancel($1)", "1" JOIN_CHANGE_SHAPE},
    [PG_JOIN_WAIT] = {"select work_id, duplicate, " JOIN_CHANGE FROM "_join_wait($1, $2, $3, $4, $5, $6)",
                      "1lb" JOIN_CHANGE_SHAPE},
    [PG_EVALUATE_WAITS] = {"select evaluated, ended" FROM "_evaluate_due_waits($1)", "1lU", PG_SLOW},
    [PG_JOIN_FIND] = {"select " JOIN FROM "_join_find($1)", JOIN_SHAPE},
    [PG_JOIN_PAGE] = {"select " JOIN FROM "_join_page($1, $2, $3, $4, $5, $6)", JOIN_SHAPE, PG_SLOW},
    [PG_JOIN_MEMBERS] = {"select message_id, work_id, case when status " IS
                         " 'pending' then 0 when status " IS " 'completed' then 1 else 2 end, created_at" FROM
                         "_join_members($1, $2, $3)",
                         "*ulMT"},
    [PG_INBOX_ENQUEUE] =
        {"select work_id, message_id, duplicate, hash_mismatch" FROM
         "_inbox_enqueue($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
         "*lubb"},
    [PG_INBOX_ENQUEUE_ONE] = {"select " ENQUEUED ", (r).hash_mismatch from (" CALL
                              "_inbox_enqueue_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
                              "$14, $15, $16, $17) as r) e",
                              "1lubb"},
    [PG_INBOX_ENQUEUE_PLAIN] = {"select " ENQUEUED ", (r).hash_mismatch from (" CALL
                                "_inbox_enqueue_plain($1, $2, $3, $4, $5, $6, $7) as r) e",
                                "1lubb"},
    [PG_INBOX_LOOK] = {"select processed, hash_mismatch" FROM "_inbox_look($1, $2, $3, $4)", "1bb"},
    [PG_INBOX_ACCEPT] = {"select is_new, hash_mismatch" FROM "_inbox_accept($1, $2, $3, $4)", "1bb", PG_ONCE},
    [PG_INBOX_FIND] = {"select source, external_id, message_id, work_id, state, content_hash, first_seen_at, "
                       "last_seen_at, seen_count, ended_at" FROM "_inbox_find($1, $2)",
                       "*ttultnTTlT"},
    [PG_EVENT_APPEND] = {"select event_id, version, duplicate" FROM
                         "_event_append($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                         "*ulb"},
    [PG_EVENT_READ] = {"select " EVENT FROM "event_read($1, $2, $3)", "*utllttnnTn"},
    [PG_EVENT_READ_ALL] = {"select " EVENT FROM "_event_read_all($1, $2, $3, $4, $5, $6)", "*unllnnnnTn",
                           PG_SLOW}, /* the last row is no event */
    [PG_SEQUENCE_EVENTS] = {CALL "_sequence_events($1, false)", NOTHING, PG_SLOW},
    [PG_REGISTER] = {CALL "_register($1, $2, $3, $4, $5, $6, $7)", NOTHING},
    [PG_BEAT_ALONE] = {CALL "_beat_alone($1, $2, $3, $4)", NOTHING},
    [PG_REMOVE_STALE] = {CALL "_remove_stale($1)", COUNT},
    [PG_SUBSCRIPTION_ADD] = {CALL "subscription_add($1, $2, $3, $4, $5, $6, $7)", "1i", PG_SLOW},
    [PG_SUBSCRIPTION_PAUSE] = {CALL "subscription_pause($1)", NOTHING},
    [PG_SUBSCRIPTION_RESUME] = {CALL "subscription_resume($1)", NOTHING},
    [PG_SUBSCRIPTION_CHANGE] = {CALL "subscription_change($1, $2, $3, $4)", NOTHING, PG_SLOW},
    [PG_SUBSCRIPTION_REWIND] = {CALL "subscription_rewind($1, $2)", COUNT, PG_SLOW},
    [PG_SUBSCRIPTION_REMOVE] = {CALL "subscription_remove($1, $2)", NOTHING, PG_SLOW},
    [PG_SUBSCRIPTIONS] = {SUBSCRIPTION "_subscription_list($1, $2)", SUBSCRIPTION_SHAPE, PG_SLOW},
    [PG_SUBSCRIPTIONS_BRIEF] = {SUBSCRIPTION "_subscription_list($1, $2, true)", SUBSCRIPTION_SHAPE},
    [PG_FANOUT_ADD] = {CALL "fanout_add($1, $2, $3, $4, $5, $6, $7, $8)", NOTHING, PG_SLOW_ONCE},
    [PG_FANOUT_PAUSE] = {CALL "fanout_pause($1)", NOTHING},
    [PG_FANOUT_RESUME] = {CALL "fanout_resume($1)", NOTHING},
    [PG_FANOUT_REWIND] = {CALL "fanout_rewind($1, $2)", COUNT, PG_SLOW},
    [PG_FANOUT_REMOVE] = {CALL "fanout_remove($1, $2)", NOTHING, PG_SLOW},
    [PG_SCHEDULE_ADD] = {CALL "schedule_add($1, $2, $3, $4, $5, $6, $7)", NOTHING, PG_ONCE},
    [PG_SCHEDULE_PAUSE] = {CALL "schedule_pause($1, $2)", NOTHING},
    [PG_SCHEDULE_RESUME] = {CALL "schedule_resume($1, $2)", NOTHING},
    [PG_SCHEDULE_REMOVE] = {CALL "schedule_remove($1, $2)", NOTHING},
    [PG_SCHEDULE_COMPLETE] = {CALL "schedule_complete($1, $2, $3, $4)", "1b", PG_ONCE},
    [PG_SCHEDULE_PLAN] = {"select fence, count, next_due_at" FROM "schedule_plan($1, $2, $3, $4)", "1liT",
                          PG_SLOW},
    [PG_SCHEDULES] = {"select topic, work_key, every_ms, jitter_ms, shards, then_topic, else_topic, "
                      "created_at, paused_at, open_slices, next_due_at" FROM "_schedules($1, $2)",
                      "*ttllinnTTiT"},
    [PG_SCHEDULE_SLICES] = {"select shard, slice, message_id, tries, enqueued_at, completed_at, due_at" FROM
                            "_schedule_slices($1, $2)",
                            "*iluiTTT"},
    [PG_STREAM_PAGE] = {"select stream, state, partition, pending, head, topic, available_at, retry_count, "
                        "owner, halted_at, halted_by" FROM "_stream_page($1, $2, $3, $4, $5, $6)",
                        "*ttillnTiuTl", PG_SLOW},
    [PG_STREAM_HEAD] = {CALL "_stream_head($1, $2)", COUNT},
    [PG_HALTED_BY] = {CALL "_halted_by($1, $2)", COUNT},
    [PG_RESUME_HALT] = {CALL "_resume_halt($1, $2, $3, $4)", COUNT},
    [PG_STREAM_RULE] = {CALL "_stream_rule($1, $2)", "1b"},
    [PG_STREAM_RULES] = {"select pattern, halts" FROM "_stream_rules()", "*tb"},
    [PG_INSTANCES] = {"select instance_id, host, pid, concurrency, started_at, seen_at, rank, "
                      "first_partition, partition_count, leased, oldest_lease_at, box, reader" FROM
                      "_instances()",
                      "*utliTTiiilTti"},
    [PG_HEARTBEAT] = {CALL "_heartbeat($1, $2, $3, $4, $5, $6, $7)", NOTHING},
    [PG_FAREWELL] = {CALL "_farewell($1)", NOTHING},
    [PG_FALL_ASLEEP] = {CALL "_fall_asleep($1, $2, $3, $4, $5, $6)", NOTHING},
    [PG_GET_UP] = {CALL "_get_up($1)", NOTHING},
    [PG_IS_DRAINED] = {CALL "_is_drained($1, $2, $3, $4, $5)", "1b"},
    [PG_CLOCK] = {"select pg_catalog.clock_timestamp()", "1T"},
    [PG_SERVER] = {SERVER, "1bbtbbtllib"},
    [PG_SCHEMA_RIGHTS] = {SCHEMA_RIGHTS, "*ttbnln"},
    [PG_CHECKUP] = {"select schema_version, oldest_program, functions_digest, is_own, overdue, "
                    "overdue_seconds, died_lately, halted, violations" FROM "_checkup($1, $2, $3, $4)",
                    "1iinblflll", PG_SLOW},
    [PG_LIVE_HOSTS] = {"select host, workers" FROM "_live_hosts($1, $2)", "*tl"},
    [PG_LIVE_PATTERNS] = {"select pattern" FROM "_live_patterns($1, $2) pattern", "*t"},
    [PG_READY_TOPICS] = {"select topic, seconds" FROM "_ready_topics($1, $2)", "*tf", PG_SLOW},
    [PG_SNAPSHOT_HOLDERS] = {"select pid, gid, name, role_name, state, seconds, query, kind, xids" FROM
                             "_snapshot_holders($1)",
                             "*innnnfntl"},
    [PG_TABLE_HEALTH] = {"select name, live, dead, vacuumed_seconds, is_left_alone" FROM "_table_health()",
                         "*tllfb", PG_SLOW},
    [PG_CLAIM_BLOCKERS] =
        {"select b.pid, gid, name, role_name, state, seconds, command, has_turn, relation, mode, behind, "
         "(select l.virtualtransaction from pg_catalog.pg_locks l where l.pid " IS " b.pid limit 1)" FROM
         "_claim_blockers($1) b",
         "*innnnfnbnnin"},
    [PG_STREAM_HOLDERS] =
        {"select pid, gid, name, role_name, state, seconds, query, streams, stream, waits_for" FROM
         "_stream_holders($1)",
         "*innnnfnlti"},
    [PG_TRY_CLAIM] = {"select had_turn, seconds, failure" FROM "_try_claim($1)", "1bfn"},
};

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
        pg->sql[i] = pg_fill_in(PG_STATEMENT_TABLE[i].text, pg->schema);
        if (!pg->sql[i])
            return error_no_memory(err);
    }
    return BOXCAR_OK;
}

void pg_statements_free(struct pg_store *pg) {
    for (int i = 0; i < PG_STATEMENTS; i++)
        free(pg->sql[i]);
}
