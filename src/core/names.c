/* The names of every enumeration: one table each, used in both directions. */
#include "names.h"

#include "base/utf8.h"
#include "boxcar/doctor.h"
#include "boxcar/error.h"
#include "boxcar/inbox.h"
#include "boxcar/log.h"

static const char *const BOX_NAMES[] = {
    [BOXCAR_OUTBOX] = "outbox",
    [BOXCAR_INBOX] = "inbox",
};

static const char *const MESSAGE_STATUS_NAMES[] = {
    [BOXCAR_READY] = "ready",
    [BOXCAR_IN_PROGRESS] = "in_progress",
    [BOXCAR_DONE] = "done",
    [BOXCAR_FAILED] = "failed",
};

static const char *const REASON_NAMES[] = {
    [BOXCAR_REASON_NONE] = "none",
    [BOXCAR_REASON_REJECTED] = "rejected",
    [BOXCAR_REASON_EXHAUSTED] = "exhausted",
    [BOXCAR_REASON_EXPIRED] = "expired",
    [BOXCAR_REASON_NO_HANDLER] = "no_handler",
    [BOXCAR_REASON_CANCELLED] = "cancelled",
};

static const char *const JOIN_STATUS_NAMES[] = {
    [BOXCAR_JOIN_PENDING] = "pending",
    [BOXCAR_JOIN_COMPLETED] = "completed",
    [BOXCAR_JOIN_FAILED] = "failed",
    [BOXCAR_JOIN_CANCELLED] = "cancelled",
};

static const char *const MEMBER_STATUS_NAMES[] = {
    [BOXCAR_MEMBER_PENDING] = "pending",
    [BOXCAR_MEMBER_COMPLETED] = "completed",
    [BOXCAR_MEMBER_FAILED] = "failed",
};

static const char *const JOIN_REASON_NAMES[] = {
    [BOXCAR_JOIN_REASON_NONE] = "none",
    [BOXCAR_JOIN_REASON_TIMED_OUT] = "timed_out",
};

static const char *const INBOX_STATE_NAMES[] = {
    [BOXCAR_INBOX_SEEN] = "seen",
    [BOXCAR_INBOX_PROCESSING] = "processing",
    [BOXCAR_INBOX_DONE] = "done",
    [BOXCAR_INBOX_DEAD] = "dead",
};

static const char *const STREAM_STATE_NAMES[] = {
    [BOXCAR_STREAM_READY] = "ready",
    [BOXCAR_STREAM_WAITING] = "waiting",
    [BOXCAR_STREAM_IN_PROGRESS] = "in_progress",
    [BOXCAR_STREAM_HALTED] = "halted",
};

static const char *const STREAM_POLICY_NAMES[] = {
    [BOXCAR_STREAM_CONTINUE] = "continue",
    [BOXCAR_STREAM_HALT] = "halt",
};

static const char *const STATUS_NAMES[] = {
    [BOXCAR_OK] = "ok",
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
    [BOXCAR_E_STORE] = "store",
};

static const char *const LOG_LEVEL_NAMES[] = {
    [BOXCAR_LOG_DEBUG] = "debug",
    [BOXCAR_LOG_INFO] = "info",
    [BOXCAR_LOG_WARN] = "warn",
    [BOXCAR_LOG_ERROR] = "error",
};

static const char *const SEVERITY_NAMES[] = {
    [BOXCAR_SEVERITY_OK] = "ok",
    [BOXCAR_SEVERITY_NOTE] = "note",
    [BOXCAR_SEVERITY_WARNING] = "warning",
    [BOXCAR_SEVERITY_PROBLEM] = "problem",
};

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

static const char *name_at(const char *const *names, size_t count, int64_t number) {
    return number >= 0 && (uint64_t)number < count ? names[number] : "?";
}

static int number_of(const char *const *names, size_t count, boxcar_str name) {
    for (size_t i = 0; i < count; i++) {
        if (str_equal(name, boxcar_str_of(names[i])))
            return (int)i;
    }
    return -1;
}

const char *boxcar_box_name(boxcar_box box) { return name_at(BOX_NAMES, COUNT_OF(BOX_NAMES), box); }

const char *boxcar_message_status_name(boxcar_message_status status) {
    return name_at(MESSAGE_STATUS_NAMES, COUNT_OF(MESSAGE_STATUS_NAMES), status);
}

const char *boxcar_reason_name(boxcar_reason reason) {
    return name_at(REASON_NAMES, COUNT_OF(REASON_NAMES), reason);
}

const char *boxcar_join_status_name(boxcar_join_status status) {
    return name_at(JOIN_STATUS_NAMES, COUNT_OF(JOIN_STATUS_NAMES), status);
}

const char *boxcar_member_status_name(boxcar_member_status status) {
    return name_at(MEMBER_STATUS_NAMES, COUNT_OF(MEMBER_STATUS_NAMES), status);
}

const char *boxcar_join_reason_name(boxcar_join_reason reason) {
    return name_at(JOIN_REASON_NAMES, COUNT_OF(JOIN_REASON_NAMES), reason);
}

const char *boxcar_inbox_state_name(boxcar_inbox_state state) {
    return name_at(INBOX_STATE_NAMES, COUNT_OF(INBOX_STATE_NAMES), state);
}

const char *boxcar_stream_state_name(boxcar_stream_state state) {
    return name_at(STREAM_STATE_NAMES, COUNT_OF(STREAM_STATE_NAMES), state);
}

const char *boxcar_stream_policy_name(boxcar_stream_policy policy) {
    return name_at(STREAM_POLICY_NAMES, COUNT_OF(STREAM_POLICY_NAMES), policy);
}

const char *boxcar_status_name(boxcar_status status) {
    return name_at(STATUS_NAMES, COUNT_OF(STATUS_NAMES), status);
}

const char *boxcar_log_level_name(boxcar_log_level level) {
    return name_at(LOG_LEVEL_NAMES, COUNT_OF(LOG_LEVEL_NAMES), level);
}

const char *boxcar_severity_name(boxcar_severity severity) {
    return name_at(SEVERITY_NAMES, COUNT_OF(SEVERITY_NAMES), severity);
}

bool box_parse(boxcar_str name, boxcar_box *ret_box) {
    int number = number_of(BOX_NAMES, COUNT_OF(BOX_NAMES), name);

    if (number < 0)
        return false;
    *ret_box = (boxcar_box)number;
    return true;
}

bool boxcar_inbox_state_parse(boxcar_str name, boxcar_inbox_state *ret_state) {
    int number = number_of(INBOX_STATE_NAMES, COUNT_OF(INBOX_STATE_NAMES), name);

    if (number < 0)
        return false;
    *ret_state = (boxcar_inbox_state)number;
    return true;
}

bool message_status_parse(boxcar_str name, boxcar_message_status *ret_status) {
    int number = number_of(MESSAGE_STATUS_NAMES, COUNT_OF(MESSAGE_STATUS_NAMES), name);

    if (number < 0)
        return false;
    *ret_status = (boxcar_message_status)number;
    return true;
}

bool join_status_parse(boxcar_str name, boxcar_join_status *ret_status) {
    int number = number_of(JOIN_STATUS_NAMES, COUNT_OF(JOIN_STATUS_NAMES), name);

    if (number < 0)
        return false;
    *ret_status = (boxcar_join_status)number;
    return true;
}

bool stream_state_parse(boxcar_str name, boxcar_stream_state *ret_state) {
    int number = number_of(STREAM_STATE_NAMES, COUNT_OF(STREAM_STATE_NAMES), name);

    if (number < 0)
        return false;
    *ret_state = (boxcar_stream_state)number;
    return true;
}

bool stream_policy_parse(boxcar_str name, boxcar_stream_policy *ret_policy) {
    int number = number_of(STREAM_POLICY_NAMES, COUNT_OF(STREAM_POLICY_NAMES), name);

    if (number < 0)
        return false;
    *ret_policy = (boxcar_stream_policy)number;
    return true;
}
