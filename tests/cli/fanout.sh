# boxcar fanout add, ls, show, pause, resume, rewind and rm; subscriptions of policies.
# BX-097, BX-098, BX-099
. "$BOXCAR_TEST_DIR/support/lib.sh"

fields='name,destination,subscription,box,patterns,then_topic,else_topic,only,status,number,ready,in_progress,failed,oldest_unread_at,lag_seconds'
# about SUBSCRIPTION FILTER: of what show prints
about() { boxcar subscription show "$1" -o json | jq -r "$2"; }

# ---- add, ls, show ----
exits "no command" 2 boxcar fanout
like "says which there are" "*give add, ls, show, pause, resume, rewind or rm*" "$err"
exits "ls of none" 0 boxcar fanout ls -o json
is "is an empty array" '[]' "$out"
exits "add" 0 boxcar fanout add copies 'orders.*' mail --to 'audit.{topic}' --to store:search/inbox
is "prints the name" copies "$out"
exits "add with a join" 0 boxcar fanout add checks order.new --to check.stock --to check.credit --then order.checked --else order.refused --from beginning -o json
is "an object" '{"fanout":"checks"}' "$out"
exits "add of the inbox" 0 boxcar fanout add incoming 'in.*' --to tenant:x-tenant --box inbox --only
refuses "a name that is taken" 4 "*copies*" boxcar fanout add copies x --to y
refuses "no name" 2 "*NAME is missing*" boxcar fanout add
refuses "no pattern" 2 "*PATTERN is missing*" boxcar fanout add a --to b
refuses "no destination" 2 "*--to is missing*" boxcar fanout add a b
refuses "a slash" 2 "*reserved*" boxcar fanout add a/b x --to y
refuses "a bad pattern" 2 "*before its end*" boxcar fanout add a 'x*y' --to z
refuses "a bad destination" 2 "*--to has a \**" boxcar fanout add a x --to 'y*'
refuses "a placeholder that there is not" 2 "*--to*{topic} is the only placeholder*" boxcar fanout add a x --to '{tenant}'
refuses "no name of a store" 2 "*--to has no name of a store*" boxcar fanout add a x --to store:
refuses "a destination twice" 2 "*--to is there twice*" boxcar fanout add a x --to y --to y
refuses "else without then" 2 "*--else needs a then_topic*" boxcar fanout add a x --to y --else z
refuses "a join over stores" 2 "*a join spans none*" boxcar fanout add a x --to store:b --then z
refuses "a bad place" 2 "*--from*" boxcar fanout add a x --to y --from yesterday
refuses "a bad box" 2 "*--box*" boxcar fanout add a x --to y --box letter
refuses "a circle" 4 "*a copy would come back: back -> copies -> back*" boxcar fanout add back 'audit.*' --to mail
exits "ls" 0 boxcar fanout ls -o json
is "a row for each destination" 'checks check.stock checks/all,checks check.credit checks/all,copies audit.{topic} copies/audit.{topic},copies store:search/inbox copies/store:search/inbox,incoming tenant:x-tenant incoming/tenant:x-tenant' \
    "$(json 'map("\(.name) \(.destination) \(.subscription)")|join(",")')"
is "fields" "$fields" "$(json '.[0]|keys_unsorted|join(",")')"
is "rules" 'outbox order.new order.checked order.refused false running' \
    "$(json '.[0]|[.box, (.patterns|join(",")), .then_topic, .else_topic, .only, .status]|map(tostring)|join(" ")')"
is "of the inbox" 'inbox in.* null true' "$(json '.[4]|[.box, (.patterns|join(",")), .then_topic, .only]|map(tostring)|join(" ")')"
exits "for people" 0 boxcar fanout ls
like "a table" "name *destination *box *patterns *status *ready *lag_seconds*checks *check.stock *outbox *" "$(printf '%s' "$out" | tr '\n' ' ')"
exits "show" 0 boxcar fanout show copies -o json
is "the policy" 'copies orders.*,mail null 2' "$(json '"\(.name) \(.patterns|join(",")) \(.then_topic) \(.routes|length)"')"
is "its routes" 'copies/audit.{topic} audit.{topic},copies/store:search/inbox store:search/inbox' \
    "$(json '.routes|map("\(.subscription) \(.destinations|join(" "))")|join(",")')"
exits "show for people" 0 boxcar fanout show checks
like "rules, then routes" "*then_topic*order.checked*checks/all*check.stock*" "$(printf '%s' "$out" | tr '\n' ' ')"
refuses "show of nobody" 3 '*policy "nobody"*' boxcar fanout show nobody
refuses "show without a name" 2 "*NAME is missing*" boxcar fanout show

# ---- its subscriptions ----
exits "subscriptions" 0 boxcar subscription ls -o json
is "show where they forward to" 'check.stock check.credit' "$(json '.[]|select(.name=="checks/all").destinations|join(" ")')"
is "and what follows" 'order.checked order.refused' "$(json '.[]|select(.name=="checks/all")|"\(.then_topic) \(.else_topic)"')"
boxcar subscription add plain x >/dev/null
is "a plain one forwards nowhere" null "$(about plain .destinations)"
refuses "the name of a policy" 4 "*copies*" boxcar subscription add copies x
refuses "the name of a subscription" 4 "*plain*" boxcar fanout add plain x --to y
refuses "rm of one" 4 '*belongs to the policy "copies"*boxcar fanout rm copies removes it whole*' boxcar subscription rm 'copies/audit.{topic}' --force
refuses "patterns of one" 4 '*belongs to the policy "copies"*' boxcar subscription change 'copies/audit.{topic}' x
exits "a limit of one" 0 boxcar subscription change 'copies/audit.{topic}' --max-lag 50
is "is its own" "50 null" "$(about 'copies/audit.{topic}' .max_lag_count) $(about copies/store:search/inbox .max_lag_count)"
boxcar enqueue mail m1 >/dev/null
is "a destination has what matches" m1 "$(boxcar claim --subscription copies/store:search/inbox --owner "$owner" --lease 1h | jq -r .payload)"
is "the other one still has it" 1 "$(boxcar stats --subscription 'copies/audit.{topic}' -o json | jq .ready)"

# ---- pause, resume, rewind, rm ----
exits "pause" 0 boxcar fanout pause copies
is "prints the name" copies "$out"
is "every destination" "paused paused" "$(boxcar fanout show copies -o json | jq -r '.routes|map(.status)|join(" ")')"
exits "resume" 0 boxcar fanout resume copies
exits "pause of one" 0 boxcar subscription pause 'copies/audit.{topic}'
is "is of one" "paused running" "$(boxcar fanout show copies -o json | jq -r '.routes|map(.status)|join(" ")')"
exits "resume of all" 0 boxcar fanout resume copies
is "resumes it" "running running" "$(boxcar fanout show copies -o json | jq -r '.routes|map(.status)|join(" ")')"
exits "rewind" 0 boxcar fanout rewind copies --to beginning -o json
is "says how many are ahead" 2 "$(json .ahead)"
refuses "rewind to nowhere" 2 "*--to is missing*" boxcar fanout rewind copies
refuses "rewind to a bad place" 2 "*--to is 'soon'*" boxcar fanout rewind copies --to soon
boxcar claim --subscription copies/store:search/inbox --owner "$owner" --lease 1h >/dev/null
refuses "rm while it forwards" 4 "*leased*" boxcar fanout rm copies
exits "rm by force" 0 boxcar fanout rm copies --force
is "prints the name" copies "$out"
refuses "gone" 3 '*policy "copies"*' boxcar fanout show copies
for command in pause resume rm "rewind --to beginning"; do
    # shellcheck disable=SC2086
    refuses "$command of nobody" 3 '*policy "nobody"*' boxcar fanout $command nobody
done
refuses "a subscription is no policy" 3 '*policy "plain"*' boxcar fanout rm plain

finish
