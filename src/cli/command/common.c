#include "common.h"

#include <stdio.h>

struct common_given common_given;

struct poptOption COMMON_READER_OPTIONS[] = {OPTIONS_READER, POPT_TABLEEND};

/* ---- the reader ---- */

/* The subscription that was given; reader 0 = none. */
static struct { boxcar_box reader, box; } subscription;

bool common_check_reader(const struct cli *cli) {
    boxcar_box box;
    if (common_given.box && common_given.subscription)
        return cli_refuse(cli,
                          "--box and --subscription are both given: a subscription has its box, give one");
    return value_box(cli, common_given.box, &box);
}

/* A name that no subscription can have is the option's fault. */
static int find_subscription(struct cli *cli) {
    AUTO_LIST boxcar_subscription_list *list = NULL;
    boxcar_str name = boxcar_str_of(common_given.subscription);
    boxcar_status status = boxcar_subscription_read(cli->store, name, &list, &cli->err);
    if (status == BOXCAR_E_INVALID)
        return cli_usage(cli, "--subscription: %s", cli->err.message);
    TRY(cli_check(cli, status));
    subscription.reader = list->items[0]->reader;
    subscription.box = list->items[0]->box;
    return CLI_DONE;
}

int common_find_reader(struct cli *cli, boxcar_box *ret_reader) {
    boxcar_box reader = BOXCAR_OUTBOX;
    (void)value_box(cli, common_given.box, &reader);
    if (common_given.subscription) {
        TRY(find_subscription(cli));
        reader = subscription.reader;
    }
    *ret_reader = reader;
    return CLI_DONE;
}

int common_open_reader(struct cli *cli, boxcar_box *ret_reader) {
    if (!common_check_reader(cli))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    return common_find_reader(cli, ret_reader);
}

const char *common_box_name(boxcar_box reader) {
    bool is_given = subscription.reader > 0 && reader == subscription.reader;
    return boxcar_box_name(is_given ? subscription.box : reader);
}

json_t *common_with_subscription(json_t *object) {
    if (!object || subscription.reader == 0)
        return object;
    return json_finish(object,
                       json_put_text(object, "subscription", boxcar_str_of(common_given.subscription)));
}

/* ---- the rest ---- */

boxcar_str *common_texts(char *const *given, size_t *ret_count) {
    size_t count = given ? cli_args_count((const char *const *)given) : 0;
    boxcar_str *texts = calloc(count + 1, sizeof(*texts));
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = boxcar_str_of(given[i]);
    *ret_count = count;
    return texts;
}

json_t *common_texts_json(const boxcar_str *texts, size_t count) {
    json_t *array = json_array();
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = json_array_append_new(array, json_stringn(texts[i].data, texts[i].len)) == 0;
    return json_finish(array, good);
}

json_t *common_message_row(const void *message) {
    return common_with_subscription(message_json(message, MESSAGE_WITHOUT_PAYLOAD));
}

json_t *common_array(common_row_fn *row, const void *items, size_t count) {
    const void *const *all = items;
    json_t *array = json_array();
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = json_array_append_new(array, row(all[i])) == 0;
    return json_finish(array, good);
}

bool common_print_page(struct output *output, common_row_fn *row, const void *items, size_t count) {
    const void *const *all = items;
    for (size_t i = 0; i < count; i++)
        if (!output_list_add(output, row(all[i])))
            return false;
    return true;
}

int common_end_pages(const struct cli *cli, struct output *output, int result) {
    if (result == CLI_DONE)
        return output_list_end(output, cli);
    json_decref(output->rows);
    return result;
}

int common_end_stores(const struct cli *cli, struct output *output, bool many, int result) {
    if (!many)
        return common_end_pages(cli, output, result);
    int ended = output_list_end(output, cli);
    return ended == CLI_DONE ? result : ended;
}

int common_print_list(const struct cli *cli, const char *const *columns, common_row_fn *row,
                      const void *items, size_t count) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, columns);
    common_print_page(&output, row, items, count);
    return output_list_end(&output, cli);
}

int common_print_word(const struct cli *cli, const char *text, json_t *object) {
    if (!cli_is_for_people(cli))
        return output_object(cli, object);
    json_decref(object);
    puts(text);
    return CLI_DONE;
}

int common_print_uuid(const struct cli *cli, boxcar_uuid uuid, json_t *object) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(uuid, text);
    return common_print_word(cli, text, object);
}
