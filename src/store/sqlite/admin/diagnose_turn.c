/* Whether the file can be written now: the doctor takes the write lock and gives it back. Linux tells which
 * process has the lock instead, and which process reads an old state of the file: SQLite locks bytes of the
 * file with system locks, and /proc/locks lists them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "admin.h"
#include "store/checkup.h"
#include "store/sqlite/connection/transaction.h"

#define CHECK "claim"
#define PATIENCE_MS 2000            /* as long as a worker waits */
#define READING_SECONDS 1           /* a shorter read holds nothing up */
#define WAL_WRITE_BYTE INT64_C(120) /* of the -shm file */
#define WAL_READ_FIRST INT64_C(123) /* one of these bytes: a process reads */
#define WAL_READ_LAST INT64_C(127)
#define RESERVED_BYTE INT64_C(0x40000001) /* of the file itself, in the other journal modes */

/* A lock on bytes `first` to `last` of a file, not held by the process `except`. */
struct wanted {
    const char *mode;
    int64_t first, last;
    int except;
};

/* The process that holds it by this line of /proc/locks; 0 = it is another lock. */
static int read_pid(const char *line, ino_t inode, const struct wanted *wanted) {
    char kind[16], mode[8];
    uint64_t its_inode;
    int64_t from;
    int pid;
    if (sscanf(line, "%*d: %15s %*s %7s %d %*x:%*x:%" SCNu64 " %" SCNd64, kind, mode, &pid, &its_inode,
               &from) != 5)
        return 0;
    bool holds = strcmp(mode, wanted->mode) == 0 && its_inode == (uint64_t)inode && from >= wanted->first &&
                 from <= wanted->last && pid > 0 && pid != wanted->except;
    return holds ? pid : 0;
}

static int find_pid(const char *path, const struct wanted *wanted) {
    struct stat info;
    FILE *locks = stat(path, &info) == 0 ? fopen("/proc/locks", "re") : NULL;
    char line[256];
    int pid = 0;
    while (locks && pid == 0 && fgets(line, sizeof(line), locks))
        pid = read_pid(line, info.st_ino, wanted);
    if (locks)
        fclose(locks);
    return pid;
}

static int find_pid_in_shm(const char *path, const struct wanted *wanted) {
    char shm[4096];
    return snprintf(shm, sizeof(shm), "%s-shm", path) < (int)sizeof(shm) ? find_pid(shm, wanted) : 0;
}

/* "process 7 (boxcar)". */
#define HOLDER_SIZE 64
static const char *name_holder(int pid, char name[HOLDER_SIZE]) {
    char path[64], command[32] = "?";
    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    FILE *file = pid != 0 ? fopen(path, "re") : NULL;
    if (file && fgets(command, sizeof(command), file))
        command[strcspn(command, "\n")] = '\0';
    if (file)
        fclose(file);
    snprintf(name, HOLDER_SIZE, pid != 0 ? "process %d (%s)" : "a process", pid, command);
    return name;
}
#define HOLDER(pid) name_holder((pid), (char[HOLDER_SIZE]){0})

static void add_remedy(struct findings *findings, const char *path, int pid) {
    if (pid != 0)
        findings_remedy(findings, "end its transaction, or the process: kill %d", pid);
    else
        findings_remedy(
            findings, "find the program that has the file open (fuser -v %s) and end its transaction", path);
}

static void report_writer(const char *path, struct findings *findings) {
    static const struct wanted WAL = {"WRITE", WAL_WRITE_BYTE, WAL_WRITE_BYTE, 0};
    static const struct wanted JOURNAL = {"WRITE", RESERVED_BYTE, RESERVED_BYTE, 0};
    int pid = find_pid_in_shm(path, &WAL);
    if (pid == 0)
        pid = find_pid(path, &JOURNAL);
    findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM,
                 "%s holds the write lock of the file for more than %d s: "
                 "no other can enqueue, claim or ack",
                 HOLDER(pid), PATIENCE_MS / 1000);
    add_remedy(findings, path, pid);
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
        report_writer(path ? path : "the file", findings);
}

/* ---- readers ---- */

/* Another process that reads, and still does after a moment. */
static int find_reader(const char *path) {
    const struct wanted wanted = {"READ", WAL_READ_FIRST, WAL_READ_LAST, (int)getpid()};
    int pid = find_pid_in_shm(path, &wanted);
    if (pid == 0)
        return 0;
    nanosleep(&(struct timespec){.tv_sec = READING_SECONDS}, NULL);
    return find_pid_in_shm(path, &wanted) == pid ? pid : 0;
}

void sqlite_report_reader(const char *path, int64_t wal_bytes, boxcar_severity severity,
                          struct findings *findings) {
    int pid = find_reader(path);
    findings_add(findings, "held_snapshot", severity,
                 "the WAL has grown to %s: %s keeps a read transaction open", CHECKUP_BYTES(wal_bytes),
                 HOLDER(pid));
    add_remedy(findings, path, pid);
}
