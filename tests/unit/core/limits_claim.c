/* Bad claims, patterns, settlements and schema names: each gets an error that names the argument. */
#include "unit.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/limits/limits.h"
#include "long_texts.h"

static void assert_claim_refused(boxcar_claimer options, const char *argument) {
    boxcar_error err;

    assert_int_equal(limits_check_claim(&options, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_claims_are_refused(void **state) {
    static const int64_t bad_leases[] = {0,         -1,       99, INT64_C(1) << 31, BOXCAR_LEASE_MS_MAX + 1,
                                         INT64_MIN, INT64_MAX};
    static const int64_t bad_sizes[] = {0, -1, 10001, INT64_C(1) << 31, INT64_MIN, INT64_MAX};
    const boxcar_str topics[] = {BOXCAR_STR("ok"), BOXCAR_STR("")};
    boxcar_claimer good = BOXCAR_CLAIMER_INIT, options;
    boxcar_error err;

    (void)state;
    good.owner.uuid = boxcar_uuid_new();
    assert_int_equal(limits_check_claim(&good, &err), BOXCAR_OK);
    for (size_t i = 0; i < COUNT_OF(bad_leases); i++) {
        options = good;
        options.lease_ms = bad_leases[i];
        assert_claim_refused(options, "lease_ms");
    }
    for (size_t i = 0; i < COUNT_OF(bad_sizes); i++) {
        assert_int_equal(limits_check_batch_size(bad_sizes[i], &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "batch_size");
    }
    options = good;
    options.batch_size = 10001;
    assert_claim_refused(options, "batch_size");
    options = good;
    options.owner = (boxcar_owner){0};
    assert_claim_refused(options, "owner");
    options = good;
    options.topic_count = 1;
    assert_claim_refused(options, "topics");
    options.topics = topics;
    options.topic_count = 2;
    assert_claim_refused(options, "topics[1]");
    options.topic_count = SIZE_MAX;
    assert_claim_refused(options, "topic_count");
}

static void claims_at_the_edges_are_accepted(void **state) {
    (void)state;
    assert_int_equal(limits_check_lease_ms(100, NULL), BOXCAR_OK);
    assert_int_equal(limits_check_lease_ms(BOXCAR_LEASE_MS_MAX, NULL), BOXCAR_OK);
    assert_int_equal(limits_check_batch_size(1, NULL), BOXCAR_OK);
    assert_int_equal(limits_check_batch_size(10000, NULL), BOXCAR_OK);
}

/* BX-024 */
static void patterns_are_topics_or_prefixes(void **state) {
    char pattern[300];

    (void)state;
    memset(pattern, 'a', sizeof(pattern));
    pattern[255] = '*';
    assert_int_equal(limits_check_topic_pattern((boxcar_str){pattern, 256}, "t", NULL), BOXCAR_OK);
    pattern[256] = '*';
    assert_int_equal(limits_check_topic_pattern((boxcar_str){pattern, 257}, "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR("*"), "t", NULL), BOXCAR_OK);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR(""), "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_NO_STR, "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR("\0*"), "t", NULL), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_topic_pattern(BOXCAR_STR("\xFF*"), "t", NULL), BOXCAR_E_INVALID);
}

static boxcar_status read_settlements(boxcar_settle_kind kind, const boxcar_settlement *items, size_t count,
                                      boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_settlement_list list = {items, count};

    return limits_read_settlements(&arena, kind, &list, err);
}

/* BX-011 */
static void bad_settlements_are_refused_by_index(void **state) {
    static const struct {
        struct {
            int64_t work_id, epoch, delay_ms;
            boxcar_str error;
            boxcar_message_id message_id;
        } bad;
        const char *argument;
    } cases[] = {
        {{.work_id = 0}, "settlements[1].work_id"},
        {{.work_id = -1}, "settlements[1].work_id"},
        {{.work_id = 1, .epoch = -1}, "settlements[1].epoch"},
        {{.work_id = 1, .delay_ms = -2}, "settlements[1].delay_ms"},
        {{.work_id = 1, .delay_ms = BOXCAR_DELAY_MS_MAX + 1}, "settlements[1].delay_ms"},
        {{.work_id = 1, .error = {"\xFF", 1}}, "settlements[1].error"},
        {{.work_id = 1, .error = {"a\0", 2}}, "settlements[1].error"},
        {{.work_id = 1, .message_id = {{{1}}}}, "settlements[1].message_id"},
        {{.work_id = -1, .message_id = {{{1}}}}, "settlements[1].message_id"},
        {{.epoch = -1, .message_id = {{{1}}}}, "settlements[1].epoch"},
    };
    boxcar_settlement list[2] = {BOXCAR_SETTLEMENT_INIT, BOXCAR_SETTLEMENT_INIT};
    boxcar_error err;

    (void)state;
    list[0].work_id.value = 1;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        list[1].work_id.value = cases[i].bad.work_id;
        list[1].epoch.value = cases[i].bad.epoch;
        list[1].delay_ms = cases[i].bad.delay_ms;
        list[1].error = cases[i].bad.error;
        list[1].message_id = cases[i].bad.message_id;
        assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, cases[i].argument);
    }
    list[1] = list[0];
    list[1].work_id.value = 0;
    list[1].message_id.uuid.bytes[0] = 1;
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_OK);
    list[1].struct_size = 0;
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "settlements");
    list[1] = list[0]; /* twice the same is fine */
    list[0].stages = 1;
    list[1].stages = 32;
    assert_int_equal(read_settlements(BOXCAR_RECORD, list, 2, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "settlements[1].stages");
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err),
                     BOXCAR_E_INVALID); /* a result may have some */
    assert_string_equal(err.argument, "settlements[1].stages");
    list[1].stages = 0; /* but only a record needs them */
    assert_int_equal(read_settlements(BOXCAR_RECORD, list, 2, &err), BOXCAR_E_INVALID);
    assert_int_equal(read_settlements(BOXCAR_ACK, list, 2, &err), BOXCAR_OK);
    assert_int_equal(read_settlements(BOXCAR_ACK, NULL, 0, &err), BOXCAR_OK);
    assert_int_equal(read_settlements(BOXCAR_ACK, NULL, 1, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "settlements");
    assert_int_equal(read_settlements(BOXCAR_ACK, list, SIZE_MAX, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "count");
}

/* BX-011 */
static void schema_names_are_plain_identifiers(void **state) {
    static const char *const good[] = {"boxcar", "_", "a1", "Boxcar_2", "PG_like"};
    static const char *const bad[] = {"",    "1a",   "a b", "a\"b",          "a'b", "a;drop",
                                      "a-b", "pg_x", "a.b", "sch\xC3\xA9ma", "a\n", "pg_toast"};
    boxcar_error err;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_int_equal(limits_check_schema_name(boxcar_str_of(good[i]), &err), BOXCAR_OK);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(limits_check_schema_name(boxcar_str_of(bad[i]), &err), BOXCAR_E_INVALID);
        assert_string_equal(err.argument, "schema");
    }
    assert_int_equal(limits_check_schema_name(ascii(63), &err), BOXCAR_OK);
    assert_int_equal(limits_check_schema_name(ascii(64), &err), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_schema_name(BOXCAR_STR("a\0"), &err), BOXCAR_E_INVALID);
    assert_int_equal(limits_check_schema_name(BOXCAR_NO_STR, &err), BOXCAR_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_claims_are_refused),
        cmocka_unit_test(claims_at_the_edges_are_accepted),
        cmocka_unit_test(patterns_are_topics_or_prefixes),
        cmocka_unit_test(bad_settlements_are_refused_by_index),
        cmocka_unit_test(schema_names_are_plain_identifiers),
    };
    return cmocka_run_group_tests(tests, fill_long_texts, NULL);
}
