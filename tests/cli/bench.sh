# bench: measures what it says, leaves nothing undone, refuses what makes no sense.
. "$BOXCAR_TEST_DIR/support/lib.sh"

exits "bench" 0 boxcar bench --messages 60 --payload-size 100 --concurrency 2 --batch-size 7 -o json
is "what was asked for" '[60,100,2,7]' "$(json '[.messages, .payload_size, .concurrency, .batch_size]')"
is "all were worked off here" '[60,60]' "$(json '[.drained, .latency_messages]')"
is "rates fit the times" true "$(json '(.enqueue_per_second * .enqueue_seconds - 60 | fabs) < 0.01
    and (.drain_per_second * .drain_seconds - 60 | fabs) < 0.01')"
is "every figure is there" true "$(json '[.enqueue_seconds, .drain_seconds, .latency_p50_ms, .latency_p99_ms,
    .latency_rate_per_second] | all(. > 0)')"
is "the median is not above the 99th percentile" true "$(json '.latency_p50_ms <= .latency_p99_ms')"
is "nothing on standard error" "" "$err"
topic=$(json .topic)
like "a topic of its own" "boxcar.bench.????????" "$topic"

exits "stats" 0 boxcar stats -o json
is "nothing is left but what is done" '[0,0,0,120,0]' "$(json '[.ready, .waiting, .in_progress, .done, .failed]')"
exits "ls" 0 boxcar ls --topic "$topic" --limit 1000 -o json
is "on that topic" '120 done' "$(json '"\(length) \(map(.status) | unique | join(","))"')"
exits "show" 0 boxcar show "$(json '.[0].work_id')" -o json
is "the payload has its size" 100 "$(json '.payload | length')"

exits "for people" 0 boxcar bench --messages 1 --batch-size 10000
like "says what it measured" "enqueue  */s  1 messages of 256 bytes, 10000 in a transaction*
drain  */s  1 messages claimed*
latency  * ms (median), * ms (99%)  from before the enqueue to the handler*" "$out"
unlike "another topic each time" "*$topic*" "$(boxcar bench --messages 1 -o json)"

# Others are not disturbed: their messages stay as they are.
enqueue orders.paid x
exits "among other messages" 0 boxcar bench --messages 5 -o json
is "theirs is still ready" ready "$(boxcar show "$id" -o json | jq -r .status)"

for wrong in "--messages 0" "--messages 10000001" "--messages x" "--payload-size 19" "--payload-size 1048577" \
    "--concurrency 0" "--concurrency 1025" "--batch-size 0" "--batch-size 10001"; do
    # shellcheck disable=SC2086
    refuses "bench $wrong" 2 "boxcar: bench: ${wrong% *} is *: give *" boxcar bench $wrong
done
refuses "an argument" 2 "*unexpected argument 'x'*" boxcar bench x
refuses "a store that is not there" 1 "*boxcar init*" env BOXCAR_STORE=sqlite:nowhere.db boxcar bench --messages 1

finish
