#include "race.h"

#include <stdlib.h>

struct race *race_new(struct fixture *f) {
    struct race *race = calloc(1, sizeof(*race));
    assert_non_null(race);
    race->owner = f->owner;
    return race;
}

void race_take(struct fixture *f, struct race *race, int count) {
    assert_in_range(count, 1, RACE_MESSAGES);
    static boxcar_new_message messages[RACE_MESSAGES];
    boxcar_enqueued enqueued[RACE_MESSAGES];
    for (int i = 0; i < count; i++)
        messages[i] = new_message(STEP, "p");
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, (size_t)count, enqueued, &f->err));
    for (int i = 0; i < count; i++)
        race->ids[i] = enqueued[i].message_id;
    boxcar_message_list *list = claim_topic(f, f->owner, count, STEP);
    assert_int_equal(list->count, count);
    for (int i = 0; i < count; i++) {
        const boxcar_message *m = list->items[(size_t)i];
        assert_same_message_id(m->message_id, race->ids[i]);
        race->taken[i] = (struct taken){m->work_id, m->epoch, 0, 0};
    }
    boxcar_list_free(list);
}
