/* The name of a schema. */
#include "limits.h"

#include "base/error.h"
#include "base/utf8.h"

#define SCHEMA_NAME_MAX 63

static bool is_name_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

static bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

static bool is_schema_name(boxcar_str schema) {
    if (!schema.data || schema.len == 0 || schema.len > SCHEMA_NAME_MAX || !is_name_start(schema.data[0]))
        return false;
    for (size_t i = 1; i < schema.len; i++) {
        if (!is_name_char(schema.data[i]))
            return false;
    }
    return true;
}

boxcar_status limits_check_schema_name(boxcar_str schema, boxcar_error *err) {
    if (str_is_absent(schema) && schema.len == 0)
        return BOXCAR_OK;
    if (!is_schema_name(schema))
        return error_invalid(
            err, "schema",
            "schema is not a valid name: give 1 to %d letters, digits or _, not starting with "
            "a digit",
            SCHEMA_NAME_MAX);
    if (str_starts_with(schema, BOXCAR_STR("pg_")))
        return error_invalid(err, "schema",
                             "schema starts with pg_, which PostgreSQL keeps for itself: give "
                             "another name");
    return BOXCAR_OK;
}
