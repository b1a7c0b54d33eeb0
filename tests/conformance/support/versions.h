/* What takes a store back to an older schema version: everything that came later is dropped. For tests of
 * upgrades; each newer migration adds its objects to the newest of these. */
#ifndef BOXCAR_TESTS_VERSIONS_H
#define BOXCAR_TESTS_VERSIONS_H

/* Version 15: before policies and schedules. */
#define POSTGRES_BACK_TO_15                                                                                  \
    "drop table schedule_row, schedule_shard, schedule_planner cascade; "                                    \
    "alter table reader drop column destinations, drop column then_topic, drop column else_topic; "
/* Version 14: before subscriptions, and without the views that know of them. */
#define POSTGRES_BACK_TO_14                                                                                  \
    POSTGRES_BACK_TO_15                                                                                      \
    "drop table reader, reader_rewind, reader_change, reader_skip cascade; drop sequence reader_number, "    \
    "skip_flag, holder_0, holder_1, holder_2, holder_3, holder_4, holder_5, holder_6, holder_7, holder_8, "  \
    "holder_9, holder_10, holder_11, holder_12, holder_13, holder_14, holder_15; "                           \
    "alter table frontier drop column log_box, drop column choosy, drop column in_exact, drop column "       \
    "in_prefixes, "                                                                                          \
    "drop column but_exact, drop column but_prefixes, drop column from_time, drop column from_id; "          \
    "alter table parked drop constraint parked_pkey, add primary key (work_id); "                            \
    "alter table dead drop constraint dead_pkey, add primary key (work_id); "                                \
    "alter table finished drop constraint finished_pkey, add primary key (first_id); "                       \
    "alter table attempt drop column reader cascade; "
/* Version 15 on SQLite: before policies and schedules. */
#define SQLITE_BACK_TO_15                                                                                    \
    "drop view boxcar_schedule; drop view boxcar_schedule_slice; drop view boxcar_fanout; drop table "       \
    "boxcar_schedule_shard; "                                                                                \
    "drop table boxcar_schedule_row; drop table boxcar_schedule_planner; drop index boxcar_reader_policy; "  \
    "alter "                                                                                                 \
    "table boxcar_reader drop column destinations; "                                                         \
    "alter table boxcar_reader drop column then_topic; alter table boxcar_reader drop column else_topic; "
/* Version 14 on SQLite: before subscriptions. */
#define SQLITE_BACK_TO_14                                                                                    \
    SQLITE_BACK_TO_15                                                                                        \
    "drop view boxcar_delivery; drop view boxcar_subscription; drop view boxcar_unread; drop view "          \
    "boxcar_wanted; drop view boxcar_instance; drop trigger boxcar_inbox_on_remove; "                        \
    "drop table boxcar_passed; drop table boxcar_reader_skip; drop table boxcar_reader_rewind; drop table "  \
    "boxcar_reader_lease; "                                                                                  \
    "drop table boxcar_reader_parked; drop table boxcar_reader_finished; drop table boxcar_reader_dead; "    \
    "drop table boxcar_reader_attempt; drop table boxcar_reader; "

/* Version 11: before messages say what caused them, and that they are events. */
#define POSTGRES_BACK_TO_11                                                                                  \
    "drop index join_member_message; alter table event_row drop column causation_id cascade; "               \
    "alter table message drop column causation_id cascade, drop column event_type cascade, drop column "     \
    "metadata cascade; "                                                                                     \
    "alter type claimed_message drop attribute causation_id, drop attribute event_type, drop attribute "     \
    "metadata; "                                                                                             \
    "alter type event_entry drop attribute causation_id; "
#define SQLITE_BACK_TO_11                                                                                    \
    SQLITE_BACK_TO_14                                                                                        \
    "drop index boxcar_join_member_message; drop view boxcar_outbox; drop view boxcar_inbox; drop view "     \
    "boxcar_dead_letter; "                                                                                   \
    "drop view boxcar_item_text; drop view boxcar_item; drop view boxcar_event; "                            \
    "alter table boxcar_event_row drop column causation_id; alter table boxcar_message drop column "         \
    "causation_id; "                                                                                         \
    "alter table boxcar_message drop column event_type; alter table boxcar_message drop column metadata; "

/* Version 10: before the pool, while messages that were buried ahead of the frontier were noted down. */
#define POSTGRES_ALL_BACK_TO_10                                                                              \
    "insert into parked (work_id, box, available_at, topic) "                                                \
    "select m.work_id, m.box, m.created_at, m.topic from _fresh m where m.work_id in (select _ids(items) "   \
    "from pool); "                                                                                           \
    "insert into parked (work_id, box, available_at, expires_at, topic, stream) "                            \
    "select m.work_id, m.box, greatest(m.due_at, m.created_at), m.expires_at, m.topic, m.stream from "       \
    "message m join stream s "                                                                               \
    "on s.box = m.box and s.key = m.stream where m.lane = 1 and m.work_id > s.position and m.work_id in "    \
    "(select work_id from _fresh); "                                                                         \
    "drop view _stream_state, _fresh cascade; " POSTGRES_BACK_TO_14 POSTGRES_BACK_TO_11                      \
    "drop function _is_stream_leased, _is_open cascade; drop index message_stream; "                         \
    "alter table stream drop column position, drop column taken_from, drop column epoch; drop table pool, "  \
    "upkeep, upkeep_look, origin, late_step; drop sequence epoch_count, outbox_claims, inbox_claims, "       \
    "outbox_quiet, inbox_quiet, awaited_flag, old_key_flag, member_flag, instance_flag; "                    \
    "create table frontier_skip (work_id bigint primary key); "                                              \
    "insert into frontier_skip select work_id from message where lane = 2 and work_id in (select work_id "   \
    "from dead); "                                                                                           \
    "update message set lane = (stream is not null)::int where work_id in (select work_id from "             \
    "frontier_skip); "                                                                                       \
    "alter table end_note drop column places, drop column items, drop column noted_at; "                     \
    "alter table frontier drop column pool_from, drop column whole, "                                        \
    "drop column target_top, drop column base_top, drop column target_low, drop column base_low, "           \
    "drop column target_fence, drop column base_fence, add column skip int8multirange not null default "     \
    "'{}', "                                                                                                 \
    "add column suspects_next boolean not null default false; "                                              \
    "update frontier set skip = '{(,)}' where exists (select from frontier_skip); "                          \
    "create view _fresh as select m.* from message m join frontier f using (box, lane) "                     \
    "where f.skip = '{}' and not exists (select from frontier_skip k where k.work_id = m.work_id); "         \
    "update store set schema_version = 10, functions_digest = 'of version 10'; "

/* Version 9: before the tables check what is stored, and before claims have numbers. */
#define POSTGRES_BACK_TO_9                                                                                   \
    "alter table lease drop column claim_number; "                                                           \
    "alter table message drop constraint message_limits; "                                                   \
    "alter table if exists event_row drop constraint event_row_limits; "                                     \
    "alter table if exists join_row drop constraint join_row_limits; "                                       \
    "alter table if exists inbox_key drop constraint inbox_key_limits; "                                     \
    "alter table store drop column are_old_messages_checked; "
/* All of it. */
#define POSTGRES_ALL_BACK_TO_9                                                                               \
    POSTGRES_ALL_BACK_TO_10                                                                                  \
    "drop table unique_key; alter table message drop column unique_key cascade; " POSTGRES_BACK_TO_9         \
    "update frontier set skip = coalesce((select range_agg(int8range(work_id, work_id + 1)) from "           \
    "frontier_skip), '{}') "                                                                                 \
    "where box = 0 and lane = 0; "                                                                           \
    "drop index parked_wait, stream_violation_at; drop table instance_sign, frontier_skip, end_note "        \
    "cascade; "                                                                                              \
    "drop view outbox_turn, inbox_turn, event_turn, outbox_upkeep, inbox_upkeep; drop function _at_end; "    \
    "update store set schema_version = 9, functions_digest = 'of version 9'; "

/* Version 9 on SQLite: before unique keys, and while all streams were parked. */
#define SQLITE_BACK_TO_9                                                                                     \
    SQLITE_BACK_TO_11                                                                                        \
    "drop table boxcar_upkeep; "                                                                             \
    "drop index boxcar_message_stream; drop index boxcar_lease_stream; alter table boxcar_lease drop "       \
    "column stream; "                                                                                        \
    "update boxcar_schema set oldest_program = 1; "                                                          \
    "drop trigger boxcar_unique_key_on_remove; drop table boxcar_unique_key; "                               \
    "alter table boxcar_message drop column unique_key; "

#endif
