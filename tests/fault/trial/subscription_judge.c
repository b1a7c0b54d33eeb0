/* What the handlers of a reader wrote down, compared with what was committed and with what the store says. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subscription_trial.h"

/* A message of the store. */
struct row {
    int64_t work_id, place; /* place: within its transaction */
    const struct piece *piece;
    char topic[16], stream[32];
    int attempts; /* that are charged to it for this reader */
    const struct start *first;
    size_t events;
    bool is_wanted, may_be_wanted;
};

struct table {
    const struct pieces *pieces;
    struct row *rows; /* by work id; for streams by stream */
    size_t count;
};

/* ---- transactions ---- */

static int compare_pieces(const void *left, const void *right) {
    const struct piece *a = left, *b = right;
    if (a->writer != b->writer)
        return a->writer < b->writer ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void add_piece(struct pieces *pieces, struct piece piece) {
    if (pieces->count % 4096 == 0) {
        pieces->rows = realloc(pieces->rows, (pieces->count + 4096) * sizeof(*pieces->rows));
        if (!pieces->rows)
            err(99, "journals");
    }
    pieces->rows[pieces->count++] = piece;
}

static void read_journal(struct pieces *pieces, const char *path) {
    char line[256];
    FILE *file = fopen(path, "r");
    if (!file)
        err(99, "%s", path);
    while (fgets(line, sizeof(line), file)) {
        long long number, begun, committing, ended, messages;
        int writer, is_committed;
        if (sscanf(line, "%d %lld %d %lld %lld %lld %lld", &writer, &number, &is_committed, &begun,
                   &committing, &ended, &messages) != 7)
            errx(99, "a line of a journal that makes no sense: %s", line);
        add_piece(pieces, (struct piece){.writer = writer,
                                         .number = number,
                                         .is_committed = is_committed != 0,
                                         .begun = begun,
                                         .committing = committing,
                                         .ended = ended,
                                         .count = messages});
    }
    fclose(file);
}

void pieces_read(const struct trial *trial, struct pieces *pieces) {
    *pieces = (struct pieces){0};
    for (int i = 0; i < WRITERS; i++) {
        char path[340];
        snprintf(path, sizeof(path), "%s/writer-%d.journal", trial->storm.directory, i);
        read_journal(pieces, path);
    }
    if (pieces->count > 0)
        qsort(pieces->rows, pieces->count, sizeof(*pieces->rows), compare_pieces);
}

void pieces_free(struct pieces *pieces) {
    free(pieces->rows);
    *pieces = (struct pieces){0};
}

/* ---- messages ---- */

static void add_row(void *context, const char *const *values) {
    struct table *table = context;
    struct piece key = {0};
    long long number, place;
    if (table->count % 4096 == 0) {
        table->rows = realloc(table->rows, (table->count + 4096) * sizeof(*table->rows));
        if (!table->rows)
            err(99, "messages");
    }
    struct row *row = &table->rows[table->count++];
    *row = (struct row){.work_id = strtoll(values[0], NULL, 10)};
    snprintf(row->topic, sizeof(row->topic), "%s", values[1]);
    snprintf(row->stream, sizeof(row->stream), "%s", values[2]);
    if (sscanf(values[3], "%d %lld %lld", &key.writer, &number, &place) != 3)
        errx(99, "a payload that makes no sense: %s", values[3]);
    key.number = number;
    row->place = place;
    row->piece = bsearch(&key, table->pieces->rows, table->pieces->count, sizeof(key), compare_pieces);
}

static void read_table(struct trial *trial, struct table *table) {
    ledger_sql_each(&trial->ledger,
                    "select work_id, topic, stream, payload from boxcar_message order by work_id",
                    "select work_id, topic, stream, payload from message order by work_id", add_row, table);
}

void judge_pieces(struct trial *trial, const struct pieces *pieces) {
    struct table table = {.pieces = pieces};
    int64_t committed = 0, rolled_back = 0, held = 0;
    read_table(trial, &table);
    for (size_t i = 0; i < table.count; i++) {
        const struct row *row = &table.rows[i];
        if (!row->piece || !row->piece->is_committed || row->place >= row->piece->count)
            offend(&trial->ledger, "work id %lld is of a transaction that was not committed",
                   (long long)row->work_id);
    }
    for (size_t i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->rows[i];
        committed += piece->is_committed ? piece->count : 0;
        rolled_back += piece->is_committed ? 0 : piece->count;
        held += piece->ended - piece->begun > 250000;
    }
    printf("%s: %zu transactions, %lld of them open for more than 250 ms; %lld messages committed, %lld "
           "rolled back\n",
           trial->name, pieces->count, (long long)held, (long long)committed, (long long)rolled_back);
    conclude(&trial->ledger, &trial->verdict, "nothing is there that was rolled back");
    judge(trial, "everything that was committed is there, once", llabs(committed - (int64_t)table.count));
    free(table.rows);
}

/* ---- what a reader wants ---- */

static bool matches(const char *pattern, const char *topic) {
    size_t len = strlen(pattern);
    if (len > 0 && pattern[len - 1] == '*')
        return strncmp(pattern, topic, len - 1) == 0;
    return strcmp(pattern, topic) == 0;
}

bool reader_wants(const struct reader *readers, size_t count, const struct reader *reader,
                  const char *topic) {
    bool wants = false;
    for (const char *const *pattern = reader->patterns; *pattern; pattern++)
        wants = wants || matches(*pattern, topic);
    if (wants && !reader->name)
        for (size_t i = 0; i < count; i++)
            wants = wants && !(readers[i].only && reader_wants(readers, count, &readers[i], topic));
    return wants;
}

/* A late reader must have what was not committed when it was there, and must not have what was committed
 * before. */
static void mark_wanted(struct row *row, const struct reader *readers, size_t count,
                        const struct reader *reader) {
    bool wants = reader_wants(readers, count, reader, row->topic);
    row->is_wanted = wants && (!reader->is_late || row->piece->committing > reader->added_until);
    row->may_be_wanted = wants && (!reader->is_late || row->piece->ended > reader->added_from);
}

/* ---- evidence ---- */

static int compare_ids(const void *key, const void *row) {
    int64_t a = *(const int64_t *)key, b = ((const struct start *)row)->work_id;
    return (a > b) - (a < b);
}

static void find_events(struct row *row, const struct starts *starts) {
    const struct start *end = starts->rows + starts->count, *found = NULL;
    if (starts->count > 0)
        found = bsearch(&row->work_id, starts->rows, starts->count, sizeof(*starts->rows), compare_ids);
    if (!found)
        return;
    while (found > starts->rows && found[-1].work_id == row->work_id)
        found--;
    row->first = found;
    while (found + row->events < end && found[row->events].work_id == row->work_id)
        row->events++;
}

static int64_t count_events(const struct row *row, const char *event, int64_t from) {
    int64_t count = 0;
    for (size_t i = 0; i < row->events; i++)
        count += strcmp(row->first[i].event, event) == 0 && row->first[i].at_us >= from;
    return count;
}

struct attempts {
    struct table *table;
};

static int compare_rows(const void *key, const void *row) {
    int64_t a = *(const int64_t *)key, b = ((const struct row *)row)->work_id;
    return (a > b) - (a < b);
}

static void add_attempts(void *context, const char *const *values) {
    struct table *table = context;
    int64_t work_id = strtoll(values[0], NULL, 10);
    struct row *row = bsearch(&work_id, table->rows, table->count, sizeof(*row), compare_rows);
    if (row)
        row->attempts = atoi(values[1]);
}

static void read_attempts(struct trial *trial, struct table *table, int number) {
    char sqlite_text[160], postgres_text[160];
    if (number > 1)
        snprintf(sqlite_text, sizeof(sqlite_text),
                 "select work_id, count(*) from boxcar_reader_attempt where box = %d group by 1", number);
    else
        snprintf(sqlite_text, sizeof(sqlite_text), "select work_id, count(*) from boxcar_attempt group by 1");
    snprintf(postgres_text, sizeof(postgres_text),
             "select work_id, count(*) from attempt where reader = %d group by 1", number);
    ledger_sql_each(&trial->ledger, sqlite_text, postgres_text, add_attempts, table);
}

/* Handled, as often as it was charged for, or not at all if the reader does not want it. */
static void check_row(struct trial *trial, const struct row *row, int64_t moved_at) {
    int64_t starts = count_events(row, "start", 0), ends = count_events(row, "end", 0);
    int64_t after = moved_at > 0 ? count_events(row, "start", moved_at) : 0;
    bool was_moved = after > 0 && after < starts;
    if (row->is_wanted && ends == 0)
        offend(&trial->ledger, "work id %lld (%s) was begun %lld times and never ended",
               (long long)row->work_id, row->topic, (long long)starts);
    if (!row->may_be_wanted && starts > 0)
        offend(&trial->ledger, "work id %lld (%s) is not for this reader", (long long)row->work_id,
               row->topic);
    if (starts > 1 + row->attempts + was_moved)
        offend(&trial->ledger, "work id %lld was begun %lld times, %d attempts are counted",
               (long long)row->work_id, (long long)starts, row->attempts);
}

/* ---- order ---- */

static int compare_streams(const void *left, const void *right) {
    const struct row *a = left, *b = right;
    int order = strcmp(a->stream, b->stream);
    if (order != 0)
        return order;
    return (a->work_id > b->work_id) - (a->work_id < b->work_id);
}

/* Whether one was enqueued after the other was there; of concurrent ones any may be first. */
static bool is_before(const struct row *a, const struct row *b) {
    if (a->piece == b->piece)
        return a->place < b->place;
    return a->piece->ended < b->piece->begun;
}

static void check_pair(struct trial *trial, const struct row *earlier, const struct row *later) {
    for (size_t i = 0; i < later->events; i++) {
        const struct start *event = &later->first[i], *last = NULL;
        if (strcmp(event->event, "start") != 0)
            continue;
        for (size_t j = 0; j < earlier->events && earlier->first[j].at_us <= event->at_us; j++)
            last = &earlier->first[j];
        if (!last || strcmp(last->event, "end") != 0)
            offend(&trial->ledger, "%s: work id %lld was begun while %lld was %s", later->stream,
                   (long long)later->work_id, (long long)earlier->work_id,
                   last ? last->event : "not yet begun");
    }
}

static void check_streams_of(struct trial *trial, struct table *table) {
    qsort(table->rows, table->count, sizeof(*table->rows), compare_streams);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (row->stream[0] == '\0' || !row->is_wanted)
            continue;
        for (size_t j = i + 1; j < table->count && strcmp(table->rows[j].stream, row->stream) == 0; j++) {
            const struct row *other = &table->rows[j];
            if (other->is_wanted && is_before(row, other))
                check_pair(trial, row, other);
            else if (other->is_wanted && is_before(other, row))
                check_pair(trial, other, row);
        }
    }
}

/* ---- the store ---- */

static int64_t ask(struct trial *trial, const char *sqlite_format, const char *postgres_format, int number) {
    char sqlite_text[400], postgres_text[400];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sqlite_text, sizeof(sqlite_text), sqlite_format, number);
    snprintf(postgres_text, sizeof(postgres_text), postgres_format, number);
#pragma GCC diagnostic pop
    return sql_number(trial, sqlite_text, postgres_text);
}

static void judge_store(struct trial *trial, const struct reader *reader, int64_t ended) {
    const char *table = reader->number > 1 ? "reader_finished" : "finished";
    const char *also = reader->number > 1 ? "f.box = %d" : "%d >= 0";
    char sums[200], uniques[300];
    snprintf(sums, sizeof(sums),
             "select coalesce(sum(f.last_id - f.first_id + 1), 0) from boxcar_%s f where %s", table, also);
    snprintf(uniques, sizeof(uniques),
             "select count(distinct m.work_id) from boxcar_%s f join boxcar_message m on m.work_id between "
             "f.first_id and f.last_id where %s",
             table, also);
    judge(trial, "the store says that it has ended each of them",
          llabs(ended -
                ask(trial, sums,
                    "select coalesce(sum(f.last_id - f.first_id + 1), 0) from finished f where f.box = %d",
                    reader->number)));
    judge(trial, "once",
          llabs(ended - ask(trial, uniques,
                            "select count(distinct m.work_id) from finished f join message m on m.work_id "
                            "between f.first_id and f.last_id where f.box = %d",
                            reader->number)));
}

/* ---- all of it ---- */

void judge_reader(struct trial *trial, const struct pieces *pieces, const struct reader *readers,
                  size_t count, const struct reader *reader, int64_t moved_at) {
    struct table table = {.pieces = pieces};
    struct starts starts;
    int64_t ended = 0, wanted = 0;
    char promise[160];
    read_table(trial, &table);
    starts_read(&starts, reader->evidence);
    read_attempts(trial, &table, reader->number);
    for (size_t i = 0; i < table.count; i++) {
        struct row *row = &table.rows[i];
        if (!row->piece)
            continue; /* judge_pieces() has complained */
        mark_wanted(row, readers, count, reader);
        find_events(row, &starts);
        check_row(trial, row, moved_at);
        wanted += row->is_wanted;
        ended += count_events(row, "end", 0) > 0;
    }
    snprintf(promise, sizeof(promise), "%s has ended each message that it wants, and no others",
             reader->name ? reader->name : "the main reader");
    printf("%s: %s: %lld messages wanted, %lld handled, %lld times\n", trial->name,
           reader->name ? reader->name : "main", (long long)wanted, (long long)ended,
           (long long)starts_count(&starts, "start", 0));
    conclude(&trial->ledger, &trial->verdict, promise);
    check_streams_of(trial, &table);
    conclude(&trial->ledger, &trial->verdict, "in the order of the streams");
    judge_store(trial, reader, ended);
    starts_free(&starts);
    free(table.rows);
}
