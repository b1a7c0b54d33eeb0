# boxcar stream ls, show, resume, skip, policy; boxcar instance ls. BX-006, BX-060, BX-061, BX-062
. "$BOXCAR_TEST_DIR/support/lib.sh"

fields='stream,box,state,partition,pending,head,topic,available_at,retry_count,owner,halted_at,halted_by'
# add KEY [TOPIC]: its work id is in $id.
add() { enqueue "${2:-t}" p --stream "$1"; }
state() { boxcar stream show "$1" -o json | jq -r .state; }
# Claims one message, which must be this one, and fails it.
kill_head() {
    boxcar claim --owner "$owner" --batch-size 1 --lease 1h >/dev/null
    boxcar fail --owner "$owner" "$1" --error no >/dev/null
}

# ---- ls and show ----
exits "ls of none" 0 boxcar stream ls -o json
is "is an empty array" '[]' "$out"
exits "no command" 2 boxcar stream
like "says which there are" "*give ls, show, resume, skip or policy*" "$err"
add order-1 && first=$id
add order-1
add order-2
add other
exits "ls" 0 boxcar stream ls -o json
is "by key" 'order-1 order-2 other' "$(json 'map(.stream)|join(" ")')"
is "fields" "$fields" "$(json '.[0]|keys_unsorted|join(",")')"
is "the first" "order-1 outbox ready 2 $first t 0 null null null" \
    "$(json '.[0]|[.stream, .box, .state, .pending, .head, .topic, .retry_count, .owner, .halted_at, .halted_by]|map(tostring)|join(" ")')"
is "its partition" 396 "$(json '.[0].partition')"
exits "a prefix" 0 boxcar stream ls --prefix order- -o jsonl
is "one a line" 'order-1 order-2' "$(printf '%s\n' "$out" | jq -r .stream | xargs)"
exits "pages" 0 boxcar stream ls --limit 1 --after order-1 -o json
is "the next" 'order-2' "$(json 'map(.stream)|join(" ")')"
exits "the other box" 0 boxcar stream ls --box inbox -o json
is "has none" '[]' "$out"
exits "for people" 0 boxcar stream ls
like "a table" "stream * state * pending * head *order-1 *ready *2 *" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "show" 0 boxcar stream show order-1 -o json
is "the same fields" "$fields" "$(json 'keys_unsorted|join(",")')"
refuses "show of nobody's" 3 "*stream*unfinished*" boxcar stream show nobody
refuses "show without a key" 2 "*KEY is missing*" boxcar stream show
refuses "show of two" 2 "*unexpected argument*" boxcar stream show a b
refuses "an empty key" 2 "*stream is empty*" boxcar stream show ''
refuses "a bad limit" 2 "*--limit*" boxcar stream ls --limit 0
refuses "a bad box" 2 "*--box*" boxcar stream ls --box letter

# ---- a claim brings neighbours; the state follows ----
exits "claim" 0 boxcar claim --owner "$owner" --batch-size 40 --lease 1h
is "both of order-1 in order" "$first $((first + 1))" \
    "$(printf '%s\n' "$out" | jq -r 'select(.stream == "order-1").work_id' | xargs)"
is "in progress" "in_progress $owner" "$(boxcar stream show order-1 -o json | jq -r '"\(.state) \(.owner)"')"
refuses "skip of one in progress" 4 "*in?progress*" boxcar stream skip order-1
boxcar abandon --owner "$owner" "$first" --delay 1h >/dev/null
boxcar defer --owner "$owner" $((first + 1)) >/dev/null
is "waiting" "waiting 1" "$(boxcar stream show order-1 -o json | jq -r '"\(.state) \(.retry_count)"')"
exits "skip" 0 boxcar stream skip order-1
is "prints the message" "$first" "$out"
is "a dead letter" cancelled "$(boxcar dead show "$first" -o json | jq -r .reason)"
is "goes on" "ready $((first + 1))" "$(boxcar stream show order-1 -o json | jq -r '"\(.state) \(.head)"')"
exits "skip as JSON" 0 boxcar stream skip order-1 -o json
is "an object" "{\"work_id\":$((first + 1))}" "$out"
refuses "skip of none" 3 "*stream*unfinished*" boxcar stream skip order-1

# ---- policies ----
exits "no rules" 0 boxcar stream policy -o json
is "an empty array" '[]' "$out"
exits "a rule" 0 boxcar stream policy 'strict-*' halt -o json
is "prints the rules" '[{"pattern":"strict-*","policy":"halt"}]' "$out"
exits "another" 0 boxcar stream policy strict-not continue
exits "one of them" 0 boxcar stream policy 'strict-*' -o jsonl
is "just that" '{"pattern":"strict-*","policy":"halt"}' "$out"
exits "what counts for a key" 0 boxcar stream policy strict-7 -o jsonl
is "the rule that fits" '{"pattern":"strict-*","policy":"halt"}' "$out"
exits "for a key with a rule of its own" 0 boxcar stream policy strict-not -o jsonl
is "its own" '{"pattern":"strict-not","policy":"continue"}' "$out"
exits "for a key without" 0 boxcar stream policy other -o jsonl
is "the setting" '{"pattern":null,"policy":"continue"}' "$out"
boxcar settings stream_policy halt >/dev/null
is "which may be changed" '{"pattern":null,"policy":"halt"}' "$(boxcar stream policy other -o jsonl)"
boxcar settings stream_policy --reset >/dev/null
exits "for people" 0 boxcar stream policy other
is "a table" "pattern policy - continue" "$(printf '%s' "$out" | xargs -0 echo | tr -s ' \n' ' ' | sed 's/ $//')"
exits "a star in the middle" 0 boxcar stream policy 'a*b' halt -o jsonl
like "is noted" "*note: only a \* at the end*" "$err"
is "is a star" '{"pattern":null,"policy":"continue"}' "$(boxcar stream policy axb -o jsonl)"
exits "at the end it is not" 0 boxcar stream policy 'a*b' default
exits "remove" 0 boxcar stream policy strict-not default
exits "list" 0 boxcar stream policy
is "a table" "pattern policy strict-* halt" "$(printf '%s' "$out" | xargs -0 echo | tr -s ' \n' ' ' | sed 's/ $//')"
refuses "remove what is not there" 3 "*there is no rule*" boxcar stream policy strict-not default
refuses "an unknown policy" 2 "*give continue, halt or default*" boxcar stream policy a stop
refuses "an empty pattern" 2 "*pattern is empty*" boxcar stream policy '' halt
refuses "an unknown setting" 2 "*stream_policy must be continue or halt*" boxcar settings stream_policy stop
exits "the setting" 0 boxcar settings stream_policy
is "continues by default" continue "$out"

# ---- halt, resume ----
claim_all # whatever is left
boxcar ls --status in_progress -o jsonl | jq -r .work_id | xargs boxcar ack --owner "$owner" >/dev/null
add strict-1 && dead=$id
add strict-1 && next=$id
kill_head "$dead"
is "halted" "halted $dead 1 $next" "$(boxcar stream show strict-1 -o json | jq -r '"\(.state) \(.halted_by) \(.pending) \(.head)"')"
exits "only the halted" 0 boxcar stream ls --halted -o json
is "one" strict-1 "$(json 'map(.stream)|join(" ")')"
like "since when" "????-??-??T??:??:??.??????Z" "$(json '.[0].halted_at')"
is "nothing to claim" "" "$(boxcar claim --owner "$other")"
exits "doctor warns" 1 boxcar doctor -o json
is "by name" "warning" "$(json '.[]|select(.check=="halted_streams").severity')"
is "order was kept" "ok" "$(json '.[]|select(.check=="stream_order").severity')"
exits "a worker that drains does not wait for it" 0 \
    timeout 60 boxcar worker --drain --poll 100ms --handler 't=discard' --log-level error
exits "resume" 0 boxcar stream resume strict-1
is "prints the key" strict-1 "$out"
is "goes on behind it" "$next" "$(boxcar claim --owner "$owner" --lease 1h | jq -r .work_id)"
boxcar ack --owner "$owner" "$next" >/dev/null
refuses "resume of one that is gone" 3 "*stream*unfinished*" boxcar stream resume strict-1
add strict-2 && dead=$id
kill_head "$dead"
is "halted without messages" "halted 0 null null" \
    "$(boxcar stream show strict-2 -o json | jq -r '"\(.state) \(.pending) \(.head) \(.topic)"')"
exits "resume with replay" 0 boxcar stream resume strict-2 --replay -o json
is "an object" '{"stream":"strict-2"}' "$out"
is "ready again" ready "$(state strict-2)"
refuses "resume of one that is not halted" 4 "*not halted*" boxcar stream resume strict-2
kill_head "$dead"
exits "replay of the dead letter" 0 boxcar dead replay "$dead"
is "resumes too" ready "$(state strict-2)"
kill_head "$dead"
exits "skip of a halted one" 0 boxcar stream skip strict-2
is "names what halted it" "$dead" "$out"
refuses "and it is gone" 3 "*" boxcar stream show strict-2

# A halted stream of the inbox is as easy to find.
boxcar inbox enqueue shop 1 t p --stream strict-in >/dev/null
boxcar claim --box inbox --owner "$owner" --lease 1h >claimed.json
boxcar fail --box inbox --owner "$owner" "$(jq -r .work_id claimed.json)" --error no >/dev/null
exits "doctor warns of the inbox too" 1 boxcar doctor -o json
is "after what it says of the outbox" "ok,warning" "$(json '[.[]|select(.check=="halted_streams").severity]|join(",")')"
like "by name" "1 stream of the inbox is halted:*" "$(json '[.[]|select(.check=="halted_streams").text][1]')"
is "with the commands for it" \
    "boxcar stream ls --halted --box inbox shows them; boxcar stream resume --box inbox resumes one" \
    "$(json '[.[]|select(.check=="halted_streams").remedy][1]')"
exits "only of the box that is named" 1 boxcar doctor --box inbox -o json
is "once" "warning" "$(json '[.[]|select(.check=="halted_streams").severity]|join(",")')"
boxcar doctor --box outbox -o json >out.txt || true
is "or not at all" "ok" "$(jq -r '[.[]|select(.check=="halted_streams").severity]|join(",")' out.txt)"
exits "what it advises" 0 boxcar stream resume strict-in --box inbox

# ---- partitions and workers ----
exits "instance ls" 0 boxcar instance ls -o json
is "none" '[]' "$out"
refuses "partition_count is fixed" 4 "*partition_count stays 10000:*set it in a new store" boxcar settings partition_count 64
exits "what changes nothing is accepted" 0 boxcar settings partition_count --reset
is "it is what it was" 10000 "$out"
exits "by number, too" 0 boxcar settings partition_count 10000
refuses "partition_count has a range" 2 "*from 1 to 1000000*" boxcar settings partition_count 0
boxcar worker --poll 100ms --handler 'nobody=discard' --concurrency 3 --log-level error &
worker=$!
wait_for sh -c "boxcar instance ls -o json | jq -e 'length > 0'"
exits "a worker" 0 boxcar instance ls -o json
is "fields" 'instance_id,box,host,pid,concurrency,started_at,seen_at,rank,first_partition,partition_count,leased,oldest_lease_at,subscription' \
    "$(json '.[0]|keys_unsorted|join(",")')"
is "has them all" "$worker 3 0 0 10000 0 null" \
    "$(json '.[0]|[.pid, .concurrency, .rank, .first_partition, .partition_count, .leased, .oldest_lease_at]|map(tostring)|join(" ")')"
exits "a cap" 0 boxcar settings partitions_per_instance_max 100
is "counts" 100 "$(boxcar instance ls -o json | jq '.[0].partition_count')"
exits "for people" 0 boxcar instance ls
like "a table" "instance_id *host *pid *" "$out"
kill "$worker"
wait "$worker" || true
is "it is no longer listed" '[]' "$(boxcar instance ls -o json)"
refuses "an argument" 2 "*unexpected argument*" boxcar instance ls x

finish
