#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/limits/limits.h"
#include "core/names.h"
#include "params.h"

static uint64_t get_u64(const char *bytes) {
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return be64toh(value);
}

int64_t pg_get_int8(const PGresult *result, int row, int column) {
    return PQgetisnull(result, row, column) ? 0 : (int64_t)get_u64(PQgetvalue(result, row, column));
}

int pg_get_int4(const PGresult *result, int row, int column) {
    return PQgetisnull(result, row, column) ? 0 : (int)pg_u32(PQgetvalue(result, row, column));
}

int pg_get_int2(const PGresult *result, int row, int column) {
    uint16_t value;

    if (PQgetisnull(result, row, column))
        return 0;
    memcpy(&value, PQgetvalue(result, row, column), sizeof(value));
    return (int16_t)be16toh(value);
}

bool pg_get_bool(const PGresult *result, int row, int column) {
    return !PQgetisnull(result, row, column) && PQgetvalue(result, row, column)[0] != 0;
}

double pg_get_float8(const PGresult *result, int row, int column) {
    uint64_t bits = (uint64_t)pg_get_int8(result, row, column);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A time out of our range, infinity for instance, becomes the nearest time in it. */
boxcar_time pg_get_time(const PGresult *result, int row, int column) {
    int64_t time = pg_get_int8(result, row, column);

    if (PQgetisnull(result, row, column))
        return BOXCAR_TIME_NONE;
    if (time < -PG_EPOCH_OFFSET_US)
        return 0;
    return time < LIMITS_TIME_MAX - PG_EPOCH_OFFSET_US ? time + PG_EPOCH_OFFSET_US : LIMITS_TIME_MAX;
}

boxcar_str pg_get_text(const PGresult *result, int row, int column) {
    if (PQgetisnull(result, row, column))
        return BOXCAR_NO_STR;
    return (boxcar_str){PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column)};
}

void pg_get_uuid(const PGresult *result, int row, int column, uint8_t ret_uuid[16]) {
    if (PQgetisnull(result, row, column))
        memset(ret_uuid, 0, 16);
    else
        memcpy(ret_uuid, PQgetvalue(result, row, column), 16);
}

/* An array's binary form: dimensions, flags, element type, then per dimension size and lower
 * bound, then the elements, each behind its length. */
size_t pg_get_count(const PGresult *result, int row, int column) {
    const char *bytes = PQgetvalue(result, row, column);

    return PQgetisnull(result, row, column) || pg_u32(bytes) == 0 ? 0 : pg_u32(bytes + 12);
}

void pg_get_uuid_at(const PGresult *result, int row, int column, size_t i, uint8_t ret_uuid[16]) {
    memcpy(ret_uuid, PQgetvalue(result, row, column) + 20 + i * 20 + 4, 16);
}

boxcar_status pg_get_work_ids(const PGresult *result, int row, int column, struct arena *arena,
                              struct work_id_list *ret_list, boxcar_error *err) {
    const char *bytes = PQgetvalue(result, row, column);
    size_t count = pg_get_count(result, row, column);
    boxcar_work_id *items = arena_alloc_array(arena, count, sizeof(*items));

    if (!items)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        items[i].value = (int64_t)get_u64(bytes + 20 + i * 12 + 4);
    *ret_list = (struct work_id_list){items, count};
    return BOXCAR_OK;
}

void pg_read_claimed(const PGresult *r, int row, boxcar_message *m) {
    m->work_id.value = pg_get_int8(r, row, 0);
    m->epoch.value = pg_get_int8(r, row, 1);
    pg_get_uuid(r, row, 2, m->message_id.uuid.bytes);
    m->status = BOXCAR_IN_PROGRESS;
    m->topic = pg_get_text(r, row, 3);
    m->payload = pg_get_text(r, row, 4);
    m->created_at = pg_get_time(r, row, 5);
    m->due_at = pg_get_time(r, row, 6);
    m->available_at = pg_get_time(r, row, 7);
    m->expires_at = pg_get_time(r, row, 8);
    m->stream = pg_get_text(r, row, 9);
    m->correlation_id = pg_get_text(r, row, 10);
    m->headers = pg_get_text(r, row, 11);
    m->retry_count = pg_get_int4(r, row, 12);
    m->crash_count = pg_get_int4(r, row, 13);
    m->max_attempts = pg_get_int4(r, row, 14);
    m->last_error = pg_get_text(r, row, 15);
    pg_get_uuid(r, row, 16, m->owner.uuid.bytes);
    m->locked_until = pg_get_time(r, row, 17);
    m->source = pg_get_text(r, row, 18);
    m->external_id = pg_get_text(r, row, 19);
    m->stages = pg_get_int4(r, row, 20);
    m->causation_id = pg_get_text(r, row, 21);
    m->event_type = pg_get_text(r, row, 22);
    m->metadata = pg_get_text(r, row, 23);
    m->processed_at = BOXCAR_TIME_NONE;
    m->died_at = BOXCAR_TIME_NONE;
}

void pg_read_message(const PGresult *r, int row, void *item) {
    boxcar_message *m = item;

    pg_read_claimed(r, row, m);
    m->box = (boxcar_box)pg_get_int2(r, row, 24);
    (void)message_status_parse(pg_get_text(r, row, 25), &m->status);
    m->processed_at = pg_get_time(r, row, 26);
    m->processed_by = pg_get_text(r, row, 27);
    m->reason = (boxcar_reason)pg_get_int2(r, row, 28);
    m->died_at = pg_get_time(r, row, 29);
}

static void clear_result(void *result) { PQclear(result); }

bool pg_attach_result(struct arena *arena, PGresult *result) {
    if (arena_attach(arena, result, clear_result))
        return true;
    PQclear(result);
    return false;
}

void *pg_read_rows(PGresult *result, struct arena *arena, size_t item_size, pg_read_fn *read) {
    int count = PQntuples(result);
    char *items;

    if (!pg_attach_result(arena, result))
        return NULL;
    items = arena_alloc_array(arena, (size_t)count, item_size);
    for (int i = 0; items && i < count; i++)
        read(result, i, items + (size_t)i * item_size);
    return items;
}

struct pg_list {
    struct arena arena;
    void *items;
    size_t count;
};

boxcar_status pg_rows_into_list(PGresult *result, struct pg_list_kind kind, void *ret_list,
                                boxcar_error *err) {
    struct pg_list head = {.arena = ARENA_INIT, .count = (size_t)PQntuples(result)};
    void *list = calloc(1, kind.list_size);

    head.items = pg_read_rows(result, &head.arena, kind.item_size, kind.read);
    if (!list || !head.items) {
        arena_release(&head.arena);
        free(list);
        return error_no_memory(err);
    }
    memcpy(list, &head, sizeof(head));
    memcpy(ret_list, &list, sizeof(list));
    return BOXCAR_OK;
}
