# boxcar doctor: findings for people and programs, its exit status, the audit.
. "$BOXCAR_TEST_DIR/support/lib.sh"

# SQL straight on the store; $1 for SQLite, $2 for PostgreSQL.
sql() {
    if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
        sqlite3 "${BOXCAR_TEST_STORE#sqlite:}" "$1"
    else
        PGOPTIONS="-c search_path=$BOXCAR_SCHEMA" psql -qXAt "$BOXCAR_TEST_STORE" -c "$2"
    fi
}
# What is about the machine these tests run on: not the store's fault.
machine='select(.check != "connection" and .check != "disk")'
worst() {
    json "[.[] | $machine | {ok: 0, note: 1, warning: 2, problem: 3}[.severity]] | max"
}
# 1 when the server or the disk is a warning by itself.
boxcar doctor -o json >machine.json || true
careless=$(jq '[.[] | select(.severity == "warning" or .severity == "problem")] | length' machine.json)

# A store that is well.
status=0
[ "$careless" = 0 ] || status=1
exits "a store that is well" "$status" boxcar doctor -o json
is "fields" 'check,severity,text,remedy' "$(json '.[0]|keys_unsorted|join(",")')"
is "nothing worse than ok" 0 "$(worst)"
is "each check is there" 'bloat claim clock_skew connection dead_letters expired_leases halted_streams held_snapshot oldest_ready schema stream_order unhandled_topics upkeep workers' \
    "$(json "[.[].check] | unique - [\"disk\", \"rows\", \"held_streams\"] | join(\" \")")"
is "streams held on a server only" "$([ "$BOXCAR_TEST_KIND" = sqlite ] && echo 0 || echo 1)" "$(json '[.[]|select(.check=="held_streams")]|length')"
is "rows in files only" "$([ "$BOXCAR_TEST_KIND" = sqlite ] && echo 1 || echo 0)" "$(json '[.[]|select(.check=="rows")]|length')"
is "nothing to do" '[]' "$(json "[.[] | $machine | .remedy | select(. != null)]")"
exits "as JSON Lines" "$status" boxcar doctor -o jsonl
is "an object a line" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" "$(printf '%s\n' "$out" | jq -s length)"
exits "for people" "$status" boxcar doctor
like "a severity, a check, a text" "*ok       schema            schema version *" "$out"
unlike "no colours where there is no terminal" "*$(printf '\033')*" "$out"
is "nothing on standard error" "" "$err"
exits "on a terminal" "$status" script -qec 'boxcar doctor' /dev/null
like "in colours" "*$(printf '\033[32mok')*" "$out"
exits "on a terminal, without colours" "$status" env NO_COLOR=1 script -qec 'boxcar doctor' /dev/null
unlike "NO_COLOR counts" "*$(printf '\033')*" "$out"

# Dead letters are a note, which is no failure (BX-025).
bury orders.paid s3cret
exits "a dead letter" "$status" boxcar doctor -o json
is "is a note" 'note boxcar dead ls' "$(json '.[]|select(.check=="dead_letters")|"\(.severity) \(.remedy[:14])"')"

# A message without a worker is a warning.
enqueue orders.paid s3cret
exits "a message that nobody handles" 1 boxcar doctor -o json
is "is a warning" warning "$(json '.[]|select(.check=="workers")|.severity')"
exits "for people" 1 boxcar doctor
like "and what to do stands below it" "*warning  workers           no worker has reported*
         -> start one: boxcar worker*" "$out"
# BX-010
unlike "no payload anywhere" "*s3cret*" "$out$err"
exits "the other box" "$status" boxcar doctor --box inbox -o json
is "has no such message" ok "$(json '.[]|select(.check=="workers")|.severity')"

# BX-024
sql "insert into boxcar_instance_row values (x'01', 0, 'alpha', 1, 1, '[\"mail.*\"]', 0, strftime('%s') * 1000000)" \
    "insert into instance_row values (gen_random_uuid(), 0, 'alpha', 1, 1, '{}', '{mail.}', now(), now())"
exits "a topic that the only worker does not handle" 1 boxcar doctor -o json
like "is named" "no running worker handles orders.paid: 1 ready*" "$(json '.[]|select(.check=="unhandled_topics")|.text')"
like "the worker is counted" "1 worker on 1 host: alpha (1)" "$(json '.[]|select(.check=="workers")|.text')"
# A topic may hold anything that is text: it does not reach the terminal as it is.
boxcar enqueue "$(printf 'red\033[31m')" p >/dev/null
exits "control characters in a topic" 1 boxcar doctor
like "are escaped" '*handles red\\x1b*' "$out"

# The audit.
exits "doctor does not audit by itself" 1 boxcar doctor -o json
is "no such finding" 0 "$(json '[.[]|select(.check=="audit")]|length')"
exits "with --audit" 1 boxcar doctor --audit -o json
is "nothing is lost" 'ok no message is lost' "$(json '.[]|select(.check=="audit")|"\(.severity) \(.text)"')"
is "no progress where there is no terminal" "" "$err"
claim_all
sql "delete from boxcar_lease" "delete from lease"
exits "a message without a trace" 1 boxcar doctor --audit -o json
is "is a problem" 'problem boxcar doctor --repair' "$(json '.[]|select(.check=="audit")|"\(.severity) \(.remedy)"')"
exits "--repair" 1 boxcar doctor --repair -o json
like "makes it ready again" "* lost, * of them made ready again" "$(json '.[]|select(.check=="audit")|.text')"
exits "and then" 1 boxcar doctor --audit -o json
is "nothing is lost any more" ok "$(json '.[]|select(.check=="audit")|.severity')"

# Stores that cannot be looked at (BX-029).
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    refuses "a store that is not there" 1 "*run \`boxcar init*" boxcar doctor --store sqlite:absent.db
    refuses "a folder that is not there" 5 "*" boxcar doctor --store sqlite:no/such/folder.db
else
    refuses "a schema that is not there" 1 "*boxcar init*" boxcar doctor --schema no_such_schema
    refuses "a server that is not there" 5 "*" boxcar doctor --store postgres://127.0.0.1:1/none
fi
sql "update boxcar_schema set version = 1" "update store set schema_version = 1"
refuses "an old store" 1 "*schema version 1*run \`boxcar init*" boxcar doctor
refuses "an argument" 2 "*unexpected argument*" boxcar doctor now
refuses "a box that does not exist" 2 "*--box*" boxcar doctor --box mail

finish
