# boxcar show, ls, stats: what they print and how.
. "$BOXCAR_TEST_DIR/support/lib.sh"

fields='available_at,box,causation_id,correlation_id,crash_count,created_at,died_at,due_at,epoch,event_type,expires_at,headers,last_error,locked_until,max_attempts,message_id,metadata,owner,processed_at,processed_by,reason,retry_count,stages,status,stream,topic,work_id'

# show
enqueue orders.paid $'two\nlines' --header trace=1
a=$id
exits "show by work id" 0 boxcar show "$a" -o json
is "fields" "attempts,$fields" "$(json 'del(.payload, .joins)|keys|sort|join(",")')"
is "it is in no join" "[]" "$(json .joins)"
is "it is stored, and no more is done yet" 1 "$(json .stages)"
is "the payload is there" $'two\nlines' "$(json .payload)"
is "null where nothing applies" '[null,null,null,null,null,null,null,null,null,null]' \
    "$(json '[.expires_at,.stream,.correlation_id,.last_error,.owner,.epoch,.locked_until,.processed_at,.processed_by,.reason]')"
like "created_at" "????-??-??T??:??:??.??????Z" "$(json .created_at)"
is "no history" '[]' "$(json .attempts)"
exits "show by message id" 0 boxcar show "$(json .message_id)" -o jsonl
is "the same message, on one line" "$a 1" "$(json .work_id) $(printf '%s\n' "$out" | wc -l | tr -d ' ')"
exits "show for people" 0 boxcar show "$a"
like "a field a line" "*topic *orders.paid*" "$out"
like "control characters escaped" '*two\\nlines*' "$out"

# The history of attempts.
claim_all
boxcar abandon --owner "$owner" "$a" --error 'first' --delay 0 >/dev/null
exits "show after an attempt" 0 boxcar show "$a" -o json
is "fields of the history" 'at,epoch,error,outcome,owner,retry_count' "$(json '.attempts[0]|keys|join(",")')"
is "history" "abandoned 1 first $owner" "$(json '.attempts[0]|[.outcome, .retry_count, .error, .owner]|join(" ")')"

refuses "show of a work id that does not exist" 3 "boxcar: show: *" boxcar show 999999999
refuses "show of a message id that does not exist" 3 "boxcar: show: *" boxcar show "$other"
refuses "show in the other box" 3 "boxcar: show: *" boxcar show "$a" --box inbox
refuses "show without an id" 2 "*ID is missing*" boxcar show
refuses "show of two" 2 "*unexpected argument '2'*" boxcar show 1 2
for bad in abc 0 12x 0b0e7d5e-7d2c 9223372036854775808 '' 00000000-0000-0000-0000-000000000000; do
    refuses "show of '$bad'" 2 "boxcar: show: ID is '$bad'*" boxcar show "$bad"
done
refuses "show --box nonsense" 2 "*--box is 'mail'*" boxcar show 1 --box mail

# ls
enqueue mail.send x; b=$id
enqueue orders.paid y; c=$id
enqueue orders.shipped z --delay 1h; d=$id
exits "ls" 0 boxcar ls -o json
is "newest first" "[$d,$c,$b,$a]" "$(json '[.[].work_id]')"
is "fields, no payload" "$fields" "$(json '.[0]|keys|sort|join(",")')"
exits "ls by topic" 0 boxcar ls --topic orders.paid -o jsonl
is "exact" "$c $a" "$(json .work_id | paste -sd' ')"
exits "ls by prefix" 0 boxcar ls --topic 'orders.*' -o jsonl
is "prefix" "$d $c $a" "$(json .work_id | paste -sd' ')"
exits "ls a page" 0 boxcar ls --limit 2 -o json
is "two" "[$d,$c]" "$(json '[.[].work_id]')"
exits "ls the next page" 0 boxcar ls --limit 2 --after "$c" -o json
is "two more" "[$b,$a]" "$(json '[.[].work_id]')"
exits "ls by status" 0 boxcar ls --status in_progress -o json
is "none" "[]" "$out"
exits "ls of the inbox" 0 boxcar ls --box inbox -o json
is "empty" "[]" "$out"
exits "ls for people" 0 boxcar ls
like "a heading" "*work_id*message_id*topic*status*" "$out"
is "and a line each" 5 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
is "columns are aligned" 1 "$(printf '%s\n' "$out" | awk '{ print match($0, /(ready|status)/) }' | sort -u | wc -l | tr -d ' ')"
unlike "no colours outside a terminal" $'*\033*' "$out"
refuses "an unknown status" 2 "*--status is 'lost'*" boxcar ls --status lost
refuses "a limit of 0" 2 "*--limit*1 to 10000*" boxcar ls --limit 0
refuses "a limit of 10001" 2 "*--limit*1 to 10000*" boxcar ls --limit 10001
refuses "a limit of -1" 2 "*--limit*" boxcar ls --limit -1
refuses "a limit of 2^31" 2 "*--limit*" boxcar ls --limit 2147483648
refuses "after abc" 2 "*--after is 'abc'*" boxcar ls --after abc
refuses "after 0" 2 "*--after is '0'*" boxcar ls --after 0
refuses "an empty topic" 2 "*--topic*" boxcar ls --topic ''
enqueue $'evil\033[31m\ntopic' x
exits "a topic with control characters" 0 boxcar ls --limit 1
like "is escaped" '*evil\\x1b\[31m\\ntopic*' "$out"
boxcar cancel "$id" >/dev/null
boxcar dead purge "$id" >/dev/null

# Headers that are no object, in a row that somebody wrote by hand, are shown as they are.
case $BOXCAR_TEST_STORE in
sqlite:*)
    enqueue odd x --header a=b
    sqlite3 "${BOXCAR_TEST_STORE#sqlite:}" "update boxcar_message set headers = '[1, 2]' where topic = 'odd'"
    exits "odd headers" 0 boxcar ls --topic odd -o json
    is "shown as they are" '[1,2]' "$(json '.[0].headers' | jq -c .)"
    sqlite3 "${BOXCAR_TEST_STORE#sqlite:}" "update boxcar_message set headers = 'no JSON' where topic = 'odd'"
    exits "headers that are not even JSON" 0 boxcar claim --owner "$owner" --topic odd
    is "shown as a text" 'no JSON' "$(json '.headers')"
    boxcar ack --owner "$owner" "$(json .work_id)" >/dev/null
    sqlite3 "${BOXCAR_TEST_STORE#sqlite:}" "delete from boxcar_tally where topic = 'odd'"
    ;;
esac

# stats
boxcar claim --owner "$owner" --topic mail.send >/dev/null
exits "stats" 0 boxcar stats -o json
is "fields" 'ready,waiting,in_progress,done,failed,oldest_ready_age_seconds,exact' "$(json 'keys_unsorted|join(",")')"
is "counts" '2 1 1 0 0' "$(json '[.ready,.waiting,.in_progress,.done,.failed]|join(" ")')"
is "an age is a number" number "$(json '.oldest_ready_age_seconds|type')"
exits "what is ready" 0 boxcar ls --status ready -o json
is "as many as stats says" 2 "$(json length)"
exits "what waits" 0 boxcar ls --status waiting -o json
is "as many as stats says, and its status is ready" '1 ready' "$(json '"\(length) \(.[0].status)"')"
refuses "another word" 2 "*give ready, waiting, in_progress, done or failed" boxcar ls --status pending
exits "stats by topic" 0 boxcar stats --by-topic -o json
is "a row each, with its topic" 'mail.send 0 1, orders.paid 2 0, orders.shipped 0 0' \
    "$(json '[.[]|"\(.topic) \(.ready) \(.in_progress)"]|join(", ")')"
exits "stats by topic as lines" 0 boxcar stats --by-topic -o jsonl
is "three" 3 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
exits "stats for people" 0 boxcar stats
like "a field a line" "*ready *2*" "$out"
exits "stats of the inbox" 0 boxcar stats --box inbox -o json
is "nothing ready" 0 "$(json .ready)"
refuses "stats with an argument" 2 "*unexpected argument*" boxcar stats orders

# Texts that are not UTF-8, put there by another program: each reader shows the row, and says which one it is and what of it
# is damaged. (A database of PostgreSQL's refuses them.)
if [ "$BOXCAR_TEST_KIND" = sqlite ]; then
    damage() { sqlite3 store.db "update $1 set $2 = cast(x'ff41' as text)"; }
    # shows NAME FIELD COMMAND...
    shows() {
        local name=$1 field=$2
        exits "$name" 0 "${@:3}" -o json
        like "$name: the bytes" '*\\\\xffA*' "$out"
        is "$name: the field" "[\"$field\"]" "$(json '[.. | objects | .damaged? // empty][0]')"
        like "$name: which row" "boxcar: *: warning: *_id *: $field is not UTF-8*" "$err"
        exits "$name, for people" 0 "${@:3}"
    }
    bury damaged x --correlation-id c --header a=b
    damage boxcar_message correlation_id
    shows "ls of a damaged message" correlation_id boxcar ls
    shows "show of one" correlation_id boxcar show "$id"
    like "it is named" "*work_id $id: correlation_id*" "$err"
    sqlite3 store.db "update boxcar_message set correlation_id = null"
    damage boxcar_message headers
    shows "ls with damaged headers" headers boxcar ls
    sqlite3 store.db "update boxcar_message set headers = null"
    damage boxcar_message payload
    shows "show of a damaged payload" payload boxcar show "$id"
    sqlite3 store.db "update boxcar_message set payload = 'x'"
    damage boxcar_dead last_error
    shows "dead ls" last_error boxcar dead ls
    shows "dead show" last_error boxcar dead show "$id"
    damage boxcar_attempt error
    exits "show of a damaged history" 0 boxcar show "$id"
    like "says that the history is" "*work_id $id: attempts is not UTF-8*" "$err"
    boxcar event append s opened x >/dev/null
    damage boxcar_event_row payload
    shows "event read" payload boxcar event read s
    exits "event follow" 0 boxcar event follow --once
    is "event follow: the event" '["payload"]' "$(json .damaged)"
    boxcar join start --expected 1 --grouping-key g --metadata '{}' >/dev/null
    damage boxcar_join grouping_key
    shows "join ls" grouping_key boxcar join ls
    enqueue damaged y
    good=$id
    enqueue damaged z
    sqlite3 store.db "update boxcar_message set topic = cast(x'ff41' as text) where work_id = $id"
    exits "a claim passes over a damaged message" 0 boxcar claim --owner "$owner" --batch-size 10
    is "and brings the other" "$good" "$(json 'select(.topic=="damaged").work_id')"
    like "and names it" "*field=topic*work_id=$id*" "$(tr ' ' '\n' <err.txt | sort | tr '\n' ' ')"
    exits "it is a dead letter" 0 boxcar dead show "$id" -o json
    like "that says why" "its topic is not UTF-8*" "$(json .last_error)"
    exits "and is listed" 0 boxcar dead ls -o json
    is "with the others" 1 "$(json "map(select(.work_id==$id))|length")"
    exits "the doctor names the rows" 1 boxcar doctor -o json
    is "in each table" 'boxcar_attempt boxcar_dead boxcar_event_row boxcar_join boxcar_message boxcar_tally' \
        "$(json '[.[]|select(.check=="rows").text|split(":")[0]]|unique|join(" ")')"
fi

finish
