#include "recycle.h"

#include "pg.h"

static void run_on(const struct place *place, const char *sql) {
    PGconn *pg = pg_open(place);

    pg_run(pg, sql);
    PQfinish(pg);
}

void recycle_keep(const struct place *place) {
    run_on(
        place,
        "do $$ declare s name := current_schema(); kept name := s || '_kept'; t name; used boolean; begin"
        " execute format('create schema %I', kept);"
        " for t in select relname from pg_class where relnamespace = s::regnamespace and relkind = 'r' loop"
        "  execute format('select exists (select from %I.%I)', s, t) into used;"
        "  if used then"
        "   execute format('create table %I.%I as table %I.%I', kept, t, s, t);"
        "  end if;"
        " end loop; end $$");
}

/* Subscriptions are gone, and what they have of their own. As a replica would: no triggers, no foreign keys.
 * Most tables are empty in most rows, and a truncated table is a dozen new files. */
void recycle_reset(const struct place *place) {
    run_on(
        place,
        "set session_replication_role = replica;"
        "do $$ declare s name := current_schema(); kept name := s || '_kept'; t name; columns text; begin"
        " for t in select relname from pg_class where relnamespace = s::regnamespace"
        "  and relname ~ '^(turn|upkeep|claims|quiet)_[0-9]+$' loop"
        "  execute format(case when t ~ '^[tu]' then 'drop view %I.%I' else 'drop sequence %I.%I' end, s, t);"
        " end loop;"
        " execute (select 'truncate ' || string_agg(oid::regclass::text, ', ') || ' cascade'"
        "  from pg_class where relnamespace = s::regnamespace and relkind = 'r'"
        "  and pg_relation_size(oid) > 0);"
        " for t in select relname from pg_class where relnamespace = kept::regnamespace loop"
        "  select string_agg(quote_ident(attname), ', ') into columns from pg_attribute"
        "   where attrelid = t::regclass and attnum > 0 and not attisdropped and attgenerated = '';"
        "  execute format('insert into %1$I.%3$I (%4$s) overriding system value select %4$s from %2$I.%3$I',"
        "   s, kept, t, columns);"
        " end loop;"
        " for t in select relname from pg_class where relnamespace = s::regnamespace and relkind = 'S' loop"
        "  execute format('alter sequence %I.%I restart', s, t);"
        " end loop;"
        " delete from pg_statistic p using pg_class c"
        "  where c.oid = p.starelid and c.relnamespace = s::regnamespace;"
        " end $$");
}
