# boxcar worker --metrics: what Prometheus and a health check see.
. "$BOXCAR_TEST_DIR/support/lib.sh"

command -v promtool >/dev/null || { echo "promtool is missing: install the package prometheus"; exit 1; }
worker=
holder=
# shellcheck disable=SC2154 # the loop assigns it
trap 'for pid in $worker $holder; do kill -KILL "$pid" 2>/dev/null; done' EXIT

# start_worker ARGUMENT...: in the background; its pid in $worker, its address in $address.
start_worker() {
    : >worker.err # of the one before
    boxcar worker --log-level info --poll 50ms "$@" >worker.out 2>worker.err </dev/null &
    worker=$!
    address=
    for _ in $(seq 200); do
        address=$(sed -n 's/.*event=metrics .*address=\([^ ]*\).*/\1/p' worker.err | head -n 1)
        [ -z "$address" ] || break
        kill -0 "$worker" 2>/dev/null || break
        sleep 0.05
    done
}

# stop_worker NAME: by SIGTERM, which is no failure.
stop_worker() {
    local status=0
    kill -TERM "$worker"
    wait "$worker" || status=$?
    worker=
    is "$1" 0 "$status"
}

# fetch PATH [CURL-OPTION]...: the status; body in body.txt, headers in headers.txt.
fetch() {
    curl -s -m 10 -o body.txt -D headers.txt -w '%{http_code}' "${@:2}" "http://$address$1"
}

# wait_for_line PATTERN: until a line of /metrics matches the basic regular expression.
wait_for_line() {
    for _ in $(seq 200); do
        fetch /metrics >/dev/null || true
        ! grep -q "$1" body.txt || return 0
        sleep 0.05
    done
    return 1
}

# has NAME PATTERN
has() {
    local name=${2#^}
    if wait_for_line "$2"; then
        ok "$1"
    else
        not_ok "$1" "expected: $2" "$(grep "^${name%%[\{ ]*}" body.txt)"
    fi
}

for i in 1 2 3; do enqueue orders.paid "secret-payload-$i"; done
enqueue mail.send secret-payload --header secret-name=secret-header
enqueue nobody.wants secret-payload
boxcar subscription add watcher 'watched.*' >/dev/null
boxcar subscription pause watcher >/dev/null
start_worker --metrics 127.0.0.1:0 --handler 'orders.*=discard' --handler 'mail.send=exec:/bin/false' \
    --handler 'odd"\topic=discard'
like "port 0 takes a free one, and the log says which" "127.0.0.1:[1-9]*" "$address"
unlike "loopback is no reason for a warning" "*authentication*" "$(cat worker.err)"

# BX-024: what was handled is counted by the handler's pattern
has "acks are counted" '^boxcar_messages_settled_total{topic="orders.\*",box="outbox",outcome="acked"} 3$'
has "retries are counted" '^boxcar_messages_settled_total{topic="mail.send",box="outbox",outcome="retried"} [1-9]'
has "handler times are counted" '^boxcar_handler_seconds_count{topic="mail.send",box="outbox"} [1-9]'
has "up to infinity" '^boxcar_handler_seconds_bucket{topic="mail.send",box="outbox",le="+Inf"} [1-9]'
has "and summed" '^boxcar_handler_seconds_sum{topic="mail.send",box="outbox"} [0-9.e-]*[1-9]'
has "the state" '^boxcar_worker_state{state="running"} 1$'
has "the store is up" '^boxcar_store_up 1$'
has "the store's numbers" '^boxcar_store_messages{status="done",box="outbox"} 3$'
# BX-094
has "subscriptions" '^boxcar_subscription_messages{subscription="watcher",box="outbox",status="ready"} 0$'
has "how far behind they are" '^boxcar_subscription_lag_seconds{subscription="watcher",box="outbox"} 0$'
has "what is kept for them" '^boxcar_subscription_held_messages{subscription="watcher",box="outbox"} 0$'
has "that one is paused" '^boxcar_subscription_paused{subscription="watcher",box="outbox"} 1$'
has "a topic that needs escapes" '^boxcar_handler_running{topic="odd\\"\\\\topic",box="outbox"} 0$'
is "claimed" 1 "$(awk '$1 == "boxcar_messages_claimed_total" && $2 >= 4' body.txt | wc -l)"

is "/metrics" 200 "$(fetch /metrics)"
like "its type" "*text/plain; version=0.0.4*" "$(grep -i '^content-type' headers.txt)"
if promtool check metrics <body.txt >promtool.txt 2>&1; then
    is "promtool has no complaint" "" "$(cat promtool.txt)"
else
    not_ok "promtool has no complaint" "$(cat promtool.txt)"
fi
# BX-010: no payload, no header, no id, no topic but the handlers'
unlike "no payload in the metrics" "*secret*" "$(cat body.txt headers.txt)"
unlike "no payload in the log" "*secret*" "$(cat worker.err)"
unlike "no topic without a handler" "*nobody*" "$(cat body.txt)"
unlike "no topic of a message" "*orders.paid*" "$(cat body.txt)"

# Every metric is documented, and nothing else is.
docs=$BOXCAR_TEST_DIR/../../docs/metrics.md
served=$(sed -n 's/^# TYPE \([^ ]*\) \(.*\)/\1 \2/p' body.txt | sort)
# Those of a worker with many stores are looked at in fleet.sh. Those of policies are there when there are some.
documented=$(sed -n 's/^| `\(boxcar_[a-z_]*\)` | \([a-z]*\) |.*/\1 \2/p' "$docs" | grep -vE '^boxcar_(fleet_|forward)' | sort)
is "docs/metrics.md has the names and types that are served" "$served" "$documented"

is "/healthz" "200 ok" "$(fetch /healthz) $(cat body.txt)"
is "/readyz" "200 running" "$(fetch /readyz) $(cat body.txt)"
is "HEAD" 200 "$(fetch /metrics --head)"
is "another path" 404 "$(fetch /)"
is "another path" 404 "$(fetch /metrics/x)"
is "POST" 405 "$(fetch /metrics -d x=1)"
like "says what is allowed" "*GET, HEAD*" "$(grep -i '^allow' headers.txt)"
is "DELETE" 405 "$(fetch /metrics -X DELETE)"
is "a name that is no method" 405 "$(fetch /metrics -X BREW)"
is "HTTP/1.0" 200 "$(fetch /healthz --http1.0)"
is "a header as long as a novel" 0 "$(fetch /metrics -H "X: $(head -c 60000 /dev/zero | tr '\0' x)" | grep -c '^200' || true)"
for garbage in 'GET' '\0\0\0\0' 'GET /metrics HTTP/9.9\r\n\r\n' '\x16\x03\x01\x02\x00\x01'; do
    # shellcheck disable=SC2059 # the garbage is the format
    (exec 3<>"/dev/tcp/${address%:*}/${address##*:}" && printf "$garbage" >&3) 2>/dev/null || true
done
is "garbage does no harm" 200 "$(fetch /healthz)"
seq 100 | xargs -P 100 -I{} curl -s -m 20 -o /dev/null -w '%{http_code}\n' "http://$address/metrics" >codes.txt || true
is "a hundred at once" "100 200" "$(sort codes.txt | uniq -c | awk '{print $1, $2}')"

other=$(boxcar worker --metrics "$address" --handler 't=discard' 2>&1 </dev/null) && not_ok "a taken port" ||
    like "a taken port is an error that names it" "*--metrics*$address*in use*" "$other"
stop_worker "stops cleanly"
is "nobody listens afterwards" 000 "$(fetch /healthz || true)"

# A worker of both boxes is one worker; halted streams have a box.
boxcar stream policy 'strict-*' halt >/dev/null
boxcar inbox enqueue shop 1 t p --stream strict-in >/dev/null
boxcar claim --box inbox --owner "$owner" --lease 1h >claimed.json
boxcar fail --box inbox --owner "$owner" "$(jq -r .work_id claimed.json)" >/dev/null
start_worker --metrics 127.0.0.1:0 --handler 't=discard' --inbox-handler 't=discard'
has "the age of upkeep" '^boxcar_store_upkeep_age_seconds [0-9]'
has "halted in the inbox" '^boxcar_streams_halted{box="inbox"} 1$'
has "not in the outbox" '^boxcar_streams_halted{box="outbox"} 0$'
has "one worker" '^boxcar_instances 1$'
stop_worker "stops cleanly"

# The worker of a subscription says so.
boxcar subscription resume watcher >/dev/null
boxcar enqueue watched.it 1 >/dev/null
start_worker --metrics 127.0.0.1:0 --subscription watcher --handler 'watched.*=discard'
has "its handlers are labelled" \
    '^boxcar_messages_settled_total{topic="watched.\*",box="outbox",subscription="watcher",outcome="acked"} 1$'
has "its partitions are those of its box" '^boxcar_partitions_owned{box="outbox"} [1-9]'
stop_worker "stops cleanly"

start_worker --metrics 0.0.0.0:0 --handler 't=discard'
address=127.0.0.1:${address##*:}
is "any address" 200 "$(fetch /healthz)"
like "is warned about" "*level=warn event=metrics*without authentication*" "$(cat worker.err)"
stop_worker "stops cleanly"

# A store that cannot be used: somebody holds its only write lock. The worker is healthy, not ready, and
# serves what it knows.
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    BOXCAR_BUSY_TIMEOUT=100ms start_worker --metrics :0 --handler 't=discard'
    has "running" '^boxcar_worker_state{state="running"} 1$'
    mkfifo lock
    sqlite3 "${BOXCAR_TEST_STORE#sqlite:}" <lock >/dev/null &
    holder=$!
    exec 4>lock
    printf '%s\n' '.timeout 5000' 'begin immediate;' >&4
    has "detached" '^boxcar_worker_state{state="detached"} 1$'
    has "the store is down" '^boxcar_store_up 0$'
    has "counted" '^boxcar_store_detachments_total [1-9]'
    is "healthy" "200 ok" "$(fetch /healthz) $(cat body.txt)"
    is "not ready" "503 detached" "$(fetch /readyz) $(cat body.txt)"
    exec 4>&- # which ends its transaction
    wait "$holder" || true
    holder=
    has "running again" '^boxcar_worker_state{state="running"} 1$'
    is "ready again" "200 running" "$(fetch /readyz) $(cat body.txt)"
    stop_worker "stops cleanly"
fi

for bad in nowhere 127.0.0.1 127.0.0.1:x 127.0.0.1:65536 ::1:80; do
    refuses "--metrics $bad" 2 "*--metrics*$bad*" boxcar worker --metrics "$bad" --handler 't=discard'
done

finish
