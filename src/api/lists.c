/* Reading and freeing the lists that calls return. */
#include <stdlib.h>

#include "store/store.h"

void boxcar_list_free(const void *list) { list_take_back(list); }

size_t boxcar_attempt_list_count(const boxcar_attempt_list *list) { return list ? list->count : 0; }

const boxcar_attempt *boxcar_attempt_list_get(const boxcar_attempt_list *list, size_t i) {
    return i < boxcar_attempt_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_attempt_list_free(boxcar_attempt_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}

size_t boxcar_stats_list_count(const boxcar_stats_list *list) { return list ? list->count : 0; }

const boxcar_stats *boxcar_stats_list_get(const boxcar_stats_list *list, size_t i) {
    return i < boxcar_stats_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_stats_list_free(boxcar_stats_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}

size_t boxcar_join_list_count(const boxcar_join_list *list) { return list ? list->count : 0; }

const boxcar_join *boxcar_join_list_get(const boxcar_join_list *list, size_t i) {
    return i < boxcar_join_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_join_list_free(boxcar_join_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}

size_t boxcar_join_member_list_count(const boxcar_join_member_list *list) { return list ? list->count : 0; }

const boxcar_join_member *boxcar_join_member_list_get(const boxcar_join_member_list *list, size_t i) {
    return i < boxcar_join_member_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_join_member_list_free(boxcar_join_member_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}

size_t boxcar_inbox_receipt_list_count(const boxcar_inbox_receipt_list *list) { return list ? list->count : 0; }

const boxcar_inbox_receipt *boxcar_inbox_receipt_list_get(const boxcar_inbox_receipt_list *list, size_t i) {
    return i < boxcar_inbox_receipt_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_inbox_receipt_list_free(boxcar_inbox_receipt_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}
