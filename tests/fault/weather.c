#include "weather.h"

#include <err.h>
#include <errno.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*const WORK[])(struct client *) = {
    [ROLE_PRODUCER] = produce, [ROLE_CONSUMER] = consume, [ROLE_SITTER] = sit, [ROLE_UPKEEP] = look_after, [ROLE_DRAIN] = drain};

static void be_client(struct storm *storm, int number, enum role role) {
    struct client client = {.storm = storm,
                            .number = number,
                            .role = role,
                            .chance = storm->seed * UINT64_C(1000003) + (uint64_t)number};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    draw(&client.chance);
    client.owner = boxcar_owner_new();
    if (!journal_open(&client.journal, storm->directory, number))
        err(99, "journal");
    if (!client_open(&client))
        _exit(1);
    WORK[role](&client);
    boxcar_store_close(client.store);
    journal_close(&client.journal);
    _exit(0);
}

static void fill(struct crew *crew, int place) {
    int number = ++crew->next_number;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid == 0)
        be_client(crew->self.storm, number, crew->places[place].role);
    crew->places[place].pid = pid;
}

void crew_start(struct crew *crew, struct storm *storm) {
    *crew = (struct crew){.self = {.storm = storm, .chance = storm->seed}};
    if (!journal_open(&crew->self.journal, storm->directory, 0))
        err(99, "journal");
}

void crew_hire(struct crew *crew, enum role role) {
    crew->places[crew->size].role = role;
    fill(crew, crew->size++);
}

/* How a client may end: by itself, or as one that was killed or killed itself. */
static void judge_end(struct crew *crew, int place, int status) {
    crew->places[place].pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return;
    complain(&crew->self, "a client ended with status 0x%x", (unsigned)status);
}

static bool any_producer(const struct crew *crew) {
    for (int i = 0; i < crew->size; i++)
        if (crew->places[i].pid != 0 && crew->places[i].role == ROLE_PRODUCER)
            return true;
    return false;
}

static bool is_enough(const struct crew *crew) {
    const struct storm *storm = crew->self.storm;
    return atomic_load(&storm->board->tallies[TALLY_ENQUEUED]) >= storm->messages;
}

static void replace_the_ended(struct crew *crew) {
    for (int i = 0; i < crew->size; i++) {
        int status;
        if (crew->places[i].pid == 0 || waitpid(crew->places[i].pid, &status, WNOHANG) == 0)
            continue;
        judge_end(crew, i, status);
        if (crew->places[i].role != ROLE_PRODUCER || !is_enough(crew))
            fill(crew, i);
    }
}

static void kill_one(struct crew *crew) {
    int place = (int)draw_between(&crew->self, 0, crew->size - 1);
    if (crew->places[place].pid == 0)
        return;
    if (kill(crew->places[place].pid, SIGKILL) == 0)
        count(&crew->self, TALLY_KILLS, 1);
}

/* Ends sessions of this run only: its application name is in its URL. */
static void terminate_some(struct crew *crew) {
    PGconn *conn = PQconnectdb(crew->self.storm->url);
    PGresult *result =
        PQexec(conn, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
                     " and application_name = current_setting('application_name') order by random() limit 2");
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        count(&crew->self, TALLY_TERMINATIONS, PQntuples(result));
    PQclear(result);
    PQfinish(conn);
}

static void crash_server(struct crew *crew) {
    const char *program = getenv("BOXCAR_TEST_POSTGRES_RESTART");
    struct record record = {.kind = RECORD_CRASH, .before = now_us()};
    int status = 0;
    if (!program)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        complain(&crew->self, "the server did not come back (status 0x%x)", (unsigned)status);
    record.after = now_us();
    journal_add(&crew->self.journal, record);
    journal_flush(&crew->self.journal);
    count(&crew->self, TALLY_RESTARTS, 1);
}

struct plan {
    int64_t kill_at;
    int64_t terminate_at;
    int64_t crash_at;
    int64_t crash_every_ms;
};

/* Even a short storm sees a few crashes. */
static struct plan make_plan(struct crew *crew) {
    struct plan plan = {.crash_every_ms = crew->self.storm->big ? 20000 : 3000};
    plan.kill_at = plan.terminate_at = now_us() + 1000000;
    plan.crash_at = now_us() + plan.crash_every_ms * 700;
    return plan;
}

static void strike(struct crew *crew, struct plan *plan) {
    int64_t now = now_us();
    if (now >= plan->kill_at) {
        kill_one(crew);
        plan->kill_at = now + draw_between(&crew->self, 100, 1200) * 1000;
    }
    if (!crew->self.storm->postgres)
        return;
    if (now >= plan->terminate_at) {
        terminate_some(crew);
        plan->terminate_at = now + draw_between(&crew->self, 100, 1500) * 1000;
    }
    if (now >= plan->crash_at) {
        crash_server(crew);
        plan->crash_at =
            now_us() + draw_between(&crew->self, plan->crash_every_ms / 2, plan->crash_every_ms) * 1000;
    }
}

static void report(struct crew *crew, int64_t *next) {
    if (now_us() < *next)
        return;
    *next = now_us() + 30 * 1000000;
    printf("storm: %lld messages enqueued, %lld leases\n",
           (long long)atomic_load(&crew->self.storm->board->tallies[TALLY_ENQUEUED]),
           (long long)atomic_load(&crew->self.storm->board->tallies[TALLY_CLAIMED]));
    fflush(stdout);
}

bool crew_weather(struct crew *crew) {
    struct board *board = crew->self.storm->board;
    int64_t end = now_us() + (int64_t)crew->self.storm->seconds * 1000000;
    int64_t report_at = now_us() + 30 * 1000000;
    struct plan plan = make_plan(crew);
    while (now_us() < end && (any_producer(crew) || !is_enough(crew))) {
        replace_the_ended(crew);
        strike(crew, &plan);
        report(crew, &report_at);
        pause_ms(20);
    }
    /* Producers come to their end first, so that none is cut off in the middle of a retry. */
    atomic_store(&board->stop_producing, true);
    for (int64_t wait_until = now_us() + 90 * 1000000; any_producer(crew) && now_us() < wait_until;
         pause_ms(20))
        for (int i = 0; i < crew->size; i++) {
            int status;
            if (crew->places[i].pid != 0 && waitpid(crew->places[i].pid, &status, WNOHANG) != 0)
                judge_end(crew, i, status);
        }
    return is_enough(crew);
}

void crew_dismiss(struct crew *crew) {
    int64_t wait_until = now_us() + 90 * 1000000;
    atomic_store(&crew->self.storm->board->stop, true);
    for (int i = 0; i < crew->size; i++) {
        int status;
        while (crew->places[i].pid != 0 && waitpid(crew->places[i].pid, &status, WNOHANG) == 0) {
            if (now_us() > wait_until) {
                complain(&crew->self, "client in place %d does not end", i);
                kill(crew->places[i].pid, SIGKILL);
                waitpid(crew->places[i].pid, &status, 0);
                break;
            }
            pause_ms(10);
        }
        if (crew->places[i].pid != 0)
            judge_end(crew, i, status);
    }
    crew->size = 0;
    atomic_store(&crew->self.storm->board->stop, false);
}
