# boxcar enqueue --batch: JSON Lines, all or nothing.
. "$BOXCAR_TEST_DIR/support/lib.sh"

count() { boxcar ls --limit 10000 -o json | jq length; }
payload_of() { boxcar show "$1" -o json | jq -r .payload; }

# BX-001, BX-065
cat >good.jsonl <<'EOF'
{"topic":"a","payload":"text"}

{"topic":"b","payload":{"z":1,"a":[1, 2.50, 19.99, 12345678901234567890123],"s":"x  y"},"headers":{"h":"v"},"stream":"s"}
  {"payload":[ ],"topic":"c","correlation_id":"c","due":"2999-01-31T12:00:00Z","ttl":null}
{"topic":"d","payload":"","delay":"1h","ttl":"2h","key":"k1","max_attempts":4}
{"topic":"e","payload":7,"due_at":"2999-01-31T12:00:00Z","message_id":"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69"}
{"topic":"f","payload":true}
EOF
exits "a file of messages" 0 boxcar enqueue --batch good.jsonl
is "prints an id for each, blank lines skipped" 6 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
mapfile -t ids <<<"$out"
is "in the order of the file" 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "${ids[4]}"
is "a string is stored as it is" text "$(payload_of "${ids[0]}")"
is "anything else as its compact JSON, numbers as written" \
    '{"z":1,"a":[1,2.50,19.99,12345678901234567890123],"s":"x  y"}' "$(payload_of "${ids[1]}")"
is "an array" '[]' "$(payload_of "${ids[2]}")"
is "an empty string" '' "$(payload_of "${ids[3]}")"
is "a number" 7 "$(payload_of "${ids[4]}")"
is "a boolean" true "$(payload_of "${ids[5]}")"
exits "the fields" 0 boxcar show "${ids[1]}" -o json
is "headers and stream" '{"h":"v"} s' "$(json '(.headers|tojson) + " " + .stream')"
exits "the fields" 0 boxcar show "${ids[2]}" -o json
is "correlation_id, due, null ttl" 'c 2999-01-31T12:00:00.000000Z null' \
    "$(json '.correlation_id + " " + .due_at + " " + (.expires_at|tostring)')"
exits "the fields" 0 boxcar show "${ids[3]}" -o json
is "max_attempts" 4 "$(json .max_attempts)"

exits "the same file as an array" 0 boxcar enqueue --batch good.jsonl -o json
is "of objects" 6 "$(json length)"
# BX-027
is "known ids are duplicates" '[false,false,false,true,true,false]' "$(json '[.[].duplicate]')"
exits "as JSON Lines" 0 boxcar enqueue --batch good.jsonl -o jsonl
is "an object a line" 6 "$(printf '%s\n' "$out" | jq -c .work_id | wc -l | tr -d ' ')"
out=$(printf '{"topic":"a","payload":"p"}' | boxcar enqueue --batch -)
is "standard input, and no newline at the end" 36 "${#out}"
exits "an empty file" 0 boxcar enqueue --batch /dev/null
is "is nothing" "" "$out"
exits "an empty file as JSON" 0 boxcar enqueue --batch /dev/null -o json
is "is an empty array" "[]" "$out"

# Keys of the object written with escapes, keys inside payloads, long lines.
printf '{"pay\\u006coad":{"payload":[1]},"topic":"a"}\n' >esc.jsonl
exits "an escaped key" 0 boxcar enqueue --batch esc.jsonl
is "is found" '{"payload":[1]}' "$(payload_of "$out")"
{ printf '{"topic":"a","payload":"'; head -c 2000000 /dev/zero | tr '\0' y; printf '"}\n'; } >long.jsonl
exits "a line of 2 MB" 0 boxcar enqueue --batch long.jsonl
is "is stored" 2000000 "$(payload_of "$out" | tr -d '\n' | wc -c | tr -d ' ')"

# BX-065: whatever a payload has, it is stored as it was written.
cat >odd.jsonl <<'EOF'
{"topic":"a", "payload" : { "é" : "\u00e9\n", "n" : [ 1e5, -0.10 ] } , "headers" : { "h" : "v" } }
{"headers":{"h":"v"},"payload":[ [ ], { } , "a  b\\", null ],"topic":"a"}
EOF
exits "payloads of all kinds" 0 boxcar enqueue --batch odd.jsonl
mapfile -t ids <<<"$out"
is "with escapes and exponents" '{"é":"\u00e9\n","n":[1e5,-0.10]}' "$(payload_of "${ids[0]}")"
is "plain ones" '[[],{},"a  b\\",null]' "$(payload_of "${ids[1]}")"

# BX-027
printf '%s\n' '{"topic":"u","payload":"p","key":"k","unique":true}' '{"topic":"u","payload":"p","key":"k","unique":true}' \
    '{"topic":"u","payload":"p","key":"k","unique":false}' >unique.jsonl
exits "unique keys" 0 boxcar enqueue --batch unique.jsonl -o json
is "are stored once" '[false,true,false]' "$(json '[.[].duplicate]')"

# BX-011, BX-010: the line is named, nothing is stored, no payload is repeated.
before=$(count)
bad() { # NAME PATTERN LINE
    { echo '{"topic":"a","payload":"good"}'; echo; printf '%b\n' "$3"; echo '{"topic":"a","payload":"good"}'; } >bad.jsonl
    refuses "$1" 2 "boxcar: enqueue: line 3: $2" boxcar enqueue --batch bad.jsonl
    unlike "$1: no payload in the text" "*sesame*" "$err"
}
bad "broken JSON" "*JSON*" '{"topic":"a","payload":"sesame'
bad "something after the object" "*JSON*" '{"topic":"a","payload":"sesame"} sesame'
bad "a name twice in a payload" "not valid JSON at column *: duplicate object key" '{"topic":"a","payload":{"sesame":1,"sesame":2}}'
bad "a payload twice" "not valid JSON at column *: duplicate object key" '{"payload":{"sesame":1},"topic":"a","payload":{"a":1}}'
bad "something behind a payload" "not valid JSON at column 31*" '{"topic":"a","payload":["ses"]x}'
bad "a payload that is broken" "not valid JSON at column 31*" '{"topic":"a","payload":["ses",]}'
bad "a payload without an end" "not valid JSON at column 30*" '{"topic":"a","payload":["ses"]'
bad "not an object" "*object*" '["sesame"]'
bad "an empty topic" "topic is empty: give 1 to 255 characters" '{"topic":"","payload":"sesame"}'
bad "no topic" "topic is missing*" '{"payload":"sesame"}'
bad "a topic that is a number" "topic is not a string*" '{"topic":5,"payload":"sesame"}'
bad "unique that is a text" "unique is neither true nor false*" '{"topic":"a","payload":"sesame","key":"k","unique":"true"}'
bad "unique without a key" "unique needs a key*" '{"topic":"a","payload":"sesame","unique":true}'
bad "no payload" "payload is missing*" '{"topic":"a"}'
bad "a null payload" "payload is null*" '{"topic":"a","payload":null}'
bad "a NUL byte in the file" "*NUL*" '{"topic":"a","payload":"\0"}'
bad "an escaped NUL" "payload*NUL*" '{"topic":"a","payload":"sesame\\u0000"}'
bad "invalid UTF-8" "*JSON*" '{"topic":"a","payload":"sesame\xff"}'
bad "an unknown field" "unknown field 'topik', did you mean 'topic'*" '{"topik":"a","payload":"sesame"}'
bad "a name that is like none" "unknown field 'colour': see boxcar help enqueue" '{"topic":"a","payload":"sesame","colour":"red"}'
bad "a name of another case" "unknown field 'Topic', did you mean 'topic'*" '{"topic":"a","payload":"sesame","Topic":"b"}'
bad "an unknown field that is null" "unknown field 'jobs'*" '{"topic":"a","payload":"sesame","jobs":null}'
bad "a join that is no id" "join is not a UUID: give the id of a join" '{"topic":"a","payload":"sesame","join":"7"}'
# What only the store can say is not taken for something that was heeded.
for name in work_id box status created_at available_at expires_at retry_count owner epoch; do
    bad "$name of a message that was printed" "unknown field '$name'*" "{\"topic\":\"a\",\"payload\":\"sesame\",\"$name\":1}"
done
bad "a field twice" "*" '{"topic":"a","topic":"b","payload":"sesame"}'
bad "a bad message id" "message_id*" '{"topic":"a","payload":"sesame","message_id":"7"}'
bad "a bad due time" "due*" '{"topic":"a","payload":"sesame","due":"soon"}'
bad "both due and due_at" "due and due_at*" \
    '{"topic":"a","payload":"","due":"2999-01-31T12:00:00Z","due_at":"2999-01-31T12:00:00Z"}'
bad "both due and delay" "delay*" '{"topic":"a","payload":"","due":"2999-01-31T12:00:00Z","delay":"1s"}'
bad "a delay that is a number" "delay*" '{"topic":"a","payload":"","delay":5}'
bad "a delay out of range" "delay*3650d" '{"topic":"a","payload":"","delay":"99999d"}'
bad "a ttl of 0" "ttl*" '{"topic":"a","payload":"","ttl":"0"}'
bad "headers that are no object" "headers*" '{"topic":"a","payload":"","headers":"h"}'
bad "a header that is no string" "headers*" '{"topic":"a","payload":"","headers":{"h":1}}'
bad "0 attempts" "max_attempts*1 to 1000000" '{"topic":"a","payload":"","max_attempts":0}'
bad "1.5 attempts" "max_attempts*" '{"topic":"a","payload":"","max_attempts":1.5}'
bad "2^31 attempts" "max_attempts*" '{"topic":"a","payload":"","max_attempts":2147483648}'
bad "key and message id" "*key*" '{"topic":"a","payload":"","key":"k","message_id":"0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69"}'
bad "a correlation id of 256" "correlation_id*" "{\"topic\":\"a\",\"payload\":\"\",\"correlation_id\":\"$(printf 'x%.0s' $(seq 256))\"}"
is "nothing was stored" "$before" "$(count)"

refuses "a file that is not there" 2 "*--batch*missing.jsonl*" boxcar enqueue --batch missing.jsonl
refuses "a folder" 1 "*cannot read the batch*" boxcar enqueue --batch .
refuses "a topic together with --batch" 2 "*--batch*" boxcar enqueue t --batch good.jsonl
refuses "an option of a message together with --batch" 2 "*--batch*" boxcar enqueue --batch good.jsonl --key k

finish
