/* Lines of files and pipes, of any length. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/input/batch/line_reader.h"

static struct line_reader READER;

/* Reads what is written to the returned descriptor. */
static int open_pipe(void) {
    char path[32];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_true(line_reader_open(&READER, path));
    close(ends[0]);
    return ends[1];
}

static void write_all(int fd, const char *text, size_t length) {
    assert_int_equal(write(fd, text, length), (ssize_t)length);
}

static void assert_line(const char *expected) {
    boxcar_str line = BOXCAR_NO_STR;

    assert_int_equal(line_reader_next(&READER, &line), LINE_READ);
    assert_int_equal(line.len, strlen(expected));
    assert_memory_equal(line.data, expected, line.len);
}

static void assert_state(enum line_state expected) {
    boxcar_str line = BOXCAR_NO_STR;

    assert_int_equal(line_reader_next(&READER, &line), expected);
}

static void lines_come_with_their_ends(void **state) {
    int fd = open_pipe();

    (void)state;
    write_all(fd, "one\n\n\r\nlast", 11);
    close(fd);
    assert_line("one\n");
    assert_line("\n");
    assert_line("\r\n");
    assert_line("last");
    assert_state(LINE_END);
    assert_state(LINE_END);
    line_reader_release(&READER);
}

static void nothing_is_the_end(void **state) {
    (void)state;
    assert_true(line_reader_open(&READER, "/dev/null"));
    assert_state(LINE_END);
    line_reader_release(&READER);
}

static void line_that_comes_in_pieces_is_one(void **state) {
    int fd = open_pipe();

    (void)state;
    write_all(fd, "a\nhal", 5);
    assert_line("a\n");
    write_all(fd, "f\nrest", 6);
    assert_line("half\n");
    close(fd);
    assert_line("rest");
    assert_state(LINE_END);
    line_reader_release(&READER);
}

/* Longer than any buffer at first, with a short one before and behind it. */
static void lines_of_any_length_are_read(void **state) {
    enum { LONG = 3000000 };
    char path[] = "/tmp/test_line_reader.XXXXXX";
    int fd = mkstemp(path);
    char *text = malloc(LONG);
    boxcar_str line;

    (void)state;
    assert_true(fd >= 0);
    assert_non_null(text);
    memset(text, 'x', LONG);
    text[1] = text[LONG - 3] = '\n';
    write_all(fd, text, LONG);
    close(fd);
    assert_true(line_reader_open(&READER, path));
    assert_line("x\n");
    assert_int_equal(line_reader_next(&READER, &line), LINE_READ);
    assert_int_equal(line.len, LONG - 4);
    assert_line("xx");
    assert_state(LINE_END);
    line_reader_release(&READER);
    unlink(path);
    free(text);
}

static void waiting_can_be_stopped(void **state) {
    int fd = open_pipe();

    (void)state;
    READER.stop_fd = eventfd(1, EFD_CLOEXEC);
    assert_true(READER.stop_fd >= 0);
    assert_state(LINE_STOPPED);
    close(READER.stop_fd);
    line_reader_release(&READER);
    close(fd);
}

static void what_cannot_be_read_says_why(void **state) {
    (void)state;
    assert_false(line_reader_open(&READER, "/nonexistent"));
    assert_int_equal(errno, ENOENT);
    assert_true(line_reader_open(&READER, "/"));
    assert_state(LINE_FAILED);
    assert_int_equal(errno, EISDIR);
    line_reader_release(&READER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_with_their_ends),       cmocka_unit_test(nothing_is_the_end),
        cmocka_unit_test(line_that_comes_in_pieces_is_one), cmocka_unit_test(lines_of_any_length_are_read),
        cmocka_unit_test(waiting_can_be_stopped),           cmocka_unit_test(what_cannot_be_read_says_why),
    };

    return cmocka_run_group_tests_name("line_reader", tests, NULL, NULL);
}
