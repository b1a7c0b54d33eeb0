#include "event.h"

#include "message_json.h"
#include "report.h"
#include "values.h"

bool event_number_read(const struct cli *cli, const char *option, const char *text, int64_t *ret_number) {
    int64_t number;
    if (!text)
        return true;
    if (!value_parse_integer(text, &number) || number < 0) {
        cli_usage(cli, "%s is '%.64s': give a whole number from 0 to 9223372036854775807", option, text);
        return false;
    }
    *ret_number = number;
    return true;
}

static json_t *from_event_id(boxcar_event_id id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_event_id_format(id, text);
    return json_string(text);
}

json_t *event_json(const boxcar_event *event) {
    json_t *object = json_object();
    bool good = json_put(object, "event_id", from_event_id(event->event_id)) &&
                json_put(object, "stream", json_from_str(event->stream)) &&
                json_put(object, "version", json_integer(event->version)) &&
                json_put(object, "position", json_from_number(event->position)) &&
                json_put(object, "type", json_from_str(event->type)) &&
                json_put(object, "payload", json_from_str(event->payload)) &&
                json_put(object, "headers", json_from_headers(event->headers)) &&
                json_put(object, "correlation_id", json_from_str(event->correlation_id)) &&
                json_put(object, "created_at", json_from_time(event->created_at));
    return json_finish(object, good);
}

json_t *appended_json(const boxcar_appended *appended) {
    json_t *object = json_object();
    bool good = json_put(object, "event_id", from_event_id(appended->event_id)) &&
                json_put(object, "version", json_integer(appended->version)) &&
                json_put(object, "duplicate", json_boolean(appended->duplicate));
    return json_finish(object, good);
}
