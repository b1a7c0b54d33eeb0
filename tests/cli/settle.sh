# boxcar claim, ack, abandon, defer, fail, renew, reap.
. "$BOXCAR_TEST_DIR/support/lib.sh"

show() { boxcar show "$1" -o json | jq -cr "$2"; }

# OBX-017, OBX-020, OBX-021, OBX-022, OBX-026
enqueue t one --header a=b
a=$id
enqueue t two
b=$id
exits "claim" 0 boxcar claim --owner "$owner" --batch-size 1 --lease 10m
is "takes no more than asked, as one line of JSON" 1 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
is "the oldest first" "$a" "$(json .work_id)"
is "all fields of a message, with the payload" \
    'available_at,box,causation_id,correlation_id,crash_count,created_at,died_at,due_at,epoch,event_type,expires_at,headers,last_error,locked_until,max_attempts,message_id,metadata,owner,payload,processed_at,processed_by,reason,retry_count,stages,status,stream,topic,work_id' \
    "$(json 'keys|join(",")')"
is "their types" 'number string outbox t in_progress one {"a":"b"} 0 string number string' \
    "$(json '[(.work_id|type), (.message_id|type), .box, .topic, .status, .payload, (.headers|tojson), (.retry_count|tostring), (.owner|type), (.epoch|type), (.locked_until|type)]|join(" ")')"
is "owner" "$owner" "$(json .owner)"
epoch=$(json .epoch)
exits "claim as an array" 0 boxcar claim --owner "$owner" -o json
is "of one" "[$b]" "$(json '[.[].work_id]')"
# OBX-023
exits "claim with nothing ready" 0 boxcar claim --owner "$owner"
is "prints nothing" "" "$out"
exits "as an array" 0 boxcar claim --owner "$owner" -o json
is "an empty one" "[]" "$out"
exits "as a table" 0 boxcar claim --owner "$owner" -o table
like "a heading" "*work_id*epoch*" "$out"

# BX-002, OBX-030, OBX-031, OBX-038, OBX-044
for command in ack abandon defer fail renew; do
    exits "$command by another owner" 0 boxcar "$command" --owner "$other" "$a"
    is "$command affects nothing" "" "$out"
    exits "$command under another epoch" 0 boxcar "$command" --owner "$owner" "$a:$((epoch + 1))"
    is "$command affects nothing" "" "$out"
    exits "$command of an id that does not exist" 0 boxcar "$command" --owner "$owner" 999999999 -o json
    is "$command affects nothing" "[]" "$out"
done
is "the lease is as it was" "in_progress $epoch" "$(show "$a" '.status + " " + (.epoch|tostring)')"

# Renew: the lease ends later, never earlier.
until=$(show "$a" .locked_until)
exits "renew" 0 boxcar renew --owner "$owner" "$a:$epoch" --lease 2h
is "prints the work id" "$a" "$out"
later=$(show "$a" .locked_until)
if [[ $later > $until ]]; then ok "the lease ends later"; else not_ok "the lease ends later" "$until" "$later"; fi
boxcar renew --owner "$owner" "$a" --lease 1s >/dev/null
is "and never earlier" "$later" "$(show "$a" .locked_until)"

# OBX-027, OBX-028, OBX-029, OBX-032
exits "ack of several" 0 boxcar ack --owner "$owner" "$a:$epoch" "$b" 999999999
is "prints those affected" "$a $b" "$(printf '%s\n' "$out" | sort -n | paste -sd' ')"
is "they are done" done "$(show "$a" .status)"
is "processed_by" "$owner" "$(show "$a" .processed_by)"
like "processed_at" "????-??-??T??:??:??.??????Z" "$(show "$a" .processed_at)"
exits "ack again" 0 boxcar ack --owner "$owner" "$a" "$b"
is "affects nothing" "" "$out"

# Answers as JSON.
enqueue t x; a=$id
enqueue t x; b=$id
claim_all
exits "renew as an array of numbers" 0 boxcar renew --owner "$owner" "$a" "$b" -o json
is "array" "[$a,$b]" "$(json sort)"
exits "ack as objects" 0 boxcar ack --owner "$owner" "$a" "$b" -o jsonl
is "one a line" "$a $b" "$(json .work_id | sort -n | paste -sd' ')"

# OBX-035, OBX-036, OBX-037, OBX-040, OBX-041, BX-021
boxcar settings backoff_base 1h >/dev/null # longer than any run of this script
boxcar settings backoff_cap 3h >/dev/null
enqueue t x
claim_all
exits "abandon" 0 boxcar abandon --owner "$owner" "$id" --error 'connection refused'
is "prints the work id" "$id" "$out"
is "counts an attempt" 'ready 1 connection refused null' "$(show "$id" '[.status, .retry_count, .last_error, .owner]|map(tostring)|join(" ")')"
exits "backoff" 0 boxcar claim --owner "$owner"
is "holds it back" "" "$out"
is "by base * factor^1" 7200 "$(boxcar show "$id" -o json |
    jq '(.available_at|sub("\\..*";"Z")|fromdate) - (.attempts[0].at|sub("\\..*";"Z")|fromdate)')"
is "stats call that waiting" 1 "$(boxcar stats -o json | jq .waiting)"
enqueue t y
claim_all
boxcar abandon --owner "$owner" "$id" --delay 0 >/dev/null
exits "abandon with a delay of 0" 0 boxcar claim --owner "$owner"
is "is ready at once" "$id 1" "$(json '"\(.work_id) \(.retry_count)"')"

# BX-022
exits "defer" 0 boxcar defer --owner "$owner" "$id"
is "prints the work id" "$id" "$out"
is "spends no attempt" 'ready 1' "$(show "$id" '"\(.status) \(.retry_count)"')"
exits "deferred work" 0 boxcar claim --owner "$owner"
is "is ready at once" "$id" "$(json .work_id)"
boxcar defer --owner "$owner" "$id" --delay 1h >/dev/null
exits "deferred for an hour" 0 boxcar claim --owner "$owner"
is "it waits" "" "$out"

# OBX-042, OBX-043, OBX-048
enqueue t z
claim_all
exits "fail" 0 boxcar fail --owner "$owner" "$id" --error 'no such customer'
is "prints the work id" "$id" "$out"
is "a dead letter" 'failed rejected no such customer' "$(show "$id" '[.status, .reason, .last_error]|join(" ")')"

# OBX-049, OBX-050, OBX-051, BX-003
enqueue t crash
boxcar claim --owner "$owner" --lease 100ms >/dev/null
wait_past "$(show "$id" .locked_until)"
is "an ended lease shows as in progress until reaped" in_progress "$(show "$id" .status)"
exits "reap" 0 boxcar reap
is "prints how many" 1 "$out"
is "counts the attempt" 'ready 1 1' "$(show "$id" '[.status, .retry_count, .crash_count]|join(" ")')"
exits "reap again, as JSON" 0 boxcar reap -o json
is "nothing left" '{"reaped":0}' "$out"
exits "the released message" 0 boxcar claim --owner "$owner"
is "is claimable without a wait" "$id" "$(json .work_id)"
boxcar ack --owner "$owner" "$id" >/dev/null

# BX-024: claim by topic.
enqueue mail.send m; a=$id
enqueue orders.paid o; b=$id
exits "claim by prefix" 0 boxcar claim --owner "$owner" --topic 'orders.*'
is "only that" "$b" "$(json .work_id)"
exits "claim by several topics" 0 boxcar claim --owner "$owner" --topic nothing --topic mail.send
is "only that" "$a" "$(json .work_id)"

# BX-011: ranges, missing and malformed arguments, by the names of the command line.
refuses "claim without an owner" 2 "boxcar: claim: --owner is missing*" boxcar claim
refuses "a malformed owner" 2 "*--owner is 'me': give a UUID" boxcar claim --owner me
refuses "the nil owner" 2 "*--owner*nil*" boxcar claim --owner 00000000-0000-0000-0000-000000000000
for lease in 0 0s 99ms 25h; do
    refuses "a lease of $lease" 2 "boxcar: claim: --lease is $lease: give 100ms to 24h" boxcar claim --owner "$owner" --lease "$lease"
done
for lease in -1 -1s 2147483648 abc 99999999999999999999d ''; do
    refuses "a lease of '$lease'" 2 "boxcar: claim: --lease is '$lease': give a duration*" boxcar claim --owner "$owner" --lease "$lease"
done
for size in 0 -1 10001; do
    refuses "a batch of $size" 2 "boxcar: claim: --batch-size*1 to 10000*" boxcar claim --owner "$owner" --batch-size "$size"
done
for size in 2147483648 -2147483649; do
    refuses "a batch of $size" 2 "boxcar: claim: --batch-size*out of range" boxcar claim --owner "$owner" --batch-size "$size"
done
for size in abc 1.5 1e3 '' ' 1' 99999999999999999999; do
    refuses "a batch of '$size'" 2 "boxcar: claim: --batch-size is '$size'*" boxcar claim --owner "$owner" --batch-size "$size"
done
for size in 0 1023 1025MiB 2GiB; do
    refuses "a batch of $size" 2 "boxcar: claim: --batch-bytes is $size: give 1KiB to 1GiB" boxcar claim --owner "$owner" --batch-bytes "$size"
done
for size in abc -1 1.5MiB 64MB 64mib '' ' 1' 99999999999999999999 9999999999999999999GiB; do
    refuses "a batch of '$size'" 2 "boxcar: claim: --batch-bytes is '$size': give a size*" boxcar claim --owner "$owner" --batch-bytes "$size"
done
refuses "an empty topic" 2 "*--topic*" boxcar claim --owner "$owner" --topic ''
refuses "an argument too many" 2 "*unexpected argument*" boxcar claim --owner "$owner" 5
for command in ack abandon defer fail renew; do
    refuses "$command without ids" 2 "boxcar: $command: ID is missing*" boxcar "$command" --owner "$owner"
    refuses "$command without an owner" 2 "boxcar: $command: --owner is missing*" boxcar "$command" 1
    for bad in 0 abc 1: :5 1:0 1:2:3 1x 9223372036854775808 "${owner%?}" "$owner:" 00000000-0000-0000-0000-000000000000; do
        refuses "$command of '$bad'" 2 "boxcar: $command: ID is '$bad'*" boxcar "$command" --owner "$owner" 1 "$bad"
    done
done
refuses "renew for 0" 2 "*renew: --lease*100ms to 24h" boxcar renew --owner "$owner" 1 --lease 0
refuses "abandon with a malformed delay" 2 "*abandon: --delay*" boxcar abandon --owner "$owner" 1 --delay soon
refuses "an error text that is not UTF-8" 2 "*fail: --error*UTF-8*" boxcar fail --owner "$owner" 1 --error $'\xff'
refuses "reap with an argument" 2 "*unexpected argument*" boxcar reap all

# BX-063: a message by its id, and what is done of it.
enqueue by.id p; a=$id
boxcar claim --owner "$owner" --topic by.id >/dev/null
message=$(boxcar show "$a" -o json | jq -r .message_id)
exits "abandon by message id, with stages" 0 boxcar abandon --owner "$owner" "$message" --delay 0 --stages 8
is "the work id is printed" "$a" "$out"
is "the next attempt sees them" 9 "$(boxcar claim --owner "$owner" --topic by.id | jq .stages)"
exits "ack by message id" 0 boxcar ack --owner "$owner" "$message" "$other"
is "the one that is there" "$a" "$out"
is "it is published" 13 "$(boxcar show "$a" -o json | jq .stages)"
refuses "unknown flags" 2 "*stages*" boxcar ack --owner "$owner" 1 --stages 32

finish
