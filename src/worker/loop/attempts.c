/* Whether an attempt was the last one. The store decides, by the message's own number or its setting, and
 * does not say; so the setting is read when it matters, at most once a second. */
#include "base/utf8.h"
#include "pump.h"

#define READ_EVERY_MS 1000

static void read_max_attempts(struct pump *pump) {
    struct setting_value_list list = {.arena = ARENA_INIT};
    if (pump->store->ops->settings_read(pump->store, &list, NULL) != BOXCAR_OK)
        return; /* the last known one serves */
    for (size_t i = 0; i < list.count; i++)
        if (str_equal(list.items[i].name, BOXCAR_STR("max_attempts")))
            pump->max_attempts = (int)list.items[i].number;
    arena_release(&list.arena);
}

static int max_attempts(struct pump *pump, const boxcar_message *message) {
    if (message->max_attempts > 0)
        return message->max_attempts;
    if (pump->max_attempts == 0 || pump->now_ms >= pump->next_attempts_read_ms) {
        read_max_attempts(pump);
        pump->next_attempts_read_ms = pump->now_ms + READ_EVERY_MS;
    }
    return pump->max_attempts;
}

bool pump_was_last_attempt(struct pump *pump, const struct job *job) {
    int most = max_attempts(pump, job->message);
    return most > 0 && job->message->retry_count + 1 >= most;
}
