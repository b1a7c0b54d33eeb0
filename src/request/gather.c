#include "gather.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64

void gather_clear(struct gather_list *list) { list->count = 0; }

void gather_release(struct gather_list *list) {
    free(list->items);
    free(list->tags);
    *list = (struct gather_list){0};
}

static bool grow(struct gather_list *list) {
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
    boxcar_settlement *items = realloc(list->items, capacity * sizeof(*items));
    union gather_tag *tags;

    if (!items)
        return false;
    list->items = items;
    tags = realloc(list->tags, capacity * sizeof(*tags));
    if (!tags)
        return false;
    list->tags = tags;
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

struct gather_range gather_all(const struct gather_list *list) {
    return (struct gather_range){list->items, list->tags, list->count};
}

size_t gather_position(const uint64_t *numbers, size_t count, uint64_t number) {
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

_Static_assert(sizeof(union gather_tag) == sizeof(uint64_t), "an array of tags is one of numbers");

struct gather_range gather_between(const struct gather_list *list, uint64_t from, uint64_t to) {
    const uint64_t *numbers;
    size_t low, high;

    if (list->count == 0)
        return (struct gather_range){NULL, NULL, 0};
    numbers = &list->tags->number;
    low = gather_position(numbers, list->count, from);
    high = gather_position(numbers, list->count, to);
    return (struct gather_range){list->items + low, list->tags + low, high - low};
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = ((const boxcar_work_id *)a)->value, y = ((const boxcar_work_id *)b)->value;

    return (x > y) - (x < y);
}

void gather_match(struct gather_range range, struct work_id_list *affected,
                  void (*found)(void *context, union gather_tag tag, const boxcar_settlement *settlement,
                                bool affected),
                  void *context) {
    /* How many there are does not tell: stages that came with other results are in the answer too. */
    if (affected->count > 1)
        qsort(affected->items, affected->count, sizeof(*affected->items), compare_ids);
    for (size_t i = 0; i < range.count; i++) {
        bool hit = affected->count > 0 && bsearch(&range.items[i].work_id, affected->items, affected->count,
                                                  sizeof(*affected->items), compare_ids) != NULL;

        found(context, range.tags[i], &range.items[i], hit);
    }
}
