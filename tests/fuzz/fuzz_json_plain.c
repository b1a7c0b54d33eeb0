/* JSON that is taken without jansson: jansson would take it, too, and its copy is what the slower way makes
 * of it. */
#include <jansson.h>

#include "cli/input/batch/json_text.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = {(const char *)data, size};
    char *into = malloc(size + 1), *compact = malloc(size + 1);
    size_t length = 0, taken;

    PROMISE(into != NULL && compact != NULL);
    taken = json_plain_copy(text, into, &length);
    PROMISE(taken <= size && length <= taken);
    if (taken > 0) {
        json_t *root = json_loadb(text.data, taken, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);

        PROMISE(root != NULL);
        PROMISE(json_text_compact((boxcar_str){text.data, taken}, compact) == length);
        PROMISE(memcmp(into, compact, length) == 0);
        json_decref(root);
    }
    free(into);
    free(compact);
    return 0;
}
