/* Worker processes: started, killed, told to stop. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial.h"

#define ARGUMENTS_MAX 64

static void redirect(const char *path, int flags, int to) {
    int fd = open(path, flags, 0644);
    if (fd < 0 || dup2(fd, to) < 0)
        err(99, "%s", path);
    close(fd);
}

struct command {
    const char *words[ARGUMENTS_MAX];
    int count;
};

static void add_words(struct command *command, const char *const *words) {
    for (; words && *words; words++) {
        if (command->count >= ARGUMENTS_MAX - 1)
            errx(99, "too many arguments");
        command->words[command->count++] = *words;
    }
}

/* In the child: becomes the command, and dies with the trial. */
static void become(struct trial *trial, const struct command *command, const char *url, const char *input,
                   const char *output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect(input ? input : "/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(output, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
    redirect(output, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
    setenv("BOXCAR_STORE", url, 1);
    if (trial->storm.postgres)
        setenv("BOXCAR_SCHEMA", trial->storm.schema, 1);
    execvp(command->words[0], (char *const *)command->words);
    err(99, "%s", command->words[0]);
}

static void name_worker(struct trial *trial, struct worker *worker, int number) {
    *worker = (struct worker){.owner = (boxcar_owner){boxcar_uuid_new()}};
    boxcar_uuid_format(worker->owner.uuid, worker->owner_text);
    snprintf(worker->application, sizeof(worker->application), "%s_%d", trial->storm.schema, number);
    snprintf(worker->log, sizeof(worker->log), "%s/worker-%d.log", trial->storm.directory, number);
}

/* The URL of PostgreSQL ends with the application's name. */
static void write_url(struct trial *trial, const struct launch *launch, int number, char *url, size_t size) {
    if (trial->storm.postgres)
        snprintf(url, size, "%s_%d%s", trial->storm.url, number,
                 launch->url_suffix ? launch->url_suffix : "");
    else
        snprintf(url, size, "%s", trial->storm.url);
}

struct worker *worker_start(struct trial *trial, const struct launch *launch) {
    if (trial->worker_count == WORKERS_MAX)
        errx(99, "more than %d workers in one trial", WORKERS_MAX);
    int number = trial->worker_count++;
    struct worker *worker = &trial->workers[number];
    struct command command = {.count = 0};
    char url[700];
    name_worker(trial, worker, number);
    write_url(trial, launch, number, url, sizeof(url));
    add_words(&command, launch->before);
    if (launch->is_c_worker)
        add_words(&command,
                  (const char *const[]){trial->c_worker, trial->evidence, worker->owner_text, NULL});
    else
        add_words(&command,
                  (const char *const[]){trial->program, "worker", "--owner", worker->owner_text, NULL});
    add_words(&command, launch->arguments);
    fflush(NULL);
    worker->pid = worker->was = fork();
    if (worker->pid < 0)
        err(99, "fork");
    if (worker->pid == 0)
        become(trial, &command, url, NULL, worker->log);
    return worker;
}

int program_run(struct trial *trial, const char *const *arguments, const char *input_path, const char *log) {
    struct command command = {.count = 0};
    int status = 0;
    add_words(&command, (const char *const[]){trial->program, NULL});
    add_words(&command, arguments);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid == 0)
        become(trial, &command, trial->storm.url, input_path, log);
    if (waitpid(pid, &status, 0) != pid)
        err(99, "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool worker_wait(struct worker *worker, int64_t ms) {
    int64_t end = now_us() + ms * 1000;
    while (worker->pid != 0) {
        pid_t ended = waitpid(worker->pid, &worker->status, WNOHANG);
        if (ended == worker->pid || (ended < 0 && errno == ECHILD))
            worker->pid = 0;
        else if (now_us() >= end)
            return false;
        else
            pause_ms(5);
    }
    return true;
}

static bool has_session(struct trial *trial, const struct worker *worker) {
    char text[256];
    snprintf(text, sizeof(text), "select count(*) from pg_stat_activity where application_name = '%s'",
             worker->application);
    return trial->storm.postgres && sql_number(trial, NULL, text) > 0;
}

/* What a worker holds that is gone since `killed_at`. The server may lease more to it while it has a session,
 * and on a slow machine the first leases have ended by then: so each is counted when it is seen first. What
 * had ended even before the first look has been charged by then, after the kill. */
static int64_t count_left_behind(struct trial *trial, const struct worker *worker, int64_t killed_at) {
    int64_t held = 0, last = 0, end = now_us() + 60 * INT64_C(1000000);
    bool again;
    do {
        again = has_session(trial, worker);
        held += count_held_since(trial, worker, &last, killed_at);
        killed_at = INT64_MAX;
        pause_ms(again ? 10 : 0);
    } while (again && now_us() < end);
    return held;
}

void worker_kill(struct trial *trial, struct worker *worker) {
    int64_t killed_at = store_clock_us(trial);
    worker->killed = true;
    if (worker->pid == 0 || kill(worker->pid, SIGKILL) != 0 || !worker_wait(worker, 10000))
        return;
    worker->held = count_left_behind(trial, worker, killed_at);
}

/* A program that has just been started does not know yet what SIGTERM means to it. */
static bool minds_sigterm(const struct worker *worker) {
    char path[64], line[256];
    unsigned long long blocked = 0, caught = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)worker->pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        (void)sscanf(line, "SigBlk: %llx", &blocked);
        (void)sscanf(line, "SigCgt: %llx", &caught);
    }
    if (file)
        fclose(file);
    return ((blocked | caught) >> (SIGTERM - 1)) & 1;
}

void worker_terminate(struct worker *worker) {
    for (int i = 0; worker->pid != 0 && !minds_sigterm(worker) && i < 2000 && !worker_wait(worker, 0); i++)
        pause_ms(5);
    if (worker->pid != 0)
        kill(worker->pid, SIGTERM);
}

static void show_log_end(const struct worker *worker) {
    char text[1500];
    FILE *file = fopen(worker->log, "r");
    if (!file)
        return;
    if (fseek(file, -(long)sizeof(text), SEEK_END) != 0)
        rewind(file);
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    printf("  - the end of %s:\n%.*s\n", worker->log, (int)len, text);
}

static bool has_ended_well(const struct worker *worker) {
    return worker->killed ||
           (worker->pid == 0 && WIFEXITED(worker->status) && WEXITSTATUS(worker->status) == 0);
}

void workers_terminate(struct trial *trial) {
    int64_t offences = 0;
    for (int i = 0; i < trial->worker_count; i++)
        worker_terminate(&trial->workers[i]);
    for (int i = 0; i < trial->worker_count; i++) {
        struct worker *worker = &trial->workers[i];
        if (!worker_wait(worker, 40000)) {
            kill(worker->pid, SIGKILL);
            (void)worker_wait(worker, 10000);
            worker->status = -1;
        }
        if (has_ended_well(worker))
            continue;
        printf("  - worker %d ended with status 0x%x\n", i, (unsigned)worker->status);
        show_log_end(worker);
        offences++;
    }
    judge(trial, "workers that nobody killed lived on and ended well when told to", offences);
}

bool workers_any_ended(struct trial *trial) {
    for (int i = 0; i < trial->worker_count; i++) {
        struct worker *worker = &trial->workers[i];
        if (worker->killed || worker->pid == 0 || !worker_wait(worker, 0))
            continue;
        printf("  - worker %d fell with status 0x%x\n", i, (unsigned)worker->status);
        show_log_end(worker);
        return true;
    }
    return false;
}

const struct worker *worker_of(const struct trial *trial, int pid) {
    for (int i = 0; i < trial->worker_count; i++)
        if (trial->workers[i].was == pid)
            return &trial->workers[i];
    return NULL;
}
