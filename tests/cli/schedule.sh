# boxcar schedule add, ls, show, pause, resume, complete, plan and rm.
# BX-106
. "$BOXCAR_TEST_DIR/support/lib.sh"

fields='topic,work_key,every_seconds,jitter_seconds,shards,then_topic,else_topic,status,open_slices,next_due_at,created_at,paused_at'

# ---- add, ls, show ----
exits "no command" 2 boxcar schedule
like "says which there are" "*give add, ls, show, pause, resume, complete, plan or rm*" "$err"
exits "ls of none" 0 boxcar schedule ls -o json
is "is an empty array" '[]' "$out"
exits "plan of none" 0 boxcar schedule plan --owner "$owner" -o json
is "nothing" "0 null true" "$(json '"\(.count) \(.next_due_at) \(.fence > 0)"')"
exits "add" 0 boxcar schedule add reindex products --every 1h --shards 3
is "prints the topic of its messages" fanout:reindex:products "$out"
exits "add with everything" 0 boxcar schedule add report daily --every 1d --jitter 90s --then ready --else failed -o json
is "an object" '{"topic":"report","work_key":"daily"}' "$out"
refuses "one that there is" 4 "*reindex*" boxcar schedule add reindex products --every 2h
refuses "no topic" 2 "*TOPIC is missing*" boxcar schedule add
refuses "no work key" 2 "*WORK_KEY is missing*" boxcar schedule add a --every 1h
refuses "too much" 2 "*c*" boxcar schedule add a b c --every 1h
refuses "no cadence" 2 "*--every is missing*" boxcar schedule add a b
refuses "a bad cadence" 2 "*--every*" boxcar schedule add a b --every soon
refuses "too often" 2 "*--every*" boxcar schedule add a b --every 10ms
refuses "more jitter than cadence" 2 "*--jitter is out of range*" boxcar schedule add a b --every 1m --jitter 2m
refuses "no shards" 2 "*--shards*" boxcar schedule add a b --every 1m --shards 0
refuses "a colon" 2 "*topic has a colon*" boxcar schedule add a:b c --every 1m
refuses "else without then" 2 "*--else needs a then_topic*" boxcar schedule add a b --every 1m --else c
exits "ls" 0 boxcar schedule ls -o json
is "by topic" 'reindex products 3600 0 3 running 0,report daily 86400 90 1 running 0' \
    "$(json 'map("\(.topic) \(.work_key) \(.every_seconds) \(.jitter_seconds) \(.shards) \(.status) \(.open_slices)")|join(",")')"
is "fields" "$fields" "$(json '.[0]|keys_unsorted|join(",")')"
exits "for people" 0 boxcar schedule ls
like "a table" "topic *work_key *every_seconds *shards *status *next_due_at*reindex *products *3600 *" "$(printf '%s' "$out" | tr '\n' ' ')"
refuses "show of nothing" 3 '*"nothing"*' boxcar schedule show nothing here
refuses "show of half a name" 2 "*WORK_KEY is missing*" boxcar schedule show reindex

# ---- plan ----
boxcar schedule rm report daily >/dev/null
exits "plan" 0 boxcar schedule plan --owner "$owner" --lease 1h -o json
is "enqueues what is due" 3 "$(json .count)"
fence=$(json .fence)
exits "show" 0 boxcar schedule show reindex products -o json
is "the slices are open" "3 0:1:1 1:1:1 2:1:1" "$(json '"\(.open_slices) \(.slices|map("\(.shard):\(.slice):\(.tries)")|join(" "))"')"
exits "show for people" 0 boxcar schedule show reindex products
like "rules, then slices" "*open_slices *3*shard *slice *tries*" "$(printf '%s' "$out" | tr '\n' ' ')"
boxcar claim --owner "$owner" --lease 1h --topic fanout:reindex:products >slices.jsonl
is "messages" '{"topic": "reindex", "work_key": "products", "shard": 0, "shards": 3, "slice": 1}' \
    "$(jq -r .payload slices.jsonl | grep '"shard": 0,')"
exits "plan as somebody else" 0 boxcar schedule plan
is "nothing" 0 "$out"
like "says why" "*another planner has the lease*" "$err"
exits "plan with the fence" 0 boxcar schedule plan --owner "$owner" --fence "$fence"
is "nothing is due" 0 "$out"
refuses "a fence that is not that of the lease" 4 "*fence*" boxcar schedule plan --owner "$owner" --fence $((fence + 1))
refuses "a bad fence" 2 "*--fence*" boxcar schedule plan --fence 0
refuses "a bad owner" 2 "*--owner*" boxcar schedule plan --owner me
refuses "a bad lease" 2 "*--lease*" boxcar schedule plan --lease 1ms

# ---- complete, and slices that end by themselves ----
exits "complete" 0 boxcar schedule complete reindex products 0 1
is "says so" completed "$out"
exits "complete again" 0 boxcar schedule complete reindex products 0 1 -o json
is "not again" '{"completed":false}' "$out"
refuses "no shard" 2 "*SHARD is missing*" boxcar schedule complete reindex products
refuses "no slice" 2 "*SLICE is missing*" boxcar schedule complete reindex products 0
refuses "a bad shard" 2 "*SHARD is 'x'*" boxcar schedule complete reindex products x 1
refuses "a bad slice" 2 "*SLICE is '0'*" boxcar schedule complete reindex products 0 0
refuses "of nothing" 3 '*"nothing"*' boxcar schedule complete nothing here 0 1
of_shard() { jq -r "select(.payload|fromjson|.shard == $1).work_id" slices.jsonl; }
boxcar ack --owner "$owner" "$(of_shard 1)" >/dev/null
boxcar fail --owner "$owner" "$(of_shard 2)" --error no >/dev/null
exits "plan" 0 boxcar schedule plan --owner "$owner" --lease 1h
is "the dead one again" 1 "$out"
is "with its number" "0:1:1 1:1:1 2:1:2" \
    "$(boxcar schedule show reindex products -o json | jq -r '.slices|map("\(.shard):\(.slice):\(.tries)")|join(" ")')"
is "the others are completed" "true true false" \
    "$(boxcar schedule show reindex products -o json | jq -r '.slices|map(.completed_at != null)|join(" ")')"

# ---- pause, resume, rm ----
exits "pause" 0 boxcar schedule pause reindex products
is "prints the topic" fanout:reindex:products "$out"
is "paused" "paused true" "$(boxcar schedule ls -o json | jq -r '.[0]|"\(.status) \(.paused_at != null)"')"
exits "resume" 0 boxcar schedule resume reindex products
is "running" running "$(boxcar schedule ls -o json | jq -r '.[0].status')"
exits "rm" 0 boxcar schedule rm reindex products -o json
is "an object" '{"topic":"reindex","work_key":"products"}' "$out"
is "messages stay" 1 "$(boxcar stats -o json | jq .ready)"
for command in pause resume rm show; do
    refuses "$command of nothing" 3 '*"reindex"*' boxcar schedule $command reindex products
done

finish
