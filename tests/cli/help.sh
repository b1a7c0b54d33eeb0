# Help: every command has a description, options and examples that run; unknown words get a
# suggestion. BX-011
. "$BOXCAR_TEST_DIR/support/lib.sh"

commands='init settings config enqueue worker claim ack abandon defer fail renew reap show ls stats store store.ls cancel dead
dead.ls dead.show dead.replay dead.purge subscription subscription.add subscription.ls subscription.show subscription.pause
subscription.resume subscription.change subscription.rewind subscription.rm fanout fanout.add fanout.ls fanout.show fanout.pause fanout.resume
fanout.rewind fanout.rm schedule schedule.add schedule.ls schedule.show schedule.pause schedule.resume schedule.complete
schedule.plan schedule.rm join join.start join.attach join.complete join.fail join.wait join.cancel
join.show join.ls stream stream.ls stream.show stream.resume stream.skip stream.policy instance instance.ls inbox inbox.enqueue
inbox.check inbox.show inbox.ls inbox.revive event event.append event.read event.follow maintain doctor bench version help'

exits "help" 0 boxcar help
overview=$out
exits "--help" 0 boxcar --help
is "the same" "$overview" "$out"
exits "-h" 0 boxcar -h
is "the same" "$overview" "$out"
is "nothing on standard error" "" "$err"
is "the overview lists exactly the commands" "$(printf '%s' "$commands" | tr ' ' '\n' | tr . ' ')" \
    "$(printf '%s\n' "$overview" | sed -n '/^Set up:/,/^Global options:/s/^  \(.*[^ ]\)   *.*/\1/p' | sed 's/  .*//')"
is "in sections" "Set up,Send,Work,Work by hand,Look,Dead letters,Subscriptions,Fanout and schedules,Joins,Streams,Inbox,Events,Upkeep,About boxcar" \
    "$(printf '%s\n' "$overview" | sed -n '/^Set up:/,/^Global options:/s/^\([A-Z].*\):$/\1/p' | sed '$d' | paste -sd,)"

# A fact that surprises authors of handlers.
exits "help worker" 0 boxcar help worker
like "what a program's environment is" "*of the worker's environment only PATH, *" "$out"

# The same for programs.
exits "help --words" 0 boxcar help --words
is "lists exactly the commands" "$(printf '%s' "$commands" | tr ' ' '\n' | tr . ' ')" \
    "$(printf '%s\n' "$out" | awk -F '\t' '$1 == "command" { print $2 }')"
is "every line has its fields" "command 3,option 7" \
    "$(printf '%s\n' "$out" | awk -F '\t' '{ print $1, NF }' | sort -u | paste -sd,)"
is "choices are those of the description" "option,ls,--status,,STATUS,ready waiting in_progress done failed" \
    "$(printf '%s\n' "$out" | awk -F '\t' -v OFS=, '$2 == "ls" && $3 == "--status" { print $1, $2, $3, $4, $5, $6 }')"
is "and only of those that are lists" "box log-format log-level output reason state status" \
    "$(printf '%s\n' "$out" | awk -F '\t' '$1 == "option" && $6 != "" { print substr($3, 3) }' | sort -u | xargs)"
refuses "help --words about a command" 2 "*unexpected argument 'ls'*" boxcar help --words ls

# What the examples talk about: a store with message 1 in the state that the command needs, and a
# join that waits for a step.
join=0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69
step=0190f3c2-8c2f-7d3e-8b66-4a2e3d5c6b70
prepare() {
    rm -rf examples
    mkdir examples
    export BOXCAR_STORE=sqlite:$PWD/examples/store.db
    boxcar init >/dev/null
    case $1 in # message 1 is the inbox's then
    inbox | inbox.show | inbox.revive) boxcar inbox enqueue shop order-42 orders.paid 42 >/dev/null ;;
    esac
    for n in 1 2 3; do
        boxcar enqueue orders.paid "$n" >/dev/null
    done
    case $1 in
    ack | abandon | defer | fail | renew | doctor) claim_all ;;
    dead.*)
        claim_all
        boxcar fail --owner "$owner" 1 >/dev/null
        ;;
    inbox.revive) boxcar cancel --box inbox 1 >/dev/null ;;
    join.complete | join.fail)
        boxcar join start --expected 3 --join-id "$join" >/dev/null
        boxcar join attach "$join" "$step" >/dev/null 2>&1
        ;;
    stream | stream.resume)
        boxcar stream policy 'order-*' halt >/dev/null
        boxcar enqueue orders.paid 4 --stream order-42 >/dev/null
        claim_all
        boxcar fail --owner "$owner" 4 >/dev/null
        ;;
    stream.show | stream.skip) boxcar enqueue orders.paid 4 --stream order-42 >/dev/null ;;
    stream.policy) boxcar stream policy 'order-*' halt >/dev/null ;;
    subscription.add) ;;
    subscription.*) boxcar subscription add audit '*' --from beginning >/dev/null ;;
    fanout.add | schedule.add) ;;
    fanout.*) boxcar fanout add copies 'orders.*' --to audit --from beginning >/dev/null ;;
    schedule.*) boxcar schedule add reindex products --every 15m >/dev/null ;;
    join.*) boxcar join start --expected 3 --join-id "$join" >/dev/null ;;
    esac
}

for dotted in $commands; do
    name=${dotted/./ }
    # shellcheck disable=SC2086
    exits "help $name" 0 boxcar help $name
    text=$out
    like "has a usage, options, examples and exit statuses" \
        "boxcar $name: *Usage:*  boxcar $name*Global options:*Examples:*boxcar $name*Exit status:*" "$text"
    # shellcheck disable=SC2086
    exits "$name --help" 0 boxcar $name --help
    is "the same" "$text" "$out"
    is "no line is longer than 110 characters" "" "$(printf '%s\n' "$text" | grep -v '^  .*boxcar' | grep -E '.{111}')"
    while IFS= read -r example; do
        prepare "$dotted"
        [ -n "$example" ] || continue
        exits "example: $example" 0 sh -c "cd examples && $example"
    done < <(printf '%s\n' "$text" | sed -n '/^Examples:/,/^$/s/^  //p')
done
export BOXCAR_STORE=$BOXCAR_TEST_STORE

refuses "help about an unknown command" 2 "*unknown command 'clam', did you mean 'claim'*" boxcar help clam
refuses "help about too much" 2 "*unexpected argument*" boxcar help ls ls
exits "--help wins over missing arguments" 0 boxcar ack --help

refuses "no command" 2 "boxcar: no command given: see boxcar help" boxcar
while read -r typed meant; do
    refuses "unknown command $typed" 2 "boxcar: unknown command '$typed', did you mean '$meant'? See boxcar help" boxcar "$typed"
done <<'EOF'
enqeue enqueue
enque enqueue
calim claim
stat stats
setings settings
deed dead
EOF
refuses "unknown command frobnicate" 2 "boxcar: unknown command 'frobnicate'*see boxcar help*" boxcar frobnicate x
refuses "a command with a blank in it" 2 "*unknown command 'dead ls'*" boxcar 'dead ls'
refuses "an empty command" 2 "*unknown command ''*" boxcar ''
refuses "an unknown option" 2 "boxcar: ls: unknown option --limt, did you mean --limit? See boxcar help ls" boxcar ls --limt 5
refuses "an unknown option, nothing near" 2 "boxcar: ls: unknown option --xyzzy: see boxcar help ls" boxcar ls --xyzzy
refuses "an unknown option with a value" 2 "*unknown option --xyzzy: *" boxcar ls --xyzzy=secret
refuses "an unknown option before the command" 2 "boxcar: unknown option --stoer, did you mean --store*" boxcar --stoer x ls
refuses "an unknown letter" 2 "*unknown option -x*" boxcar ls -x
refuses "an option of another command" 2 "*unknown option --owner*" boxcar ls --owner "$owner"
refuses "a negative number as an argument" 2 "*put -- before*" boxcar show -5
refuses "an option without its value" 2 "*--limit needs a value*" boxcar ls --limit
refuses "a flag with a value" 2 "*--once takes no value*" boxcar maintain --once=yes

# Global options before and after the command, and their values.
enqueue t x
for line in "-o json ls" "ls -o json" "--output=json ls" "ls --output json" "-o jsonl ls -o json"; do
    # shellcheck disable=SC2086
    exits "boxcar $line" 0 boxcar $line
    is "an array" array "$(json type)"
done
exits "between the words of a command" 0 boxcar dead -o json ls
is "an array" array "$(json type)"
refuses "an unknown format" 2 "*--output is 'xml': give table, json or jsonl" boxcar ls -o xml
refuses "an unknown log level" 2 "*--log-level is 'loud'*" boxcar ls --log-level loud
refuses "an unknown log format" 2 "*--log-format is 'xml'*" boxcar ls --log-format xml

finish
