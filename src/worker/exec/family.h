/* The processes that a handler's program has started, wherever they went: a process may leave its group
 * and its session, and lose its parent. Found by /proc: members of the program's group, children of
 * members, groups and sessions that members lead, and processes that inherited a mark. There are two marks: a
 * variable of the environment, and a number in a resource limit (see family.c), for processes that emptied
 * their environment. Without /proc only the program and its group are known. Used by one thread. */
#ifndef BOXCAR_WORKER_EXEC_FAMILY_H
#define BOXCAR_WORKER_EXEC_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

struct exec_relative {
    pid_t pid;
    unsigned long long started; /* a later process with the same id is another one */
    bool is_alive;              /* at the last look */
    bool is_signalled;          /* by the sweep that is under way */
};

struct exec_family {
    pid_t pid;                  /* of the program and of its group; reaped after the family's last use */
    const char *mark;           /* NAME=VALUE that only this family has; lent, NULL = none */
    rlim_t limit;               /* the number that only this family has; 0 = none */
    unsigned long long started; /* when the program began; 0 = nobody has looked yet */
    struct exec_relative *members;
    size_t count, capacity;
};

/* Call it as soon as the program is started, whose environment has the mark: it also gets its number. */
void exec_family_init(struct exec_family *family, pid_t pid, const char *mark);
void exec_family_release(struct exec_family *family);

/* Sends a signal to all members that there are now, to each once. */
void exec_family_signal(struct exec_family *family, int signal_number);
/* Ends them all with SIGKILL. They are stopped first, so that none has a child that is overlooked. */
void exec_family_kill(struct exec_family *family);

/* A descriptor that means this process and no later one, and is readable when it has ended; -1 = not to be
 * had. */
int exec_open_process(pid_t pid);

#endif
