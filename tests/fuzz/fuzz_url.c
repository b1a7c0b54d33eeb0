/* Store URLs: which are refused, and that no password of one is shown. First line a URL, second a password.
 */
#include "base/utf8.h"
#include "cli/output/redact.h"
#include "fuzz.h"
#include "store/open.h"
#include "store/postgres/connection/connection.h"

static void check_sqlite(boxcar_str url, boxcar_status status) {
    boxcar_str path = {url.data + 7, url.len - 7};

    if (status != BOXCAR_OK)
        return;
    PROMISE(path.len > 0 && !str_starts_with(path, BOXCAR_STR("file:")));
    PROMISE(!str_starts_with(path, BOXCAR_STR(":memory:")) && memchr(path.data, '?', path.len) == NULL);
}

static char *text_of(boxcar_str text) {
    char *copy = strndup(text.data, text.len);
    PROMISE(copy != NULL);
    return copy;
}

/* Letters and digits of which a URL cannot be made, so that any of it that is shown was the password. */
static bool is_plain(const char *password) {
    return strlen(password) >= 8 &&
           password[strspn(password, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")] == '\0';
}

static void check_hidden(const char *around, const char *password) {
    char *url = NULL, *shown;

    if (!is_plain(password) || strstr(around, password) != NULL ||
        asprintf(&url, "postgres://u:%s@h/d?%s", password, around) < 0)
        return;
    PROMISE(redact_needed(url));
    shown = redact(url);
    PROMISE(shown != NULL && strstr(shown, password) == NULL);
    free(shown);
    free(url);
}

/* A password with an @ is not taken for a host, which libpq would name. */
static void check_refused(const char *around, const char *password) {
    static const char *const FORMS[][2] = {
        {"postgres://u:a@", "@h/d?"}, {"postgres://u:a@", "@h,i:1/d?"},  {"postgres://u:a@b,", "@h/d?"},
        {"postgres://u:1/", "@h/d?"}, {"postgres://h?password=a@", "&"}, {"postgres://h:1?password=", "@b&"}};
    if (!is_plain(password) || strstr(around, password) != NULL)
        return;
    for (size_t i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
        boxcar_error err = BOXCAR_ERROR_INIT;
        char *url = NULL;
        PROMISE(asprintf(&url, "%s%s%s%s", FORMS[i][0], password, FORMS[i][1], around) >= 0);
        PROMISE(pg_check_url(url, &err) == BOXCAR_E_INVALID);
        PROMISE(strstr(err.message, password) == NULL);
        free(url);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str url = fuzz_first(data, size);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = store_check_url(url, &err);
    char *text = text_of(url), *password = text_of(fuzz_second(data, size)), *shown = redact(text);

    fuzz_check_refusal(status, &err);
    if (str_starts_with(url, BOXCAR_STR("sqlite:")))
        check_sqlite(url, status);
    PROMISE(shown != NULL);
    (void)redact_needed(text);
    check_hidden(text, password);
    check_refused(text, password);
    if (str_starts_with(url, BOXCAR_STR("postgres://")) && status == BOXCAR_OK)
        fuzz_check_refusal(pg_check_url(text, &err), &err);
    free(shown);
    free(password);
    free(text);
    return 0;
}
