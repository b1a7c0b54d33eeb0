/* A policy is its subscriptions: POLICY/DESTINATION, or POLICY/all. Names of others have no slash. */
#include "policy.h"

#include <stdio.h>

#include "base/utf8.h"
#include "core/circle.h"
#include "core/fanout.h"
#include "make.h"
#include "reader.h"
#include "store/sqlite/message/read.h"

#define SHOWN_MAX 100 /* bytes of a name in an error */

/* ---- reading ---- */

boxcar_status sqlite_destinations_parse(struct sqlite_store *store, struct query *row, int column,
                                        boxcar_str name, struct arena *arena, boxcar_str **ret_destinations,
                                        size_t *ret_count, boxcar_error *err) {
    boxcar_str json = query_get_text(row, column), shown = utf8_cut(name, SHOWN_MAX);
    if (json.data == NULL && sqlite3_column_bytes(row->stmt, column) > 0)
        return error_no_memory(err);
    TRY(sqlite_patterns_parse(json, arena, ret_destinations, ret_count, err));
    return *ret_count > 0 ? BOXCAR_OK
                          : error_set(err, BOXCAR_E_STORE,
                                      "%s: the destinations of the subscription \"%.*s\" are damaged: remove "
                                      "the policy, and add it again",
                                      store->base.id, (int)shown.len, shown.data);
}

boxcar_status sqlite_policy_numbers(struct sqlite_store *store, boxcar_str name, int64_t **ret_numbers,
                                    size_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_POLICY_NUMBERS, Q_TEXT(name));
    TRY(sqlite_collect_ids(store, &query, ret_numbers, ret_count, err));
    return *ret_count > 0 ? BOXCAR_OK : store_refuse_policy(name, err);
}

boxcar_status sqlite_policy_check_free(struct sqlite_store *store, int64_t number, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_POLICY_OF, Q_INT(number));
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return BOXCAR_OK;
    boxcar_str shown = utf8_cut(fanout_policy_of(query_get_text(&query, 0)), SHOWN_MAX);
    error_set(err, BOXCAR_E_CONFLICT,
              "the subscription belongs to the policy \"%.*s\" and goes and changes with it: boxcar fanout "
              "rm %.*s removes it whole",
              (int)shown.len, shown.data, (int)shown.len, shown.data);
    if (err != NULL)
        snprintf(err->argument, sizeof(err->argument), "name");
    return BOXCAR_E_CONFLICT;
}

/* ---- circles ---- */

struct policies {
    struct circle_policy *items; /* in the scratch arena */
    size_t count, capacity;
    boxcar_str *destinations; /* of the last one */
    size_t room;
};

static boxcar_status add_policy(struct sqlite_store *store, struct policies *policies,
                                const struct circle_policy *policy, boxcar_error *err) {
    struct circle_policy *items = arena_make_room(&store->scratch, policies->items, policies->count,
                                                  &policies->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    policies->items = items;
    items[policies->count++] = *policy;
    policies->destinations = NULL;
    policies->room = 0;
    return BOXCAR_OK;
}

/* To the last one. */
static boxcar_status add_destinations(struct sqlite_store *store, struct policies *policies,
                                      struct query *route, boxcar_error *err) {
    struct circle_policy *policy = &policies->items[policies->count - 1];
    boxcar_str *more;
    size_t count;
    TRY(sqlite_destinations_parse(store, route, 2, query_get_text(route, 0), &store->scratch, &more, &count,
                                  err));
    for (size_t i = 0; i < count; i++) {
        boxcar_str *all = arena_make_room(&store->scratch, policies->destinations, policy->destination_count,
                                          &policies->room, sizeof(*all));
        if (all == NULL)
            return error_no_memory(err);
        all[policy->destination_count++] = more[i];
        policies->destinations = all;
        policy->destinations = all;
    }
    return BOXCAR_OK;
}

/* All but its destinations, of one of its routes. */
static boxcar_status read_policy(struct sqlite_store *store, struct query *query,
                                 struct circle_policy *ret_policy, boxcar_error *err) {
    struct circle_policy policy = {.pattern_count = 0};
    boxcar_str *patterns;
    TRY(query_copy_text(query, 0, &store->scratch, &policy.name, err));
    TRY(query_copy_text(query, 3, &store->scratch, &policy.then_topic, err));
    TRY(query_copy_text(query, 4, &store->scratch, &policy.else_topic, err));
    TRY(sqlite_patterns_parse(query_get_text(query, 1), &store->scratch, &patterns, &policy.pattern_count,
                              err));
    policy.name = fanout_policy_of(policy.name);
    policy.patterns = patterns;
    *ret_policy = policy;
    return BOXCAR_OK;
}

/* Routes come by name, so those of a policy come together. The first of the list, which has none yet, has a
 * name of its own. */
static boxcar_status read_policies(struct sqlite_store *store, struct policies *policies, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_POLICIES_OF_OUTBOX);
    while (query_next(&query)) {
        boxcar_str name = fanout_policy_of(query_get_text(&query, 0));
        struct circle_policy policy;
        if (!str_equal(name, policies->items[policies->count - 1].name)) {
            TRY(read_policy(store, &query, &policy, err));
            TRY(add_policy(store, policies, &policy, err));
        }
        TRY(add_destinations(store, policies, &query, err));
    }
    return query_status(&query, err);
}

static boxcar_status error_circle(const struct circle_search *search, size_t length, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    for (size_t i = 0; i <= length; i++) {
        boxcar_str name = search->policies[search->path[i % length]].name;
        buf_append_text(&text, i > 0 ? " -> " : "");
        buf_append_str(&text, utf8_cut(name, SHOWN_MAX));
    }
    return text.failed
               ? error_no_memory(err)
               : error_set(err, BOXCAR_E_CONFLICT,
                           "a copy would come back: %s; choose other destinations or patterns", text.data);
}

/* What is forwarded from the inbox does not come back there. */
static boxcar_status check_circle(struct sqlite_store *store, const boxcar_new_fanout *policy,
                                  boxcar_error *err) {
    struct policies policies = {.count = 0};
    const struct circle_policy new = {.name = policy->name,
                                      .patterns = policy->patterns,
                                      .pattern_count = policy->pattern_count,
                                      .destinations = policy->destinations,
                                      .destination_count = policy->destination_count,
                                      .then_topic = policy->then_topic,
                                      .else_topic = policy->else_topic};
    if (policy->box != BOXCAR_OUTBOX)
        return BOXCAR_OK;
    TRY(add_policy(store, &policies, &new, err));
    TRY(read_policies(store, &policies, err));
    struct circle_search search = {
        .policies = policies.items,
        .count = policies.count,
        .before = arena_alloc_array(&store->scratch, policies.count, sizeof(*search.before)),
        .path = arena_alloc_array(&store->scratch, policies.count, sizeof(*search.path))};
    if (search.before == NULL || search.path == NULL)
        return error_no_memory(err);
    size_t length = circle_find(&search);
    return length == 0 ? BOXCAR_OK : error_circle(&search, length, err);
}

/* ---- adding ---- */

/* Joins count what the main reader ends, and it would never get these copies. Where {topic} is in it, each
 * message tells. */
static boxcar_status check_members(struct sqlite_store *store, const boxcar_new_fanout *policy,
                                   boxcar_error *err) {
    char argument[sizeof(((boxcar_error *)NULL)->argument)];
    for (size_t i = 0; i < policy->destination_count; i++) {
        bool taken = false;
        if (!fanout_has_placeholder(policy->destinations[i]))
            TRY(sqlite_reader_takes(store, BOXCAR_OUTBOX, policy->destinations[i], &taken, err));
        snprintf(argument, sizeof(argument), "destinations[%zu]", i);
        if (taken)
            return error_invalid(
                err, argument,
                "%s cannot be a step of a join: a subscription takes the topic from the main "
                "reader (only), and joins count what that ends: leave then_topic out, or "
                "use another topic",
                argument);
    }
    return BOXCAR_OK;
}

static boxcar_status join_name(struct sqlite_store *store, boxcar_str policy, boxcar_str route,
                               boxcar_str *ret_name, boxcar_error *err) {
    size_t len = policy.len + 1 + route.len;
    char *name = arena_alloc_text(&store->scratch, len);
    if (name == NULL)
        return error_no_memory(err);
    memcpy(name, policy.data, policy.len);
    name[policy.len] = '/';
    memcpy(name + policy.len + 1, route.data, route.len);
    name[len] = '\0';
    *ret_name = (boxcar_str){name, len};
    return BOXCAR_OK;
}

static boxcar_status add_route(struct sqlite_store *store, const boxcar_new_fanout *policy, boxcar_str route,
                               const boxcar_str *destinations, size_t count, int64_t *ret_number,
                               boxcar_error *err) {
    struct new_reader reader = {.given = {.box = policy->box,
                                          .patterns = policy->patterns,
                                          .pattern_count = policy->pattern_count,
                                          .start = policy->start,
                                          .start_time = policy->start_time,
                                          .only = policy->only},
                                .destinations = destinations,
                                .destination_count = count,
                                .then_topic = policy->then_topic,
                                .else_topic = policy->else_topic};
    TRY(join_name(store, policy->name, route, &reader.given.name, err));
    return sqlite_reader_make(store, &reader, ret_number, err);
}

/* The first one is checked: it reads what all of them read, and starts where they start. */
static boxcar_status check_first(struct sqlite_store *store, const boxcar_new_fanout *policy, int64_t number,
                                 boxcar_error *err) {
    return policy->only ? sqlite_reader_check_unread(store, policy->box, number, policy->patterns,
                                                     policy->pattern_count, err)
                        : BOXCAR_OK;
}

boxcar_status sqlite_policy_add(struct sqlite_store *store, const boxcar_new_fanout *policy,
                                int64_t *ret_number, boxcar_error *err) {
    bool joins = !str_is_absent(policy->then_topic);
    TRY(sqlite_reader_check_name(store, policy->name, err));
    TRY(check_circle(store, policy, err));
    if (joins)
        TRY(check_members(store, policy, err));
    if (policy->only)
        TRY(sqlite_reader_check_taking(store, policy->box, policy->patterns, policy->pattern_count, err));
    TRY(add_route(store, policy, joins ? BOXCAR_STR(FANOUT_ALL) : policy->destinations[0],
                  policy->destinations, joins ? policy->destination_count : 1, ret_number, err));
    TRY(check_first(store, policy, *ret_number, err));
    for (size_t i = 1; !joins && i < policy->destination_count; i++)
        TRY(add_route(store, policy, policy->destinations[i], &policy->destinations[i], 1, ret_number, err));
    return BOXCAR_OK;
}
