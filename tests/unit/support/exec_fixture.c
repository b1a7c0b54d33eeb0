#include "exec_fixture.h"

#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static char FOLDER[] = "/tmp/boxcar-exec-XXXXXX";

int fixture_setup(void **state) {
    (void)state;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return -1;
    return mkdtemp(FOLDER) ? 0 : -1;
}

int fixture_teardown(void **state) {
    DIR *folder = opendir(FOLDER);
    struct dirent *entry;

    (void)state;
    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
    return rmdir(FOLDER);
}

const char *fixture_path(const char *name) {
    static _Thread_local char paths[16][128];
    static _Thread_local unsigned next;
    char *path = paths[next++ % COUNT_OF(paths)];

    snprintf(path, sizeof(paths[0]), "%s/%s", FOLDER, name);
    return path;
}

void fixture_write(const char *name, boxcar_str text) {
    FILE *file = fopen(fixture_path(name), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.len, file), text.len);
    assert_int_equal(fclose(file), 0);
}

char *fixture_read(const char *name, size_t *ret_len) {
    FILE *file = fopen(fixture_path(name), "re");
    char *text = calloc(1, (size_t)2 << 20);

    assert_non_null(file);
    assert_non_null(text);
    *ret_len = fread(text, 1, ((size_t)2 << 20) - 1, file);
    fclose(file);
    return text;
}

void fixture_assert_file(const char *name, boxcar_str expected) {
    size_t len;
    char *got = fixture_read(name, &len);

    assert_int_equal(len, expected.len);
    if (len > 0)
        assert_memory_equal(got, expected.data, len);
    free(got);
}

pid_t fixture_read_pid(const char *name) {
    size_t len;
    char *text = fixture_read(name, &len);
    pid_t pid = (pid_t)atol(text);

    free(text);
    assert_true(pid > 1);
    return pid;
}

void fixture_remove(const char *name) { (void)unlink(fixture_path(name)); }

bool fixture_wait_for(const char *name) {
    int64_t until_ms = clock_ms() + 30000;

    while (access(fixture_path(name), F_OK) < 0) {
        if (clock_ms() > until_ms)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return true;
}

char *fixture_noise(size_t len) {
    char *bytes = malloc(len + 1);
    uint32_t x = 2463534242;

    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        bytes[i] = (char)(x >> 8);
    }
    return bytes;
}

struct exec_command *fixture_script(const char *name, boxcar_str text) {
    struct exec_command *command = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    fixture_write(name, text);
    assert_int_equal(chmod(fixture_path(name), 0755), 0);
    assert_int_equal(exec_command_new(boxcar_str_of(fixture_path(name)), &command, &err), BOXCAR_OK);
    return command;
}

void trial_init(struct trial *trial) {
    memset(trial, 0, sizeof(*trial));
    assert_true(delivery_init(&trial->delivery, "store-1", NULL));
    trial->message.work_id.value = 42;
    trial->message.epoch.value = 1769860800000000;
    trial->message.topic = BOXCAR_STR("orders.paid");
    trial->message.payload = BOXCAR_STR("{}");
    trial->message.created_at = BOXCAR_TIME_NONE;
}

void trial_release(struct trial *trial) {
    free(trial->error);
    delivery_release(&trial->delivery);
}

void trial_run_command(struct trial *trial, struct exec_command *command, int64_t deadline_ms) {
    free(trial->error);
    delivery_start(&trial->delivery, &trial->message, deadline_ms);
    trial->verdict = exec_run(command, &trial->delivery);
    trial->error = delivery_take_error(&trial->delivery, &trial->error_len);
}

void trial_run(struct trial *trial, const char *format, ...) {
    struct exec_command *command = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char text[1024];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_in_range(len, 1, sizeof(text) - 1);
    if (exec_command_new(boxcar_str_of(text), &command, &err) != BOXCAR_OK)
        fail_msg("%s: %s", text, err.message);
    trial_run_command(trial, command, INT64_MAX);
    exec_command_free(command);
}

void assert_said(const struct trial *trial, const char *text) {
    assert_non_null(trial->error);
    assert_string_equal(trial->error, text);
    assert_int_equal(trial->error_len, strlen(text));
}
