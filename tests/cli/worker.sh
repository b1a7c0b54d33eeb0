# boxcar worker: handlers, draining, signals, reloading, its log.
. "$BOXCAR_TEST_DIR/support/lib.sh"

mkdir bin.d
# A handler that writes down what it got.
cat >bin.d/note <<'SH'
#!/bin/sh
payload=$(cat)
echo "$BOXCAR_TOPIC $BOXCAR_ATTEMPT $payload" >>"$1"
SH
# One that ends as its payload says, and says why.
cat >bin.d/end <<'SH'
#!/bin/sh
read -r status
echo "ended with $status" >&2
exit "$status"
SH
# One that is in the way until it is told.
cat >bin.d/wait <<'SH'
#!/bin/sh
echo started >>"$1"
until [ -e "$2" ]; do sleep 0.05; done
SH
chmod +x bin.d/*
here=$PWD

# start ARGUMENTS...: a worker in the background, its pid in $pid, its log in log.txt
start() {
    boxcar worker --poll 50ms "$@" >worker.out 2>log.txt &
    pid=$!
    wait_for grep -q event=worker_start log.txt
}

# ended NAME STATUS: the worker in the background has ended so
ended() {
    local status=0
    wait "$pid" || status=$?
    is "$1" "$2" "$status"
}

count() { # STATUS
    boxcar stats -o json | jq ".$1"
}

# OBX-054, BX-024: each topic to its handler, the longest match wins, others stay untouched.
for topic in orders.paid orders.sent audit.seen other; do
    enqueue "$topic" "about $topic"
done
exits "worker --drain" 0 boxcar worker --drain --handler "orders.*=exec:$here/bin.d/note $here/any.txt" \
    --handler "orders.paid=exec:$here/bin.d/note '$here/paid of.txt'" --handler 'audit.*=discard'
is "nothing on standard output" "" "$out"
is "the exact topic" "orders.paid 1 about orders.paid" "$(cat 'paid of.txt')"
is "the prefix" "orders.sent 1 about orders.sent" "$(cat any.txt)"
is "all of them done" 3 "$(count done)"
is "the topic without a handler is left alone" "ready 0" "$(boxcar ls --topic other -o json | jq -r '.[0]|"\(.status) \(.retry_count)"')"
is "one line at the start" 1 "$(grep -c event=worker_start err.txt)"
like "says whom it serves" "*level=info event=worker_start store=* owner=????????-* handlers=orders.?,orders.paid,audit.? concurrency=4*" \
    "$(grep event=worker_start err.txt)"
like "one line at the end with totals" "*event=worker_end*claimed=3 acked=3 retried=0 failed=0 dead=0 deferred=0 lost=0" \
    "$(grep event=worker_end err.txt)"
unlike "no progress line without a terminal" $'*\r*' "$err"
exits "draining what is empty" 0 boxcar worker --drain --handler 'orders.*=discard'

# A message from outside says where it comes from; one of the outbox has no such variables.
cat >bin.d/origin <<'SH'
#!/bin/sh
echo "$BOXCAR_BOX ${BOXCAR_SOURCE-unset} ${BOXCAR_EXTERNAL_ID-unset}" >>"$1"
SH
chmod +x bin.d/origin
exits "a message from outside" 0 boxcar inbox enqueue 'shop $(id)' 'order 42' origin x
enqueue origin x
exits "one program for both boxes" 0 boxcar worker --drain --handler "origin=exec:$here/bin.d/origin $here/origin.txt" \
    --inbox-handler "origin=exec:$here/bin.d/origin $here/origin.txt"
is "source and id in the environment" 'inbox shop $(id) order 42,outbox unset unset' "$(sort origin.txt | paste -sd,)"

# Verdicts of a program: 0, 65, anything else.
boxcar settings max_attempts 2 >/dev/null
for status in 0 65 7; do
    enqueue ends "$status"
done
exits "programs that end well and badly" 0 env BOXCAR_BACKOFF_BASE=1ms boxcar worker --drain --handler "ends=exec:$here/bin.d/end"
is "65 fails for good, 7 after its attempts" "exhausted ended with 7,rejected ended with 65" \
    "$(boxcar dead ls --topic ends -o json | jq -r '[.[]|"\(.reason) \(.last_error)"]|sort|join(",")')"
like "totals" "*acked=1 retried=1 failed=1 dead=1 *" "$(grep event=worker_end err.txt)"
is "the last failure is known as such" 1 "$(grep -c event=buried err.txt)"
like "and logged" "*level=error event=buried*that was the last attempt*topic=ends * attempt=2 *ended with 7*" "$(grep event=buried err.txt)"
boxcar settings max_attempts --reset >/dev/null

# The configuration file, and the backoff of a topic.
cat >worker.ini <<INI
[worker]
poll = 20ms
[backoff]
base = 1h
cap = 1h
[backoff quick.*]
base = 1ms
factor = 1
[handlers]
quick.* = exec:$here/bin.d/end
slow = exec:$here/bin.d/end
INI
enqueue quick.one 3 --max-attempts 2
exits "handlers and backoff of a file" 0 boxcar worker --drain --config worker.ini --log-level warn
is "the topic's backoff is its own" failed "$(boxcar show "$id" -o json | jq -r .status)"
unlike "the level of the log" "*level=info*" "$err"
enqueue slow 3
start --config worker.ini
wait_for sh -c "boxcar show $id -o json | jq -e '.retry_count == 1'"
kill "$pid"
ended "SIGTERM between messages is a clean end" 0
is "the others wait as [backoff] says" true \
    "$(boxcar show "$id" -o json | jq '(.available_at|sub("\\..*";"Z")|fromdate) > now + 1800')"

# Without handlers it looks after waits and does upkeep.
exits "no handler" 0 boxcar worker --drain
like "and says so" "*no handlers: this worker evaluates waits for joins, forwards, plans and does upkeep*" "$err"

# What cannot be started. BX-011, BX-024
refuses "two handlers for one topic" 2 "boxcar: worker: --handler: topic 't' has a handler already, from --handler" \
    boxcar worker --handler t=discard --handler t=exec:/bin/cat
refuses "one in the file and one here" 2 "*--handler: topic 'slow' has a handler already, from worker.ini:11" \
    boxcar worker --config worker.ini --handler slow=discard
refuses "no action for the inbox" 2 "*--inbox-handler is 'orders': give TOPIC=exec:COMMAND or TOPIC=discard" \
    boxcar worker --inbox-handler orders
exits "a worker of both boxes" 0 boxcar worker --drain --handler t=discard --inbox-handler t=discard --inbox-handler u=discard
like "says whom it serves in which box" "*event=worker_start * handlers=t,inbox:t,inbox:u *" "$(grep worker_start err.txt || cat err.txt)"
refuses "no action" 2 "*--handler is 'orders': give TOPIC=exec:COMMAND or TOPIC=discard" boxcar worker --handler orders
refuses "an unknown action" 2 "*the handler of 't' is 'drop': give exec:COMMAND or discard" boxcar worker --handler t=drop
for bad in '=discard' 't=exec:' "t=exec:'open" 't=exec:/no/such/program' 't=exec:no-such-program'; do
    refuses "--handler $bad" 2 "boxcar: worker: --handler: the handler of *" boxcar worker --drain --handler "$bad"
done
for bad in 'orders.*.paid' '*.paid' 'orders.**'; do
    refuses "--handler $bad" 2 "*--handler: the handler of '$bad'*a \* before its end*PREFIX\**" boxcar worker --drain --handler "$bad=discard"
    refuses "--inbox-handler $bad" 2 "*a \* before its end*" boxcar worker --drain --inbox-handler "$bad=discard"
done
printf '[handlers]\nt = discard\n[backoff orders.*.paid]\nbase = 1s\n' >star.ini
refuses "a backoff of such a topic" 2 "*a \* before its end*" boxcar worker --drain --config star.ini
refuses "a bad owner" 2 "*--owner is 'me'*" boxcar worker --handler t=discard --owner me
refuses "an argument" 2 "*unexpected argument*" boxcar worker t=discard
refuses "a store that is not deployed" 1 "*boxcar init*" boxcar worker --handler t=discard --store sqlite:missing.db
refuses "a store that is not there" 5 "boxcar: worker: *" env BOXCAR_STORE=postgres://127.0.0.1:1/db boxcar worker --handler t=discard
[ -e missing.db ] && not_ok "and none is made" || ok "and none is made"

# A program has the worker's user and could look at its parent: there is no secret to find. OBX-126
cat >bin.d/peek <<'SH'
#!/bin/sh
for file in environ cmdline; do
    tr '\0' '\n' <"/proc/$PPID/$file" >"$1.$file" 2>/dev/null
done
ls "/proc/$PPID/fd" >"$1.fd" 2>/dev/null
exit 0
SH
chmod +x bin.d/peek
secret=sesame
[ "$BOXCAR_TEST_KIND" = sqlite ] || [ ! -r "${PGPASSFILE:-}" ] || secret=$(head -n 1 "$PGPASSFILE" | cut -d: -f5)
with_secret() {
    env PGPASSFILE=/dev/null PGPASSWORD="$secret" OTHER="$secret" "$@"
}
enqueue secrets x
exits "a worker with secrets" 0 with_secret boxcar worker --drain \
    --handler "secrets=exec:$here/bin.d/peek $here/peek" --handler "unused=exec:/bin/true password=$secret"
is "the program has looked at the arguments" 1 "$(grep -c '^--drain$' peek.cmdline)"
is "none in the worker's environment or arguments" "" "$(grep -a "$secret" peek.environ peek.cmdline)"
is "nor is its store" "" "$(grep -a BOXCAR_STORE peek.environ)"
# Root may read everything, so the worker of this one is somebody else where that can be.
as_user=
[ "$(id -u)" != 0 ] || as_user='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ -z "$as_user" ] || command -v setpriv >/dev/null; then
    enqueue secrets x
    mkdir -m 777 others
    cp bin.d/peek others/peek
    [ -z "$as_user" ] || chmod -R a+rwX .
    # shellcheck disable=SC2086 # words
    exits "a worker that is not root" 0 with_secret $as_user "$BOXCAR" worker --drain \
        --handler "secrets=exec:$here/others/peek $here/others/found"
    is "its arguments can be read" 1 "$(grep -c '^--drain$' others/found.cmdline)"
    is "its descriptors cannot" "" "$(cat others/found.fd)"
fi
printf '[handlers]\nreload.secret = discard\n' >secret.ini
BOXCAR_LEASE=20s boxcar worker --config secret.ini 2>log.txt &
pid=$!
wait_for grep -q event=worker_start log.txt
kill -HUP "$pid"
wait_for grep -q 'nothing changed' log.txt
kill "$pid"
ended "a reload finds the variables as they were" 0

# PGPASSWORD serves every connection, also those after the first was lost.
if [ "$BOXCAR_TEST_KIND" = postgres ]; then
    PGAPPNAME=again_$$ PGPASSFILE=/dev/null PGPASSWORD=$secret start --handler again=discard
    enqueue again x
    wait_for sh -c "boxcar show $id -o json | jq -e '.status == \"done\"'"
    like "its connection is cut" "t*" "$(psql -qAtX "$BOXCAR_TEST_STORE" -c \
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'again_$$'")"
    enqueue again x
    wait_for sh -c "boxcar show $id -o json | jq -e '.status == \"done\"'"
    is "connected again with the password" done "$(boxcar show "$id" -o json | jq -r .status)"
    kill "$pid"
    ended "and ends" 0
fi

# Too few descriptors for all threads: a warning, and work goes on with those that there are.
enqueue scarce x
exits "few descriptors" 0 bash -c 'ulimit -n 14; exec boxcar worker --drain --concurrency 16 --handler scarce=discard'
like "says what to raise" "*at most 14 files may be open, 160 may be needed*LimitNOFILE=*" "$err"
like "and how many threads there are" "*level=warn event=shortage*the system lets only ?* of 16 threads start (Too many open files)*" "$err"
is "the message is done" done "$(boxcar show "$id" -o json | jq -r .status)"

# A file that may not grow is an error, not the end of the program by SIGXFSZ.
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    head -c 500000 /dev/zero | tr '\0' x >large.txt
    refuses "a file that may not grow" 1 "boxcar: enqueue: *" bash -c 'ulimit -f 100; exec boxcar enqueue t - <large.txt'
fi

# SIGTERM and SIGINT: handlers finish, what is unstarted goes back without an attempt spent. BX-022
for signal in TERM INT; do
    rm -f started.txt go
    enqueue slow.$signal x
    first=$id
    enqueue slow.$signal y
    start --concurrency 1 --handler "slow.$signal=exec:$here/bin.d/wait $here/started.txt $here/go"
    wait_for test -s started.txt
    kill -s "$signal" "$pid"
    wait_for grep -q "event=signal.*signal=$signal" log.txt
    touch go
    ended "SIG$signal is a clean end" 0
    is "what ran is done" done "$(boxcar show "$first" -o json | jq -r .status)"
    is "what did not is ready, no attempt spent" "ready 0" "$(boxcar show "$id" -o json | jq -r '"\(.status) \(.retry_count)"')"
    like "totals" "*acked=1*" "$(grep event=worker_end log.txt)"
done

# Two signals within a second are one: timeout sends one to its program, and one to its group. A machine that
# takes longer between them proves nothing, so it tries again.
for _ in 1 2 3 4 5; do
    rm -f started.txt go
    enqueue twice x
    start --grace 10m --handler "twice=exec:$here/bin.d/wait $here/started.txt $here/go"
    wait_for test -s started.txt
    before=${EPOCHREALTIME/./}
    kill "$pid"
    wait_for grep -q event=signal log.txt
    kill "$pid"
    after=${EPOCHREALTIME/./}
    # It was taken, and what came after it, too: one thread deals with all signals.
    wait_for grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$pid/status"
    kill -s HUP "$pid"
    wait_for grep -q event=reload log.txt
    touch go
    ended "two signals at once are a clean end" 0
    [ $((after - before)) -ge 900000 ] || break
done
is "and count as one" 1 "$(grep -c event=signal log.txt)"
is "the handler was allowed to finish" done "$(boxcar show "$id" -o json | jq -r .status)"

# A second SIGTERM does not wait for the grace time. Within a second it counts as the same signal.
stop_again() {
    kill "$pid"
    [ "$(grep -c event=signal log.txt)" -ge 2 ]
}
rm -f started.txt go
enqueue stubborn x
start --grace 10m --handler "stubborn=exec:$here/bin.d/wait $here/started.txt $here/go"
wait_for test -s started.txt
kill "$pid"
wait_for grep -q "event=signal" log.txt
wait_for stop_again
ended "a second SIGTERM ends it" 0
is "its message is ready for others" ready "$(boxcar show "$id" -o json | jq -r .status)"
touch go

# SIGHUP.
write_config() { # LEVEL POLL TOPIC
    printf '[log]\nlevel = %s\n[worker]\npoll = %s\n[store]\nbusy_timeout = %s\n[handlers]\n%s = discard\n' "$1" "$2" "${4:-30s}" "$3" >reload.ini
}
reloads() { # how many lines about it are in the log
    grep -c event=reload log.txt
}
write_config warn 50ms reload.one
boxcar worker --config reload.ini --lease 20s --handler extra=discard 2>log.txt &
pid=$!
wait_for sh -c "grep -q -- '--config' /proc/$pid/cmdline"
enqueue reload.one x
wait_for sh -c "boxcar show $id -o json | jq -e '.status == \"done\"'"
is "at level warn there is silence" "" "$(cat log.txt)"
write_config debug 60ms reload.one
kill -HUP "$pid"
wait_for grep -q setting=log.level log.txt
like "one line for each change" "*level=info event=reload*setting=worker.poll before=50ms now=60ms*setting=log.level before=warn now=debug" \
    "$(grep event=reload log.txt | tr '\n' ' ' | sed 's/ $//')"
is "and no more" 2 "$(reloads)"
enqueue reload.one 'open sesame'
wait_for sh -c "boxcar show $id -o json | jq -e '.status == \"done\"'"
wait_for grep -q level=debug log.txt
ok "a finer level applies at once"
printf '[worker]\nlease = x\n' >reload.ini
kill -HUP "$pid"
wait_for grep -q 'stays as it was' log.txt
like "a broken file says what is wrong" "*level=error event=reload*reload.ini:2: lease is 'x'*" "$(grep event=reload log.txt)"
enqueue reload.one x
wait_for sh -c "boxcar show $id -o json | jq -e '.status == \"done\"'"
ok "and changes nothing"
printf '[worker]\nlease = 40s\n' >>reload.ini
write_config debug 60ms reload.two 31s
kill -HUP "$pid"
wait_for grep -q 'handlers changed' log.txt
like "a setting that needs a restart says so" \
    "*level=warn event=reload*text=?setting changed, which needs a restart? setting=store.busy_timeout before=30s now=31s*" \
    "$(grep store.busy_timeout log.txt)"
like "so do handlers" "*level=warn event=reload*text=?handlers changed, which needs a restart?" \
    "$(grep 'handlers changed' log.txt)"
kill -HUP "$pid"
wait_for sh -c "[ \$(grep -c 'handlers changed' log.txt) = 2 ]"
ok "and again as long as it differs"
write_config debug 60ms reload.one
kill -HUP "$pid"
wait_for grep -q 'nothing changed' log.txt
ok "a file as it was changes nothing"
unlike "the command line is no change" "*worker.lease*" "$(cat log.txt)"
kill "$pid"
ended "it ends cleanly afterwards" 0
unlike "no payload in the log" "*sesame*" "$(cat log.txt)"
start --handler none=discard
kill -HUP "$pid"
wait_for grep -q 'no configuration file' log.txt
kill "$pid"
ended "SIGHUP without a file is harmless" 0

# BX-010, OBX-125: no payload in the log, one line a record whatever the message is called.
odd=$'odd\nto pic="q" \\ \x1b[31m'
enqueue "$odd" 'open sesame' --correlation-id $'cor\nrelation' --header $'he ader=va\nlue'
sed -i 's/read -r status/status=75/' bin.d/end
for format in logfmt json; do
    enqueue "$odd" 'open sesame' --correlation-id $'cor\nrelation'
    enqueue ends 'open sesame' --max-attempts 1
    exits "the log at debug as $format" 0 boxcar worker --drain --log-level debug --log-format "$format" \
        --handler 'odd*=discard' --handler "ends=exec:$here/bin.d/end"
    unlike "without payloads" "*sesame*" "$err"
    if [ "$format" = json ]; then
        is "every line is an object" "$(wc -l <err.txt)" "$(jq -c 'select(.time and .level and .event and .store)' err.txt | wc -l)"
        is "the totals are in it" 2 "$(jq -r 'select(.event=="worker_end").claimed' err.txt)"
        is "newlines are escaped once" "$odd" "$(jq -r 'select(.event=="discard").topic' err.txt)"
        is "also in other fields" "$(jq -cn --arg id $'cor\nrelation' '$id')" "$(jq -c 'select(.event=="discard").correlation_id' err.txt)"
        is "numbers are numbers" "number number number string string" \
            "$(jq -r 'select(.event=="worker_end") | "\(.acked|type) \(.dead|type)"' err.txt) $(
            jq -r 'select(.event=="verdict") | "\(.attempt|type) \(.message_id|type) \(.text|type)"' err.txt)"
    else
        is "every line is a record" "$(wc -l <err.txt)" "$(grep -c '^time=.* level=.* event=.* store=.* text=' err.txt)"
    fi
    boxcar dead purge --all >/dev/null
done

# Many threads write whole lines.
seq 300 | sed 's/.*/{"topic": "many", "payload": "x"}/' | boxcar enqueue --batch - >/dev/null
exits "many threads" 0 boxcar worker --drain --concurrency 16 --log-level debug --log-format json --handler "many=exec:/bin/true"
is "write one object a line" "$(wc -l <err.txt)" "$(jq -c . err.txt | wc -l)"
is "and lose nothing" 300 "$(jq -r 'select(.event=="worker_end").acked' err.txt)"

# On a terminal a drain shows how far it is, and wipes it away.
if command -v script >/dev/null; then
    rm -f started.txt go
    enqueue shown x
    script -qefc "boxcar worker --drain --log-level error --handler 'shown=exec:$here/bin.d/wait $here/started.txt $here/go'" terminal.txt >/dev/null &
    pid=$!
    wait_for grep -q 'done, .*/s' terminal.txt
    touch go
    ended "a drain on a terminal" 0
    like "ends with a clean line" $'*0 done, 0/s*\r\033[K*' "$(tail -c 200 terminal.txt)"
    unlike "nothing is drawn otherwise" $'*\033[K*' "$err"
fi

finish
