/* Numbers as Prometheus text. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/service/health.h"
#include "cli/service/metrics_text.h"

static const boxcar_worker_stats WORKER = {.struct_size = sizeof(boxcar_worker_stats),
                                           .state = BOXCAR_WORKER_RUNNING,
                                           .loop_age_ms = 250,
                                           .queued = 7,
                                           .running = 3,
                                           .concurrency = 4,
                                           .claims = 11,
                                           .claimed = 22,
                                           .given_back = 33,
                                           .unhandled = 44,
                                           .leases_renewed = 55,
                                           .leases_lost = 66,
                                           .reaped = 77,
                                           .store_errors = 88,
                                           .detachments = 99,
                                           .handlers_abandoned = INT64_MAX};

static char *text_of(const struct metrics_numbers *numbers) {
    char *text;
    size_t length = metrics_text(numbers, &text);
    assert_non_null(text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(text[length - 1], '\n');
    return text;
}

/* With one handler for `topic`. */
static char *text_for_topic(boxcar_str topic) {
    boxcar_handler_stats handler = BOXCAR_HANDLER_STATS_INIT;
    handler.topic = topic;
    return text_of(&(struct metrics_numbers){
        .version = "1.2.3", .worker = &WORKER, .handlers = &handler, .handler_count = 1});
}

/* A whole line of the text. */
static bool has_line(const char *text, const char *line) {
    size_t length = strlen(line);
    for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
    return false;
}

static void assert_line(const char *text, const char *line) {
    if (!has_line(text, line))
        fail_msg("no line '%s' in:\n%s", line, text);
}

static void worker_numbers_have_the_names_that_are_documented(void **state) {
    static const char *const LINES[] = {
        "boxcar_build_info{version=\"1.2.3\"} 1",
        "boxcar_worker_state{state=\"running\"} 1",
        "boxcar_worker_state{state=\"detached\"} 0",
        "boxcar_worker_loop_age_seconds 0.25",
        "boxcar_worker_queued 7",
        "boxcar_worker_running 3",
        "boxcar_worker_concurrency 4",
        "boxcar_worker_claims_total 11",
        "boxcar_messages_claimed_total 22",
        "boxcar_messages_given_back_total 33",
        "boxcar_messages_unhandled_total 44",
        "boxcar_leases_renewed_total 55",
        "boxcar_leases_lost_total 66",
        "boxcar_messages_reaped_total 77",
        "boxcar_store_errors_total 88",
        "boxcar_store_detachments_total 99",
        "boxcar_handlers_abandoned_total 9223372036854775807",
        "boxcar_store_up 1",
        "# TYPE boxcar_worker_claims_total counter",
        "# TYPE boxcar_worker_queued gauge",
        "# TYPE boxcar_handler_seconds histogram",
    };
    (void)state;
    char *text = text_of(&(struct metrics_numbers){.version = "1.2.3", .worker = &WORKER});
    for (size_t i = 0; i < COUNT_OF(LINES); i++)
        assert_line(text, LINES[i]);
    free(text);
}

static void store_is_up_while_the_worker_uses_it(void **state) {
    static const struct {
        boxcar_worker_state state;
        const char *line;
    } CASES[] = {{BOXCAR_WORKER_IDLE, "boxcar_store_up 0"},     {BOXCAR_WORKER_STARTING, "boxcar_store_up 0"},
                 {BOXCAR_WORKER_RUNNING, "boxcar_store_up 1"},  {BOXCAR_WORKER_DETACHED, "boxcar_store_up 0"},
                 {BOXCAR_WORKER_STOPPING, "boxcar_store_up 1"}, {BOXCAR_WORKER_STOPPED, "boxcar_store_up 1"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        boxcar_worker_stats worker = WORKER;
        worker.state = CASES[i].state;
        char *text = text_of(&(struct metrics_numbers){.version = "1", .worker = &worker});
        assert_line(text, CASES[i].line);
        free(text);
    }
}

static void outcomes_are_labels_of_one_counter(void **state) {
    (void)state;
    boxcar_handler_stats handlers[2] = {BOXCAR_HANDLER_STATS_INIT, BOXCAR_HANDLER_STATS_INIT};
    handlers[0].topic = BOXCAR_STR("orders.*");
    handlers[0].acked = 1;
    handlers[0].retried = 2;
    handlers[0].dead = 9;
    handlers[0].failed = 3;
    handlers[0].deferred = 4;
    handlers[0].lost = 5;
    handlers[0].timed_out = 6;
    handlers[0].running = 7;
    handlers[1].topic = BOXCAR_STR("mail.send");
    handlers[1].acked = 8;
    char *text = text_of(&(struct metrics_numbers){
        .version = "1", .worker = &WORKER, .handlers = handlers, .handler_count = 2});
    assert_line(text, "boxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"acked\"} 1");
    assert_line(text,
                "boxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"retried\"} 2");
    assert_line(text,
                "boxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"failed\"} 3");
    assert_line(text,
                "boxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"deferred\"} 4");
    assert_line(text, "boxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"lost\"} 5");
    assert_line(text, "boxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"dead\"} 9");
    assert_line(text, "boxcar_handler_timeouts_total{topic=\"orders.*\",box=\"outbox\"} 6");
    assert_line(text, "boxcar_handler_running{topic=\"orders.*\",box=\"outbox\"} 7");
    assert_line(text,
                "boxcar_messages_settled_total{topic=\"mail.send\",box=\"outbox\",outcome=\"acked\"} 8");
    free(text);
}

static void histogram_buckets_are_cumulated_up_to_infinity(void **state) {
    (void)state;
    boxcar_handler_stats handler = BOXCAR_HANDLER_STATS_INIT;
    char line[128];
    handler.topic = BOXCAR_STR("t");
    handler.seconds = 12.25;
    for (size_t i = 0; i < BOXCAR_HANDLER_BUCKETS; i++)
        handler.buckets[i] = 1 << i;
    char *text = text_of(&(struct metrics_numbers){
        .version = "1", .worker = &WORKER, .handlers = &handler, .handler_count = 1});
    for (size_t i = 0; i + 1 < BOXCAR_HANDLER_BUCKETS; i++) {
        snprintf(line, sizeof(line),
                 "boxcar_handler_seconds_bucket{topic=\"t\",box=\"outbox\",le=\"%.9g\"} %d",
                 boxcar_handler_bucket_seconds(i), (2 << i) - 1);
        assert_line(text, line);
    }
    int all = (1 << BOXCAR_HANDLER_BUCKETS) - 1;
    snprintf(line, sizeof(line), "boxcar_handler_seconds_bucket{topic=\"t\",box=\"outbox\",le=\"+Inf\"} %d",
             all);
    assert_line(text, line);
    snprintf(line, sizeof(line), "boxcar_handler_seconds_count{topic=\"t\",box=\"outbox\"} %d", all);
    assert_line(text, line);
    assert_line(text, "boxcar_handler_seconds_sum{topic=\"t\",box=\"outbox\"} 12.25");
    free(text);
}

static void label_values_are_escaped_whatever_the_topic_contains(void **state) {
    static const struct {
        boxcar_str topic;
        const char *line;
    } CASES[] = {
        {{"a\\b", 3}, "boxcar_handler_running{topic=\"a\\\\b\",box=\"outbox\"} 0"},
        {{"a\"b", 3}, "boxcar_handler_running{topic=\"a\\\"b\",box=\"outbox\"} 0"},
        {{"a\nb", 3}, "boxcar_handler_running{topic=\"a\\nb\",box=\"outbox\"} 0"},
        {{"\"} 1\nevil 2", 11}, "boxcar_handler_running{topic=\"\\\"} 1\\nevil 2\",box=\"outbox\"} 0"},
        {{"a{b},c=d", 8}, "boxcar_handler_running{topic=\"a{b},c=d\",box=\"outbox\"} 0"},
        {{"\xC3\xA9t\xC3\xA9", 5}, "boxcar_handler_running{topic=\"\xC3\xA9t\xC3\xA9\",box=\"outbox\"} 0"},
        {{"a\xFFz", 3}, "boxcar_handler_running{topic=\"a\xEF\xBF\xBDz\",box=\"outbox\"} 0"},
        {{"a\xC3", 2}, "boxcar_handler_running{topic=\"a\xEF\xBF\xBD\",box=\"outbox\"} 0"},
        {{"", 0}, "boxcar_handler_running{topic=\"\",box=\"outbox\"} 0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char *text = text_for_topic(CASES[i].topic);
        assert_line(text, CASES[i].line);
        assert_null(strstr(text, "\nevil"));
        free(text);
    }
}

/* How many lines are not comments. */
static size_t count_samples(const char *text) {
    size_t count = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        count += line[0] != '#';
    return count;
}

/* What there is to serve grows with the handlers, never with what they did. BX-010 */
static void number_of_samples_depends_on_the_handlers_alone(void **state) {
    (void)state;
    boxcar_handler_stats busy[2] = {BOXCAR_HANDLER_STATS_INIT, BOXCAR_HANDLER_STATS_INIT};
    busy[0].topic = BOXCAR_STR("a");
    busy[1].topic = BOXCAR_STR("b");
    struct metrics_numbers numbers = {.version = "1", .worker = &WORKER, .handlers = busy};
    size_t counts[3];
    for (size_t i = 0; i < 3; i++) {
        numbers.handler_count = i;
        char *text = text_of(&numbers);
        counts[i] = count_samples(text);
        free(text);
    }
    size_t per_handler = 6 + 2 + BOXCAR_HANDLER_BUCKETS + 2;
    assert_int_equal(counts[1] - counts[0], per_handler);
    assert_int_equal(counts[2] - counts[1], per_handler);
    for (size_t i = 0; i < BOXCAR_HANDLER_BUCKETS; i++)
        busy[0].buckets[i] = busy[0].acked = busy[1].lost = 1000000;
    char *text = text_of(&numbers);
    assert_int_equal(count_samples(text), counts[2]);
    free(text);
}

static void each_metric_is_introduced_once(void **state) {
    (void)state;
    boxcar_handler_stats handlers[2] = {BOXCAR_HANDLER_STATS_INIT, BOXCAR_HANDLER_STATS_INIT};
    const boxcar_stats store[2] = {{.exact = true}, {.exact = true}};
    handlers[0].topic = BOXCAR_STR("a");
    handlers[1].topic = BOXCAR_STR("b");
    char *text = text_of(&(struct metrics_numbers){
        .version = "1", .worker = &WORKER, .handlers = handlers, .handler_count = 2, .store = store});
    size_t checked = 0;
    for (const char *at = strstr(text, "# TYPE "); at; at = strstr(at + 1, "# TYPE ")) {
        char line[128];
        size_t length = strcspn(at + 7, " ");
        snprintf(line, sizeof(line), "# TYPE %.*s ", (int)length, at + 7);
        assert_ptr_equal(strstr(text, line), at);
        checked++;
    }
    assert_true(checked > 20);
    free(text);
}

static void store_numbers_are_served_with_their_age(void **state) {
    (void)state;
    const boxcar_stats store[2] = {{.ready = 1,
                                    .waiting = 2,
                                    .in_progress = 3,
                                    .done = 4,
                                    .failed = 5,
                                    .oldest_ready_age_seconds = 6.5,
                                    .exact = false},
                                   {.ready = 7, .exact = true}};
    const struct metrics_streams streams = {.instances = 7,
                                            .partitions = {1429, 5000},
                                            .oldest_lease_seconds = 8.25,
                                            .halted = {9, 10},
                                            .violations = INT64_MAX,
                                            .upkeep_age_seconds = 61.5};
    char *text = text_of(&(struct metrics_numbers){
        .version = "1", .worker = &WORKER, .store = store, .streams = &streams, .store_age_seconds = 1.5});
    assert_line(text, "boxcar_store_messages{status=\"ready\",box=\"outbox\"} 1");
    assert_line(text, "boxcar_instances 7");
    assert_line(text, "boxcar_partitions_owned{box=\"outbox\"} 1429");
    assert_line(text, "boxcar_partitions_owned{box=\"inbox\"} 5000");
    assert_line(text, "boxcar_oldest_lease_seconds 8.25");
    assert_line(text, "boxcar_streams_halted{box=\"outbox\"} 9");
    assert_line(text, "boxcar_streams_halted{box=\"inbox\"} 10");
    assert_line(text, "boxcar_ordering_violations_total 9223372036854775807");
    assert_line(text, "boxcar_store_upkeep_age_seconds 61.5");
    assert_line(text, "boxcar_store_messages{status=\"waiting\",box=\"outbox\"} 2");
    assert_line(text, "boxcar_store_messages{status=\"in_progress\",box=\"outbox\"} 3");
    assert_line(text, "boxcar_store_messages{status=\"done\",box=\"outbox\"} 4");
    assert_line(text, "boxcar_store_messages{status=\"failed\",box=\"outbox\"} 5");
    assert_line(text, "boxcar_store_messages{status=\"ready\",box=\"inbox\"} 7");
    assert_line(text, "boxcar_store_oldest_ready_seconds{box=\"outbox\"} 6.5");
    assert_line(text, "boxcar_store_stats_exact 0");
    assert_line(text, "boxcar_store_stats_age_seconds 1.5");
    free(text);
}

/* BX-094 */
static void subscriptions_are_served_by_name(void **state) {
    (void)state;
    const boxcar_stats store[2] = {{.exact = true}, {.exact = true}};
    const struct metrics_subscription subscriptions[] = {{.name = "audit",
                                                          .box = BOXCAR_INBOX,
                                                          .is_paused = true,
                                                          .ready = 1,
                                                          .in_progress = 2,
                                                          .failed = 3,
                                                          .held = 4,
                                                          .lag_seconds = 5.5}};
    boxcar_handler_stats handlers[2] = {BOXCAR_HANDLER_STATS_INIT, BOXCAR_HANDLER_STATS_INIT};
    handlers[0].topic = BOXCAR_STR("a");
    handlers[0].reader = 2;
    handlers[1].topic = BOXCAR_STR("join.wait");
    struct metrics_numbers numbers = {.version = "1",
                                      .subscription = BOXCAR_STR("au\"dit"),
                                      .worker = &WORKER,
                                      .handlers = handlers,
                                      .handler_count = 2,
                                      .store = store,
                                      .subscriptions = subscriptions,
                                      .subscription_count = 1};
    char *text = text_of(&numbers);
    assert_line(text,
                "boxcar_subscription_messages{subscription=\"audit\",box=\"inbox\",status=\"ready\"} 1");
    assert_line(
        text, "boxcar_subscription_messages{subscription=\"audit\",box=\"inbox\",status=\"in_progress\"} 2");
    assert_line(text,
                "boxcar_subscription_messages{subscription=\"audit\",box=\"inbox\",status=\"failed\"} 3");
    assert_line(text, "boxcar_subscription_held_messages{subscription=\"audit\",box=\"inbox\"} 4");
    assert_line(text, "boxcar_subscription_lag_seconds{subscription=\"audit\",box=\"inbox\"} 5.5");
    assert_line(text, "boxcar_subscription_paused{subscription=\"audit\",box=\"inbox\"} 1");
    assert_line(text, "boxcar_handler_running{topic=\"a\",box=\"outbox\",subscription=\"au\\\"dit\"} 0");
    assert_line(text, "boxcar_handler_running{topic=\"join.wait\",box=\"outbox\"} 0");
    free(text);
    numbers.subscription_count = 0;
    text = text_of(&numbers);
    assert_null(strstr(text, "boxcar_subscription_"));
    free(text);
}

static void old_store_numbers_are_left_out_and_their_age_stays(void **state) {
    (void)state;
    const boxcar_stats store[2] = {{.ready = 1}};
    const struct metrics_streams streams = {.halted = {1}};
    char *text = text_of(&(struct metrics_numbers){
        .version = "1", .worker = &WORKER, .store = store, .streams = &streams, .store_age_seconds = 61});
    assert_null(strstr(text, "boxcar_streams_halted"));
    assert_null(strstr(text, "boxcar_store_messages"));
    assert_null(strstr(text, "boxcar_store_oldest_ready_seconds"));
    assert_line(text, "boxcar_store_stats_age_seconds 61");
    free(text);
    text = text_of(&(struct metrics_numbers){.version = "1", .worker = &WORKER});
    assert_null(strstr(text, "boxcar_store_messages"));
    assert_null(strstr(text, "boxcar_store_stats_age_seconds"));
    free(text);
}

static void worker_lives_while_its_loop_turns(void **state) {
    static const struct {
        boxcar_worker_state state;
        int64_t loop_age_ms;
        bool alive;
    } CASES[] = {
        {BOXCAR_WORKER_RUNNING, 0, true},
        {BOXCAR_WORKER_RUNNING, HEALTH_LOOP_AGE_MS_MAX, true},
        {BOXCAR_WORKER_RUNNING, HEALTH_LOOP_AGE_MS_MAX + 1, false},
        {BOXCAR_WORKER_DETACHED, 1000, true},
        {BOXCAR_WORKER_DETACHED, INT64_MAX, false},
        {BOXCAR_WORKER_STOPPING, 1000, true},
        {BOXCAR_WORKER_STOPPING, INT64_MAX, false},
        {BOXCAR_WORKER_IDLE, INT64_MAX, true},
        {BOXCAR_WORKER_STARTING, INT64_MAX, true},
        {BOXCAR_WORKER_STOPPED, INT64_MAX, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        boxcar_worker_stats stats = {.state = CASES[i].state, .loop_age_ms = CASES[i].loop_age_ms};
        assert_int_equal(health_is_alive(&stats), CASES[i].alive);
    }
}

/* BX-103: each store of a worker with many has numbers of its own. */
static void numbers_of_many_stores_name_the_store(void **state) {
    const boxcar_fleet_store one = {.id = "sqlite:/a.db", .state = BOXCAR_FLEET_IDLE, .claimed = 7};
    const boxcar_fleet_store two = {.id = "postgres:h:5432/d/boxcar",
                                    .key = BOXCAR_STR("acme \"x\""),
                                    .state = BOXCAR_FLEET_DOWN,
                                    .failures = 3};
    const boxcar_fleet_store *const stores[] = {&one, &two};
    char *text = text_of(
        &(struct metrics_numbers){.version = "1", .worker = &WORKER, .fleet = stores, .fleet_count = 2});

    (void)state;
    assert_non_null(strstr(text, "boxcar_fleet_stores{state=\"idle\"} 1\n"));
    assert_non_null(strstr(text, "boxcar_fleet_stores{state=\"down\"} 1\n"));
    assert_non_null(strstr(text, "boxcar_fleet_messages_claimed_total{store=\"sqlite:/a.db\"} 7\n"));
    assert_non_null(
        strstr(text, "boxcar_fleet_store_up{store=\"postgres:h:5432/d/boxcar\",key=\"acme \\\"x\\\"\"} 0\n"));
    free(text);
}

static void routes_have_figures_of_their_own(void **state) {
    const boxcar_forward_stats routes[] = {
        {.store_id = "sqlite:/a.db", .route = BOXCAR_STR("copies/copy"), .forwarded = 5},
        {.store_id = "sqlite:/a.db", .route = BOXCAR_STR("copies/\"x\""), .failures = 2, .is_away = true}};
    char *text;

    (void)state;
    metrics_text(
        &(struct metrics_numbers){.version = "1", .worker = &WORKER, .routes = routes, .route_count = 2},
        &text);
    assert_non_null(text);
    assert_non_null(strstr(text, "boxcar_forwarded_total{store=\"sqlite:/a.db\",route=\"copies/copy\"} 5\n"));
    assert_non_null(
        strstr(text, "boxcar_forward_failures_total{store=\"sqlite:/a.db\",route=\"copies/\\\"x\\\"\"} 2\n"));
    assert_non_null(strstr(text, "boxcar_forward_up{store=\"sqlite:/a.db\",route=\"copies/\\\"x\\\"\"} 0\n"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worker_numbers_have_the_names_that_are_documented),
        cmocka_unit_test(store_is_up_while_the_worker_uses_it),
        cmocka_unit_test(outcomes_are_labels_of_one_counter),
        cmocka_unit_test(histogram_buckets_are_cumulated_up_to_infinity),
        cmocka_unit_test(label_values_are_escaped_whatever_the_topic_contains),
        cmocka_unit_test(number_of_samples_depends_on_the_handlers_alone),
        cmocka_unit_test(each_metric_is_introduced_once),
        cmocka_unit_test(store_numbers_are_served_with_their_age),
        cmocka_unit_test(subscriptions_are_served_by_name),
        cmocka_unit_test(old_store_numbers_are_left_out_and_their_age_stays),
        cmocka_unit_test(worker_lives_while_its_loop_turns),
        cmocka_unit_test(numbers_of_many_stores_name_the_store),
        cmocka_unit_test(routes_have_figures_of_their_own),
    };

    return cmocka_run_group_tests_name("metrics_text", tests, NULL, NULL);
}
