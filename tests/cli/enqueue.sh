# boxcar enqueue: one message, its options, its answers.
. "$BOXCAR_TEST_DIR/support/lib.sh"

uuid='[0-9a-f]*-*-*-*-*'

# OBX-001, OBX-014, OBX-016, BX-001
exits "a message is stored" 0 boxcar enqueue orders.paid '{"order":42}'
like "its message id is printed" "$uuid" "$out"
is "alone on a line" 36 "$(printf '%s' "$out" | wc -c | tr -d ' ')"
first=$out
exits "it can be shown by its message id" 0 boxcar show "$first" -o json
is "payload" '{"order":42}' "$(json .payload)"
is "status" ready "$(json .status)"
is "retry_count" 0 "$(json .retry_count)"

exits "as an object" 0 boxcar enqueue orders.paid x -o json
is "fields of the answer" '["work_id","message_id","duplicate"]' "$(json keys_unsorted)"
is "work_id is a number" number "$(json '.work_id|type')"
is "message_id is a string" string "$(json '.message_id|type')"
is "duplicate is a boolean" false "$(json .duplicate)"
exits "as JSON Lines" 0 boxcar enqueue orders.paid x -o jsonl
is "one object" object "$(json type)"
exits "as a table" 0 boxcar enqueue orders.paid x -o table
like "with a heading" "*work_id*message_id*duplicate*" "$out"

# OBX-006, OBX-011
exits "an empty payload is a payload" 0 boxcar enqueue t '' -o json
exits "and comes back empty" 0 boxcar show "$(json .work_id)" -o json
is "empty" '""' "$(json '.payload|tojson')"

# OBX-010
enqueue Order.Created x
exits "topics keep their case" 0 boxcar show "$id" -o json
is "topic" Order.Created "$(json .topic)"

# What caused a message, and what else its caller says of it.
exits "with a causation id and metadata" 0 boxcar enqueue t p --causation-id cause-1 --metadata '{"n": [1]}' -o json
exits "they are kept" 0 boxcar show "$(json .work_id)" -o json
is "as given" 'cause-1 {"n":[1]}' "$(json '"\(.causation_id) \(.metadata|tojson)"')"
refuses "metadata that is no object" 2 "*metadata*" boxcar enqueue t p --metadata '[1]'

# BX-067: a message that is an event.
exits "an event by its topic" 0 boxcar enqueue orders.OrderPaidEvent p --stream order-9 --key event -o json
exits "again" 0 boxcar enqueue orders.OrderPaidEvent p --stream order-9 --key event
exits "an event by an option" 0 boxcar enqueue orders.shipped p --stream order-9 --event
exits "an event with a type" 0 boxcar enqueue orders.shipped p --stream order-9 --event-type Returned
exits "no event" 0 boxcar enqueue orders.LostEvent p --stream order-9 --no-event
is "each is stored once" "OrderPaidEvent shipped Returned" "$(boxcar event read order-9 -o jsonl | jq -r .type | paste -sd' ')"
is "the store knows it" 3 "$(boxcar ls --topic orders.OrderPaidEvent -o jsonl | jq .stages)"
refuses "an event without a stream" 2 "*needs a stream*" boxcar enqueue orders.shipped p --event
refuses "an event and none" 2 "*--event and --no-event*" boxcar enqueue orders.shipped p --stream s --event --no-event
refuses "the nil UUID as a stream" 2 "*stream*nil UUID*" boxcar enqueue t p --stream 00000000-0000-0000-0000-000000000000
cat >events.jsonl <<'END'
{"topic": "t", "payload": "p", "stream": "lines", "is_event": true, "event_type": "Line", "causation_id": "c", "metadata": {"a": {"b": 1}}}
{"topic": "LineEvent", "payload": "p", "stream": "lines", "is_event": false}
END
exits "a file of events" 0 boxcar enqueue --batch events.jsonl
is "as they say" "Line c" "$(boxcar event read lines -o jsonl | jq -r '"\(.type) \(.causation_id)"')"
is "with metadata" '{"a":{"b":1}}' "$(boxcar ls --topic t -o jsonl | jq -c 'select(.stream == "lines").metadata')"

# Every option arrives.
exits "all options" 0 boxcar enqueue t p --correlation-id c-1 --due 2999-01-31T12:00:00+01:00 --ttl 2h \
    --stream s-1 --header a=1 --header 'b==x y' --message-id 0190F3C2-7b1e-7c2d-9a55-3f1d2c4b5a69 --max-attempts 3 -o json
is "the id is the one given, in lower case" 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "$(json .message_id)"
exits "and are kept" 0 boxcar show "$(json .work_id)" -o json
is "correlation_id" c-1 "$(json .correlation_id)"
is "due_at in UTC with microseconds" 2999-01-31T11:00:00.000000Z "$(json .due_at)"
is "stream" s-1 "$(json .stream)"
is "headers" '{"a":"1","b":"=x y"}' "$(json '.headers|tojson' | jq -cS .)"
is "max_attempts" 3 "$(json .max_attempts)"
like "expires_at" "????-??-??T??:??:??.??????Z" "$(json .expires_at)"

# OBX-008
enqueue t p --correlation-id ''
exits "an empty correlation id" 0 boxcar show "$id" -o json
is "is none" null "$(json .correlation_id)"

# OBX-012, OBX-013, BX-005
enqueue due.later p --delay 1h
enqueue due.past p --due 1999-01-31T12:00:00Z
exits "claim skips what is not due and takes what was due" 0 boxcar claim --owner "$owner" --topic 'due.*'
is "only the past one" "$id" "$(json .work_id)"

# BX-027
exits "a key" 0 boxcar enqueue t one --key order-42 -o json
is "is new at first" false "$(json .duplicate)"
keyed=$(json .message_id)
exits "the same key again" 0 boxcar enqueue t two --key order-42 -o json
is "is a duplicate" true "$(json .duplicate)"
is "of the same message" "$keyed" "$(json .message_id)"
is "without a note, it says so itself" "" "$err"
exits "and without -o" 0 boxcar enqueue t three --key order-42
is "its id alone" "$keyed" "$out"
like "and a note" "*enqueue: note: a duplicate: *nothing was stored" "$err"
exits "whose content" 0 boxcar show "$keyed" -o json
is "has not changed" one "$(json .payload)"

exits "the same key in another topic" 0 boxcar enqueue t.other one --key order-42 -o json
is "is another message" false "$(json .duplicate)"
exits "a unique key" 0 boxcar enqueue t.unique one --key order-42 --unique -o json
is "is free at first" false "$(json .duplicate)"
exits "while its message is unfinished" 0 boxcar enqueue t.unique two --key order-42 --unique -o json
is "it is taken" true "$(json .duplicate)"
exits "once that has ended" 0 boxcar cancel "$(json .work_id)"
exits "another message" 0 boxcar enqueue t.unique three --key order-42 --unique -o json
is "may have it" false "$(json .duplicate)"
refuses "--unique without a key" 2 "*--unique needs a key*" boxcar enqueue t x --unique

# Payloads from standard input arrive byte for byte.
printf 'line 1\r\n\ttabs, "quotes", \\ and \xc3\xa9\n\n' >payload.txt
id=$(boxcar enqueue t - -o json <payload.txt | jq .work_id)
boxcar show "$id" -o json | jq -j .payload >back.txt
if cmp -s payload.txt back.txt; then ok "a payload from standard input is the same bytes"; else not_ok "payload from standard input"; fi
id=$(boxcar enqueue t - -o json </dev/null | jq .work_id)
is "an empty standard input is an empty payload" '""' "$(boxcar show "$id" -o json | jq -c .payload)"

# OBX-114
head -c 3000000 /dev/zero | tr '\0' x >payload.txt
id=$(boxcar enqueue t - -o json <payload.txt | jq .work_id)
boxcar show "$id" -o json | jq -j .payload >back.txt
if cmp -s payload.txt back.txt; then ok "a payload of 3 MB is the same bytes"; else not_ok "a payload of 3 MB"; fi

# What popt would expand or take for an option.
enqueue t -- -5
is "a payload that begins with - follows --" -5 "$(boxcar show "$id" -o json | jq -r .payload)"
enqueue t 'p!#:+q' --correlation-id 'a!#:+b!#:+c' --header 'h=!#:+'
is "popt expands nothing in options" 'a!#:+b!#:+c !#:+ p!#:+q' \
    "$(boxcar show "$id" -o json | jq -r '.correlation_id + " " + .headers.h + " " + .payload')"

# OBX-004, OBX-005, OBX-007, OBX-009, BX-011
long=$(printf 'x%.0s' $(seq 255))
multi=$(printf '\xc3\xa9%.0s' $(seq 255))
count() { boxcar ls --limit 10000 -o json | jq length; }
before=$(count)
refuses "an empty topic" 2 "boxcar: enqueue: topic is empty: give 1 to 255 characters" boxcar enqueue '' x
refuses "a topic of 256 characters" 2 "boxcar: enqueue: topic *255*" boxcar enqueue "${long}x" x
refuses "no topic" 2 "*topic is missing*" boxcar enqueue
refuses "no payload" 2 "*give PAYLOAD, or -*" boxcar enqueue t
refuses "too many arguments" 2 "*more arguments than TOPIC and PAYLOAD*" boxcar enqueue t x y
refuses "invalid UTF-8 in the topic" 2 "*topic*UTF-8*" boxcar enqueue $'a\xff' x
refuses "invalid UTF-8 in the payload" 2 "*payload*UTF-8*" boxcar enqueue t $'a\xff'
refuses "a correlation id of 256 characters" 2 "*--correlation-id*255*" boxcar enqueue t x --correlation-id "${long}x"
refuses "a stream of 256 characters" 2 "*--stream*255*" boxcar enqueue t x --stream "${long}x"
refuses "an empty key" 2 "*--key*" boxcar enqueue t x --key ''
refuses "a malformed message id" 2 "*--message-id*UUID*" boxcar enqueue t x --message-id 123
refuses "the nil message id" 2 "*--message-id*" boxcar enqueue t x --message-id 00000000-0000-0000-0000-000000000000
refuses "key and message id" 2 "*--message-id and --key*" boxcar enqueue t x --key k --message-id "$owner"
refuses "due and delay" 2 "*--due and --delay*" boxcar enqueue t x --delay 1s --due 2999-01-01T00:00:00Z
refuses "a malformed due time" 2 "*--due*RFC 3339*" boxcar enqueue t x --due tomorrow
refuses "a due time out of range" 2 "*--due*" boxcar enqueue t x --due 1960-01-01T00:00:00Z
refuses "a due time beyond the year 9999" 2 "*--due*" boxcar enqueue t x --due 10000-01-01T00:00:00Z
refuses "a negative delay" 2 "*--delay is '-1s'*" boxcar enqueue t x --delay -1s
refuses "a delay without a unit" 2 "*--delay*" boxcar enqueue t x --delay 5
refuses "a huge delay" 2 "*--delay*3650d*" boxcar enqueue t x --delay 99999d
refuses "a ttl of 0" 2 "*--ttl*" boxcar enqueue t x --ttl 0
refuses "attempts 0" 2 "*--max-attempts*1 to 1000000*" boxcar enqueue t x --max-attempts 0
refuses "attempts -1" 2 "*--max-attempts*" boxcar enqueue t x --max-attempts -1
refuses "attempts 2^31" 2 "*--max-attempts*out of range*" boxcar enqueue t x --max-attempts 2147483648
refuses "attempts abc" 2 "*--max-attempts is 'abc'*" boxcar enqueue t x --max-attempts abc
refuses "a header without =" 2 "*--header*NAME=VALUE*" boxcar enqueue t x --header nothing
refuses "a header twice" 2 "*--header*twice*" boxcar enqueue t x --header a=1 --header a=2
refuses "invalid UTF-8 in a header" 2 "*--header*UTF-8*" boxcar enqueue t x --header $'a=\xff'
refuses "a malformed join" 2 "*--join*UUID*" boxcar enqueue t x --join 7
is "bad input changed nothing" "$before" "$(count)"

status=0
printf 'a\0b' | boxcar enqueue t - >out.txt 2>err.txt || status=$?
is "a NUL byte from standard input is refused" 2 "$status"
like "naming the payload" "*payload*NUL*" "$(cat err.txt)"
exits "a topic of 255 characters" 0 boxcar enqueue "$long" x
exits "a topic of 255 characters of two bytes" 0 boxcar enqueue "$multi" x

finish
