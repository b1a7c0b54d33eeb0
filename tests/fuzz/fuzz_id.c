/* UUIDs. What is read and written again is the same, in small letters. */
#include <ctype.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = {(const char *)data, size};
    char written[BOXCAR_UUID_TEXT_SIZE];
    boxcar_message_id id, again;
    boxcar_owner owner;
    boxcar_join_id join_id;
    bool good = boxcar_uuid_parse(text, &id.uuid);

    PROMISE(boxcar_uuid_parse(text, &owner.uuid) == good);
    PROMISE(boxcar_uuid_parse(text, &join_id.uuid) == good);
    if (!good)
        return 0;
    boxcar_uuid_format(id.uuid, written);
    PROMISE(strlen(written) == BOXCAR_UUID_TEXT_SIZE - 1);
    PROMISE(boxcar_uuid_parse(boxcar_str_of(written), &again.uuid));
    PROMISE(memcmp(&id, &again, sizeof(id)) == 0);
    for (size_t i = 0; size == strlen(written) && i < size; i++)
        PROMISE(tolower(data[i]) == written[i]);
    return 0;
}
