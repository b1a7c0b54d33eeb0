# boxcar subscription add, ls, show, pause, resume, change, rewind, rm, and --subscription of the other commands.
# BX-090, BX-091, BX-092, BX-093, BX-094, BX-095, BX-096
. "$BOXCAR_TEST_DIR/support/lib.sh"

fields='name,box,patterns,only,status,created_at,start_at,number,ready,in_progress,failed,oldest_unread_at,lag_seconds,held_messages,max_lag_seconds,max_lag_count,paused_at,rewound_at,destinations,then_topic,else_topic'
# about NAME FILTER: of what show prints
about() { boxcar subscription show "$1" -o json | jq -r "$2"; }
# claim_of NAME: claims all that this subscription can have, and prints the payloads
claim_of() {
    : >claimed.jsonl
    while boxcar claim --subscription "$1" --owner "$owner" --lease 1h --batch-size 100 >one.jsonl && [ -s one.jsonl ]; do
        cat one.jsonl >>claimed.jsonl
    done
    jq -r .payload claimed.jsonl | xargs
}
sorted() { tr ' ' '\n' | sort | xargs; }
# ack_of NAME: what claim_of has claimed
ack_of() { jq -r '"\(.work_id):\(.epoch)"' claimed.jsonl | xargs -r boxcar ack --subscription "$1" --owner "$owner" | xargs; }

# ---- add, ls, show ----
exits "no command" 2 boxcar subscription
like "says which there are" "*give add, ls, show, pause, resume, change, rewind or rm*" "$err"
exits "ls of none" 0 boxcar subscription ls -o json
is "is an empty array" '[]' "$out"
boxcar enqueue orders.paid before >/dev/null
exits "add" 0 boxcar subscription add billing 'orders.*'
is "prints the name" billing "$out"
exits "add with everything" 0 boxcar subscription add audit '*' --from beginning --max-lag 7d -o json
is "an object" '{"subscription":"audit"}' "$out"
exits "add of the inbox" 0 boxcar subscription add mirror 'in.*' --box inbox --max-lag 100
refuses "a name that is taken" 4 "*billing*" boxcar subscription add billing 'x'
refuses "no name" 2 "*NAME is missing*" boxcar subscription add
refuses "no pattern" 2 "*PATTERN is missing*" boxcar subscription add a
refuses "an empty name" 2 "*name is empty*" boxcar subscription add '' x
refuses "a main reader's name" 2 "*main reader*" boxcar subscription add inbox x
refuses "a slash" 2 "*reserved*" boxcar subscription add a/b x
refuses "a control character" 2 "*control character*" boxcar subscription add "a$(printf '\t')b" x
refuses "a bad pattern" 2 "*before its end*" boxcar subscription add a 'x*y'
refuses "an empty pattern" 2 "*is empty*" boxcar subscription add a ''
# shellcheck disable=SC2046
refuses "too many patterns" 2 "*at most 100*" boxcar subscription add a $(seq 101)
refuses "a bad place" 2 "*--from*" boxcar subscription add a x --from yesterday
refuses "a bad limit" 2 "*--max-lag*" boxcar subscription add a x --max-lag soon
refuses "a limit of nothing" 2 "*--max-lag*" boxcar subscription add a x --max-lag 0
refuses "a bad box" 2 "*--box*" boxcar subscription add a x --box letter
exits "ls" 0 boxcar subscription ls -o json
is "by name" 'audit billing mirror' "$(json 'map(.name)|join(" ")')"
is "fields" "$fields" "$(json '.[0]|keys_unsorted|join(",")')"
is "rules" 'audit outbox * false running beginning 604800 null' \
    "$(json '.[0]|[.name, .box, (.patterns|join(",")), .only, .status, .start_at, .max_lag_seconds, .max_lag_count]|map(tostring)|join(" ")')"
is "the others" 'outbox end null, inbox end 100' "$(json '.[1:]|map("\(.box) \(.start_at) \(.max_lag_count)")|join(", ")')"
exits "for people" 0 boxcar subscription ls
like "a table" "name *box *status *patterns *ready *lag_seconds *held_messages*audit *outbox *running *" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "show" 0 boxcar subscription show billing -o json
is "the same fields" "$fields" "$(json 'keys_unsorted|join(",")')"
refuses "show of nobody" 3 '*subscription "nobody" does not exist*' boxcar subscription show nobody
refuses "show without a name" 2 "*NAME is missing*" boxcar subscription show

# ---- one message, several readers ----
for n in 1 2 3; do boxcar enqueue orders.paid "o$n" >/dev/null; done
boxcar enqueue mail.sent m1 >/dev/null
is "billing has what came since, of its topics" "o1 o2 o3" "$(claim_of billing)"
is "the subscription is named" "billing outbox" "$(head -1 claimed.jsonl | jq -r '"\(.subscription) \(.box)"')"
is "in progress for it" 3 "$(boxcar stats --subscription billing -o json | jq .in_progress)"
is "not for the main reader" "5 0" "$(boxcar stats -o json | jq -r '"\(.ready) \(.in_progress)"')"
id=$(head -1 claimed.jsonl | jq -r .work_id)
is "show says so" "in_progress ready" "$(boxcar show "$id" --subscription billing -o json | jq -r .status) $(boxcar show "$id" -o json | jq -r .status)"
is "audit has everything, in order" "before o1 o2 o3 m1" "$(claim_of audit)"
boxcar ack --owner "$owner" "$id" >/dev/null
is "an ack without the option settles nothing of it" 3 "$(about billing .in_progress)"
ack_of audit >/dev/null
is "each ends its own" "3 0" "$(about billing .in_progress) $(about audit .in_progress)"
is "the main reader still has them all" "before o1 o2 o3 m1" \
    "$(boxcar claim --owner "$owner" --lease 1h | tee main.jsonl | jq -r .payload | xargs)"
is "without the field" null "$(head -1 main.jsonl | jq -r .subscription)"
boxcar ack --owner "$owner" $(jq -r .work_id main.jsonl) >/dev/null
exits "renew" 0 boxcar renew --subscription billing --owner "$owner" "$id" --lease 2h
is "prints it" "$id" "$out"
exits "abandon" 0 boxcar abandon --subscription billing --owner "$owner" "$id" --error later --delay 1h
is "prints it" "$id" "$out"
is "its history is the subscription's" "abandoned later" \
    "$(boxcar show "$id" --subscription billing -o json | jq -r '.attempts[0]|"\(.outcome) \(.error)"')"
is "and not the main reader's" 0 "$(boxcar show "$id" -o json | jq '.attempts|length')"
exits "defer" 0 boxcar defer --subscription billing --owner "$owner" $((id + 1))
is "ready again" o2 "$(claim_of billing)"
is "and done" $((id + 1)) "$(ack_of billing)"
exits "ls by status" 0 boxcar ls --subscription billing --status waiting -o json
is "what waits for it" "$id billing" "$(json '.[0]|"\(.work_id) \(.subscription)"')"
exits "reap" 0 boxcar reap --subscription billing
is "nothing has expired" 0 "$out"
refuses "both options" 2 "*--box and --subscription are both given*" boxcar claim --owner "$owner" --box outbox --subscription billing
for command in "claim --owner $owner" "ack --owner $owner 1" "renew --owner $owner 1" reap ls "show 1" stats "cancel 1" "dead ls" \
    "dead show 1" "dead replay --all" "dead purge --all" "stream ls" "stream show k" "stream resume k" "stream skip k" doctor; do
    # shellcheck disable=SC2086
    refuses "$command for nobody" 3 '*subscription "nobody" does not exist*' boxcar $command --subscription nobody
done
refuses "a name that only a policy's can have" 3 '*subscription "a/b" does not exist*' boxcar ls --subscription a/b

# ---- dead letters are its own ----
exits "fail" 0 boxcar fail --subscription billing --owner "$owner" $((id + 2)) --error 'no such customer'
exits "dead ls" 0 boxcar dead ls --subscription billing -o json
is "its dead letter" "$((id + 2)) rejected" "$(json '.[0]|"\(.work_id) \(.reason)"')"
is "the main reader has none" '[]' "$(boxcar dead ls -o json)"
exits "dead show" 0 boxcar dead show $((id + 2)) --subscription billing -o json
refuses "not a dead letter for the main reader" 3 "*not a dead letter*" boxcar dead show $((id + 2))
exits "dead replay" 0 boxcar dead replay --subscription billing $((id + 2))
is "one" 1 "$out"
is "ready again" o3 "$(claim_of billing)"
ack_of billing >/dev/null
exits "cancel" 0 boxcar cancel --subscription billing "$id"
is "cancelled for it" cancelled "$(boxcar dead ls --subscription billing -o json | jq -r '.[0].reason')"
is "done for the main reader" done "$(boxcar show "$id" -o json | jq -r .status)"
exits "dead purge" 0 boxcar dead purge --subscription billing --all
is "one" 1 "$out"

# ---- streams are its own ----
boxcar stream policy 's-*' halt >/dev/null
boxcar enqueue orders.paid s1 --stream s-1 >/dev/null
boxcar enqueue orders.paid s2 --stream s-1 >/dev/null
boxcar claim --subscription billing --owner "$owner" --lease 1h --batch-size 1 >claimed.jsonl
first=$(jq -r .work_id claimed.jsonl)
boxcar fail --subscription billing --owner "$owner" "$first" --error no >/dev/null
is "halted for it" halted "$(boxcar stream show s-1 --subscription billing -o json | jq -r .state)"
is "names the reader" "outbox billing" "$(boxcar stream ls --subscription billing -o json | jq -r '.[0]|"\(.box) \(.subscription)"')"
is "not for the main reader" ready "$(boxcar stream show s-1 -o json | jq -r .state)"
is "which gets both" "s1 s2" "$(boxcar claim --owner "$owner" --lease 1h | tee main.jsonl | jq -r .payload | xargs)"
boxcar ack --owner "$owner" $(jq -r .work_id main.jsonl) >/dev/null
exits "resume" 0 boxcar stream resume s-1 --subscription billing
is "goes on behind it" s2 "$(claim_of billing)"
ack_of billing >/dev/null
boxcar stream policy 's-*' default >/dev/null

# ---- workers ----
claim_of audit >/dev/null && ack_of audit >/dev/null
cat >handler <<'SCRIPT'
#!/bin/sh
echo "$BOXCAR_SUBSCRIPTION $BOXCAR_BOX $BOXCAR_TOPIC $(cat)" >>"$1"
SCRIPT
chmod +x handler
boxcar enqueue orders.paid w1 >/dev/null
boxcar enqueue mail.sent w2 >/dev/null
exits "a worker for a subscription" 0 timeout 60 boxcar worker --drain --poll 100ms --subscription audit \
    --handler "*=exec:$PWD/handler $PWD/seen" --log-level error
is "handles what it reads" "audit outbox mail.sent w2,audit outbox orders.paid w1" "$(sort seen | paste -sd,)"
is "the main reader still has both" 2 "$(boxcar stats -o json | jq .ready)"
printf '[worker]\nsubscription = billing\n[handlers]\norders.* = discard\n' >boxcar.conf
exits "from the configuration" 0 timeout 60 boxcar worker --drain --poll 100ms --config boxcar.conf --log-level error
is "billing has nothing left" 0 "$(about billing .ready)"
refuses "of nobody" 3 '*subscription "nobody" does not exist*' boxcar worker --drain --subscription nobody --handler 'a=discard' --log-level error
refuses "with handlers for the other box" 2 "*reads the inbox*" \
    boxcar worker --drain --subscription mirror --handler 'a=discard' --log-level error
boxcar inbox enqueue shop 1 in.a i1 >/dev/null
exits "of the inbox" 0 timeout 60 boxcar worker --drain --poll 100ms --subscription mirror \
    --inbox-handler "in.*=exec:$PWD/handler $PWD/seen_in" --log-level error
is "with the inbox's handlers" "mirror inbox in.a i1" "$(cat seen_in)"
is "the main reader of the inbox still has it" 1 "$(boxcar stats --box inbox -o json | jq .ready)"

# ---- pause, resume ----
exits "pause" 0 boxcar subscription pause audit
is "prints the name" audit "$out"
is "paused" "paused true" "$(about audit '"\(.status) \(.paused_at != null)"')"
boxcar enqueue mail.sent p1 >/dev/null
is "claims bring nothing" "" "$(claim_of audit)"
exits "a worker drains at once" 0 timeout 60 boxcar worker --drain --poll 100ms --subscription audit --handler '*=discard' --log-level error
out=$(boxcar doctor -o json || true)
like "the doctor tells that it is paused" '*"audit" is paused*' "$(json '[.[]|select(.check=="subscriptions").text]|join(" ")')"
exits "resume" 0 boxcar subscription resume audit
is "running" "running null" "$(about audit '"\(.status) \(.paused_at)"')"
is "goes on where it was" "p1" "$(claim_of audit)"
ack_of audit >/dev/null
refuses "pause of nobody" 3 '*nobody*' boxcar subscription pause nobody
refuses "resume of nobody" 3 '*nobody*' boxcar subscription resume nobody

# ---- change ----
exits "change" 0 boxcar subscription change audit 'mail.*' 'orders.*' --max-lag 50
is "new patterns, one limit more" "mail.*,orders.* 604800 50" \
    "$(about audit '"\(.patterns|join(",")) \(.max_lag_seconds) \(.max_lag_count)"')"
exits "off" 0 boxcar subscription change audit --max-lag off
is "no limits" "null null 2" "$(about audit '"\(.max_lag_seconds) \(.max_lag_count) \(.patterns|length)"')"
boxcar enqueue other.topic c1 >/dev/null
boxcar enqueue mail.sent c2 >/dev/null
is "the patterns count for what comes" c2 "$(claim_of audit)"
ack_of audit >/dev/null
refuses "change of nothing" 2 "*nothing is to change*" boxcar subscription change audit
refuses "change of nobody" 3 '*nobody*' boxcar subscription change nobody x

# ---- rewind ----
boxcar subscription add again 'orders.*' >/dev/null
for n in 1 2 3; do boxcar enqueue orders.paid "r$n" >/dev/null; done
is "first" "r1 r2 r3" "$(claim_of again)"
second=$(sed -n 2p claimed.jsonl | jq -r .work_id)
ack_of again >/dev/null
is "nothing is left" "" "$(claim_of again)"
exits "rewind to a message" 0 boxcar subscription rewind again --to "$second" -o json
is "says how many are ahead" true "$(json '.ahead >= 2')"
is "it and what is behind it" "r2 r3" "$(claim_of again)"
is "recorded" true "$(about again '.rewound_at != null')"
exits "rewind while they are leased" 0 boxcar subscription rewind again --to "$second"
is "revokes the leases" "" "$(ack_of again)"
is "delivers again" "r2 r3" "$(claim_of again)"
ack_of again >/dev/null
exits "rewind to the beginning" 0 boxcar subscription rewind again --to beginning
is "everything that is kept" "before o1 o2 o3 r1 r2 r3 s1 s2 w1" "$(claim_of again | sorted)"
ack_of again >/dev/null
exits "rewind to a time" 0 boxcar subscription rewind again --to "$(boxcar show "$second" -o json | jq -r .created_at)"
is "what was stored then, and since" "r2 r3" "$(claim_of again)"
ack_of again >/dev/null
refuses "rewind to nowhere" 2 "*--to is missing*" boxcar subscription rewind again
refuses "rewind to the end" 2 "*--to is 'end'*" boxcar subscription rewind again --to end
refuses "rewind to number 0" 2 "*from 1 on*" boxcar subscription rewind again --to 0
refuses "rewind of nobody" 3 '*nobody*' boxcar subscription rewind nobody --to beginning

# ---- only ----
boxcar subscription add solo 'solo.*' --only >/dev/null
boxcar enqueue solo.a x1 >/dev/null
is "the subscription has it" x1 "$(claim_of solo)"
ack_of solo >/dev/null
is "the main reader has not" "" "$(boxcar claim --owner "$owner" --topic 'solo.*')"
boxcar join start --expected 1 --join-id 6f1c1d4e-3a0b-4c55-9d0e-1f2a3b4c5d6e >/dev/null
exits "a step of a join it cannot be" 2 boxcar enqueue solo.a x2 --join 6f1c1d4e-3a0b-4c55-9d0e-1f2a3b4c5d6e
like "the option is named" "*--join*" "$err"

# ---- rm ----
boxcar enqueue orders.paid last >/dev/null
is "leased" last "$(claim_of again)"
refuses "rm while messages are leased" 4 "*lease*" boxcar subscription rm again
exits "rm by force" 0 boxcar subscription rm again --force
is "prints the name" again "$out"
refuses "it is gone" 3 '*subscription "again" does not exist*' boxcar subscription show again
refuses "rm of nobody" 3 '*"again"*' boxcar subscription rm again
boxcar maintain --once >/dev/null
boxcar worker --poll 50ms --subscription audit --handler '*=discard' --log-level error 2>worker.txt &
worker=$!
wait_for sh -c "boxcar instance ls -o json | jq -e 'any(.subscription == \"audit\" and .box == \"outbox\")'"
boxcar subscription rm audit --force >/dev/null
status=0
wait "$worker" || status=$?
is "its worker ends" 3 "$status"
like "and says why" '*"audit" was removed*' "$(cat worker.txt)"
is "the others are as they were" "billing mirror solo" "$(boxcar subscription ls -o json | jq -r 'map(.name)|join(" ")')"
out=$(boxcar doctor --audit -o json || true)
is "nothing is lost" "no message is lost" "$(json '.[]|select(.check=="audit").text')"

finish
