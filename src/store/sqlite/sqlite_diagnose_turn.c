/* Whether the file can be written just now: the doctor takes the write lock and gives it back. Who has it instead, Linux
 * tells: SQLite's locks are those of the system on bytes of the file, and /proc/locks lists them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sqlite_store.h"
#include "store/checkup.h"

#define CHECK "claim"
#define PATIENCE_MS 2000 /* as long as a worker waits */
#define WAL_WRITE_BYTE INT64_C(120)         /* of the -shm file */
#define RESERVED_BYTE INT64_C(0x40000001)   /* of the file itself, in the other journal modes */

struct holder {
    int pid; /* 0 = unknown */
    char command[32];
};

static bool holds(const char *line, ino_t inode, int64_t byte, int *ret_pid) {
    char kind[16], mode[8];
    uint64_t its_inode;
    int64_t from;
    int pid;

    if (sscanf(line, "%*d: %15s %*s %7s %d %*x:%*x:%" SCNu64 " %" SCNd64, kind, mode, &pid, &its_inode, &from) != 5)
        return false;
    if (strcmp(mode, "WRITE") != 0 || its_inode != (uint64_t)inode || from != byte || pid <= 0)
        return false;
    *ret_pid = pid;
    return true;
}

static int find_pid(const char *path, int64_t byte) {
    struct stat info;
    FILE *locks = stat(path, &info) == 0 ? fopen("/proc/locks", "re") : NULL;
    char line[256];
    int pid = 0;

    while (locks && pid == 0 && fgets(line, sizeof(line), locks))
        (void)holds(line, info.st_ino, byte, &pid);
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

static struct holder find_holder(const char *path) {
    char shm[4096];
    struct holder holder = {.command = "?"};

    if (snprintf(shm, sizeof(shm), "%s-shm", path) < (int)sizeof(shm))
        holder.pid = find_pid(shm, WAL_WRITE_BYTE);
    if (holder.pid == 0)
        holder.pid = find_pid(path, RESERVED_BYTE);
    if (holder.pid != 0)
        read_command(&holder);
    return holder;
}

static void report_holder(struct findings *findings, const char *path) {
    struct holder holder = find_holder(path);

    if (holder.pid == 0) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM,
                     "somebody holds the write lock of the file for more than %d s: nobody else can enqueue, claim or ack",
                     PATIENCE_MS / 1000);
        findings_remedy(findings, "find the program that has the file open (fuser -v %s) and end its transaction", path);
        return;
    }
    findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM,
                 "process %d (%s) holds the write lock of the file for more than %d s: nobody else can enqueue, claim or ack",
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
