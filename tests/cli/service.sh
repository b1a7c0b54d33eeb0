# boxcar worker under a service manager: what it tells on $NOTIFY_SOCKET (sd_notify(3)).
. "$BOXCAR_TEST_DIR/support/lib.sh"

worker=
receiver=
# shellcheck disable=SC2154 # the loop assigns it
trap 'for pid in $worker $receiver; do kill -KILL "$pid" 2>/dev/null; done' EXIT

"$BOXCAR_NOTIFY_RECEIVER" notify >news.txt &
receiver=$!
wait_for test -S notify

# told NAME LINE [COUNT]: waits until the line was sent COUNT times.
told() {
    for _ in $(seq 400); do
        if [ "$(grep -cxF -- "$2" news.txt)" -ge "${3:-1}" ]; then
            ok "$1"
            return
        fi
        sleep 0.05
    done
    not_ok "$1" "expected: $2" "$(sort news.txt | uniq -c)"
}

cat >worker.conf <<CONF
[handlers]
t = exec:/usr/bin/env
CONF
enqueue t x
NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=200000 boxcar worker --config worker.conf --log-level info \
    >worker.out 2>worker.err </dev/null &
worker=$!
told "ready when it runs" READY=1
told "says what it does" STATUS=Running
told "feeds the watchdog" WATCHDOG=1 5
is "ready is sent once" 1 "$(grep -cx READY=1 news.txt)"
kill -HUP "$worker"
told "says that it reads its configuration again" RELOADING=1
told "and when it is done" READY=1 2
is "not stopping yet" 0 "$(grep -cx STOPPING=1 news.txt)"
kill -TERM "$worker"
told "says that it stops" STOPPING=1
status=0
wait "$worker" || status=$?
worker=
is "ends cleanly" 0 "$status"

# A handler could tell systemd anything if it were given the socket.
: >news.txt
printf '%s\n' '#!/bin/sh' 'test -z "$NOTIFY_SOCKET$WATCHDOG_USEC"' >handler
chmod +x handler
enqueue t y --max-attempts 1
NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=200000 boxcar worker --drain --handler "t=exec:$PWD/handler" \
    >worker.out 2>worker.err </dev/null || not_ok "drains" "$(cat worker.err)"
is "the handler was not given the socket" 0 "$(boxcar stats -o json | jq '.ready + .waiting + .failed')"
told "one that soon ends was ready, too" READY=1

finish
