#include "inbox.h"

#include "report.h"
#include "values.h"

bool inbox_key_read(const struct cli *cli, const char *const *args, boxcar_inbox_key *ret_key) {
    if (!args[0] || !args[1]) {
        cli_usage(cli, "%s is missing: give SOURCE and ID", args[0] ? "ID" : "SOURCE");
        return false;
    }
    *ret_key = (boxcar_inbox_key){boxcar_str_of(args[0]), boxcar_str_of(args[1])};
    return true;
}

bool inbox_ref_read(struct cli *cli, const char *const *args, boxcar_message_ref *ret_ref,
                    boxcar_inbox_key *ret_key) {
    if (!args[0]) {
        cli_usage(cli, "ID is missing: give SOURCE and ID, or a work id, or a message id");
        return false;
    }
    if (!cli_args_at_most(cli, args, 2))
        return false;
    if (!args[1])
        return value_ref(cli, args[0], ret_ref);
    if (!inbox_key_read(cli, args, ret_key))
        return false;
    *ret_ref = (boxcar_message_ref){.message_id = boxcar_inbox_message_id(*ret_key)};
    return true;
}
