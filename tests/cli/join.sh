# boxcar join start, attach, complete, fail, wait, cancel, show, ls; boxcar enqueue --join.
. "$BOXCAR_TEST_DIR/support/lib.sh"

none=0190f3c2-0000-7000-8000-000000000000
nil=00000000-0000-0000-0000-000000000000

new_join() { boxcar join start --expected "$@"; }
show() { boxcar join show "$1" -o json | jq -cr "$2"; }
# Enqueues a message; its message id is in $mid and its work id in $id.
step() {
    local line
    line=$(boxcar enqueue -o json "$@" | jq -r '"\(.message_id) \(.work_id)"')
    mid=${line% *} id=${line#* }
}
ack() { boxcar ack --owner "$owner" "$@" >/dev/null; }
# Runs the waits that are due, and nothing else.
resolve() { boxcar worker --drain --poll 100ms --handler 'nobody.sends.this=discard' --log-level error; }
# What came of waits: topic, payload and correlation id, a line each.
followed() {
    boxcar ls --topic 'next.*' -o jsonl --limit 1000 | jq -r .message_id | while read -r followed_id; do
        boxcar show "$followed_id" -o json | jq -r '"\(.topic) \(.payload) \(.correlation_id // "-")"'
    done | sort
}

# ---- start and show: JOIN-001, JOIN-003, JOIN-005, JOIN-006 ----
exits "start" 0 boxcar join start --expected 3 --grouping-key order-42 --metadata '{"kind": "etl"}' --deadline 2h
like "prints the id" "????????-????-7???-????-????????????" "$out"
is "and nothing else" "" "$err"
j=$out
exits "show" 0 boxcar join show "$j" -o json
is "fields" \
    'join_id,grouping_key,expected_steps,completed_steps,failed_steps,status,reason,created_at,last_updated_at,deadline,metadata,members' \
    "$(json 'keys_unsorted|join(",")')"
is "as started" "$j order-42 3 0 0 pending null" \
    "$(json '[.join_id, .grouping_key, .expected_steps, .completed_steps, .failed_steps, .status, .reason|tostring]|join(" ")')"
is "metadata is a text" '{"kind": "etl"}' "$(json .metadata)"
like "the deadline is a time" "????-??-??T??:??:??.??????Z" "$(json .deadline)"
is "two hours from now" 7200 \
    "$(json '[.deadline, .created_at]|map(.[0:19] + "Z"|fromdate)|.[0] - .[1]|. - (. - 7200|if fabs <= 1 then . else 0 end)')"
is "updated when it was created" true "$(json '.created_at == .last_updated_at')"
is "no members" '[]' "$(json .members)"
exits "start as JSON" 0 boxcar join start --expected 1 -o json
is "an object" join_id "$(json 'keys|join(",")')"
bare=$(json .join_id)
is "absent fields are null" 'null null null' "$(show "$bare" '[.grouping_key, .deadline, .metadata|tostring]|join(" ")')"
is "an empty key is none" null "$(show "$(new_join 1 --grouping-key '')" .grouping_key)"
is "empty metadata is kept" '""' "$(boxcar join show "$(new_join 1 --metadata '')" -o json | jq -c .metadata)"
is "a deadline may be a time" '2999-01-31T11:00:00.000000Z' "$(show "$(new_join 1 --deadline 2999-01-31T12:00:00+01:00)" .deadline)"
head -c 3000000 /dev/zero | tr '\0' m >metadata.txt
printf '\n"end" ' >>metadata.txt
out=$(boxcar join start --expected 1 --metadata - <metadata.txt)
boxcar join show "$out" -o json | jq -j .metadata >kept.txt
is "metadata from standard input, byte for byte" same "$(cmp metadata.txt kept.txt && echo same)"
out=$(boxcar join start --expected 1 --metadata - </dev/null)
is "an empty input is empty metadata" '""' "$(boxcar join show "$out" -o json | jq -c .metadata)"
exits "starting an id that exists" 0 boxcar join start --expected 9 --join-id "$j"
is "prints it" "$j" "$out"
is "changes nothing" 3 "$(show "$j" .expected_steps)"
exits "for people" 0 boxcar join show "$j"
like "its progress" "*progress*0 of 3*status*pending*" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "as JSON Lines" 0 boxcar join show "$j" -o jsonl
is "one line" 1 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"

# JOIN-002, JOIN-004, BX-011
long=$(printf 'k%.0s' $(seq 256))
before=$(boxcar join ls -o json --limit 10000 | jq length)
for steps in 0 -1 2147483648 -9223372036854775808; do
    refuses "expected steps $steps" 2 "boxcar: join start: --expected is out of range: give 1 to 2147483647" boxcar join start --expected "$steps"
done
for steps in '' x 1.5 99999999999999999999; do
    refuses "expected steps '$steps'" 2 "*--expected is '$steps': give a whole number, 1 to 2147483647" boxcar join start --expected "$steps"
done
refuses "no expected steps" 2 "*--expected is missing*" boxcar join start
refuses "a key of 256 characters" 2 "*--grouping-key is too long*255*" boxcar join start --expected 1 --grouping-key "$long"
refuses "a key that is not UTF-8" 2 "*--grouping-key*UTF-8*" boxcar join start --expected 1 --grouping-key $'\xff'
printf '\xff' >bad.txt
refuses "metadata that is not UTF-8 from standard input" 2 "*--metadata*UTF-8*" sh -c 'boxcar join start --expected 1 --metadata - <bad.txt'
refuses "metadata that is not UTF-8" 2 "*--metadata*UTF-8*" boxcar join start --expected 1 --metadata $'\xff'
for deadline in soon 5 '' -1s 2026-13-01T00:00:00Z; do
    refuses "a deadline '$deadline'" 2 "*--deadline is '$deadline': give a duration*RFC 3339*" boxcar join start --expected 1 --deadline "$deadline"
done
refuses "a deadline of 0" 2 "*--deadline is 0: give 1ms to 3650d" boxcar join start --expected 1 --deadline 0
refuses "a deadline too far away" 2 "*--deadline is 3651d: give 1ms to 3650d" boxcar join start --expected 1 --deadline 3651d
refuses "a deadline before 1970" 2 "*--deadline is out of range*" boxcar join start --expected 1 --deadline 1960-01-01T00:00:00Z
refuses "a malformed join id" 2 "*--join-id is 'x'*UUID*" boxcar join start --expected 1 --join-id x
refuses "the nil join id" 2 "*--join-id*UUID other than nil" boxcar join start --expected 1 --join-id $nil
refuses "start with an argument" 2 "*unexpected argument*" boxcar join start --expected 1 3
is "bad input started nothing" "$before" "$(boxcar join ls -o json --limit 10000 | jq length)"
exits "the most steps, and a key of 255 characters" 0 boxcar join start --expected 2147483647 --grouping-key "${long#k}"

# ---- attach: JOIN-010, JOIN-011, JOIN-013, BX-042, BX-043 ----
step work a; a=$mid wa=$id
step work b; b=$mid wb=$id
exits "attach" 0 boxcar join attach "$j" "$a" "$b"
is "prints the new members" "$a $b" "$(printf '%s' "$out" | tr '\n' ' ')"
is "says nothing else" "" "$err"
exits "attach again" 0 boxcar join attach "$j" "$a"
is "prints no new member" "" "$out"
is "notes that it is one already" "boxcar: join attach: note: $a was a member already" "$err"
exits "attach what does not exist" 0 boxcar join attach "$j" $none
is "prints the new member" $none "$out"
like "notes that there is no such message" "boxcar: join attach: note: $none is no message yet: *" "$err"
k=$(new_join 5)
exits "attach several, as JSON" 0 boxcar join attach "$k" "$a" $none "$owner" "$a" -o json
is "one object for each, in order" "[[\"$a\",true,true],[\"$none\",true,false],[\"$owner\",true,false],[\"$a\",false,true]]" \
    "$(json '[.[]|[.message_id, .attached, .message_exists]]')"
like "notes say how many" "*note: 2 of the messages do not exist yet: *" "$(head -n 1 err.txt)"
exits "as a table" 0 boxcar join attach "$k" "$a" -o table
like "with a heading" "message_id*attached*message_exists*$a*false*true" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "notes are silent at --log-level error" 0 boxcar join attach "$k" "$a" --log-level error
is "nothing on standard error" "" "$err"
is "attaching counts nothing" '0 0' "$(show "$j" '"\(.completed_steps) \(.failed_steps)"')"
is "fields of a member" 'message_id,work_id,status,created_at' "$(show "$j" '.members[0]|keys_unsorted|join(",")')"
is "members by message id" true "$(show "$j" '[.members[].message_id]|. == sort')"
is "a member knows its message" "$wa" "$(show "$j" ".members[]|select(.message_id == \"$a\").work_id")"
is "or that there is none" null "$(show "$j" ".members[]|select(.message_id == \"$none\").work_id")"
first=$(show "$j" '.members[0].message_id')
exits "a page of members" 0 boxcar join show "$j" --limit 1 -o json
is "the first" "[\"$first\"]" "$(json '[.members[].message_id]')"
exits "the next page" 0 boxcar join show "$j" --limit 5 --after "$first" -o json
is "the others" 2 "$(json '.members|length')"
exits "a page for people" 0 boxcar join show "$j" --limit 1
last_line=$(printf '%s\n' "$out" | tail -n 1)
is "says how many it shows, and how to see the next" \
    "1 member shown; there are more: boxcar join show $j --limit 1 --after $first" "$last_line"
exits "which works" 0 bash -c "${last_line#*more: } -o json"
is "and shows the next" true "$(json ".members|length == 1 and .[0].message_id > \"$first\"")"
exits "the last page" 0 boxcar join show "$j" --limit 2 --after "$first"
is "has no next, though it is full" "2 members shown" "$(printf '%s\n' "$out" | tail -n 1)"
exits "for people" 0 boxcar join show "$j"
is "all of them" "3 members shown" "$(printf '%s\n' "$out" | tail -n 1)"
like "a table of members" "*message_id*work_id*status*created_at*$b*pending*" "$(printf '%s' "$out" | tr '\n' ' ')"

refuses "attach to no join" 3 "boxcar: join attach: *" boxcar join attach $none "$a"
refuses "attach nothing" 2 "*MESSAGE is missing*" boxcar join attach "$j"
refuses "attach without a join" 2 "*JOIN is missing*" boxcar join attach
refuses "attach a malformed id" 2 "*MESSAGE is 'x'*UUID*" boxcar join attach "$j" "$a" x
refuses "attach a work id" 2 "*MESSAGE is '$wa'*UUID*" boxcar join attach "$j" "$wa"
refuses "attach the nil id" 2 "*MESSAGE is '$nil'*" boxcar join attach "$j" $nil
refuses "attach to a malformed join" 2 "*JOIN is 'x'*UUID*" boxcar join attach x "$a"
for command in show cancel; do
    refuses "$command no join" 3 "boxcar: join $command: *" boxcar join "$command" $none
    refuses "$command without a join" 2 "*JOIN is missing*" boxcar join "$command"
    refuses "$command a malformed join" 2 "*JOIN is 'x'*" boxcar join "$command" x
    refuses "$command the nil join" 2 "*JOIN is '$nil'*" boxcar join "$command" $nil
    refuses "$command two" 2 "*unexpected argument*" boxcar join "$command" "$j" "$j"
done
for limit in 0 10001 -1; do
    refuses "a page of $limit members" 2 "*--limit is out of range: give 1 to 10000" boxcar join show "$j" --limit "$limit"
done
refuses "after a malformed member" 2 "*--after is 'x'*" boxcar join show "$j" --after x

# ---- counting: JOIN-020 to JOIN-023, JOIN-030, JOIN-031, JOIN-041, JOIN-042 ----
claim_all
ack "$wa"
is "an ack counts" '1 0 pending' "$(show "$j" '[.completed_steps, .failed_steps, .status]|join(" ")')"
boxcar fail --owner "$owner" "$wb" >/dev/null
is "a failure counts" '1 1 pending' "$(show "$j" '[.completed_steps, .failed_steps, .status]|join(" ")')"
exits "for people" 0 boxcar join show "$j"
like "its progress" "*progress*2 of 3, 1 failed*" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "complete" 0 boxcar join complete "$j" $none
is "says that it was counted" counted "$out"
is "the last step ends the join" '2 1 failed null' "$(show "$j" '[.completed_steps, .failed_steps, .status, .reason|tostring]|join(" ")')"
exits "complete again" 0 boxcar join complete "$j" $none
is "is not counted" "not counted" "$out"
exits "fail after that, as JSON" 0 boxcar join fail "$j" $none -o json
is "is not counted" '{"counted":false}' "$out"
exits "fail, as JSON" 0 boxcar join fail "$k" $none -o json
is "counted" '{"counted":true}' "$out"
is "as failed" '1 failed' "$(show "$k" "\"\(.failed_steps) \(.members[]|select(.message_id == \"$none\").status)\"")"
for command in complete fail; do
    refuses "$command in no join" 3 "boxcar: join $command: *" boxcar join "$command" $none "$a"
    refuses "$command what is no member" 3 "boxcar: join $command: *" boxcar join "$command" "$bare" "$a"
    refuses "$command without a message" 2 "*MESSAGE is missing*" boxcar join "$command" "$j"
    refuses "$command without a join" 2 "*JOIN is missing*" boxcar join "$command"
    refuses "$command a malformed message" 2 "*MESSAGE is 'x'*" boxcar join "$command" "$j" x
    refuses "$command two messages" 2 "*unexpected argument*" boxcar join "$command" "$j" "$a" "$b"
done
exits "attaching a member of an ended join again" 0 boxcar join attach "$j" "$a"
refuses "attaching to an ended join" 4 "boxcar: join attach: *" boxcar join attach "$j" "$owner"

# ---- enqueue into a join: BX-042 ----
e=$(new_join 2)
step work x --join "$e"
is "a member at once" "[[\"$mid\",$id,\"pending\"]]" "$(show "$e" '[.members[]|[.message_id, .work_id, .status]]')"
refuses "enqueue into no join" 3 "boxcar: enqueue: *" boxcar enqueue refused x --join $none
refuses "enqueue into an ended join" 4 "boxcar: enqueue: *" boxcar enqueue refused x --join "$j"
refuses "enqueue into a malformed join" 2 "*--join is 'x'*UUID*" boxcar enqueue refused x --join x
printf '%s\n' "{\"topic\": \"work\", \"payload\": 1, \"join_id\": \"$e\"}" \
    "{\"topic\": \"work\", \"payload\": 2, \"join\": \"$e\"}" '{"topic": "work", "payload": 3}' >lines.txt
exits "enqueue a file" 0 boxcar enqueue --batch lines.txt
is "its messages are members" 3 "$(show "$e" '.members|length')"
printf '%s\n' "{\"topic\": \"refused\", \"payload\": 1}" "{\"topic\": \"refused\", \"payload\": 1, \"join_id\": \"$none\"}" >lines.txt
refuses "a file with a join that does not exist" 3 "boxcar: enqueue: *" boxcar enqueue --batch lines.txt
echo '{"topic": "refused", "payload": 1, "join_id": "x"}' >lines.txt
refuses "a file with a malformed join" 2 "*line 1: join_id is not a UUID*" boxcar enqueue --batch lines.txt
echo "{\"topic\": \"refused\", \"payload\": 1, \"join_id\": \"$e\", \"join\": \"$e\"}" >lines.txt
refuses "a file with two joins for a message" 2 "*line 1: join and join_id are both given*" boxcar enqueue --batch lines.txt
is "what was refused is not there" '[]' "$(boxcar ls --topic refused -o json)"
claim_all
exits "acking a step" 0 boxcar ack --owner "$owner" "$id"
is "counts it" 1 "$(show "$e" .completed_steps)"

# ---- cancel: BX-046 ----
exits "cancel" 0 boxcar join cancel "$e"
is "prints the id" "$e" "$out"
is "cancelled" cancelled "$(show "$e" .status)"
refuses "cancel again" 4 "boxcar: join cancel: *" boxcar join cancel "$e"
refuses "a step of a cancelled join" 4 "boxcar: join complete: *" boxcar join complete "$e" \
    "$(show "$e" '[.members[]|select(.status == "pending")][0].message_id')"
exits "cancel as JSON" 0 boxcar join cancel "$k" -o json
is "its id" "{\"join_id\":\"$k\"}" "$out"

# ---- ls ----
boxcar join ls -o json --limit 10000 >all.json
newest=$(jq -r '.[0].join_id' all.json)
exits "ls" 0 boxcar join ls -o json --limit 2
is "newest first" "$(jq -c '[.[0:2][].join_id]' all.json)" "$(json '[.[].join_id]')"
is "the fields of a join" \
    'join_id,grouping_key,expected_steps,completed_steps,failed_steps,status,reason,created_at,last_updated_at,deadline,metadata' \
    "$(json '.[0]|keys_unsorted|join(",")')"
exits "the next page" 0 boxcar join ls -o jsonl --limit 1 --after "$newest"
is "one line" "$(jq -r '.[1].join_id' all.json)" "$(json .join_id)"
exits "by key" 0 boxcar join ls --grouping-key order-42 -o json
is "one" "[\"$j\"]" "$(json '[.[].join_id]')"
exits "by status" 0 boxcar join ls --status failed -o json
is "the failed one" "[\"$j\"]" "$(json '[.[].join_id]')"
exits "by key and status" 0 boxcar join ls --grouping-key order-42 --status pending -o json
is "none" "[]" "$out"
exits "by time" 0 boxcar join ls --before 2000-01-01T00:00:00Z -o json
is "none" "[]" "$out"
exits "for people" 0 boxcar join ls --status failed
like "a table" "join_id*grouping_key*progress*status*reason*created_at*last_updated_at*deadline*$j*order-42*3 of 3, 1 failed*failed*" \
    "$(printf '%s' "$out" | tr '\n' ' ')"
refuses "an unknown status" 2 "*--status is 'done': give pending, completed, failed or cancelled" boxcar join ls --status done
refuses "an empty key" 2 "*--grouping-key is empty*" boxcar join ls --grouping-key ''
refuses "a malformed time" 2 "*--before is 'x'*RFC 3339*" boxcar join ls --before x
refuses "a malformed limit" 2 "*--limit is 'x'*" boxcar join ls --limit x
refuses "a limit of 0" 2 "*--limit is out of range: give 1 to 10000" boxcar join ls --limit 0
refuses "after a malformed join" 2 "*--after is 'x'*UUID*" boxcar join ls --after x
refuses "after no join" 3 "boxcar: join ls: *" boxcar join ls --after $none
refuses "ls with an argument" 2 "*unexpected argument*" boxcar join ls all

# ---- wait: its command line ----
w=$(new_join 1)
exits "wait" 0 boxcar join wait "$w" --on-complete early.good '{"a": 1}' --on-fail early.bad '' --correlation-id c-7
like "prints the wait's message id" "????????-????-7???-????-????????????" "$out"
wait_id=$out
is "a message that waits" 'join.wait c-7' "$(boxcar show "$wait_id" -o json | jq -r '"\(.topic) \(.correlation_id)"')"
is "its payload" "{\"join_id\":\"$w\",\"fail_if_any_step_failed\":true,\"on_complete_topic\":\"early.good\",\"on_complete_payload\":\"{\\\"a\\\": 1}\",\"on_fail_topic\":\"early.bad\",\"on_fail_payload\":\"\"}" \
    "$(boxcar show "$wait_id" -o json | jq -r .payload)"
exits "the same wait again, as JSON" 0 boxcar join wait "$w" --on-complete other x --message-id "$wait_id" -o json
is "is a no-op" "true $wait_id" "$(json '"\(.duplicate) \(.message_id)"')"
is "fields" 'work_id,message_id,duplicate' "$(json 'keys_unsorted|join(",")')"
is "and says so" "boxcar: join wait: note: the message $wait_id existed already and is left as it is" "$err"

# Two words, the second whatever it looks like.
payload_of() { boxcar show "$1" -o json | jq -r '.payload|fromjson|"\(.on_complete_topic)|\(.on_complete_payload)|\(.on_fail_topic)|\(.on_fail_payload)|\(.fail_if_any_step_failed)"'; }
wait_with() { # NAME EXPECTED ARGUMENT...
    local name=$1 expected=$2
    shift 2
    exits "$name" 0 boxcar join wait "$@"
    is "$name: taken as it is" "$expected" "$(payload_of "$out")"
}
wait_with "an empty payload" 't||null|null|true' "$w" --on-complete t ''
wait_with "a payload like an option" 't|--verbose|null|null|true' "$w" --on-complete t --verbose
wait_with "a payload that is an option with a value" 't|--on-fail=x|null|null|true' "$w" --on-complete t --on-fail=x
wait_with "a payload like the end of options" 't|--|null|null|true' "$w" --on-complete t --
wait_with "a topic like an option" '-o|-x|null|null|true' "$w" --on-complete -o -x
wait_with "with an equals sign" 't=1|-h|null|null|true' "$w" --on-complete=t=1 -h
wait_with "before the join, with other options between" 'a|b|c|d|false' --on-complete a b --allow-failures -o json --on-fail c d "$w" -o table
wait_with "what popt would replace stays" 't|a!#:+b|!#:+|!#:+|true' "$w" --on-complete t 'a!#:+b' --on-fail '!#:+' '!#:+'
wait_with "the value of another option is not looked into" 't|p|null|null|true' --correlation-id --on-fail "$w" --on-complete t p
wait_with "after the end of options there are only arguments" 't|p|null|null|true' --on-complete t p -- "$w"
printf 'from\na pipe' >input.txt
status=0
out=$(boxcar join wait "$w" --on-complete t - --on-fail f x <input.txt) || status=$?
is "a payload from standard input (exit $status)" $'t|from\na pipe|f|x|true' "$(payload_of "$out")"
out=$(boxcar join wait "$w" --on-complete t x --on-fail f - <input.txt) || status=$?
is "the other from standard input (exit $status)" $'t|x|f|from\na pipe|true' "$(payload_of "$out")"

count=$(boxcar ls --topic join.wait -o json --limit 10000 | jq length)
refuses "no message to follow" 2 "*--on-complete is missing: give TOPIC PAYLOAD*" boxcar join wait "$w"
takes="it takes a TOPIC and a PAYLOAD; give '' for an empty one"
refuses "no words" 2 "*: --on-complete has no TOPIC: $takes" boxcar join wait "$w" --on-complete
refuses "no payload" 2 "*: --on-complete has no PAYLOAD: $takes" boxcar join wait "$w" --on-complete t
for option in --on-complete --on-fail --allow-failures --correlation-id --message-id --store; do
    refuses "$option instead of a payload" 2 "*: --on-complete has no PAYLOAD, what follows is $option: $takes" \
        boxcar join wait "$w" --on-complete t "$option" b ''
    refuses "$option instead of a topic" 2 "*: --on-fail has no TOPIC, what follows is $option: $takes" \
        boxcar join wait "$w" --on-complete t x --on-fail "$option" b ''
    refuses "$option instead of a payload after =" 2 "*: --on-complete has no PAYLOAD, what follows is $option: *" \
        boxcar join wait "$w" --on-complete=t "$option" b ''
done
refuses "two messages for success" 2 "*: --on-complete is given twice: give it once" \
    boxcar join wait "$w" --on-complete a secret --on-complete c secret
refuses "two messages for failure" 2 "*: --on-fail is given twice: give it once" \
    boxcar join wait "$w" --on-complete a b --on-fail c d --on-fail=e f
refuses "no payload after =" 2 "*--on-fail has no PAYLOAD*" boxcar join wait "$w" --on-complete t p --on-fail=t
refuses "two payloads from standard input" 2 "*standard input can be read for one of them only" boxcar join wait "$w" --on-complete t - --on-fail f -
refuses "an empty topic" 2 "*--on-complete is empty: give 1 to 255 characters" boxcar join wait "$w" --on-complete '' x
refuses "an empty topic for failure" 2 "*--on-fail has an empty TOPIC*" boxcar join wait "$w" --on-complete t x --on-fail '' x
refuses "a topic of 256 characters" 2 "*--on-fail is too long*255*" boxcar join wait "$w" --on-complete t x --on-fail "$long" x
refuses "a payload that is not UTF-8" 2 "*on_complete_payload is not valid UTF-8*" boxcar join wait "$w" --on-complete t $'secret\xff'
refuses "a payload in two words" 2 "*more arguments than JOIN*" boxcar join wait "$w" --on-complete t my secret
unlike "which is not shown" "*secret*" "$err"
refuses "a correlation id of 256 characters" 2 "*--correlation-id*255*" boxcar join wait "$w" --on-complete t x --correlation-id "$long"
refuses "a malformed message id" 2 "*--message-id is 'x'*" boxcar join wait "$w" --on-complete t x --message-id x
refuses "wait for no join" 3 "boxcar: join wait: *" boxcar join wait $none --on-complete t x
refuses "wait for a malformed join" 2 "*JOIN is 'x'*" boxcar join wait x --on-complete t x
refuses "wait without a join" 2 "*JOIN is missing*" boxcar join wait --on-complete t x
refuses "an unknown option" 2 "*unknown option --on-compleat, did you mean --on-complete*" boxcar join wait "$w" --on-compleat t x
is "bad input enqueued nothing" "$count" "$(boxcar ls --topic join.wait -o json --limit 10000 | jq length)"
boxcar join cancel "$w" >/dev/null
resolve

# ---- wait: what follows. JOIN-053 to JOIN-056, BX-044 to BX-046 ----
two_waits() { # NAME JOIN
    boxcar join wait "$2" --on-complete next.good "$1" --on-fail next.bad "$1" --correlation-id "$1" >/dev/null
    boxcar join wait "$2" --on-complete next.lenient "$1" --allow-failures >/dev/null
}
good=$(new_join 1) bad=$(new_join 1) gone=$(new_join 1) open=$(new_join 1)
two_waits good "$good"
two_waits bad "$bad"
two_waits gone "$gone"
two_waits open "$open"
boxcar join attach "$good" $none >/dev/null 2>&1
boxcar join attach "$bad" $none >/dev/null 2>&1
resolve
is "nothing follows while they are pending" "" "$(followed)"
late=$(new_join 1 --deadline 1s)
two_waits late "$late"
boxcar join complete "$good" $none >/dev/null
boxcar join fail "$bad" $none >/dev/null
boxcar join cancel "$gone" >/dev/null
wait_past "$(show "$late" .deadline)"
boxcar maintain --once >/dev/null
is "the deadline came" 'failed timed_out' "$(show "$late" '"\(.status) \(.reason)"')"
exits "for people" 0 boxcar join ls --status failed --limit 1
like "the list says so, and when it was" "*deadline*$late*failed*timed_out*$(show "$late" .deadline)" "$(printf '%s' "$out" | tr '\n' ' ')"
resolve
is "each wait has what its join and its flag say" \
    "$(printf '%s\n' 'next.bad bad bad' 'next.bad gone gone' 'next.bad late late' 'next.good good good' 'next.lenient bad -' 'next.lenient good -')" \
    "$(followed)"
# Waiting, or due for the next look at their join.
is "those of the open join still wait" 2 \
    "$(boxcar ls --topic join.wait -o json --limit 1000 | jq '[.[]|select(.status == "ready")]|length')"
exits "a wait after the end" 0 boxcar join wait "$good" --on-complete next.again ''
resolve
is "is followed too" 1 "$(boxcar ls --topic next.again -o json | jq length)"

# BX-042: what had ended before it was attached is settled by maintenance.
step old x
claim_all
ack "$id"
s=$(new_join 1)
boxcar join attach "$s" "$mid" >/dev/null
is "attaching counts nothing" 0 "$(show "$s" .completed_steps)"
exits "maintain" 0 boxcar maintain --once -o json
is "settles it" 1 "$(json .settled)"
is "completed" '1 completed' "$(show "$s" '"\(.completed_steps) \(.status)"')"

# BX-026
boxcar settings retention_joins 0 >/dev/null
exits "maintain" 0 boxcar maintain --once -o json
like "purges joins that have ended" "[1-9]*" "$(json .purged_joins)"
refuses "which are gone" 3 "*" boxcar join show "$s"
exits "the others stay" 0 boxcar join show "$open"
boxcar settings retention_joins --reset >/dev/null

# ---- a deadline that has passed, though nobody has seen it: BX-046 ----
past=$(new_join 2 --deadline 2020-01-01T00:00:00Z)
soon=$(new_join 2 --deadline 1s)
boxcar join attach "$soon" "$a" >/dev/null
wait_past "$(show "$soon" .deadline)"
for d in "$past" "$soon"; do
    refuses "attaching after the deadline" 4 "boxcar: join attach: *" boxcar join attach "$d" "$b"
    refuses "enqueueing after the deadline" 4 "boxcar: enqueue: *" boxcar enqueue refused x --join "$d"
    refuses "cancelling after the deadline" 4 "boxcar: join cancel: *" boxcar join cancel "$d"
done
for command in complete fail; do
    refuses "$command after the deadline" 4 "boxcar: join $command: *" boxcar join "$command" "$soon" "$a"
done
is "what was refused is not there" '[]' "$(boxcar ls --topic refused -o json)"
is "refusing changes nothing" 'pending null' "$(show "$past" '"\(.status) \(.reason)"')"
boxcar maintain --once >/dev/null
is "maintenance does" 'failed timed_out' "$(show "$past" '"\(.status) \(.reason)"')"

# JOIN-070 to JOIN-072, BX-010
boxcar join start --expected 1 --grouping-key g --metadata secret --log-level info >out.txt 2>err.txt
l=$(cat out.txt)
like "a start is logged" "*event=join_start*join_id=$l*grouping_key=g*expected_steps=1*" "$(cat err.txt)"
boxcar join attach "$l" $none --log-level debug >/dev/null 2>err.txt
like "an attachment is logged" "*event=join_attach*join_id=$l*message_id=$none*" "$(cat err.txt)"
boxcar join complete "$l" $none --log-level info >/dev/null 2>err.txt
like "an end is logged" "*event=join_end*join_id=$l*status=completed*expected_steps=1*completed_steps=1*failed_steps=0*" "$(cat err.txt)"
l=$(new_join 1)
step logged x --join "$l"
claim_all
boxcar ack --owner "$owner" "$id" --log-level info >/dev/null 2>err.txt
like "also when an ack ends it" "*event=join_end*join_id=$l*status=completed*" "$(cat err.txt)"
unlike "no metadata, no payload" "*secret*" "$(cat err.txt)"

# From a message to its joins: JOIN 7.2.
first=$(boxcar join start --expected 2)
second=$(boxcar join start --expected 2)
step=$(boxcar enqueue member.step p --join "$first")
boxcar join attach "$second" "$step" >/dev/null
is "show lists the joins of a message" "$first $second" "$(boxcar show "$step" -o json | jq -r '.joins[].join_id' | sort | paste -sd' ')"
is "with their status" pending "$(boxcar show "$step" -o json | jq -r '.joins[].status' | sort -u)"
is "and so does join ls" "$first $second" "$(boxcar join ls --message "$step" -o jsonl | jq -r .join_id | sort | paste -sd' ')"
is "another message has none" "" "$(boxcar join ls --message "$(boxcar enqueue member.step p)" -o jsonl)"
refuses "a message that is no UUID" 2 "*--message*" boxcar join ls --message 1

refuses "join alone" 2 "*start, attach, complete, fail, wait, cancel, show or ls*" boxcar join
refuses "an unknown join command" 2 "*did you mean 'start'*" boxcar join strat

finish
