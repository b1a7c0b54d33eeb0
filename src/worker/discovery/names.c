/* Names of the enums of boxcar/fleet.h. */
#include "boxcar/fleet.h"

#define NAME_OF(names, value) ((unsigned)(value) < sizeof(names) / sizeof((names)[0]) ? (names)[value] : "?")

const char *boxcar_discovery_name(boxcar_discovery discovery) {
    static const char *const NAMES[] = {"none", "function", "file", "directory", "sql", "command"};
    return NAME_OF(NAMES, discovery);
}

const char *boxcar_selection_name(boxcar_selection selection) {
    static const char *const NAMES[] = {"round-robin", "drain-first"};
    return NAME_OF(NAMES, selection);
}

const char *boxcar_fleet_state_name(boxcar_fleet_state state) {
    static const char *const NAMES[] = {"waiting", "active", "idle", "down", "leaving"};
    return NAME_OF(NAMES, state);
}
