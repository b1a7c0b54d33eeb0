/* Many writers and followers at once (BX-066). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "seam.h"

#define ANY BOXCAR_ANY_VERSION

enum { WRITERS = 6, FOLLOWERS = 2, STREAMS = 4, TURNS = 40, EVENTS_MAX = WRITERS * TURNS * 4 };

struct seen {
    boxcar_event_id ids[EVENTS_MAX];
    int64_t count;
};

struct race {
    _Atomic int writing; /* writers that are not done */
    _Atomic int stored;  /* events of commits that succeeded */
    _Atomic int refused; /* appends that met another version */
    struct seen seen[FOLLOWERS];
};

static boxcar_str stream_name(int i, char ret_name[24]) {
    snprintf(ret_name, 24, "stream-%d", i);
    return boxcar_str_of(ret_name);
}

static boxcar_status append_some(boxcar_store *store, int stream, size_t count, boxcar_error *err) {
    boxcar_new_event events[2] = {new_event("T", "p"), new_event("T", "p")};
    char name[24];
    return boxcar_event_append(store, stream_name(stream, name), ANY, events, count, NULL, err);
}

/* One event of one stream, one of another, in a transaction that stays open for a while and is sometimes
 * rolled back. Streams in order, so that writers do not meet crosswise. */
static const char *write_in_transaction(struct crew_member *m, struct race *race, int turn) {
    boxcar_store *store = m->store;
    int first = turn % (STREAMS - 1), second = first + 1 + turn % (STREAMS - 1 - first);
    if (seam_begin(store, &m->err) != BOXCAR_OK)
        return "begin";
    boxcar_status status = append_some(store, first, 1, &m->err);
    if (status == BOXCAR_OK && turn % 2 == 0)
        pause_ms(turn % 7); /* some transactions are long, so that they overlap in many ways */
    if (status == BOXCAR_OK)
        status = append_some(store, second, 2, &m->err);
    if (status != BOXCAR_OK || turn % 5 == 4) {
        seam_roll_back(store);
        return status == BOXCAR_OK ? NULL : "append in a transaction";
    }
    if (seam_commit(store, &m->err) != BOXCAR_OK)
        return "commit";
    race->stored += 3;
    return NULL;
}

static const char *write(struct crew_member *m, struct race *race) {
    const char *trouble = NULL;
    for (int turn = 0; !trouble && turn < TURNS; turn++) {
        if ((turn + m->number) % 3 == 0) {
            trouble = write_in_transaction(m, race, turn + m->number);
            continue;
        }
        if (append_some(m->store, (turn + m->number) % STREAMS, 2, &m->err) != BOXCAR_OK)
            trouble = "append";
        race->stored += 2;
    }
    race->writing--;
    return trouble;
}

/* Until the writers are done and nothing comes any more. */
static const char *follow(struct crew_member *m, struct race *race, struct seen *seen) {
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    filter.limit = 7 + 50 * m->number;
    for (;;) {
        bool last = race->writing == 0;
        boxcar_event_list *list = NULL;
        filter.after = seen->count;
        if (boxcar_event_read_all(m->store, &filter, &list, &m->err) != BOXCAR_OK)
            return "follow";
        size_t count = list->count;
        const char *trouble = NULL;
        for (size_t i = 0; !trouble && i < count; i++) {
            const boxcar_event *event = list->items[i];
            if (event->position != seen->count + 1 || seen->count >= EVENTS_MAX)
                trouble = "a position is missing";
            else
                seen->ids[seen->count++] = event->event_id;
        }
        boxcar_list_free(list);
        if (trouble || (last && count == 0))
            return trouble;
    }
}

static const char *write_or_follow(struct crew_member *m) {
    struct race *race = m->context;
    return m->number < FOLLOWERS ? follow(m, race, &race->seen[m->number]) : write(m, race);
}

/* BX-066 */
static void followers_see_the_same_sequence_and_miss_nothing(void **state) {
    struct fixture *f = *state;
    struct race *race = calloc(1, sizeof(*race));
    assert_non_null(race);
    race->writing = WRITERS;
    crew_run(f, WRITERS + FOLLOWERS, write_or_follow, race);
    for (int i = 0; i < FOLLOWERS; i++)
        assert_int_equal(race->seen[i].count, race->stored);
    assert_memory_equal(race->seen[0].ids, race->seen[1].ids, sizeof(race->seen[0].ids));
    assert_sequence(f, race->stored); /* versions in order, without gaps */
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_event", "select count(*) from event"),
                     race->stored);
    free(race);
}

/* Reads the version, and appends what was decided on it; if somebody was faster, decides again. */
static const char *decide(struct crew_member *m) {
    struct race *race = m->context;
    int64_t version = 0;
    for (int done = 0; done < TURNS;) {
        boxcar_event_list *list = NULL;
        if (boxcar_event_read(m->store, BOXCAR_STR("s"), version + 1, 10000, &list, &m->err) != BOXCAR_OK)
            return "read";
        version += (int64_t)list->count;
        boxcar_list_free(list);
        boxcar_new_event event = new_event("T", "p");
        boxcar_appended appended = BOXCAR_APPENDED_INIT;
        boxcar_status status =
            boxcar_event_append(m->store, BOXCAR_STR("s"), version, &event, 1, &appended, &m->err);
        if (status == BOXCAR_OK && appended.version != version + 1)
            return "appended at another version than expected";
        if (status != BOXCAR_OK && status != BOXCAR_E_CONFLICT)
            return "append";
        done += status == BOXCAR_OK;
        race->stored += status == BOXCAR_OK;
        race->refused += status == BOXCAR_E_CONFLICT;
    }
    return NULL;
}

/* BX-066: optimistic concurrency: of several writers that decided on one version, one wins. */
static void each_version_is_won_by_one_writer(void **state) {
    struct fixture *f = *state;
    struct race *race = calloc(1, sizeof(*race));
    assert_non_null(race);
    crew_run(f, 4, decide, race);
    assert_int_equal(race->stored, 4 * TURNS);
    assert_int_equal(count_stream(f, "s"), 4 * TURNS);
    assert_sequence(f, 4 * TURNS);
    free(race);
}

struct repeat {
    boxcar_new_event events[3];
    _Atomic int new_ones;
};

static const char *append_the_same(struct crew_member *m) {
    struct repeat *repeat = m->context;
    boxcar_appended appended[3] = {BOXCAR_APPENDED_INIT};
    for (int i = 0; i < 5; i++) {
        if (boxcar_event_append(m->store, BOXCAR_STR("s"), 0, repeat->events, 3, appended, &m->err) !=
            BOXCAR_OK)
            return "append";
        for (int k = 0; k < 3; k++) {
            if (appended[k].version != k + 1)
                return "another version";
            repeat->new_ones += !appended[k].duplicate;
        }
    }
    return NULL;
}

/* BX-066: the first of many at once stores it, and all get the same answer. */
static void same_append_from_many_at_once_is_stored_once(void **state) {
    struct fixture *f = *state;
    struct repeat repeat = {.new_ones = 0};
    for (int i = 0; i < 3; i++) {
        repeat.events[i] = new_event("T", "p");
        repeat.events[i].event_id.uuid = boxcar_uuid_new();
    }
    crew_run(f, 6, append_the_same, &repeat);
    assert_int_equal(repeat.new_ones, 3);
    assert_sequence(f, 3);
}

static const char *append_to_own_stream(struct crew_member *m) {
    struct repeat *repeat = m->context;
    char name[24];
    boxcar_status status =
        boxcar_event_append(m->store, stream_name(m->number, name), ANY, repeat->events, 3, NULL, &m->err);
    repeat->new_ones += status == BOXCAR_OK;
    return status == BOXCAR_OK || status == BOXCAR_E_CONFLICT ? NULL : "append";
}

/* BX-066 */
static void of_streams_that_want_the_same_ids_one_gets_them(void **state) {
    struct fixture *f = *state;
    struct repeat repeat = {.new_ones = 0};
    for (int i = 0; i < 3; i++) {
        repeat.events[i] = new_event("T", "p");
        repeat.events[i].event_id.uuid = boxcar_uuid_new();
    }
    crew_run(f, 6, append_to_own_stream, &repeat);
    assert_int_equal(repeat.new_ones, 1);
    assert_sequence(f, 3);
}

static const struct CMUnitTest TESTS[] = {
    TEST(followers_see_the_same_sequence_and_miss_nothing),
    TEST(each_version_is_won_by_one_writer),
    TEST(same_append_from_many_at_once_is_stored_once),
    TEST(of_streams_that_want_the_same_ids_one_gets_them),
};

const struct suite EVENT_RACE_SUITE = SUITE(TESTS);
