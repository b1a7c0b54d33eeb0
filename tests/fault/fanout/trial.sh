#!/usr/bin/env bash
# trial.sh PROGRAM [MESSAGES KILLS DOWN SCATTERED COPIES SEED]: policies, whose workers are killed while a destination is down. Afterwards
# every destination has every message exactly once, and each scattered message has one continuation.
#
# The store with the policies is an SQLite file, and then, with a server in BOXCAR_TEST_POSTGRES, a schema; the
# destination is an SQLite file, which somebody else locks for DOWN seconds. What counts is what the stores
# say, never what a worker reports (BX-097, BX-098, BX-099).
set -euo pipefail
program=$(readlink -f "$1")
messages=${2:-400} kills=${3:-4} down=${4:-2} scattered=${5:-40} copies=${6:-5} seed=${7:-$$}
RANDOM=$seed
echo "trial.sh: $messages messages, $kills kills, $down s down, $scattered messages x $copies copies, seed $seed"

work=$(mktemp -d)
cd "$work"
unset BOXCAR_STORE BOXCAR_SCHEMA BOXCAR_CONFIG
workers=()
locker=
schema=
failed=0
end() {
    local pid
    for pid in "${workers[@]}" $locker; do kill -KILL "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    [ -z "$schema" ] || psql -qX "$BOXCAR_TEST_POSTGRES" -c "set client_min_messages = error; drop schema if exists $schema cascade" || true
    rm -rf "$work"
}
trap end EXIT

home() { "$program" "$@" --store "$home_url" --schema "${schema:-boxcar}"; }
away() { "$program" "$@" --store "sqlite:$work/away.db"; }

check() { # WHAT WANTED FOUND
    if [ "$2" = "$3" ]; then echo "ok - $kind: $1"; else echo "not ok - $kind: $1: wanted $2, found $3"; failed=1; fi
}

start_worker() { # its pid goes to the end of workers
    "$program" worker --discover file:list.txt --idle 1s --lease 2s --poll 50ms --maintain 500ms \
        --handler 'x.*=discard' --handler 'gathered=discard' --log-level warn 2>>workers.log &
    workers+=($!)
}

# Another program keeps the write lock of the destination: it is down, the others go on.
lock_away() {
    { echo "begin immediate;"; sleep "$down"; echo "rollback;"; } | sqlite3 -cmd ".timeout 20000" away.db >/dev/null 2>&1 &
    locker=$!
}

# What the policies have not forwarded yet.
left() {
    home subscription ls -o json | jq '[.[]|.ready + .in_progress]|add'
}
wait_for() { # SECONDS COMMAND...: until it prints 0
    local i n=$(($1 * 4))
    shift
    for ((i = 0; i < n; i++)); do
        [ "$("$@")" != 0 ] || return 0
        sleep 0.25
    done
}
scattered_left() { home stats -o json | jq --argjson t "$messages" --argjson s "$scattered" '.ready + .waiting + .in_progress - 2 * $t - $s'; }

# How many messages of a topic there are, and how many of them are different copies: by their sources.
count() { # STORE TOPIC
    local after= page
    : >page.all
    while page=$($1 ls --topic "$2" --limit 10000 ${after:+--after $after} -o jsonl) && [ -n "$page" ]; do
        printf '%s\n' "$page" >>page.all
        after=$(printf '%s\n' "$page" | tail -n 1 | jq -r .work_id)
    done
    echo "$(wc -l <page.all) $(jq -r .causation_id page.all | sort -u | wc -l)"
}

# The three kinds of destinations, and one policy that scatters.
policies() {
    home fanout add copies t --to 'copy.{topic}' --to 'store:away/remote.{topic}' >/dev/null
    home fanout add tenants t --to tenant:who >/dev/null
    local places=() i
    for ((i = 0; i < copies; i++)); do places+=(--to "x.$i"); done
    home fanout add scatter s "${places[@]}" --then gathered >/dev/null
}

produce() { # HOW_MANY TOPIC
    seq "$1" | sed "s/.*/{\"topic\":\"$2\",\"payload\":\"m&\",\"headers\":{\"who\":\"away\"}}/" | home enqueue --batch - >/dev/null
}

trial() { # KIND
    kind=$1 home_url=$2 schema=${3:-}
    local round victim
    rm -f away.db*
    home init >/dev/null
    away init >/dev/null
    printf 'home %s %s\naway sqlite:%s boxcar\n' "$home_url" "${schema:-boxcar}" "$work/away.db" >list.txt
    policies
    start_worker
    start_worker
    for ((round = 0; round < kills; round++)); do
        produce $((messages / kills)) t
        produce $((scattered / kills)) s
        [ "$round" != $((kills / 3)) ] || lock_away
        sleep "0.$((RANDOM % 5 + 1))"
        victim=$((RANDOM % 2))
        kill -KILL "${workers[victim]}"
        wait "${workers[victim]}" 2>/dev/null || true
        start_worker
        workers[victim]=${workers[-1]}
        unset 'workers[-1]'
    done
    wait_for 240 left
    wait_for 120 scattered_left
    check "everything was forwarded" 0 "$(left)"
    check "each message has its copy" "$messages $messages" "$(count home copy.t)"
    check "each has it in the other store" "$messages $messages" "$(count away remote.t)"
    check "each has it in its tenant's store" "$messages $messages" "$(count away t)"
    for ((round = 0; round < copies; round++)); do
        check "each scattered message has copy $round" "$scattered $scattered" "$(count home x.$round)"
    done
    check "each scattered message has one continuation" "$scattered $scattered" "$(count home gathered)"
    check "no message is a dead letter of a policy" 0 "$(home subscription ls -o json | jq '[.[].failed]|add')"
    check "no message is lost" 0 "$(home doctor --audit -o json | jq '[.[]|select(.check=="audit" and .severity!="ok")]|length')"
    for victim in "${workers[@]}"; do
        kill -TERM "$victim"
        local status=0
        wait "$victim" || status=$?
        check "a worker ends well" 0 "$status"
    done
    workers=()
}

messages=$((messages / kills * kills)) scattered=$((scattered / kills * kills))
trial file "sqlite:$work/home.db"
if [ -n "${BOXCAR_TEST_POSTGRES:-}" ]; then
    trial schema "$BOXCAR_TEST_POSTGRES" "fanout_trial_$$"
fi
[ "$failed" = 0 ] || { echo "seed $seed"; tail -n 50 workers.log; }
exit "$failed"
