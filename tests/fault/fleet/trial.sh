#!/usr/bin/env bash
# trial.sh PROGRAM [FILES MESSAGES KILLS SEED [SCHEMAS]]: workers with many stores, which are killed, while stores are added, removed,
# locked and listed wrongly. Afterwards each message of each store is done, and a handler wrote each down. Then the latency of all
# stores is measured, with and without three more in the list that refuse connections.
#
# The stores are SQLite files and, with a server in BOXCAR_TEST_POSTGRES, schemas (as many, if nothing is said). What counts is what
# the stores and the handlers say, never what a worker reports (BX-001, BX-101, BX-102).
set -euo pipefail
program=$(readlink -f "$1")
stores=${2:-4} messages=${3:-400} kills=${4:-6} seed=${5:-$$} schemas=${6:-${2:-4}}
[ -n "${BOXCAR_TEST_POSTGRES:-}" ] || schemas=0
RANDOM=$seed
echo "trial.sh: $stores files, $schemas schemas, $messages messages, $kills kills, seed $seed"

work=$(mktemp -d)
cd "$work"
unset BOXCAR_STORE BOXCAR_SCHEMA BOXCAR_CONFIG
workers=()
locker=
end() {
    local pid
    for pid in "${workers[@]}" $locker; do kill -KILL "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    for name in "${names[@]}"; do
        [[ $name != trial_* ]] || psql -qX "$BOXCAR_TEST_POSTGRES" -c "set client_min_messages = error; drop schema if exists $name cascade" || true
    done
    rm -rf "$work"
}
names=()
trap end EXIT

# ---- stores ----

urls=()
for ((i = 0; i < stores || i < schemas; i++)); do
    if ((i < stores)); then
        names+=("file$i")
        urls+=("sqlite:$work/file$i.db")
    fi
    if ((i < schemas)); then
        names+=("trial_$$_$i")
        urls+=("$BOXCAR_TEST_POSTGRES")
    fi
done
count=${#names[@]}
at() { # I COMMAND...: on the store
    local i=$1
    shift
    "$program" "$@" --store "${urls[i]}" --schema "$([[ ${names[i]} == trial_* ]] && echo "${names[i]}" || echo boxcar)"
}
for ((i = 0; i < count; i++)); do at $i init >/dev/null; done

# write_list SKIP: all stores but one
write_list() {
    local i
    for ((i = 0; i < count; i++)); do
        [ "$i" = "$1" ] || echo "${names[i]} ${urls[i]} $([[ ${names[i]} == trial_* ]] && echo "${names[i]}" || echo boxcar)"
    done >list.new
    mv list.new list.txt
}
write_list none

# ---- workers and producers ----

cat >handler <<'SH'
#!/bin/sh
echo "$BOXCAR_STORE_ID $(cat)" >>evidence
SH
chmod +x handler
start_worker() { # its pid goes to the end of workers
    "$program" worker --discover file:list.txt --refresh 200ms --idle 100ms --connections 3 --lease 2s --poll 50ms \
        --maintain 500ms --handler "t=exec:$work/handler" --log-level warn 2>>workers.log &
    workers+=($!)
}
: >evidence
start_worker
start_worker

sent=0
produce() { # HOW_MANY: spread over the stores
    local i n=$(($1 / count + 1))
    for ((i = 0; i < count; i++)); do
        seq "$sent" $((sent + n - 1)) | sed "s/.*/{\"topic\":\"t\",\"payload\":\"m&\"}/" | at $i enqueue --batch - >/dev/null
        sent=$((sent + n))
    done
}

pause() { sleep "0.$((RANDOM % 5 + 1))"; }

# Another program keeps the write lock of a file for a moment: its store is slow, the others must not be.
lock_one() {
    { echo "begin immediate;"; sleep 1; echo "rollback;"; } | sqlite3 "$work/file$1.db" 2>/dev/null &
    locker=$!
}

for ((round = 0; round < kills; round++)); do
    produce $((messages / kills))
    case $((RANDOM % 4)) in
    0) write_list $((RANDOM % count)) ;;
    1) echo "this is no list" >list.txt ;;
    2) lock_one $((RANDOM % stores)) ;;
    3) { cat list.txt; echo "absent sqlite:$work/absent.db"; } >list.new && mv list.new list.txt ;;
    esac
    pause
    victim=$((RANDOM % 2))
    kill -KILL "${workers[victim]}"
    wait "${workers[victim]}" 2>/dev/null || true
    write_list none # a worker does not start without a list
    start_worker
    workers[victim]=${workers[-1]}
    unset 'workers[-1]'
    pause
done
write_list none

# ---- the end ----

left() { # in all stores
    local i sum=0
    for ((i = 0; i < count; i++)); do
        sum=$((sum + $(at $i stats -o json | jq '.ready + .waiting + .in_progress')))
    done
    echo "$sum"
}
for _ in $(seq 240); do
    [ "$(left)" != 0 ] || break
    sleep 0.5
done
failed=0
check() { # WHAT WANTED FOUND
    if [ "$2" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1: wanted $2, found $3"; failed=1; fi
}
check "nothing is left" 0 "$(left)"
done_count=0 dead=0
for ((i = 0; i < count; i++)); do
    done_count=$((done_count + $(at $i stats -o json | jq .done)))
    dead=$((dead + $(at $i stats -o json | jq .failed)))
    check "no message of ${names[i]} is lost" 0 "$(at $i doctor --audit -o json | jq '[.[]|select(.check=="audit" and .severity!="ok")]|length')"
done
check "every message is done" "$sent" "$done_count"
check "none died" 0 "$dead"
check "a handler wrote each down" "$sent" "$(awk '{ print $2 }' evidence | sort -u | wc -l)"
check "in the store it was sent to" "$sent" "$(sort -u evidence | wc -l)"
echo "$(($(wc -l <evidence) - sent)) deliveries were repeated"
for pid in "${workers[@]}"; do
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    check "a worker ends well" 0 "$status"
done
workers=()

# ---- stores that refuse connections (BX-102) ----

# From an enqueue to its handler, of each message, spread over all stores; one worker with as many connections as it has by default.
cat >timed <<'SH'
#!/bin/sh
echo "$(($(date +%s%N) - $(cat)))" >>"$1"
SH
chmod +x timed
latency() { # LIST FILE BROKEN: the 99th percentile in milliseconds; BROKEN stores of the list are down
    local i n pid
    : >"$2"
    : >latency.log
    "$program" worker --discover "file:$1" --poll 50ms --concurrency 8 --handler "timed=exec:$work/timed $work/$2" \
        --log-level info 2>latency.log &
    pid=$!
    workers+=("$pid")
    for _ in $(seq 600); do # each store has been looked at once, those that are down too
        ! grep -q event=fleet latency.log || [ "$(grep -c event=detached latency.log)" -lt "$3" ] || break
        sleep 0.1
    done
    for ((n = 0; n < probes; n++)); do
        i=$((n * 7 % count))
        at $i enqueue timed "$(date +%s%N)" >/dev/null
    done
    for _ in $(seq 600); do
        [ "$(wc -l <"$2")" -lt "$probes" ] || break
        sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid" || true
    workers=()
    sort -n "$2" | awk '{ v[NR] = $1 } END { print int(v[int((NR * 99 + 99) / 100)] / 1e6) }'
}
probes=$((messages < 300 ? messages : 300))
write_list none
{
    cat list.txt
    echo "refuses1 postgres://nobody@127.0.0.1:1/none"
    echo "refuses2 postgres://nobody@127.0.0.1:2/none"
    echo "refuses3 sqlite:$work/absent/absent.db"
} >broken.txt
alone=$(latency list.txt alone.txt 0)
with_broken=$(latency broken.txt broken_latencies.txt 3)
echo "p99 of $probes messages: $alone ms, with three stores that cannot be used $with_broken ms"
check "each message is handled, with and without them" "$((2 * probes))" "$(cat alone.txt broken_latencies.txt | wc -l)"
# A percentile of so few, on a machine that does other things: half a second is nobody's fault.
check "healthy stores do not wait for those" 1 "$((with_broken <= 2 * alone || with_broken <= alone + 500))"
[ "$failed" = 0 ] || { echo "seed $seed"; tail -n 50 workers.log; }
exit "$failed"
