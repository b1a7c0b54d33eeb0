/* boxcar doctor: is the store well, and if not, what to do. */
#include <stdio.h>
#include <string.h>

#include "cli/output/progress.h"
#include "cli/output/text.h"
#include "common.h"
#include "stores.h"

static int audit;
static int repair;

static struct poptOption OPTIONS[] = {
    OPTION_FLAG("audit", audit, "look for lost messages too: reads the whole log"),
    OPTION_FLAG("repair", repair, "audit, and make lost messages ready again"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

/* By severity. */
static const char *const COLOURS[] = {"\033[32m", "\033[36m", "\033[33m", "\033[31m"};

/* What was found so far, and the worst of it. */
struct report {
    json_t *rows; /* NULL = out of memory */
    boxcar_severity worst;
};

static void report_add(const struct cli *cli, struct report *report, const boxcar_finding *finding) {
    json_t *row = json_object();
    bool good = (!cli->store_label || json_put(row, "store", json_string(cli->store_label))) &&
                json_put_text(row, "check", finding->check) &&
                json_put(row, "severity", json_string(boxcar_severity_name(finding->severity))) &&
                json_put_text(row, "text", finding->text) && json_put_text(row, "remedy", finding->remedy);
    row = json_finish(row, good);
    if (finding->severity > report->worst)
        report->worst = finding->severity;
    if (!row || json_array_append_new(report->rows, row) != 0) {
        json_decref(report->rows);
        report->rows = NULL;
    }
}

/* ---- the audit ---- */

static boxcar_finding audit_finding(const boxcar_audit *result, char text[128]) {
    boxcar_finding finding = {.check = BOXCAR_STR("audit")};
    if (result->lost == 0) {
        snprintf(text, 128, "no message is lost");
    } else if (result->repaired > 0) {
        finding.severity = BOXCAR_SEVERITY_WARNING;
        snprintf(text, 128, "%lld lost, %lld of them made ready again", (long long)result->lost,
                 (long long)result->repaired);
        finding.remedy = BOXCAR_STR("this should never happen: please report it, with the server's log");
    } else {
        finding.severity = BOXCAR_SEVERITY_PROBLEM;
        snprintf(text, 128, "%lld lost: no claim finds them, and they are not done", (long long)result->lost);
        finding.remedy = BOXCAR_STR("boxcar doctor --repair");
    }
    finding.text = boxcar_str_of(text);
    return finding;
}

static boxcar_status run_audit(struct cli *cli, struct report *report) {
    boxcar_audit result = BOXCAR_AUDIT_INIT;
    struct progress *progress = progress_begin(cli, "reading the whole log");
    boxcar_status status = boxcar_audit_run(cli->store, repair, &result, &cli->err);
    progress_end(progress);
    if (status == BOXCAR_OK) {
        char text[128];
        boxcar_finding finding = audit_finding(&result, text);
        report_add(cli, report, &finding);
    }
    return status;
}

/* ---- printing ---- */

static const char *field(const json_t *row, const char *name) {
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

static bool put_safely(const char *text) {
    AUTO_FREE char *line = text_printable(boxcar_str_of(text), NULL);
    if (line)
        fputs(line, stdout);
    return line != NULL;
}

static const char *colour_of(const char *severity) {
    for (int i = BOXCAR_SEVERITY_OK; i <= BOXCAR_SEVERITY_PROBLEM; i++)
        if (strcmp(boxcar_severity_name((boxcar_severity)i), severity) == 0)
            return COLOURS[i];
    return "";
}

/* The remedy stands under its finding, set in. */
static bool put_finding(const json_t *row, bool colours) {
    const char *severity = field(row, "severity"), *remedy = field(row, "remedy");
    printf("%s%-7s%s  %-16s  ", colours ? colour_of(severity) : "", severity, colours ? "\033[0m" : "",
           field(row, "check"));
    if (!put_safely(field(row, "text")))
        return false;
    putchar('\n');
    if (!remedy[0])
        return true;
    printf("%*s-> ", 9, "");
    bool good = put_safely(remedy);
    putchar('\n');
    return good;
}

/* A line above the findings of each of several stores. */
static bool put_store(const char *store, bool is_first) {
    if (!is_first)
        putchar('\n');
    bool good = put_safely(store);
    putchar('\n');
    return good;
}

static int print(const struct cli *cli, const json_t *rows) {
    bool colours = output_uses_colours();
    struct output output;
    json_t *row;
    size_t i;
    if (!cli_is_for_people(cli)) {
        output_list_begin(&output, cli, CLI_FORMAT_TABLE, NULL);
        json_array_foreach(rows, i, row) {
            if (!output_list_add(&output, json_incref(row)))
                break;
        }
        return output_list_end(&output, cli);
    }
    const char *before = "";
    json_array_foreach(rows, i, row) {
        const char *store = field(row, "store");
        if (strcmp(store, before) != 0 && !put_store(store, i == 0))
            return cli_no_memory(cli);
        before = store;
        if (!put_finding(row, colours))
            return cli_no_memory(cli);
    }
    return CLI_DONE;
}

/* ---- the command ---- */

/* Findings that need a decision: they are shown even without --box. */
static bool is_of_streams(const boxcar_finding *finding) {
    static const char *const CHECKS[] = {"halted_streams", "stream_order"};
    for (size_t i = 0; i < sizeof(CHECKS) / sizeof(CHECKS[0]); i++)
        if (finding->check.len == strlen(CHECKS[i]) &&
            memcmp(finding->check.data, CHECKS[i], finding->check.len) == 0)
            return finding->severity > BOXCAR_SEVERITY_NOTE;
    return false;
}

static int examine_box(struct cli *cli, boxcar_box reader, bool only_streams, struct report *report) {
    AUTO_LIST boxcar_finding_list *list = NULL;
    TRY(cli_check(cli, boxcar_doctor_run(cli->store, reader, &list, &cli->err)));
    for (size_t i = 0; i < list->count && report->rows; i++)
        if (!only_streams || is_of_streams(list->items[i]))
            report_add(cli, report, list->items[i]);
    return CLI_DONE;
}

static void release(struct report **report) { json_decref((*report)->rows); }

/* Without --box: the outbox, and what is wrong with streams of the inbox. What was found is shown even if the
 * audit fails. */
struct examination {
    struct report report;
    boxcar_status audited; /* how the first audit that failed ended */
};

static int examine_store(struct cli *cli, void *context) {
    struct examination *examination = context;
    boxcar_box reader;
    TRY(common_find_reader(cli, &reader));
    TRY(examine_box(cli, reader, false, &examination->report));
    if (!common_given.box && !common_given.subscription)
        TRY(examine_box(cli, BOXCAR_INBOX, true, &examination->report));
    if (!examination->report.rows || (!audit && !repair))
        return CLI_DONE;
    boxcar_status status = run_audit(cli, &examination->report);
    if (!cli->store_label)
        examination->audited = status; /* told behind the findings */
    return cli->store_label ? cli_check(cli, status) : CLI_DONE;
}

static int run(struct cli *cli) {
    struct examination examination = {.report = {.worst = BOXCAR_SEVERITY_OK}};
    if (!common_check_reader(cli))
        return CLI_USAGE;
    examination.report.rows = json_array();
    CLEANUP(release) struct report *report = &examination.report;
    int examined = stores_each(cli, examine_store, &examination);
    if (examined != CLI_DONE && !stores_are_many(cli))
        return examined;
    if (!report->rows)
        return cli_no_memory(cli);
    int result = print(cli, report->rows);
    if (result == CLI_DONE)
        result = output_flush(cli);
    TRY(cli_check(cli, examination.audited));
    if (result == CLI_DONE)
        result = examined;
    return result == CLI_DONE && report->worst >= BOXCAR_SEVERITY_WARNING ? CLI_ERROR : result;
}

static const struct command CMD_DOCTOR = {
    .name = "doctor",
    .summary = "say whether the store is well, and what to do if not",
    .usage = "[--audit | --repair] [--box BOX|--subscription NAME]",
    .description =
        "Checks the connection, the clock, the schema, sessions that hold snapshots, streams or the\n"
        "claimers' turn, bloat, running workers, topics that no worker handles, expired leases, the oldest\n"
        "ready message, dead letters, streams and upkeep. It may show queries of other sessions, but\n"
        "without their data. Each line has a severity (ok, note, warning, problem). The line below a\n"
        "finding says what to do about it. The doctor changes nothing and is cheap at any size; only\n"
        "--audit and --repair read the whole log. Without --box it checks the outbox, and it names streams\n"
        "of the inbox that are halted or were handled out of order. It names the subscriptions of the box,\n"
        "and says which of them keep messages from being removed; with --subscription it checks that one.\n"
        "\n"
        "The exit status is 0 if nothing is worse than a note, and 1 if there is a warning or a problem.\n"
        "So it can run from cron. With -o json it prints a list of objects with check, severity, text and\n"
        "remedy. On PostgreSQL a role with viewer access is enough, except for the audit. With several\n"
        "stores (--store again, --discover) it examines each; objects have a field store in front then.\n",
    .examples = "boxcar doctor\n"
                "boxcar doctor --audit -o json\n",
    .options = OPTIONS,
    .takes_stores = true,
    .run = run,
};

const struct command_noun DOCTOR_COMMANDS = {"Upkeep", (const struct command *const[]){&CMD_DOCTOR, NULL}};
