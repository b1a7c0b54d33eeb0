/* Every statement the store runs by name. The SQL stands beside the names in
 * sqlite_statement.c; each is prepared once a connection, when it is first needed. */
#ifndef BOXCAR_SQLITE_STATEMENT_H
#define BOXCAR_SQLITE_STATEMENT_H

enum statement {
    /* transactions */
    S_BEGIN_WRITE,
    S_BEGIN_READ,
    S_COMMIT,
    S_ROLLBACK,
    S_SAVEPOINT,
    S_RELEASE,
    S_ROLLBACK_TO,
    S_TAKE_TURN,
    S_SCHEMA_READ,
    /* enqueue */
    S_LAST_WORK_ID,
    S_MESSAGE_INSERT,
    S_MESSAGE_BY_MESSAGE_ID,
    /* claim */
    S_FRONTIER_READ,
    S_FRONTIER_WRITE,
    S_WINDOW,
    S_LEASE_INSERT,
    S_PARKED_MESSAGE,
    S_PARKED_LEASE,
    S_PARKED_AVAILABLE,
    S_PARKED_AVAILABLE_TOPIC,
    S_PARKED_TOPICS,
    /* settle and release */
    S_LEASE_READ,
    S_LEASE_DELETE,
    S_LEASE_RENEW,
    S_LEASE_EXPIRED,
    S_FINISHED_INSERT,
    S_MESSAGE_RULES,
    S_ATTEMPT_INSERT,
    S_DEAD_INSERT,
    /* the parking lot and streams */
    S_PARKED_WRITE,
    S_PARKED_READ,
    S_PARKED_DELETE,
    S_PARKED_STATE,
    S_PARKED_EXPIRED,
    S_STREAM_FIRST,
    /* inspection */
    S_FIND,
    S_FIND_WITH_PAYLOAD,
    S_STAGE_RECORD,
    S_STAGE_DELETE,
    S_PAGE_ALL,
    S_PAGE_READY,
    S_PAGE_IN_PROGRESS,
    S_PAGE_DONE,
    S_PAGE_FAILED,
    S_ATTEMPTS,
    /* counters */
    S_TALLY_ADD,
    S_TALLY_READ,
    S_TALLY_SWEEP,
    S_STATS_PARKED_READY,
    S_STATS_PARKED_LATER,
    S_STATS_TOPIC_READY,
    S_STATS_TOPIC_LATER,
    S_STATS_EXPIRED,
    S_STATS_OLDEST_PARKED,
    S_STATS_OLDEST_TOPIC,
    S_STATS_OLDEST_FRESH,
    /* what an operator should know */
    S_OVERDUE_LEASES,
    S_DIED_LATELY,
    S_NEWEST_MESSAGE,
    S_LIVE_HOSTS,
    S_LIVE_PATTERNS,
    /* dead letters and cancel */
    S_MESSAGE_PLACE,
    S_MESSAGE_SET_ASIDE,
    S_DEAD_PAGE,
    S_DEAD_READ,
    S_DEAD_DELETE,
    S_MESSAGE_DELETE,
    S_REMOVED_NOTE,
    S_ATTEMPT_DELETE,
    /* joins */
    S_JOIN_INSERT,
    S_JOIN_READ,
    S_JOIN_WRITE,
    S_JOIN_FIND,
    S_JOIN_PAGE,
    S_JOIN_PAGE_STATUS,
    S_JOIN_PAGE_GROUPING,
    S_JOIN_PAGE_GROUPING_STATUS,
    S_JOIN_OVERDUE,
    S_JOIN_OVER,
    S_JOIN_DELETE,
    /* members of joins */
    S_MEMBER_INSERT,
    S_MEMBER_READ,
    S_MEMBER_COUNT,
    S_MEMBER_UNMARK,
    S_MEMBER_KNOW,
    S_MEMBER_ANY_UNKNOWN,
    S_MEMBERS_UNKNOWN,
    S_MEMBERS_OF_RANGE,
    S_MEMBERS_PAGE,
    S_MEMBERS_TO_SETTLE,
    S_MEMBERS_TO_SETTLE_ALL,
    S_MEMBERS_TO_SETTLE_RANGE,
    S_MEMBERS_UNMARK_MESSAGE,
    S_MEMBERS_DELETE,
    S_MESSAGE_END,
    S_MESSAGE_IS_COUNTED,
    /* waits */
    S_WAIT_INSERT,
    S_WAITS_WAKE,
    S_WAITS_FORGET,
    S_WAITS_DELETE,
    S_MESSAGE_CREATED,
    /* workers */
    S_DATA_VERSION,
    S_INSTANCE_WRITE,
    S_INSTANCE_DELETE,
    S_INSTANCE_SWEEP,
    S_IS_DRAINED,
    /* upkeep */
    S_DEAD_OVERDUE,
    S_FINISHED_OVERDUE,
    S_FINISHED_DELETE,
    S_RANGE_TOPICS,
    S_LOG_BOUNDS,
    S_AUDIT,
    S_TALLY_CLEAR,
    S_TALLY_RECOUNT,
    /* settings */
    S_SETTINGS,
    S_SETTING_WRITE,
    S_SETTING_RESET,
    STATEMENT_COUNT
};

/* The columns every statement that reads a message begins with; payload comes last there. */
enum message_column {
    M_WORK_ID,
    M_MESSAGE_ID,
    M_BOX,
    M_LANE,
    M_TOPIC,
    M_STREAM,
    M_CORRELATION_ID,
    M_HEADERS,
    M_CREATED_AT,
    M_DUE_AT,
    M_EXPIRES_AT,
    M_MAX_ATTEMPTS,
    M_COLUMNS
};

extern const char *const STATEMENT_SQL[STATEMENT_COUNT];

#endif
