#include "gather.h"

#include <stdlib.h>

#include "base/memory.h"

#define FIRST_CAPACITY 64

void gather_release(struct gather_list *list) {
    free(list->items);
    free(list->tags);
    *list = (struct gather_list){0};
}

static bool grow(struct gather_list *list) {
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
    if (!memory_resize(&list->items, capacity, sizeof(*list->items)) ||
        !memory_resize(&list->tags, capacity, sizeof(*list->tags)))
        return false;
    list->capacity = capacity;
    return true;
}

bool gather_add(struct gather_list *list, const boxcar_settlement *settlement, union gather_tag tag) {
    if (list->count == list->capacity && !grow(list))
        return false;
    list->items[list->count] = *settlement;
    list->tags[list->count++] = tag;
    return true;
}

/* Where the first one that is not below `number` stands. */
static size_t position(const uint64_t *numbers, size_t count, uint64_t number) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct stretch stretch_between(const uint64_t *numbers, size_t count, uint64_t low, uint64_t high) {
    size_t from = position(numbers, count, low);
    return (struct stretch){from, position(numbers, count, high) - from};
}

_Static_assert(sizeof(union gather_tag) == sizeof(uint64_t), "an array of tags is one of numbers");

struct stretch gather_between(const struct gather_list *list, uint64_t low, uint64_t high) {
    return list->count > 0 ? stretch_between(&list->tags->number, list->count, low, high)
                           : (struct stretch){0, 0};
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = ((const boxcar_work_id *)a)->value, y = ((const boxcar_work_id *)b)->value;
    return (x > y) - (x < y);
}

void gather_sort(struct work_id_list *affected) {
    if (affected->count > 1)
        qsort(affected->items, affected->count, sizeof(*affected->items), compare_ids);
}

bool gather_affected(const struct work_id_list *affected, const boxcar_settlement *settlement) {
    return affected->count > 0 && bsearch(&settlement->work_id, affected->items, affected->count,
                                          sizeof(*affected->items), compare_ids) != NULL;
}
