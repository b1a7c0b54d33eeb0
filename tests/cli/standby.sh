# A hot standby can be looked at, and gives the same answers as the primary once it has what that has; what would write is refused
# with the remedy. Its snapshots do not know which transactions run, so open writers are part of this.
. "$BOXCAR_TEST_DIR/support/lib.sh"

on() { # URL STATEMENT
    PGOPTIONS="-c search_path=$BOXCAR_SCHEMA" psql -qXAt "$1" -c "$2"
}
primary() { on "$BOXCAR_TEST_STORE" "$1"; }
standby() { on "$BOXCAR_TEST_POSTGRES_STANDBY" "$1"; }
follow() { # waits until the standby has what the primary has now
    local end
    end=$(primary "select pg_current_wal_lsn()")
    for _ in $(seq 600); do
        [ "$(standby "select pg_last_wal_replay_lsn() >= '$end'")" != t ] || return 0
        sleep 0.1
    done
    not_ok "the standby follows" "it does not"
}
# drained NAME ANSWER: of everything, and of the topic within a minute; on both servers
drained() {
    local ask="select _is_drained(0::smallint, null, null, '0'), _is_drained(0::smallint, '{t}', '{}', '1 minute')"
    follow
    is "$1: the primary" "$2|$2" "$(primary "$ask")"
    is "$1: the standby" "$2|$2" "$(standby "$ask")"
}
claim="select work_id from outbox_claim('$owner', '30 s', 10)"

is "it is one" t "$(standby "select pg_is_in_recovery()")"
drained "an empty store is drained" t

# Somebody enqueues and does not commit: at first nobody sees it, then claims have passed it.
coproc WRITER { PGOPTIONS="-c search_path=$BOXCAR_SCHEMA" psql -qXAt "$BOXCAR_TEST_STORE" 2>&1; }
say() { echo "$1 select 'said';" >&"${WRITER[1]}"; while read -r line <&"${WRITER[0]}" && [ "$line" != said ]; do :; done; }
say "begin; savepoint a; select enqueue('t', 'p'); release savepoint a; select enqueue('t', 'p', stream => 's');"
drained "what is not committed does not count" t
primary "select enqueue('t', 'p')" >/dev/null
drained "a message that was committed later does" f
primary "select outbox_ack('$owner', array($claim))" >/dev/null
primary "$claim" >/dev/null
drained "that one is done, and the frontier beyond both" t
say "commit;"
drained "the late ones are seen" f
primary "$claim" >/dev/null
drained "they are leased" f
primary "select outbox_ack('$owner', array(select _ids(items) from lease))" >/dev/null
drained "they are done" t

# The program.
enqueue t p
follow
BOXCAR_STORE=$BOXCAR_TEST_POSTGRES_STANDBY
exits "statistics" 0 boxcar stats -o json
is "count what is there" 1 "$(json '.ready')"
exits "a list" 0 boxcar ls -o json
exits "the doctor" 1 boxcar doctor -o json
is "says what it is" 1 "$(json '[.[]|select(.check == "connection" and (.text|test("this server is a standby")))]|length')"
is "names nobody" 'ok' "$(json '.[]|select(.check == "held_streams")|.severity')"
refuses "enqueueing" 1 "*read-only transaction: connect to the primary server" boxcar enqueue t p
refuses "upkeep" 1 "*read-only transaction: connect to the primary server" boxcar maintain --once
exits "a worker that is to drain it" 1 boxcar worker --drain --handler 't=discard'
like "says where to go" "*boxcar: worker: cannot execute *: connect to the primary server" "$err"

finish
