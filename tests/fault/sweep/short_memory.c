/* Preloaded into a program: one of its allocations fails, or all from one on.
 *
 * BOXCAR_TEST_FAIL_AT=N      the N-th allocation after main() began fails
 * BOXCAR_TEST_FAIL_FROM=N    it and all after it fail
 * BOXCAR_TEST_ALLOCATIONS=FILE  how many there were is written there at exit
 *
 * Counts from main() on: what the loader and the libraries do before is not the program's. glibc's own
 * functions (strdup, getline, open_memstream, ...) come here as well. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

typedef int main_fn(int, char **, char **);
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

static atomic_long seen;
static long fail_at = -1, fail_from = -1;
static bool is_armed;
static main_fn *real_main;

static bool refuse(void) {
    long now;

    if (!is_armed)
        return false;
    now = atomic_fetch_add(&seen, 1) + 1;
    if (now != fail_at && (fail_from < 0 || now < fail_from))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return refuse() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return refuse() ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return refuse() ? NULL : __libc_realloc(memory, size); }

/* No stdio, which allocates. */
static void write_count(void) {
    const char *path = getenv("BOXCAR_TEST_ALLOCATIONS");
    char text[32];
    int length, file;

    is_armed = false;
    if (path == NULL || (file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0)
        return;
    length = snprintf(text, sizeof(text), "%ld\n", atomic_load(&seen));
    if (write(file, text, (size_t)length) != length)
        abort();
    close(file);
}

/* OpenSSL 3.0 itself crashes when an allocation fails while it sets up its random numbers, which libpq asks
 * for at its first connection. That is not the program's fault, so it is done before. */
static void set_up_random_numbers(void) {
    int (*random_bytes[])(unsigned char *,
                          int) = {(int (*)(unsigned char *, int))dlsym(RTLD_DEFAULT, "RAND_bytes"),
                                  (int (*)(unsigned char *, int))dlsym(RTLD_DEFAULT, "RAND_priv_bytes")};
    unsigned char byte;

    for (size_t i = 0; i < sizeof(random_bytes) / sizeof(random_bytes[0]); i++)
        if (random_bytes[i] != NULL)
            (void)random_bytes[i](&byte, 1);
}

static int armed_main(int argc, char **argv, char **environment) {
    const char *at = getenv("BOXCAR_TEST_FAIL_AT"), *from = getenv("BOXCAR_TEST_FAIL_FROM");

    fail_at = at != NULL ? atol(at) : -1;
    fail_from = from != NULL ? atol(from) : -1;
    atexit(write_count);
    set_up_random_numbers();
    is_armed = true;
    return real_main(argc, argv, environment);
}

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
    typeof(&__libc_start_main) next = (typeof(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main");

    real_main = main;
    return next(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}
