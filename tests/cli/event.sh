# boxcar event append, read, follow. All of it is BX-066.
. "$BOXCAR_TEST_DIR/support/lib.sh"

id=0190f3c2-0000-7000-8000-000000000001
nil=00000000-0000-0000-0000-000000000000

# ---- append ----
exits "append" 0 boxcar event append order-1 order.placed '{"total": 12}' --expected 0
is "prints the version" 1 "$out"
is "and nothing else" "" "$err"
exits "append as JSON" 0 boxcar event append order-1 order.paid 'p' --expected 1 --event-id "$id" --header by=me \
    --header 'a b=c=d' --correlation-id c-1 --topic orders -o json
is "fields" 'event_id,version,duplicate' "$(json 'keys_unsorted|join(",")')"
is "as appended" "$id 2 false" "$(json '[.event_id, .version, .duplicate|tostring]|join(" ")')"
exits "again" 0 boxcar event append order-1 order.paid 'p' --expected 0 --event-id "$id" --topic orders -o json
is "is told" "$id 2 true" "$(json '[.event_id, .version, .duplicate|tostring]|join(" ")')"
is "it is a message, once" "orders order-1 $id" "$(boxcar ls -o jsonl | jq -r '"\(.topic) \(.stream) \(.message_id)"')"
is "with its payload" 'p c-1 {"by":"me","a b":"c=d"}' \
    "$(boxcar show "$id" -o json | jq -cr '"\(.payload) \(.correlation_id) \(.headers|{by, "a b": .["a b"]})"')"

refuses "another version" 4 "*--expected*version 2*expected was 1*" boxcar event append order-1 T p --expected 1
refuses "not new" 4 "*--expected*version 2*expected was 0*" boxcar event append order-1 T p --expected 0
refuses "not there" 4 "*--expected*version 0*expected was 3*" boxcar event append order-2 T p --expected 3
refuses "another stream's id" 4 "*--event-id*another stream*" boxcar event append order-2 T p --event-id "$id"
is "nothing was stored" 2 "$(boxcar event follow --once | wc -l | tr -d ' ')"

printf 'from\na pipe' >payload.txt
boxcar event append pipe T - <payload.txt >/dev/null
is "byte for byte" "$(od -c payload.txt)" "$(boxcar event read pipe -o json | jq -j '.[0].payload' | od -c)"
exits "a payload that looks like an option" 0 boxcar event append pipe T -- -x
exits "an empty payload" 0 boxcar event append pipe T ''

# ---- bad input: BX-011 ----
long=$(printf 'x%.0s' $(seq 256))
refuses "no stream" 2 "*stream is missing*" boxcar event append
refuses "no type" 2 "*type is missing*" boxcar event append s
refuses "no payload" 2 "*payload is missing*" boxcar event append s T
refuses "too much" 2 "*quotes around the payload*" boxcar event append s T p secret
unlike "which is not shown" "*secret*" "$err"
refuses "empty stream" 2 "*stream is empty*" boxcar event append '' T p
refuses "empty type" 2 "*type is empty*" boxcar event append s '' p
refuses "long stream" 2 "*stream is too long*255*" boxcar event append "$long" T p
refuses "long type" 2 "*type is too long*255*" boxcar event append s "$long" p
refuses "long topic" 2 "*--topic is too long*255*" boxcar event append s T p --topic "$long"
refuses "not UTF-8" 2 "*payload is not valid UTF-8*" boxcar event append s T $'\xff'
refuses "negative" 2 "*--expected is '-2'*whole number*" boxcar event append s T p --expected -2
refuses "2^63" 2 "*--expected is '9223372036854775808'*" boxcar event append s T p --expected 9223372036854775808
refuses "no number" 2 "*--expected is 'x'*" boxcar event append s T p --expected x
refuses "no id" 2 "*--event-id is '42': give the id of the event*" boxcar event append s T p --event-id 42
refuses "nil id" 2 "*--event-id*" boxcar event append s T p --event-id "$nil"
refuses "bad header" 2 "*--header*NAME=VALUE*" boxcar event append s T p --header x
refuses "unknown option" 2 "*--expect*" boxcar event append s T p --expect 1
refuses "no command" 2 "*append, read or follow*" boxcar event
refuses "no such command" 2 "*did you mean 'append'*" boxcar event apend
is "nothing of it was stored" 0 "$(boxcar event read s -o jsonl | wc -l | tr -d ' ')"

# ---- batch ----
cat >batch.jsonl <<END
{"type": "a", "payload": {"n": 19.990, "big": 12345678901234567890}}

{"type": "b", "payload": "text", "event_id": "0190f3c2-0000-7000-8000-00000000000b", "headers": {"h": "v"}, "correlation_id": "c", "topic": "t"}
{"type": "b", "payload": "text", "event_id": "0190f3c2-0000-7000-8000-00000000000b", "topic": "t"}
END
exits "a batch" 0 boxcar event append batch --batch batch.jsonl --expected 0
is "a version a line" "1 2 2" "$(echo "$out" | xargs)"
is "payloads as they were written" '{"n":19.990,"big":12345678901234567890}' \
    "$(boxcar event read batch -o json | jq -r '.[0].payload')"
is "the rest" 'b text {"h":"v"} c' \
    "$(boxcar event read batch -o json | jq -cr '.[1]|"\(.type) \(.payload) \(.headers) \(.correlation_id)"')"
exits "again as JSON Lines" 0 boxcar event append batch --batch batch.jsonl -o jsonl
is "the known ones are told" "3 false,2 true,2 true" "$(json '"\(.version) \(.duplicate)"' | paste -sd,)"
refuses "batch with another version" 4 "*--expected*" boxcar event append batch --batch batch.jsonl --expected 1
bad_batch() { # NAME PATTERN LINE
    printf '{"type": "a", "payload": ""}\n%s\n' "$3" >bad.jsonl
    refuses "$1" 2 "$2" boxcar event append bad --batch bad.jsonl
}
bad_batch "no JSON" "*line 2: not valid JSON*" '{"type": "secret'
unlike "nothing is quoted" "*secret*" "$err"
bad_batch "no object" "*line 2: is not a JSON object*" '[]'
bad_batch "unknown name" "*line 2: unknown field 'typ', did you mean 'type'*" '{"typ": "a", "payload": ""}'
bad_batch "no type" "*line 2: type is missing*" '{"payload": ""}'
bad_batch "empty type" "*line 2: type is empty*" '{"type": "", "payload": ""}'
bad_batch "null payload" "*line 2: payload is null*" '{"type": "a", "payload": null}'
bad_batch "bad id" "*line 2: event_id is not a UUID*" '{"type": "a", "payload": "", "event_id": "x"}'
bad_batch "bad headers" "*line 2: headers*not a string*" '{"type": "a", "payload": "", "headers": {"n": 1}}'
bad_batch "headers that are none" "*line 2: headers is not an object*" '{"type": "a", "payload": "", "headers": 1}'
bad_batch "cut off" "*line 2: not valid JSON at column 14: *" '{"type": "a", '
# A single line is a line, too: nobody gave an option.
bad_line() { # NAME PATTERN LINE
    printf '%s\n' "$3" >bad.jsonl
    refuses "$1 in the only line" 2 "$2" boxcar event append bad --batch bad.jsonl
}
bad_line "bad headers" "*line 1: headers*not a string*" '{"type": "a", "payload": "", "headers": {"n": 1}}'
bad_line "NUL" "*line 1: payload*NUL*" '{"type": "a", "payload": "x\u0000y"}'
bad_line "empty type" "*line 1: type is empty*" '{"type": "", "payload": ""}'
printf '{"type": "a", "payload": ""}\n' >good.jsonl
refuses "what is not of a line" 2 "*stream is empty*" boxcar event append '' --batch good.jsonl
unlike "names no line" "*line*" "$err"
refuses "empty batch" 2 "*--batch has no events*" boxcar event append bad --batch /dev/null
yes '{"type": "a", "payload": ""}' | head -n 10001 >many.jsonl
refuses "too many" 2 "*too many events*10000*" boxcar event append bad --batch many.jsonl
refuses "no such file" 2 "*cannot open*" boxcar event append bad --batch nowhere.jsonl
refuses "batch and payload" 2 "*--batch is given*" boxcar event append bad T p --batch batch.jsonl
is "nothing of it was stored" 0 "$(boxcar event read bad -o jsonl | wc -l | tr -d ' ')"

# ---- read ----
exits "read" 0 boxcar event read order-1
like "a table" "version*position*type*created_at*correlation_id*event_id*order.placed*order.paid*$id*" "$out"
unlike "without payloads" "*total*" "$out"
exits "read as JSON" 0 boxcar event read order-1 -o json
is "fields" 'event_id,stream,version,position,type,payload,headers,correlation_id,causation_id,created_at' \
    "$(json '.[0]|keys_unsorted|join(",")')"
is "as written" '[order-1,1,order.placed,{"total": 12},null,null]' \
    "$(json '.[0]|"[\(.stream),\(.version),\(.type),\(.payload),\(.headers),\(.correlation_id)]"')"
like "the database's time" "????-??-??T??:??:??.??????Z" "$(json '.[0].created_at')"
is "from a version" "2" "$(boxcar event read order-1 --from 2 -o jsonl | jq .version)"
is "at most --limit" "1" "$(boxcar event read order-1 --limit 1 -o jsonl | jq .version)"
exits "an unknown stream" 0 boxcar event read nothing -o json
is "is empty" "[]" "$out"
refuses "read without a stream" 2 "*stream is missing*" boxcar event read
refuses "read too many" 2 "*--limit*" boxcar event read s --limit 10001
refuses "read none" 2 "*--limit*" boxcar event read s --limit 0
refuses "read from nowhere" 2 "*--from is '-1'*" boxcar event read s --from -1

# ---- follow ----
exits "follow once" 0 boxcar event follow --once
is "positions have no gaps" "$(seq "$(echo "$out" | wc -l)" | xargs)" "$(json .position | xargs)"
is "fields" 'event_id,stream,version,position,type,payload,headers,correlation_id,causation_id,created_at' \
    "$(json 'keys_unsorted|join(",")' | sort -u)"
last=$(json .position | tail -n 1)
is "behind a position" "order.paid" "$(boxcar event follow --once --after 1 --limit 1 | jq -r .type)"
exits "behind the last" 0 boxcar event follow --once --after "$last"
is "is nothing" "" "$out"
is "a type" "order.paid" "$(boxcar event follow --once --type order.paid | jq -r .type)"
is "types" "order.placed order.paid a a" "$(boxcar event follow --once --type 'order.*' --type a | jq -r .type | xargs)"
is "a stream" "1 2" "$(boxcar event follow --once --stream order-1 | jq .version | xargs)"
is "streams" "pipe" "$(boxcar event follow --once --stream 'p*' | jq -r .stream | sort -u)"
is "both" "2" "$(boxcar event follow --once --stream 'order*' --type 'x*' --type order.paid | jq .version)"
refuses "a star before the end" 2 "*--type*a \* before its end*" boxcar event follow --once --type '*.paid'
refuses "follow as a table" 2 "*JSON Lines*" boxcar event follow --once -o table
refuses "follow as one array" 2 "*JSON Lines*" boxcar event follow --once -o json
refuses "after nowhere" 2 "*--after is '-1'*" boxcar event follow --once --after -1
refuses "limit 0" 2 "*--limit is 0*" boxcar event follow --once --limit 0
refuses "an empty type" 2 "*--type*" boxcar event follow --once --type ''
refuses "an empty stream" 2 "*--stream*" boxcar event follow --once --stream ''
refuses "a bad poll" 2 "*--poll*" boxcar event follow --poll 1ms

# Goes on until it is told to stop, and prints as it comes.
for signal in TERM INT; do
    # A shell starts background jobs deaf to SIGINT.
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' boxcar event follow --after "$last" --poll 20ms >followed.txt 2>follow-err.txt &
    follower=$!
    for n in 1 2 3; do
        boxcar event append "live-$signal" T "$n" >/dev/null
        wait_for sh -c "[ \$(wc -l <followed.txt) -ge $n ]"
        is "event $n comes at once" "$n" "$(tail -n 1 followed.txt | jq -r .payload)"
    done
    kill -"$signal" "$follower"
    status=0
    wait "$follower" || status=$?
    is "SIG$signal ends it well" 0 "$status"
    is "without a word" "" "$(cat follow-err.txt)"
    last=$((last + 3))
done
# A connection that is lost is made again.
if [ "$BOXCAR_TEST_KIND" = postgres ] && command -v psql >/dev/null; then
    PGAPPNAME=follower_$$ boxcar event follow --after "$last" --poll 20ms >followed.txt 2>follow-err.txt &
    follower=$!
    boxcar event append lost T 1 >/dev/null
    for n in 1 2; do
        wait_for sh -c "[ \$(wc -l <followed.txt) -ge $n ]"
        [ "$n" = 2 ] || psql -qXAt "$BOXCAR_STORE" -c \
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'follower_$$'" >/dev/null
        [ "$n" = 2 ] || boxcar event append lost T 2 >/dev/null
    done
    is "events come after the connection was lost" "1 2" "$(jq -r .payload followed.txt | xargs)"
    kill -TERM "$follower"
    status=0
    wait "$follower" || status=$?
    is "and it ends well" 0 "$status"
    like "the loss is reported" "*connection lost*" "$(cat follow-err.txt)"
    is "once" 1 "$(wc -l <follow-err.txt | tr -d ' ')"
fi

exits "a closed pipe ends it" 0 bash -c 'boxcar event follow --poll 10ms | head -n 1 | jq .position'
is "after what was wanted" 1 "$out"
refuses "a store that is not there" 1 "*boxcar init*" boxcar event follow --once --schema nobody_has_this \
    --store "$([ "$BOXCAR_TEST_KIND" = sqlite ] && echo "sqlite:$PWD/out.txt" || echo "$BOXCAR_STORE")"

# ---- large events: more than one page holds ----
for n in 1 2 3 4; do
    head -c 20000000 /dev/zero | tr '\0' x | boxcar event append large "T$n" - >/dev/null
done
is "read goes on from page to page" "1 2 3 4" "$(boxcar event read large -o jsonl | jq .version | xargs)"
is "up to the limit" "T2 T3 T4" "$(boxcar event read large --from 2 --limit 3 | awk 'NR > 1 { print $3 }' | xargs)"

finish
