/* Whether the file can be written now: the doctor takes the write lock and gives it back. Linux tells which
 * process has the lock instead, and which process reads an old state of the file: SQLite locks bytes of the
 * file with system locks, and /proc/locks lists them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "diagnose.h"
#include "store/checkup.h"
#include "store/sqlite/connection/transaction.h"

#define CHECK "claim"
#define PATIENCE_MS 2000            /* as long as a worker waits */
#define READING_SECONDS 1           /* a shorter read holds nothing up */
#define WAL_WRITE_BYTE INT64_C(120) /* of the -shm file */
#define WAL_READ_FIRST INT64_C(123) /* one of these bytes: a process reads */
#define WAL_READ_LAST INT64_C(127)
#define RESERVED_BYTE INT64_C(0x40000001) /* of the file itself, in the other journal modes */

struct holder {
    int pid; /* 0 = unknown */
    char command[32];
};

/* A lock on bytes `first` to `last` of a file, not held by the process `except`. */
struct wanted {
    const char *mode;
    int64_t first, last;
    int except;
};

static bool holds(const char *line, ino_t inode, const struct wanted *wanted, int *ret_pid) {
    char kind[16], mode[8];
    uint64_t its_inode;
    int64_t from;
    int pid;

    if (sscanf(line, "%*d: %15s %*s %7s %d %*x:%*x:%" SCNu64 " %" SCNd64, kind, mode, &pid, &its_inode,
               &from) != 5)
        return false;
    if (strcmp(mode, wanted->mode) != 0 || its_inode != (uint64_t)inode || from < wanted->first ||
        from > wanted->last || pid <= 0 || pid == wanted->except)
        return false;
    *ret_pid = pid;
    return true;
}

static int find_pid(const char *path, const struct wanted *wanted) {
    struct stat info;
    FILE *locks = stat(path, &info) == 0 ? fopen("/proc/locks", "re") : NULL;
    char line[256];
    int pid = 0;

    while (locks && pid == 0 && fgets(line, sizeof(line), locks))
        (void)holds(line, info.st_ino, wanted, &pid);
    if (locks)
        fclose(locks);
    return pid;
}

static void read_command(struct holder *holder) {
    char name[64];
    FILE *file;

    snprintf(name, sizeof(name), "/proc/%d/comm", holder->pid);
    file = fopen(name, "re");
    if (file && fgets(holder->command, sizeof(holder->command), file))
        holder->command[strcspn(holder->command, "\n")] = '\0';
    if (file)
        fclose(file);
}

static int find_pid_in_shm(const char *path, const struct wanted *wanted) {
    char shm[4096];

    return snprintf(shm, sizeof(shm), "%s-shm", path) < (int)sizeof(shm) ? find_pid(shm, wanted) : 0;
}

static struct holder find_holder(const char *path) {
    static const struct wanted WAL = {"WRITE", WAL_WRITE_BYTE, WAL_WRITE_BYTE, 0};
    static const struct wanted JOURNAL = {"WRITE", RESERVED_BYTE, RESERVED_BYTE, 0};
    struct holder holder = {.command = "?", .pid = find_pid_in_shm(path, &WAL)};

    if (holder.pid == 0)
        holder.pid = find_pid(path, &JOURNAL);
    if (holder.pid != 0)
        read_command(&holder);
    return holder;
}

static void report_holder(struct findings *findings, const char *path) {
    struct holder holder = find_holder(path);

    if (holder.pid == 0) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM,
                     "a process holds the write lock of the file for more than %d s: "
                     "no other can enqueue, claim or ack",
                     PATIENCE_MS / 1000);
        findings_remedy(
            findings, "find the program that has the file open (fuser -v %s) and end its transaction", path);
        return;
    }
    findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM,
                 "process %d (%s) holds the write lock of the file for more than %d s: "
                 "no other can enqueue, claim or ack",
                 holder.pid, holder.command, PATIENCE_MS / 1000);
    findings_remedy(findings, "end its transaction, or the process: kill %d", holder.pid);
}

/* In a program's own transaction it is that one's business. */
void sqlite_check_turn(struct sqlite_store *store, const char *path, struct findings *findings) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    bool had_turn = false;

    if (store->begun || !sqlite3_get_autocommit(store->db)) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "not tried inside of a transaction");
        return;
    }
    if (sqlite_try_turn(store, PATIENCE_MS, &had_turn, &why) != BOXCAR_OK) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM, "the file cannot be written: %s", why.message);
        return;
    }
    if (had_turn)
        findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "the file can be written");
    else
        report_holder(findings, path ? path : "the file");
}

/* ---- readers ---- */

/* Another process that reads, and still does after a moment. */
static struct holder find_reader(const char *path) {
    const struct wanted wanted = {"READ", WAL_READ_FIRST, WAL_READ_LAST, (int)getpid()};
    struct holder holder = {.command = "?", .pid = find_pid_in_shm(path, &wanted)};

    if (holder.pid != 0) {
        nanosleep(&(struct timespec){.tv_sec = READING_SECONDS}, NULL);
        holder.pid = find_pid_in_shm(path, &wanted) == holder.pid ? holder.pid : 0;
    }
    if (holder.pid != 0)
        read_command(&holder);
    return holder;
}

void sqlite_report_reader(const char *path, int64_t wal_bytes, boxcar_severity severity,
                          struct findings *findings) {
    struct holder holder = find_reader(path);

    if (holder.pid == 0) {
        findings_add(findings, "held_snapshot", severity,
                     "the WAL has grown to %s: a process keeps a read transaction open",
                     CHECKUP_BYTES(wal_bytes));
        findings_remedy(
            findings, "find the program that has the file open (fuser -v %s) and end its transaction", path);
        return;
    }
    findings_add(findings, "held_snapshot", severity,
                 "the WAL has grown to %s: process %d (%s) keeps a read transaction open",
                 CHECKUP_BYTES(wal_bytes), holder.pid, holder.command);
    findings_remedy(findings, "end its transaction, or the process: kill %d", holder.pid);
}
