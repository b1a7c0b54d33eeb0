/* Joins as they are seen: listings, pages, views; and what deployment makes for them. */
#include <string.h>

#include "joins.h"

static boxcar_join_list *page(struct fixture *f, const boxcar_join_filter *filter) {
    boxcar_join_list *list = NULL;
    ASSERT_OK(f, boxcar_join_page(f->store, filter, &list, &f->err));
    assert_true(list->count <= (size_t)filter->limit);
    return list;
}

static boxcar_join_id start_grouped(struct fixture *f, const char *grouping_key) {
    boxcar_new_join join = new_join(1);
    join.grouping_key = boxcar_str_of(grouping_key);
    return start_this(f, &join);
}

/* The listing is exactly these, in this order; up to one "none". */
static void assert_page(struct fixture *f, const boxcar_join_filter *filter, const boxcar_join_id *wanted,
                        size_t count) {
    boxcar_join_list *list = page(f, filter);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(list->items[i]->join_id.uuid.bytes, wanted[i].uuid.bytes, 16);
    boxcar_list_free(list);
}

/* OBX-095 */
static void joins_are_listed_newest_first_in_pages(void **state) {
    struct fixture *f = *state;
    boxcar_join_id ids[7], backwards[7];
    for (int i = 0; i < 7; i++) {
        ids[i] = start_join(f, 1);
        wait_out(f, 1); /* of one instant, any order would do */
    }
    for (int i = 0; i < 7; i++)
        backwards[i] = ids[6 - i];
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    assert_page(f, &filter, backwards, 7);
    filter.limit = 3;
    for (size_t at = 0; at < 7; at += 3) {
        assert_page(f, &filter, backwards + at, at + 3 <= 7 ? 3 : 1);
        filter.after = backwards[at + 2 < 7 ? at + 2 : 6];
    }
    assert_page(f, &filter, NULL, 0);
    filter.after = unknown_join();
    boxcar_join_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_page(f->store, &filter, &list, &f->err));
    assert_null(list);
}

/* JOIN 7.2: from a message to its joins, with every other condition. */
static void joins_of_a_message_are_listed(void **state) {
    struct fixture *f = *state;
    boxcar_join_id ids[3], other = start_join(f, 1);
    boxcar_enqueued step = enqueue(f, "step", "p");
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.message_id = step.message_id;
    assert_page(f, &filter, NULL, 0);
    for (int i = 2; i >= 0; i--) {
        ids[i] = start_grouped(f, i == 1 ? "g" : "other");
        attach(f, ids[i], step.message_id);
        wait_out(f, 1);
    }
    attach(f, other, enqueue(f, "step", "another").message_id);
    assert_page(f, &filter, ids, 3);
    filter.limit = 2;
    assert_page(f, &filter, ids, 2);
    filter.after = ids[1];
    assert_page(f, &filter, ids + 2, 1);
    filter.after = (boxcar_join_id){{{0}}};
    filter.grouping_key = BOXCAR_STR("g");
    assert_page(f, &filter, ids + 1, 1);
    filter.by_status = true;
    filter.status = BOXCAR_JOIN_COMPLETED;
    assert_page(f, &filter, NULL, 0);
    filter.status = BOXCAR_JOIN_PENDING;
    assert_page(f, &filter, ids + 1, 1);
    filter.message_id.uuid = boxcar_uuid_new();
    assert_page(f, &filter, NULL, 0);
}

/* Many started within one instant: every one appears on exactly one page. */
static void pages_of_joins_neither_skip_nor_repeat(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 40; i++)
        start_join(f, 1);
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    boxcar_join_id seen[41];
    size_t count = 0;
    filter.limit = 6;
    for (size_t more = 1; more > 0;) {
        boxcar_join_list *list = page(f, &filter);
        more = list->count;
        for (size_t i = 0; i < more; i++) {
            assert_in_range(count, 0, 40);
            filter.after = seen[count++] = list->items[i]->join_id;
        }
        boxcar_list_free(list);
    }
    assert_int_equal(count, 40);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(seen[i].uuid.bytes, seen[k].uuid.bytes, sizeof(seen[i].uuid.bytes));
}

/* OBX-095, JOIN-003 */
static void joins_are_found_by_their_grouping_key(void **state) {
    struct fixture *f = *state;
    boxcar_join_id mine[2];
    mine[1] = start_grouped(f, "customer-1");
    wait_out(f, 1);
    start_grouped(f, "customer-2");
    start_grouped(f, "");
    start_join(f, 1);
    mine[0] = start_grouped(f, "customer-1");
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.grouping_key = BOXCAR_STR("customer-1");
    assert_page(f, &filter, mine, 2);
    filter.grouping_key = BOXCAR_STR("CUSTOMER-1");
    assert_page(f, &filter, NULL, 0);
    filter.grouping_key = BOXCAR_STR("customer-1");
    filter.limit = 1;
    assert_page(f, &filter, mine, 1);
    filter.after = mine[0];
    assert_page(f, &filter, mine + 1, 1);
}

/* Design section 7 */
static void joins_are_found_by_status_and_age(void **state) {
    struct fixture *f = *state;
    boxcar_join_id ids[4];
    for (int i = 0; i < 4; i++) {
        ids[i] = start_grouped(f, "g");
        wait_out(f, 1);
    }
    assert_true(ack(f, f->owner, take_step(f, ids[1])));
    assert_true(bury(f, f->owner, take_step(f, ids[2]), "no"));
    ASSERT_OK(f, boxcar_join_cancel(f->store, ids[3], &f->err));
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.by_status = true;
    for (int status = BOXCAR_JOIN_PENDING; status <= BOXCAR_JOIN_CANCELLED; status++) {
        filter.status = (boxcar_join_status)status;
        filter.grouping_key = status % 2 ? BOXCAR_STR("g") : BOXCAR_NO_STR;
        assert_page(f, &filter, &ids[status], 1);
    }
    filter = (boxcar_join_filter)BOXCAR_JOIN_FILTER_INIT;
    filter.before = join_of(f, ids[2]).created_at;
    assert_page(f, &filter, (boxcar_join_id[]){ids[1], ids[0]}, 2);
    filter.before = join_of(f, ids[0]).created_at;
    assert_page(f, &filter, NULL, 0);
}

/* JOIN-010 */
static void members_are_listed_by_message_id_in_pages(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 25), other = start_join(f, 1);
    boxcar_message_id ids[25], after = {0};
    for (int i = 0; i < 25; i++)
        ids[i].uuid = boxcar_uuid_new();
    ASSERT_OK(f, boxcar_join_attach(f->store, id, ids, 25, NULL, &f->err));
    enqueue_step(f, other);
    boxcar_join_member_list *list = NULL;
    size_t count = 0;
    do {
        boxcar_list_free(list);
        ASSERT_OK(f, boxcar_join_member_page(f->store, id, after, 10, &list, &f->err));
        for (size_t i = 0; i < list->count; i++, count++) {
            const boxcar_join_member *member = list->items[i];
            assert_true(memcmp(member->message_id.uuid.bytes, after.uuid.bytes, sizeof(after.uuid.bytes)) >
                        0);
            after = member->message_id;
        }
    } while (list->count > 0);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    assert_int_equal(count, 25);
    list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND,
                 boxcar_join_member_page(f->store, unknown_join(), after, 10, &list, &f->err));
    assert_null(list);
}

/* JOIN-001, JOIN-003, JOIN-010 */
static void views_show_joins_and_members(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_grouped(f, "");
    struct taken taken = take_step(f, id);
    attach(f, id, (boxcar_message_id){boxcar_uuid_new()});
    assert_true(bury(f, f->owner, taken, "no"));
    boxcar_new_join late = new_join(5);
    late.deadline_ms = 1;
    late.grouping_key = BOXCAR_STR("g");
    late.metadata = BOXCAR_STR("m");
    start_this(f, &late);
    wait_out(f, 1);
    assert_int_equal(maintain_joins(f).timed_out, 1);
#define JOINS(prefix)                                                                                        \
    "select count(*) from " prefix "outbox_join where (grouping_key is null and expected_steps = 1 and "     \
    "completed_steps = 0 and failed_steps = 1 and status = 'failed' and reason is null and deadline is null" \
    " and metadata is null and created_at <= last_updated_at) or (grouping_key = 'g' and "                   \
    "expected_steps = 5 and status = 'failed' and reason = 'timed_out' and deadline <= last_updated_at "     \
    "and metadata = 'm')"
#define MEMBERS(prefix)                                                                                      \
    "select count(*) from " prefix "outbox_join_member m join " prefix "outbox_join j on j.join_id = "       \
    "m.join_id where (m.status = 'failed' and m.work_id is not null) or (m.status = 'pending' and "          \
    "m.work_id is null and m.message_id is not null and m.created_at is not null)"
    assert_int_equal(fixture_sql_number(f, JOINS("boxcar_"), JOINS("")), 2);
    assert_int_equal(fixture_sql_number(f, MEMBERS("boxcar_"), MEMBERS("")), 2);
}

/* JOIN-014, JOIN-033, JOIN-092 */
static void messages_know_nothing_of_joins(void **state) {
    struct fixture *f = *state;
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from pragma_table_info('boxcar_message') where name "
                           "like '%join%'",
                           "select count(*) from information_schema.columns where table_schema = "
                           "current_schema and table_name = 'message' and column_name like "
                           "'%join%'"),
        0);
    assert_int_equal(
        fixture_sql_number(f,
                           "select count(*) from sqlite_master m, pragma_foreign_key_list(m.name) k where "
                           "m.type = 'table' and (k.\"table\" = 'boxcar_message' and m.name like '%join%' or "
                           "m.name = 'boxcar_message')",
                           "select count(*) from pg_constraint where contype = 'f' and (conrelid = "
                           "'message'::regclass or confrelid = 'message'::regclass)"),
        0);
}

/* JOIN-082 */
static void grouping_key_is_indexed(void **state) {
    struct fixture *f = *state;
    assert_true(
        fixture_sql_number(f,
                           "select count(*) from sqlite_master m, pragma_index_info(m.name) i where "
                           "m.type = 'index' and i.seqno = 0 and i.name = 'grouping_key'",
                           "select count(*) from pg_index i join pg_class c on c.oid = i.indrelid "
                           "join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0] "
                           "where c.relnamespace = current_schema::regnamespace and "
                           "a.attname = 'grouping_key'") > 0);
}

/* JOIN-090, JOIN-091 */
static void deployment_makes_joins_and_keeps_them_when_it_is_repeated(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    options.deploy = true;
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    static const char *const COUNTS[] = {
        "select count(*) from boxcar_outbox_join", "select count(*) from outbox_join",
        "select count(*) from boxcar_outbox_join_member", "select count(*) from outbox_join_member"};
    for (int i = 0; i < 4; i += 2)
        assert_int_equal(fixture_sql_number(f, COUNTS[i], COUNTS[i + 1]), 0);
    boxcar_join_id id = start_join(f, 2);
    assert_true(ack(f, f->owner, take_step(f, id)));
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(f, boxcar_store_deploy(f->store, &f->err));
        assert_int_equal(boxcar_store_deployment(f->store)->applied, 0);
    }
    boxcar_store_close(f->store);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    assert_true(ack(f, f->owner, take_step(f, id)));
    assert_join(f, id, BOXCAR_JOIN_COMPLETED, 2, 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(joins_are_listed_newest_first_in_pages),
    TEST(joins_of_a_message_are_listed),
    TEST(pages_of_joins_neither_skip_nor_repeat),
    TEST(joins_are_found_by_their_grouping_key),
    TEST(joins_are_found_by_status_and_age),
    TEST(members_are_listed_by_message_id_in_pages),
    TEST(views_show_joins_and_members),
    TEST(messages_know_nothing_of_joins),
    TEST(grouping_key_is_indexed),
    BARE_TEST(deployment_makes_joins_and_keeps_them_when_it_is_repeated),
};

const struct suite JOIN_LIST_SUITE = SUITE(TESTS);
