/* SIGHUP: the configuration anew, without a restart. */
#include <stdio.h>
#include <string.h>

#include "handlers.h"
#include "session.h"
#include "setup.h"

static void say(const struct worker_session *session, boxcar_log_level level, const char *text) {
    worker_session_log(session, level, "reload", text, NULL, 0);
}

static void say_complaint(void *session, const char *text) { say(session, BOXCAR_LOG_ERROR, text); }

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_curve(const struct config_curve *a, const struct config_curve *b) {
    bool same = strcmp(a->topic, b->topic) == 0;
    for (size_t i = 0; i < CONFIG_CURVE_KEYS; i++)
        same = same && same_text(a->values[i].text, b->values[i].text);
    return same;
}

static bool same_curves(const struct config *a, const struct config *b) {
    if (a->curve_count != b->curve_count)
        return false;
    for (size_t i = 0; i < a->curve_count; i++)
        if (!same_curve(&a->curves[i], &b->curves[i]))
            return false;
    return true;
}

static boxcar_str text_of(const struct config_value *value) {
    return boxcar_str_of(value->text ? value->text : "");
}

static void log_setting(const struct worker_session *session, enum config_id id, const struct config *fresh) {
    const struct config_setting *setting = &CONFIG_TABLE[id];
    char name[64];
    snprintf(name, sizeof(name), "%s.%s", setting->section, setting->key);
    const boxcar_log_field fields[] = {{"setting", boxcar_str_of(name)},
                                       {"before", text_of(&session->cli->config->values[id])},
                                       {"now", text_of(&fresh->values[id])}};
    worker_session_log(session, setting->reloads ? BOXCAR_LOG_INFO : BOXCAR_LOG_WARN, "reload",
                       setting->reloads ? "setting changed" : "setting changed, which needs a restart",
                       fields, 3);
}

/* Returns how many differences there are. */
static size_t log_changes(const struct worker_session *session, const struct config *fresh) {
    const struct config *current = session->cli->config;
    size_t count = 0;
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        if (same_text(current->values[i].text, fresh->values[i].text))
            continue;
        log_setting(session, (enum config_id)i, fresh);
        count++;
    }
    if (!same_curves(current, fresh)) {
        say(session, BOXCAR_LOG_INFO, "backoff of topics changed");
        count++;
    }
    if (!handlers_are_same(current, fresh)) {
        say(session, BOXCAR_LOG_WARN, "handlers changed, which needs a restart");
        count++;
    }
    return count;
}

/* A setting that needs a restart keeps its old value, so that the next reload warns again. */
static void take_over(struct config *current, struct config *fresh) {
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        if (!CONFIG_TABLE[i].reloads)
            continue;
        struct config_value value = current->values[i];
        current->values[i] = fresh->values[i];
        fresh->values[i] = value;
    }
    struct config_curve *curves = current->curves;
    size_t count = current->curve_count;
    current->curves = fresh->curves;
    current->curve_count = fresh->curve_count;
    fresh->curves = curves;
    fresh->curve_count = count;
}

static bool reconfigure(const struct worker_session *session, const struct config *fresh) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options;
    struct worker_backoff backoff;
    if (!worker_options_read(fresh, &session->store_curve, &options, &backoff)) {
        say(session, BOXCAR_LOG_ERROR, "out of memory");
        return false;
    }
    store.log_level = (boxcar_log_level)config_number(fresh, CONFIG_LOG_LEVEL);
    options.store = &store;
    boxcar_status status = boxcar_worker_reconfigure(session->worker, &options, &err);
    worker_backoff_release(&backoff);
    if (status != BOXCAR_OK)
        say(session, BOXCAR_LOG_ERROR, err.message);
    return status == BOXCAR_OK;
}

/* Logs the changes at the more verbose of the old and the new level. */
static void apply(struct worker_session *session, struct config *fresh) {
    struct log_writer *log = &session->cli->log;
    boxcar_log_level level = (boxcar_log_level)config_number(fresh, CONFIG_LOG_LEVEL);
    if (level < log->level)
        log->level = level;
    if (log_changes(session, fresh) == 0)
        say(session, BOXCAR_LOG_INFO, "nothing changed");
    log->level = level;
    take_over(session->cli->config, fresh);
}

void worker_reload(struct worker_session *session) {
    const char *path = session->cli->config->path;
    struct complaints complaints = {.say = say_complaint, .context = session};
    struct config fresh = {0};
    if (!path) {
        say(session, BOXCAR_LOG_INFO, "there is no configuration file to read again");
        return;
    }
    service_reloading(session->service);
    if (config_load(path, CONFIG_SCOPE_ALL, session->given, &complaints, &fresh) &&
        reconfigure(session, &fresh))
        apply(session, &fresh);
    else
        say(session, BOXCAR_LOG_ERROR, "the configuration stays as it was");
    config_release(&fresh);
    service_reloaded(session->service);
}
