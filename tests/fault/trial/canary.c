/* Canaries: payloads that nobody could write by chance, sent through everything that can go wrong. None
 * may be seen in a log, a metric, an error or a history. BX-010, OBX-125 */
#include <dirent.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trial.h"

#define CANARY_SIZE 80
#define LONG_PAYLOAD 12000 /* longer than any error that is kept */

/* What all canaries of this run begin and end with: a part of one betrays it too. */
struct marks {
    char head[32], tail[32];
};

static struct marks draw_marks(struct trial *trial) {
    struct marks marks;
    snprintf(marks.head, sizeof(marks.head), "cAnArY%016llx", (unsigned long long)draw(&trial->self.chance));
    snprintf(marks.tail, sizeof(marks.tail), "%016llxyRaNaC", (unsigned long long)draw(&trial->self.chance));
    return marks;
}

static void write_canary(struct trial *trial, const struct marks *marks, char text[CANARY_SIZE]) {
    snprintf(text, CANARY_SIZE, "%s-%08x-%s", marks->head, (unsigned)draw(&trial->self.chance), marks->tail);
}

/* ---- through handlers that fail ---- */

/* As they are, in JSON, with a line's end, on many lines, longer than what is kept of an error. */
static size_t write_payload(char *payload, size_t size, const char *canary, int64_t number) {
    switch (number % 5) {
    case 0:
        return (size_t)snprintf(payload, size, "%s", canary);
    case 1:
        return (size_t)snprintf(payload, size, "{\"card\": \"%s\", \"n\": %d}", canary, (int)number);
    case 2:
        return (size_t)snprintf(payload, size, "%s\n", canary);
    case 3:
        return (size_t)snprintf(payload, size, "first\n%s\nlast %s\n", canary, canary);
    default: {
        size_t len = 0;
        while (len < LONG_PAYLOAD)
            len += (size_t)snprintf(payload + len, size - len, "%s ", canary);
        return len;
    }
    }
}

static void enqueue_canaries(struct trial *trial, const struct marks *marks) {
    static char payload[LONG_PAYLOAD + 2 * CANARY_SIZE];
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    for (int64_t i = 0; i < trial->messages; i++) {
        boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
        char canary[CANARY_SIZE];
        write_canary(trial, marks, canary);
        message.topic = BOXCAR_STR("canaries");
        message.payload = (boxcar_str){payload, write_payload(payload, sizeof(payload), canary, i)};
        if (boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &error) != BOXCAR_OK)
            errx(99, "enqueue: %s", error.message);
        trial->enqueued++;
    }
    boxcar_store_close(store);
}

/* A port that is free now. */
static int find_port(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        err(99, "socket");
    close(fd);
    return ntohs(address.sin_port);
}

static void scrape(struct trial *trial, int port, const char *name) {
    char command[600];
    snprintf(command, sizeof(command), "curl -s -m 5 http://127.0.0.1:%d/metrics > %s/%s.metrics", port,
             trial->storm.directory, name);
    judge(trial, "metrics can be had", system(command) != 0);
}

/* One worker for each format of the log. */
static void fly(struct trial *trial) {
    static const char *const FORMATS[] = {"logfmt", "json"};
    char handler[1000], listen[2][32];
    int ports[2];
    snprintf(handler, sizeof(handler), "canaries=exec:%s %s --fail", trial->exec_handler, trial->evidence);
    for (int i = 0; i < 2; i++) {
        ports[i] = find_port();
        snprintf(listen[i], sizeof(listen[i]), "127.0.0.1:%d", ports[i]);
        const char *const arguments[] = {
            "--handler",   handler,  "--concurrency", "6",          "--handler-timeout",
            "300ms",       "--poll", "50ms",          "--maintain", "1s",
            "--log-level", "debug",  "--log-format",  FORMATS[i],   "--metrics",
            listen[i],     NULL};
        worker_start(trial, &(struct launch){.arguments = arguments});
    }
    wait_finished(trial, trial->messages, 60000 + trial->messages * 200);
    for (int i = 0; i < 2; i++)
        scrape(trial, ports[i], FORMATS[i]);
    workers_terminate(trial);
}

/* ---- through the command line ---- */

/* Every CANARY in the pattern becomes the canary. */
static void write_file(const char *path, const char *pattern, const char *canary) {
    FILE *file = fopen(path, "w");
    if (!file)
        err(99, "%s", path);
    for (const char *hit; (hit = strstr(pattern, "CANARY")) != NULL; pattern = hit + strlen("CANARY")) {
        fwrite(pattern, 1, (size_t)(hit - pattern), file);
        fputs(canary, file);
    }
    fputs(pattern, file);
    fclose(file);
}

static void try_bad_batches(struct trial *trial, const struct marks *marks, const char *log) {
    static const char *const PATTERNS[] = {
        "{\"topic\": \"t\", \"payload\": \"CANARY\"\n",
        "{\"topic\": \"t\", \"payload\": \"CANARY\n",
        "{\"topic\": \"t\", \"payload\": CANARY}\n",
        "{\"topic\": \"t\", \"payload\": \"CANARY\", \"when\": 1}\n",
        "{\"topic\": 1, \"payload\": \"CANARY\"}\n",
        "{\"payload\": \"CANARY\"}\n",
        "{\"topic\": \"\", \"payload\": \"CANARY\"}\n",
        "{\"topic\": \"t\", \"payload\": \"\xff"
        "CANARY\"}\n",
        "{\"topic\": \"t\", \"payload\": \"CANARY\\u0000\"}\n",
        "{\"topic\": \"t\", \"payload\": \"CANARY\", \"payload\": \"CANARY\"}\n",
        "{\"topic\": \"t\", \"payload\": {\"card\": \"CANARY\", \"card\": \"CANARY\"}}\n",
        "{\"topic\": \"t\", \"payload\": \"CANARY\", \"ttl\": \"soon\"}\n",
        "{\"topic\": \"t\", \"payload\": [\"CANARY\"]} more CANARY\n",
        "\"CANARY\"\n",
        "[\"CANARY\"]\n",
        "CANARY\n"};
    char path[320];
    int64_t accepted = 0;
    snprintf(path, sizeof(path), "%s/batch.input", trial->storm.directory);
    for (size_t i = 0; i < sizeof(PATTERNS) / sizeof(PATTERNS[0]); i++) {
        char canary[CANARY_SIZE];
        write_canary(trial, marks, canary);
        write_file(path, PATTERNS[i], canary);
        int status = program_run(
            trial, (const char *const[]){"enqueue", "--batch", path, "--log-level", "debug", NULL}, NULL,
            log);
        if (status == 0)
            printf("  - accepted: batch %zu\n", i);
        accepted += status == 0;
    }
    judge(trial, "bad batches are refused", accepted);
    unlink(path);
}

static void try_bad_arguments(struct trial *trial, const struct marks *marks, const char *log) {
    enum { WORDS = 8 };
    static const char *const WAYS[][WORDS] = {{"enqueue", "", "CANARY"},
                                              {"enqueue", "t", "CANARY", "--delay", "soon"},
                                              {"enqueue", "t", "CANARY", "--message-id", "me"},
                                              {"enqueue", "t", "CANARY", "--header", "novalue"},
                                              {"enqueue", "t", "CANARY", "--no-such-option"},
                                              {"enqueue", "t", "CANARY", "--max-attempts", "0"},
                                              {"enqueue", "t", "CANARY", "CANARY"},
                                              {"enqueue", "t", "hello", "CANARY"},
                                              {"enqueue", "t", "CANARY", "--store", "sqlite:/no/such/store"},
                                              {"enqueue", "t",
                                               "\xff\xfe"
                                               "CANARY"},
                                              {"enqueue", "--batch", "/no/such/file", "t", "CANARY"}};
    int64_t accepted = 0;
    for (size_t i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
        const char *words[WORDS + 1] = {0};
        char canary[CANARY_SIZE], broken[CANARY_SIZE + 2];
        write_canary(trial, marks, canary);
        snprintf(broken, sizeof(broken), "\xff\xfe%s", canary);
        for (size_t j = 0; j < WORDS && WAYS[i][j]; j++)
            words[j] = strcmp(WAYS[i][j], "CANARY") == 0 ? canary
                       : strstr(WAYS[i][j], "CANARY")    ? broken
                                                         : WAYS[i][j];
        int status = program_run(trial, words, NULL, log);
        if (status == 0)
            printf("  - accepted: arguments %zu\n", i);
        accepted += status == 0;
    }
    judge(trial, "bad arguments are refused", accepted);
}

/* ---- looking for them ---- */

static char *read_whole(const char *path, size_t *ret_len) {
    FILE *file = fopen(path, "r");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0)
        err(99, "%s", path);
    char *text = malloc((size_t)about.st_size + 1);
    if (!text)
        err(99, "%s", path);
    *ret_len = fread(text, 1, (size_t)about.st_size, file);
    fclose(file);
    return text;
}

static void search_text(struct trial *trial, const char *name, const char *text, size_t len,
                        const char *mark) {
    const char *hit = memmem(text, len, mark, strlen(mark));
    if (!hit)
        return;
    const char *line = hit, *end = memchr(hit, '\n', (size_t)(text + len - hit));
    while (line > text && line[-1] != '\n' && hit - line < 300)
        line--;
    end = end && end - line < 600 ? end : (text + len - line < 600 ? text + len : line + 600);
    offend(&trial->ledger, "%s: %.*s", name, (int)(end - line), line);
}

static bool is_to_be_searched(const char *name) {
    const char *dot = strrchr(name, '.');
    return strcmp(name, "evidence") == 0 ||
           (dot && (strcmp(dot, ".log") == 0 || strcmp(dot, ".metrics") == 0));
}

static void search_files(struct trial *trial, const struct marks *marks) {
    DIR *directory = opendir(trial->storm.directory);
    int searched = 0;
    if (!directory)
        err(99, "%s", trial->storm.directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[600];
        size_t len;
        if (!is_to_be_searched(entry->d_name))
            continue;
        snprintf(path, sizeof(path), "%s/%s", trial->storm.directory, entry->d_name);
        char *text = read_whole(path, &len);
        search_text(trial, entry->d_name, text, len, marks->head);
        search_text(trial, entry->d_name, text, len, marks->tail);
        free(text);
        searched++;
    }
    closedir(directory);
    printf("%s: %d files were searched\n", trial->name, searched);
    conclude(&trial->ledger, &trial->verdict, "no canary is in a log, a metric or what the program prints");
}

static void show_leak(void *context, const char *const *values) {
    struct trial *trial = context;
    offend(&trial->ledger, "%s of work id %s: ...%.200s", values[0], values[1], values[2]);
}

static void search_errors(struct trial *trial, const struct marks *marks) {
    char sqlite_text[700], postgres_text[700];
    const char *head = marks->head, *tail = marks->tail;
    snprintf(sqlite_text, sizeof(sqlite_text),
             "select 'last_error', work_id, substr(last_error, 1, 200) from boxcar_outbox"
             " where instr(last_error, '%s') + instr(last_error, '%s') > 0"
             " union all select 'attempt', work_id, substr(error, 1, 200) from boxcar_attempt"
             " where instr(error, '%s') + instr(error, '%s') > 0",
             head, tail, head, tail);
    snprintf(postgres_text, sizeof(postgres_text),
             "select 'last_error', work_id, left(last_error, 200) from outbox"
             " where strpos(last_error, '%s') + strpos(last_error, '%s') > 0"
             " union all select 'attempt', work_id, left(error, 200) from attempt"
             " where strpos(error, '%s') + strpos(error, '%s') > 0",
             head, tail, head, tail);
    ledger_sql_each(&trial->ledger, sqlite_text, postgres_text, show_leak, trial);
    conclude(&trial->ledger, &trial->verdict, "no canary is in a last error or in the history of attempts");
}

static void judge_flight(struct trial *trial) {
    struct starts starts;
    starts_read(&starts, trial->evidence);
    judge(trial, "every canary went through a handler, most of them twice",
          starts_count(&starts, "start", 0) < trial->messages * 3 / 2);
    starts_free(&starts);
    judge(trial, "every one of them died",
          llabs(trial->messages -
                sql_number(trial, "select count(*) from boxcar_dead", "select count(*) from dead")));
    judge(trial, "and left its errors behind",
          sql_number(trial, "select count(*) from boxcar_dead where coalesce(last_error, '') = ''",
                     "select count(*) from dead where coalesce(last_error, '') = ''"));
}

static void run_canaries(struct trial *trial) {
    struct marks marks = draw_marks(trial);
    char log[320];
    snprintf(log, sizeof(log), "%s/program.log", trial->storm.directory);
    enqueue_canaries(trial, &marks);
    fly(trial);
    judge_flight(trial);
    try_bad_batches(trial, &marks, log);
    try_bad_arguments(trial, &marks, log);
    search_files(trial, &marks);
    search_errors(trial, &marks);
}

const struct scenario CANARIES = {
    .run = run_canaries, .messages = 100, .full_messages = 1000, .max_attempts = 2, .full_max_attempts = 2};
