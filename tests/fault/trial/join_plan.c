#include "join_plan.h"

#include <stdio.h>
#include <string.h>

#include "storm.h"

static boxcar_message_id id_of(const char *what, int64_t join_number, int number) {
    char key[64];
    snprintf(key, sizeof(key), "%s %lld %d", what, (long long)join_number, number);
    return boxcar_message_id_of_key(boxcar_str_of(key));
}

boxcar_message_id step_id(int64_t join_number, int step) { return id_of("step", join_number, step); }

boxcar_message_id wait_id(int64_t join_number, int wait) { return id_of("wait", join_number, wait); }

static boxcar_join_id join_id_of(int64_t number) {
    boxcar_message_id id = id_of("join", number, 0);
    boxcar_join_id join_id;
    memcpy(join_id.uuid.bytes, id.uuid.bytes, sizeof(join_id.uuid.bytes));
    return join_id;
}

const char *step_payload(enum step_kind kind) {
    static const char *const PAYLOADS[] = {
        [STEP_GOOD] = "good", [STEP_AGAIN] = "again", [STEP_BAD] = "bad", [STEP_NEVER] = "never"};
    return PAYLOADS[kind];
}

bool step_succeeds(enum step_kind kind) { return kind == STEP_GOOD || kind == STEP_AGAIN; }

static enum join_kind draw_kind(struct client *chance) {
    int64_t percent = draw_between(chance, 1, 100);
    if (percent <= 4)
        return JOIN_OVERFULL;
    if (percent <= 6)
        return JOIN_SHORT;
    if (percent <= 10)
        return JOIN_DEADLINE;
    return percent <= 13 ? JOIN_CANCELLED : JOIN_ORDINARY;
}

/* A fifth of all steps fail at least once; about half of the joins see none that fails for good. */
static enum step_kind draw_step(struct client *chance, bool sound) {
    int64_t percent = draw_between(chance, 1, 100);
    if (sound)
        return percent <= 5 ? STEP_AGAIN : STEP_GOOD;
    if (percent <= 12)
        return STEP_BAD;
    if (percent <= 24)
        return STEP_NEVER;
    return percent <= 35 ? STEP_AGAIN : STEP_GOOD;
}

static enum step_way draw_way(struct client *chance) {
    int64_t percent = draw_between(chance, 1, 100);
    if (percent <= 12)
        return WAY_ATTACHED;
    if (percent <= 18)
        return WAY_AWAITED;
    return percent <= 20 ? WAY_REPORTED : WAY_ENQUEUED;
}

static struct client chance_of(uint64_t seed, int64_t number) {
    struct client chance = {.chance = seed * UINT64_C(1000003) + (uint64_t)number * UINT64_C(0x10001)};
    draw(&chance.chance);
    return chance;
}

static void draw_steps(struct join_plan *plan, struct client *chance, bool wide) {
    plan->step_count =
        (int)(wide ? draw_between(chance, 1, JOIN_STEPS_MAX) : draw_size(chance, JOIN_STEPS_MAX));
    bool sound = draw_percent(chance, 50);
    for (int i = 0; i < plan->step_count; i++) {
        plan->steps[i].kind = draw_step(chance, sound);
        plan->steps[i].way = draw_way(chance);
    }
}

/* A step that no message stands for is its own join's alone. */
static bool draw_borrowing(struct client *chance, uint64_t seed, bool wide, int64_t number) {
    struct join_plan before = {.number = number - 1};
    struct client its_chance = chance_of(seed, number - 1);
    if (!draw_percent(chance, 20) || number == 0)
        return false;
    draw_steps(&before, &its_chance, wide);
    return before.steps[before.step_count - 1].way != WAY_REPORTED;
}

static int64_t draw_expected(struct client *chance, const struct join_plan *plan) {
    int64_t members = plan->step_count + plan->borrows;
    if (plan->kind == JOIN_SHORT)
        return members + 1;
    return plan->kind == JOIN_OVERFULL ? draw_between(chance, 1, members) : members;
}

void join_plan_make(struct join_plan *plan, uint64_t seed, bool wide, int64_t number) {
    struct client chance = chance_of(seed, number);
    *plan = (struct join_plan){.number = number, .join_id = join_id_of(number)};
    draw_steps(plan, &chance, wide);
    plan->kind = draw_kind(&chance);
    plan->borrows = draw_borrowing(&chance, seed, wide, number);
    plan->expected = draw_expected(&chance, plan);
    if (plan->kind == JOIN_DEADLINE)
        plan->deadline_ms = draw_between(&chance, 1, draw_percent(&chance, 50) ? 300 : 30000);
    plan->waits_first = draw_percent(&chance, 40);
    plan->has_on_fail[0] = draw_percent(&chance, 90);
    plan->has_on_fail[1] = draw_percent(&chance, 50);
}

bool join_plan_may_end_early(const struct join_plan *plan) {
    return plan->kind == JOIN_OVERFULL || plan->kind == JOIN_DEADLINE || plan->kind == JOIN_CANCELLED;
}
