/* Passwords of connection strings stay unseen (BX-010). */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output/redact.h"

static void assert_redacted(const char *text, const char *expected) {
    char *found = redact(text);

    assert_non_null(found);
    assert_string_equal(found, expected);
    free(found);
}

static void passwords_of_users_are_hidden(void **state) {
    (void)state;
    assert_redacted("postgres://u:sesame@h/d", "postgres://u:***@h/d");
    assert_redacted("postgres://u:a:b/c?d@e f@h/d", "postgres://u:***@h/d");
    assert_redacted("cannot use postgres://u:sesame@h:5432/d now",
                    "cannot use postgres://u:***@h:5432/d now");
    assert_redacted("postgres://u:s1@h and postgres://u:s2@h", "postgres://u:***@h");
}

/* libpq takes names of parameters with %XX, and the last of several. */
static void values_of_secret_parameters_are_hidden(void **state) {
    (void)state;
    assert_redacted("postgres://h/d?password=sesame&user=u", "postgres://h/d?password=***&user=u");
    assert_redacted("postgres://h/d?p%61ssword=sesame", "postgres://h/d?p%61ssword=***");
    assert_redacted("postgres://h/d?%70%61%73%73%77%6F%72%64=sesame&x=y",
                    "postgres://h/d?%70%61%73%73%77%6F%72%64=***&x=y");
    assert_redacted("postgres://h/d?user=u&PASSWORD=one&password=two",
                    "postgres://h/d?user=u&PASSWORD=***&password=***");
    assert_redacted("postgres://h/d?sslpassword=sesame&sslmode=require",
                    "postgres://h/d?sslpassword=***&sslmode=require");
    assert_redacted("postgres://h/d?options=-c%20my.key%3Dsesame", "postgres://h/d?options=***");
    assert_redacted("postgres://h/d?o%70tions=-csesame&user=u", "postgres://h/d?o%70tions=***&user=u");
    assert_redacted("postgres://h/d?oauth_client_secret=sesame", "postgres://h/d?oauth_client_secret=***");
    assert_redacted("postgres://h/d?scram_client_key=sesame", "postgres://h/d?scram_client_key=***");
    assert_redacted("postgres://h/d?password=it's \"sesame\"&user=u", "postgres://h/d?password=***&user=u");
}

static void names_and_values_with_blanks_are_hidden(void **state) {
    (void)state;
    assert_redacted("host=h password=sesame user=u", "host=h password=*** user=u");
    assert_redacted("host=h password = 'open \\'sesame' user=u", "host=h password = *** user=u");
    assert_redacted("host=h password=open\\ sesame user=u", "host=h password=*** user=u");
    assert_redacted("options='-c a=sesame -c b=sesame'", "options=***");
    assert_redacted("sslpassword='never closed", "sslpassword=***");
}

/* Texts may be cut where the @ was to come. */
static void a_password_that_was_cut_is_hidden(void **state) {
    (void)state;
    assert_redacted("--store is 'postgres://u:sesa", "--store is 'postgres://u:***");
    assert_redacted("postgres://u:4711sesame", "postgres://u:***");
}

static void other_texts_are_left_alone(void **state) {
    static const char *const texts[] = {
        "",
        "postgres://h/d",
        "postgres://u@h:5432/d",
        "postgres://h:5432/d?sslmode=require",
        "postgres://h1:5432,h2:5433/d",
        "postgres://[::1]:5432/d",
        "https://example.org/a:b",
        "sqlite:/var/lib/boxcar/store.db",
        "lease=30s passwords are fine, so is password",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_redacted(texts[i], texts[i]);
}

static void in_place_the_length_stays(void **state) {
    char text[] = "--store=postgres://u:sesame@h/d?p%61ssword=open&user=u";

    (void)state;
    redact_in_place(text);
    assert_string_equal(text, "--store=postgres://u:******@h/d?p%61ssword=****&user=u");
}

static void passwords_are_noticed(void **state) {
    (void)state;
    assert_true(redact_needed("postgres://u:sesame@h/d"));
    assert_true(redact_needed("postgres://h/d?p%61ssword=sesame"));
    assert_true(redact_needed("postgres://h/d?sslpassword=sesame"));
    assert_false(redact_needed("postgres://h/d?options=-cwork_mem%3D1MB"));
    assert_false(redact_needed("postgres://u@h:5432/d"));
    assert_false(redact_needed("postgres://u:@h/d"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_of_users_are_hidden),
        cmocka_unit_test(values_of_secret_parameters_are_hidden),
        cmocka_unit_test(names_and_values_with_blanks_are_hidden),
        cmocka_unit_test(a_password_that_was_cut_is_hidden),
        cmocka_unit_test(other_texts_are_left_alone),
        cmocka_unit_test(in_place_the_length_stays),
        cmocka_unit_test(passwords_are_noticed),
    };

    return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
