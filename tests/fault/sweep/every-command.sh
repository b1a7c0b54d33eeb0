# A store with something of everything in it, and every command of the program that looks at it or changes it. Sourced by
# rows and memory, both here.
owner=0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11
join=6f1c1d4e-3a0b-4c55-9d0e-1f2a3b4c5d6e
ended=7f1c1d4e-3a0b-4c55-9d0e-1f2a3b4c5d6e

# Work ids are given in order of arrival: 1 done, 2 dead, 3 leased, 4 retried, 5 and 6 in a halted stream, 7 to 9 in
# another, 10 later, 11 expiring, 12 to 14 of joins, then the inbox, then fresh ones.
fill_store() {
    local id
    boxcar init
    boxcar settings max_attempts 5
    boxcar stream policy 'halt-*' halt
    boxcar enqueue orders one
    boxcar enqueue orders two
    boxcar enqueue orders three --correlation-id c --header a=b
    boxcar enqueue retried four
    boxcar enqueue streamed five --stream halt-1
    boxcar enqueue streamed six --stream halt-1
    boxcar enqueue streamed seven --stream flow-1
    boxcar enqueue streamed eight --stream flow-1
    boxcar enqueue streamed nine --stream flow-2
    boxcar claim --owner "$owner" --lease 1h --batch-size 100
    boxcar ack --owner "$owner" 1
    boxcar fail --owner "$owner" 2 --error broken
    boxcar abandon --owner "$owner" 4 --error again --delay 1h
    boxcar fail --owner "$owner" 5 --error stuck
    boxcar enqueue later ten --delay 1h
    boxcar enqueue expiring eleven --ttl 1h
    boxcar join start --expected 3 --join-id "$join" --grouping-key g --metadata '{}'
    boxcar enqueue steps twelve --join "$join"
    boxcar join attach "$join" 11111111-1111-4111-8111-111111111111
    boxcar join wait "$join" --on-complete joined yes --on-fail joined no
    boxcar join start --expected 1 --join-id "$ended"
    boxcar enqueue steps fourteen --join "$ended"
    id=$(boxcar show 14 -o json | jq -r .message_id)
    boxcar join complete "$ended" "$id"
    boxcar inbox enqueue partner k1 deliveries fifteen --hash h
    boxcar inbox enqueue partner k2 deliveries sixteen
    boxcar claim --box inbox --owner "$owner" --lease 1h --batch-size 1
    boxcar ack --box inbox --owner "$owner" 15
    boxcar event append account-1 opened '{}'
    boxcar event append account-1 closed '{}' --header a=b
    boxcar enqueue orders seventeen
    boxcar enqueue orders eighteen
    fill_subscriptions
}

# One with something of everything, one that is paused.
fill_subscriptions() {
    local ids
    boxcar subscription add audit '*' --from beginning --max-lag 7d
    boxcar subscription add idle 'orders' --from beginning
    boxcar subscription pause idle
    boxcar fanout add copies 'copied.*' --to 'audit.{topic}' --to store:other
    ids=$(boxcar claim --subscription audit --owner "$owner" --lease 1h --batch-size 5 | jq -r .work_id | xargs)
    # shellcheck disable=SC2086
    set -- $ids
    boxcar ack --subscription audit --owner "$owner" "$1"
    boxcar fail --subscription audit --owner "$owner" "$2" --error broken
    boxcar abandon --subscription audit --owner "$owner" "$3" --error again --delay 1h
}

# What only workers write: SQLite only.
fill_tables() { # FILE
    sqlite3 "$1" "
        insert into boxcar_instance_row (instance_id, box, host, pid, concurrency, topics, started_at, seen_at)
        values (x'00000000000040008000000000000001', 0, 'here', 1, 1, '[\"a\"]', 1, 1),
               (x'00000000000040008000000000000002', 0, 'here', 2, 1, '[\"a\"]', 1,
                cast(strftime('%s', 'now') as integer) * 1000000);
        insert into boxcar_stage (work_id, flags) values (4, 1);
        insert into boxcar_stream_violation (at, box, stream, work_id, earlier_id)
        values (cast(strftime('%s', 'now') as integer) * 1000000, 0, 'flow-1', 8, 7);
        insert or ignore into boxcar_join_outcome (join_id, first_id, last_id, status)
        values (x'${join//-/}', 14, 14, 1);
        insert into boxcar_schedule_row (schedule_id, topic, work_key, every_ms, jitter_ms, shards, then_topic, else_topic, created_at)
        values (1, 'reindex', 'products', 60000, 1000, 2, 'reindexed', 'not.reindexed', 1);
        insert into boxcar_schedule_shard (schedule_id, shard, slice, tries, message_id, work_id, enqueued_at, completed_at, due_at)
        values (1, 0, 2, 1, x'00000000000040008000000000000003', 3, 1, null, null),
               (1, 1, 1, 1, x'00000000000040008000000000000004', 1, 1, 1, 2);"
}

# Those that only look.
LOOKS=(
    "ls" "ls -o json --limit 1000" "ls --status done -o jsonl" "ls --box inbox" "ls --topic o*" "show 3 -o json" "show 4" "stats"
    "stats --by-topic -o json" "store ls" "store ls -o json" "dead ls" "dead show 2" "stream ls" "stream ls -o json" "stream ls --halted"
    "stream show halt-1" "stream policy" "stream policy halt-1" "instance ls" "join ls" "join ls -o json"
    "join show $join" "inbox ls" "inbox show partner k1" "inbox check partner k1" "event read account-1"
    "event read account-1 -o json" "event follow --once" "settings" "settings max_attempts" "doctor" "doctor --audit"
    "config" "version" "help enqueue" "subscription ls" "subscription ls -o json" "subscription show audit"
    "ls --subscription audit -o json --limit 1000" "stats --subscription audit" "dead ls --subscription audit"
    "stream ls --subscription audit" "doctor --subscription audit" "fanout ls" "fanout show copies" "schedule ls" "schedule ls -o json"
    "schedule show reindex products"
)

# Those that work off what there is.
WORKS=("worker --drain --concurrency 1 --lease 1s --handler work=exec:/bin/true"
    "worker --drain --concurrency 1 --lease 1s --subscription audit --handler orders=discard" "bench --messages 4 --concurrency 1")

# Those that change something.
ACTS=(
    "enqueue orders new" "enqueue streamed new --stream flow-2 --ttl 1h --header a=b" "claim --owner $owner --batch-size 3"
    "claim --owner $owner --batch-size 100" "claim --box inbox --owner $owner" "ack --owner $owner 3" "renew --owner $owner 7"
    "abandon --owner $owner 7 --error e" "defer --owner $owner 9 --delay 1s" "fail --owner $owner 9 --error e" "cancel 10"
    "reap" "dead replay 2" "dead purge --all" "stream resume halt-1" "stream skip flow-1"
    "join complete $join 11111111-1111-4111-8111-111111111111" "join fail $join 11111111-1111-4111-8111-111111111111"
    "join attach $join 22222222-2222-4222-8222-222222222222" "join cancel $join" "join start --expected 2"
    "join wait $ended --on-complete joined yes" "inbox enqueue partner k3 deliveries new" "inbox revive 16"
    "event append account-1 grown {}" "settings max_attempts 6" "stream policy flow-1 halt" "maintain --once" "doctor --repair" "init"
    "subscription add more orders" "subscription pause audit" "subscription resume idle" "subscription change audit orders"
    "subscription rewind audit --to beginning" "subscription rm idle" "subscription rm audit --force"
    "claim --subscription audit --owner $owner --batch-size 100" "dead replay --subscription audit --all"
    "fanout add others orders --to audit.{topic} --to store:other" "fanout pause copies" "fanout resume copies"
    "fanout rewind copies --to beginning" "fanout rm copies" "schedule plan --owner $owner" "schedule complete reindex products 0 2"
    "schedule pause reindex products" "schedule resume reindex products" "schedule add reindex users --every 1h --shards 3"
    "schedule plan" "schedule rm reindex products"
)
