/* The objects of a store, read from the texts that make them.
 *
 * Migrations are written in one manner, which a test compares with a deployed schema: a statement begins at
 * the start of a line with its verb, and ends with a semicolon at the end of one. */
#include "objects.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

#define MIGRATIONS "migrations/"
#define VIEWS "views/"
#define FUNCTIONS "functions/"
#define SUFFIX ".sql"
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz_0123456789"

/* How statements about objects begin; the name follows. */
static const struct {
    const char *words;
    enum pg_object_kind kind;
    bool drops;
} STATEMENTS[] = {
    {"create table :\"schema\".", PG_OBJECT_TABLE, false},
    {"create unlogged table :\"schema\".", PG_OBJECT_TABLE, false},
    {"create sequence :\"schema\".", PG_OBJECT_SEQUENCE, false},
    {"create type :\"schema\".", PG_OBJECT_TYPE, false},
    {"create index ", PG_OBJECT_INDEX, false},
    {"create unique index ", PG_OBJECT_INDEX, false},
    {"create constraint trigger ", PG_OBJECT_TRIGGER, false},
    {"create trigger ", PG_OBJECT_TRIGGER, false},
    {"create view :\"schema\".", PG_OBJECT_VIEW, false},
    {"drop table :\"schema\".", PG_OBJECT_TABLE, true},
    {"drop sequence :\"schema\".", PG_OBJECT_SEQUENCE, true},
    {"drop type :\"schema\".", PG_OBJECT_TYPE, true},
    {"drop index :\"schema\".", PG_OBJECT_INDEX, true},
    {"drop trigger ", PG_OBJECT_TRIGGER, true},
    {"drop view :\"schema\".", PG_OBJECT_VIEW, true},
};

static const struct {
    char letter;
    const char *name;
} KINDS[] = {
    [PG_OBJECT_TABLE] = {'r', "table"},
    [PG_OBJECT_SEQUENCE] = {'S', "sequence"},
    [PG_OBJECT_TYPE] = {'t', "type"},
    [PG_OBJECT_INDEX] = {'i', "index"},
    [PG_OBJECT_CONSTRAINT] = {'c', "constraint"},
    [PG_OBJECT_TRIGGER] = {'g', "trigger"},
    [PG_OBJECT_VIEW] = {'v', "view"},
    [PG_OBJECT_FUNCTION] = {'f', "function"},
};

const char *pg_object_kind_name(enum pg_object_kind kind) { return KINDS[kind].name; }

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static void drop(struct pg_object_list *list, enum pg_object_kind kind, boxcar_str name) {
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind != kind || !str_equal(list->items[i].name, name))
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static void read_statement(const char *line, struct pg_object_list *list) {
    size_t i = 0;

    while (i < sizeof(STATEMENTS) / sizeof(STATEMENTS[0]) && !begins(line, STATEMENTS[i].words))
        i++;
    if (i == sizeof(STATEMENTS) / sizeof(STATEMENTS[0]))
        return;
    const char *name = line + strlen(STATEMENTS[i].words), *end = strstr(line, ";\n");
    struct pg_object object = {.kind = STATEMENTS[i].kind,
                               .name = {name, strspn(name, NAME_CHARACTERS)},
                               .text = {line, end ? (size_t)(end - line) : strlen(line)}};
    if (STATEMENTS[i].drops)
        drop(list, object.kind, object.name);
    else
        list->items[list->count++] = object;
}

static void read_migration(const char *text, struct pg_object_list *list) {
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        read_statement(line, list);
}

boxcar_str pg_object_of_file(const struct sql_file *file) {
    const char *name = strrchr(file->name, '/') + 1;

    return (boxcar_str){name, strlen(name) - strlen(SUFFIX)};
}

bool pg_is_function_file(const struct sql_file *file) { return begins(file->name, FUNCTIONS); }

/* Views and functions are made together, so that they have no statement of their own. */
static void read_name(const struct sql_file *file, enum pg_object_kind kind, struct pg_object_list *list) {
    list->items[list->count++] =
        (struct pg_object){.kind = kind, .name = pg_object_of_file(file), .source = file->text};
}

static void read_constraint(const struct pg_constraint *constraint, struct pg_object_list *list) {
    list->items[list->count++] = (struct pg_object){.kind = PG_OBJECT_CONSTRAINT,
                                                    .name = boxcar_str_of(constraint->name),
                                                    .text = boxcar_str_of(constraint->definition),
                                                    .table = constraint->table};
}

/* At most one object begins in a line. */
static size_t count_most(void) {
    size_t count = 0;

    for (const struct pg_constraint *constraint = PG_CONSTRAINTS; constraint->table; constraint++)
        count++;
    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++) {
        count++;
        for (const char *at = file->text; begins(file->name, MIGRATIONS) && (at = strchr(at, '\n')) != NULL;
             at++)
            count++;
    }
    return count;
}

boxcar_status pg_objects_read(struct arena *arena, struct pg_object_list *ret_list, boxcar_error *err) {
    struct pg_object_list list = {.items = arena_alloc_array(arena, count_most(), sizeof(*list.items))};

    if (!list.items)
        return error_no_memory(err);
    for (const struct sql_file *file = SQL_POSTGRES; file->name; file++) {
        if (begins(file->name, MIGRATIONS))
            read_migration(file->text, &list);
        else if (begins(file->name, VIEWS))
            read_name(file, PG_OBJECT_VIEW, &list);
        else if (pg_is_function_file(file))
            read_name(file, PG_OBJECT_FUNCTION, &list);
    }
    for (const struct pg_constraint *constraint = PG_CONSTRAINTS; constraint->table; constraint++)
        read_constraint(constraint, &list);
    *ret_list = list;
    return BOXCAR_OK;
}

void pg_objects_as_values(struct buf *text, const struct pg_object_list *list) {
    for (size_t i = 0; i < list->count; i++)
        buf_append_format(text, "%s('%c', '%.*s')", i > 0 ? ", " : "", KINDS[list->items[i].kind].letter,
                          (int)list->items[i].name.len, list->items[i].name.data);
}
