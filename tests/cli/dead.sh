# boxcar dead ls, show, replay, purge; boxcar cancel.
. "$BOXCAR_TEST_DIR/support/lib.sh"

show() { boxcar show "$1" -o json | jq -cr "$2"; }

# BX-025
bury orders.paid one; a=$id
bury orders.shipped two; b=$id
bury mail.send three; c=$id
enqueue t four; d=$id
exits "dead ls" 0 boxcar dead ls -o json
is "newest first" "[$c,$b,$a]" "$(json '[.[].work_id]')"
is "reason and last error" 'rejected no such customer failed' "$(json '.[0]|[.reason, .last_error, .status]|join(" ")')"
like "died_at" "????-??-??T??:??:??.??????Z" "$(json '.[0].died_at')"
is "no payload" false "$(json '.[0]|has("payload")')"
exits "by topic" 0 boxcar dead ls --topic 'orders.*' -o json
is "two" "[$b,$a]" "$(json '[.[].work_id]')"
exits "by reason" 0 boxcar dead ls --reason exhausted -o json
is "none" "[]" "$out"
exits "by time" 0 boxcar dead ls --before 2000-01-01T00:00:00Z -o json
is "none" "[]" "$out"
exits "by ids of both kinds" 0 boxcar dead ls "$a" "$(show "$c" .message_id)" "$d" -o json
is "two" "[$c,$a]" "$(json '[.[].work_id]')"
exits "a page" 0 boxcar dead ls --limit 1 --after "$c" -o jsonl
is "the second" "$b" "$(json .work_id)"
exits "all, page by page" 0 boxcar dead ls --all --limit 1 -o jsonl
is "three" "$c $b $a" "$(json .work_id | paste -sd' ')"
exits "for people" 0 boxcar dead ls
like "a heading" "*work_id*reason*died_at*" "$out"

exits "dead show" 0 boxcar dead show "$a" -o json
is "payload and history" 'one failed no such customer' "$(json '[.payload, .attempts[0].outcome, .attempts[0].error]|join(" ")')"
refuses "dead show of a live message" 3 "*not a dead letter*ready*" boxcar dead show "$d"
refuses "dead show of nothing" 3 "boxcar: dead show: *" boxcar dead show 999999999
refuses "dead show of a malformed id" 2 "*ID is 'x'*" boxcar dead show x

# BX-004
exits "replay" 0 boxcar dead replay "$a" --note 'customer added'
is "prints how many" 1 "$out"
is "ready again, attempts forgotten" 'ready 0' "$(show "$a" '"\(.status) \(.retry_count)"')"
is "recorded with the note" 'replayed customer added' "$(show "$a" '.attempts[-1]|"\(.outcome) \(.error)"')"
exits "replay of an id that is not dead" 3 boxcar dead replay "$a" -o json
is "says so and how many" '{"replayed":0}' "$out"
like "why" "boxcar: dead replay: none of the ids is a dead letter*" "$err"
exits "replay by topic" 0 boxcar dead replay --topic orders.shipped -o json
is "as JSON" '{"replayed":1}' "$out"
exits "replay by a filter that matches nothing" 0 boxcar dead replay --topic nothing
is "is 0" 0 "$out"
exits "purge" 0 boxcar dead purge "$c"
is "prints how many" 1 "$out"
refuses "a purged message is gone" 3 "*" boxcar show "$c"
exits "purge of an id that is not dead" 3 boxcar dead purge "$a"
bury x x
bury x x
exits "replay all" 0 boxcar dead replay --all
is "two" 2 "$out"
bury x x
exits "purge all" 0 boxcar dead purge --all -o json
is "as JSON" '{"purged":1}' "$out"

for command in replay purge; do
    refuses "$command without a choice" 2 "*nothing is chosen*--all*" boxcar dead "$command"
    refuses "$command of a malformed id" 2 "*ID is 'x'*" boxcar dead "$command" 1 x
    refuses "$command by a malformed time" 2 "*--before*RFC 3339*" boxcar dead "$command" --before yesterday
    refuses "$command by an unknown reason" 2 "*--reason is 'bad'*" boxcar dead "$command" --reason bad
    refuses "$command by an empty topic" 2 "*--topic*" boxcar dead "$command" --topic ''
done
refuses "dead alone" 2 "*ls, show, replay or purge*" boxcar dead
refuses "an unknown dead command" 2 "*did you mean 'replay'*" boxcar dead reply

# BX-028
enqueue t later --delay 1h
exits "cancel" 0 boxcar cancel "$id"
is "a dead letter" 'failed cancelled' "$(show "$id" '"\(.status) \(.reason)"')"
refuses "cancel of a dead one" 4 "boxcar: cancel: *" boxcar cancel "$id"
enqueue t now
exits "cancel by message id" 0 boxcar cancel "$(show "$id" .message_id)" -o json
is "as JSON" '{"cancelled":1}' "$out"
enqueue t busy
claim_all
refuses "cancel of one in progress" 4 "boxcar: cancel: *" boxcar cancel "$id"
boxcar ack --owner "$owner" "$id" >/dev/null
refuses "cancel of one that is done" 4 "boxcar: cancel: *" boxcar cancel "$id"
refuses "cancel of none" 3 "boxcar: cancel: *" boxcar cancel 999999999
refuses "cancel of a malformed id" 2 "*ID is 'x'*" boxcar cancel x
refuses "cancel without an id" 2 "*ID is missing*" boxcar cancel
exits "dead letters by reason" 0 boxcar dead ls --reason cancelled -o json
is "the two cancelled" 2 "$(json length)"

# BX-003: attempts used up.
enqueue t fragile --max-attempts 2
for _ in 1 2; do
    claim_all
    boxcar abandon --owner "$owner" "$id" --delay 0 --error again >/dev/null
done
is "exhausted after max_attempts" 'failed exhausted 2' "$(show "$id" '[.status, .reason, .retry_count]|join(" ")')"

# BX-005: time to live.
enqueue t short --ttl 1ms
wait_past "$(show "$id" .expires_at)"
claim_all
is "an expired message is dead" 'failed expired' "$(show "$id" '"\(.status) \(.reason)"')"

finish
