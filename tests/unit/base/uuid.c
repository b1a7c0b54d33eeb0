/* UUIDs: the layout of RFC 9562, derived ids, text. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/uuid.h"
#include "boxcar/message.h"

/* The example of RFC 9562, appendix A.6: 2022-02-22T19:22:22.00Z. */
static void v7_has_the_layout_of_the_rfc(void **state) {
    static const uint8_t random[10] = {0x0C, 0xC3, 0x18, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F};
    char text[BOXCAR_UUID_TEXT_SIZE];
    uint8_t uuid[16];

    (void)state;
    uuid_make_v7(UINT64_C(0x017F22E279B0), random, uuid);
    uuid_format(uuid, text);
    assert_string_equal(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

static void v7_overwrites_exactly_version_and_variant_bits(void **state) {
    uint8_t random[10], uuid[16];

    (void)state;
    memset(random, 0xFF, sizeof(random));
    uuid_make_v7(0, random, uuid);
    assert_int_equal(uuid[6], 0x7F);
    assert_int_equal(uuid[7], 0xFF);
    assert_int_equal(uuid[8], 0xBF);
    memset(random, 0, sizeof(random));
    uuid_make_v7(UINT64_C(0xFFFFFFFFFFFF), random, uuid);
    assert_int_equal(uuid[0], 0xFF);
    assert_int_equal(uuid[5], 0xFF);
    assert_int_equal(uuid[6], 0x70);
    assert_int_equal(uuid[8], 0x80);
}

static int compare_uuids(const void *a, const void *b) { return memcmp(a, b, 16); }

static void new_ids_differ_from_each_other(void **state) {
    static uint8_t ids[10000][16];

    (void)state;
    assert_true(uuid_new_v7(ids, COUNT_OF(ids)));
    qsort(ids, COUNT_OF(ids), 16, compare_uuids);
    for (size_t i = 1; i < COUNT_OF(ids); i++)
        assert_int_not_equal(memcmp(ids[i - 1], ids[i], 16), 0);
}

/* RFC 9562, 6.2: an index that gets them in this order grows at its end. */
static void ids_of_a_series_are_in_order(void **state) {
    static uint8_t ids[10000][16];
    struct uuid_series series = {.begun = false};

    (void)state;
    assert_true(uuid_series_next(&series, ids, 1));
    assert_true(uuid_series_next(&series, ids + 1, 99));
    assert_true(uuid_series_next(&series, ids + 100, COUNT_OF(ids) - 100));
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        assert_int_equal(ids[i][6] >> 4, 7);
        assert_int_equal(ids[i][8] >> 6, 2);
        if (i > 0)
            assert_true(memcmp(ids[i - 1], ids[i], 16) < 0);
    }
}

static uint64_t milliseconds_of(const uint8_t uuid[16]) {
    uint64_t ms = 0;

    for (int i = 0; i < 6; i++)
        ms = ms << 8 | uuid[i];
    return ms;
}

static void new_ids_carry_the_time(void **state) {
    uint64_t before = (uint64_t)time(NULL), in_id;
    boxcar_message_id id = {boxcar_uuid_new()};

    (void)state;
    in_id = milliseconds_of(id.uuid.bytes) / 1000;
    /* time() may lag behind the precise clock by a tick */
    assert_in_range(in_id, before - 1, (uint64_t)time(NULL) + 1);
    assert_int_equal(id.uuid.bytes[6] >> 4, 7);
    assert_false(boxcar_uuid_is_none(id.uuid));
    assert_false(boxcar_uuid_is_none(((boxcar_owner){boxcar_uuid_new()}).uuid));
}

/* The vectors were computed with hashlib: sha256("boxcar:key:" + key), version 8. BX-027 */
static void a_key_always_gives_the_same_id(void **state) {
    static const struct {
        const char *key, *id;
    } vectors[] = {
        {"order-42", "33514bfe-9b47-8cb8-bdc0-651cfe78603f"},
        {"\xD0\xBA\xD0\xBB\xD1\x8E\xD1\x87", "d92877a7-fd16-8c0f-aa93-8735f32e724b"},
        {"", "603994c5-8f10-8837-80c9-958d68f462cd"},
    };
    char text[BOXCAR_UUID_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        boxcar_uuid_format(boxcar_message_id_of_key(boxcar_str_of(vectors[i].key)).uuid, text);
        assert_string_equal(text, vectors[i].id);
    }
}

/* As above: sha256("boxcar:topic-key:" + the id of the key + topic). BX-027 */
static void a_key_of_a_topic_always_gives_the_same_id(void **state) {
    static const struct {
        const char *topic, *key, *id;
    } vectors[] = {
        {"orders.placed", "order-42", "0d6cb081-c518-858d-bd25-43c3bc36bfa2"},
        {"\xD0\xBF\xD0\xBE\xD1\x87\xD1\x82\xD0\xB0", "\xD0\xBA\xD0\xBB\xD1\x8E\xD1\x87",
         "b53fe5ca-672f-8d25-a0d6-06034930e2c2"},
    };
    char text[BOXCAR_UUID_TEXT_SIZE], long_topic[4 * BOXCAR_TOPIC_MAX + 1];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        boxcar_uuid_format(
            boxcar_message_id_of_topic_key(boxcar_str_of(vectors[i].topic), boxcar_str_of(vectors[i].key))
                .uuid,
            text);
        assert_string_equal(text, vectors[i].id);
    }
    memset(long_topic, 'x', sizeof(long_topic));
    assert_true(boxcar_uuid_is_none(
        boxcar_message_id_of_topic_key((boxcar_str){long_topic, sizeof(long_topic)}, BOXCAR_STR("k")).uuid));
}

static void text_goes_back_and_forth(void **state) {
    static const char lower[] = "0123abcd-4567-89ef-fedc-ba9876543210";
    static const char upper[] = "0123ABCD-4567-89EF-FEDC-BA9876543210";
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_message_id id;
    boxcar_owner owner;
    boxcar_join_id join;

    (void)state;
    assert_true(boxcar_uuid_parse(boxcar_str_of(upper), &id.uuid));
    boxcar_uuid_format(id.uuid, text);
    assert_string_equal(text, lower);
    assert_true(boxcar_uuid_parse(boxcar_str_of(lower), &owner.uuid));
    boxcar_uuid_format(owner.uuid, text);
    assert_string_equal(text, lower);
    assert_true(boxcar_uuid_parse(boxcar_str_of(lower), &join.uuid));
    boxcar_uuid_format(join.uuid, text);
    assert_string_equal(text, lower);
}

/* BX-011 */
static void malformed_text_is_refused_and_changes_nothing(void **state) {
    static const char *const bad[] = {
        "",
        "0",
        "0123abcd456789effedcba9876543210",
        "0123abcd-4567-89ef-fedc-ba987654321",
        "0123abcd-4567-89ef-fedc-ba98765432100",
        "0123abcd-4567-89ef-fedc-ba987654321g",
        "0123abcd_4567-89ef-fedc-ba9876543210",
        "{0123abcd-4567-89ef-fedc-ba98765432}",
        "0123abcd-456-789ef-fedc-ba9876543210",
        " 123abcd-4567-89ef-fedc-ba9876543210",
    };
    boxcar_message_id id = {{{0xAA}}}, untouched = id;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(boxcar_uuid_parse(boxcar_str_of(bad[i]), &id.uuid));
    assert_false(boxcar_uuid_parse(BOXCAR_NO_STR, &id.uuid));
    assert_memory_equal(&id, &untouched, sizeof(id));
}

static void only_all_zero_is_none(void **state) {
    boxcar_message_id id = {0};

    (void)state;
    assert_true(boxcar_uuid_is_none(id.uuid));
    assert_true(boxcar_uuid_is_none(((boxcar_join_id){0}).uuid));
    id.uuid.bytes[15] = 1;
    assert_false(boxcar_uuid_is_none(id.uuid));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v7_has_the_layout_of_the_rfc),
        cmocka_unit_test(v7_overwrites_exactly_version_and_variant_bits),
        cmocka_unit_test(new_ids_differ_from_each_other),
        cmocka_unit_test(ids_of_a_series_are_in_order),
        cmocka_unit_test(new_ids_carry_the_time),
        cmocka_unit_test(a_key_always_gives_the_same_id),
        cmocka_unit_test(a_key_of_a_topic_always_gives_the_same_id),
        cmocka_unit_test(text_goes_back_and_forth),
        cmocka_unit_test(malformed_text_is_refused_and_changes_nothing),
        cmocka_unit_test(only_all_zero_is_none),
    };

    return cmocka_run_group_tests_name("uuid", tests, NULL, NULL);
}
