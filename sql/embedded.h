/* The SQL files of this folder, embedded at build time by embed.sh. */
#ifndef BOXCAR_SQL_EMBEDDED_H
#define BOXCAR_SQL_EMBEDDED_H

/* One file. Migrations are numbered by their name ("0001_message.sql"). */
struct sql_file {
    const char *name; /* "migrations/0001_message.sql" */
    const char *text;
};

/* In the order of each store's manifest; each ends with an entry whose name is NULL. */
extern const struct sql_file SQL_POSTGRES[];
extern const struct sql_file SQL_SQLITE[];

#endif
