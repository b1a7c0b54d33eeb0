/* UUIDs. What is read and written again is the same, in small letters. */
#include <ctype.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = {(const char *)data, size};
    char written[BOXCAR_UUID_TEXT_SIZE];
    boxcar_message_id id, again;
    boxcar_owner owner;
    boxcar_join_id join_id;
    bool good = boxcar_message_id_parse(text, &id);

    PROMISE(boxcar_owner_parse(text, &owner) == good);
    PROMISE(boxcar_join_id_parse(text, &join_id) == good);
    if (!good)
        return 0;
    boxcar_message_id_format(id, written);
    PROMISE(strlen(written) == BOXCAR_UUID_TEXT_SIZE - 1);
    PROMISE(boxcar_message_id_parse(boxcar_str_of(written), &again));
    PROMISE(memcmp(&id, &again, sizeof(id)) == 0);
    for (size_t i = 0; size == strlen(written) && i < size; i++)
        PROMISE(tolower(data[i]) == written[i]);
    return 0;
}
