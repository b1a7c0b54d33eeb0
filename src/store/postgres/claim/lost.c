/* Lost claims: their answer did not arrive, because the connection broke or there was no memory for it. The
 * server may have leased messages that the claimer does not know of. The claimer numbers each claim, so it
 * can give these messages back, and no attempt is spent. Only a claimer that still runs can do this; a
 * crashed claimer's leases expire.
 *
 * A server that has not noticed the broken connection may run the claim later, after it was asked to give it
 * back. So the library asks again, less and less often, until the server has found the claim or the lease has
 * ended. */
#include "claim.h"

#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/query.h"

#define FIRST_PAUSE_MS 100

int64_t pg_claim_number(struct pg_store *pg) {
    if (pg->claim_number == 0 &&
        getrandom(&pg->claim_number, sizeof(pg->claim_number), 0) != sizeof(pg->claim_number))
        pg->claim_number = 0;
    else
        pg->claim_number++;
    return (int64_t)(pg->claim_number & INT64_MAX);
}

static void forget(struct pg_store *pg, size_t i) {
    pg->lost_count--;
    memmove(&pg->lost[i], &pg->lost[i + 1], (pg->lost_count - i) * sizeof(pg->lost[0]));
}

void pg_note_lost_claim(struct pg_store *pg, boxcar_owner owner, boxcar_box box, int64_t number,
                        int64_t lease_ms) {
    if (number == 0)
        return;
    if (pg->lost_count == PG_LOST_MAX)
        forget(pg, 0); /* its lease expires */
    pg->lost[pg->lost_count++] = (struct pg_lost_claim){.owner = owner,
                                                        .box = box,
                                                        .number = number,
                                                        .pause_ms = FIRST_PAUSE_MS,
                                                        .until_ms = clock_ms() + lease_ms};
}

/* Returns true when the server need not be asked again. */
static bool give_back(struct pg_store *pg, struct pg_lost_claim *lost, int64_t now_ms) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    if (now_ms < lost->next_ms)
        return false;
    lost->next_ms = now_ms + lost->pause_ms;
    lost->pause_ms *= 2;
    pg_params_add(&params, P_INT2(lost->box), P_ID(lost->owner), P_INT8(lost->number));
    if (pg_query_once(pg, PG_GIVE_BACK_CLAIM, &params, &result, NULL) != BOXCAR_OK)
        return false;
    return pg_get_int8(result, 0, 0) > 0 || now_ms >= lost->until_ms;
}

void pg_hasten_lost(struct pg_store *pg) {
    for (size_t i = 0; i < pg->lost_count; i++)
        pg->lost[i].next_ms = 0;
}

void pg_give_back_lost(struct pg_store *pg) {
    int64_t now_ms = pg->lost_count > 0 ? clock_ms() : 0;

    for (size_t i = 0; i < pg->lost_count && pg_is_connected(pg) && !pg_in_transaction(pg);)
        if (give_back(pg, &pg->lost[i], now_ms))
            forget(pg, i);
        else
            i++;
}
