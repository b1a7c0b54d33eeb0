/* Sleeping until another connection has committed.
 *
 * The file's version tells whether another connection has committed. inotify reports writes to the WAL, and
 * so tells when to look at the version. A commit first writes, and changes the version later, when the data
 * is on the disk. So after a report the version is read a few times at growing intervals; then only the next
 * report matters. These looks also skip the reports of our own commits. The version is compared with that of
 * the last claim, so no commit is missed between a claim that found nothing and the sleep.
 *
 * The WAL is neither made anew nor removed while a connection has the file open. If it cannot be watched, the
 * version is read every few milliseconds. */
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "connection.h"

#define LOOK_FIRST_MS 1
/* Doubling on the way, while a busy disk has the commit; then a report is taken for dealt with. */
#define LOOK_LAST_MS 512
#define BLIND_MS 20 /* between looks when there are no reports */

void sqlite_sleep_end(struct sqlite_store *store) {
    if (store->wal_watch >= 0)
        close(store->wal_watch);
    store->wal_watch = -1;
}

static void start_watching(struct sqlite_store *store) {
    const char *name = sqlite3_db_filename(store->db, "main");
    if (store->wal_watch >= 0 || name == NULL || name[0] == '\0')
        return;
    store->wal_watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (store->wal_watch >= 0 &&
        inotify_add_watch(store->wal_watch, sqlite3_filename_wal(name), IN_MODIFY) < 0)
        sqlite_sleep_end(store);
}

/* Takes the reports that are there; equal ones in a row come as one. */
static bool take_reports(struct sqlite_store *store) {
    struct inotify_event reports[64]; /* without names: what is watched is a file */
    bool any = false;
    ssize_t size;
    while (store->wal_watch >= 0 && (size = read(store->wal_watch, reports, sizeof(reports))) > 0) {
        any = true;
        if (reports[(size_t)size / sizeof(*reports) - 1].mask & IN_IGNORED) /* always the last one */
            sqlite_sleep_end(store); /* the file is gone: the next sleep looks for another one */
    }
    return any;
}

boxcar_status sqlite_sleep_note(struct sqlite_store *store, boxcar_error *err) {
    return query_find_int(store, S_DATA_VERSION, &store->seen_version, err);
}

/* A file that cannot be read now, because it is busy, is looked at again later. */
static bool others_committed(struct sqlite_store *store) {
    int64_t seen = store->seen_version;
    return sqlite_sleep_note(store, NULL) == BOXCAR_OK && seen != 0 && seen != store->seen_version;
}

/* How long until the next look without a report; -1 = no need to. */
static int64_t next_look_ms(const struct sqlite_store *store, int64_t last_ms) {
    int64_t next = last_ms * 2;
    if (store->wal_watch >= 0)
        return last_ms < 0 || next > LOOK_LAST_MS ? -1 : next;
    return last_ms < 0 || next > BLIND_MS ? BLIND_MS : next;
}

/* true = woken by the caller's descriptor. Until the next look, reports of inotify are not read: a busy
 * writer causes many of them. */
static bool wait(const struct sqlite_store *store, int wake_fd, int64_t look_ms, int64_t left_ms) {
    bool looking = look_ms >= 0 && look_ms < left_ms;
    struct pollfd fds[] = {{.fd = wake_fd, .events = POLLIN},
                           {.fd = look_ms >= 0 ? -1 : store->wal_watch, .events = POLLIN}};
    return poll(fds, 2, (int)(looking ? look_ms : left_ms)) > 0 && fds[0].revents != 0;
}

void sqlite_sleep(struct boxcar_store *base, const struct nap *nap) {
    struct sqlite_store *store = sqlite_of(base);
    int64_t end_us = clock_us() + nap->longest_ms * 1000;
    int64_t look_ms = -1, left_ms = nap->longest_ms;
    sqlite_busy_start(&store->busy, 0); /* a look never waits */
    start_watching(store);
    while (left_ms > 0) {
        look_ms = take_reports(store) ? LOOK_FIRST_MS : next_look_ms(store, look_ms);
        if (others_committed(store) || wait(store, nap->wake_fd, look_ms, left_ms))
            return;
        left_ms = (end_us - clock_us() + 999) / 1000;
    }
}
