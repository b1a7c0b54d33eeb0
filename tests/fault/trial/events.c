/* Producers that append to one stream with expected versions, and followers, all killed again and again. What
 * each was told it wrote down; in the end the store must say the same. BX-066 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boxcar/event.h"
#include "trial.h"

#define STREAM "ledger"
enum { PRODUCERS = 2, FOLLOWERS = 2, CREW = PRODUCERS + FOLLOWERS, EVENTS_AT_ONCE = 3, PAGE = 50 };

struct member {
    pid_t pid;
    int fd; /* of its notes */
    char notes[400];
};

struct ledger_trial {
    struct trial *trial;
    struct member crew[CREW];
};

/* ---- in a process of its own ---- */

static boxcar_store *open_store(struct trial *trial) {
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    options.busy_timeout_ms = 120000;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    return store;
}

/* One write, so that a kill leaves a whole line or none. */
static void note(const struct member *self, const char *word, boxcar_event_id id, int64_t number) {
    char line[100], text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, text);
    int length = snprintf(line, sizeof(line), "%s %s %lld\n", word, text, (long long)number);
    if (write(self->fd, line, (size_t)length) != length)
        err(99, "%s", self->notes);
}

static int64_t stream_version(boxcar_store *store, int64_t known) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    for (size_t count = 1; count > 0; known += (int64_t)count) {
        boxcar_event_list *list = NULL;
        if (boxcar_event_read(store, BOXCAR_STR(STREAM), known + 1, 1000, &list, &error) != BOXCAR_OK)
            errx(99, "read: %s", error.message);
        count = list->count;
        boxcar_list_free(list);
    }
    return known;
}

static void append_some(boxcar_store *store, const struct member *self, int64_t version, size_t count) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_new_event events[EVENTS_AT_ONCE] = {BOXCAR_NEW_EVENT_INIT};
    boxcar_appended appended[EVENTS_AT_ONCE] = {BOXCAR_APPENDED_INIT};
    for (size_t i = 0; i < count; i++) {
        events[i] = BOXCAR_NEW_EVENT_INIT;
        events[i].type = BOXCAR_STR("entry");
        events[i].payload = BOXCAR_STR("p");
        events[i].topic = BOXCAR_STR("entries");
        events[i].event_id.uuid = boxcar_uuid_new();
    }
    boxcar_status status =
        boxcar_event_append(store, BOXCAR_STR(STREAM), version, events, count, appended, &error);
    if (status != BOXCAR_OK && status != BOXCAR_E_CONFLICT)
        errx(99, "append: %s", error.message);
    for (size_t i = 0; i < count; i++)
        note(self, status == BOXCAR_OK ? "stored" : "refused", events[i].event_id,
             status == BOXCAR_OK ? appended[i].version : 0);
}

static void append_on(struct trial *trial, const struct member *self) {
    boxcar_store *store = open_store(trial);
    for (int64_t version = 0, turn = getpid();; turn++) {
        version = stream_version(store, version);
        append_some(store, self, version, 1 + (size_t)(turn % EVENTS_AT_ONCE));
    }
}

static int64_t last_noted(const struct member *self) {
    FILE *file = fopen(self->notes, "r");
    char line[100], word[16], id[64];
    long long number, last = 0;
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "%15s %63s %lld", word, id, &number) == 3)
            last = number;
    if (file)
        fclose(file);
    return last;
}

/* Goes on where its notes end, as a projection does that keeps its position with its work. */
static void follow(struct trial *trial, const struct member *self) {
    boxcar_store *store = open_store(trial);
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    filter.limit = PAGE;
    filter.after = last_noted(self);
    for (;;) {
        boxcar_error error = BOXCAR_ERROR_INIT;
        boxcar_event_list *list = NULL;
        if (boxcar_event_read_all(store, &filter, &list, &error) != BOXCAR_OK)
            errx(99, "follow: %s", error.message);
        for (size_t i = 0; i < list->count; i++)
            note(self, "seen", list->items[i]->event_id, list->items[i]->position);
        filter.after = list->position;
        if (list->count == 0)
            pause_ms(2);
        boxcar_list_free(list);
    }
}

/* ---- the crew ---- */

static void start(struct ledger_trial *events, int place) {
    struct member *member = &events->crew[place];
    fflush(NULL);
    member->pid = fork();
    if (member->pid < 0)
        err(99, "fork");
    if (member->pid > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (place < PRODUCERS)
        append_on(events->trial, member);
    else
        follow(events->trial, member);
    _exit(0);
}

/* Nobody ends by itself: an exit status is a complaint. */
static void end(struct ledger_trial *events, int place) {
    struct member *member = &events->crew[place];
    int status = 0;
    kill(member->pid, SIGKILL);
    if (waitpid(member->pid, &status, 0) != member->pid)
        err(99, "waitpid");
    if (!WIFSIGNALED(status))
        offend(&events->trial->ledger, "%s %d ended by itself with status %d",
               place < PRODUCERS ? "producer" : "follower", place, WEXITSTATUS(status));
}

/* What a killed producer had sent, or written without telling, is decided by now: it came before this, or its
 * version is taken. */
static void append_last(struct trial *trial) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    boxcar_store *store = open_store(trial);
    event.type = event.topic = BOXCAR_STR("last");
    event.payload = BOXCAR_STR("p");
    if (boxcar_event_append(store, BOXCAR_STR(STREAM), BOXCAR_ANY_VERSION, &event, 1, NULL, &error) !=
        BOXCAR_OK)
        errx(99, "append: %s", error.message);
    boxcar_store_close(store);
}

static int64_t count_stored(struct trial *trial) {
    return sql_number(trial, "select count(*) from boxcar_event", "select count(*) from event");
}

static bool wait_stored(struct trial *trial, int64_t count) {
    for (int64_t deadline = now_us() + 120 * INT64_C(1000000); now_us() < deadline; pause_ms(5))
        if (count_stored(trial) >= count)
            return true;
    trial->has_failed = true;
    return false;
}

static bool wait_seen(struct ledger_trial *events, int64_t position) {
    for (int64_t deadline = now_us() + 60 * INT64_C(1000000); now_us() < deadline; pause_ms(20))
        if (last_noted(&events->crew[PRODUCERS]) >= position &&
            last_noted(&events->crew[PRODUCERS + 1]) >= position)
            return true;
    return false;
}

/* ---- judging ---- */

struct entry {
    char id[40];
    long long position, version;
};

struct entries {
    struct entry *rows; /* by position, from 1 on */
    int64_t count, room;
};

static void add_entry(void *context, const char *const *values) {
    struct entries *entries = context;
    if (entries->count == entries->room)
        errx(99, "more events than were counted");
    struct entry *entry = &entries->rows[entries->count++];
    snprintf(entry->id, sizeof(entry->id), "%s", values[0]);
    entry->version = strtoll(values[1], NULL, 10);
    entry->position = strtoll(values[2], NULL, 10);
}

static const struct entry *find_entry(const struct entries *entries, const char *id) {
    for (int64_t i = 0; i < entries->count; i++)
        if (strcmp(entries->rows[i].id, id) == 0)
            return &entries->rows[i];
    return NULL;
}

static void judge_order(struct trial *trial, const struct entries *entries) {
    for (int64_t i = 0; i < entries->count; i++)
        if (entries->rows[i].version != i + 1 || entries->rows[i].position != i + 1)
            offend(&trial->ledger, "event %lld has version %lld and position %lld", (long long)i + 1,
                   entries->rows[i].version, entries->rows[i].position);
    conclude(&trial->ledger, &trial->verdict, "versions and positions are 1, 2, 3, ... without a gap");
}

typedef void (*judge_note_fn)(struct trial *trial, const struct entries *entries, const char *word,
                              const char *id, long long number, int64_t line);

static int64_t judge_notes(struct trial *trial, const struct entries *entries, const struct member *member,
                           judge_note_fn judge_note) {
    FILE *file = fopen(member->notes, "r");
    char line[100], word[16], id[64];
    long long number;
    int64_t lines = 0;
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%15s %63s %lld", word, id, &number) != 3)
            offend(&trial->ledger, "a line cannot be read: %s", line);
        else
            judge_note(trial, entries, word, id, number, ++lines);
    }
    if (file)
        fclose(file);
    return lines;
}

static void judge_append(struct trial *trial, const struct entries *entries, const char *word, const char *id,
                         long long number, int64_t line) {
    const struct entry *entry = find_entry(entries, id);
    (void)line;
    if (strcmp(word, "refused") == 0 && entry)
        offend(&trial->ledger, "the refused event %s is stored", id);
    if (strcmp(word, "stored") == 0 && (!entry || entry->version != number))
        offend(&trial->ledger, "event %s was told version %lld and has %lld", id, number,
               entry ? entry->version : 0);
}

static void judge_sight(struct trial *trial, const struct entries *entries, const char *word, const char *id,
                        long long number, int64_t line) {
    (void)word;
    if (number != line || line > entries->count || strcmp(entries->rows[line - 1].id, id) != 0)
        offend(&trial->ledger, "line %lld of a follower is event %s at %lld", (long long)line, id, number);
}

static void noted_by_follower(struct trial *trial, const struct entries *entries,
                              const struct member *member) {
    int64_t seen = judge_notes(trial, entries, member, judge_sight);
    if (seen != entries->count)
        offend(&trial->ledger, "a follower has seen %lld of %lld events", (long long)seen,
               (long long)entries->count);
}

static void judge_all(struct ledger_trial *events) {
    struct trial *trial = events->trial;
    struct entries entries = {.room = count_stored(trial)};
    int64_t noted = 0;
    entries.rows = calloc((size_t)entries.room + 1, sizeof(*entries.rows));
    if (!entries.rows)
        err(99, "calloc");
    ledger_sql_each(&trial->ledger, "select event_id, version, position from boxcar_event order by position",
                    "select event_id, version, position from event order by position", add_entry, &entries);
    judge_order(trial, &entries);
    for (int i = 0; i < PRODUCERS; i++)
        noted += judge_notes(trial, &entries, &events->crew[i], judge_append);
    conclude(&trial->ledger, &trial->verdict, "what was stored is there as told, what was refused is not");
    for (int i = PRODUCERS; i < CREW; i++)
        noted_by_follower(trial, &entries, &events->crew[i]);
    conclude(&trial->ledger, &trial->verdict, "every follower saw every event once, in one order");
    judge(trial, "every event is a message, and nothing else is",
          llabs(entries.count -
                sql_number(trial, "select count(*) from boxcar_message", "select count(*) from message")));
    printf("%s: %lld events, %lld answers noted, %d kills\n", trial->name, (long long)entries.count,
           (long long)noted, trial->kills);
    free(entries.rows);
}

static void run_events(struct trial *trial) {
    struct ledger_trial events = {.trial = trial};
    for (int i = 0; i < CREW; i++) {
        struct member *member = &events.crew[i];
        snprintf(member->notes, sizeof(member->notes), "%s.crew%d", trial->evidence, i);
        member->fd = open(member->notes, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
        if (member->fd < 0)
            err(99, "%s", member->notes);
        start(&events, i);
    }
    for (int i = 0; i < trial->kills && !trial->has_failed; i++) {
        wait_stored(trial, trial->messages * (i + 1) / (trial->kills + 1));
        pause_ms(draw_between(&trial->self, 0, 20));
        int place = (int)draw_between(&trial->self, 0, CREW - 1);
        end(&events, place);
        start(&events, place);
    }
    wait_stored(trial, trial->messages);
    for (int i = 0; i < PRODUCERS; i++)
        end(&events, i);
    judge(trial, "the stream grew in time", trial->has_failed);
    append_last(trial);
    judge(trial, "the followers came to the end", !wait_seen(&events, count_stored(trial)));
    for (int i = PRODUCERS; i < CREW; i++)
        end(&events, i);
    conclude(&trial->ledger, &trial->verdict, "nobody met an error");
    judge_all(&events);
    for (int i = 0; i < CREW; i++) {
        close(events.crew[i].fd);
        unlink(events.crew[i].notes);
    }
}

const struct scenario EVENTS = {
    .run = run_events, .messages = 1500, .full_messages = 20000, .kills = 12, .full_kills = 200};
