/* Where the list of a fleet's stores comes from.
 *
 * Threads: a struct discovery is used by one thread at a time, but for discovery_hurry(). */
#ifndef BOXCAR_WORKER_DISCOVERY_DISCOVERY_H
#define BOXCAR_WORKER_DISCOVERY_DISCOVERY_H

#include <stdatomic.h>

#include "base/list.h"
#include "boxcar/fleet.h"

/* The list that is being made. */
struct boxcar_discovered {
    LIST_OF(boxcar_found_store);
    boxcar_str default_schema;
};

struct discovery;

/* Checks the options and copies what discovery needs. */
boxcar_status discovery_new(const boxcar_fleet_options *options, boxcar_str default_schema,
                            struct discovery **ret_discovery, boxcar_error *err);
void discovery_free(struct discovery *discovery); /* NULL is fine */
/* A run that is under way ends soon, and those that follow fail. Any thread. */
void discovery_hurry(struct discovery *discovery);
/* Whether there is anything to discover again. */
bool discovery_is_live(const struct discovery *discovery);
/* What the list comes from, for people: "file:/etc/stores". Lent. No secret is in it. */
const char *discovery_source(const struct discovery *discovery);

/* The list now, each store once: free it with list_free(). It waits for whatever it asks. */
boxcar_status discovery_run(struct discovery *discovery, struct boxcar_discovered **ret_list,
                            boxcar_error *err);

/* ---- its parts ---- */

/* Adds an entry after checking it. Where it comes from is said by the caller. */
boxcar_status discovered_add(struct boxcar_discovered *list, const boxcar_store_entry *entry,
                             boxcar_error *err);
/* The lines of a file: URL, or KEY URL, or KEY URL SCHEMA. An error names the line. */
boxcar_status discovery_read_lines(boxcar_str text, struct boxcar_discovered *list, boxcar_error *err);
boxcar_status discovery_read_file(const char *path, struct boxcar_discovered *list, boxcar_error *err);
/* Every NAME.db of it, by names. */
boxcar_status discovery_read_directory(const char *path, struct boxcar_discovered *list, boxcar_error *err);
/* `is_over`: it is killed as soon as this is true. */
boxcar_status discovery_run_command(boxcar_str command, int64_t longest_ms, const atomic_bool *is_over,
                                    struct boxcar_discovered *list, boxcar_error *err);

#endif
