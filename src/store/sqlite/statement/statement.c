#include "statement.h"
#include "sql.h"

const char *const STATEMENT_SQL[STATEMENT_COUNT] = {
    [S_BEGIN_WRITE] = "begin immediate",
    [S_BEGIN_READ] = "begin",
    [S_COMMIT] = "commit",
    [S_ROLLBACK] = "rollback",
    [S_SAVEPOINT] = "savepoint boxcar",
    [S_RELEASE] = "release boxcar",
    [S_ROLLBACK_TO] = "rollback to boxcar",
    /* Changes nothing, yet takes the write lock before anything is read. */
    [S_TAKE_TURN] = "update boxcar_frontier set position = position where false",
    [S_SCHEMA_READ] = "select version, oldest_program from boxcar_schema",

    [S_LAST_WORK_ID] = "select max(coalesce((select max(work_id) from boxcar_message), 0), highest_id), "
                       "(select oldest_program from boxcar_schema), "
                       "(select text from boxcar_setting where name = 'join_wait_topic') from boxcar_removed",
    [S_MESSAGE_INSERT] =
        "insert into boxcar_message (work_id, message_id, box, lane, topic, stream, correlation_id, headers, "
        "created_at, due_at, expires_at, max_attempts, payload, unique_key, causation_id, event_type, "
        "metadata) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) "
        "on conflict (message_id) do nothing",
    [S_MESSAGE_INSERT_MANY] =
        "insert into boxcar_message (work_id, message_id, box, lane, topic, stream, correlation_id, headers, "
        "created_at, due_at, max_attempts, payload, causation_id, metadata) "
        "select rowid, message_id, box, lane, topic, stream, correlation_id, headers, created_at, due_at, "
        "max_attempts, payload, causation_id, metadata from boxcar_new_messages(?1)",
    [S_MESSAGE_BY_MESSAGE_ID] = "select work_id, box from boxcar_message where message_id = ?1",
    [S_MESSAGE_OF_OLD_KEY] =
        "select work_id, message_id from boxcar_message where message_id = ?1 and topic = ?2",
    [S_UNIQUE_HOLDER] = "select m.work_id, m.message_id from boxcar_unique_key k "
                        "join boxcar_message m on m.work_id = k.work_id where k.key_id = ?1 "
                        "and not exists (select 1 from boxcar_dead d where d.work_id = k.work_id) "
                        "and not " IS_FINISHED("k.work_id") " and not " IS_PASSED("k.work_id"),
    [S_UNIQUE_TAKE] = "insert into boxcar_unique_key (key_id, work_id) values (?1, ?2) "
                      "on conflict (key_id) do update set work_id = excluded.work_id",
    [S_UNIQUE_KEY_OF] = "select unique_key from boxcar_message where work_id = ?1",

    [S_FRONTIER_READ] =
        "select position, epoch, turn, suspect_last, exists (select 1 from boxcar_reader "
        "where box = ?1 and \"only\" = 1 and name is not null) from boxcar_frontier where box = ?1",
    [S_FRONTIER_WRITE] =
        "update boxcar_frontier set position = ?2, epoch = ?3, turn = ?4, suspect_last = ?5 where box = ?1",
    [S_WINDOW] =
        "select " MESSAGE_COLUMNS ", m.payload from boxcar_message m where m.work_id > ?1 order by m.work_id",
    [S_WINDOW_LOOK] = "select work_id, box, lane, topic, stream, created_at from boxcar_message "
                      "where work_id > ?1 order by work_id",
    /* Whether any stream is not only in the log; whether this one is not. */
    [S_STREAM_ANY] = "select exists (select 1 from boxcar_parked indexed by boxcar_parked_stream "
                     "where box = ?1 and stream is not null) "
                     "or exists (select 1 from boxcar_lease indexed by boxcar_lease_stream "
                     "where box = ?1 and stream is not null) "
                     "or exists (select 1 from boxcar_stream_halt where box = ?1)",
    [S_STREAM_BUSY] = "select exists (select 1 from boxcar_parked indexed by boxcar_parked_stream "
                      "where box = ?1 and stream = ?2) "
                      "or exists (select 1 from boxcar_lease indexed by boxcar_lease_stream "
                      "where box = ?1 and stream = ?2) "
                      "or exists (select 1 from boxcar_stream_halt where box = ?1 and stream = ?2)",
    [S_LEASE_INSERT] = "insert into boxcar_lease (work_id, epoch, owner, until, box, parked, topic, stream) "
                       "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [S_PARKED_MESSAGE] =
        "select " MESSAGE_COLUMNS ", p.state, p.expires_at, p.retry_count, p.crash_count, p.last_error, "
        "m.payload, (select s.flags from boxcar_stage s where s.work_id = p.work_id) "
        "from boxcar_parked p join boxcar_message m on m.work_id = p.work_id where @p.work_id = ?1",
    [S_PARKED_LEASE] = "update boxcar_parked set state = 3 where @work_id = ?1",
    [S_PARKED_AVAILABLE] =
        "select work_id, available_at, partition from boxcar_parked where box = ?1 and state = ?2 "
        "and " IS_OPEN " and available_at <= ?3 and topic is not ?5 order by available_at, work_id limit ?4",
    [S_PARKED_AVAILABLE_TOPIC] =
        "select work_id, available_at, partition from boxcar_parked where box = ?1 and state = ?2 "
        "and " IS_OPEN " and available_at <= ?3 and topic = ?5 order by available_at, work_id limit ?4",
    [S_PARKED_TOPICS] = "select topic from boxcar_tally indexed by boxcar_tally_parked "
                        "where box = ?1 and topic >= ?2 and topic < ?3 and parked > 0",

    [S_LEASE_READ] = "select epoch, owner, box, parked, topic, stream from boxcar_lease where @work_id = ?1",
    [S_LEASES_READ] = "select epoch, owner, box, parked, topic, stream, work_id from boxcar_lease "
                      "where @work_id between ?1 and ?2 order by work_id",
    [S_LEASES_OF_OWNER] = "select work_id from boxcar_lease where box = ?1 and owner = ?2 order by work_id",
    [S_LEASES_DELETE] = "delete from boxcar_lease where @work_id between ?1 and ?2",
    [S_LEASE_DELETE] = "delete from boxcar_lease where @work_id = ?1",
    [S_LEASE_RENEW] = "update boxcar_lease set until = max(until, ?2) where @work_id = ?1",
    [S_LEASE_EXPIRED] = "select work_id from boxcar_lease where @until <= ?1 and (?3 < 0 or box = ?3) order "
                        "by until limit ?2",
    [S_FINISHED_INSERT] =
        "insert into boxcar_finished (first_id, last_id, owner, at, counted) values (?1, ?2, ?3, ?4, 1)",
    [S_MESSAGE_RULES] =
        "select max_attempts from boxcar_message where work_id = ?1 and max_attempts is not null",
    [S_ATTEMPT_INSERT] =
        "insert into boxcar_attempt (work_id, at, retry_count, outcome, owner, epoch, error) "
        "values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [S_DEAD_INSERT] = "insert into boxcar_dead (work_id, box, topic, reason, died_at, retry_count, "
                      "crash_count, last_error, counted) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)",

    [S_PARKED_WRITE] = PARKED_WRITE("work_id"),
    [S_PARKED_READ] = "select box, state, topic, stream, available_at, expires_at, retry_count, crash_count, "
                      "last_error from boxcar_parked where @work_id = ?1",
    [S_PARKED_DELETE] = "delete from boxcar_parked where @work_id = ?1",
    [S_PARKED_STATE] = "update boxcar_parked set state = ?2 where @work_id = ?1",
    [S_PARKED_EXPIRED] = "select work_id from boxcar_parked where @expires_at <= ?1 and state < 3 order by "
                         "expires_at limit ?2",
    [S_STREAM_PLACES] = "select " STREAM_FIRST("0") STREAM_FIRST("1") STREAM_FIRST("2")
        STREAM_FIRST("3") "exists (select 1 from boxcar_stream_halt where box = ?1 and stream = ?2)",
    [S_STREAM_ENTER] =
        "insert into boxcar_parked (work_id, box, state, topic, stream, available_at, expires_at, "
        "retry_count, crash_count, partition) "
        "select l.work_id, l.box, 3, l.topic, l.stream, m.created_at, m.expires_at, 0, 0, ?3 "
        "from boxcar_lease l indexed by boxcar_lease_stream "
        "cross join boxcar_message m on m.work_id = l.work_id "
        "where l.box = ?1 and l.stream = ?2 and true on conflict (work_id) do nothing",
    [S_LEASES_ENTER] = "update boxcar_lease set parked = 1, stream = null where box = ?1 and stream = ?2",
    [S_LEASES_STRAIGHT] =
        "select 1 from boxcar_lease indexed by boxcar_lease_stream where stream is not null limit 1",
    [S_STREAM_STRAIGHT] = "select min(work_id) from boxcar_lease indexed by boxcar_lease_stream "
                          "where box = ?1 and stream = ?2 and work_id < ?3",
    [S_STREAM_FRESH] = "select work_id, topic, created_at " STREAM_FRESH " and work_id < ?3 order by work_id",
    [S_STREAM_FRESH_FIRST] = "select min(work_id) " STREAM_FRESH,
    [S_MESSAGE_HEAD] = "select topic, created_at from boxcar_message where work_id = ?1",
    [S_PARKED_TOPIC] = "select topic, crash_count from boxcar_parked where @work_id = ?1",
    [S_STREAM_FOLLOWERS] = "select work_id, topic, available_at, expires_at, crash_count "
                           "from boxcar_parked indexed by boxcar_parked_stream "
                           "where box = ?1 and stream = ?2 and state = 2 and work_id > ?3 order by work_id",
    /* Leased, or given back with an attempt spent. There is at most one open one, and rarely any behind. */
    [S_STREAM_EARLIER] =
        "select min(work_id) from ("
        "select * from (select work_id, 1 as retry_count from boxcar_parked indexed by boxcar_parked_stream "
        "where box = ?1 and stream = ?2 and state = 3 and work_id < ?3 order by work_id limit 1) union all "
        "select work_id, retry_count from boxcar_parked indexed by boxcar_parked_stream "
        "where box = ?1 and stream = ?2 and state in (0, 1) and work_id < ?3 union all "
        "select * from (select work_id, retry_count from boxcar_parked indexed by boxcar_parked_stream "
        "where box = ?1 and stream = ?2 and state = 2 and work_id < ?3 order by work_id limit ?4)) "
        "where retry_count > 0",
    [S_STREAM_PENDING] =
        "select count(*) from ("
        "select 1 from boxcar_parked indexed by boxcar_parked_stream where box = ?1 and stream = ?2 "
        "union all select 1 from boxcar_lease indexed by boxcar_lease_stream where box = ?1 and stream = ?2 "
        "union all select 1 " STREAM_FRESH " limit ?3)",
    [S_STREAM_NEXT] = STREAM_NEXT("> ?2"),
    [S_STREAM_NEXT_FROM] = STREAM_NEXT(">= ?2"),
    [S_HALT_READ] = "select halted_at, halted_by from boxcar_stream_halt where box = ?1 and stream = ?2",
    [S_HALT_INSERT] = "insert into boxcar_stream_halt (box, stream, halted_at, halted_by) "
                      "values (?1, ?2, ?3, ?4) on conflict (box, stream) do nothing",
    [S_HALT_DELETE] = "delete from boxcar_stream_halt where box = ?1 and stream = ?2",
    [S_HALT_COUNT] = "select count(*) from (select 1 from boxcar_stream_halt where box = ?1 limit ?2)",
    [S_HALT_NEXT] = HALT_NEXT("> ?2"),
    [S_HALT_NEXT_FROM] = HALT_NEXT(">= ?2"),
    [S_RULES] = "select pattern, policy from boxcar_stream_rule order by pattern",
    [S_RULE_WRITE] = "insert into boxcar_stream_rule (pattern, policy) values (?1, ?2) "
                     "on conflict (pattern) do update set policy = excluded.policy",
    [S_RULE_DELETE] = "delete from boxcar_stream_rule where pattern = ?1",
    [S_VIOLATION_INSERT] = "insert into boxcar_stream_violation (at, box, stream, work_id, earlier_id) "
                           "values (?1, ?2, ?3, ?4, ?5)",
    [S_VIOLATION_COUNT] =
        "select count(*) from (select 1 from boxcar_stream_violation where ?1 < 0 or box = ?1 limit ?2)",
    [S_VIOLATION_SWEEP] = "delete from boxcar_stream_violation where at <= ?1",

    [S_FIND] = FIND("", "not " IS_PASSED("m.work_id")),
    [S_FIND_WITH_PAYLOAD] = FIND(", m.payload", "not " IS_PASSED("m.work_id")),
    [S_STAGE_RECORD] = "insert into boxcar_stage (work_id, flags) values (?1, ?2) "
                       "on conflict (work_id) do update set flags = flags | excluded.flags",
    [S_STAGE_DELETE] = "delete from boxcar_stage where work_id between ?1 and ?2",
    [S_PAGE_ALL] =
        "select m.work_id from boxcar_message m where m.box = ?1 and m.topic >= ?2 and m.topic < ?3 "
        "and m.work_id < ?4 and not " IS_PASSED("m.work_id") " order by m.work_id desc limit ?5",
    [S_PAGE_READY] = PAGE_PARKED "and +state < 3 union all " PAGE_FRESH PAGE_ORDER,
    [S_PAGE_CLAIMABLE] = PAGE_PARKED "and +state < 2 and +available_at <= ?6 union all " PAGE_FRESH
                                     "and not " IS_BEHIND PAGE_ORDER,
    [S_PAGE_WAITING] = PAGE_PARKED
    "and (+state = 2 or +state < 2 and +available_at > ?6) union all " PAGE_FRESH "and " IS_BEHIND PAGE_ORDER,
    [S_PAGE_IN_PROGRESS] = "select work_id from boxcar_lease where box = ?1 "
                           "and topic >= ?2 and topic < ?3 and work_id < ?4 order by work_id desc limit ?5",
    [S_PAGE_DONE] = "select m.work_id from boxcar_finished f "
                    "cross join boxcar_message m on m.work_id between f.first_id and f.last_id "
                    "where f.first_id < ?4 and m.work_id < ?4 and +m.box = ?1 "
                    "and m.topic >= ?2 and m.topic < ?3 order by f.first_id desc, m.work_id desc limit ?5",
    [S_PAGE_FAILED] = "select work_id from boxcar_dead where +box = ?1 "
                      "and +topic >= ?2 and +topic < ?3 and work_id < ?4 order by work_id desc limit ?5",
    [S_ATTEMPTS] = "select at, retry_count, outcome, owner, epoch, error from boxcar_attempt "
                   "where @work_id = ?1 order by attempt_id",

    [S_TALLY_ADD] = "insert into boxcar_tally (box, topic, fresh, parked, behind, leased, done, dead) "
                    "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) on conflict (box, topic) do update "
                    "set fresh = fresh + excluded.fresh, parked = parked + excluded.parked, "
                    "behind = behind + excluded.behind, leased = leased + excluded.leased, "
                    "done = done + excluded.done, dead = dead + excluded.dead",
    [S_TALLY_READ] = "select topic, fresh, parked, behind, leased, done, dead from boxcar_tally "
                     "where box = ?1 order by topic",
    [S_TALLY_SWEEP] = "delete from boxcar_tally where fresh = 0 and parked = 0 and behind = 0 "
                      "and leased = 0 and done = 0 and dead = 0",
    [S_STATS_PARKED_READY] = COUNT_PARKED("available_at <= ?2"),
    [S_STATS_PARKED_LATER] = COUNT_PARKED("available_at > ?2"),
    [S_STATS_TOPIC_READY] = COUNT_PARKED("topic = ?4 and available_at <= ?2"),
    [S_STATS_TOPIC_LATER] = COUNT_PARKED("topic = ?4 and available_at > ?2"),
    [S_STATS_EXPIRED] =
        "select box, topic, until from boxcar_lease where @until <= ?1 order by until limit ?2",
    [S_STATS_OLDEST_PARKED] =
        "select min(available_at) from boxcar_parked where box = ?1 and state = ?2 and " IS_OPEN,
    [S_STATS_OLDEST_TOPIC] = "select min(available_at) from boxcar_parked "
                             "where box = ?1 and state = ?2 and " IS_OPEN " and topic = ?3",
    [S_STATS_OLDEST_FRESH] =
        "select box, lane, topic, created_at from boxcar_message "
        "where work_id > (select position from boxcar_frontier where box = ?1) order by work_id limit ?2",

    [S_STATS_BEHIND] =
        "select m.topic, m.box = ?1 and " IS_BEHIND "from boxcar_message m "
        "where m.work_id > (select position from boxcar_frontier where box = ?1) order by m.work_id limit ?2",

    /* The limits hold for both boxes together, so that none makes a walk through the other long. */
    [S_OVERDUE_LEASES] = "select count(*), min(until) from (select box, until from boxcar_lease "
                         "where @until < ?2 order by until limit ?3) where box = ?1",
    [S_DIED_LATELY] = "select count(*) from (select box from boxcar_dead "
                      "where @died_at > ?2 order by died_at desc limit ?3) where box = ?1",
    [S_NEWEST_MESSAGE] = "select created_at from boxcar_message order by work_id desc limit 1",
    [S_LIVE_HOSTS] = "select host, count(*) from boxcar_instance_row "
                     "where box = ?1 and seen_at > ?2 group by host order by 2 desc, 1",
    [S_LIVE_PATTERNS] = "select distinct t.value from boxcar_instance_row i, json_each(i.topics) t "
                        "where i.box = ?1 and i.seen_at > ?2",

    [S_MESSAGE_PLACE] =
        "select m.topic, p.state, l.work_id is not null, d.work_id is not null, "
        "m.lane <> 1 and m.work_id > r.position "
        "from boxcar_message m join boxcar_frontier r on r.box = m.box "
        "left join boxcar_parked p on p.work_id = m.work_id "
        "left join boxcar_lease l on l.work_id = m.work_id "
        "left join boxcar_dead d on d.work_id = m.work_id where m.work_id = ?1 and m.box = ?2 "
        "and not " IS_PASSED("m.work_id"),
    [S_MESSAGE_SET_ASIDE] = "update boxcar_message set lane = 1 where work_id = ?1",
    [S_DEAD_PAGE] = "select work_id from boxcar_dead where +box = ?1 and +topic >= ?2 and +topic < ?3 "
                    "and (?4 = 0 or reason = ?4) and (?5 is null or died_at < ?5) and work_id < ?7 "
                    "order by work_id desc limit ?6",
    [S_DEAD_READ] = "select d.box, d.topic, d.reason, d.died_at, d.last_error, m.stream, m.due_at "
                    "from boxcar_dead d join boxcar_message m on m.work_id = d.work_id where @d.work_id = ?1",
    [S_DEAD_DELETE] = "delete from boxcar_dead where @work_id = ?1",
    [S_MESSAGE_DELETE] = "delete from boxcar_message where work_id between ?1 and ?2",
    [S_UPKEEP_NOTE] = "update boxcar_upkeep set ran_at = ?1 "
                      "where ran_at is null or ran_at not between ?1 - 10000000 and ?1",
    [S_UPKEEP_READ] = "select since, ran_at from boxcar_upkeep",
    [S_REMOVED_NOTE] = "update boxcar_removed set highest_id = ?1 where highest_id < ?1",
    [S_ATTEMPT_DELETE] = "delete from boxcar_attempt where @work_id between ?1 and ?2",

    [S_JOIN_INSERT] =
        "insert into boxcar_join (join_id, grouping_key, expected_steps, created_at, last_updated_at, "
        "deadline, metadata) values (?1, ?2, ?3, ?4, ?4, ?5, ?6) on conflict (join_id) do nothing",
    [S_JOIN_READ] = "select " JOIN_COLUMNS " from boxcar_join where join_id = ?1",
    [S_JOIN_WRITE] = "update boxcar_join set completed_steps = ?2, "
                     "failed_steps = ?3, status = ?4, reason = ?5, last_updated_at = ?6 where join_id = ?1",
    [S_JOIN_FIND] = "select " JOIN_COLUMNS ", grouping_key, metadata from boxcar_join where join_id = ?1",
    [S_JOIN_PAGE] = JOIN_PAGE(""),
    [S_JOIN_PAGE_STATUS] = JOIN_PAGE("status = ?4 and "),
    [S_JOIN_PAGE_GROUPING] = JOIN_PAGE("grouping_key = ?5 and "),
    [S_JOIN_PAGE_GROUPING_STATUS] = JOIN_PAGE("grouping_key = ?5 and status = ?4 and "),
    [S_JOIN_PAGE_MESSAGE] =
        JOIN_PAGE("join_id in (select m.join_id from boxcar_join_member m indexed by "
                  "boxcar_join_member_message where m.message_id = ?6) "
                  "and (?4 < 0 or +status = ?4) and (?5 is null or +grouping_key = ?5) and "),
    [S_JOIN_OVERDUE] = "select " JOIN_COLUMNS " from boxcar_join indexed by boxcar_join_deadline "
                       "where status = 0 and deadline <= ?1 order by deadline limit ?2",
    /* A join is kept as long as it has a wait. */
    [S_JOIN_OVER] = "select join_id from boxcar_join j where status <> 0 and last_updated_at <= ?1 "
                    "and not exists (select 1 from boxcar_join_wait w "
                    "join boxcar_message m on m.work_id = w.work_id where w.join_id = j.join_id) "
                    "order by last_updated_at limit ?2",
    [S_JOIN_DELETE] = "delete from boxcar_join where join_id = ?1",

    [S_MEMBER_INSERT] = "insert into boxcar_join_member (join_id, message_id, work_id, settle, created_at) "
                        "values (?1, ?2, ?3, ?4, ?5) on conflict (join_id, message_id) do nothing",
    [S_MEMBER_READ] = "select status, work_id from boxcar_member where join_id = ?1 and message_id = ?2",
    [S_MEMBER_COUNT] =
        "update boxcar_join_member set status = ?3 where join_id = ?1 and message_id = ?2 and status = 0",
    [S_MEMBER_UNMARK] =
        "update boxcar_join_member set settle = 0 where join_id = ?1 and message_id = ?2 and settle <> 0",
    [S_MEMBER_KNOW] =
        "update boxcar_join_member set work_id = ?2, settle = ?3 where message_id = ?1 and work_id is null",
    [S_MEMBER_ANY_UNKNOWN] = "select 1 from boxcar_join_member where work_id is null limit 1",
    [S_MEMBERS_UNKNOWN] = "select message_id from boxcar_join_member where work_id is null "
                          "and message_id > coalesce(?1, x'') order by message_id limit ?2",
    [S_MEMBERS_OF_RANGE] =
        "select work_id, join_id, message_id, 0 from boxcar_join_member where work_id between ?1 and ?2",
    [S_MEMBERS_PAGE] = "select message_id, work_id, status, created_at from boxcar_member "
                       "where join_id = ?1 and message_id > coalesce(?2, x'') order by message_id limit ?3",
    [S_MEMBERS_TO_SETTLE] = "select work_id, join_id, message_id, settle from boxcar_join_member "
                            "where join_id = ?1 and settle <> 0 order by work_id limit ?2",
    [S_MEMBERS_TO_SETTLE_ALL] = "select work_id, join_id, message_id, settle from boxcar_join_member "
                                "where settle <> 0 order by join_id, work_id limit ?1",
    /* Most of the time there is none at all, which the index says at once. */
    [S_MEMBERS_TO_SETTLE_RANGE] = "select work_id, join_id, message_id, settle from boxcar_join_member "
                                  "where exists (select 1 from boxcar_join_member where settle <> 0) "
                                  "and work_id between ?1 and ?2 and +settle <> 0",
    [S_MEMBERS_UNMARK_MESSAGE] =
        "update boxcar_join_member set settle = 0 where work_id = ?1 and +settle <> 0",
    [S_MEMBERS_DELETE] =
        "delete from boxcar_join_member where join_id = ?1 and message_id in "
        "(select message_id from boxcar_join_member where join_id = ?1 order by message_id limit ?2)",
    /* The message behind an id, and the outcome of a member if it has ended. */
    [S_MESSAGE_END] =
        "select m.work_id, case when exists (select 1 from boxcar_dead d where d.work_id = m.work_id) then 2 "
        "when " IS_FINISHED("m.work_id") " then 1 else 0 end from boxcar_message m where m.message_id = ?1",
    [S_MESSAGE_IS_COUNTED] = "select 1 from boxcar_member where work_id = ?1 and +status <> 0 limit 1",

    /* Where the run that begins at or before ?2 ends, and where the next one begins. */
    [S_OUTCOME_GAP] = "select (select last_id from boxcar_join_outcome where join_id = ?1 and first_id <= ?2 "
                      "order by first_id desc limit 1), "
                      "(select first_id from boxcar_join_outcome where join_id = ?1 and first_id > ?2 "
                      "order by first_id limit 1)",
    [S_OUTCOME_INSERT] =
        "insert into boxcar_join_outcome (join_id, first_id, last_id, status) values (?1, ?2, ?3, ?4)",
    [S_OUTCOMES_DELETE] =
        "delete from boxcar_join_outcome where join_id = ?1 and first_id in "
        "(select first_id from boxcar_join_outcome where join_id = ?1 order by first_id limit ?2)",

    [S_WAIT_INSERT] =
        "insert into boxcar_join_wait (work_id, join_id) values (?1, ?2) on conflict (work_id) do nothing",
    [S_WAITS_WAKE] = "update boxcar_parked set available_at = ?2 "
                     "where work_id in (select work_id from boxcar_join_wait where join_id = ?1) "
                     "and +state <> 3 and +available_at > ?2",
    [S_WAITS_OF_JOIN] =
        "select p.work_id, p.state from boxcar_join_wait w join boxcar_parked p on p.work_id = w.work_id "
        "where w.join_id = ?1 and p.state in (0, 1)",
    [S_WAITS_DUE] = "select work_id, state from boxcar_parked where box = 0 and state = ?1 and " IS_OPEN
                    " and available_at <= ?2 and topic = ?3 order by available_at, work_id",
    [S_WAITS_FORGET] = "delete from boxcar_join_wait where work_id between ?1 and ?2",
    [S_WAITS_DELETE] = "delete from boxcar_join_wait where join_id = ?1",
    [S_MESSAGE_CREATED] = "select created_at from boxcar_message where work_id = ?1",

    [S_KEY_READ] =
        "select state, work_id, content_hash from boxcar_inbox_key where source = ?1 and external_id = ?2",
    [S_KEY_INSERT] =
        "insert into boxcar_inbox_key (source, external_id, state, work_id, ended_at, first_seen_at, "
        "last_seen_at, content_hash, seen_count) values (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, 1)",
    [S_KEY_TAKE] = "update boxcar_inbox_key set state = ?3, work_id = ?4, ended_at = ?5, "
                   "last_seen_at = max(last_seen_at, ?6), content_hash = coalesce(content_hash, ?7), "
                   "seen_count = seen_count + 1 where source = ?1 and external_id = ?2",
    [S_KEY_TOUCH] = "update boxcar_inbox_key set last_seen_at = max(last_seen_at, ?3), "
                    "content_hash = coalesce(content_hash, ?4), seen_count = seen_count + 1 "
                    "where source = ?1 and external_id = ?2",
    /* The state is that of boxcar_inbox_state: one that has a message is as far as that. */
    [S_KEY_FIND] = "select k.work_id, case when k.state <> 1 then k.state when f.first_id is not null then 2 "
                   "when d.work_id is not null then 3 when l.work_id is not null then 1 else 0 end, "
                   "k.content_hash, k.first_seen_at, k.last_seen_at, k.seen_count, "
                   "coalesce(k.ended_at, f.at, d.died_at) "
                   "from boxcar_inbox_key k left join boxcar_lease l on l.work_id = k.work_id "
                   "left join boxcar_dead d on d.work_id = k.work_id left join boxcar_finished f "
                   "on " RUN_HOLDS("k.work_id") " where k.source = ?1 and k.external_id = ?2",
    [S_KEY_OF_MESSAGE] = "select source, external_id from boxcar_inbox_key where work_id = ?1",
    [S_KEYS_SWEEP] =
        "delete from boxcar_inbox_key where (source, external_id) in "
        "(select source, external_id from boxcar_inbox_key where state <> 1 and last_seen_at <= ?1 "
        "order by last_seen_at limit ?2)",
    [S_IS_FINISHED] = "select 1 from boxcar_finished f where " RUN_HOLDS("?1"),

    [S_EVENT_LAST_VERSION] =
        "select version from boxcar_event_row where stream = ?1 order by version desc limit 1",
    [S_EVENT_BY_ID] = "select version, stream = ?2 from boxcar_event_row where event_id = ?1",
    [S_EVENT_INSERT] =
        "insert into boxcar_event_row (event_id, stream, version, type, correlation_id, headers, created_at, "
        "payload, causation_id) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [S_EVENT_STREAM] = "select " EVENT_COLUMNS " from boxcar_event_row "
                       "where stream = ?1 and version >= ?2 order by version limit ?3",
    [S_EVENT_ALL] =
        "select " EVENT_COLUMNS " from boxcar_event_row where position > ?1 order by position limit ?2",
    /* What to look at before reading a payload. */
    [S_EVENT_CHOICE] =
        "select position, type, stream from boxcar_event_row where position > ?1 order by position limit ?2",

    /* Changes when another connection has committed, never by our own commits. */
    [S_DATA_VERSION] = "pragma data_version",
    [S_INSTANCE_WRITE] =
        "insert into boxcar_instance_row (instance_id, box, host, pid, concurrency, topics, started_at, "
        "seen_at) values (?1, ?2, ?3, ?4, ?5, coalesce(?6, '[]'), ?7, ?7) "
        "on conflict (instance_id, box) do update "
        "set host = excluded.host, pid = excluded.pid, concurrency = excluded.concurrency, "
        "topics = coalesce(?6, topics), seen_at = excluded.seen_at",
    [S_INSTANCE_TOUCH] = "update boxcar_instance_row set host = ?2, pid = ?3, concurrency = ?4, seen_at = ?5 "
                         "where instance_id = ?1 returning 1",
    [S_INSTANCE_SEEN] = "select min(seen_at) from boxcar_instance_row where instance_id = ?1",
    [S_INSTANCE_SIGN] = "update boxcar_instance_row set seen_at = ?2 where instance_id = ?1",
    [S_INSTANCE_DELETE] = "delete from boxcar_instance_row where instance_id = ?1",
    [S_INSTANCE_SILENT] = SILENT,
    [S_INSTANCE_SILENT_DELETE] = "delete from boxcar_instance_row where instance_id = (" SILENT ")",
    [S_INSTANCE_LEASES] = "select work_id from boxcar_lease where owner = ?1 limit ?2",
    [S_INSTANCE_RANK] =
        "select count(*), count(*) filter (where instance_id < ?1), max(instance_id = ?1) "
        "from boxcar_instance_row where seen_at > ?2 and box = ?3 "
        "and topics = (select topics from boxcar_instance_row where instance_id = ?1 and box = ?3)",
    /* An epoch is the time of its claim, or a little later. */
    [S_INSTANCES] =
        "select i.instance_id, i.host, i.pid, i.concurrency, i.started_at, i.seen_at, l.leased, l.oldest, "
        "i.box, row_number() over (partition by i.box, i.topics order by i.instance_id) - 1, "
        "count(*) over (partition by i.box, i.topics) from boxcar_instance_row i "
        "left join (select owner, box, count(*) as leased, min(epoch) as oldest from ("
        "select owner, box, epoch from boxcar_lease union all "
        "select owner, box, epoch from boxcar_reader_lease) group by owner, box) l on l.owner = "
        "i.instance_id and l.box = i.box "
        "where i.seen_at > ?1 order by i.box, i.topics, i.instance_id",
    [S_IS_DRAINED] =
        DRAINED("select 1 from boxcar_message m "
                "where m.work_id > (select position from boxcar_frontier where box = ?1) "
                "and +m.box = ?1 and +m.lane <> 1 and m.topic >= ?2 and m.topic < ?3 and not " IS_TAKEN
                " and (+m.lane = 0 or " IS_STREAM_LIVE ")"),

    [S_DEAD_OVERDUE] = "select work_id from boxcar_dead where @died_at <= ?1 order by died_at limit ?2",
    [S_FINISHED_OVERDUE] =
        "select first_id, last_id, owner, at from boxcar_finished where @at <= ?1 order by at limit 1",
    [S_FINISHED_DELETE] = "delete from boxcar_finished where @first_id = ?1",
    [S_RANGE_TOPICS] =
        "select box, topic, count(*) from boxcar_message where work_id between ?1 and ?2 group by box, topic",
    [S_LOG_NEXT] = "select min(work_id) from boxcar_message where work_id > ?1",
    [S_AUDIT] = "select m.work_id, m.box, m.topic, m.stream, m.created_at, m.due_at, m.expires_at "
                "from boxcar_message m join boxcar_frontier r on r.box = m.box "
                "where m.work_id between ?1 and ?2 and (m.lane = 1 or m.work_id <= r.position) "
                "and not exists (select 1 from boxcar_parked p where p.work_id = m.work_id) "
                "and not exists (select 1 from boxcar_lease l where l.work_id = m.work_id) "
                "and not exists (select 1 from boxcar_dead d where d.work_id = m.work_id) "
                "and not " IS_FINISHED("m.work_id") " and not " IS_PASSED("m.work_id") " order by m.work_id",
    [S_TALLY_CLEAR] = "delete from boxcar_tally where box < 2",
    [S_TALLY_RECOUNT] =
        "insert into boxcar_tally (box, topic, fresh, parked, behind, leased, done, dead) "
        "select box, topic, sum(place = 0), sum(place = 1), sum(place = 2), sum(place = 3), sum(place = 4), "
        "sum(place = 5) from ("
        "select m.box, m.topic, 0 as place from boxcar_frontier r cross join boxcar_message m "
        "on m.work_id > r.position and +m.box = r.box and +m.lane <> 1 "
        "union all select box, topic, case state when 2 then 2 else 1 end from boxcar_parked where state < 3 "
        "union all select box, topic, 3 from boxcar_lease "
        "union all select m.box, m.topic, 4 from boxcar_finished f cross join boxcar_message m "
        "on m.work_id between f.first_id and f.last_id "
        "union all select box, topic, 5 from boxcar_dead) group by box, topic",

    [S_READER_READ] =
        "select box, patterns, paused_at, max_lag_ms, max_lag_count, \"only\" from boxcar_reader "
        "where number = ?1 and name is not null",
    [S_READERS_TAKING] =
        "select patterns from boxcar_reader where box = ?1 and \"only\" = 1 and name is not null",
    [S_READER_NEXT] = "select min(number) from boxcar_reader where number > ?1 and name is not null",
    [S_READER_LOOK] =
        "select work_id, box, topic, stream, created_at, due_at, expires_at from boxcar_message "
        "where work_id > ?1 order by work_id",
    /* The last message that a reader has heard of; mostly that is behind its frontier. */
    [S_READER_KNOWN] =
        "select max(coalesce((select max(work_id) from boxcar_reader_parked where box = ?1), 0), "
        "coalesce((select max(work_id) from boxcar_reader_lease where box = ?1), 0), "
        "coalesce((select max(work_id) from boxcar_reader_dead where box = ?1), 0), "
        "coalesce((select max(work_id) from boxcar_reader_skip where box = ?1), 0), "
        "coalesce((select last_id from boxcar_reader_finished where box = ?1 "
        "order by first_id desc limit 1), 0))",
    [S_READER_KNOWS] = "select exists (select 1 from boxcar_reader_parked where box = ?1 and work_id = ?2) "
                       "or exists (select 1 from boxcar_reader_lease where box = ?1 and work_id = ?2) "
                       "or exists (select 1 from boxcar_reader_dead where box = ?1 and work_id = ?2) "
                       "or exists (select 1 from boxcar_reader_skip where box = ?1 and work_id = ?2) "
                       "or coalesce((select last_id from boxcar_reader_finished "
                       "where box = ?1 and first_id <= ?2 order by first_id desc limit 1) >= ?2, 0)",
    [S_SKIP_NOTE] = "insert into boxcar_reader_skip (box, work_id) select box, ?2 from boxcar_frontier "
                    "where box = ?1 and position < ?2 on conflict (box, work_id) do nothing",
    [S_SKIP_SWEEP] = "delete from boxcar_reader_skip where box = ?1 and work_id <= "
                     "(select position from boxcar_frontier where box = ?1)",
    [S_REWIND_SKIPS] = "delete from boxcar_reader_skip where box = ?1 and work_id > ?2",
    [S_REMOVE_SKIPS] = "delete from boxcar_reader_skip where box = ?1",
    [S_READER_BY_NAME] = "select number from boxcar_reader where name = ?1 and number > 1",
    [S_READER_INSERT] =
        "insert into boxcar_reader (name, box, patterns, \"only\", created_at, start_at, max_lag_ms, "
        "max_lag_count, destinations, then_topic, else_topic) "
        "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) returning number",
    /* Policies and subscriptions share their names; 0 comes behind the slash. */
    [S_READER_NAME_TAKEN] =
        "select 0 from boxcar_reader where name = ?1 "
        "union all select 1 from boxcar_reader where name > ?1 || '/' and name < ?1 || '0' "
        "limit 1",
    [S_READER_FRONTIER] = "insert into boxcar_frontier (box, position) values (?1, ?2)",
    [S_READER_PAUSE] = "update boxcar_reader set paused_at = coalesce(paused_at, ?2) where number = ?1",
    [S_READER_RESUME] = "update boxcar_reader set paused_at = null where number = ?1",
    [S_READER_ALTER] = "update boxcar_reader set patterns = coalesce(?2, patterns), "
                       "max_lag_ms = coalesce(?3, max_lag_ms), max_lag_count = coalesce(?4, max_lag_count) "
                       "where number = ?1",
    /* Programs that know nothing of subscriptions would remove messages that they want. */
    [S_READER_ADMIT] = "update boxcar_schema set oldest_program = ?1 where oldest_program < ?1",
    [S_LOG_END] =
        "select max(coalesce((select max(work_id) from boxcar_message), 0), highest_id) from boxcar_removed",
    [S_LOG_SINCE] = "select work_id from boxcar_message where work_id > ?2 and created_at >= ?1 "
                    "order by work_id limit 1",
    [S_LOG_OLDEST] = "select work_id, created_at from boxcar_message where work_id > ?2 and +box = ?1 "
                     "order by work_id limit 1",
    [S_MEMBER_TAKEN] =
        "select 1 from boxcar_join_member k join boxcar_join j on j.join_id = k.join_id and j.status = 0 "
        "join boxcar_message m on m.work_id = k.work_id "
        "where k.work_id > (select position from boxcar_frontier where box = ?1) and m.box = ?1 and m.lane "
        "<> 1 "
        "and exists (select 1 from json_each(?2) t where t.value = m.topic or substr(t.value, -1) = '*' "
        "and substr(m.topic, 1, length(t.value) - 1) = substr(t.value, 1, length(t.value) - 1)) limit 1",
    [S_UNREAD_TAKEN] =
        "select 1 from boxcar_message m where m.work_id > (select position from boxcar_frontier where box = "
        "?1) "
        "and m.work_id <= (select position from boxcar_frontier where box = ?3) and m.box = ?1 and m.lane <> "
        "1 "
        "and not exists (select 1 from boxcar_reader r, json_each(r.patterns) t where r.box = ?1 and "
        "r.number > 1 "
        "and r.number <> ?3 and r.\"only\" and r.name is not null "
        "and (t.value = m.topic or substr(t.value, -1) = '*' "
        "and substr(m.topic, 1, length(t.value) - 1) = substr(t.value, 1, length(t.value) - 1))) "
        "and exists (select 1 from json_each(?2) t where t.value = m.topic or substr(t.value, -1) = '*' "
        "and substr(m.topic, 1, length(t.value) - 1) = substr(t.value, 1, length(t.value) - 1)) limit 1",
    [S_SUBSCRIPTIONS] = "select " SUBSCRIPTION_COLUMNS " from boxcar_reader "
                        "where number > 1 and (?1 is null or name = ?1) and name is not null order by name",
    [S_SUBSCRIPTIONS_OF_POLICY] =
        "select " SUBSCRIPTION_COLUMNS " from boxcar_reader where destinations is not null and number > 1 "
        "and name > ?1 || '/' and name < ?1 || '0' order by name",
    [S_SUBSCRIPTIONS_OF_POLICIES] = "select " SUBSCRIPTION_COLUMNS " from boxcar_reader "
                                    "where destinations is not null and number > 1 and name is not null "
                                    "order by name",
    [S_POLICY_NUMBERS] = "select number from boxcar_reader where destinations is not null and number > 1 "
                         "and name > ?1 || '/' and name < ?1 || '0' order by name",
    [S_POLICY_OF] = "select name from boxcar_reader where number = ?1 and destinations is not null",
    [S_POLICIES_OF_OUTBOX] =
        "select name, patterns, destinations, then_topic, else_topic from boxcar_reader "
        "where destinations is not null and number > 1 and name is not null and box = 0 order by name",
    [S_SCHEDULE_FIND] = "select schedule_id from boxcar_schedule_row where topic = ?1 and work_key = ?2",
    [S_SCHEDULE_INSERT] =
        "insert into boxcar_schedule_row (topic, work_key, every_ms, jitter_ms, shards, then_topic, "
        "else_topic, created_at) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) on conflict do nothing "
        "returning schedule_id",
    [S_SCHEDULE_PAUSE] =
        "update boxcar_schedule_row set paused_at = coalesce(paused_at, ?2) where schedule_id = ?1",
    [S_SCHEDULE_RESUME] = "update boxcar_schedule_row set paused_at = null where schedule_id = ?1",
    [S_SCHEDULE_DELETE] = "delete from boxcar_schedule_row where schedule_id = ?1",
    [S_SCHEDULE_JOINED] = "update boxcar_schedule_row set joins = joins + 1 where schedule_id = ?1",
    [S_SCHEDULES] =
        "select topic, work_key, every_ms, jitter_ms, shards, then_topic, else_topic, created_at, "
        "paused_at, (select count(*) from boxcar_schedule_shard x indexed by boxcar_schedule_shard_due "
        "where x.schedule_id = s.schedule_id and x.due_at is null) as open_slices, "
        "(select min(x.due_at) from boxcar_schedule_shard x where x.schedule_id = s.schedule_id) as "
        "next_due_at from boxcar_schedule_row s "
        "where ?1 is null or (topic = ?1 and work_key = ?2) order by topic, work_key",
    [S_SCHEDULES_RUNNING] =
        "select schedule_id, topic, work_key, every_ms, jitter_ms, shards, then_topic, else_topic, "
        "created_at, joins from boxcar_schedule_row where paused_at is null order by schedule_id",
    [S_SHARDS_INSERT] =
        "with recursive n (shard) as (select 0 union all select shard + 1 from n where shard + 1 < ?2) "
        "insert into boxcar_schedule_shard (schedule_id, shard, due_at) "
        "select ?1, shard, ?3 + " JITTER("?4") " from n",
    [S_SHARDS_DELETE] = "delete from boxcar_schedule_shard where schedule_id = ?1",
    [S_SHARDS_DUE] = "select shard, slice from boxcar_schedule_shard where schedule_id = ?1 and due_at <= ?2 "
                     "order by due_at, shard limit ?3",
    [S_SHARDS_NEXT] =
        "select (select min(due_at) from boxcar_schedule_shard where schedule_id = ?1), "
        "exists (select 1 from boxcar_schedule_shard where schedule_id = ?1 and due_at is null)",
    [S_SLICES] = "select shard, slice, message_id, tries, enqueued_at, completed_at, due_at "
                 "from boxcar_schedule_shard where schedule_id = ?1 order by shard",
    /* Whether its message was done (1), has ended otherwise (2) or neither (0); see schedule/ends.c. */
    [S_SLICES_OPEN] =
        "select shard, slice, tries, case when done_at is not null then 1 when is_dead or not is_there then "
        "2 "
        "else 0 end as outcome, done_at from (select s.shard, s.slice, s.tries, " SLICE_DONE_AT
        " as done_at, "
        "exists (select 1 from boxcar_dead d where d.work_id = s.work_id) or exists (select 1 from "
        "boxcar_reader r join boxcar_reader_dead d on d.box = r.number and d.work_id = s.work_id "
        "where " IS_TAKING ") as is_dead, "
        "exists (select 1 from boxcar_message m where m.work_id = s.work_id) as is_there "
        "from boxcar_schedule_shard s indexed by boxcar_schedule_shard_due "
        "where s.schedule_id = ?1 and s.due_at is null)",
    /* What is neither done nor dead was passed over, and the subscription that takes it has forgotten it: it
     * was done at ?3, or, without ?3, it stays open. */
    [S_SLICES_SETTLE] =
        "update boxcar_schedule_shard as x set completed_at = e.at, due_at = e.at + e.every_ms * 1000 "
        "+ " JITTER(
            "e.jitter_ms") " from (select s.schedule_id, s.shard, coalesce(" SLICE_DONE_AT ", ?3) as "
                           "at, r.every_ms, r.jitter_ms from boxcar_schedule_shard s "
                           "join boxcar_schedule_row r on r.schedule_id = s.schedule_id "
                           "where s.due_at is null and s.work_id between ?1 and ?2 "
                           "and not exists (select 1 from boxcar_dead d where d.work_id = s.work_id)) e "
                           "where x.schedule_id = e.schedule_id and x.shard = e.shard and e.at is not null",
    /* A slice without a message has ended, and not well. */
    [S_SLICES_FAIL] = "update boxcar_schedule_shard set work_id = null "
                      "where due_at is null and work_id between ?1 and ?2",
    [S_SLICES_FAIL_PASSED] =
        "update boxcar_schedule_shard as s set work_id = null where s.due_at is null and exists "
        "(select 1 from boxcar_passed p where p.first_id = (select max(o.first_id) from boxcar_passed o "
        "where o.first_id <= s.work_id) and p.last_id >= s.work_id) and not exists (select 1 from "
        "boxcar_reader r join boxcar_wanted w on w.reader = r.number and w.work_id = s.work_id "
        "where " IS_TAKING ")",
    [S_SLICE_WRITE] =
        "update boxcar_schedule_shard set slice = ?3, tries = ?4, message_id = ?5, work_id = ?6, "
        "enqueued_at = ?7, completed_at = null, due_at = null "
        "where schedule_id = ?1 and shard = ?2",
    [S_SLICE_COMPLETE] =
        "update boxcar_schedule_shard set completed_at = ?4, due_at = ?4 + (select every_ms * 1000 "
        "+ " JITTER("jitter_ms") " from boxcar_schedule_row where schedule_id = ?1) "
                                 "where schedule_id = ?1 and shard = ?2 and slice = ?3 and due_at is null",
    [S_PLANNER_READ] = "select owner, until, fence from boxcar_schedule_planner where planner_id = 1",
    [S_PLANNER_WRITE] =
        "update boxcar_schedule_planner set owner = ?1, until = ?2, fence = ?3 where planner_id = 1",
    [S_SUBSCRIPTION_FIGURES] =
        "select coalesce(sum(parked + behind), 0), coalesce(sum(leased), 0), coalesce(sum(dead), 0) "
        "from boxcar_tally where box = ?1",
    [S_SUBSCRIPTION_OLDEST] =
        "select created_at from boxcar_message where work_id = (select min(work_id) from ("
        "select (select min(work_id) from boxcar_reader_parked where box = ?1) as work_id "
        "union all select (select min(work_id) from boxcar_reader_lease where box = ?1) "
        "union all select (select work_id from boxcar_unread where reader = ?1 order by work_id limit 1)))",
    [S_SUBSCRIPTION_HELD] =
        "select count(*) from (select 1 from (select first_id, last_id from boxcar_finished where at <= ?2 "
        "union all select first_id, last_id from boxcar_passed "
        "union all select work_id, work_id from boxcar_dead where died_at <= ?3) x "
        "cross join boxcar_wanted w on w.work_id between x.first_id and x.last_id where w.reader = ?1 limit "
        "?4)",
    /* Sent back behind ?2. What lies across the border is cut. */
    [S_REWIND_LEASES] = "delete from boxcar_reader_lease where box = ?1 and work_id > ?2",
    [S_REWIND_PARKED] = "delete from boxcar_reader_parked where box = ?1 and work_id > ?2",
    [S_REWIND_DEAD] = "delete from boxcar_reader_dead where box = ?1 and work_id > ?2",
    [S_REWIND_ATTEMPTS] = "delete from boxcar_reader_attempt where box = ?1 and work_id > ?2",
    [S_REWIND_FINISHED] = "delete from boxcar_reader_finished where box = ?1 and first_id > ?2",
    [S_REWIND_CUT] = "update boxcar_reader_finished set last_id = ?2 where box = ?1 and last_id > ?2 "
                     "and first_id = (select max(first_id) from boxcar_reader_finished "
                     "where box = ?1 and first_id <= ?2)",
    [S_REWIND_HALTS] = "delete from boxcar_stream_halt where box = ?1 and halted_by > ?2",
    [S_REWIND_STREAMS] =
        "select distinct stream from boxcar_reader_parked where box = ?1 and stream is not null",
    [S_REWIND_FRONTIER] = "update boxcar_frontier set position = min(position, ?2) where box = ?1",
    [S_REWIND_NOTE] = "insert into boxcar_reader_rewind (box, at, target, position) values (?1, ?2, ?3, ?4)",
    [S_REWIND_TIME] = "update boxcar_reader set rewound_at = ?2 where number = ?1",
    [S_UNREAD_COUNT] = "select count(*) from (select 1 from boxcar_unread where reader = ?1 limit ?2)",
    [S_UNREAD_TOPICS] =
        "select topic, count(*) from (select topic from boxcar_unread where reader = ?1 limit ?2) "
        "group by topic order by topic",
    /* The first one of those that are more than ?2 too many. */
    [S_UNREAD_BEYOND] =
        "select work_id from boxcar_unread where reader = ?1 order by work_id desc limit 1 offset ?2",
    [S_LAGGING_PARKED] = "select work_id from boxcar_reader_parked where box = ?1 and state in (0, 1, 2) "
                         "and available_at < ?2 order by work_id limit ?3",
    [S_FRONTIER_MOVE] = "update boxcar_frontier set position = ?2 where box = ?1 and position < ?2",
    [S_READER_LEASED] = "select 1 from boxcar_reader_lease where box = ?1 limit 1",
    [S_REMOVE_LEASES] = "delete from boxcar_reader_lease where box = ?1",
    [S_REMOVE_MARK] = "update boxcar_reader set name = null, \"only\" = 0 where number = ?1",
    [S_REMOVE_HALTS] = "delete from boxcar_stream_halt where box = ?1",
    [S_REMOVE_FRONTIER] = "delete from boxcar_frontier where box = ?1",
    [S_REMOVE_INSTANCES] = "delete from boxcar_instance_row where box = ?1",
    [S_REMOVE_TALLIES] = "delete from boxcar_tally where box = ?1",
    [S_REMOVE_VIOLATIONS] = "delete from boxcar_stream_violation where box = ?1",
    [S_REMOVE_REWINDS] = "delete from boxcar_reader_rewind where box = ?1",
    [S_REMOVED_NEXT] = "select number from boxcar_reader where name is null limit 1",
    [S_REMOVED_PARKED] = "delete from boxcar_reader_parked where (box, work_id) in "
                         "(select box, work_id from boxcar_reader_parked where box = ?1 limit ?2)",
    [S_REMOVED_DEAD] = "delete from boxcar_reader_dead where (box, work_id) in "
                       "(select box, work_id from boxcar_reader_dead where box = ?1 limit ?2)",
    [S_REMOVED_FINISHED] = "delete from boxcar_reader_finished where (box, first_id) in "
                           "(select box, first_id from boxcar_reader_finished where box = ?1 limit ?2)",
    [S_REMOVED_ATTEMPTS] = "delete from boxcar_reader_attempt where attempt_id in "
                           "(select attempt_id from boxcar_reader_attempt where box = ?1 limit ?2)",
    [S_REMOVED_READER] = "delete from boxcar_reader where number = ?1",
    [S_READER_ANY] = "select exists (select 1 from boxcar_reader where number > 1 and name is not null)",
    [S_WANTED] =
        "select distinct work_id from boxcar_wanted where work_id between ?1 and ?2 order by work_id",
    [S_FINISHED_PAST] = "select first_id, last_id, owner, at from boxcar_finished "
                        "where at <= ?1 and (at, first_id) > (?2, ?3) order by at, first_id limit 1",
    [S_DEAD_PAST] = "select work_id, died_at from boxcar_dead "
                    "where died_at <= ?1 and (died_at, work_id) > (?2, ?3) order by died_at, work_id limit 1",
    [S_PASSED_PAST] =
        "select first_id, last_id from boxcar_passed where first_id > ?1 order by first_id limit 1",
    [S_PASSED_LAST] =
        "select first_id, last_id from boxcar_passed where first_id <= ?1 order by first_id desc limit 1",
    [S_PASSED_WRITE] = "insert into boxcar_passed (first_id, last_id) values (?1, ?2) "
                       "on conflict (first_id) do update set last_id = max(last_id, excluded.last_id)",
    [S_TAKES_ANY] =
        "select exists (select 1 from boxcar_reader where box = ?1 and \"only\" = 1 and name is not null)",
    [S_KEY_BURY] = "update boxcar_inbox_key set state = 3, ended_at = ?2, work_id = null where work_id = ?1",
    [S_UNREAD_MESSAGE] = "select topic from boxcar_unread where reader = ?1 and work_id = ?2",
    [S_PASSED_DELETE] = "delete from boxcar_passed where first_id = ?1",
    [S_INSTANCE_READER_LEASES] = "select box, work_id from boxcar_reader_lease where owner = ?1 limit ?2",

    [S_SETTINGS] = "select name, number, text from boxcar_setting order by name",
    [S_SETTING_WRITE] = "insert into boxcar_setting (name, number, text) values (?1, ?2, ?3) "
                        "on conflict (name) do update set number = excluded.number, text = excluded.text",
    [S_SETTING_RESET] = "delete from boxcar_setting where name = ?1",
};
