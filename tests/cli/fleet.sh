# Many stores: boxcar worker with several, discovery, boxcar store ls, and the commands that look at several.
. "$BOXCAR_TEST_DIR/support/lib.sh"

here=$PWD
mkdir bin.d
# A handler that writes down which store its message is from.
cat >bin.d/note <<'SH'
#!/bin/sh
echo "$BOXCAR_STORE_ID $(cat)" >>"$1"
SH
cat >bin.d/wait <<'SH'
#!/bin/sh
echo started >>"$1"
until [ -e "$2" ]; do sleep 0.05; done
SH
chmod +x bin.d/*

# The first store is of the kind that is tested, the others are SQLite files: a mixed fleet on PostgreSQL.
one=$BOXCAR_STORE
two=sqlite:$here/two.db
three=sqlite:$here/three.db
boxcar init --store "$two" >/dev/null
boxcar init --store "$three" >/dev/null
unset BOXCAR_STORE
one_id=$(boxcar store ls --store "$one" -o json | jq -r '.[0].store')

# fill STORE PREFIX COUNT
fill() {
    seq "$3" | sed "s/.*/{\"topic\":\"t\",\"payload\":\"$2&\"}/" | boxcar enqueue --store "$1" --batch - >/dev/null
}

# runs: which stores the handled messages are from, by the prefix of their payloads, with how many in a row
runs() { awk '{ print substr($2, 1, 1) }' notes.txt | uniq -c | awk '{ print $2 ":" $1 }' | paste -sd' '; }
letters() { runs | tr -d ':0-9 '; }

worker() { timeout 60 boxcar worker --poll 50ms --handler "t=exec:$here/bin.d/note $here/notes.txt" "$@"; }
many=(--store "$one" --store "$two" --store "$three")

# ---- selection: provable by the order of the handled messages ----

# drain_in_order IS-IN-ORDER OPTION...: a store that is slow to claim, on a busy machine, is passed over; then the order may show
# the next time.
drain_in_order() {
    local try
    for try in 1 2 3 4 5; do
        rm -f notes.txt
        fill "$one" a 12; fill "$two" b 12; fill "$three" c 12
        worker --drain "${many[@]}" --concurrency 1 --batch-size 4 --batch-limit 4 "${@:2}" || return
        ! $1 || break
    done
}
longer_runs() { runs | tr ' ' '\n' | awk -F: '$2 > 4'; }
goes_round() { [ -z "$(longer_runs)" ] && letters | tr -d '\n' | grep -qE '^(abc)+[abc]{0,6}$'; }
one_by_one() { [ "$(runs)" = "a:12 b:12 c:12" ]; }

# BX-100, OBX-066, OBX-068: one batch from each store, in order.
exits "round-robin" 0 drain_in_order goes_round
is "all of them were handled" 36 "$(sort -u notes.txt | wc -l)"
like "in turn" "abcabcabc*" "$(letters)"
is "no store twice in a row, and none left out" "" "$(letters | tr -d '\n' | sed -E 's/^(abc)*//; s/^[abc]{0,6}$//')"
is "never more than a batch at a time" "" "$(longer_runs)"

# OBX-069: one store until it has nothing, then the next.
exits "drain-first" 0 drain_in_order one_by_one --select drain-first
is "one after the other" "a:12 b:12 c:12" "$(runs)"

# BX-102: no more connections than allowed, and still each store gets its share.
rm notes.txt
fill "$one" a 30; fill "$two" b 3; fill "$three" c 3
exits "one connection" 0 worker --drain "${many[@]}" --connections 1 --concurrency 1 --batch-size 5 --batch-limit 5
is "nothing is left out" 36 "$(wc -l <notes.txt)"
is "a store with much starves none" "" "$(head -n 20 notes.txt | awk '$2 ~ /^[bc]/' | wc -l | grep -vx 6)"

# BX-103, OBX-070, OBX-071, OBX-107: the store in the program's environment and in the log.
is "BOXCAR_STORE_ID is the identifier" "$one_id,sqlite:$here/three.db,sqlite:$here/two.db" \
    "$(cut -d' ' -f1 notes.txt | sort -u | paste -sd,)"
is "every line about a message names its store" 0 "$(grep 'event=handle' err.txt | grep -vc ' store=[a-z]*:')"
is "one line at the start" 1 "$(grep -c 'event=fleet .*serving 3 stores' err.txt)"

# ---- stores in trouble ----

# BX-102: one that is down delays no other; it is told once.
rm notes.txt
fill "$one" a 5; fill "$two" b 5
exits "a store that is not there" 5 worker --drain --store "$one" --store "sqlite:$here/absent.db" --store "$two"
is "the others are served" 10 "$(wc -l <notes.txt)"
is "one line about it" 1 "$(grep -c 'event=detached store=sqlite:.*absent.db' err.txt)"
like "and why it ended so" "*1 of 3 stores could not be used*absent.db*boxcar init*" "$err"
# Nor is it a failure when the worker is told to stop.
boxcar worker --store "$one" --store "sqlite:$here/absent.db" --handler t=discard 2>log.txt &
pid=$!
wait_for grep -q 'event=detached' log.txt
kill "$pid"
status=0
wait "$pid" || status=$?
is "SIGTERM is a clean end while a store is down" 0 "$status"
# BX-101: a list that takes for ever does not keep it from ending.
boxcar worker --discover "sql:$two" --handler t=discard 2>log.txt --discover-query \
    'with recursive endless(n) as (select 1 union all select n + 1 from endless) select max(n) from endless' &
pid=$!
wait_for grep -q '^SigBlk:.*[4-7c-f]...$' "/proc/$pid/status"
kill "$pid"
status=0
timeout 20 tail --pid="$pid" -f /dev/null || status=$?
is "SIGTERM during the first look" 0 "$status"
[ "$status" = 0 ] || kill -KILL "$pid"
wait "$pid" || status=$?
is "is a clean end" 0 "$status"
refuses "a store twice" 4 "*names the store sqlite:*two.db twice*" boxcar worker --drain --handler t=discard \
    --store "$two" --store "sqlite:$here/./two.db" --log-level error
refuses "an unknown kind" 2 "*--discover is 'what:x': give file:PATH, directory:PATH, sql:URL or command:PROGRAM" \
    boxcar worker --drain --handler t=discard --discover what:x
refuses "a file that is not there" 3 "*the list absent.txt cannot be read*" \
    boxcar worker --drain --handler t=discard --discover file:absent.txt --log-level error
refuses "rubbish in it" 2 "*line 2: *" sh -c 'printf "sqlite:two.db\nrubbish\n" >bad.txt
    boxcar worker --drain --handler t=discard --discover file:bad.txt --log-level error'
refuses "no connection" 2 "*--connections is 0: give 1 to 1024" boxcar worker --drain "${many[@]}" --connections 0 --handler t=discard

# ---- discovery ----

rm -f notes.txt
mkdir tenants
boxcar init --store sqlite:tenants/acme.db >/dev/null
boxcar enqueue --store sqlite:tenants/acme.db t x1 >/dev/null
exits "a directory" 0 worker --drain --discover directory:tenants
is "a store for each file" 1 "$(grep -c '/tenants/acme.db x1$' notes.txt)"
exits "a command" 0 worker --drain --discover "command:/bin/echo 'acme sqlite:tenants/acme.db'"
sqlite3 control.db "create table tenant (name, url); insert into tenant values ('acme', 'sqlite:tenants/acme.db')"
boxcar enqueue --store sqlite:tenants/acme.db t x2 >/dev/null
exits "a query" 0 worker --drain --discover sqlite:control.db --discover sql:sqlite:control.db \
    --discover-query 'select name, url from tenant'
is "its store is served" 1 "$(grep -c ' x2$' notes.txt)"
refuses "a query that is wrong" 2 "*the query cannot be run: no such table: stores*" \
    worker --drain --discover sql:sqlite:control.db --log-level error
if [ "$BOXCAR_TEST_KIND" = postgres ]; then
    exits "a query on PostgreSQL" 0 worker --drain --discover "sql:$one" --discover-query "select 'acme', 'sqlite:tenants/acme.db'"
    refuses "a wrong one" 2 "*relation \"nothing\" does not exist*" \
        worker --drain --discover "sql:$one" --discover-query 'select url from nothing' --log-level error
fi

# While it runs: new stores come, removed ones finish what they hold and go, unchanged ones are left alone.
printf 'acme sqlite:%s/tenants/acme.db\none %s %s\n' "$here" "$one" "$BOXCAR_SCHEMA" >list.txt
boxcar worker --poll 50ms --discover file:list.txt --refresh 100ms --idle 200ms --metrics 127.0.0.1:0 \
    --handler "t=exec:$here/bin.d/note $here/notes.txt" --handler "slow=exec:$here/bin.d/wait $here/started $here/go" 2>log.txt &
pid=$!
trap 'kill -KILL $pid 2>/dev/null || true' EXIT
wait_for grep -q 'event=fleet' log.txt
boxcar enqueue --store "$one" --schema "$BOXCAR_SCHEMA" t y1 >/dev/null
wait_for grep -q ' y1$' notes.txt
ok "a listed store is served"
boxcar enqueue --store sqlite:tenants/acme.db t y2 >/dev/null
wait_for grep -q ' y2$' notes.txt
printf 'two %s\n' "$two" >>list.txt
wait_for grep -q 'event=store_added .*two.db' log.txt
boxcar enqueue --store "$two" t y3 >/dev/null
wait_for grep -q ' y3$' notes.txt
ok "a new store is served"
echo rubbish >list.txt
wait_for grep -q 'event=discover .*the last list stays' log.txt
boxcar enqueue --store "$two" t y4 >/dev/null
wait_for grep -q ' y4$' notes.txt
ok "the last good list stays"
: >list.txt # nor does an empty list end all stores
is "and one line says so" 1 "$(grep -c 'event=discover ' log.txt)"
boxcar enqueue --store sqlite:tenants/acme.db slow z >/dev/null
wait_for grep -q started started
printf 'two %s\none %s %s\n' "$two" "$one" "$BOXCAR_SCHEMA" >list.txt
wait_for grep -q 'the stores are listed again' log.txt
address=$(sed -n 's/.*event=metrics .*address=\([^ ]*\).*/\1/p' log.txt | head -n 1)
wait_for sh -c "curl -s http://$address/metrics | grep -q 'boxcar_fleet_stores{state=\"leaving\"} 1'"
ok "a removed store is leaving while it holds a message"
is "and not gone" 0 "$(grep -c event=store_removed log.txt)"
touch go
wait_for grep -q 'event=store_removed .*acme.db' log.txt
is "it has finished what it held" done "$(boxcar ls --store sqlite:tenants/acme.db --topic slow -o json | jq -r '.[0].status')"
wait_for sh -c "curl -s http://$address/metrics | grep -q 'boxcar_fleet_stores{state=\"idle\"} 2'"
wait_for sh -c "! ls -l /proc/$pid/fd | grep -q 'two\.db'" # upkeep has it open for a moment
ok "no idle store holds a connection"
is "the metrics name the store" 1 "$(curl -s "http://$address/metrics" | grep -c "boxcar_fleet_messages_claimed_total{store=\"sqlite:$here/two.db\",key=\"two\"} 2")"
docs=$BOXCAR_TEST_DIR/../../docs/metrics.md
is "all of them are documented" "$(sed -n 's/^| `\(boxcar_fleet_[a-z_]*\)` | \([a-z]*\) |.*/\1 \2/p' "$docs" | sort)" \
    "$(curl -s "http://$address/metrics" | sed -n 's/^# TYPE \(boxcar_fleet_[^ ]*\) \(.*\)/\1 \2/p' | sort)"
is "unchanged stores were left alone" 0 "$(grep -c event=store_changed log.txt)"
kill "$pid"
status=0
wait "$pid" || status=$?
is "SIGTERM is a clean end" 0 "$status"

# BX-102: looks at an idle file leave no trace in it, and so it is seen at once when somebody writes to it.
mkdir quiet
boxcar init --store "sqlite:$here/quiet/a.db" >/dev/null
boxcar worker --discover directory:quiet --handler t=discard --poll 50ms --idle 0s --look 1s --maintain 1h \
    --metrics 127.0.0.1:0 2>log.txt &
pid=$!
wait_for grep -q 'event=metrics ' log.txt
address=$(sed -n 's/.*event=metrics .*address=\([^ ]*\).*/\1/p' log.txt | head -n 1)
claims() { curl -s "http://$address/metrics" | awk '$1 == "boxcar_worker_claims_total" { print $2 }'; }
has_claimed() { [ "$(claims)" -ge "$1" ]; }
wait_for has_claimed 2
before=$(stat -c '%n %y %s' quiet/*)
wait_for has_claimed "$(($(claims) + 1))"
is "looks leave the file as it is" "$before" "$(stat -c '%n %y %s' quiet/*)"
boxcar enqueue --store "sqlite:$here/quiet/a.db" t x >/dev/null
wait_for sh -c "boxcar stats --store 'sqlite:$here/quiet/a.db' -o json | jq -e '.done == 1'"
ok "what comes in is seen"
kill "$pid"
wait "$pid"

# ---- the configuration file ----

rm -f notes.txt
cat >many.ini <<INI
[fleet]
select = drain-first
connections = 2
[stores]
first = $two
second = $three
[handlers]
t = exec:$here/bin.d/note $here/notes.txt
INI
exits "it is right" 0 boxcar config --check many.ini
fill "$two" b 3; fill "$three" c 3
exits "stores of a file" 0 boxcar worker --drain --config many.ini --concurrency 1
is "in its order" "b:3 c:3" "$(runs)"
is "their keys" "first,second" "$(boxcar store ls --config many.ini -o json | jq -r '[.[].key]|join(",")')"
is "a store that is typed wins" 1 "$(boxcar store ls --config many.ini --store "$two" -o json | jq length)"
printf '[stores]\na = sqlite:x.db\na = sqlite:y.db\n' >bad.ini
refuses "a key twice" 2 "*bad.ini:3*the key 'a' is there twice*" boxcar store ls --config bad.ini

# ---- commands that look ----

boxcar enqueue --store "$two" t p1 >/dev/null
exits "store ls" 0 boxcar store ls "${many[@]}" -o json
is "a row for each" "ok 0,ok 1,ok 0" "$(json '[.[]|"\(.health) \(.ready)"]|join(",")' | tr -d '"')"
exits "with one that is down" 5 boxcar store ls --store "$two" --store sqlite:absent.db -o json
is "it has an error instead of numbers" "down null true" \
    "$(json '.[1]|"\(.health) \(.ready) \(.error|contains("boxcar init"))"' | tr -d '"')"
exits "stats of several" 0 boxcar stats "${many[@]}" -o json
is "the store comes first" "store sqlite:$here/two.db 1" "$(json '.[1]|"\(keys_unsorted[0]) \(.store) \(.ready)"' | tr -d '"')"
exits "by topic" 0 boxcar stats "${many[@]}" --by-topic
like "a column" "store*topic*ready*two.db*t*1*" "$out"
exits "ls of several" 0 boxcar ls "${many[@]}" --status ready -o json
is "which store it is in" "sqlite:$here/two.db" "$(json '.[0].store' | tr -d '"')"
exits "dead ls of several" 0 boxcar dead ls "${many[@]}" -o json
is "nothing is dead" "[]" "$out"
exits "doctor of several" 1 boxcar doctor "${many[@]}" -o json
is "each is examined" 3 "$(json '[.[].store]|unique|length')"
is "what waits is seen" "sqlite:$here/two.db workers" "$(json '.[]|select(.severity=="warning" and .check=="workers")|"\(.store) \(.check)"' | tr -d '"')"
exits "what can be read is shown" 1 boxcar stats --store "$two" --store sqlite:absent.db
like "that is" "*two.db*1*" "$out"
like "and what could not, with its store" "*boxcar: stats: sqlite:*absent.db: *" "$err"
refuses "a command for one store" 2 "boxcar: show: --store is given twice: this command works on one store" \
    boxcar show 1 "${many[@]}"
refuses "also with --discover" 2 "*--discover is for commands that work on many stores" boxcar show 1 --discover file:list.txt

finish
