# What every script here begins with: small checks that print what they found, and a count.
passed=0
failed=0
owner=0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11
other=5c8d1f2a-93b4-4c1e-a7d6-1e2f3a4b5c6d

ok() {
    passed=$((passed + 1))
    echo "ok - $1"
}

not_ok() {
    failed=$((failed + 1))
    echo "not ok - $1"
    printf '%s\n' "${@:2}" | sed 's/^/    /'
}

# is NAME EXPECTED ACTUAL
is() {
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "expected: $2" "found:    $3"; fi
}

# like NAME PATTERN TEXT: a shell pattern
like() {
    # shellcheck disable=SC2254
    case $3 in
    $2) ok "$1" ;;
    *) not_ok "$1" "expected: $2" "found:    $3" ;;
    esac
}

# unlike NAME PATTERN TEXT
unlike() {
    # shellcheck disable=SC2254
    case $3 in
    $2) not_ok "$1" "not expected: $2" "found:        $3" ;;
    *) ok "$1" ;;
    esac
}

# exits NAME STATUS COMMAND...: leaves what it printed in $out and $err
exits() {
    local name=$1 wanted=$2 status=0
    shift 2
    "$@" >out.txt 2>err.txt </dev/null || status=$?
    out=$(cat out.txt)
    err=$(cat err.txt)
    if [ "$status" = "$wanted" ]; then
        ok "$name (exit $status)"
    else
        not_ok "$name" "expected exit $wanted, found $status" "stdout: $out" "stderr: $err"
    fi
}

# refuses NAME STATUS PATTERN COMMAND...: the exit status, one line on standard error that
# matches, nothing on standard output
refuses() {
    local name=$1 wanted=$2 pattern=$3
    shift 3
    exits "$name" "$wanted" "$@"
    is "$name: nothing on standard output" "" "$out"
    is "$name: one line of error" 1 "$(wc -l <err.txt | tr -d ' ')"
    like "$name: says why" "$pattern" "$err"
}

# json FILTER: of $out, compact
json() {
    printf '%s\n' "$out" | jq -cr "$1"
}

# Enqueues a message and leaves its work id in $id.
enqueue() {
    id=$(boxcar enqueue -o json "$@" | jq -r .work_id)
}

# Claims everything that is ready for $owner.
claim_all() {
    boxcar claim --owner "$owner" --lease 1h >/dev/null
}

# Makes a dead letter out of a new message; its work id is in $id.
bury() {
    enqueue "$@"
    claim_all
    boxcar fail --owner "$owner" "$id" --error 'no such customer' >/dev/null
}

# wait_for COMMAND...: until it succeeds, at most 20 seconds
wait_for() {
    local tries
    for tries in $(seq 400); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.05
    done
    not_ok "waited in vain for: $*" "$tries tries"
}

# wait_past TIME: until the clock is past a time that the store shows, like the end of a lease
wait_past() {
    wait_for sh -c "[ \$(date +%s%6N) -gt $(date -d "$1" +%s%6N) ]"
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
