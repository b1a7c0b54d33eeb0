/* Handlers that are programs (design 7, exec handlers): what they are given, and what their end
 * means. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "exec_fixture.h"

/* OBX-057: the handler gets the whole message; the payload on standard input. */
static void payload_arrives_byte_for_byte(void **state) {
    static const size_t sizes[] = {0, 1, 4095, 4096, 65535, 65536, 65537, 200001, MIB};
    char *bytes = fixture_noise(MIB);
    struct trial trial;

    (void)state;
    trial_init(&trial);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        trial.message.payload = (boxcar_str){bytes, sizes[i]};
        trial_run(&trial, "sh -c 'cat >%s'", fixture_path("got"));
        assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
        assert_null(trial.error);
        fixture_assert_file("got", trial.message.payload);
    }
    trial_release(&trial);
    free(bytes);
}

static bool is_pending(int signal_number) {
    sigset_t pending;

    sigpending(&pending);
    return sigismember(&pending, signal_number);
}

/* With SIGPIPE as a program has it by default: this process would die of it. */
static void input_that_nobody_reads_is_no_error(void **state) {
    char *bytes = fixture_noise(MIB);
    struct trial trial;

    (void)state;
    signal(SIGPIPE, SIG_DFL);
    trial_init(&trial);
    trial.message.payload = (boxcar_str){bytes, MIB};
    trial_run(&trial, "true");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    /* It lives a little longer, so that the write meets its closed end. Nothing tells the program when it
     * has. */
    trial_run(&trial, "sh -c 'exec <&-; sleep 0.05; exit 3'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said(&trial, "exit status 3");
    trial_run(&trial, "sh -c 'head -c 70000 >/dev/null'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    assert_false(is_pending(SIGPIPE));
    trial_release(&trial);
    free(bytes);
}

static void a_broken_pipe_of_somebody_else_is_not_taken_away(void **state) {
    char *bytes = fixture_noise(MIB);
    sigset_t broken_pipe, before;
    struct trial trial;

    (void)state;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    raise(SIGPIPE);
    trial_init(&trial);
    trial.message.payload = (boxcar_str){bytes, MIB};
    trial_run(&trial, "sh -c 'exec <&-; sleep 0.05'"); /* as above */
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    assert_true(is_pending(SIGPIPE));
    signal(SIGPIPE, SIG_IGN); /* drops it */
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    trial_release(&trial);
    free(bytes);
}

static void words_arrive_as_arguments(void **state) {
    struct trial trial;

    (void)state;
    trial_init(&trial);
    trial_run(&trial, "sh -c 'printf \"<%%s>\" \"$0\" \"$@\" >%s' name 'a  b' '' \"\\\"\" $HOME *",
              fixture_path("got"));
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    fixture_assert_file("got", BOXCAR_STR("<name><a  b><><\"><$HOME><*>"));
    trial_release(&trial);
}

/* cp is what runs, so that no shell adds variables of its own. */
static void assert_environment(struct trial *trial, const char *const *expected, size_t count) {
    size_t len, found = 0, runs = 0;
    char *got;

    trial_run(trial, "cp /proc/self/environ %s", fixture_path("got"));
    assert_int_equal(trial->verdict, BOXCAR_VERDICT_ACK);
    got = fixture_read("got", &len);
    for (const char *at = got; at < got + len; at += strlen(at) + 1, found++) {
        size_t i = 0;
        if (strncmp(at, "BOXCAR_RUN_ID=", 14) == 0) { /* new each time */
            assert_int_equal(strlen(at), 14 + 36);
            found--;
            runs++;
            continue;
        }
        while (i < count && strcmp(at, expected[i]) != 0)
            i++;
        if (i == count)
            fail_msg("not expected in the environment: %s", at);
    }
    assert_int_equal(found, count);
    assert_int_equal(runs, 1);
    free(got);
}

/* What this process had before, brought back at the end. */
static void with_environment(const char *const *variables, void (*check)(void)) {
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");

    assert_non_null(path);
    clearenv();
    for (; *variables; variables++)
        assert_int_equal(putenv((char *)*variables), 0);
    check();
    clearenv();
    setenv("PATH", path, 1);
    free(path);
}

static void check_full_environment(void) {
    static const char *const expected[] = {
        "PATH=/usr/bin:/bin",
        "HOME=/home/x",
        "USER=x",
        "LOGNAME=x",
        "LANG=C.UTF-8",
        "LC_TIME=C",
        "TZ=UTC",
        "TMPDIR=/tmp",
        "BOXCAR_MESSAGE_ID=0198c1a2-0000-7000-8000-000000000001",
        "BOXCAR_WORK_ID=42",
        "BOXCAR_TOPIC=orders.\xE2\x82\xAC = new\nline",
        "BOXCAR_ATTEMPT=3",
        "BOXCAR_EPOCH=1769860800000000",
        "BOXCAR_OWNER=0198c1a2-0000-7000-8000-000000000002",
        "BOXCAR_STREAM=customer 7",
        "BOXCAR_CORRELATION_ID='; rm -rf \"$HOME\"",
        "BOXCAR_CAUSATION_ID=a `cause`",
        "BOXCAR_STAGES=11",
        "BOXCAR_METADATA={\"n\":[1]}",
        "BOXCAR_CREATED_AT=2026-01-31T12:00:00.000000Z",
        "BOXCAR_HEADERS={\"trace\":\"a b\"}",
        "BOXCAR_BOX=inbox",
        "BOXCAR_SOURCE=shop $(id)",
        "BOXCAR_EXTERNAL_ID=order\n42",
        "BOXCAR_STORE_ID=store-1",
    };
    struct trial trial;

    trial_init(&trial);
    trial.message.topic = boxcar_str_of(strchr(expected[10], '=') + 1);
    trial.message.stream = BOXCAR_STR("customer 7");
    trial.message.correlation_id = BOXCAR_STR("'; rm -rf \"$HOME\"");
    trial.message.headers = BOXCAR_STR("{\"trace\":\"a b\"}");
    trial.message.causation_id = BOXCAR_STR("a `cause`");
    trial.message.stages = 11;
    trial.message.metadata = BOXCAR_STR("{\"n\":[1]}");
    trial.message.retry_count = 2;
    trial.message.box = BOXCAR_INBOX;
    trial.message.source = BOXCAR_STR("shop $(id)");
    trial.message.external_id = BOXCAR_STR("order\n42");
    trial.message.created_at = INT64_C(1769860800000000);
    boxcar_uuid_parse(BOXCAR_STR("0198c1a2-0000-7000-8000-000000000001"), &trial.message.message_id.uuid);
    boxcar_uuid_parse(BOXCAR_STR("0198c1a2-0000-7000-8000-000000000002"), &trial.message.owner.uuid);
    assert_environment(&trial, expected, COUNT_OF(expected));
    trial_release(&trial);
}

/* Design 7: clean, so that no password of the worker gets into a program. */
static void environment_is_the_message_and_a_few_of_ours(void **state) {
    static const char *const ours[] = {
        "PATH=/usr/bin:/bin",
        "HOME=/home/x",
        "USER=x",
        "LOGNAME=x",
        "LANG=C.UTF-8",
        "LC_TIME=C",
        "TZ=UTC",
        "TMPDIR=/tmp",
        "PGPASSWORD=x",
        "BOXCAR_STORE=postgres://u:x@h/d",
        "BOXCAR_X=y",
        "LD_PRELOAD_=x",
        "PATHS=x",
        "HOMER=x",
        "LANGUAGE=x",
        "PGSERVICE=x",
        "BOXCAR_TOPIC=x",
        NULL,
    };

    (void)state;
    with_environment(ours, check_full_environment);
}

static void check_bare_environment(void) {
    static const char *const expected[] = {
        "BOXCAR_WORK_ID=42", "BOXCAR_TOPIC=orders.paid", "BOXCAR_ATTEMPT=1", "BOXCAR_EPOCH=1769860800000000",
        "BOXCAR_HEADERS={}", "BOXCAR_BOX=outbox",        "BOXCAR_STAGES=0"};
    struct trial trial;

    trial_init(&trial);
    trial.delivery.store_id = NULL;
    assert_environment(&trial, expected, COUNT_OF(expected));
    trial_release(&trial);
}

static void absent_fields_have_no_variable(void **state) {
    static const char *const ours[] = {NULL};

    (void)state;
    with_environment(ours, check_bare_environment);
}

/* OBX-056 */
static void exit_status_decides(void **state) {
    static const struct {
        int status;
        boxcar_verdict verdict;
    } cases[] = {
        {0, BOXCAR_VERDICT_ACK},    {65, BOXCAR_VERDICT_FAIL},   {75, BOXCAR_VERDICT_RETRY},
        {1, BOXCAR_VERDICT_RETRY},  {2, BOXCAR_VERDICT_RETRY},   {64, BOXCAR_VERDICT_RETRY},
        {66, BOXCAR_VERDICT_RETRY}, {127, BOXCAR_VERDICT_RETRY}, {255, BOXCAR_VERDICT_RETRY},
    };
    struct trial trial;

    (void)state;
    trial_init(&trial);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char expected[32];
        snprintf(expected, sizeof(expected), "exit status %d", cases[i].status);
        trial_run(&trial, "sh -c 'exit %d'", cases[i].status);
        assert_int_equal(trial.verdict, cases[i].verdict);
        if (cases[i].status == 0)
            assert_null(trial.error);
        else
            assert_said(&trial, expected);
    }
    trial_release(&trial);
}

/* OBX-056 */
static void death_by_a_signal_is_retried(void **state) {
    struct trial trial;

    (void)state;
    trial_init(&trial);
    trial_run(&trial, "sh -c 'kill -KILL $$'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said(&trial, "killed by signal 9 (Killed)");
    trial_run(&trial, "sh -c 'kill -SEGV $$'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said(&trial, "killed by signal 11 (Segmentation fault)");
    trial_release(&trial);
}

/* BX-010: and standard output is nowhere. */
static void standard_error_becomes_the_error(void **state) {
    struct trial trial;

    (void)state;
    trial_init(&trial);
    trial_run(&trial, "sh -c 'echo no such customer >&2; echo data; exit 65'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_FAIL);
    assert_said(&trial, "no such customer");
    trial_run(&trial, "sh -c 'echo all fine >&2'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    assert_null(trial.error);
    trial_run(&trial, "sh -c 'x=$(readlink /proc/$$/fd/1); echo $x >&2; exit 1'");
    assert_said(&trial, "/dev/null");
    trial_release(&trial);
}

/* BX-010: last_error is capped at 4 KiB. */
static void only_the_end_of_much_standard_error_is_kept(void **state) {
    size_t len = MIB / 3 * 3;
    char *euros = malloc(len);
    struct trial trial;

    (void)state;
    assert_non_null(euros);
    for (size_t i = 0; i < len; i += 3)
        memcpy(euros + i, "\xE2\x82\xAC", 3);
    fixture_write("said", (boxcar_str){euros, len});
    trial_init(&trial);
    trial_run(&trial, "sh -c 'cat %s >&2; printf end >&2; exit 1'", fixture_path("said"));
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_int_equal(trial.error_len, 4095); /* 1,364 euro signs and "end": one byte short of the most */
    assert_memory_equal(trial.error, euros, 4092);
    assert_string_equal(trial.error + 4092, "end");
    trial_release(&trial);
    free(euros);
}

/* BX-011 */
static void standard_error_that_is_not_text_is_made_text(void **state) {
    struct trial trial;

    (void)state;
    trial_init(&trial);
    trial_run(&trial, "sh -c 'printf \"a\\377b\\000c\\342\\202\" >&2; exit 1'");
    assert_true(utf8_is_valid((boxcar_str){trial.error, trial.error_len}));
    assert_said(&trial, "a\xEF\xBF\xBD"
                        "b\xEF\xBF\xBD"
                        "c\xEF\xBF\xBD\xEF\xBF\xBD");
    trial_release(&trial);
}

/* The error says how large, not what is in it; neither shows the payload (BX-010). */
static void headers_too_large_for_an_environment_fail(void **state) {
    size_t len = 200000;
    char *headers = malloc(len);
    struct trial trial;

    (void)state;
    assert_non_null(headers);
    memset(headers, 'h', len);
    trial_init(&trial);
    trial.message.payload = BOXCAR_STR("secret");
    trial.message.headers = (boxcar_str){headers, len};
    trial_run(&trial, "true");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_FAIL);
    assert_non_null(strstr(trial.error, "headers (200000 bytes)"));
    assert_null(strstr(trial.error, "secret"));
    assert_null(strstr(trial.error, "hhh"));
    trial_release(&trial);
    free(headers);
}

static void a_program_that_cannot_be_started_is_retried(void **state) {
    struct exec_command *command = fixture_script("handler", BOXCAR_STR("#!/bin/sh\nexit 65\n"));
    struct trial trial;

    (void)state;
    trial_init(&trial);
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_FAIL);
    assert_int_equal(chmod(fixture_path("handler"), 0644), 0);
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_non_null(strstr(trial.error, "handler: Permission denied"));
    fixture_remove("handler");
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_non_null(strstr(trial.error, "handler: No such file"));
    exec_command_free(command);
    command = fixture_script("handler", BOXCAR_STR("exit 0\n"));
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_non_null(strstr(trial.error, "#!/bin/sh"));
    exec_command_free(command);
    trial_release(&trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payload_arrives_byte_for_byte),
        cmocka_unit_test(input_that_nobody_reads_is_no_error),
        cmocka_unit_test(a_broken_pipe_of_somebody_else_is_not_taken_away),
        cmocka_unit_test(words_arrive_as_arguments),
        cmocka_unit_test(environment_is_the_message_and_a_few_of_ours),
        cmocka_unit_test(absent_fields_have_no_variable),
        cmocka_unit_test(exit_status_decides),
        cmocka_unit_test(death_by_a_signal_is_retried),
        cmocka_unit_test(standard_error_becomes_the_error),
        cmocka_unit_test(only_the_end_of_much_standard_error_is_kept),
        cmocka_unit_test(standard_error_that_is_not_text_is_made_text),
        cmocka_unit_test(headers_too_large_for_an_environment_fail),
        cmocka_unit_test(a_program_that_cannot_be_started_is_retried),
    };

    return cmocka_run_group_tests_name("exec", tests, fixture_setup, fixture_teardown);
}
