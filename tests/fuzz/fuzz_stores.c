/* Lists of stores: what is taken has an identifier and can be opened, what is refused is told why. First line
 * a password, the rest a list, in which % stands for the password of a URL. */
#include "base/buf.h"
#include "fuzz.h"
#include "store/open.h"
#include "worker/discovery/discovery.h"

/* Letters and digits that nothing else has. */
static bool is_plain(boxcar_str password) {
    for (size_t i = 0; i < password.len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", password.data[i]))
            return false;
    return password.len >= 8;
}

static void check_found(const boxcar_found_store *found, const char *password) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    PROMISE(found->id != NULL && found->id[0] != '\0');
    PROMISE(store_check_url(found->url, &err) == BOXCAR_OK);
    PROMISE(found->schema.len > 0);
    PROMISE(password == NULL || strncmp(found->id, "postgres:", 9) != 0 ||
            strstr(found->id, password) == NULL);
}

/* Only where the password stands in its place. */
static void write_list(struct buf *list, boxcar_str text, const char *password) {
    for (size_t i = 0; i < text.len; i++) {
        if (password != NULL && text.data[i] == '%')
            buf_append_format(list, "postgres://u:%s@h/d", password);
        else
            buf_append_char(list, text.data[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str first = fuzz_first(data, size), rest = fuzz_second(data, size);
    bool is_there = first.data && rest.data && memmem(rest.data, rest.len, first.data, first.len);
    char *password = first.data && is_plain(first) && !is_there ? strndup(first.data, first.len) : NULL;
    struct boxcar_discovered *list = calloc(1, sizeof(*list));
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct buf text = BUF_INIT;

    PROMISE(list != NULL);
    list->default_schema = BOXCAR_STR("boxcar");
    write_list(&text, rest, password);
    boxcar_status status = discovery_read_lines((boxcar_str){text.data, text.len}, list, &err);
    PROMISE(status == BOXCAR_OK || err.message[0] != '\0');
    PROMISE(password == NULL || strstr(err.message, password) == NULL);
    for (size_t i = 0; i < list->count; i++)
        check_found(&list->items[i], password);
    list_free(list);
    buf_release(&text);
    free(password);
    return 0;
}
