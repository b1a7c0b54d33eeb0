/* The guard over joins inside the database.
 *
 * PostgreSQL: deferred triggers look at every join that a transaction has touched at its very end, when
 * nobody else can see it yet: JOIN-023, JOIN-041, JOIN-042, and the counters against the members (BX-007).
 * SQLite has no such triggers: its joins are looked at whenever one changes, and against their members from
 * outside, where only what was committed is seen. */
#include <stdio.h>

#include "join_trial.h"

#define OFFENCE_RULES 5
static const struct {
    const char *rule, *promise;
} RULES[OFFENCE_RULES] = {
    {"JOIN-023", "never more steps than expected"},
    {"JOIN-041", "whether a join has ended, and how, followed its counters"},
    {"JOIN-042", "nothing changed in a join that had ended"},
    {"first outcome", "a member that had an outcome kept it"},
    {"BX-007", "the counters were what the members say"}, /* PostgreSQL only */
};

/* ---- PostgreSQL ---- */

static const char *const POSTGRES_TABLES[] = {
    "create table storm_offence (at timestamptz not null default clock_timestamp(), rule text not null,"
    " join_id uuid not null, detail text not null)",
    /* how each join looked when it ended */
    "create table storm_end (join_id uuid primary key, state text not null)",
    /* counts also what is rolled back, and nobody waits for it */
    "create sequence storm_look",
};

static const char POSTGRES_FUNCTION[] =
    "create function storm_guard() returns trigger language plpgsql set search_path = \"%s\" as $guard$\n"
    "declare\n"
    "    j record;\n"
    "    looks text;\n"
    "begin\n"
    "    perform nextval('storm_look');\n"
    "    select r.expected_steps as expected, r.status, coalesce(r.reason, 0) as reason,\n"
    "           p.completed_steps as completed, p.failed_steps as failed,\n"
    "           m.completed as members_completed, m.failed as members_failed\n"
    "    into strict j from join_row r\n"
    "    cross join lateral (select * from join_progress p where p.join_id = r.join_id\n"
    "                        order by p.seq desc limit 1) p\n"
    "    cross join lateral (select count(*) filter (where m.status = 'completed') as completed,\n"
    "                               count(*) filter (where m.status = 'failed') as failed\n"
    "                        from outbox_join_member m where m.join_id = r.join_id) m\n"
    "    where r.join_id = new.join_id;\n"
    "    looks := format('%%s/%%s of %%s, status %%s, reason %%s', j.completed, j.failed, j.expected, "
    "j.status,"
    " j.reason);\n"
    "    if j.completed + j.failed > j.expected then\n"
    "        insert into storm_offence (rule, join_id, detail) values ('JOIN-023', new.join_id, looks);\n"
    "    end if;\n"
    "    if j.status <> (case when j.status = 3 or j.reason = 1 then j.status\n"
    "                         when j.completed + j.failed < j.expected then 0\n"
    "                         when j.failed > 0 then 2 else 1 end)\n"
    "       or ((j.status = 3 or j.reason = 1) and j.completed + j.failed >= j.expected) then\n"
    "        insert into storm_offence (rule, join_id, detail) values ('JOIN-041', new.join_id, looks);\n"
    "    end if;\n"
    "    if (j.completed, j.failed) <> (j.members_completed, j.members_failed) then\n"
    "        insert into storm_offence (rule, join_id, detail) values ('BX-007', new.join_id, looks ||\n"
    "            format(', members %%s/%%s', j.members_completed, j.members_failed));\n"
    "    end if;\n"
    "    if j.status <> 0 then\n"
    "        insert into storm_end values (new.join_id, looks) on conflict do nothing;\n"
    "        insert into storm_offence (rule, join_id, detail)\n"
    "        select 'JOIN-042', e.join_id, e.state || ', then ' || looks from storm_end e\n"
    "        where e.join_id = new.join_id and e.state <> looks;\n"
    "    elsif exists (select from storm_end e where e.join_id = new.join_id) then\n"
    "        insert into storm_offence (rule, join_id, detail) values ('JOIN-042', new.join_id, looks);\n"
    "    end if;\n"
    "    return null;\n"
    "end $guard$";

static const char *const POSTGRES_TRIGGERS[] = {
    "create constraint trigger storm_row after insert or update on join_row"
    " deferrable initially deferred for each row execute function storm_guard()",
    "create constraint trigger storm_progress after insert or update on join_progress"
    " deferrable initially deferred for each row execute function storm_guard()",
    "create constraint trigger storm_member after update of status on join_member"
    " deferrable initially deferred for each row execute function storm_guard()",
    "create function storm_member() returns trigger language plpgsql as $guard$ begin"
    " execute format('insert into %I.storm_offence (rule, join_id, detail) values (''first outcome'', $1, "
    "$2)',"
    " tg_table_schema) using old.join_id, format('%s from %s to %s', old.message_id, old.status, new.status);"
    " return null; end $guard$",
    "create trigger storm_outcome after update of status on join_member for each row"
    " when (old.status <> 0 and new.status <> old.status) execute function storm_member()",
};

/* ---- SQLite ---- */

#define STATE(row)                                                                                           \
    row ".completed_steps || '/' || " row ".failed_steps || ' of ' || " row ".expected_steps || ', status '" \
        " || " row ".status || ', reason ' || coalesce(" row ".reason, 0)"
#define IS_CUT(row) "(" row ".status = 3 or coalesce(" row ".reason, 0) = 1)"

static const char *const SQLITE_STATEMENTS[] = {
    "create table storm_offence (rule text not null, join_id, detail text not null)",
    "create table storm_look (looks integer not null)",
    "insert into storm_look values (0)",
    "create trigger storm_steps after update on boxcar_join"
    " when new.completed_steps + new.failed_steps > new.expected_steps begin"
    " insert into storm_offence values ('JOIN-023', new.join_id, " STATE("new") "); end",
    "create trigger storm_status after update on boxcar_join"
    " when new.status <> case when " IS_CUT(
        "new") " then new.status"
               " when new.completed_steps + new.failed_steps < new.expected_steps then 0"
               " when new.failed_steps > 0 then 2 else 1 end"
               " or (" IS_CUT(
                   "new") " and new.completed_steps + new.failed_steps >= new.expected_steps) begin"
                          " insert into storm_offence values ('JOIN-041', new.join_id, " STATE(
                              "new") "); end",
    "create trigger storm_final after update on boxcar_join"
    " when old.status <> 0 and " STATE("old") " <> " STATE(
        "new") " begin"
               " insert into storm_offence values ('JOIN-042', new.join_id, " STATE(
                   "old") " || ', then ' || " STATE("new") "); end",
    "create trigger storm_outcome after update of status on boxcar_join_member"
    " when old.status <> 0 and new.status <> old.status begin"
    " insert into storm_offence values ('first outcome', new.join_id,"
    " hex(new.message_id) || ' from ' || old.status || ' to ' || new.status); end",
    "create trigger storm_run before insert on boxcar_join_outcome"
    " when (select o.last_id from boxcar_join_outcome o where o.join_id = new.join_id"
    " and o.first_id <= new.last_id order by o.first_id desc limit 1) >= new.first_id begin"
    " insert into storm_offence values ('first outcome', new.join_id,"
    " 'again from ' || new.first_id || ' to ' || new.last_id); end",
    "create trigger storm_looked after update on boxcar_join begin"
    " update storm_look set looks = looks + 1; end",
};

/* ---- both ---- */

static void ignore_row(void *context, const char *const *values) {
    (void)context;
    (void)values;
}

static void run(struct trial *trial, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        ledger_sql_each(&trial->ledger, texts[i], texts[i], ignore_row, NULL);
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

void join_guard_install(struct trial *trial) {
    char function[sizeof(POSTGRES_FUNCTION) + sizeof(trial->storm.schema)];
    if (!trial->storm.postgres) {
        run(trial, SQLITE_STATEMENTS, COUNT_OF(SQLITE_STATEMENTS));
        return;
    }
    snprintf(function, sizeof(function), POSTGRES_FUNCTION, trial->storm.schema);
    run(trial, POSTGRES_TABLES, COUNT_OF(POSTGRES_TABLES));
    run(trial, (const char *const[]){function}, 1);
    run(trial, POSTGRES_TRIGGERS, COUNT_OF(POSTGRES_TRIGGERS));
}

/* On SQLite not over the views for people: this is asked again and again. */
int64_t count_inexact_joins(struct trial *trial) {
    static const char POSTGRES[] =
        "select count(*) from outbox_join j left join ("
        " select join_id, count(*) filter (where status = 'completed') as completed,"
        " count(*) filter (where status = 'failed') as failed from outbox_join_member group by join_id) m"
        " using (join_id) where j.completed_steps <> coalesce(m.completed, 0)"
        " or j.failed_steps <> coalesce(m.failed, 0)";
    static const char SQLITE[] =
        "select count(*) from boxcar_join j left join ("
        " select join_id, count(*) filter (where status = 1) as completed,"
        " count(*) filter (where status = 2) as failed from boxcar_member group by join_id) m"
        " using (join_id) where j.completed_steps <> coalesce(m.completed, 0)"
        " or j.failed_steps <> coalesce(m.failed, 0)";
    return sql_number(trial, SQLITE, POSTGRES);
}

static void show_offence(void *context, const char *const *values) {
    struct trial *trial = context;
    offend(&trial->ledger, "join %s: %s", values[0], values[1]);
}

void join_guard_judge(struct trial *trial) {
    char sqlite_text[200], postgres_text[200], promise[120];
    int64_t looks = sql_number(trial, "select looks from storm_look",
                               "select case when is_called then last_value else 0 end"
                               " from storm_look");
    printf("%s: the guard looked at joins %lld times, %s\n", trial->name, (long long)looks,
           trial->storm.postgres ? "each at the end of a transaction that touched one"
                                 : "each when one had changed");
    judge(trial, "the guard was there", looks == 0);
    for (int i = 0; i < OFFENCE_RULES - !trial->storm.postgres; i++) {
        snprintf(sqlite_text, sizeof(sqlite_text),
                 "select hex(join_id), detail from storm_offence where rule = '%s'", RULES[i].rule);
        snprintf(postgres_text, sizeof(postgres_text),
                 "select join_id, detail from storm_offence where rule = '%s'", RULES[i].rule);
        ledger_sql_each(&trial->ledger, sqlite_text, postgres_text, show_offence, trial);
        snprintf(promise, sizeof(promise), "at every %s: %s (%s)",
                 trial->storm.postgres ? "commit" : "change", RULES[i].promise, RULES[i].rule);
        conclude(&trial->ledger, &trial->verdict, promise);
    }
}
