/* Within a stream: held by one client at a time, in the order of arrival. Neighbours may come together, by
 * one claim. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "lease.h"
#include "outgoing.h"

/* One streamed message. */
struct streamed {
    const struct end_state *end_state;
    int64_t acked;        /* when the ack that counted began; 0 = not known, or it was ever dead */
    int64_t first_before; /* its first lease */
    int64_t first_after;
    int64_t first_epoch;
};

struct span {
    int64_t from;
    int64_t to;
    int64_t work_id;
    int64_t epoch;
};

struct stream_trace {
    struct streamed *messages;
    size_t message_count;
    struct span *spans;
    size_t span_count;
};

static bool was_replayed(const struct ledger *ledger, int64_t work_id) {
    size_t first, end = ledger_bad_ends(ledger, work_id, &first);
    for (; first < end; first++)
        if (strcmp(ledger->bad_ends[first].outcome, "replayed") == 0)
            return true;
    return false;
}

static void *more(void *rows, size_t count, size_t size) {
    if ((count & (count - 1)) != 0)
        return rows;
    rows = realloc(rows, (count > 0 ? 2 * count : 1) * size);
    if (!rows)
        err(99, "streams");
    return rows;
}

static void add_span(struct stream_trace *trace, const struct lease *lease) {
    if (!lease->claim || lease->from >= lease->to)
        return;
    trace->spans = more(trace->spans, trace->span_count, sizeof(*trace->spans));
    trace->spans[trace->span_count++] = (struct span){lease->from, lease->to, lease->work_id, lease->epoch};
}

static void add_message(const struct ledger *ledger, struct stream_trace *trace,
                        const struct end_state *end_state) {
    struct streamed message = {.end_state = end_state};
    struct lease lease;
    size_t first, end = ledger_acts(ledger, end_state->work_id, &first);
    while (lease_next(ledger, &first, end, &lease)) {
        add_span(trace, &lease);
        if (lease.claim && message.first_after == 0) {
            message.first_before = lease.claim->before;
            message.first_after = lease.claim->after;
            message.first_epoch = lease.epoch;
        }
        if (lease.ended && lease.verb == VERB_ACK)
            message.acked = lease.end->before;
    }
    if (was_replayed(ledger, end_state->work_id))
        message.acked = 0;
    trace->messages = more(trace->messages, trace->message_count, sizeof(*trace->messages));
    trace->messages[trace->message_count++] = message;
}

static bool was_claimed_by(const struct ledger *ledger, int64_t work_id, int64_t epoch) {
    struct lease lease;
    size_t first, end = ledger_acts(ledger, work_id, &first);
    while (lease_next(ledger, &first, end, &lease))
        if (lease.epoch == epoch)
            return true;
    return false;
}

/* An earlier message that was there for sure when a later one was claimed must have been finished, or have
 * come with it. */
static void check_order(struct ledger *ledger, const struct stream_trace *trace) {
    for (size_t i = 0; i < trace->message_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct streamed *early = &trace->messages[k], *late = &trace->messages[i];
            if (late->first_after == 0 || early->acked == 0 || early->end_state->stored_after == 0)
                continue;
            if (early->end_state->stored_after < late->first_before && early->acked > late->first_after &&
                !was_claimed_by(ledger, early->end_state->work_id, late->first_epoch))
                offend(ledger, "stream %d: work id %lld was leased (epoch after %lld) before %lld was done",
                       late->end_state->stream, (long long)late->end_state->work_id,
                       (long long)late->first_after, (long long)early->end_state->work_id);
        }
}

static int compare_spans(const void *left, const void *right) {
    const struct span *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

static void check_alone(struct ledger *ledger, const struct stream_trace *trace, int stream) {
    if (trace->span_count == 0)
        return;
    qsort(trace->spans, trace->span_count, sizeof(*trace->spans), compare_spans);
    const struct span *longest = &trace->spans[0];
    for (size_t i = 1; i < trace->span_count; i++) {
        const struct span *span = &trace->spans[i];
        if (span->from < longest->to && span->work_id != longest->work_id && span->epoch != longest->epoch)
            offend(ledger, "stream %d: work id %lld was leased while %lld was held", stream,
                   (long long)span->work_id, (long long)longest->work_id);
        if (span->to > longest->to)
            longest = span;
    }
}

void check_streams(struct ledger *ledger, struct verdict *verdict) {
    static struct stream_trace traces[STREAMS + 1];
    for (size_t i = 0; i < ledger->end_state_count; i++)
        if (ledger->end_states[i].stream > 0 && ledger->end_states[i].stream <= STREAMS)
            add_message(ledger, &traces[ledger->end_states[i].stream], &ledger->end_states[i]);
    for (int stream = 1; stream <= STREAMS; stream++)
        check_order(ledger, &traces[stream]);
    conclude(ledger, verdict, "streams were handed out in order");
    for (int stream = 1; stream <= STREAMS; stream++)
        check_alone(ledger, &traces[stream], stream);
    conclude(ledger, verdict, "streams were handed out to one at a time");
    for (int stream = 1; stream <= STREAMS; stream++) {
        free(traces[stream].messages);
        free(traces[stream].spans);
    }
}
