/* Statements for subscriptions. Most are those of the main readers with other tables: boxcar_lease becomes
 * boxcar_reader_lease, and so on. Here are those that differ: a subscription meets messages in the order of
 * the log, whatever their lane, and only those with its topics. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "sql.h"
#include "statement.h"

/* The box of the messages that it reads, and how far it has come. */
#define LOG_BOX "(select box from boxcar_reader where number = ?30)"
#define POSITION "(select position from boxcar_frontier where box = ?30)"
/* It knows message m, or has still to meet it. */
#define CONCERNS                                                                                             \
    "(p.work_id is not null or l.work_id is not null or d.work_id is not null or f.first_id is not null "    \
    "or exists (select 1 from boxcar_unread u where u.reader = ?30 and u.work_id = m.work_id))"
/* An unread message m that its stream keeps back. */
#define READER_BEHIND                                                                                        \
    "(m.stream is not null and (exists (select 1 from boxcar_parked p indexed by boxcar_parked_stream "      \
    "where p.box = ?30 and p.stream = m.stream) "                                                            \
    "or exists (select 1 from boxcar_stream_halt h where h.box = ?30 and h.stream = m.stream) "              \
    "or exists (select 1 from boxcar_message e indexed by boxcar_message_stream where e.box = m.box "        \
    "and e.stream = m.stream and e.lane = 2 and e.work_id < m.work_id and e.work_id > " POSITION " "         \
    "and exists (select 1 from boxcar_unread u where u.reader = ?30 and u.work_id = e.work_id))))"
#define IN_RANGE "topic >= ?2 and topic < ?3 and work_id < ?4 "
#define UNREAD "select m.work_id from boxcar_unread m where m.reader = ?30 and m." IN_RANGE
#define PAGE_LIMIT "order by work_id desc limit ?5"
/* The messages of a stream that it has not met. */
#define STREAM_UNREAD                                                                                        \
    "from boxcar_message m indexed by boxcar_message_stream where m.box = " LOG_BOX                          \
    " and m.stream = ?2 and m.lane = 2 and m.work_id > " POSITION                                            \
    " and exists (select 1 from boxcar_unread u where u.reader = ?30 and u.work_id = m.work_id)"
#define READER_STREAM_NEXT(from)                                                                             \
    "with recursive logged(stream) as ("                                                                     \
    "select min(stream) from boxcar_message indexed by boxcar_message_stream "                               \
    "where box = " LOG_BOX " and lane = 2 and stream " from " and stream < x'' union all "                   \
    "select (select min(m.stream) from boxcar_message m indexed by boxcar_message_stream "                   \
    "where m.box = " LOG_BOX " and m.lane = 2 and m.stream > s.stream and m.stream < x'') from logged s "    \
    "where s.stream is not null and not exists (select 1 from boxcar_message f "                             \
    "indexed by boxcar_message_stream where f.box = " LOG_BOX " and f.lane = 2 and f.stream = s.stream "     \
    "and f.work_id > " POSITION                                                                              \
    " and exists (select 1 from boxcar_unread u where u.reader = ?30 and u.work_id = f.work_id))) "          \
    "select min(stream) from ("                                                                              \
    "select min(stream) as stream from boxcar_parked "                                                       \
    "where box = ?1 and stream " from " and stream < x'' union all "                                         \
    "select min(stream) from boxcar_stream_halt "                                                            \
    "where box = ?1 and stream " from " and stream < x'' union all "                                         \
    "select case when count(*) = count(stream) then max(stream) end from logged)"

const char *const READER_SQL[STATEMENT_COUNT] = {
    [S_FINISHED_INSERT] = "insert into boxcar_reader_finished (box, first_id, last_id, owner, at) "
                          "values (?30, ?1, ?2, ?3, ?4)",
    [S_ATTEMPT_INSERT] =
        "insert into boxcar_reader_attempt (box, work_id, at, retry_count, outcome, owner, epoch, error) "
        "values (?30, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [S_DEAD_INSERT] = "insert into boxcar_reader_dead (work_id, box, topic, reason, died_at, retry_count, "
                      "crash_count, last_error) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [S_PARKED_WRITE] = PARKED_WRITE("box, work_id"),
    [S_STREAM_FRESH_FIRST] = "select min(m.work_id) " STREAM_UNREAD,
    [S_STREAM_PENDING] =
        "select count(*) from ("
        "select 1 from boxcar_parked indexed by boxcar_parked_stream where box = ?1 and stream = ?2 "
        "union all select 1 " STREAM_UNREAD " limit ?3)",
    [S_STREAM_NEXT] = READER_STREAM_NEXT("> ?2"),
    [S_STREAM_NEXT_FROM] = READER_STREAM_NEXT(">= ?2"),

    [S_FIND] = FIND("", CONCERNS),
    [S_FIND_WITH_PAYLOAD] = FIND(", m.payload", CONCERNS),
    [S_PAGE_ALL] =
        "select work_id from (select m.work_id, m.topic from boxcar_unread m where m.reader = ?30 "
        "union all select work_id, topic from boxcar_parked where box = ?1 and state < 3 "
        "union all select work_id, topic from boxcar_lease where box = ?1 "
        "union all select work_id, topic from boxcar_dead where box = ?1 "
        "union all select m.work_id, m.topic from boxcar_finished f "
        "cross join boxcar_message m on m.work_id between f.first_id and f.last_id where f.box = ?1) "
        "where " IN_RANGE PAGE_LIMIT,
    [S_PAGE_READY] = PAGE_PARKED "and +state < 3 union all " UNREAD PAGE_LIMIT,
    [S_PAGE_CLAIMABLE] = PAGE_PARKED "and +state < 2 and +available_at <= ?6 union all " UNREAD
                                     "and coalesce(m.due_at, 0) <= ?6 and not " READER_BEHIND PAGE_LIMIT,
    [S_PAGE_WAITING] = PAGE_PARKED "and (+state = 2 or +state < 2 and +available_at > ?6) union all " UNREAD
                                   "and (coalesce(m.due_at, 0) > ?6 or " READER_BEHIND ") " PAGE_LIMIT,
    [S_PAGE_DONE] = "select m.work_id from boxcar_finished f "
                    "cross join boxcar_message m on m.work_id between f.first_id and f.last_id "
                    "where f.box = ?1 and f.first_id < ?4 and m.work_id < ?4 "
                    "and m.topic >= ?2 and m.topic < ?3 order by f.first_id desc, m.work_id desc limit ?5",
    [S_PAGE_FAILED] = "select work_id from boxcar_dead where box = ?1 and " IN_RANGE PAGE_LIMIT,

    [S_STATS_OLDEST_FRESH] = "select ?1, 0, topic, created_at from boxcar_unread where reader = ?1 limit ?2",
    [S_STATS_BEHIND] = "select m.topic, coalesce(m.due_at > cast((julianday('now') - 2440587.5) * "
                       "86400000000 as integer), 0) "
                       "or " READER_BEHIND " from boxcar_unread m where m.reader = ?1 limit ?2",
    [S_MESSAGE_PLACE] =
        "select m.topic, p.state, l.work_id is not null, d.work_id is not null, "
        "p.work_id is null and l.work_id is null and d.work_id is null and f.first_id is null "
        "from boxcar_message m left join boxcar_parked p on @p.work_id = m.work_id "
        "left join boxcar_lease l on @l.work_id = m.work_id "
        "left join boxcar_dead d on @d.work_id = m.work_id "
        "left join boxcar_finished f on " RUN_HOLDS("m.work_id") " where m.work_id = ?1 and " CONCERNS,
    [S_DEAD_PAGE] = "select work_id from boxcar_dead where box = ?1 and +topic >= ?2 and +topic < ?3 "
                    "and (?4 = 0 or reason = ?4) and (?5 is null or died_at < ?5) and work_id < ?7 "
                    "order by work_id desc limit ?6",
    [S_IS_DRAINED] =
        DRAINED("select 1 from boxcar_unread m where m.reader = ?1 and m.topic >= ?2 and m.topic < ?3 "
                "and coalesce(m.due_at, 0) <= ?4 and (m.stream is null or " IS_STREAM_LIVE ")"),
    [S_RANGE_TOPICS] =
        "select ?30, topic, count(*) from boxcar_message where work_id between ?1 and ?2 group by topic",
    /* Leased by its place, but by nobody. What it has passed over left no trace that could be compared. */
    [S_AUDIT] = "select m.work_id, p.box, m.topic, m.stream, m.created_at, m.due_at, m.expires_at "
                "from boxcar_parked p join boxcar_message m on m.work_id = p.work_id "
                "where @p.work_id between ?1 and ?2 and p.state = 3 "
                "and not exists (select 1 from boxcar_lease l where l.box = p.box and l.work_id = p.work_id) "
                "order by p.work_id",
    [S_TALLY_CLEAR] = "delete from boxcar_tally where box = ?30",
    [S_TALLY_RECOUNT] = "insert into boxcar_tally (box, topic, parked, behind, leased, done, dead) "
                        "select ?30, topic, sum(place = 1), sum(place = 2), sum(place = 3), sum(place = 4), "
                        "sum(place = 5) from ("
                        "select topic, case state when 2 then 2 else 1 end as place from boxcar_parked where "
                        "box = ?30 and state < 3 "
                        "union all select topic, 3 from boxcar_lease where box = ?30 "
                        "union all select m.topic, 4 from boxcar_finished f cross join boxcar_message m "
                        "on m.work_id between f.first_id and f.last_id where f.box = ?30 "
                        "union all select topic, 5 from boxcar_dead where box = ?30) group by topic",
};

/* ---- the same text for other tables ---- */

static const char *const TABLES[] = {"boxcar_lease", "boxcar_parked", "boxcar_finished", "boxcar_dead",
                                     "boxcar_attempt"};
#define PREFIX_LEN (sizeof("boxcar_") - 1)

static bool begins_with_table(const char *sql) {
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++) {
        if (strncmp(sql, TABLES[i], strlen(TABLES[i])) == 0)
            return true;
    }
    return false;
}

/* "p." of "p.work_id"; nothing of "work_id". */
static size_t qualifier_len(const char *sql) {
    size_t len = 0;
    while (isalnum((unsigned char)sql[len]) || sql[len] == '_')
        len++;
    return sql[len] == '.' ? len + 1 : 0;
}

char *statement_text(enum statement statement, bool of_subscription) {
    bool own = of_subscription && READER_SQL[statement] != NULL;
    struct buf text = BUF_INIT;
    for (const char *sql = own ? READER_SQL[statement] : STATEMENT_SQL[statement]; *sql != '\0'; sql++) {
        if (*sql == '@') {
            if (of_subscription)
                buf_append_format(&text, "%.*sbox = ?%d and ", (int)qualifier_len(sql + 1), sql + 1,
                                  READER_PARAMETER);
        } else if (of_subscription && begins_with_table(sql)) {
            buf_append_text(&text, "boxcar_reader_");
            sql += PREFIX_LEN - 1;
        } else {
            buf_append_char(&text, *sql);
        }
    }
    if (text.failed) {
        buf_release(&text);
        return NULL;
    }
    return text.data;
}
