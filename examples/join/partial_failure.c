/* join_partial_failure STORE: a report of five sections is assembled from those that could be made.
 *
 * Section 3 fails for good, and the join fails with it. It has two waits. The one that allows failures goes
 * on with the other sections. The strict one takes its failure path. The assembler asks the join which
 * sections exist.
 *
 * Every id derives from the number of the report. So ordering the report again, after a crash or by mistake,
 * changes nothing. The program orders it twice.
 *
 *   join_partial_failure sqlite:reports.db
 *   join_partial_failure postgres:///reports
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>

#define REPORT "report-456"
#define SECTIONS 5

static void check(boxcar_status status, const char *what, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return;
    fprintf(stderr, "join_partial_failure: %s: %s\n", what, err->message);
    exit(1);
}

/* ---- ids that can be derived again ---- */

static boxcar_message_id id_of(const char *what, int number) {
    char key[64];

    snprintf(key, sizeof(key), REPORT "/%s/%d", what, number);
    return boxcar_message_id_of_key(boxcar_str_of(key));
}

/* A join id with the bytes of a message id. Ids of joins and of messages are separate. */
static boxcar_join_id report_join_id(void) {
    boxcar_message_id id = id_of("join", 0);
    boxcar_join_id join_id;

    memcpy(join_id.uuid.bytes, id.uuid.bytes, sizeof(join_id.uuid.bytes));
    return join_id;
}

/* ---- ordering a report ---- */

static void start(boxcar_store *store) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id;

    join.join_id = report_join_id(); /* if it exists, nothing changes */
    join.expected_steps = SECTIONS;
    join.grouping_key = BOXCAR_STR(REPORT);
    join.deadline_ms = INT64_C(60) * 60 * 1000; /* an hour; then it fails, and both waits with it */
    check(boxcar_join_start(store, &join, &join_id, &err), "start", &err);
}

static size_t enqueue_sections(boxcar_store *store) {
    boxcar_new_message steps[SECTIONS];
    boxcar_enqueued enqueued[SECTIONS];
    boxcar_error err = BOXCAR_ERROR_INIT;
    char payloads[SECTIONS][32];
    size_t duplicates = 0;

    for (int i = 0; i < SECTIONS; i++) {
        snprintf(payloads[i], sizeof(payloads[i]), "{\"section\": %d}", i + 1);
        steps[i] = BOXCAR_NEW_MESSAGE_INIT;
        steps[i].topic = BOXCAR_STR("report.section");
        steps[i].payload = boxcar_str_of(payloads[i]);
        steps[i].message_id = id_of("section", i + 1);
        steps[i].join_id = report_join_id();
    }
    check(boxcar_enqueue_many(store, BOXCAR_OUTBOX, steps, SECTIONS, enqueued, &err), "enqueue", &err);
    for (int i = 0; i < SECTIONS; i++)
        duplicates += enqueued[i].duplicate;
    return duplicates;
}

static void add_wait(boxcar_store *store, int number, bool allow_failures, const char *on_complete,
                     const char *on_fail) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    wait.join_id = report_join_id();
    wait.message_id = id_of("wait", number);
    wait.allow_failures = allow_failures;
    wait.on_complete_topic = boxcar_str_of(on_complete);
    wait.on_complete_payload = BOXCAR_STR("");
    wait.on_fail_topic = boxcar_str_of(on_fail); /* NULL: nothing follows a failure */
    check(boxcar_join_wait(store, &wait, NULL, &err), "wait", &err);
}

static void order_report(boxcar_store *store) {
    start(store);
    size_t duplicates = enqueue_sections(store);
    add_wait(store, 1, true, "report.assemble", NULL);
    add_wait(store, 2, false, "report.praise", "report.complain");
    printf("ordered: %d sections, %zu of them known already\n", SECTIONS, duplicates);
}

/* ---- handlers ---- */

static boxcar_verdict on_section(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    boxcar_message_id hopeless = id_of("section", 3);

    (void)context;
    if (memcmp(message->message_id.uuid.bytes, hopeless.uuid.bytes, sizeof(hopeless.uuid.bytes)) != 0)
        return BOXCAR_VERDICT_ACK;
    boxcar_delivery_set_error(delivery, BOXCAR_STR("no data for this section"));
    return BOXCAR_VERDICT_FAIL; /* a dead letter: a failed step */
}

static bool is_made(const boxcar_join_member_list *members, int section) {
    boxcar_message_id id = id_of("section", section);

    for (size_t i = 0; i < members->count; i++) {
        const boxcar_join_member *member = members->items[i];

        if (memcmp(member->message_id.uuid.bytes, id.uuid.bytes, sizeof(id.uuid.bytes)) == 0)
            return member->status == BOXCAR_MEMBER_COMPLETED;
    }
    return false;
}

static boxcar_verdict on_assemble(void *context, boxcar_delivery *delivery) {
    boxcar_message_id from_the_first = {0};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_member_list *members;
    boxcar_store *store; /* in the transaction of the ack: a good place to store the report, too */

    (void)context;
    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        boxcar_join_member_page(store, report_join_id(), from_the_first, SECTIONS, &members, &err) !=
            BOXCAR_OK) {
        boxcar_delivery_set_error(delivery, boxcar_str_of(err.message));
        return BOXCAR_VERDICT_RETRY;
    }
    printf("assembled:");
    for (int section = 1; section <= SECTIONS; section++)
        printf(" %d%s", section, is_made(members, section) ? "" : " (missing)");
    printf("\n");
    boxcar_list_free(members);
    return BOXCAR_VERDICT_ACK;
}

static boxcar_verdict count_call(void *context, boxcar_delivery *delivery) {
    (void)delivery;
    ++*(int *)context; /* one thread at a time: there is one such message */
    return BOXCAR_VERDICT_ACK;
}

static void work(const boxcar_store_options *store) {
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_worker *worker;
    int praised = 0, complained = 0;

    options.store = store;
    options.drain = true;
    check(boxcar_worker_new(&options, &worker, &err), "worker", &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("report.section"), on_section, NULL, &err), "handle", &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("report.assemble"), on_assemble, NULL, &err), "handle", &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("report.praise"), count_call, &praised, &err), "handle", &err);
    check(boxcar_worker_on(worker, BOXCAR_STR("report.complain"), count_call, &complained, &err), "handle",
          &err);
    check(boxcar_worker_run(worker, &err), "run", &err);
    boxcar_worker_free(worker);
    printf("praised %d times, complained %d times\n", praised, complained);
}

static void print_join(boxcar_store *store) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_list *list;

    check(boxcar_join_find(store, report_join_id(), &list, &err), "find", &err);
    const boxcar_join *join = list->items[0];
    printf("join is %s: %lld of %lld steps completed, %lld failed\n", boxcar_join_status_name(join->status),
           (long long)join->completed_steps, (long long)join->expected_steps, (long long)join->failed_steps);
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.deploy = true;
    check(boxcar_store_open(&options, &store, &err), "open", &err);
    order_report(store);
    order_report(store);
    work(&options);
    print_join(store);
    boxcar_store_close(store);
    return 0;
}
