/* The payload of a wait, which any program may have written. What is read and written again says the same. */
#include "base/memory.h"
#include "base/utf8.h"
#include "core/limits/limits.h"
#include "core/wait.h"
#include "fuzz.h"

static boxcar_str given(boxcar_str text) { return text.data != NULL ? text : BOXCAR_STR(""); }

static void check_again(const struct wait *wait) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_BUF struct buf payload = BUF_INIT;
    boxcar_new_wait same = BOXCAR_NEW_WAIT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct wait again;

    same.join_id = wait->join_id;
    same.allow_failures = wait->allow_failures;
    same.on_complete_topic = wait->on_complete_topic;
    same.on_complete_payload = wait->on_complete_payload;
    same.on_fail_topic = wait->on_fail_topic;
    same.on_fail_payload = wait->on_fail_payload;
    if (limits_check_new_wait(&same, &err) != BOXCAR_OK)
        return;
    PROMISE(wait_format(&same, &payload, &err) == BOXCAR_OK);
    PROMISE(wait_parse((boxcar_str){payload.data, payload.len}, &arena, &again, &err) == BOXCAR_OK);
    PROMISE(memcmp(&again.join_id, &wait->join_id, sizeof(again.join_id)) == 0);
    PROMISE(again.allow_failures == wait->allow_failures);
    PROMISE(str_equal(again.on_complete_topic, wait->on_complete_topic));
    PROMISE(str_equal(given(again.on_complete_payload), given(wait->on_complete_payload)));
    PROMISE(str_equal(given(again.on_fail_topic), given(wait->on_fail_topic)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct wait wait;
    boxcar_status status = wait_parse((boxcar_str){(const char *)data, size}, &arena, &wait, &err);

    PROMISE(status == BOXCAR_OK || status == BOXCAR_E_INVALID);
    if (status == BOXCAR_OK)
        check_again(&wait);
    return 0;
}
