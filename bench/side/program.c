/* `boxcar enqueue --batch FILE`, from the start of the process to its end. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "program.h"

struct connection {
    const struct place *place;
    char path[64];
    size_t lines;
};

static void *open_program(const struct place *place) {
    struct connection *c = bench_alloc(1, sizeof(*c));
    int file;

    c->place = place;
    snprintf(c->path, sizeof(c->path), "/var/tmp/boxcar-bench-lines.XXXXXX");
    file = mkstemp(c->path);
    if (file < 0)
        bench_die("cannot make a file in /var/tmp");
    close(file);
    return c;
}

static void close_program(void *connection) {
    struct connection *c = connection;

    unlink(c->path);
    free(c);
}

static void write_lines(struct connection *c, size_t count) {
    FILE *file;

    if (c->lines == count)
        return;
    file = fopen(c->path, "w");
    for (size_t i = 0; file && i < count; i++)
        fprintf(file, "{\"topic\": \"" BENCH_TOPIC "\", \"payload\": %s}\n", bench_payload().data);
    if (!file || fclose(file) != 0)
        bench_die("cannot write %s", c->path);
    c->lines = count;
}

static void enqueue(void *connection, size_t count) {
    struct connection *c = connection;
    const char *const arguments[] = {"enqueue", "--batch", c->path, NULL};

    write_lines(c, count);
    program_end(program_start(c->place, arguments, true), 0);
}

const struct side SIDE_PROGRAM = {"boxcar enqueue --batch", open_program, close_program, enqueue, NULL, NULL};
