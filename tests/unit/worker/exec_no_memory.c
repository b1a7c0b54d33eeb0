/* Exec handlers when memory runs out: every allocation fails once, and each time the answer is an error
 * or a retry, never a crash, a leak (the address sanitizer looks) or an ack that did not happen. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "exec_fixture.h"

static long FAIL_AT = -1; /* the allocation to refuse; -1 = none */
static long SEEN;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool refuse(void) { return SEEN++ == FAIL_AT; }

void *__wrap_malloc(size_t size) { return refuse() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *memory, size_t size) { return refuse() ? NULL : __real_realloc(memory, size); }

static void a_command_is_made_or_says_no_memory(void **state) {
    boxcar_status status;
    long n = 0;

    (void)state;
    do {
        struct exec_command *command = NULL;
        boxcar_error err = BOXCAR_ERROR_INIT;

        SEEN = 0;
        FAIL_AT = n;
        status = exec_command_new(BOXCAR_STR("true 'a b' c"), &command, &err);
        FAIL_AT = -1;
        if (status != BOXCAR_OK) {
            assert_int_equal(status, BOXCAR_E_NO_MEMORY);
            assert_int_equal(err.status, BOXCAR_E_NO_MEMORY);
            assert_null(command);
        }
        exec_command_free(command);
    } while (SEEN > n++);
    assert_int_equal(status, BOXCAR_OK);
    assert_true(n > 1);
}

/* With headers too large for the arena's first block. Without memory for its text an error is absent. */
static void a_run_without_memory_is_retried(void **state) {
    struct exec_command *command = NULL;
    static char headers[20000];
    struct trial trial;
    long n = 0;

    (void)state;
    memset(headers, 'h', sizeof(headers));
    assert_int_equal(exec_command_new(BOXCAR_STR("sh -c 'echo said >&2; exit 65'"), &command, NULL),
                     BOXCAR_OK);
    trial_init(&trial);
    trial.message.headers = (boxcar_str){headers, sizeof(headers)};
    do {
        SEEN = 0;
        FAIL_AT = n;
        trial_run_command(&trial, command, INT64_MAX);
        FAIL_AT = -1;
        assert_true(trial.verdict == BOXCAR_VERDICT_RETRY || trial.verdict == BOXCAR_VERDICT_FAIL);
    } while (SEEN > n++);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_FAIL);
    assert_said(&trial, "said");
    assert_true(n > 3);
    exec_command_free(command);
    trial_release(&trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_made_or_says_no_memory),
        cmocka_unit_test(a_run_without_memory_is_retried),
    };

    return cmocka_run_group_tests_name("exec_no_memory", tests, fixture_setup, fixture_teardown);
}
