/* The identifier of a PostgreSQL store: host, port, database and schema. The server's own number would tell
 * two servers apart, too, but not every server tells it, and no store that is away can be asked for it.
 * Users, passwords and other parameters are no part of it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "connection.h"

struct address {
    const char *host, *port, *database, *service; /* NULL = not given */
};

/* The n-th of a list with commas; an empty one is the last that is not. */
static boxcar_str item_at(const char *list, size_t n) {
    boxcar_str item = {list, strcspn(list, ",")};

    for (const char *at = list + item.len; n > 0 && *at; n--) {
        at++;
        item = (boxcar_str){at, strcspn(at, ",")};
        at += item.len;
    }
    return item;
}

/* Where servers listen that nobody names a host for. */
static bool is_usual_socket(boxcar_str host) {
    static const char *const FOLDERS[] = {"/var/run/postgresql", "/run/postgresql", "/tmp"};

    for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++)
        if (host.len == strlen(FOLDERS[i]) && memcmp(host.data, FOLDERS[i], host.len) == 0)
            return true;
    return false;
}

/* Names of hosts have no case; a path to a socket has. */
static void append_host(struct buf *id, boxcar_str host) {
    if (is_usual_socket(host))
        host = BOXCAR_STR("local");
    bool is_path = host.len > 0 && (host.data[0] == '/' || host.data[0] == '@');
    bool is_ipv6 = !is_path && memchr(host.data, ':', host.len);

    buf_append_text(id, is_ipv6 ? "[" : "");
    for (size_t i = 0; i < host.len; i++)
        buf_append_char(id, is_path ? host.data[i] : (char)tolower((unsigned char)host.data[i]));
    buf_append_text(id, is_ipv6 ? "]" : "");
}

static void append_servers(struct buf *id, const struct address *address) {
    size_t count = 1;

    for (const char *c = address->host; *c; c++)
        count += *c == ',';
    for (size_t i = 0; i < count; i++) {
        boxcar_str port = item_at(address->port, i);

        buf_append_text(id, i > 0 ? "," : "");
        append_host(id, item_at(address->host, i));
        buf_append_char(id, ':');
        buf_append_str(id, port.len > 0 ? port : BOXCAR_STR("5432"));
    }
}

static boxcar_status make_id(const struct address *address, const char *schema, char **ret_id,
                             boxcar_error *err) {
    struct buf id = BUF_INIT;

    buf_append_text(&id, "postgres:");
    if (address->service)
        buf_append_format(&id, "service=%s,", address->service);
    append_servers(&id, address);
    buf_append_format(&id, "/%s/%s", address->database, schema);
    if (id.failed)
        return error_no_memory(err);
    *ret_id = id.data;
    return BOXCAR_OK;
}

static const char *value_of(const PQconninfoOption *options, const char *keyword) {
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val && options->val[0] ? options->val : NULL;
    return NULL;
}

static const char *first_of(const char *a, const char *b, const char *c) { return a ? a : b ? b : c; }

boxcar_status pg_identify_url(const char *url, const char *schema, char **ret_id, boxcar_error *err) {
    PQconninfoOption *given = PQconninfoParse(url, NULL), *defaults = PQconndefaults();
    boxcar_status status = BOXCAR_E_NO_MEMORY;

    if (given && defaults) {
        const char *user = first_of(value_of(given, "user"), value_of(defaults, "user"), "");
        const char *host =
            first_of(value_of(given, "host"), value_of(given, "hostaddr"), value_of(defaults, "host"));
        struct address address = {
            .host = first_of(host, value_of(defaults, "hostaddr"), "local"),
            .port = first_of(value_of(given, "port"), value_of(defaults, "port"), "5432"),
            .database = first_of(value_of(given, "dbname"), value_of(defaults, "dbname"), user),
            .service = value_of(given, "service")};
        status = make_id(&address, schema, ret_id, err);
    } else {
        status = error_no_memory(err);
    }
    PQconninfoFree(given);
    PQconninfoFree(defaults);
    return status;
}

/* A connection of the caller's knows where it is; one of ours is known by its URL, whichever of several
 * servers it has reached. */
boxcar_status pg_identify(const struct pg_store *pg, char **ret_id, boxcar_error *err) {
    if (pg->url)
        return pg_identify_url(pg->url, pg->schema, ret_id, err);
    const char *host = PQhost(pg->conn), *port = PQport(pg->conn), *database = PQdb(pg->conn);
    struct address address = {.host = host && host[0] ? host : "local",
                              .port = port && port[0] ? port : "5432",
                              .database = database ? database : ""};

    return make_id(&address, pg->schema, ret_id, err);
}
