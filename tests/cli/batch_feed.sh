# boxcar enqueue --batch with more than a chunk: stored while it is read, and still all or nothing.
. "$BOXCAR_TEST_DIR/support/lib.sh"

# Exact up to 20,000.
total() { boxcar stats -o json | jq '.ready + .waiting + .in_progress'; }
lines() { # FROM TO
    seq -f '{"topic":"a","payload":{"n":%.0f}}' "$1" "$2"
}

# Feeds `boxcar enqueue --batch -` through descriptor 3, until finish_feed.
start_feed() {
    rm -f pipe
    mkfifo pipe
    "$@" enqueue --batch - <pipe >fed.txt 2>fed-err.txt &
    feeder=$!
    exec 3>pipe
}
finish_feed() { # NAME STATUS
    local status=0
    exec 3>&-
    wait "$feeder" || status=$?
    is "$1 (exit $2)" "$2" "$status"
}

# BX-001
lines 1 2500 >many.jsonl
exits "a file of many chunks" 0 boxcar enqueue --batch many.jsonl -o jsonl
is "an answer for each" 2500 "$(wc -l <out.txt | tr -d ' ')"
is "in the order of the file" "$(jq .work_id out.txt | sort -n | md5sum)" "$(jq .work_id out.txt | md5sum)"
is "all are stored" 2500 "$(total)"
last=$(tail -n 1 out.txt | jq .work_id)
is "the last one last" '{"n":2500}' "$(boxcar show "$last" -o json | jq -r .payload)"
lines 1 2001 | head -c -1 >torn.jsonl
exits "no newline at the end" 0 boxcar enqueue --batch torn.jsonl
is "its last line counts" 2001 "$(wc -l <out.txt | tr -d ' ')"

# Lines that are larger than a chunk, and chunks of few lines.
{ lines 1 1100; printf '{"topic":"a","payload":"'; head -c 3000000 /dev/zero | tr '\0' y; printf '"}\n'; lines 1 1100; } >huge.jsonl
exits "a huge line in between" 0 boxcar enqueue --batch huge.jsonl -o jsonl
is "an answer for each line" 2201 "$(wc -l <out.txt | tr -d ' ')"
huge=$(sed -n 1101p out.txt | jq .work_id)
is "is stored whole" 3000000 "$(boxcar show "$huge" -o json | jq -r .payload | tr -d '\n' | wc -c | tr -d ' ')"

# Keys: what comes before is stored first, what follows keeps its place.
{ lines 1 1100; echo '{"topic":"k","payload":"1","key":"same"}'; lines 1 1100; echo '{"topic":"k","payload":"2","key":"same"}'; } >keys.jsonl
exits "a key twice, chunks apart" 0 boxcar enqueue --batch keys.jsonl -o jsonl
is "is stored once" "false true" "$(sed -n '1101p;2202p' out.txt | jq .duplicate | xargs)"
is "under one work id" "$(sed -n 1101p out.txt | jq .work_id)" "$(sed -n 2202p out.txt | jq .work_id)"
is "in the order of the file" "$(head -n 2201 out.txt | jq .work_id | sort -n | md5sum)" "$(head -n 2201 out.txt | jq .work_id | md5sum)"

# BX-011: a fault behind chunks that were sent already: its line is named, nothing is stored.
before=$(total)
bad() { # NAME PATTERN LINE-NUMBER LINE
    { lines 1 $(($3 - 1)); printf '%s\n' "$4"; lines 1 1200; } >bad.jsonl
    refuses "$1" 2 "boxcar: enqueue: line $3: $2" boxcar enqueue --batch bad.jsonl
}
bad "broken JSON behind some chunks" "*JSON*" 3777 '{"topic":"a","payload":"sesame'
bad "what the library refuses, behind some chunks" "topic is empty*" 3777 '{"topic":"","payload":"sesame"}'
bad "an unknown field in the first chunk" "unknown field*" 3 '{"topic":"a","payload":"p","topik":1}'
{ lines 1 2500; echo '{"topic":"","payload":"p"}'; lines 1 2000; echo '{'; } >bad.jsonl
refuses "two faults" 2 "*line 2501: topic is empty*" boxcar enqueue --batch bad.jsonl
{ lines 1 2500; echo '{"topic":"a","payload":"p","join":"00000000-0000-0000-0000-000000000007"}'; } >bad.jsonl
refuses "a join that does not exist" 3 "boxcar: enqueue: *" boxcar enqueue --batch bad.jsonl
is "nothing was stored" "$before" "$(total)"

# A fault is told at once, though the input goes on.
start_feed boxcar
{ echo '{"topic":"","payload":"p"}'; lines 1 1200; } >&3
wait "$feeder" && status=0 || status=$?
is "a fault of an open pipe (exit 2)" 2 "$status"
exec 3>&-
like "is told" "*line 1: topic is empty*" "$(cat fed-err.txt)"

# Nobody waits for a pipe that is slow; what it brought is stored with the rest.
before=$(total)
start_feed boxcar --log-level info
lines 1 1500 >&3
wait_for grep -q 'event=feed .*it was slow' fed-err.txt
like "a pipe that is slow ends the transaction" "*after the end of the feed: it was slow*" "$(cat fed-err.txt)"
exits "somebody else stores while the pipe is open" 0 boxcar enqueue other x
is "alone" $((before + 1)) "$(total)"
lines 1 1500 >&3
finish_feed "a pipe with a pause" 0
is "all of it is stored" $((before + 3001)) "$(total)"
is "and printed" 3000 "$(wc -l <fed.txt | tr -d ' ')"

# BX-001: interrupted, nothing is stored.
before=$(total)
start_feed boxcar
lines 1 1500 >&3
kill -TERM "$feeder"
wait "$feeder" && status=0 || status=$?
exec 3>&-
is "an interrupted one ends by the signal" 143 "$status"
is "prints nothing" "" "$(cat fed.txt)"
is "and stores nothing" "$before" "$(total)"

if [ "$BOXCAR_TEST_KIND" = postgres ] && command -v psql >/dev/null; then
    sql() { psql -qAtX "$BOXCAR_TEST_STORE" -c "$1"; }
    is_connected() { [ "$(sql "select count(*) from pg_stat_activity where application_name = 'feed_$$'")" -gt 0 ]; }
    cut() { sql "select count(pg_terminate_backend(pid, 10000)) from pg_stat_activity where application_name = 'feed_$$'"; }

    # BX-001: the connection is lost in between, and made again.
    before=$(total)
    PGAPPNAME=feed_$$ start_feed boxcar
    lines 1 1500 >&3
    wait_for is_connected
    is "the connection is cut" 1 "$(cut)"
    lines 1 1500 >&3
    finish_feed "with a new connection" 0
    is "everything is stored once" $((before + 3000)) "$(total)"
    is "and printed" 3000 "$(wc -l <fed.txt | tr -d ' ')"

    # The server takes no connection any more.
    role=feed_${BOXCAR_SCHEMA}
    server=${BOXCAR_TEST_STORE#*@}
    sql "create role $role login password 'pw'" >/dev/null
    sql "select $BOXCAR_SCHEMA.grant_access('$role', 'producer')" >/dev/null
    PGAPPNAME=feed_$$ BOXCAR_STORE=postgres://$role:pw@$server BOXCAR_BUSY_TIMEOUT=300ms start_feed boxcar
    lines 1 1500 >&3
    wait_for is_connected
    sql "alter role $role nologin"
    is "the connection is cut for good" 1 "$(cut)"
    lines 1 1500 >&3
    finish_feed "without a store" 5
    like "an error is reported" "*boxcar: enqueue: *" "$(tail -n 1 fed-err.txt)"
    is "prints nothing" "" "$(cat fed.txt)"
    is "and stores nothing" $((before + 3000)) "$(total)"
    sql "drop owned by $role; drop role $role"
fi

finish
