/* The names of every enumeration: one table, used in both directions. */
#include "names.h"

#include <string.h>

#include "base/utf8.h"
#include "boxcar/doctor.h"
#include "boxcar/error.h"
#include "boxcar/inbox.h"
#include "boxcar/log.h"

enum enumeration {
    BOX,
    MESSAGE_STATUS,
    REASON,
    JOIN_STATUS,
    MEMBER_STATUS,
    JOIN_REASON,
    INBOX_STATE,
    STREAM_STATE,
    STREAM_POLICY,
    STATUS,
    LOG_LEVEL,
    SEVERITY
};

#define NAMES_MAX 14 /* of an enumeration */

static const char *const NAMES[][NAMES_MAX] = {
    [BOX] = {[BOXCAR_OUTBOX] = "outbox", [BOXCAR_INBOX] = "inbox"},
    [MESSAGE_STATUS] = {[BOXCAR_READY] = "ready",
                        [BOXCAR_IN_PROGRESS] = "in_progress",
                        [BOXCAR_DONE] = "done",
                        [BOXCAR_FAILED] = "failed"},
    [REASON] = {[BOXCAR_REASON_NONE] = "none",
                [BOXCAR_REASON_REJECTED] = "rejected",
                [BOXCAR_REASON_EXHAUSTED] = "exhausted",
                [BOXCAR_REASON_EXPIRED] = "expired",
                [BOXCAR_REASON_NO_HANDLER] = "no_handler",
                [BOXCAR_REASON_CANCELLED] = "cancelled"},
    [JOIN_STATUS] = {[BOXCAR_JOIN_PENDING] = "pending",
                     [BOXCAR_JOIN_COMPLETED] = "completed",
                     [BOXCAR_JOIN_FAILED] = "failed",
                     [BOXCAR_JOIN_CANCELLED] = "cancelled"},
    [MEMBER_STATUS] = {[BOXCAR_MEMBER_PENDING] = "pending",
                       [BOXCAR_MEMBER_COMPLETED] = "completed",
                       [BOXCAR_MEMBER_FAILED] = "failed"},
    [JOIN_REASON] = {[BOXCAR_JOIN_REASON_NONE] = "none", [BOXCAR_JOIN_REASON_TIMED_OUT] = "timed_out"},
    [INBOX_STATE] = {[BOXCAR_INBOX_SEEN] = "seen",
                     [BOXCAR_INBOX_PROCESSING] = "processing",
                     [BOXCAR_INBOX_DONE] = "done",
                     [BOXCAR_INBOX_DEAD] = "dead"},
    [STREAM_STATE] = {[BOXCAR_STREAM_READY] = "ready",
                      [BOXCAR_STREAM_WAITING] = "waiting",
                      [BOXCAR_STREAM_IN_PROGRESS] = "in_progress",
                      [BOXCAR_STREAM_HALTED] = "halted"},
    [STREAM_POLICY] = {[BOXCAR_STREAM_CONTINUE] = "continue", [BOXCAR_STREAM_HALT] = "halt"},
    [STATUS] = {[BOXCAR_OK] = "ok",
                [BOXCAR_E_INVALID] = "invalid",
                [BOXCAR_E_NOT_FOUND] = "not_found",
                [BOXCAR_E_CONFLICT] = "conflict",
                [BOXCAR_E_UNAVAILABLE] = "unavailable",
                [BOXCAR_E_NOT_DEPLOYED] = "not_deployed",
                [BOXCAR_E_VERSION] = "version",
                [BOXCAR_E_READ_ONLY] = "read_only",
                [BOXCAR_E_FULL] = "full",
                [BOXCAR_E_DENIED] = "denied",
                [BOXCAR_E_TRANSACTION] = "transaction",
                [BOXCAR_E_NO_MEMORY] = "no_memory",
                [BOXCAR_E_UNSUPPORTED] = "unsupported",
                [BOXCAR_E_STORE] = "store"},
    [LOG_LEVEL] = {[BOXCAR_LOG_DEBUG] = "debug",
                   [BOXCAR_LOG_INFO] = "info",
                   [BOXCAR_LOG_WARN] = "warn",
                   [BOXCAR_LOG_ERROR] = "error"},
    [SEVERITY] = {[BOXCAR_SEVERITY_OK] = "ok",
                  [BOXCAR_SEVERITY_NOTE] = "note",
                  [BOXCAR_SEVERITY_WARNING] = "warning",
                  [BOXCAR_SEVERITY_PROBLEM] = "problem"},
};

static const char *name_of(enum enumeration of, int64_t number) {
    const char *name = number >= 0 && number < NAMES_MAX ? NAMES[of][number] : NULL;

    return name ? name : "?";
}

const char *boxcar_box_name(boxcar_box box) { return name_of(BOX, box); }

const char *boxcar_message_status_name(boxcar_message_status status) {
    return name_of(MESSAGE_STATUS, status);
}

const char *boxcar_reason_name(boxcar_reason reason) { return name_of(REASON, reason); }

const char *boxcar_join_status_name(boxcar_join_status status) { return name_of(JOIN_STATUS, status); }

const char *boxcar_member_status_name(boxcar_member_status status) { return name_of(MEMBER_STATUS, status); }

const char *boxcar_join_reason_name(boxcar_join_reason reason) { return name_of(JOIN_REASON, reason); }

const char *boxcar_inbox_state_name(boxcar_inbox_state state) { return name_of(INBOX_STATE, state); }

const char *boxcar_stream_state_name(boxcar_stream_state state) { return name_of(STREAM_STATE, state); }

const char *boxcar_stream_policy_name(boxcar_stream_policy policy) { return name_of(STREAM_POLICY, policy); }

const char *boxcar_status_name(boxcar_status status) { return name_of(STATUS, status); }

const char *boxcar_log_level_name(boxcar_log_level level) { return name_of(LOG_LEVEL, level); }

const char *boxcar_severity_name(boxcar_severity severity) { return name_of(SEVERITY, severity); }

_Static_assert(sizeof(boxcar_box) == sizeof(int), "every enumeration is as large as an int");

static bool parse(enum enumeration of, boxcar_str name, void *ret_number) {
    for (int i = 0; i < NAMES_MAX; i++) {
        if (!NAMES[of][i] || !str_equal(name, boxcar_str_of(NAMES[of][i])))
            continue;
        memcpy(ret_number, &i, sizeof(i));
        return true;
    }
    return false;
}

bool box_parse(boxcar_str name, boxcar_box *ret_box) { return parse(BOX, name, ret_box); }

bool boxcar_inbox_state_parse(boxcar_str name, boxcar_inbox_state *ret_state) {
    return parse(INBOX_STATE, name, ret_state);
}

bool message_status_parse(boxcar_str name, boxcar_message_status *ret_status) {
    return parse(MESSAGE_STATUS, name, ret_status);
}

bool join_status_parse(boxcar_str name, boxcar_join_status *ret_status) {
    return parse(JOIN_STATUS, name, ret_status);
}

bool stream_state_parse(boxcar_str name, boxcar_stream_state *ret_state) {
    return parse(STREAM_STATE, name, ret_state);
}

bool stream_policy_parse(boxcar_str name, boxcar_stream_policy *ret_policy) {
    return parse(STREAM_POLICY, name, ret_policy);
}

const char *reader_kind(boxcar_box reader) {
    return reader > BOXCAR_INBOX ? "subscription" : boxcar_box_name(reader);
}
