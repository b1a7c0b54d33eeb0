#include "stream.h"

#include "message_json.h"
#include "report.h"
#include "values.h"

bool stream_key_read(struct cli *cli, const char *const *args, const char *box_name, boxcar_box *ret_box,
                     boxcar_str *ret_key) {
    *ret_box = BOXCAR_OUTBOX;
    if (!args[0]) {
        cli_usage(cli, "KEY is missing: give the key of a stream, boxcar stream ls lists them");
        return false;
    }
    *ret_key = boxcar_str_of(args[0]);
    return cli_args_at_most(cli, args, 1) && value_box(cli, box_name, ret_box);
}

static json_t *from_owner(boxcar_owner owner) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    if (boxcar_owner_is_none(owner))
        return json_null();
    boxcar_owner_format(owner, text);
    return json_string(text);
}

json_t *stream_json(const boxcar_stream *stream) {
    bool has_head = stream->head.value > 0;
    json_t *object = json_object();
    bool good = json_put(object, "stream", json_from_str(stream->stream)) &&
                json_put(object, "box", json_string(boxcar_box_name(stream->box))) &&
                json_put(object, "state", json_string(boxcar_stream_state_name(stream->state))) &&
                json_put(object, "partition", json_integer(stream->partition)) &&
                json_put(object, "pending", json_integer(stream->pending)) &&
                json_put(object, "head", json_from_number(stream->head.value)) &&
                json_put(object, "topic", json_from_str(has_head ? stream->topic : BOXCAR_NO_STR)) &&
                json_put(object, "available_at", json_from_time(stream->available_at)) &&
                json_put(object, "retry_count", has_head ? json_integer(stream->retry_count) : json_null()) &&
                json_put(object, "owner", from_owner(stream->owner)) &&
                json_put(object, "halted_at", json_from_time(stream->halted_at)) &&
                json_put(object, "halted_by", json_from_number(stream->halted_by.value));
    return json_finish(object, good);
}

json_t *instance_json(const boxcar_instance *instance) {
    json_t *object = json_object();
    bool good = json_put(object, "instance_id", from_owner(instance->owner)) &&
                json_put(object, "box", json_string(boxcar_box_name(instance->box))) &&
                json_put(object, "host", json_from_str(instance->host)) &&
                json_put(object, "pid", json_integer(instance->pid)) &&
                json_put(object, "concurrency", json_integer(instance->concurrency)) &&
                json_put(object, "started_at", json_from_time(instance->started_at)) &&
                json_put(object, "seen_at", json_from_time(instance->seen_at)) &&
                json_put(object, "rank", json_integer(instance->rank)) &&
                json_put(object, "first_partition", json_integer(instance->first_partition)) &&
                json_put(object, "partition_count", json_integer(instance->partition_count)) &&
                json_put(object, "leased", json_integer(instance->leased)) &&
                json_put(object, "oldest_lease_at", json_from_time(instance->oldest_lease_at));
    return json_finish(object, good);
}
