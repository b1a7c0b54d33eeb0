# boxcar inbox enqueue, check, show, ls, revive; --box inbox of the commands that work by hand.
. "$BOXCAR_TEST_DIR/support/lib.sh"

show() { boxcar inbox show "$1" "$2" -o json | jq -cr "$3"; }
claim_inbox() { boxcar claim --box inbox --owner "$owner" --lease 1h "$@"; }

# ---- enqueue: BX-080, BX-082 ----
exits "enqueue" 0 boxcar inbox enqueue shop order-42 orders.paid '{"order": 42}'
like "prints the message id" "????????-????-8???-????-????????????" "$out"
is "and nothing else" "" "$err"
mid=$out
exits "again" 0 boxcar inbox enqueue shop order-42 orders.paid '{"order": 42}' -o json
is "is a duplicate" "$mid true false" "$(json '[.message_id, .duplicate, .hash_mismatch|tostring]|join(" ")')"
is "fields" 'work_id,message_id,duplicate,hash_mismatch' "$(json 'keys_unsorted|join(",")')"
id=$(json .work_id)
exits "another id" 0 boxcar inbox enqueue shop order-43 orders.paid x -o json
is "is new" false "$(json .duplicate)"
another=$(json .message_id)
exits "that one again, without -o" 0 boxcar inbox enqueue shop order-43 orders.paid x
is "its id" "$another" "$out"
like "and a note" "*inbox enqueue: note: a duplicate: *nothing was stored" "$err"
exits "another source" 0 boxcar inbox enqueue bank order-42 orders.paid x -o json
is "is new, too" false "$(json .duplicate)"
exits "as a table" 0 boxcar inbox enqueue shop order-42 orders.paid x -o table
like "has its columns" "*work_id*message_id*duplicate*hash_mismatch*" "$out"
out=$(printf 'from a pipe\n' | boxcar inbox enqueue shop pipe t - --correlation-id c --stream s --header a=b --max-attempts 3 --delay 1h)
exits "show by message id" 0 boxcar inbox show "$out" -o json
is "payload from standard input, options as given" 'from a pipe
 c s b 3' "$(json '"\(.payload) \(.correlation_id) \(.stream) \(.headers.a) \(.max_attempts)"')"

# ---- show: BX-080 ----
exits "show by key" 0 boxcar inbox show shop order-42 -o json
is "what a message is" "$id $mid inbox orders.paid ready" "$(json '[.work_id, .message_id, .box, .topic, .status|tostring]|join(" ")')"
is "where it is from" 'shop order-42 seen' "$(json '[.source, .external_id, .state]|join(" ")')"
is "how often it was seen" 3 "$(json .seen_count)"
is "no hash, no end" 'null null' "$(json '[.content_hash, .ended_at|tostring]|join(" ")')"
is "payload and history" '{"order": 42} []' "$(json '"\(.payload) \(.attempts)"')"
exits "by work id" 0 boxcar inbox show "$id" -o json
is "the same" "$mid 3" "$(json '"\(.message_id) \(.seen_count)"')"
exits "boxcar show --box inbox" 0 boxcar show "$id" --box inbox -o json
is "shows the key, too" 'shop order-42 seen' "$(json '[.source, .external_id, .state]|join(" ")')"
exits "for people" 0 boxcar inbox show shop order-42
like "a field a line" "*source*shop*external_id*order-42*seen_count*3*" "$(printf '%s' "$out" | tr '\n' ' ')"
refuses "an unknown key" 3 "boxcar: inbox show: the inbox has never heard of this key" boxcar inbox show shop unknown
refuses "an unknown id" 3 "*no such message in the inbox*" boxcar inbox show 4711
refuses "no id" 2 "*ID is missing*" boxcar inbox show
refuses "three ids" 2 "*" boxcar inbox show a b c
unlike "the outbox has no such fields" "*source*" "$(boxcar enqueue t p >/dev/null; boxcar ls -o json)"

# ---- check: BX-081 ----
exits "peek at an unknown key" 0 boxcar inbox check shop new --peek -o json
is "not processed" '{"processed":false,"hash_mismatch":false}' "$(json .)"
refuses "and still unknown" 3 "*never heard*" boxcar inbox show shop new
exits "check" 0 boxcar inbox check shop new
is "not processed" "not processed" "$out"
is "and known now" 'null null seen 1' "$(show shop new '[.work_id, .status, .state, .seen_count|tostring]|join(" ")')"
exits "check again" 0 boxcar inbox check shop new -o json
is "not processed" false "$(json .processed)"
is "seen twice" 2 "$(show shop new .seen_count)"
exits "peek" 0 boxcar inbox check shop new --peek
is "leaves no note" 2 "$(show shop new .seen_count)"
is "a sighting is no message" 0 "$(boxcar inbox ls --topic new -o json | jq length)"
boxcar inbox enqueue shop new t p >/dev/null
is "it becomes one" 'ready' "$(show shop new .status)"

# ---- claim and settle in the inbox ----
exits "claim" 0 claim_inbox --topic orders.paid
is "says where they are from" 'shop order-42,shop order-43,bank order-42' \
    "$(printf '%s\n' "$out" | jq -r '"\(.source) \(.external_id)"' | paste -sd,)"
is "in progress" processing "$(show shop order-42 .state)"
exits "the outbox has no such lease" 0 boxcar ack --owner "$owner" "$id"
is "nothing affected" "" "$out"
exits "renew" 0 boxcar renew --box inbox --owner "$owner" "$id" --lease 2h
is "prints it" "$id" "$out"
exits "ack" 0 boxcar ack --box inbox --owner "$owner" "$id"
is "prints it" "$id" "$out"
is "done" 'done done' "$(show shop order-42 '[.status, .state]|join(" ")')"
exits "check" 0 boxcar inbox check shop order-42 -o json
is "processed" true "$(json .processed)"
is "peek says the same" processed "$(boxcar inbox check shop order-42 --peek)"
id=$(boxcar inbox show shop order-43 -o json | jq .work_id)
is "abandon" "$id" "$(boxcar abandon --box inbox --owner "$owner" "$id" --delay 0 --error 'try again')"
is "one attempt" '1 try again' "$(show shop order-43 '"\(.retry_count) \(.last_error)"')"
claim_inbox --topic orders.paid >/dev/null
is "defer" "$id" "$(boxcar defer --box inbox --owner "$owner" "$id" --delay 0)"
claim_inbox --topic orders.paid >/dev/null
is "fail" "$id" "$(boxcar fail --box inbox --owner "$owner" "$id" --error 'no such customer')"
is "dead" 'failed dead' "$(show shop order-43 '[.status, .state]|join(" ")')"
exits "reap" 0 boxcar reap --box inbox
is "nothing" 0 "$out"
exits "cancel" 0 boxcar cancel --box inbox "$(boxcar inbox show shop pipe -o json | jq -r .message_id)"
is "dead, too" dead "$(show shop pipe .state)"
exits "stats" 0 boxcar stats --box inbox -o json
is "count the inbox" '1 1 2' "$(json '"\(.done) \(.in_progress) \(.failed)"')"
is "dead ls" 'order-43,pipe' "$(boxcar dead ls --box inbox -o jsonl | jq -r .external_id | sort | paste -sd,)"

# ---- ls ----
exits "ls" 0 boxcar inbox ls -o json
is "newest first" 'new,pipe,order-42,order-43,order-42' "$(json 'map(.external_id)|join(",")')"
exits "by state" 0 boxcar inbox ls --state dead -o json
is "the dead ones" 2 "$(json length)"
is "processing" bank "$(boxcar inbox ls --state processing -o json | jq -r 'map(.source)|join(",")')"
is "done" 1 "$(boxcar inbox ls --state done -o json | jq length)"
is "seen" new "$(boxcar inbox ls --state seen -o json | jq -r 'map(.external_id)|join(",")')"
exits "a page" 0 boxcar inbox ls --limit 2 -o json
last=$(json '.[1].work_id')
is "and the next" 'order-42' "$(boxcar inbox ls --limit 1 --after "$last" -o json | jq -r '.[0].external_id')"
exits "for people" 0 boxcar inbox ls
like "has its columns" "*work_id*source*external_id*topic*state*" "$out"
refuses "an unknown state" 2 "*--state is 'ready': give seen, processing, done or dead" boxcar inbox ls --state ready
is "no payloads" 0 "$(boxcar inbox ls -o json | grep -c payload)"

# ---- revive: BX-084 ----
refuses "without a reason" 2 "*--reason is missing*" boxcar inbox revive shop order-43
refuses "with an empty one" 2 "*--reason is empty*" boxcar inbox revive shop order-43 --reason ''
refuses "one that is done" 4 "*done, not dead*" boxcar inbox revive shop order-42 --reason why
refuses "one that is unknown" 3 "*no such message*" boxcar inbox revive shop unknown --reason why
exits "revive by key" 0 boxcar inbox revive shop order-43 --reason 'customer added'
is "prints the work id" "$id" "$out"
is "ready as if new" 'ready seen 0' "$(show shop order-43 '"\(.status) \(.state) \(.retry_count)"')"
is "recorded" 'replayed customer added' "$(show shop order-43 '.attempts[-1]|"\(.outcome) \(.error)"')"
refuses "twice" 4 "*ready, not dead*" boxcar inbox revive shop order-43 --reason why
exits "by message id, as JSON" 0 boxcar inbox revive "$(boxcar inbox show shop pipe -o json | jq -r .message_id)" --reason why -o json
is "an object" work_id "$(json 'keys|join(",")')"

# ---- hashes: BX-080 ----
exits "with a hash" 0 boxcar inbox enqueue shop hashed t p --hash abc
exits "with another" 0 boxcar inbox enqueue shop hashed t p --hash xyz -o json
is "reported" 'true true' "$(json '"\(.duplicate) \(.hash_mismatch)"')"
like "and logged" "*inbox_hash_mismatch*" "$err"
unlike "without its payload" "*payload*" "$err"
is "the first stays" abc "$(show shop hashed .content_hash)"
is "check reports it" true "$(boxcar inbox check shop hashed --hash xyz -o json 2>/dev/null | jq .hash_mismatch)"
is "peek reports it" true "$(boxcar inbox check shop hashed --hash xyz --peek -o json | jq .hash_mismatch)"
is "the same hash is fine" false "$(boxcar inbox check shop hashed --hash abc -o json | jq .hash_mismatch)"

# ---- bad input: BX-011 ----
long=$(printf 'k%.0s' $(seq 256))
before=$(boxcar inbox ls -o json | jq length)
refuses "no source" 2 "*SOURCE is missing*" boxcar inbox enqueue
refuses "no id" 2 "*ID is missing*" boxcar inbox enqueue shop
refuses "no topic" 2 "*TOPIC is missing*" boxcar inbox enqueue shop 1
refuses "no payload" 2 "*payload is missing*" boxcar inbox enqueue shop 1 t
refuses "too much" 2 "*more arguments*" boxcar inbox enqueue shop 1 t p secret
refuses "an empty source" 2 "boxcar: inbox enqueue: source is empty: give 1 to 255 characters" boxcar inbox enqueue '' 1 t p
refuses "an empty id" 2 "boxcar: inbox *: id is empty: give 1 to 255 characters" boxcar inbox enqueue shop '' t p
refuses "a source of 256 characters" 2 "*source is too long*255*" boxcar inbox enqueue "$long" 1 t p
refuses "an id of 256 characters" 2 "*id is too long*255*" boxcar inbox enqueue shop "$long" t p
refuses "a hash of 256 characters" 2 "*--hash is too long*255*" boxcar inbox enqueue shop 1 t p --hash "$long"
refuses "a source that is not UTF-8" 2 "*source*UTF-8*" boxcar inbox enqueue $'\xff' 1 t p
refuses "an empty topic" 2 "*topic is empty*" boxcar inbox enqueue shop 1 '' p
refuses "due and delay" 2 "*--due and --delay*" boxcar inbox enqueue shop 1 t p --due 2030-01-01T00:00:00Z --delay 1s
refuses "check without an id" 2 "*ID is missing*" boxcar inbox check shop
refuses "check of an empty id" 2 "boxcar: inbox *: id is empty: give 1 to 255 characters" boxcar inbox check shop ''
refuses "no command" 2 "*no command given*" boxcar inbox
refuses "a mistyped command" 2 "*did you mean 'enqueue'*" boxcar inbox enqueu
refuses "a mistyped box" 2 "*--box is 'in'*" boxcar claim --owner "$owner" --box in
is "nothing was stored" "$before" "$(boxcar inbox ls -o json | jq length)"

# ---- batches ----
cat >batch.jsonl <<'END'
{"source": "shop", "id": "b1", "topic": "t", "payload": {"n": 1.50}, "content_hash": "h", "headers": {"a": "b"}}
{"source": "shop", "id": "order-42", "topic": "t", "payload": "p"}

{"source": "shop", "id": "b1", "topic": "t", "payload": "again", "ttl": "1h"}
{"source": "shop", "id": "b2", "topic": "t", "payload": "", "delay": "1h", "max_attempts": 2}
END
exits "a batch" 0 boxcar inbox enqueue --batch batch.jsonl -o json
is "no note, it is told" "" "$err"
is "told one by one" 'false,true,true,false' "$(json 'map(.duplicate|tostring)|join(",")')"
is "a payload as it was written" '{"n":1.50}' "$(show shop b1 .payload)"
is "its hash" h "$(show shop b1 .content_hash)"
out=$(boxcar inbox enqueue --batch - <batch.jsonl 2>err.txt)
like "a note for all of them" "*note: 4 of the messages are duplicates*" "$(cat err.txt)"
is "ids a line" 4 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
before=$(boxcar inbox ls -o json | jq length)
batch() { printf '%s\n' '{"source": "shop", "id": "c1", "topic": "t", "payload": "p"}' "$1" >bad.jsonl; }
batch '{"source": "shop", "topic": "t", "payload": "p"}'
refuses "a line without an id" 2 "*line 2: id is missing*" boxcar inbox enqueue --batch bad.jsonl
batch '{"id": "1", "topic": "t", "payload": "p"}'
refuses "a line without a source" 2 "*line 2: source is missing*" boxcar inbox enqueue --batch bad.jsonl
batch '{"source": "shop", "id": "", "topic": "t", "payload": "p"}'
refuses "a line with an empty id" 2 "*line 2: id is empty*" boxcar inbox enqueue --batch bad.jsonl
batch "{\"source\": \"shop\", \"id\": \"1\", \"content_hash\": \"$long\", \"topic\": \"t\", \"payload\": \"p\"}"
refuses "a line with a long hash" 2 "*line 2: content_hash is too long*" boxcar inbox enqueue --batch bad.jsonl
batch '{"source": "shop", "id": "1", "topic": "t", "payload": "p", "join_id": "x"}'
refuses "a field of the outbox" 2 "*line 2: *join_id*" boxcar inbox enqueue --batch bad.jsonl
batch '{"source": 1, "id": "1", "topic": "t", "payload": "p"}'
refuses "a source that is a number" 2 "*line 2: source is not a string*" boxcar inbox enqueue --batch bad.jsonl
is "all or none" "$before" "$(boxcar inbox ls -o json | jq length)"
echo '{"source": "shop", "topic": "t", "payload": "p"}' >bad.jsonl
refuses "the outbox knows no source" 2 "*source*" boxcar enqueue --batch bad.jsonl
refuses "a batch and a key" 2 "*--batch is given*" boxcar inbox enqueue shop 1 t p --batch batch.jsonl
refuses "no such file" 2 "*cannot open*" boxcar inbox enqueue --batch no.jsonl

# ---- retention ----
exits "keys are kept" 0 boxcar maintain --once -o json
is "for 30 days" 0 "$(json .purged_keys)"
boxcar settings retention_done 0 >/dev/null
boxcar maintain --once >/dev/null
is "longer than messages" 'null null done' "$(show shop order-42 '[.work_id, .status, .state|tostring]|join(" ")')"
is "still a duplicate" 'null true' "$(boxcar inbox enqueue shop order-42 t p -o json | jq -r '"\(.work_id) \(.duplicate)"')"
boxcar settings retention_inbox 0 >/dev/null
exits "until their retention ends" 0 boxcar maintain --once -o json
like "then they go" "[1-9]*" "$(json .purged_keys)"
refuses "for good" 3 "*never heard*" boxcar inbox show shop order-42
boxcar settings retention_done --reset >/dev/null
boxcar settings retention_inbox --reset >/dev/null

finish
