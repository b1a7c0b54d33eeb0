/* Headers: what is accepted is a JSON object of texts, and jansson reads it as one. */
#include <jansson.h>

#include "core/limits/limits.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = {(const char *)data, size};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = limits_check_headers(text, "headers", &err);
    const char *name;
    json_t *object, *value;

    fuzz_check_refusal(status, &err);
    if (status != BOXCAR_OK)
        return 0;
    object = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
    PROMISE(json_is_object(object));
    json_object_foreach(object, name, value) PROMISE(json_is_string(value) && name != NULL);
    json_decref(object);
    return 0;
}
