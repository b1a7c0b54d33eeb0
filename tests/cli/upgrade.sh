# A store that a program of schema version 10 made and filled (tests/fixtures): brought up to date, it has everything that was in it.
. "$BOXCAR_TEST_DIR/support/lib.sh"
newest=$(ls "$BOXCAR_TEST_DIR/../../sql/$BOXCAR_TEST_KIND/migrations" | wc -l)
fixtures=$BOXCAR_TEST_DIR/../fixtures
owner=018f0000-0000-7000-8000-00000000000a
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    export BOXCAR_STORE=sqlite:old.db
    sqlite3 old.db <"$fixtures/schema-10.sqlite.sql"
else
    psql -qX "$BOXCAR_TEST_STORE" -c "set client_min_messages = error; drop schema $BOXCAR_SCHEMA cascade"
    zcat "$fixtures/schema-10.postgres.sql.gz" | sed "s/\bboxcar\b/$BOXCAR_SCHEMA/g" | psql -qX -v ON_ERROR_STOP=1 "$BOXCAR_TEST_STORE" >/dev/null
fi

# OBX-108, OBX-110
exits "stats before" 1 boxcar stats
like "says what to do" "*boxcar init*" "$err"
exits "init" 0 boxcar init
is "upgrades" "schema version $newest, upgraded from version 10" "$out"
exits "init again" 0 boxcar init
is "changes nothing" "schema version $newest, up to date" "$out"
# The fixture grows older: its lease has ended, and nothing is to be forgotten.
for setting in retention_done retention_dead retention_inbox retention_joins; do
    exits "$setting" 0 boxcar settings $setting 3650d
done
exits "stats" 0 boxcar stats -o json
is "everything is there" "13 6 3 1" "$(json '"\(.ready + .in_progress) \(.waiting) \(.done) \(.failed)"')"

# What was leased, known or dead stays so.
exits "ack of the old lease" 0 boxcar ack --owner $owner 7
is "counts" 7 "$out"
exits "the key again" 0 boxcar enqueue key.t k1 --key order-1 -o json
is "is known" true "$(json .duplicate)"
exits "the inbox key again" 0 boxcar inbox enqueue shop ext-1 in.t i1 -o json
is "is known, too" true "$(json .duplicate)"
exits "dead letters" 0 boxcar dead ls -o json
is "keep their error" "no good" "$(json '.[0].last_error')"
exits "events" 0 boxcar event read account-1 -o json
is "are there" 1 "$(json length)"

# The rest is delivered, streams in order, and the join ends with its continuation.
exits "drain" 0 boxcar worker --handler '*=discard' --drain
exits "stats after" 0 boxcar stats -o json
is "all is done" "0 0 0 23 1" "$(json '"\(.ready) \(.waiting) \(.in_progress) \(.done) \(.failed)"')"
exits "the continuation" 0 boxcar ls --topic then.t -o json
is "came once" "1 done" "$(json '"\(length) \(.[0].status)"')"
finish
