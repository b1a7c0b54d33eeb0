#include "refusal.h"

enum refusal refusal_of(boxcar_status status) {
    switch (status) {
    case BOXCAR_E_INVALID:
    case BOXCAR_E_NOT_FOUND:
    case BOXCAR_E_CONFLICT:
        return REFUSAL_CERTAIN;
    case BOXCAR_E_TRANSACTION:
    case BOXCAR_E_UNSUPPORTED:
    case BOXCAR_E_STORE:
        return REFUSAL_MAYBE;
    default:
        return REFUSAL_NONE;
    }
}

size_t refusal_next(const struct refusal_search *search) {
    size_t bad = search->bad_end > search->from ? search->bad_end - search->from : 0;
    return bad == 0 ? search->end - search->from : bad == 1 ? 1 : bad / 2;
}

void refusal_taken(struct refusal_search *search, size_t count) { search->from += count; }

bool refusal_refused(struct refusal_search *search, size_t count) {
    if (count == 1) {
        search->from++;
        return true;
    }
    search->bad_end = search->from + count;
    return false;
}

void refusal_rewind(struct refusal_search *search, size_t from) {
    search->from = from;
    search->bad_end = from + 1;
}
