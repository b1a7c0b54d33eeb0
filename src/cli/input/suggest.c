#include "suggest.h"

#include <stdbool.h>
#include <string.h>

/* Longer words are never names of ours. */
enum { WORD_MAX = 32 };

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

/* How many letters have to be changed, added, left out or swapped with their neighbour. */
static size_t distance_of(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    size_t cost[WORD_MAX + 1][WORD_MAX + 1];
    if (rows > WORD_MAX || columns > WORD_MAX)
        return WORD_MAX;
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] =
                min(min(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[rows][columns];
}

void suggest_consider(struct suggestion *suggestion, const char *candidate) {
    const char *typed = suggestion->typed;
    size_t length = strlen(typed), distance = distance_of(typed, candidate);
    /* Near enough: a third of the letters may be wrong, or the word was cut short. */
    bool is_near = distance <= (length + 2) / 3 || (length >= 2 && strncmp(typed, candidate, length) == 0);
    if (is_near && (!suggestion->best || distance < suggestion->distance)) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}
