/* Policies: destinations, topics, hops and ids. */
#include "unit.h"

#include <string.h>

#include "base/utf8.h"
#include "core/fanout.h"

static boxcar_error ERR;

#define ASSERT_STR(text, expected) assert_true(str_equal(text, boxcar_str_of(expected)))

/* BX-097 */
static void destinations_are_taken_apart(void **state) {
    static const struct {
        const char *text;
        enum destination_kind kind;
        boxcar_box box;
        const char *topic, *store, *header;
    } cases[] = {
        {"audit", DESTINATION_TOPIC, BOXCAR_OUTBOX, "audit", NULL, NULL},
        {"a/{topic}", DESTINATION_TOPIC, BOXCAR_OUTBOX, "a/{topic}", NULL, NULL},
        {"store", DESTINATION_TOPIC, BOXCAR_OUTBOX, "store", NULL, NULL},
        {"a}{topic}{", DESTINATION_TOPIC, BOXCAR_OUTBOX, "a}{topic}{", NULL, NULL},
        {"store:search", DESTINATION_STORE, BOXCAR_OUTBOX, "{topic}", "search", NULL},
        {"store:search/found", DESTINATION_STORE, BOXCAR_OUTBOX, "found", "search", NULL},
        {"store:search/a/{topic}", DESTINATION_STORE, BOXCAR_OUTBOX, "a/{topic}", "search", NULL},
        {"store:search/inbox", DESTINATION_STORE, BOXCAR_INBOX, "{topic}", "search", NULL},
        {"store:search/inbox/found", DESTINATION_STORE, BOXCAR_INBOX, "found", "search", NULL},
        {"store:search/inboxes", DESTINATION_STORE, BOXCAR_OUTBOX, "inboxes", "search", NULL},
        {"tenant:x-tenant", DESTINATION_TENANT, BOXCAR_OUTBOX, "{topic}", NULL, "x-tenant"},
    };
    struct destination found;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(destination_parse(boxcar_str_of(cases[i].text), "to", &found, &ERR), BOXCAR_OK);
        assert_int_equal(found.kind, cases[i].kind);
        assert_int_equal(found.box, cases[i].box);
        ASSERT_STR(found.topic, cases[i].topic);
        ASSERT_STR(found.store, cases[i].store);
        ASSERT_STR(found.header, cases[i].header);
    }
}

/* BX-097 */
static void bad_destinations_are_refused_with_the_remedy(void **state) {
    static const char *const cases[] = {"",
                                        "store:",
                                        "store:/x",
                                        "store:a/",
                                        "store:a/inbox/",
                                        "tenant:",
                                        "a*",
                                        "store:a/*",
                                        "{tenant}",
                                        "{{topic}}",
                                        "a\nb",
                                        "{}",
                                        "{a{topic}b}",
                                        "store:a/b{c}",
                                        "tenant:a\x7f",
                                        "a{b{topic}c}",
                                        "{topic}{b}"};
    struct destination found = {.kind = DESTINATION_TENANT};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(destination_parse(boxcar_str_of(cases[i]), "to", &found, &ERR), BOXCAR_E_INVALID);
        assert_string_equal(ERR.argument, "to");
        assert_non_null(strstr(ERR.message, ": "));
    }
    assert_int_equal(found.kind, DESTINATION_TENANT);
}

static boxcar_status expand(const char *template, boxcar_str topic, struct arena *arena,
                            boxcar_str *ret_topic) {
    const struct destination destination = {.topic = boxcar_str_of(template)};

    return destination_topic(&destination, topic, arena, ret_topic, &ERR);
}

/* BX-097 */
static void a_topic_stands_wherever_the_placeholder_is(void **state) {
    struct arena arena = ARENA_INIT;
    const boxcar_str topic = BOXCAR_STR("orders.paid");
    boxcar_str found;

    (void)state;
    assert_int_equal(expand("{topic}", topic, &arena, &found), BOXCAR_OK);
    assert_ptr_equal(found.data, topic.data);
    assert_int_equal(expand("audit", topic, &arena, &found), BOXCAR_OK);
    ASSERT_STR(found, "audit");
    assert_int_equal(expand("a.{topic}/{topic}.z", topic, &arena, &found), BOXCAR_OK);
    ASSERT_STR(found, "a.orders.paid/orders.paid.z");
    arena_release(&arena);
}

/* BX-097 */
static void a_topic_beyond_the_limit_is_refused(void **state) {
    struct arena arena = ARENA_INIT;
    char text[2 * BOXCAR_TOPIC_MAX]; /* of characters with two bytes */
    boxcar_str topic = {text, sizeof(text)}, found = BOXCAR_NO_STR;

    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 2 == 0 ? '\xC3' : '\xA9';
    assert_int_equal(expand("a{topic}", topic, &arena, &found), BOXCAR_E_INVALID);
    assert_null(found.data);
    assert_non_null(strstr(ERR.message, "256"));
    topic.len -= 2;
    assert_int_equal(expand("a{topic}", topic, &arena, &found), BOXCAR_OK);
    assert_int_equal(found.len, topic.len + 1);
    arena_release(&arena);
}

static void names_of_routes_are_split_at_the_first_slash(void **state) {
    boxcar_str policy, destination;

    (void)state;
    assert_true(fanout_split_name(BOXCAR_STR("copies/store:a/inbox"), &policy, &destination));
    ASSERT_STR(policy, "copies");
    ASSERT_STR(destination, "store:a/inbox");
    assert_false(fanout_split_name(BOXCAR_STR("copies"), &policy, &destination));
    assert_false(fanout_split_name(BOXCAR_STR("/a"), &policy, &destination));
    assert_false(fanout_split_name(BOXCAR_STR("a/"), &policy, &destination));
}

/* BX-098 */
static void hops_are_counted_in_a_header(void **state) {
    static const struct {
        const char *headers;
        int hops;
        const char *raised;
    } cases[] = {
        {NULL, 0, "{\"boxcar-hops\":\"1\"}"},
        {"{}", 0, "{\"boxcar-hops\":\"1\"}"},
        {"{\"b\": \"2\", \"a\": \"\\u0031\"}", 0, "{\"b\":\"2\",\"a\":\"1\",\"boxcar-hops\":\"1\"}"},
        {"{\"boxcar-hops\": \"9\", \"a\": \"1\"}", 9, "{\"boxcar-hops\":\"10\",\"a\":\"1\"}"},
        {"{\"boxcar-hops\": \"015\"}", 15, "{\"boxcar-hops\":\"16\"}"},
        {"{\"boxcar-hops\": \"16\"}", 16, "{\"boxcar-hops\":\"17\"}"},
        {"{\"boxcar-hops\": \"99999999999999999999\"}", 16, "{\"boxcar-hops\":\"17\"}"},
        {"{\"boxcar-hops\": \"-3\"}", 0, "{\"boxcar-hops\":\"1\"}"},
        {"{\"boxcar-hops\": \"3x\"}", 0, "{\"boxcar-hops\":\"1\"}"},
        {"{\"boxcar-hops\": \"\"}", 0, "{\"boxcar-hops\":\"1\"}"},
    };
    struct arena arena = ARENA_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        boxcar_str raised;
        int hops = -1;
        assert_int_equal(fanout_raise_hops(boxcar_str_of(cases[i].headers), &arena, &hops, &raised, &ERR),
                         BOXCAR_OK);
        assert_int_equal(hops, cases[i].hops);
        ASSERT_STR(raised, cases[i].raised);
    }
    arena_release(&arena);
}

static void headers_are_found_by_name(void **state) {
    const boxcar_str headers = BOXCAR_STR("{\"tenant\": \"a\\u00e9\", \"empty\": \"\"}");
    struct arena arena = ARENA_INIT;
    boxcar_str value;

    (void)state;
    assert_int_equal(fanout_find_header(headers, BOXCAR_STR("tenant"), &arena, &value, &ERR), BOXCAR_OK);
    ASSERT_STR(value, "a\xC3\xA9");
    assert_int_equal(fanout_find_header(headers, BOXCAR_STR("empty"), &arena, &value, &ERR), BOXCAR_OK);
    ASSERT_STR(value, "");
    assert_int_equal(fanout_find_header(headers, BOXCAR_STR("ten"), &arena, &value, &ERR), BOXCAR_OK);
    assert_null(value.data);
    assert_int_equal(fanout_find_header(BOXCAR_NO_STR, BOXCAR_STR("a"), &arena, &value, &ERR), BOXCAR_OK);
    assert_null(value.data);
    assert_int_equal(fanout_find_header(BOXCAR_STR("[]"), BOXCAR_STR("a"), &arena, &value, &ERR),
                     BOXCAR_E_INVALID);
    assert_string_equal(ERR.argument, "headers");
    arena_release(&arena);
}

/* BX-098, BX-099: stores keep these ids, so they are the same in every version. */
static void ids_derive_from_policy_destination_and_source(void **state) {
    const boxcar_str policy = BOXCAR_STR("p"), destination = BOXCAR_STR("d");
    boxcar_message_id source = {{{1}}}, copy, other, wait;
    boxcar_join_id join;
    char text[BOXCAR_UUID_TEXT_SIZE];

    (void)state;
    assert_int_equal(fanout_copy_id(policy, destination, source, &copy, &ERR), BOXCAR_OK);
    boxcar_uuid_format(copy.uuid, text);
    assert_string_equal(text, "c98b066a-9326-8009-9b30-4cdb39f7cc72");
    assert_int_equal(fanout_join_id(policy, source, &join, &ERR), BOXCAR_OK);
    boxcar_uuid_format(join.uuid, text);
    assert_string_equal(text, "ab356011-314c-8790-ab8b-ec5fb43c20cb");
    assert_int_equal(fanout_wait_id(policy, source, &wait, &ERR), BOXCAR_OK);
    boxcar_uuid_format(wait.uuid, text);
    assert_string_equal(text, "71c4ebe8-21b7-83e9-8c8c-ca11cff5d6a5");
    assert_int_equal(fanout_copy_id(policy, BOXCAR_STR("e"), source, &other, &ERR), BOXCAR_OK);
    assert_memory_not_equal(&copy, &other, sizeof(copy));
    assert_int_equal(fanout_copy_id(BOXCAR_STR("q"), destination, source, &other, &ERR), BOXCAR_OK);
    assert_memory_not_equal(&copy, &other, sizeof(copy));
    source.uuid.bytes[15] = 1;
    assert_int_equal(fanout_copy_id(policy, destination, source, &other, &ERR), BOXCAR_OK);
    assert_memory_not_equal(&copy, &other, sizeof(copy));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destinations_are_taken_apart),
        cmocka_unit_test(bad_destinations_are_refused_with_the_remedy),
        cmocka_unit_test(a_topic_stands_wherever_the_placeholder_is),
        cmocka_unit_test(a_topic_beyond_the_limit_is_refused),
        cmocka_unit_test(names_of_routes_are_split_at_the_first_slash),
        cmocka_unit_test(hops_are_counted_in_a_header),
        cmocka_unit_test(headers_are_found_by_name),
        cmocka_unit_test(ids_derive_from_policy_destination_and_source),
    };

    return cmocka_run_group_tests_name("fanout", tests, NULL, NULL);
}
