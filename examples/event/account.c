/* event_account STORE: an account kept as events, two writers at the same time, and a projection.
 *
 * The balance is the sum of the account's events. A writer reads them, decides, and appends with the version
 * that it has read. If another writer was faster, the append is refused, and the writer decides again. A
 * projection follows the events of all accounts and remembers its position.
 *
 *   event_account sqlite:bank.db
 *   event_account postgres:///bank
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>

static void check(boxcar_status status, const char *what, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return;
    fprintf(stderr, "event_account: %s: %s\n", what, err->message);
    exit(1);
}

struct account {
    int64_t version;
    int64_t balance;
};

static int64_t amount_of(const boxcar_event *event) {
    char text[24] = "";

    snprintf(text, sizeof(text), "%.*s", (int)event->payload.len, event->payload.data);
    return strtoll(text, NULL, 10);
}

static bool is_withdrawal(const boxcar_event *event) {
    return event->type.len == sizeof("withdrawn") - 1 &&
           memcmp(event->type.data, "withdrawn", event->type.len) == 0;
}

/* The balance and the version: the sum of a stream's events. */
static struct account load(boxcar_store *store, boxcar_str stream) {
    struct account account = {0, 0};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_event_list *list;

    do {
        check(boxcar_event_read(store, stream, account.version + 1, 1000, &list, &err), "read", &err);
        for (size_t i = 0; i < list->count; i++) {
            const boxcar_event *event = list->items[i];

            account.version = event->version;
            account.balance += is_withdrawal(event) ? -amount_of(event) : amount_of(event);
        }
        if (list->count < 1000)
            break;
        boxcar_list_free(list);
    } while (true);
    boxcar_list_free(list);
    return account;
}

/* Appends the decision for this state. False: the account has changed since, so decide again. */
static bool record(boxcar_store *store, boxcar_str stream, const struct account *seen, const char *type,
                   int64_t amount) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char payload[24];
    boxcar_status status;

    snprintf(payload, sizeof(payload), "%" PRId64, amount);
    event.type = boxcar_str_of(type);
    event.payload = boxcar_str_of(payload);
    event.topic = BOXCAR_STR("bank.statement"); /* a message too, in the same transaction */
    status = boxcar_event_append(store, stream, seen->version, &event, 1, NULL, &err);
    if (status == BOXCAR_E_CONFLICT)
        return false;
    check(status, "append", &err);
    return true;
}

static void withdraw(boxcar_store *store, const char *who, boxcar_str stream, struct account seen,
                     int64_t amount) {
    for (;;) {
        if (seen.balance < amount) {
            printf("%s gets nothing: %" PRId64 " are left\n", who, seen.balance);
            return;
        }
        if (record(store, stream, &seen, "withdrawn", amount))
            break;
        printf("%s was too late at version %" PRId64 "\n", who, seen.version);
        seen = load(store, stream);
    }
    printf("%s gets %" PRId64 "\n", who, amount);
}

/* Prints all events after `position`, in the order that every follower sees. Returns the new position. */
static int64_t project(boxcar_store *store, int64_t position) {
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    filter.stream = BOXCAR_STR("account-*");
    for (filter.after = position;;) {
        boxcar_event_list *list;

        check(boxcar_event_read_all(store, &filter, &list, &err), "follow", &err);
        for (size_t i = 0; i < list->count; i++) {
            const boxcar_event *event = list->items[i];

            printf("%" PRId64 ". %.*s, version %" PRId64 ": %.*s %.*s\n", event->position,
                   (int)event->stream.len, event->stream.data, event->version, (int)event->type.len,
                   event->type.data, (int)event->payload.len, event->payload.data);
        }
        position = list->position;
        boxcar_list_free(list);
        if (position == filter.after) /* a service would wait a while and ask again */
            return position;
        filter.after = position;
    }
}

int main(int argc, char **argv) {
    boxcar_str ada = BOXCAR_STR("account-ada"), bob = BOXCAR_STR("account-bob");
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    int64_t position;

    options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.deploy = true;
    check(boxcar_store_open(&options, &store, &err), "open", &err);
    record(store, ada, &(struct account){0, 0}, "paid-in", 100);
    record(store, bob, &(struct account){0, 0}, "paid-in", 5);
    position = project(store, 0);

    /* Both have seen 100 and want 70. */
    struct account seen = load(store, ada);
    withdraw(store, "the first", ada, seen, 70);
    withdraw(store, "the second", ada, seen, 70);
    (void)project(store, position);
    boxcar_store_close(store);
    return 0;
}
