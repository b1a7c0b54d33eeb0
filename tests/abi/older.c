/* A program of an older version: compiled against tests/abi/headers, where the last member of each growing
 * struct is not there yet, and run with today's library. Every struct of the caller stands in front of bytes
 * that must not change. Decision 42. Arguments: URL of a store. */
#include <libpq-fe.h>
#include <sqlite3.h>

#include <boxcar/dead_letter.h>
#include <boxcar/doctor.h>
#include <boxcar/event.h>
#include <boxcar/inspect.h>
#include <boxcar/instance.h>
#include <boxcar/join.h>
#include <boxcar/maintain.h>
#include <boxcar/postgres.h>
#include <boxcar/request.h>
#include <boxcar/sqlite.h>
#include <boxcar/store.h>
#include <boxcar/stream.h>
#include <boxcar/version.h>

#include "older.h"

static size_t records;

static void count_records(void *context, const boxcar_log_record *record) {
    check(record->event && record->text && record->store_id, "record");
    ++*(size_t *)context;
}

static boxcar_store *open_store(const char *url) {
    GUARDED(boxcar_store_options, options, 1, BOXCAR_STORE_OPTIONS_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;

    options.items[0].url = boxcar_str_of(url);
    options.items[0].deploy = true;
    options.items[0].log = count_records;
    options.items[0].log_context = &records;
    must(boxcar_store_open(&options.items[0], &store, &err), &err, "open");
    CHECK_GUARD(options);
    check(boxcar_store_deployment(store)->schema_version == boxcar_schema_version(), "schema_version");
    return store;
}

/* An array of smaller structs goes in, one of smaller structs comes back. */
static void append_and_read(boxcar_store *store) {
    GUARDED(boxcar_new_event, events, 3, BOXCAR_NEW_EVENT_INIT);
    GUARDED(boxcar_appended, appended, 3, BOXCAR_APPENDED_INIT);
    GUARDED(boxcar_event_filter, filter, 1, BOXCAR_EVENT_FILTER_INIT);
    static const char *const payloads[3] = {"one", "two", "three"};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_event_list *list = NULL;

    for (int i = 0; i < 3; i++) {
        events.items[i] = BOXCAR_NEW_EVENT_INIT;
        events.items[i].type = BOXCAR_STR("T");
        events.items[i].payload = boxcar_str_of(payloads[i]);
        events.items[i].topic = BOXCAR_STR("t");
    }
    must(boxcar_event_append(store, BOXCAR_STR("s"), 0, events.items, 3, appended.items, &err), &err,
         "append");
    CHECK_GUARD(events);
    CHECK_GUARD(appended);
    for (int i = 0; i < 3; i++)
        check(appended.items[i].version == i + 1 && appended.items[i].struct_size == sizeof(boxcar_appended),
              "appended");
    must(boxcar_event_read_all(store, &filter.items[0], &list, &err), &err, "read_all");
    CHECK_GUARD(filter);
    check(list->count == 3, "events");
    for (size_t i = 0; i < list->count; i++)
        check(is(list->items[i]->payload, payloads[i]) && list->items[i]->version == (int64_t)i + 1, "event");
    check(list->position == list->items[2]->position, "position");
    boxcar_list_free(list);
}

/* Items of lists are larger than this program knows: pointers lead to each of them. */
static void look_at_messages(boxcar_store *store) {
    GUARDED(boxcar_message_filter, filter, 1, BOXCAR_MESSAGE_FILTER_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    boxcar_stats_list *stats = NULL;

    filter.items[0].by_status = true;
    filter.items[0].status = BOXCAR_READY;
    must(boxcar_message_page(store, &filter.items[0], &list, &err), &err, "page");
    CHECK_GUARD(filter);
    check(list->count == 3, "messages");
    for (size_t i = 0; i < list->count; i++)
        check(is(list->items[i]->topic, "t") && is(list->items[i]->stream, "s") &&
                  list->items[i]->status == BOXCAR_READY,
              "message");
    boxcar_list_free(list);
    must(boxcar_stats_read(store, BOXCAR_OUTBOX, true, &stats, &err), &err, "stats");
    check(stats->count == 3 && is(stats->items[1]->topic, "plain") && is(stats->items[2]->topic, "t"),
          "stats");
    boxcar_list_free(stats);
}

/* Messages that an older program stores, claims and settles. */
static void enqueue_and_settle(boxcar_store *store) {
    GUARDED(boxcar_new_message, messages, 2, BOXCAR_NEW_MESSAGE_INIT);
    GUARDED(boxcar_claimer, claimer, 1, BOXCAR_CLAIMER_INIT);
    boxcar_enqueued enqueued[2];
    GUARDED(boxcar_settlement, settlements, 2, BOXCAR_SETTLEMENT_INIT);
    boxcar_message_list *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t affected = 0;

    messages.items[1] = BOXCAR_NEW_MESSAGE_INIT;
    for (int i = 0; i < 2; i++) {
        messages.items[i].topic = BOXCAR_STR("plain");
        messages.items[i].payload = i ? BOXCAR_STR("second") : BOXCAR_STR("first");
    }
    must(boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages.items, 2, enqueued, &err), &err, "enqueue");
    CHECK_GUARD(messages);
    claimer.items[0].owner.uuid = boxcar_uuid_new();
    must(boxcar_claim(store, &claimer.items[0], &list, &err), &err, "claim");
    check(list->count == 2 && is(list->items[0]->payload, "first") && is(list->items[1]->payload, "second"),
          "claimed");
    settlements.items[1] = BOXCAR_SETTLEMENT_INIT;
    for (int i = 0; i < 2; i++) {
        check(list->items[i]->work_id.value == enqueued[i].work_id.value, "work_id");
        settlements.items[i].work_id = list->items[i]->work_id;
        settlements.items[i].epoch = list->items[i]->epoch;
    }
    must(boxcar_settle(store, &claimer.items[0], BOXCAR_ACK, settlements.items, 2, NULL, &affected, &err),
         &err, "ack");
    CHECK_GUARD(claimer);
    CHECK_GUARD(settlements);
    check(affected == 2, "affected");
    boxcar_list_free(list);
}

/* One call that stores and claims, and one that settles what came: the structs of a request grow, too. */
static void send_requests(boxcar_store *store) {
    GUARDED(boxcar_new_message, message, 1, BOXCAR_NEW_MESSAGE_INIT);
    GUARDED(boxcar_request_part, part, 1, BOXCAR_REQUEST_PART_INIT);
    GUARDED(boxcar_request, request, 1, BOXCAR_REQUEST_INIT);
    GUARDED(boxcar_settlement, settlements, 2, BOXCAR_SETTLEMENT_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_result *result = NULL;

    message.items[0].topic = BOXCAR_STR("plain");
    message.items[0].payload = BOXCAR_STR("third");
    request.items[0].owner.uuid = boxcar_uuid_new();
    request.items[0].messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){message.items, 1};
    request.items[0].parts[BOXCAR_OUTBOX] = part.items;
    part.items[0].claim_size = 5;
    must(boxcar_process(store, request.items, &result, &err), &err, "request that claims");
    check(result->claimed[BOXCAR_OUTBOX]->count == 1, "claimed");
    settlements.items[0].work_id = result->claimed[BOXCAR_OUTBOX]->items[0]->work_id;
    settlements.items[1] = settlements.items[0];
    settlements.items[1].work_id.value += 1000;
    boxcar_result_free(result);
    request.items[0].messages[BOXCAR_OUTBOX].count = 0;
    part.items[0].claim_size = 0;
    part.items[0].settle[BOXCAR_ACK] = (boxcar_settlement_list){settlements.items, 2};
    must(boxcar_process(store, request.items, &result, &err), &err, "request that settles");
    check(result->settled[BOXCAR_OUTBOX][BOXCAR_ACK].count == 1, "settled");
    boxcar_result_free(result);
    CHECK_GUARD(message);
    CHECK_GUARD(part);
    CHECK_GUARD(request);
    CHECK_GUARD(settlements);
}

static void join_messages(boxcar_store *store) {
    GUARDED(boxcar_new_join, join, 1, BOXCAR_NEW_JOIN_INIT);
    GUARDED(boxcar_attached, attached, 2, BOXCAR_ATTACHED_INIT);
    GUARDED(boxcar_join_filter, filter, 1, BOXCAR_JOIN_FILTER_INIT);
    boxcar_message_id ids[2] = {{boxcar_uuid_new()}, {boxcar_uuid_new()}};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id = {{{0}}};
    boxcar_join_list *list = NULL;
    boxcar_join_member_list *members = NULL;
    bool counted = false;

    join.items[0].expected_steps = 2;
    join.items[0].grouping_key = BOXCAR_STR("customer");
    must(boxcar_join_start(store, &join.items[0], &join_id, &err), &err, "start");
    CHECK_GUARD(join);
    must(boxcar_join_attach(store, join_id, ids, 2, attached.items, &err), &err, "attach");
    CHECK_GUARD(attached);
    check(attached.items[0].is_new && attached.items[1].is_new, "attached");
    must(boxcar_join_report(store, join_id, ids[0], BOXCAR_MEMBER_COMPLETED, &counted, &err), &err, "report");
    check(counted, "counted");
    must(boxcar_join_page(store, &filter.items[0], &list, &err), &err, "joins");
    CHECK_GUARD(filter);
    check(list->count == 1 && list->items[0]->completed_steps == 1 &&
              is(list->items[0]->grouping_key, "customer"),
          "join");
    boxcar_list_free(list);
    must(boxcar_join_member_page(store, join_id, (boxcar_message_id){0}, 10, &members, &err), &err,
         "members");
    check(members->count == 2, "members");
    for (size_t i = 0; i < 2; i++)
        check(members->items[i]->status ==
                  (memcmp(&members->items[i]->message_id, &ids[0], sizeof(ids[0])) == 0
                       ? BOXCAR_MEMBER_COMPLETED
                       : BOXCAR_MEMBER_PENDING),
              "member");
    boxcar_list_free(members);
}

static void look_after(boxcar_store *store) {
    GUARDED(boxcar_maintenance, maintenance, 1, BOXCAR_MAINTENANCE_INIT);
    GUARDED(boxcar_audit, audit, 1, BOXCAR_AUDIT_INIT);
    GUARDED(boxcar_stream_filter, filter, 1, BOXCAR_STREAM_FILTER_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_list *streams = NULL;
    boxcar_setting_list *settings = NULL;
    boxcar_finding_list *findings = NULL;

    must(boxcar_maintenance_run(store, &maintenance.items[0], &err), &err, "maintenance");
    CHECK_GUARD(maintenance);
    check(maintenance.items[0].struct_size == sizeof(boxcar_maintenance), "maintenance");
    must(boxcar_audit_run(store, false, &audit.items[0], &err), &err, "audit");
    CHECK_GUARD(audit);
    check(audit.items[0].lost == 0, "lost");
    must(boxcar_stream_page(store, &filter.items[0], &streams, &err), &err, "streams");
    CHECK_GUARD(filter);
    check(streams->count == 1 && is(streams->items[0]->stream, "s") && streams->items[0]->pending == 3,
          "stream");
    boxcar_list_free(streams);
    must(boxcar_setting_read(store, &settings, &err), &err, "settings");
    check(settings->count > 5, "settings");
    for (size_t i = 1; i < settings->count; i++)
        check(strcmp(settings->items[i - 1]->name.data, settings->items[i]->name.data) < 0, "setting");
    boxcar_list_free(settings);
    must(boxcar_doctor_run(store, BOXCAR_OUTBOX, &findings, &err), &err, "doctor");
    check(findings->count > 3, "findings");
    for (size_t i = 0; i < findings->count; i++)
        check(findings->items[i]->check.len > 0 && findings->items[i]->text.len > 0, "finding");
    boxcar_list_free(findings);
}

/* A store over the program's own connection. */
static void borrow_sqlite(const char *path) {
    GUARDED(boxcar_store_options, options, 1, BOXCAR_STORE_OPTIONS_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;
    sqlite3 *db = NULL;

    check(sqlite3_open(path, &db) == SQLITE_OK, "sqlite3_open");
    must(boxcar_store_borrow_sqlite(db, options.items, &store, &err), &err, "borrow_sqlite");
    CHECK_GUARD(options);
    check(boxcar_store_sqlite_handle(store) == db && !boxcar_store_postgres_handle(store), "handle");
    boxcar_store_close(store);
    sqlite3_close(db);
}

static void borrow_postgres(const char *url) {
    GUARDED(boxcar_store_options, options, 1, BOXCAR_STORE_OPTIONS_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;
    PGconn *conn = PQconnectdb(url);

    check(PQstatus(conn) == CONNECTION_OK, "PQconnectdb");
    must(boxcar_store_borrow_postgres(conn, options.items, &store, &err), &err, "borrow_postgres");
    CHECK_GUARD(options);
    check(boxcar_store_postgres_handle(store) == conn && !boxcar_store_sqlite_handle(store), "handle");
    boxcar_store_close(store);
    PQfinish(conn);
}

static void borrow(const char *url) {
    if (strncmp(url, "sqlite:", 7) == 0)
        borrow_sqlite(url + 7);
    else
        borrow_postgres(url);
}

/* A message that dies, its history, and what is done with it. */
static void bury_and_replay(boxcar_store *store) {
    GUARDED(boxcar_new_message, message, 1, BOXCAR_NEW_MESSAGE_INIT);
    GUARDED(boxcar_claimer, claimer, 1, BOXCAR_CLAIMER_INIT);
    GUARDED(boxcar_settlement, settlement, 1, BOXCAR_SETTLEMENT_INIT);
    GUARDED(boxcar_dead_filter, filter, 1, BOXCAR_DEAD_FILTER_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    boxcar_attempt_list *attempts = NULL;
    boxcar_enqueued enqueued;
    int64_t replayed = 0;

    message.items[0].topic = BOXCAR_STR("doomed");
    message.items[0].payload = BOXCAR_STR("");
    must(boxcar_enqueue(store, BOXCAR_OUTBOX, message.items, &enqueued, &err), &err, "enqueue");
    claimer.items[0].owner.uuid = boxcar_uuid_new();
    must(boxcar_claim(store, claimer.items, &list, &err), &err, "claim");
    check(list->count > 0, "claimed");
    for (size_t i = 0; i < list->count; i++) { /* older claimers claim every topic */
        bool doomed = list->items[i]->work_id.value == enqueued.work_id.value;

        settlement.items[0].work_id = list->items[i]->work_id;
        settlement.items[0].error = BOXCAR_STR("no");
        settlement.items[0].delay_ms = 0;
        must(boxcar_settle(store, claimer.items, doomed ? BOXCAR_FAIL : BOXCAR_DEFER, settlement.items, 1,
                           NULL, NULL, &err),
             &err, "settle");
    }
    boxcar_list_free(list);
    must(boxcar_attempt_read(store, enqueued.work_id, &attempts, &err), &err, "attempts");
    check(attempts->count == 1 && is(attempts->items[0]->outcome, "failed"), "attempt");
    boxcar_list_free(attempts);
    filter.items[0].topic = BOXCAR_STR("doomed");
    must(boxcar_dead_page(store, filter.items, 10, (boxcar_work_id){0}, &list, &err), &err, "dead letters");
    check(list->count == 1 && list->items[0]->reason == BOXCAR_REASON_REJECTED &&
              is(list->items[0]->last_error, "no"),
          "dead letter");
    boxcar_list_free(list);
    must(boxcar_dead_replay(store, filter.items, BOXCAR_NO_STR, &replayed, &err), &err, "replay");
    check(replayed == 1, "replayed");
    CHECK_GUARD(message);
    CHECK_GUARD(claimer);
    CHECK_GUARD(settlement);
    CHECK_GUARD(filter);
}

static void wait_for_a_join(boxcar_store *store) {
    GUARDED(boxcar_new_join, join, 1, BOXCAR_NEW_JOIN_INIT);
    GUARDED(boxcar_new_wait, wait, 1, BOXCAR_NEW_WAIT_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued enqueued = {.work_id = {0}};

    join.items[0].expected_steps = 1;
    must(boxcar_join_start(store, join.items, &wait.items[0].join_id, &err), &err, "start");
    wait.items[0].on_complete_topic = BOXCAR_STR("t");
    wait.items[0].on_complete_payload = BOXCAR_STR("done");
    must(boxcar_join_wait(store, wait.items, &enqueued, &err), &err, "wait");
    CHECK_GUARD(wait);
    check(enqueued.work_id.value > 0 && !enqueued.duplicate, "wait");
}

static void send_heartbeat(boxcar_store *store) {
    GUARDED(boxcar_heartbeat, heartbeat, 1, BOXCAR_HEARTBEAT_INIT);
    GUARDED(boxcar_request, request, 1, BOXCAR_REQUEST_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_instance_list *instances = NULL;
    boxcar_result *result = NULL;

    heartbeat.items[0].host = BOXCAR_STR("here");
    heartbeat.items[0].pid = 42;
    request.items[0].owner.uuid = boxcar_uuid_new();
    request.items[0].heartbeat = heartbeat.items;
    must(boxcar_process(store, request.items, &result, &err), &err, "heartbeat");
    boxcar_result_free(result);
    CHECK_GUARD(heartbeat);
    CHECK_GUARD(request);
    must(boxcar_instance_read(store, &instances, &err), &err, "instances");
    check(instances->count == 2, "instances");
    for (size_t i = 0; i < 2; i++)
        check(is(instances->items[i]->host, "here") && instances->items[i]->pid == 42 &&
                  instances->items[i]->concurrency == 1,
              "instance");
    boxcar_list_free(instances);
}

static void read_the_rest(boxcar_store *store) {
    GUARDED(boxcar_upkeep, upkeep, 1, BOXCAR_UPKEEP_INIT);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_rule_list *rules = NULL;

    must(boxcar_upkeep_read(store, upkeep.items, &err), &err, "upkeep");
    CHECK_GUARD(upkeep);
    must(boxcar_stream_rule_write(store, BOXCAR_STR("a*"), BOXCAR_STREAM_HALT, &err), &err, "rule");
    must(boxcar_stream_rule_write(store, BOXCAR_STR("b"), BOXCAR_STREAM_CONTINUE, &err), &err, "rule");
    must(boxcar_stream_rule_read(store, &rules, &err), &err, "rules");
    check(rules->count == 2 && is(rules->items[0]->pattern, "a*") && is(rules->items[1]->pattern, "b"),
          "rule");
    boxcar_list_free(rules);
}

int main(int argc, char **argv) {
    check(argc == 2, "usage: older URL");
    boxcar_store *store = open_store(argv[1]);
    enqueue_and_settle(store);
    send_requests(store);
    append_and_read(store);
    look_at_messages(store);
    join_messages(store);
    look_after(store);
    wait_for_a_join(store);
    bury_and_replay(store);
    send_heartbeat(store);
    read_the_rest(store);
    borrow(argv[1]);
    work_with_coordinators(argv[1]);
    work_with_workers(store, argv[1]);
    receive(store);
    feed(store);
    boxcar_store_close(store);
    check(records > 0, "records");
    return 0;
}
