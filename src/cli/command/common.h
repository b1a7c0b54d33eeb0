/* What commands are written with: everything about arguments and output, and what many of them have in
 * common. */
#ifndef BOXCAR_CLI_COMMAND_COMMON_H
#define BOXCAR_CLI_COMMAND_COMMON_H

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

/* ---- options ---- */

/* As typed; NULL = not given. A process runs one command, so all commands share them. */
struct common_given {
    char *box, *subscription, *topic, *limit, *after;
};
extern struct common_given common_given;

#define OPTION_BOX OPTION_TEXT("box", common_given.box, "outbox (default) or inbox", "BOX")
#define OPTION_SUBSCRIPTION                                                                                  \
    OPTION_TEXT("subscription", common_given.subscription, "a subscription instead of the main reader",      \
                "NAME")
/* Whose messages; see common_open_reader(). */
#define OPTIONS_READER OPTION_BOX, OPTION_SUBSCRIPTION
#define OPTION_TOPIC OPTION_TEXT("topic", common_given.topic, "only this topic, or PREFIX*", "TOPIC")
#define OPTION_LIMIT OPTION_TEXT("limit", common_given.limit, "how many, 1 to 10000 (default 50)", "N")
#define OPTION_AFTER(help, metavar) OPTION_TEXT("after", common_given.after, help, metavar)
#define OPTION_AFTER_WORK_ID OPTION_AFTER("start after the last work id of a page", "WORK_ID")

/* For a command that has no other option. */
extern struct poptOption COMMON_READER_OPTIONS[];

/* Checks --box and --subscription, of which one may be given. Reports what is wrong and returns false. */
bool common_check_reader(const struct cli *cli);
/* Opens the store and finds the reader that they name: the main reader of the outbox if neither is given.
 * Returns an enum cli_exit. */
int common_open_reader(struct cli *cli, boxcar_box *ret_reader);
/* The same, once they were checked and the store is open. */
int common_find_reader(struct cli *cli, boxcar_box *ret_reader);
/* The name of a reader's box. */
const char *common_box_name(boxcar_box reader);
/* Adds the field `subscription` to an object if one was given. Takes the object over; NULL = out of memory.
 */
json_t *common_with_subscription(json_t *object);

/* What was given with an option of OPTION_LIST() (NULL = nothing), lent by the command line; free() the
 * array. NULL = out of memory. */
boxcar_str *common_texts(char *const *given, size_t *ret_count);
/* Texts as an array; NULL = out of memory. */
json_t *common_texts_json(const boxcar_str *texts, size_t count);

/* ---- output ---- */

/* An item of a list as a row: a new object; NULL = out of memory. */
typedef json_t *common_row_fn(const void *item);
json_t *common_message_row(const void *message); /* without its payload */

/* The rows of a list of the library as an array; NULL = out of memory. `items` are its pointers. */
json_t *common_array(common_row_fn *row, const void *items, size_t count);

/* Prints a list of the library: `items` are its pointers. Returns an enum cli_exit. */
int common_print_list(const struct cli *cli, const char *const *columns, common_row_fn *row,
                      const void *items, size_t count);
/* The same page by page, between output_list_begin() and common_end_pages(), which is given what the pages
 * have come to: CLI_DONE, or a failure that was reported. Returns false when there is no point in going on.
 */
bool common_print_page(struct output *output, common_row_fn *row, const void *items, size_t count);
/* The end of a list of several stores: what could be read is printed although one of them failed. */
int common_end_stores(const struct cli *cli, struct output *output, bool many, int result);
int common_end_pages(const struct cli *cli, struct output *output, int result);

/* Prints `text` alone to people, and the object else, which it takes over. Returns an enum cli_exit. */
int common_print_word(const struct cli *cli, const char *text, json_t *object);
int common_print_uuid(const struct cli *cli, boxcar_uuid uuid, json_t *object);

#endif
