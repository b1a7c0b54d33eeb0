# Stores that programs of schema versions 9, 10, 11 and 15 made and filled (tests/fixtures): brought up to date, they have everything
# that was in them.
. "$BOXCAR_TEST_DIR/support/lib.sh"
newest=$(ls "$BOXCAR_TEST_DIR/../../sql/$BOXCAR_TEST_KIND/migrations" | wc -l)
fixtures=$BOXCAR_TEST_DIR/../fixtures
load() { # VERSION: instead of what is there
    if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
        export BOXCAR_STORE=sqlite:old-$1.db
        sqlite3 "old-$1.db" <"$fixtures/schema-$1.sqlite.sql"
    else
        psql -qX "$BOXCAR_TEST_STORE" -c "set client_min_messages = error; drop schema $BOXCAR_SCHEMA cascade"
        zcat "$fixtures/schema-$1.postgres.sql.gz" | sed "s/\bboxcar\b/$BOXCAR_SCHEMA/g" |
            psql -qX -v ON_ERROR_STOP=1 "$BOXCAR_TEST_STORE" >/dev/null
    fi
}
upgrade() { # VERSION. OBX-108, OBX-110
    exits "stats before, version $1" 1 boxcar stats
    like "says what to do" "*boxcar init*" "$err"
    exits "init" 0 boxcar init
    is "upgrades" "schema version $newest, upgraded from version $1" "$out"
    exits "init again" 0 boxcar init
    is "changes nothing" "schema version $newest, up to date" "$out"
}
count() { # NAME EXPECTED [OPTION]...: how many messages are ready or leased, waiting, done and dead
    exits "stats: $1" 0 boxcar stats -o json "${@:3}"
    is "$1" "$2" "$(json '"\(.ready + .in_progress) \(.waiting) \(.done) \(.failed)"')"
}

# ---- versions 9 and 11: a message in each state (tests/fixtures/fill). Version 11 is that of the last program before 12 ----
half=018f0000-0000-7000-8000-0000000000aa
later=018f0000-0000-7000-8000-00000000000b
printf '#!/bin/sh\nread -r payload || :\necho "${BOXCAR_STREAM:-none} $BOXCAR_TOPIC $payload" >>%s/log\n' "$PWD" >record
chmod +x record
order() { sed -n "s/^$1 [^ ]* //p" log | tr '\n' ' '; } # STREAM: its payloads
audit() { # whether a message has left no trace; the test's server may be careless about its disk
    boxcar doctor --audit -o json >out.txt 2>/dev/null || true
    is "nothing is lost" ok "$(jq -r '.[]|select(.check == "audit").severity' out.txt)"
}
brings_everything() { # VERSION
    load "$1"
    upgrade "$1"
    count "everything is there" "17 9 8 5"
    count "and in the inbox" "3 1 1 1" --box inbox
    audit
    exits "settings" 0 boxcar settings max_attempts -o json
    is "are kept" 7 "$(json '.value // .[0].value')"
    exits "rules" 0 boxcar stream policy -o json
    is "are kept, too" "halting-* halt" "$(json '.[0]|"\(.pattern) \(.policy)"')"

    # Leases are still held (BX-029).
    exits "ack of leases" 0 boxcar ack --owner $later $(boxcar ls --topic lease.t -o json | jq -r '.[].work_id')
    is "counts" 2 "$(wc -l <<<"$out")"
    exits "ack of the head of a stream" 0 boxcar ack --owner $later "$(boxcar ls --topic leased.t -o json | jq -r '[.[].work_id]|min')"
    is "counts, too" 1 "$(wc -l <<<"$out")"
    exits "ack in the inbox" 0 boxcar ack --box inbox --owner $later "$(boxcar ls --box inbox --topic in4.t -o json | jq -r '.[0].work_id')"
    is "counts there" 1 "$(wc -l <<<"$out")"

    # Keys are known; one that was only seen is free.
    exits "the key again" 0 boxcar enqueue key.t k1 --key order-1 -o json
    is "is known" true "$(json .duplicate)"
    for i in 1 2 3 4 6 7; do
        exits "key $i of the inbox again" 0 boxcar inbox enqueue shop "ext-$i" "in$i.t" "i$i" -o json
        is "is known" true "$(json .duplicate)"
    done
    exits "a key that was seen" 0 boxcar inbox enqueue shop ext-5 in5.t i5 -o json
    is "gets its message" false "$(json .duplicate)"

    # What failed says why.
    exits "dead letters" 0 boxcar dead ls -o json
    is "keep their errors" "no step,still no good,still no good,stop here" "$(json '[.[].last_error|select(. != null and . != "")]|sort|join(",")')"
    is "and reasons" "cancelled,rejected,rejected,rejected,rejected" "$(json '[.[].reason]|sort|join(",")')"
    exits "a message that was retried" 0 boxcar ls --topic retry.t -o json
    is "remembers it" "1 1" "$(json '[.[].retry_count|tostring]|join(" ")')"
    exits "a suspect" 0 boxcar ls --topic suspect.t -o json
    is "stays one" 1 "$(json '.[0].crash_count')"

    # Events: versions, and one order for all.
    exits "events of a stream" 0 boxcar event read account-2 -o json
    is "are there" "1 e3,2 e4" "$(json '[.[]|"\(.version) \(.payload)"]|join(",")')"
    exits "events of all" 0 boxcar event follow --once -o jsonl
    is "in their order" "1 e1,2 e2,3 e3,4 e4" "$(jq -rs '[.[]|"\(.position) \(.payload)"]|join(",")' out.txt)"

    # The rest is delivered, streams in order. The join counts to its end, and its continuation comes.
    exits "the last step by hand" 0 boxcar join complete $half 018f0000-0000-7000-8000-000000000002
    is "counts in the join" counted "$out"
    rm -f log
    exits "drain" 0 boxcar worker --handler "*=exec:$PWD/record" --inbox-handler "*=exec:$PWD/record" --drain
    is "a stream that was leased" "2 3 " "$(order leased)"
    is "one that had begun" "2 3 " "$(order begun)"
    is "one that is tried again" "1 2 " "$(order again)"
    is "one that no claim had met" "1 2 " "$(order fresh)"
    is "one of the inbox" "i6 i7 " "$(order in)"
    is "a halted one stands still" "" "$(order halting-1)"
    count "of the rest all is done" "0 4 31 5"
    exits "resume" 0 boxcar stream resume halting-1
    exits "drain again" 0 boxcar worker --handler "*=exec:$PWD/record" --drain
    is "the halted one goes on" "2 3 " "$(order halting-1)"
    count "only what is due in years is left" "0 2 33 5"
    count "nothing in the inbox" "0 0 6 1" --box inbox
    is "each was delivered once" "$(sort -u log | wc -l)" "$(wc -l <log)"
    is "the continuation came" "none then.t done" "$(grep then.t log)"
    exits "joins" 0 boxcar join ls -o json
    is "have ended" "cancelled 0 0,completed 2 0,failed 5 1" \
        "$(json '[.[]|"\(.status) \(.completed_steps) \(.failed_steps)"]|sort|join(",")')"
    audit
}
brings_everything 9
brings_everything 11

# ---- version 10 ----
load 10
upgrade 10
owner=018f0000-0000-7000-8000-00000000000a
# The fixture grows older: its lease has ended, and nothing is to be forgotten.
for setting in retention_done retention_dead retention_inbox retention_joins; do
    exits "$setting" 0 boxcar settings $setting 3650d
done
exits "stats" 0 boxcar stats -o json
is "everything is there" "13 6 3 1" "$(json '"\(.ready + .in_progress) \(.waiting) \(.done) \(.failed)"')"

# What was leased, known or dead stays so.
exits "ack of the old lease" 0 boxcar ack --owner $owner 7
is "counts" 7 "$out"
exits "the key again" 0 boxcar enqueue key.t k1 --key order-1 -o json
is "is known" true "$(json .duplicate)"
exits "the inbox key again" 0 boxcar inbox enqueue shop ext-1 in.t i1 -o json
is "is known, too" true "$(json .duplicate)"
exits "dead letters" 0 boxcar dead ls -o json
is "keep their error" "no good" "$(json '.[0].last_error')"
exits "events" 0 boxcar event read account-1 -o json
is "are there" 1 "$(json length)"

# The rest is delivered, streams in order, and the join ends with its continuation.
exits "drain" 0 boxcar worker --handler '*=discard' --drain
exits "stats after" 0 boxcar stats -o json
is "all is done" "0 0 0 23 1" "$(json '"\(.ready) \(.waiting) \(.in_progress) \(.done) \(.failed)"')"
exits "the continuation" 0 boxcar ls --topic then.t -o json
is "came once" "1 done" "$(json '"\(length) \(.[0].status)"')"

# ---- version 15: subscriptions (tests/fixtures/fill-subscriptions), before policies ----
load 15
upgrade 15
count "the main reader's messages are there" "4 0 2 0"
exits "subscriptions" 0 boxcar subscription ls -o json
is "are there" "audit running 3 1 1,idle paused 8 0 0,inside running 1 0 0,late running 3 0 0,taker running 2 0 0" \
    "$(json '[.[]|"\(.name) \(.status) \(.ready) \(.in_progress) \(.failed)"]|join(",")')"
leased=$(boxcar ls --subscription audit --status in_progress -o json | jq -r '.[].work_id')
exits "ack of the old lease" 0 boxcar ack --subscription audit --owner $later "$leased"
is "counts" "$leased" "$out"
exits "dead letters" 0 boxcar dead ls --subscription audit -o json
is "keep their error" "not for me" "$(json '.[0].last_error')"
for name in audit late taker; do
    rm -f log
    exits "drain of $name" 0 boxcar worker --subscription $name --handler "*=exec:$PWD/record" --concurrency 1 --drain
    sed 's/.* //' log | sort | tr '\n' ' ' >"$name.read"
done
is "what is unread comes" "4 5 6 " "$(cat audit.read)"
is "what came later" "4 5 6 " "$(cat late.read)"
is "what was taken" "t1 t2 " "$(cat taker.read)"
exits "drain of the main reader" 0 boxcar worker --handler "*=discard" --drain
count "it does not get what was taken" "0 0 6 0"
exits "resume" 0 boxcar subscription resume idle
exits "drain of the one that was paused" 0 boxcar worker --subscription idle --handler "*=discard" --drain
exits "a policy" 0 boxcar fanout add copies 'sub.*' --to 'audit.{topic}'
exits "its name" 4 boxcar subscription add copies '*'
exits "is no subscription's" 4 boxcar fanout add late 'sub.*' --to elsewhere
exits "a schedule" 0 boxcar schedule add reindex products --every 1h --shards 2
exits "planning" 0 boxcar schedule plan -o json
is "enqueues its slices" 2 "$(json .count)"
audit
finish
