/* Which worker should have which streams. */
#include "unit.h"

#include "boxcar.h"
#include "core/partition.h"

/* BX-060: the first 8 bytes of SHA-256, as an unsigned number. */
static void partition_is_the_beginning_of_the_digest(void **state) {
    (void)state;
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR(""), 1000000),
                     (int)(UINT64_C(0xe3b0c44298fc1c14) % 1000000));
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), 1000000),
                     (int)(UINT64_C(0xba7816bf8f01cfea) % 1000000));
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), 10000),
                     (int)(UINT64_C(0xba7816bf8f01cfea) % 10000));
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), 7), (int)(UINT64_C(0xba7816bf8f01cfea) % 7));
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), 1), 0);
    assert_int_equal(boxcar_stream_partition(BOXCAR_NO_STR, 10), (int)(UINT64_C(0xe3b0c44298fc1c14) % 10));
}

/* BX-011 */
static void number_of_partitions_has_a_range(void **state) {
    (void)state;
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), 0), -1);
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), -5), -1);
    assert_int_equal(boxcar_stream_partition(BOXCAR_STR("abc"), BOXCAR_PARTITION_COUNT_MAX + 1), -1);
}

/* BX-061 */
static void every_partition_has_exactly_one_worker(void **state) {
    static const int PARTITIONS[] = {1, 2, 3, 7, 100, 10000};
    static const int WORKERS[] = {1, 2, 3, 5, 8, 99, 10001};

    (void)state;
    for (size_t p = 0; p < COUNT_OF(PARTITIONS); p++) {
        for (size_t w = 0; w < COUNT_OF(WORKERS); w++) {
            int next = 0, least = PARTITIONS[p], most = 0;
            for (int rank = 0; rank < WORKERS[w]; rank++) {
                struct partition_range range = partition_range_of(rank, WORKERS[w], PARTITIONS[p], 0);
                assert_int_equal(range.first, next);
                next += range.count;
                least = range.count < least ? range.count : least;
                most = range.count > most ? range.count : most;
            }
            assert_int_equal(next, PARTITIONS[p]);
            assert_true(most - least <= 1);
            for (int partition = 0; partition < PARTITIONS[p]; partition++)
                assert_false(partition_is_free(partition, WORKERS[w], PARTITIONS[p], 0));
        }
    }
}

/* BX-061 */
static void cap_leaves_partitions_over(void **state) {
    (void)state;
    for (int partition = 0; partition < 100; partition++) {
        bool owned =
            partition < 10 || (partition >= 33 && partition < 43) || (partition >= 66 && partition < 76);
        assert_int_equal(partition_is_free(partition, 3, 100, 10), !owned);
    }
    struct partition_range range = partition_range_of(1, 3, 100, 10);
    assert_int_equal(range.first, 33);
    assert_int_equal(range.count, 10);
    assert_true(partition_is_in(range, 33) && partition_is_in(range, 42));
    assert_false(partition_is_in(range, 32) || partition_is_in(range, 43));
    assert_int_equal(partition_range_of(0, 1, 100, 1000).count, 100);
    assert_true(partition_is_free(PARTITION_NONE, 3, 100, 0));
    assert_true(partition_is_free(100, 3, 100, 0));
    assert_true(partition_is_free(5, 0, 100, 0));
}

/* BX-061 */
static void many_workers_overflow_nothing(void **state) {
    (void)state;
    int64_t workers = INT64_C(1000000000);
    struct partition_range last = partition_range_of(workers - 1, workers, BOXCAR_PARTITION_COUNT_MAX, 0);
    assert_int_equal(last.first + last.count, BOXCAR_PARTITION_COUNT_MAX);
    assert_false(partition_is_free(BOXCAR_PARTITION_COUNT_MAX - 1, workers, BOXCAR_PARTITION_COUNT_MAX, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partition_is_the_beginning_of_the_digest),
        cmocka_unit_test(number_of_partitions_has_a_range),
        cmocka_unit_test(every_partition_has_exactly_one_worker),
        cmocka_unit_test(cap_leaves_partitions_over),
        cmocka_unit_test(many_workers_overflow_nothing),
    };

    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
