# boxcar init, maintain, settings, version.
. "$BOXCAR_TEST_DIR/support/lib.sh"
newest=$(ls "$BOXCAR_TEST_DIR/../../sql/$BOXCAR_TEST_KIND/migrations" | wc -l)

# OBX-108, OBX-110
exits "init again" 0 boxcar init
is "is up to date" "schema version $newest, up to date" "$out"
exits "init again, as JSON" 0 boxcar init -o json
is "fields" 'schema_version,previous_version,applied,mended,store' "$(json 'keys_unsorted|join(",")')"
is "nothing applied" "$newest $newest 0" "$(json '"\(.schema_version) \(.previous_version) \(.applied)"')"
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    exits "init of a new file" 0 boxcar init --store sqlite:new.db
    is "applies the migration" "schema version $newest, $newest migrations applied" "$out"
    exits "init of another, as JSON" 0 boxcar init --store sqlite:newer.db -o json
    is "applied" "$newest null" "$(json '"\(.applied) \(.previous_version)"')"
else
    exits "init of a new schema" 0 boxcar init --schema "${BOXCAR_SCHEMA}_new"
    is "applies the migration" "schema version $newest, $newest migrations applied" "$out"
    psql -qX "$BOXCAR_TEST_STORE" -c "drop schema ${BOXCAR_SCHEMA}_new cascade" >/dev/null 2>&1
fi
# OBX-108: what somebody dropped
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    index=boxcar_lease_until
    sqlite3 "${BOXCAR_STORE#sqlite:}" "drop index $index"
else
    index=lease_until
    psql -qX "$BOXCAR_TEST_STORE" -c "drop index $BOXCAR_SCHEMA.$index"
fi
exits "doctor of a store that lacks an index" 1 boxcar doctor
like "names it" "*missing: the index $index*boxcar init*" "$out"
exits "init makes it again" 0 boxcar init
is "and says so" "schema version $newest, 1 object made again, up to date" "$out"
out=$(boxcar doctor -o json) || true # the test's server may be careless about its disk
is "schema is well again" ok "$(json '.[]|select(.check == "schema").severity')"
# A store of a version that was never released (BX-029).
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    old_store=(--store sqlite:old.db)
    boxcar init "${old_store[@]}" >/dev/null
    sqlite3 old.db "update boxcar_schema set version = 8, oldest_program = 1"
else
    old_store=(--schema "${BOXCAR_SCHEMA}_old")
    boxcar init "${old_store[@]}" >/dev/null
    psql -qX "$BOXCAR_TEST_STORE" -c "update ${BOXCAR_SCHEMA}_old.store set schema_version = 8, oldest_program = 1"
fi
refuses "init of an old store" 1 "*schema version 8*of version 9 and newer*docs/operations.md*" boxcar init "${old_store[@]}"
refuses "use of an old store" 1 "*schema version 8*of version 9 and newer*docs/operations.md*" boxcar stats "${old_store[@]}"
[ "$BOXCAR_TEST_KIND" = sqlite ] || \
    psql -qX "$BOXCAR_TEST_STORE" -c "drop schema ${BOXCAR_SCHEMA}_old cascade" >/dev/null 2>&1
refuses "init with an argument" 2 "*unexpected argument*" boxcar init now

# settings
exits "settings" 0 boxcar settings -o json
is "fields" 'name,value,default,help' "$(json '.[0]|keys_unsorted|join(",")')"
is "max_attempts" '10 10' "$(json '.[]|select(.name=="max_attempts")|"\(.value) \(.default)"')"
is "retention" '7d 30d' "$(json '[.[]|select(.name|startswith("retention_d"))]|sort_by(.name)|reverse|map(.value)|join(" ")')"
exits "settings for people" 0 boxcar settings
like "a heading and the names" "*name*value*default*max_attempts*" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "one setting" 0 boxcar settings max_attempts
is "its value" 10 "$out"
exits "changing it" 0 boxcar settings max_attempts 3
is "prints the new value" 3 "$out"
exits "as JSON" 0 boxcar settings max_attempts -o json
is "kept in the store" '3 10' "$(json '"\(.value) \(.default)"')"
exits "back to the default" 0 boxcar settings max_attempts --reset
is "10" 10 "$out"
refuses "an unknown setting" 3 "*did you mean 'max_attempts'*" boxcar settings max_attempt
refuses "an unknown setting, nothing near" 3 "*there is no setting 'colour'*" boxcar settings colour blue
for value in 0 -1 abc 1000001 '' 1.5; do
    refuses "max_attempts '$value'" 2 "*max_attempts*" boxcar settings -- max_attempts "$value"
done
exits "a setting that is a text" 0 boxcar settings join_wait_topic waits
is "prints the new value" waits "$out"
exits "as JSON" 0 boxcar settings join_wait_topic -o json
is "kept in the store" 'waits join.wait' "$(json '"\(.value) \(.default)"')"
exits "back to the default" 0 boxcar settings join_wait_topic --reset
is "join.wait" join.wait "$out"
refuses "a topic that is empty" 2 "*join_wait_topic*1 to 255*" boxcar settings join_wait_topic ''
refuses "a duration without a unit" 2 "*retention_done*" boxcar settings retention_done 5
refuses "too many arguments" 2 "*unexpected argument*" boxcar settings a b c
refuses "reset without a name" 2 "*--reset*" boxcar settings --reset
is "bad values changed nothing" 10 "$(boxcar settings max_attempts)"

# BX-026, OBX-106
enqueue t done
claim_all
boxcar ack --owner "$owner" "$id" >/dev/null
bury t dead
enqueue t crash
boxcar claim --owner "$owner" --lease 100ms >/dev/null
wait_past "$(boxcar show "$id" -o json | jq -r .locked_until)"
enqueue t short --ttl 1ms
wait_past "$(boxcar show "$id" -o json | jq -r .expires_at)"
boxcar settings retention_done 0 >/dev/null
boxcar settings retention_dead 0 >/dev/null
exits "maintain" 0 boxcar maintain --once -o json
is "fields" 'reaped,expired,purged_done,purged_dead,settled,timed_out,purged_joins,purged_keys' "$(json 'keys_unsorted|join(",")')"
is "reaped, expired, purged" '1 1 1' "$(json '[.reaped, .expired, .purged_done]|join(" ")')"
exits "maintain again" 0 boxcar maintain --once
like "for people" "reaped 0, expired 0, purged 0 done and * dead; joins: settled 0, timed out 0, purged 0; inbox: purged 0 keys" "$out"

# It repeats until SIGTERM or SIGINT, which are no failure.
for signal in TERM INT; do
    : >rounds.txt # of the last one
    boxcar maintain --interval 100ms -o jsonl >rounds.txt 2>err.txt &
    pid=$!
    wait_for sh -c '[ $(wc -l <rounds.txt) -ge 2 ]'
    kill -s "$signal" "$pid"
    status=0
    wait "$pid" || status=$?
    is "maintain ends cleanly on $signal" 0 "$status"
    if [ "$(wc -l <rounds.txt)" -ge 2 ]; then ok "after several rounds"; else not_ok "after several rounds"; fi
done

# It ends although the server does not answer: here it waits for a lock that nobody gives back.
if [ "$BOXCAR_TEST_KIND" = postgres ]; then
    rm -f held go
    psql -qX "$BOXCAR_TEST_STORE" -c "begin; lock table $BOXCAR_SCHEMA.lease in access exclusive mode" -c '\! touch held' \
        -c '\! until [ -e go ]; do sleep 0.05; done' -c commit &
    holder=$!
    wait_for test -e held
    boxcar maintain --once >rounds.txt 2>err.txt &
    pid=$!
    is_blocked() {
        [ "$(psql -qXAt "$BOXCAR_TEST_STORE" -c "select count(*) from pg_locks where not granted and relation = '$BOXCAR_SCHEMA.lease'::regclass")" -gt 0 ]
    }
    # While the server still works for the last maintain, this one has nothing to do and ends: then the next one will wait.
    for tries in $(seq 400); do
        ! is_blocked || break
        kill -0 "$pid" 2>/dev/null || { boxcar maintain --once >rounds.txt 2>err.txt & pid=$!; }
        sleep 0.05
    done
    if [ "$tries" -lt 400 ]; then ok "maintain waits for the lock"; else not_ok "maintain waits for the lock" "$tries tries"; fi
    kill -s TERM "$pid"
    status=0
    wait "$pid" || status=$?
    is "maintain ends on TERM although the server is silent" $((128 + 15)) "$status"
    touch go
    wait "$holder"
fi
refuses "an interval of 0" 2 "*--interval*100ms to 24h" boxcar maintain --interval 0
refuses "a malformed interval" 2 "*--interval is 'often'*" boxcar maintain --interval often

# version
exits "version" 0 boxcar version
like "for people" "boxcar [0-9]*.*.* (library *, schema $newest)" "$out"
exits "version as JSON" 0 boxcar version -o json
is "fields" 'version,library_version,schema_version' "$(json 'keys_unsorted|join(",")')"
exits "--version" 0 boxcar --version
like "the same" "boxcar [0-9]*" "$out"

finish
