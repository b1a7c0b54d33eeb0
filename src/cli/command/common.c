#include "common.h"

#include <stdio.h>

struct common_given common_given;

struct poptOption COMMON_BOX_OPTIONS[] = {OPTION_BOX, POPT_TABLEEND};

boxcar_str *common_texts(char *const *given, size_t *ret_count) {
    size_t count = given ? cli_args_count((const char *const *)given) : 0;
    boxcar_str *texts = calloc(count + 1, sizeof(*texts));
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = boxcar_str_of(given[i]);
    *ret_count = count;
    return texts;
}

json_t *common_message_row(const void *message) { return message_json(message, MESSAGE_WITHOUT_PAYLOAD); }

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
