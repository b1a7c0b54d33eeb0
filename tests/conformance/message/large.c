/* Big things: payloads, batches, texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conformance.h"
#include "lack.h"

enum { BIG = 64 * 1024 * 1024 };

/* Printable bytes without a short period, so that a piece in the wrong place shows. */
static char *big_text(size_t len) {
    char *text = malloc(len);
    assert_non_null(text);
    uint32_t chance = 12345;
    for (size_t i = 0; i < len; i++) {
        chance = chance * 1664525 + 1013904223;
        text[i] = (char)(' ' + (chance >> 24) % 95);
    }
    return text;
}

static void assert_same_bytes(boxcar_str actual, const char *wanted, size_t len) {
    assert_int_equal(actual.len, len);
    assert_true(memcmp(actual.data, wanted, len) == 0);
}

/* OBX-114, OBX-011 */
static void payload_of_64_mebibytes_arrives_byte_for_byte(void **state) {
    struct fixture *f = *state;
    char *text = big_text(BIG);
    boxcar_new_message message = new_message("t", NULL);
    message.payload = (boxcar_str){text, BIG};
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(look(list)->work_id.value, id.value);
    assert_same_bytes(look(list)->payload, text, BIG);
    boxcar_list_free(list);
    list = find(f, id);
    assert_same_bytes(look(list)->payload, text, BIG);
    boxcar_list_free(list);
    free(text);
}

/* OBX-026, OBX-097 */
static void ten_thousand_messages_are_enqueued_claimed_and_acked_in_a_call_each(void **state) {
    struct fixture *f = *state;
    enum { COUNT = BOXCAR_BATCH_SIZE_MAX };
    static boxcar_settlement settlements[COUNT];
    static boxcar_work_id affected[COUNT];
    boxcar_work_id *ids = calloc(COUNT, sizeof(*ids));
    assert_non_null(ids);
    enqueue_many(f, "t", COUNT, ids);
    boxcar_message_list *list = claim(f, f->owner, COUNT);
    assert_int_equal(list->count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const boxcar_message *m = list->items[i];
        assert_int_equal(m->work_id.value, ids[i].value);
        settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
    }
    boxcar_list_free(list);
    size_t count = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, settlements, COUNT,
                               affected, &count, &f->err));
    assert_int_equal(count, COUNT);
    assert_int_equal(stats_of(f).done, COUNT);
    free(ids);
}

/* OBX-114 */
static void thousand_messages_of_ten_kibibytes_fit_in_a_call(void **state) {
    struct fixture *f = *state;
    enum { COUNT = 1000, SIZE = 10 * 1024 };
    static boxcar_new_message messages[COUNT];
    char *text = big_text(SIZE + COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        messages[i] = new_message("t", NULL);
        messages[i].payload = (boxcar_str){text + i, SIZE};
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, COUNT, NULL, &f->err));
    boxcar_message_list *list = claim(f, f->owner, COUNT);
    assert_int_equal(list->count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_same_bytes(list->items[i]->payload, text + i, SIZE);
    boxcar_list_free(list);
    free(text);
}

/* OBX-007 */
static void topics_and_streams_of_255_characters_of_four_bytes_work_throughout(void **state) {
    struct fixture *f = *state;
    char name[255 * 4 + 1], pattern[255 * 4 + 1];
    for (int i = 0; i < 255; i++)
        memcpy(name + 4 * i, "\xf0\x9f\x9a\x83", 4);
    name[255 * 4] = '\0';
    memcpy(pattern, name, 254 * 4);
    strcpy(pattern + 254 * 4, "*");
    boxcar_new_message message = new_message(name, "p");
    message.stream = message.correlation_id = boxcar_str_of(name);
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    boxcar_message_list *list = claim_topic(f, f->owner, 5, pattern);
    assert_int_equal(look(list)->work_id.value, id.value);
    assert_text(look(list)->topic, name);
    assert_text(look(list)->stream, name);
    assert_text(look(list)->correlation_id, name);
    boxcar_list_free(list);
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    options.topic = boxcar_str_of(name);
    ASSERT_OK(f, boxcar_message_page(f->store, &options, &list, &f->err));
    assert_int_equal(look(list)->work_id.value, id.value);
    boxcar_list_free(list);
}

/* ---- a claim is bounded in bytes ---- */

enum { PIECE = 30 * 1024 * 1024, PIECES = 4 };

/* It compresses well: what counts is what a claimer receives, not what the server keeps. */
static void enqueue_pieces(struct fixture *f, const char *stream, boxcar_work_id ids[PIECES]) {
    char *text = malloc(PIECE);
    boxcar_new_message message = new_message("t", NULL);
    assert_non_null(text);
    memset(text, 'x', PIECE);
    message.payload = (boxcar_str){text, PIECE};
    message.stream = stream ? boxcar_str_of(stream) : BOXCAR_NO_STR;
    for (int i = 0; i < PIECES; i++)
        ids[i] = enqueue_message(f, &message).work_id;
    free(text);
}

/* All of them, in order, each for the first time, never more at once than the bound and one message. */
static void take_pieces(struct fixture *f, const boxcar_work_id ids[PIECES], boxcar_settle_kind settle_by) {
    int claims = 0;
    for (size_t seen = 0; seen < PIECES; claims++) {
        boxcar_settlement settlements[PIECES];
        boxcar_message_list *list = claim(f, f->owner, 10);
        size_t count = list->count, settled = 0;
        assert_in_range(count, 1, 3);
        for (size_t i = 0; i < count; i++) {
            const boxcar_message *m = list->items[i];
            assert_int_equal(m->work_id.value, ids[seen + i].value);
            assert_int_equal(m->payload.len, PIECE);
            assert_int_equal(m->retry_count + m->crash_count, 0);
            settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
        }
        boxcar_list_free(list);
        ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), settle_by, settlements, count,
                                   NULL, &settled, &f->err));
        assert_int_equal(settled, count);
        seen += count;
    }
    assert_in_range(claims, 2, PIECES);
}

/* OBX-114: fresh ones first; then what was given back. */
static void claim_of_large_messages_brings_few(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[PIECES];
    enqueue_pieces(f, NULL, ids);
    take_pieces(f, ids, BOXCAR_ACK);
    assert_nothing_claimable(f);
}

static void claim_of_large_messages_from_a_stream_brings_few_in_order(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[PIECES];
    enqueue_pieces(f, "s", ids);
    take_pieces(f, ids, BOXCAR_ACK);
    assert_nothing_claimable(f);
}

/* What a bounded claim gives back is there at once, for anybody, and has spent no attempt. */
static void claim_of_large_messages_leaves_the_rest_to_others(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[PIECES];
    size_t seen = 0;
    enqueue_pieces(f, NULL, ids);
    for (int i = 0; i < PIECES && seen < PIECES; i++) {
        boxcar_message_list *list = claim(f, i % 2 ? f->other : f->owner, 10);
        for (size_t k = 0; k < list->count; k++)
            assert_int_equal(list->items[k]->retry_count, 0);
        assert_in_range(list->count, 1, 3);
        seen += list->count;
        boxcar_list_free(list);
    }
    assert_int_equal(seen, PIECES);
}

static struct rlimit UNLIMITED;

static int64_t address_space(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long long pages = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* From now on this process gets at most this many more bytes. */
static void memory_limit(int64_t more) {
    assert_int_equal(getrlimit(RLIMIT_AS, &UNLIMITED), 0);
    struct rlimit limit = {.rlim_cur = (rlim_t)(address_space() + more), .rlim_max = UNLIMITED.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static void memory_unlimit(void) { assert_int_equal(setrlimit(RLIMIT_AS, &UNLIMITED), 0); }

/* BX-003: nobody crashed. SQLite rolls the claim back, a claimer on PostgreSQL gives it back. */
static void claim_that_cannot_be_received_costs_no_attempt(void **state) {
    enum { SIZE = 48 << 20, ROOM = 24 << 20 };
    struct fixture *f = *state;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    boxcar_new_message message = new_message("t", NULL);
    if (address_space() >
        INT64_C(1) << 40) /* a sanitizer's, which gives up where malloc() would return NULL */
        SKIP_LACKING("an address space that can be limited");
    char *text = big_text(SIZE);
    message.payload = (boxcar_str){text, SIZE};
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    free(text);
    options.owner = f->owner;
    memory_limit(ROOM);
    boxcar_status status = boxcar_claim(f->store, &options, &list, &f->err);
    memory_unlimit();
    if (status == BOXCAR_OK)
        boxcar_list_free(list);
    assert_int_not_equal(status, BOXCAR_OK); /* else memory cannot be limited here */
    struct taken taken = take_wait(f, f->owner, id, 30000);
    assert_int_equal(taken.retry_count, 0);
    assert_int_equal(taken.crash_count, 0);
    assert_true(ack(f, f->owner, taken));
}

static const struct CMUnitTest TESTS[] = {
    TEST(claim_that_cannot_be_received_costs_no_attempt),
    TEST(payload_of_64_mebibytes_arrives_byte_for_byte),
    TEST(ten_thousand_messages_are_enqueued_claimed_and_acked_in_a_call_each),
    TEST(thousand_messages_of_ten_kibibytes_fit_in_a_call),
    TEST(topics_and_streams_of_255_characters_of_four_bytes_work_throughout),
    TEST(claim_of_large_messages_brings_few),
    TEST(claim_of_large_messages_from_a_stream_brings_few_in_order),
    TEST(claim_of_large_messages_leaves_the_rest_to_others),
};

const struct suite LARGE_SUITE = SUITE(TESTS);
