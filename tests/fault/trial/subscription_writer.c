/* Each transaction has one to 50 messages, enqueued by up to three calls. Some roll back, and some stay open
 * for a while. What a writer did is in its journal: number, outcome, when it began, was about to commit and
 * had ended. */
#include "subscription_writer.h"

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "borrowed.h"

#define MESSAGES_MAX 50
#define ROLLBACK_PERCENT 10
#define WORD_SIZE 48
#define BUSY_MS 900000

static const char *const TOPICS[] = {"t.a", "t.b", "t.c", "u.a", "u.b", "v.a", "w"};
#define TOPIC_COUNT (sizeof(TOPICS) / sizeof(TOPICS[0]))

struct writer {
    struct trial *trial;
    struct desk *desk;
    struct client client;
    struct borrowed borrowed;
    FILE *journal;
};

struct desk *desk_new(void) {
    struct desk *desk = mmap(NULL, sizeof(*desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (desk == MAP_FAILED)
        err(99, "mmap");
    return desk;
}

/* A transaction of SQLite that stays open stops all the others: rarely. */
static void hold(struct writer *writer) {
    struct client *client = &writer->client;
    bool is_full = writer->trial->full;
    if (draw_between(client, 1, 1000) <= (client->storm->postgres ? 30 : 4))
        pause_ms(draw_between(client, 300, is_full ? 4000 : 600));
}

static bool enqueue(struct writer *writer, int64_t number, int64_t first, int64_t count) {
    boxcar_new_message messages[MESSAGES_MAX];
    static char payloads[MESSAGES_MAX][WORD_SIZE], streams[MESSAGES_MAX][WORD_SIZE];
    boxcar_error error = BOXCAR_ERROR_INIT;
    struct client *client = &writer->client;
    int64_t stream_count = writer->trial->messages / 100 + 1;
    for (int64_t i = 0; i < count; i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = boxcar_str_of(TOPICS[draw_between(client, 0, TOPIC_COUNT - 1)]);
        snprintf(payloads[i], WORD_SIZE, "%d %lld %lld", client->number, (long long)number,
                 (long long)(first + i));
        messages[i].payload = boxcar_str_of(payloads[i]);
        if (draw_percent(client, 30))
            continue;
        snprintf(streams[i], WORD_SIZE, "s%lld", (long long)draw_between(client, 1, stream_count));
        messages[i].stream = boxcar_str_of(streams[i]);
    }
    return accept_status(
        client,
        boxcar_enqueue_many(writer->borrowed.store, BOXCAR_OUTBOX, messages, (size_t)count, NULL, &error),
        &error, "enqueue");
}

static bool write_piece(struct writer *writer, int64_t number) {
    struct client *client = &writer->client;
    struct piece piece = {
        .number = number, .begun = now_us(), .is_committed = !draw_percent(client, ROLLBACK_PERCENT)};
    int64_t count = draw_size(client, MESSAGES_MAX), calls = draw_between(client, 1, 3);
    if (!borrowed_run(&writer->borrowed, client, client->storm->postgres ? "begin" : "begin immediate"))
        return false;
    for (int64_t call = 0; call < calls && piece.count < count; call++) {
        int64_t part = call == calls - 1 ? count - piece.count : draw_between(client, 1, count - piece.count);
        if (!enqueue(writer, number, piece.count, part))
            return false;
        piece.count += part;
        hold(writer);
    }
    piece.committing = now_us();
    if (!borrowed_run(&writer->borrowed, client, piece.is_committed ? "commit" : "rollback"))
        return false;
    piece.ended = now_us();
    if (piece.is_committed)
        atomic_fetch_add(&writer->desk->committed, piece.count);
    return fprintf(writer->journal, "%d %lld %d %lld %lld %lld %lld\n", client->number, (long long)number,
                   piece.is_committed, (long long)piece.begun, (long long)piece.committing,
                   (long long)piece.ended, (long long)piece.count) > 0;
}

static void write_all(struct writer *writer) {
    struct desk *desk = writer->desk;
    int64_t most_ahead = writer->trial->messages / 10 + 200;
    char path[340];
    snprintf(path, sizeof(path), "%s/writer-%d.journal", writer->trial->storm.directory,
             writer->client.number);
    writer->journal = fopen(path, "a");
    if (!writer->journal || !borrowed_open(&writer->borrowed, &writer->client))
        errx(99, "writer %d cannot begin", writer->client.number);
    if (writer->borrowed
            .db) /* SQLite does not queue who waits: on a busy machine it is somebody else's turn for long */
        sqlite3_busy_timeout(writer->borrowed.db, BUSY_MS);
    while (atomic_load(&desk->committed) < atomic_load(&desk->target)) {
        if (atomic_load(&desk->committed) > atomic_load(&desk->done) + most_ahead)
            pause_ms(10);
        else if (!write_piece(writer, atomic_fetch_add(&desk->numbers[writer->client.number], 1)))
            errx(99, "writer %d cannot go on", writer->client.number);
    }
    borrowed_close(&writer->borrowed);
    if (fclose(writer->journal) != 0)
        err(99, "%s", path);
}

void writers_start(struct trial *trial, struct desk *desk, pid_t pids[WRITERS]) {
    for (int i = 0; i < WRITERS; i++) {
        fflush(NULL);
        pids[i] = fork();
        if (pids[i] < 0)
            err(99, "fork");
        if (pids[i] != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct writer writer = {.trial = trial, .desk = desk};
        writer.client = (struct client){.storm = &trial->storm,
                                        .number = i,
                                        .chance = trial->storm.seed + (uint64_t)(i + 1) * 7919 +
                                                  (uint64_t)atomic_load(&desk->committed)};
        write_all(&writer);
        _exit(0);
    }
}

void writers_wait(struct trial *trial, const pid_t pids[WRITERS]) {
    int64_t failed = 0;
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        if (waitpid(pids[i], &status, 0) != pids[i])
            err(99, "waitpid");
        failed += status != 0;
    }
    judge(trial, "every writer came to its end", failed);
    if (failed > 0)
        trial->has_failed = true;
}
