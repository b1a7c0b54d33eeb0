/* What every client needs: time, chance, a store, and a way to complain. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "storm.h"

#define COMPLAINTS_SHOWN 20

int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void pause_ms(int64_t ms) {
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

uint64_t draw(uint64_t *chance) {
    uint64_t z = (*chance += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t draw_between(struct client *client, int64_t low, int64_t high) {
    return low + (int64_t)(draw(&client->chance) % (uint64_t)(high - low + 1));
}

bool draw_percent(struct client *client, int percent) { return draw_between(client, 1, 100) <= percent; }

int64_t draw_size(struct client *client, int64_t high) {
    int64_t bits = 0;
    while ((INT64_C(1) << bits) < high)
        bits++;
    int64_t most = INT64_C(1) << draw_between(client, 0, bits);
    return draw_between(client, 1, most < high ? most : high);
}

void count(struct client *client, enum tally tally, int64_t by) {
    atomic_fetch_add(&client->storm->board->tallies[tally], by);
}

void complain(struct client *client, const char *format, ...) {
    if (atomic_fetch_add(&client->storm->board->tallies[TALLY_COMPLAINTS], 1) >= COMPLAINTS_SHOWN)
        return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "storm: client %d: %s\n", client->number, text);
}

bool accept_status(struct client *client, boxcar_status status, const boxcar_error *err, const char *what) {
    if (status == BOXCAR_OK)
        return true;
    if (status == BOXCAR_E_UNAVAILABLE && client->storm->postgres) {
        count(client, TALLY_UNAVAILABLE, 1);
        pause_ms(draw_between(client, 1, 50));
        return false;
    }
    complain(client, "%s: %s: %s (%s)", what, boxcar_status_name(status), err->message, err->sqlstate);
    pause_ms(10);
    return false;
}

boxcar_store_options storm_store_options(const struct storm *storm) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(storm->url);
    if (storm->schema[0] != '\0')
        options.schema = boxcar_str_of(storm->schema);
    return options;
}

static void on_log(void *context, const boxcar_log_record *record) {
    struct client *client = context;
    if (strcmp(record->event, "reconnect") == 0)
        client->reconnects++;
}

bool client_open(struct client *client) {
    boxcar_store_options options = storm_store_options(client->storm);
    boxcar_error err = BOXCAR_ERROR_INIT;
    options.log = on_log;
    options.log_context = client;
    options.durability = draw_percent(client, 50) ? BOXCAR_DURABILITY_FULL : BOXCAR_DURABILITY_NORMAL;
    for (int tries = 0; tries < 600; tries++) {
        boxcar_status status = boxcar_store_open(&options, &client->store, &err);
        if (accept_status(client, status, &err, "open"))
            return true;
        if (status != BOXCAR_E_UNAVAILABLE)
            return false;
        pause_ms(100);
    }
    complain(client, "open: the server did not come back");
    return false;
}
