#include "message_page.h"

#include "message_json.h"
#include "output.h"
#include "report.h"
#include "values.h"

bool page_given_read(const struct cli *cli, const struct page_given *given, boxcar_list_options *options) {
    options->topic = boxcar_str_of(given->topic);
    return value_count(cli, "--limit", given->limit, &options->limit) &&
           value_work_id(cli, "--after", given->after, &options->after);
}

static int print(const struct cli *cli, const boxcar_message_list *list, const char *const *columns) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, columns);
    for (size_t i = 0; i < boxcar_message_list_count(list); i++)
        if (!output_list_add(&output,
                             message_json(boxcar_message_list_get(list, i), MESSAGE_WITHOUT_PAYLOAD)))
            break;
    return output_list_end(&output, cli);
}

int page_list(struct cli *cli, const boxcar_list_options *options, const char *const *columns) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_message_page(cli->store, options, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list, columns);
    boxcar_message_list_free(list);
    return result;
}
