/* Where a run takes place: a directory of its own, and a fresh store in it or on the server. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "boxcar/maintain.h"
#include "storm.h"

int64_t storm_parse_number(const char *text, int64_t most) {
    char *end;
    long long value = strtoll(text, &end, 10);
    return *text == '\0' || *end != '\0' || value < 0 || value > most ? -1 : value;
}

uint64_t storm_new_seed(void) {
    uint32_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        err(99, "getrandom");
    return seed;
}

void storm_choose_place(struct storm *storm) {
    const char *server = getenv("BOXCAR_TEST_POSTGRES");
    const char *parent = getenv("TMPDIR");
    snprintf(storm->directory, sizeof(storm->directory), "%s/boxcar-storm.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(storm->directory))
        err(99, "%s", storm->directory);
    if (!storm->postgres) {
        snprintf(storm->url, sizeof(storm->url), "sqlite:%s/store.db", storm->directory);
        return;
    }
    snprintf(storm->schema, sizeof(storm->schema), "storm_%ld", (long)getpid());
    snprintf(storm->url, sizeof(storm->url), "%s%capplication_name=%s", server,
             strchr(server, '?') ? '&' : '?', storm->schema);
}

static void set(boxcar_store *store, const char *name, const char *value) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    if (boxcar_setting_write(store, boxcar_str_of(name), boxcar_str_of(value), &error) != BOXCAR_OK)
        errx(99, "%s: %s", name, error.message);
}

void storm_deploy(struct storm *storm) {
    boxcar_store_options options = storm_store_options(storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    char attempts[16];
    options.deploy = true;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK)
        errx(99, "deploy: %s", error.message);
    snprintf(attempts, sizeof(attempts), "%d", storm->max_attempts);
    set(store, "max_attempts", attempts);
    set(store, "backoff_base", "10ms");
    set(store, "backoff_cap", "500ms");
    set(store, "retention_done", "365d");
    set(store, "retention_dead", "365d");
    boxcar_store_close(store);
    storm->board =
        mmap(NULL, sizeof(*storm->board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (storm->board == MAP_FAILED)
        err(99, "mmap");
}
