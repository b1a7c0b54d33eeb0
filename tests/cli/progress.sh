# Progress: a line for users who wait, only on a terminal, wiped away at the end.
. "$BOXCAR_TEST_DIR/support/lib.sh"
command -v script >/dev/null || exit 77
wipe=$'\r\033[K'

# on_terminal COMMAND [NAME]: standard error is a terminal, which writes to NAME.txt (terminal.txt); standard output
# goes to out.txt.
on_terminal() {
    TERM=${term:-xterm} script -qefc "{ $1; } 2>&1 >out.txt" /dev/null >"${2:-terminal}.txt" </dev/null || true
    terminal=$(cat "${2:-terminal}.txt")
}

# Until the file `go` is there nobody else can write to the store.
hold_store() {
    rm -f held go
    if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
        sqlite3 "${BOXCAR_TEST_STORE#sqlite:}" 'begin immediate' '.shell touch held' \
            '.shell until [ -e go ]; do sleep 0.05; done' 'commit' &
    else
        psql -qX "$BOXCAR_TEST_STORE" -c "begin; lock table $BOXCAR_SCHEMA.dead, $BOXCAR_SCHEMA.message in access exclusive mode" \
            -c '\! touch held' -c '\! until [ -e go ]; do sleep 0.05; done' -c commit &
    fi
    holder=$!
    wait_for test -e held
}

# shows NAME PATTERN COMMAND: holds the store until the terminal shows a line that matches.
shows() {
    local pid
    hold_store
    rm -f terminal.txt
    on_terminal "$3" &
    pid=$!
    wait_for grep -qa -- "$2" terminal.txt
    touch go
    wait "$holder"
    wait "$pid"
    like "$1: shows what it does" "*$wipe$2*" "$(cat terminal.txt)"
    like "$1: and wipes it away" "*$wipe" "$(cat terminal.txt)"
}

bury orders.paid x
printf '{"topic": "t", "payload": "%s"}\n' 1 2 3 >messages.jsonl

shows "dead replay" "working through dead letters, 0 s" "boxcar dead replay --all"
is "the result is on standard output alone" 1 "$(cat out.txt)"
claim_all
boxcar fail --owner "$owner" "$id" >/dev/null
shows "dead purge" "working through dead letters" "boxcar dead purge --all -o json"
is "which stays JSON" '{"purged":1}' "$(cat out.txt)"
shows "enqueue --batch" "storing 3 messages" "boxcar enqueue --batch messages.jsonl"
is "all are stored" 3 "$(wc -l <out.txt | tr -d ' ')"
shows "maintain" "reaping, expiring and purging" "boxcar maintain --once"
shows "bench" "storing messages" "boxcar bench --messages 2"

# Reading counts; a complaint takes the place of the line.
shown="timeout 20 sh -c 'until grep -qa \"reading messages: 3\" terminal.txt; do sleep 0.05; done'"
on_terminal "{ cat messages.jsonl; $shown; } | boxcar enqueue --batch -"
like "reading is shown, with a count" "*${wipe}reading messages: 3, 0 s*$wipe" "$terminal"
on_terminal "{ cat messages.jsonl; $shown; echo '{'; } | boxcar enqueue --batch -"
like "a complaint stands alone in its line" "*${wipe}boxcar: enqueue: line 4: *" "$terminal"
is "and nothing is left of the progress" "$wipe" "${terminal##*$'\n'}"

# Nothing of it where nobody would see it, or a terminal cannot do it. The work is long enough to be shown elsewhere: a
# witness that began later has shown its own. The messages do not fit into a pipe, so they were begun to be read.
printf '{"topic": "t", "payload": "%70000s"}\n' 1 2 3 >large.jsonl
slow_messages='{ cat large.jsonl; touch begun; until [ -e seen ]; do sleep 0.05; done; }'
await_witness() {
    wait_for test -e begun
    on_terminal "{ cat messages.jsonl; ${shown//terminal.txt/witness.txt}; } | boxcar enqueue --batch -" witness
    like "a witness shows that it reads" "*reading messages: 3*" "$terminal"
    touch seen
    wait "$quiet"
    rm begun seen
}
sh -c "$slow_messages | boxcar enqueue --batch - >quiet.txt 2>err.txt" &
quiet=$!
await_witness
is "not in a file" "" "$(cat err.txt)"
term=dumb on_terminal "$slow_messages | boxcar enqueue --batch -" dumb &
quiet=$!
await_witness
is "not on a dumb terminal" "" "$(cat dumb.txt)"
on_terminal "boxcar enqueue --batch messages.jsonl"
unlike "short work does not flicker" "*messages*" "$terminal"

finish
