#include "inspect.h"

#include "message_json.h"
#include "output.h"
#include "report.h"
#include "values.h"

/* The message and its history in one object; NULL = out of memory. */
static json_t *whole_json(const boxcar_message *message, const boxcar_attempt_list *attempts) {
    json_t *object = message_json(message, MESSAGE_WITH_PAYLOAD);
    return json_finish(object, object && json_put(object, "attempts", attempt_list_json(attempts)));
}

static int print(struct cli *cli, const boxcar_message *message) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_attempt_list *attempts = NULL;
    if (boxcar_message_attempts(cli->store, message->work_id, &attempts, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    int result = output_object(cli, whole_json(message, attempts));
    boxcar_attempt_list_free(attempts);
    return result;
}

static int print_if(struct cli *cli, const boxcar_message *message, const char *id, bool only_dead) {
    if (only_dead && message->status != BOXCAR_FAILED) {
        return cli_fail(cli, CLI_NOT_FOUND, "message %.64s is not a dead letter: its status is %s", id,
                        boxcar_message_status_name(message->status));
    }
    return print(cli, message);
}

int inspect_show(struct cli *cli, const char *box_name, const char *const *args, bool only_dead) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    boxcar_message_ref ref;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!args[0])
        return cli_usage(cli, "ID is missing: give a work id or a message id");
    if (!cli_args_at_most(cli, args, 1) || !value_box(cli, box_name, &box) || !value_ref(cli, args[0], &ref))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_message_find(cli->store, box, ref, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print_if(cli, boxcar_message_list_get(list, 0), args[0], only_dead);
    boxcar_message_list_free(list);
    return result;
}
