/* Payloads do not get into what is kept about failures. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "worker/crew/redact_payload.h"

static void assert_hidden(const char *text, const char *payload, const char *expected) {
    struct buf found = BUF_INIT;

    redact_payload(&found, boxcar_str_of(text), boxcar_str_of(payload));
    assert_false(found.failed);
    assert_string_equal(found.data ? found.data : "", expected);
    buf_release(&found);
}

/* BX-010, OBX-125 */
static void payload_is_hidden_where_it_stands(void **state) {
    (void)state;
    assert_hidden("cannot parse 'secret-4711' here", "secret-4711", "cannot parse '[payload]' here");
    assert_hidden("abcd abcd", "abcd", "[payload] [payload]");
    assert_hidden("{\"card\": 1234567890123456}", "{\"card\": 1234567890123456}", "[payload]");
}

/* BX-010: a trailing newline is what programs drop first. */
static void space_around_it_does_not_matter(void **state) {
    (void)state;
    assert_hidden("bad: hello7", " \thello7\n", "bad: [payload]");
    assert_hidden("bad: a-long-secret-of-many-bytes!", "a-long-secret-of-many-bytes\r\n", "bad: [payload]!");
}

/* BX-010: the tail of a long one, a piece of it, several pieces. */
static void pieces_of_a_long_payload_are_hidden(void **state) {
    static const char payload[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    (void)state;
    assert_hidden("...GHIJKLMNOPQRSTUVWXYZ", payload, "...[payload]");
    assert_hidden("x 0123456789abcdef y klmnopqrstuvwxyz z", payload, "x [payload] y [payload] z");
    assert_hidden("0123456789abcde is fifteen", payload, "0123456789abcde is fifteen");
}

static void other_texts_are_left_alone(void **state) {
    (void)state;
    assert_hidden("connection refused", "{\"order\": 42}", "connection refused");
    assert_hidden("exit status 3", "3", "exit status 3"); /* short payloads are ordinary words */
    assert_hidden("no payload at all", "", "no payload at all");
    assert_hidden("", "secret", "");
}

/* Against the plainest way to do it, with few letters, so that texts and payloads overlap. */
static void agrees_with_a_naive_search(void **state) {
    (void)state;
    srand(4711);
    for (int round = 0; round < 2000; round++) {
        char text[80] = "", payload[60] = "", expected[1200] = "";
        bool hidden[80] = {false};
        size_t text_len = (size_t)rand() % 79, payload_len = 16 + (size_t)rand() % 43;

        for (size_t i = 0; i < text_len; i++)
            text[i] = (char)('a' + rand() % 2);
        for (size_t i = 0; i < payload_len; i++)
            payload[i] = (char)('a' + rand() % 2);
        if (text_len >= 40)
            memcpy(text + rand() % 20, payload + rand() % (int)(payload_len - 15), 16);
        for (size_t i = 0; i + REDACT_STRETCH <= text_len; i++)
            for (size_t k = 0; k + REDACT_STRETCH <= payload_len; k++)
                if (memcmp(text + i, payload + k, REDACT_STRETCH) == 0)
                    memset(hidden + i, true, REDACT_STRETCH);
        for (size_t i = 0; i < text_len; i++) {
            if (!hidden[i])
                strncat(expected, &text[i], 1);
            else if (i == 0 || !hidden[i - 1])
                strcat(expected, "[payload]");
        }
        if (text_len >= REDACT_STRETCH)
            assert_hidden(text, payload, expected);
    }
}

/* Some of these letters share a slot with that of the text, whatever the seed. If each of the text's equal
 * stretches were met there, it would be ten times as many. */
static void texts_that_repeat_themselves_cost_no_more(void **state) {
    enum { TEXT = 64, RUN = 512, PAYLOAD = 256 * RUN };
    static char text[TEXT], payload[PAYLOAD];

    (void)state;
    memset(text, 0, TEXT);
    for (int i = 0; i < PAYLOAD; i++)
        payload[i] = (char)(i / RUN ? i / RUN : 1);
    for (uint64_t seed = 1; seed != 0; seed *= 6) {
        struct buf found = BUF_INIT;
        size_t compared =
            redact_payload_seeded(&found, (boxcar_str){text, TEXT}, (boxcar_str){payload, PAYLOAD}, seed);

        assert_in_range(compared, 1, PAYLOAD / 16);
        assert_int_equal(found.len, TEXT);
        buf_release(&found);
    }
}

/* Stretches of the text that collide with one seed do not with another. */
static void the_seed_decides_what_collides(void **state) {
    enum { TEXT = 64, ROUNDS = 64 };
    char text[TEXT], payload[TEXT];
    size_t most = 0, least = SIZE_MAX;

    (void)state;
    for (int i = 0; i < TEXT; i++) {
        text[i] = (char)('a' + i % 23);
        payload[i] = (char)('A' + i % 19);
    }
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct buf found = BUF_INIT;
        size_t compared = redact_payload_seeded(&found, (boxcar_str){text, TEXT}, (boxcar_str){payload, TEXT},
                                                seed * UINT64_C(0x9E3779B97F4A7C15));

        most = compared > most ? compared : most;
        least = compared < least ? compared : least;
        buf_release(&found);
    }
    assert_true(least < most);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payload_is_hidden_where_it_stands),
        cmocka_unit_test(space_around_it_does_not_matter),
        cmocka_unit_test(pieces_of_a_long_payload_are_hidden),
        cmocka_unit_test(other_texts_are_left_alone),
        cmocka_unit_test(agrees_with_a_naive_search),
        cmocka_unit_test(texts_that_repeat_themselves_cost_no_more),
        cmocka_unit_test(the_seed_decides_what_collides),
    };

    return cmocka_run_group_tests_name("redact_payload", tests, NULL, NULL);
}
