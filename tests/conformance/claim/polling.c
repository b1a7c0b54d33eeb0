/* What it costs to ask again and again. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance.h"

#define POLLS 20

/* Something that grows with every write to the store. */
static int64_t written(struct fixture *f) {
    char path[4096];
    struct stat wal = {0};

    if (fixture_chosen() != FIXTURE_SQLITE)
        return fixture_sql_number(f, NULL, "select sum(seq) + (select count(*) from lease) from frontier");
    snprintf(path, sizeof(path), "%s-wal", f->url + strlen("sqlite:"));
    assert_int_equal(stat(path, &wal), 0);
    return wal.st_size;
}

/* OBX-122, BX-012 */
static void claims_that_find_nothing_write_nothing(void **state) {
    struct fixture *f = *state;
    assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
    assert_nothing_claimable(f);
    int64_t before = written(f);
    for (int i = 0; i < POLLS; i++)
        assert_nothing_claimable(f);
    assert_int_equal(written(f), before);
}

/* OBX-122 */
static void claims_that_do_not_want_what_there_is_park_it_once(void **state) {
    struct fixture *f = *state;
    enqueue(f, "other", "p");
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_str topics[] = {BOXCAR_STR("wanted")};
    options.owner = f->owner;
    options.topics = topics;
    options.topic_count = 1;
    int64_t before = 0;
    for (int i = 0; i < POLLS; i++) {
        boxcar_message_list *list = NULL;
        ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
        assert_int_equal(list->count, 0);
        boxcar_list_free(list);
        if (i == 0)
            before = written(f);
    }
    assert_int_equal(written(f), before);
    assert_int_equal(stats_of(f).ready, 1);
}

/* OBX-121 */
static void a_store_handle_keeps_its_one_connection(void **state) {
    struct fixture *f = *state;
    if (fixture_chosen() != FIXTURE_POSTGRES)
        skip();
    for (int i = 0; i < POLLS; i++)
        assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
    (void)stats_of(f);
    assert_int_equal(
        fixture_sql_number(f, NULL,
                           "select count(distinct pid) from pg_stat_activity where "
                           "application_name = 'boxcar' and strpos(query, current_schema()) > 0"),
        1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(claims_that_find_nothing_write_nothing),
    TEST(claims_that_do_not_want_what_there_is_park_it_once),
    TEST(a_store_handle_keeps_its_one_connection),
};
const struct suite POLLING_SUITE = SUITE(TESTS);
