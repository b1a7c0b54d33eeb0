#include "family.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"

/* Members that go on to fork faster than they are stopped: this often, then they are killed as they are. */
#define ROUNDS_MAX 50

/* What /proc/PID/stat says of a process. */
struct process {
    pid_t pid, parent, group, session;
    unsigned long long started; /* in clock ticks since the machine's start */
    bool is_member;
};

struct process_list {
    struct process *all;
    size_t count, capacity;
};

/* ---- the number ----
 *
 * RLIMIT_RTTIME says how many microseconds a real-time process may compute without a pause. From 2^62 on that
 * is as good as no limit, so the lower bits can tell a family; children inherit limits whatever else they
 * shed, and limits can be read without any right to look into a process. */
#define LIMIT_FIRST (UINT64_C(1) << 62)

static rlim_t number_of(const char *mark) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *mark; mark++)
        hash = (hash ^ (unsigned char)*mark) * UINT64_C(1099511628211);
    return (rlim_t)(LIMIT_FIRST | hash >> 2);
}

static bool has_number(pid_t pid, rlim_t number) {
    struct rlimit limit;
    return prlimit(pid, RLIMIT_RTTIME, NULL, &limit) == 0 && limit.rlim_cur == number;
}

/* Where a limit is set already it is kept: there is no number then. */
static rlim_t give_number(pid_t pid, const char *mark) {
    struct rlimit limit;
    if (!mark || prlimit(pid, RLIMIT_RTTIME, NULL, &limit) < 0 || limit.rlim_cur != RLIM_INFINITY)
        return 0;
    limit.rlim_cur = number_of(mark);
    return prlimit(pid, RLIMIT_RTTIME, &limit, NULL) == 0 ? limit.rlim_cur : 0;
}

void exec_family_init(struct exec_family *family, pid_t pid, const char *mark) {
    *family = (struct exec_family){.pid = pid, .mark = mark, .limit = give_number(pid, mark)};
}

void exec_family_release(struct exec_family *family) {
    free(family->members);
    family->members = NULL;
    family->count = family->capacity = 0;
}

/* Room for one more in an array; false = out of memory. */
static bool make_room(void *array_pointer, size_t count, size_t *capacity, size_t size) {
    size_t more = *capacity ? *capacity * 2 : 64;
    if (count < *capacity)
        return true;
    if (!memory_resize(array_pointer, more, size))
        return false;
    *capacity = more;
    return true;
}

/* ---- /proc ---- */

static int open_proc(pid_t pid, const char *name) {
    char path[48];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The name in parentheses may contain anything, parentheses too. False = the process has ended. */
static bool read_process(pid_t pid, struct process *ret_process) {
    int fd = open_proc(pid, "stat");
    if (fd < 0)
        return false;
    char text[1024];
    ssize_t len = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (len <= 0)
        return false;
    text[len] = '\0';
    const char *after_name = strrchr(text, ')');
    struct process process = {.pid = pid};
    char state;
    if (!after_name ||
        sscanf(after_name + 1,
               " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
               &process.parent, &process.group, &process.session, &process.started) != 5)
        return false;
    *ret_process = process;
    return state != 'X';
}

/* Processes that began before the program cannot come from it. */
static void read_processes(struct process_list *list, unsigned long long since) {
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !read_process((pid_t)atol(entry->d_name), &process) || process.started < since)
            continue;
        if (!make_room(&list->all, list->count, &list->capacity, sizeof(*list->all)))
            break;
        list->all[list->count++] = process;
    }
    if (folder)
        closedir(folder);
}

/* The whole environment that a process began with; false when it is not ours to read. */
static bool read_environment(pid_t pid, struct buf *environment) {
    int fd = open_proc(pid, "environ");
    if (fd < 0)
        return false;
    buf_append_char(environment, '\0'); /* so that each variable has a NUL before it */
    char piece[4096];
    ssize_t len;
    while ((len = read(fd, piece, sizeof(piece))) > 0)
        buf_append(environment, piece, (size_t)len);
    close(fd);
    return len == 0 && !environment->failed;
}

static bool has_mark(pid_t pid, const char *mark) {
    AUTO_BUF struct buf environment = BUF_INIT;
    AUTO_BUF struct buf variable = BUF_INIT;
    buf_append_char(&variable, '\0');
    buf_append(&variable, mark, strlen(mark) + 1);
    return !variable.failed && read_environment(pid, &environment) &&
           memmem(environment.data, environment.len, variable.data, variable.len) != NULL;
}

/* ---- the members of the family ---- */

static struct exec_relative *find_member(const struct exec_family *family, const struct process *process) {
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].pid == process->pid && family->members[i].started == process->started)
            return &family->members[i];
    return NULL;
}

/* Not of one that has ended: its id may be another's by now. */
static bool is_member_id(const struct exec_family *family, pid_t pid) {
    for (size_t i = 0; i < family->count; i++)
        if (family->members[i].is_alive && family->members[i].pid == pid)
            return true;
    return false;
}

/* Marks the known members that are still alive. */
static void recognize(struct exec_family *family, struct process_list *list) {
    for (size_t i = 0; i < family->count; i++)
        family->members[i].is_alive = false;
    for (size_t i = 0; i < list->count; i++) {
        struct exec_relative *member = find_member(family, &list->all[i]);
        if (member)
            member->is_alive = true;
        list->all[i].is_member = member || list->all[i].pid == getpid();
    }
}

/* The ids of groups and sessions are those of the processes that began them. */
static bool is_related(const struct exec_family *family, const struct process *process) {
    return process->pid == family->pid || process->group == family->pid ||
           is_member_id(family, process->parent) || is_member_id(family, process->group) ||
           is_member_id(family, process->session);
}

static bool is_marked(const struct exec_family *family, const struct process *process) {
    return (family->limit != 0 && has_number(process->pid, family->limit)) ||
           has_mark(process->pid, family->mark);
}

/* Makes members of those that it holds for. Returns whether there are any. */
static bool add_members(struct exec_family *family, struct process_list *list,
                        bool (*belongs)(const struct exec_family *family, const struct process *process)) {
    size_t before = family->count;
    for (size_t i = 0; i < list->count; i++) {
        struct process *process = &list->all[i];
        if (process->is_member || !belongs(family, process) ||
            !make_room(&family->members, family->count, &family->capacity, sizeof(*family->members)))
            continue;
        family->members[family->count++] =
            (struct exec_relative){.pid = process->pid, .started = process->started, .is_alive = true};
        process->is_member = true;
    }
    return family->count > before;
}

/* Children of members, their children, and so on. */
static void add_related(struct exec_family *family, struct process_list *list) {
    while (add_members(family, list, is_related))
        continue;
}

/* Returns whether there are members that were not known. */
static bool look(struct exec_family *family) {
    struct process program;
    if (family->started == 0 && read_process(family->pid, &program))
        family->started = program.started;
    if (family->started == 0)
        return false;
    struct process_list list = {0};
    size_t before = family->count;
    read_processes(&list, family->started);
    recognize(family, &list);
    add_related(family, &list);
    if (family->mark && add_members(family, &list, is_marked))
        add_related(family, &list);
    free(list.all);
    return family->count > before;
}

/* ---- signals ---- */

int exec_open_process(pid_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static void send_signal(int pidfd, pid_t pid, int signal_number) {
#ifdef SYS_pidfd_send_signal
    if (pidfd >= 0 && (syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0) == 0 || errno != ENOSYS))
        return;
#endif
    (void)kill(pid, signal_number);
}

/* The descriptor keeps the id from meaning another process between the look and the signal. Those in the
 * program's group get theirs with it. */
static void signal_member(const struct exec_family *family, const struct exec_relative *member,
                          int signal_number) {
    int pidfd = exec_open_process(member->pid);
    struct process now;
    if (read_process(member->pid, &now) && now.started == member->started && now.group != family->pid)
        send_signal(pidfd, member->pid, signal_number);
    if (pidfd >= 0)
        close(pidfd);
}

/* The group needs no /proc: its id is its own until the program is reaped. */
static void signal_group(const struct exec_family *family, int signal_number) {
    (void)kill(-family->pid, signal_number); /* fails when all have ended: that is what was wanted */
}

/* To those that have not got it yet. */
static void signal_rest(struct exec_family *family, int signal_number) {
    for (size_t i = 0; i < family->count; i++) {
        if (!family->members[i].is_signalled)
            signal_member(family, &family->members[i], signal_number);
        family->members[i].is_signalled = true;
    }
}

static void signal_all(struct exec_family *family, int signal_number) {
    for (size_t i = 0; i < family->count; i++)
        family->members[i].is_signalled = false;
    signal_group(family, signal_number);
    signal_rest(family, signal_number);
}

void exec_family_signal(struct exec_family *family, int signal_number) {
    (void)look(family);
    signal_all(family, signal_number);
}

void exec_family_kill(struct exec_family *family) {
    (void)look(family);
    signal_all(family, SIGSTOP);
    for (int round = 0; round < ROUNDS_MAX && look(family); round++) {
        signal_group(family, SIGSTOP);
        signal_rest(family, SIGSTOP);
    }
    signal_all(family, SIGKILL);
}
