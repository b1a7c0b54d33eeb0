/* Parts of statements.
 *
 * A statement about what a reader knows is written for the main readers. For subscriptions it is made from
 * the same text: see statement_text(). There `@` stands for "of this reader": @p.work_id becomes p.box = ?30
 * and p.work_id. */
#ifndef BOXCAR_STORE_SQLITE_STATEMENT_SQL_H
#define BOXCAR_STORE_SQLITE_STATEMENT_SQL_H

#define MESSAGE_COLUMNS                                                                                      \
    "m.work_id, m.message_id, m.box, m.lane, m.topic, m.stream, m.correlation_id, m.headers, "               \
    "m.created_at, m.due_at, m.expires_at, m.max_attempts, m.causation_id, m.event_type, m.metadata"

/* A message is finished if a run of boxcar_finished holds it: the last one that starts at or before it. */
#define RUN_HOLDS(id)                                                                                        \
    "@f.first_id = (select max(r.first_id) from boxcar_finished r where @r.first_id <= " id ") "             \
    "and f.last_id >= " id
#define IS_FINISHED(id) "exists (select 1 from boxcar_finished f where " RUN_HOLDS(id) ")"

/* Everything known about one message; see message/read.c for the columns. Crashes: how often a lease on it
 * expired, since it was enqueued or last replayed. */
#define FIND(payload, condition)                                                                             \
    "select " MESSAGE_COLUMNS ", p.state, p.available_at, p.expires_at, "                                    \
    "coalesce(p.retry_count, d.retry_count, (select a.retry_count from boxcar_attempt a "                    \
    "    where @a.work_id = m.work_id order by a.attempt_id desc limit 1)), "                                \
    "coalesce(p.crash_count, d.crash_count, (select count(*) from boxcar_attempt a "                         \
    "    where @a.work_id = m.work_id and a.outcome = 'lease_expired' "                                      \
    "    and a.attempt_id > coalesce((select max(r.attempt_id) from boxcar_attempt r "                       \
    "        where @r.work_id = m.work_id and r.outcome = 'replayed'), 0))), "                               \
    "coalesce(p.last_error, d.last_error, (select a.error from boxcar_attempt a "                            \
    "    where @a.work_id = m.work_id and a.outcome <> 'replayed' order by a.attempt_id desc limit 1)), "    \
    "l.owner, l.epoch, l.until, f.owner, f.at, d.reason, d.died_at, "                                        \
    "(select k.source from boxcar_inbox_key k where k.work_id = m.work_id), "                                \
    "(select k.external_id from boxcar_inbox_key k where k.work_id = m.work_id), "                           \
    "(select s.flags from boxcar_stage s where s.work_id = m.work_id)" payload " from boxcar_message m "     \
    "left join boxcar_parked p on @p.work_id = m.work_id "                                                   \
    "left join boxcar_lease l on @l.work_id = m.work_id "                                                    \
    "left join boxcar_dead d on @d.work_id = m.work_id "                                                     \
    "left join boxcar_finished f on " RUN_HOLDS("m.work_id") " where m.work_id = ?1 and " condition

/* A subscription has taken the topic of message m from the main reader; see sqlite_reader_takes(). */
#define IS_TAKEN                                                                                             \
    "exists (select 1 from boxcar_reader o "                                                                 \
    "join json_each(case when json_valid(o.patterns) then o.patterns else '[]' end) t "                      \
    "where o.box = m.box and o.\"only\" = 1 and o.name is not null and (t.value = m.topic "                  \
    "or substr(t.value, -1) = '*' and substr(m.topic, 1, length(t.value) - 1) "                              \
    "= substr(t.value, 1, length(t.value) - 1)))"
/* The main reader has passed over it for that reason. */
#define IS_PASSED(id)                                                                                        \
    "exists (select 1 from boxcar_passed q where q.first_id = (select max(r.first_id) from boxcar_passed r " \
    "where r.first_id <= " id ") and q.last_id >= " id ")"

/* A random part of so many milliseconds, in microseconds. */
#define JITTER(ms) "abs(random() % (" ms " * 1000 + 1))"
/* A subscription r that takes messages of the outbox from the main reader. */
#define IS_TAKING "r.\"only\" = 1 and r.box = 0 and r.name is not null"
/* When the message of slice s was done, by the main reader or a subscription that takes it; null: it was not.
 */
#define SLICE_DONE_AT                                                                                        \
    "coalesce((select f.at from boxcar_finished f where f.first_id = (select max(g.first_id) "               \
    "from boxcar_finished g where g.first_id <= s.work_id) and f.last_id >= s.work_id), "                    \
    "(select max(f.at) from boxcar_reader r join boxcar_reader_finished f on f.box = r.number "              \
    "and f.first_id = (select max(g.first_id) from boxcar_reader_finished g where g.box = r.number "         \
    "and g.first_id <= s.work_id) and f.last_id >= s.work_id where " IS_TAKING "))"

/* See subscription/list.c. */
#define SUBSCRIPTION_COLUMNS                                                                                 \
    "name, number, box, patterns, \"only\", created_at, start_at, paused_at, rewound_at, max_lag_ms, "       \
    "max_lag_count, destinations, then_topic, else_topic"

/* A join without its texts; see join/row.c. */
#define JOIN_COLUMNS                                                                                         \
    "join_id, expected_steps, completed_steps, failed_steps, status, reason, created_at, last_updated_at, "  \
    "deadline"
/* Newest first, from the join (?1, ?2) on; a null id comes before all others of its time. */
#define JOIN_PAGE(condition)                                                                                 \
    "select " JOIN_COLUMNS ", grouping_key, metadata from boxcar_join where " condition                      \
    "(created_at, join_id) < (?1, coalesce(?2, x'')) order by created_at desc, join_id desc limit ?3"

/* An event; see event/event.c. */
#define EVENT_COLUMNS                                                                                        \
    "event_id, stream, version, position, type, correlation_id, headers, created_at, payload, causation_id"

/* A fresh message m that others of its stream come before, or that its stream keeps back. */
#define IS_BEHIND                                                                                            \
    "(m.lane = 2 and (exists (select 1 from boxcar_message e indexed by boxcar_message_stream "              \
    "where e.box = m.box and e.stream = m.stream and e.lane = 2 and e.work_id < m.work_id "                  \
    "and e.work_id > (select position from boxcar_frontier where box = m.box)) "                             \
    "or exists (select 1 from boxcar_parked p indexed by boxcar_parked_stream where p.box = m.box and "      \
    "p.stream = m.stream) "                                                                                  \
    "or exists (select 1 from boxcar_lease l indexed by boxcar_lease_stream where l.box = m.box and "        \
    "l.stream = m.stream) "                                                                                  \
    "or exists (select 1 from boxcar_stream_halt h where h.box = m.box and h.stream = m.stream))) "

#define PARKED_WRITE(key)                                                                                    \
    "insert into boxcar_parked (work_id, box, state, topic, stream, available_at, expires_at, "              \
    "retry_count, crash_count, last_error, partition) "                                                      \
    "values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) on conflict (" key ") do update "                 \
    "set state = excluded.state, available_at = excluded.available_at, "                                     \
    "retry_count = excluded.retry_count, crash_count = excluded.crash_count, "                               \
    "last_error = excluded.last_error"

/* Pages: box ?1, topics in the range of bytes from ?2 to ?3 (see sqlite_topic_range), below ?4, at most ?5,
 * now ?6 where the clock counts. */
#define PAGE_PARKED                                                                                          \
    "select work_id from boxcar_parked where box = ?1 and topic >= ?2 and topic < ?3 and work_id < ?4 "
#define PAGE_FRESH                                                                                           \
    "select m.work_id from boxcar_message m where m.work_id > (select position from boxcar_frontier "        \
    "where box = ?1) and m.box = ?1 and m.lane <> 1 and m.topic >= ?2 and m.topic < ?3 and m.work_id < ?4 "  \
    "and not " IS_TAKEN " "
#define PAGE_ORDER "order by work_id desc limit ?5"

/* As the availability indexes say it. Not "state < 2": that would be a range of the index, and
 * the planner prefers it to the equality that keeps the order. */
#define IS_OPEN "state <> 2 and state <> 3"

/* A column: the first message of a stream in a state. */
#define STREAM_FIRST(state_number)                                                                           \
    "(select work_id from boxcar_parked indexed by boxcar_parked_stream where box = ?1 and stream = ?2 "     \
    "and state = " state_number " order by work_id limit 1), "
/* The messages of a stream that are in the log beyond the frontier. */
#define STREAM_FRESH                                                                                         \
    "from boxcar_message indexed by boxcar_message_stream where box = ?1 and stream = ?2 and lane = 2 "      \
    "and work_id > (select position from boxcar_frontier where box = ?1)"
/* The first key of a stream that is alive, from ?2 on or behind it. Texts only: blobs, which only a foreign
 * hand writes, come behind all texts, and a walk from text to text would meet the first of them for ever. In
 * the log it goes past streams of which all is done, from key to key, to the first that is not. */
#define STREAM_NEXT(from)                                                                                    \
    "with recursive logged(stream) as ("                                                                     \
    "select min(stream) from boxcar_message indexed by boxcar_message_stream "                               \
    "where box = ?1 and lane = 2 and stream " from " and stream < x'' union all "                            \
    "select (select min(m.stream) from boxcar_message m indexed by boxcar_message_stream "                   \
    "where m.box = ?1 and m.lane = 2 and m.stream > s.stream and m.stream < x'') from logged s "             \
    "where s.stream is not null and not exists (select 1 from boxcar_message f "                             \
    "indexed by boxcar_message_stream where f.box = ?1 and f.lane = 2 and f.stream = s.stream "              \
    "and f.work_id > (select position from boxcar_frontier where box = ?1))) "                               \
    "select min(stream) from ("                                                                              \
    "select min(stream) as stream from boxcar_parked "                                                       \
    "where box = ?1 and stream " from " and stream < x'' union all "                                         \
    "select min(stream) from boxcar_lease indexed by boxcar_lease_stream "                                   \
    "where box = ?1 and stream " from " and stream < x'' union all "                                         \
    "select min(stream) from boxcar_stream_halt "                                                            \
    "where box = ?1 and stream " from " and stream < x'' union all "                                         \
    "select case when count(*) = count(stream) then max(stream) end from logged)"
#define HALT_NEXT(from)                                                                                      \
    "select min(stream) from boxcar_stream_halt where box = ?1 and stream " from " and stream < x''"
/* Counting stops at a limit; beyond it stats tells an estimate. */
#define COUNT_PARKED(condition)                                                                              \
    "select count(*) from (select 1 from boxcar_parked where box = ?1 and state in (0, 1) and " IS_OPEN      \
    " and " condition " limit ?3)"
/* An instance that has been silent since ?1. */
#define SILENT                                                                                               \
    "select instance_id from boxcar_instance_row group by instance_id having max(seen_at) <= ?1 limit 1"

/* Fresh, leased, parked, behind; the first that finds something answers. Parked messages are searched for one
 * exact topic at a time, and messages behind a head from stream to stream along the index: those due later
 * than ?4 are not walked through, and a stream whose head is due later is skipped whole. Messages of the
 * topic ?5 wait for joins: those due later than ?6 (now) do not count here. */
#define IS_STREAM_LIVE                                                                                       \
    "not exists (select 1 from boxcar_stream_halt h where h.box = ?1 and h.stream = m.stream) "              \
    "and (not exists (select 1 from boxcar_parked p where p.box = ?1 and p.stream = m.stream) "              \
    "or exists (select 1 from boxcar_parked h "                                                              \
    "where h.box = ?1 and h.stream = m.stream and h.state in (0, 1, 3) "                                     \
    "and (h.state = 3 or h.available_at <= case when h.topic = ?5 then ?6 else ?4 end)))"
#define DRAINED(fresh)                                                                                       \
    "select case when exists (" fresh ") then 0 "                                                            \
    "when exists (select 1 from boxcar_lease where box = ?1 and topic >= ?2 and topic < ?3) then 0 "         \
    "when exists (select 1 from boxcar_tally t indexed by boxcar_tally_parked "                              \
    "where t.box = ?1 and t.topic >= ?2 and t.topic < ?3 and t.parked > 0 "                                  \
    "and exists (select 1 from boxcar_parked where box = ?1 and state in (0, 1) and " IS_OPEN                \
    " and topic = t.topic and available_at <= case when t.topic = ?5 then ?6 else ?4 end)) then 0 "          \
    "when exists (with recursive s(stream) as ("                                                             \
    "select min(stream) from boxcar_parked where box = ?1 and stream is not null union all "                 \
    "select (select min(p.stream) from boxcar_parked p where p.box = ?1 and p.stream > s.stream) "           \
    "from s where s.stream is not null) "                                                                    \
    "select 1 from s where s.stream is not null "                                                            \
    "and exists (select 1 from boxcar_parked h "                                                             \
    "where h.box = ?1 and h.stream = s.stream and h.state in (0, 1, 3) "                                     \
    "and (h.state = 3 or h.available_at <= case when h.topic = ?5 then ?6 else ?4 end)) "                    \
    "and exists (select 1 from boxcar_parked b where b.box = ?1 and b.stream = s.stream and b.state = 2 "    \
    "and b.available_at <= case when b.topic = ?5 then ?6 else ?4 end "                                      \
    "and +b.topic >= ?2 and +b.topic < ?3)) then 0 "                                                         \
    "else 1 end"

#endif
