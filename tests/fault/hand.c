/* Worker processes: started, killed, dismissed. */
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

static void name_hand(struct trial *trial, struct hand *hand, int number) {
    *hand = (struct hand){.owner = boxcar_owner_new()};
    boxcar_owner_format(hand->owner, hand->owner_text);
    snprintf(hand->application, sizeof(hand->application), "%s_%d", trial->storm.schema, number);
    snprintf(hand->log, sizeof(hand->log), "%s/worker-%d.log", trial->storm.directory, number);
}

/* The URL of PostgreSQL ends with the application's name. */
static void write_url(struct trial *trial, const struct post *post, int number, char *url, size_t size) {
    if (trial->storm.postgres)
        snprintf(url, size, "%s_%d%s", trial->storm.url, number, post->url_suffix ? post->url_suffix : "");
    else
        snprintf(url, size, "%s", trial->storm.url);
}

struct hand *hand_start(struct trial *trial, const struct post *post) {
    if (trial->hand_count == HANDS_MAX)
        errx(99, "more than %d workers in one trial", HANDS_MAX);
    int number = trial->hand_count++;
    struct hand *hand = &trial->hands[number];
    struct command command = {.count = 0};
    char url[700];
    name_hand(trial, hand, number);
    write_url(trial, post, number, url, sizeof(url));
    add_words(&command, post->before);
    if (post->is_scribe)
        add_words(&command, (const char *const[]){trial->scribe, trial->evidence, hand->owner_text, NULL});
    else
        add_words(&command,
                  (const char *const[]){trial->program, "worker", "--owner", hand->owner_text, NULL});
    add_words(&command, post->arguments);
    fflush(NULL);
    hand->pid = hand->was = fork();
    if (hand->pid < 0)
        err(99, "fork");
    if (hand->pid == 0)
        become(trial, &command, url, NULL, hand->log);
    return hand;
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

bool hand_wait(struct hand *hand, int64_t ms) {
    int64_t end = now_us() + ms * 1000;
    while (hand->pid != 0) {
        pid_t ended = waitpid(hand->pid, &hand->status, WNOHANG);
        if (ended == hand->pid || (ended < 0 && errno == ECHILD))
            hand->pid = 0;
        else if (now_us() >= end)
            return false;
        else
            pause_ms(5);
    }
    return true;
}

static bool has_session(struct trial *trial, const struct hand *hand) {
    char text[256];
    snprintf(text, sizeof(text), "select count(*) from pg_stat_activity where application_name = '%s'",
             hand->application);
    return trial->storm.postgres && sql_number(trial, NULL, text) > 0;
}

/* What a worker holds that is gone. The server may lease more to it while it has a session, and on a slow machine the first
 * leases have ended by then: so each is counted when it is seen first. */
static int64_t count_left_behind(struct trial *trial, const struct hand *hand) {
    int64_t held = 0, last = 0, end = now_us() + 60 * INT64_C(1000000);
    bool again;
    do {
        again = has_session(trial, hand);
        held += count_held_since(trial, hand, &last);
        pause_ms(again ? 10 : 0);
    } while (again && now_us() < end);
    return held;
}

void hand_kill(struct trial *trial, struct hand *hand) {
    hand->killed = true;
    if (hand->pid == 0 || kill(hand->pid, SIGKILL) != 0 || !hand_wait(hand, 10000))
        return;
    hand->held = count_left_behind(trial, hand);
}

/* A program that has just been started does not know yet what SIGTERM means to it. */
static bool minds_sigterm(const struct hand *hand) {
    char path[64], line[256];
    unsigned long long blocked = 0, caught = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)hand->pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        (void)sscanf(line, "SigBlk: %llx", &blocked);
        (void)sscanf(line, "SigCgt: %llx", &caught);
    }
    if (file)
        fclose(file);
    return ((blocked | caught) >> (SIGTERM - 1)) & 1;
}

void hand_dismiss(struct hand *hand) {
    for (int i = 0; hand->pid != 0 && !minds_sigterm(hand) && i < 2000 && !hand_wait(hand, 0); i++)
        pause_ms(5);
    if (hand->pid != 0)
        kill(hand->pid, SIGTERM);
}

static void show_log_end(const struct hand *hand) {
    char text[1500];
    FILE *file = fopen(hand->log, "r");
    if (!file)
        return;
    if (fseek(file, -(long)sizeof(text), SEEK_END) != 0)
        rewind(file);
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    printf("  - the end of %s:\n%.*s\n", hand->log, (int)len, text);
}

static bool has_ended_well(const struct hand *hand) {
    return hand->killed || (hand->pid == 0 && WIFEXITED(hand->status) && WEXITSTATUS(hand->status) == 0);
}

void hands_dismiss(struct trial *trial) {
    int64_t offences = 0;
    for (int i = 0; i < trial->hand_count; i++)
        hand_dismiss(&trial->hands[i]);
    for (int i = 0; i < trial->hand_count; i++) {
        struct hand *hand = &trial->hands[i];
        if (!hand_wait(hand, 40000)) {
            kill(hand->pid, SIGKILL);
            (void)hand_wait(hand, 10000);
            hand->status = -1;
        }
        if (has_ended_well(hand))
            continue;
        printf("  - worker %d ended with status 0x%x\n", i, (unsigned)hand->status);
        show_log_end(hand);
        offences++;
    }
    judge(trial, "workers that nobody killed lived on and ended well when told to", offences);
}

bool hands_any_fallen(struct trial *trial) {
    for (int i = 0; i < trial->hand_count; i++) {
        struct hand *hand = &trial->hands[i];
        if (hand->killed || hand->pid == 0 || !hand_wait(hand, 0))
            continue;
        printf("  - worker %d fell with status 0x%x\n", i, (unsigned)hand->status);
        show_log_end(hand);
        return true;
    }
    return false;
}

const struct hand *hand_of(const struct trial *trial, int pid) {
    for (int i = 0; i < trial->hand_count; i++)
        if (trial->hands[i].was == pid)
            return &trial->hands[i];
    return NULL;
}
