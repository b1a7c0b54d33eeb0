# boxcar config and the configuration file: every setting from every source, precedence, faults by file and
# line, the example file, the documentation. BX-011, OBX-126
. "$BOXCAR_TEST_DIR/support/lib.sh"
unset BOXCAR_STORE BOXCAR_SCHEMA
docs=$BOXCAR_TEST_DIR/../../docs/configuration.md

# value SECTION KEY: "VALUE FROM" of a setting in $out
value() {
    json ".[]|select(.section==\"$1\" and .key==\"$2\")|\"\\(.value) \\(.from)\""
}

# A ~ stands for a blank.
# section key default from-file from-environment from-option bad variable option
settings() {
    cat <<'TABLE'
store url sqlite:boxcar.db sqlite:a.db sqlite:b.db sqlite:c.db - BOXCAR_STORE store
store schema boxcar one two three - BOXCAR_SCHEMA schema
store durability full normal normal - half BOXCAR_DURABILITY -
store busy_timeout 30s 1s 2s - 25h BOXCAR_BUSY_TIMEOUT -
store answer_timeout 30s 1s 2s - 25h BOXCAR_ANSWER_TIMEOUT -
worker subscription null one two three - BOXCAR_WORKER_SUBSCRIPTION subscription
worker concurrency 4 5 6 7 1025 BOXCAR_CONCURRENCY concurrency
worker batch_size 50 51 52 53 0 BOXCAR_BATCH_SIZE batch-size
worker batch_limit 1000 1001 1002 1003 0 BOXCAR_BATCH_LIMIT batch-limit
worker batch_bytes 64MiB 2MiB 3KiB 4097 1023 BOXCAR_BATCH_BYTES batch-bytes
worker lease 30s 31s 32s 33s 99ms BOXCAR_LEASE lease
worker poll 500ms 501ms 502ms 503ms 0 BOXCAR_POLL poll
worker handler_timeout 5m 0 2m 3m soon BOXCAR_HANDLER_TIMEOUT handler-timeout
worker grace 30s 0 2s 3s -1s BOXCAR_GRACE grace
worker maintain 1m 0 2m 3m 25h BOXCAR_MAINTAIN maintain
worker fail_unhandled no yes true yes maybe BOXCAR_FAIL_UNHANDLED fail-unhandled
worker fanout yes no false yes maybe BOXCAR_FANOUT fanout
worker strategy immediate interval size interval scoped BOXCAR_STRATEGY strategy
worker flush_interval 100ms 20ms 30ms 40ms 11s BOXCAR_FLUSH_INTERVAL flush-interval
worker flush_size 100 10 20 30 0 BOXCAR_FLUSH_SIZE flush-size
fleet discover null file:one.txt directory:two sql:sqlite:three.db - BOXCAR_DISCOVER discover
fleet query select~url~from~stores select~1 select~2 select~3 - BOXCAR_DISCOVER_QUERY discover-query
fleet refresh 5m 1s 2s 3s 99ms BOXCAR_REFRESH refresh
fleet select round-robin drain-first round-robin drain-first any BOXCAR_SELECT select
fleet connections 16 1 2 3 0 BOXCAR_CONNECTIONS connections
fleet idle 10s 0 2s 3s 25h BOXCAR_IDLE idle
fleet look 1m 2s 3s 4s 999ms BOXCAR_LOOK look
backoff base null 1s 2s - 1 BOXCAR_BACKOFF_BASE -
backoff factor null 1.5 3 - 0.5 BOXCAR_BACKOFF_FACTOR -
backoff cap null 10m 1h - never BOXCAR_BACKOFF_CAP -
backoff jitter null 0.25 1 - 1.5 BOXCAR_BACKOFF_JITTER -
log level info debug warn error loud BOXCAR_LOG_LEVEL log-level
log format logfmt json json json xml BOXCAR_LOG_FORMAT log-format
metrics listen null 127.0.0.1:1 127.0.0.1:2 127.0.0.1:3 - BOXCAR_METRICS metrics
TABLE
}

exits "config" 0 boxcar config -o json
is "fields" 'section,key,value,from' "$(json '.[0]|keys_unsorted|join(",")')"
is "all settings are tried below" "$(settings | cut -d' ' -f1,2)" "$(json '.[]|"\(.section) \(.key)"')"
is "all are defaults" default "$(json '[.[].from]|unique|join(",")')"
exits "config --print" 0 boxcar config --print
like "for people" "section*key*value*from*store*url*sqlite:boxcar.db*default*" "$(printf '%s' "$out" | tr '\n' ' ')"

while read -r section key default file environment option bad variable name; do
    default=${default//\~/ } file=${file//\~/ } environment=${environment//\~/ } option=${option//\~/ }
    printf '[%s]\n# a comment\n%s = %s\n' "$section" "$key" "$file" >one.ini
    exits "$section.$key: default" 0 boxcar config -o json
    is "is $default" "$default default" "$(value "$section" "$key")"
    exits "from a file" 0 boxcar config -o json --config one.ini
    is "names file and line" "$file one.ini:3" "$(value "$section" "$key")"
    exits "from the file that the environment names" 0 env BOXCAR_CONFIG=one.ini boxcar config -o json
    is "the same" "$file one.ini:3" "$(value "$section" "$key")"
    exits "the environment wins over the file" 0 env "$variable=$environment" boxcar config -o json --config one.ini
    is "names the variable" "$environment $variable" "$(value "$section" "$key")"
    exits "an empty variable is none" 0 env "$variable=" boxcar config -o json
    is "so it is the default" "$default default" "$(value "$section" "$key")"
    if [ "$name" != - ]; then
        given=("--$name" "$option")
        [[ $key != fail_unhandled && $key != fanout ]] || given=("--$name")
        exits "the command line wins over both" 0 env "$variable=$environment" boxcar config -o json --config one.ini "${given[@]}"
        is "names the option" "$option --$name" "$(value "$section" "$key")"
    fi
    [ "$bad" != - ] || continue
    printf '[%s]\n%s = %s\n' "$section" "$key" "$bad" >bad.ini
    refuses "$key = $bad in a file" 2 "boxcar: config: bad.ini:2: $key is *$bad*: give *" boxcar config --check bad.ini
    refuses "for the worker too" 2 "boxcar: worker: bad.ini:2: $key is *$bad*: give *" boxcar worker --handler t=discard --config bad.ini
    refuses "in the environment" 2 "boxcar: config: $variable is *$bad*: give *" env "$variable=$bad" boxcar config
    [[ $name != - && $key != fail_unhandled && $key != fanout ]] || continue
    refuses "on the command line" 2 "boxcar: config: --$name is *$bad*: give *" boxcar config "--$name" "$bad"
done < <(settings)

exits "--no-fanout" 0 boxcar config -o json --no-fanout
is "is no" "no --fanout" "$(value worker fanout)"

# --help of worker is made from the table.
exits "worker --help" 0 boxcar worker --help
like "says range and default" "*--lease DUR *100ms to 24h (default 30s)*" "$out"
like "of counts" "*--concurrency N *1 to 1024 (default 4)*" "$out"
is "has all of its options" "$(settings | awk '$9 != "-" && $1 != "store" && $1 != "log" && $2 != "discover" && $2 != "query" { print "--" $9 }')" \
    "$(printf '%s\n' "$out" | sed -n '/^Options:/,/^$/s/^ *\(--[a-z-]*\).*/\1/p' | grep -vxE -e '--(handler|inbox-handler|drain|owner|no-fanout)')"

# Faults, all of them, each with its line and what is meant.
cat >faults.ini <<'INI'
early = 1
[wroker]
anything = goes
[worker]
leese = 30s
level = info
nonsense
lease = 10s
lease = 20s
[backoff mail.*]
base = 1s
base = 2s
colour = red
[handlers]
a = discard
a = exec:/bin/cat
b = run:/bin/cat
c = exec:/no/such/program
d = exec:'unfinished
INI
exits "a file with faults" 2 boxcar config --check faults.ini
is "nothing on standard output" "" "$out"
while IFS= read -r fault; do
    like "says: $fault" "*boxcar: config: $fault*" "$err"
done <<'FAULTS'
faults.ini:1: 'early' stands before the first ?section?
faults.ini:2: unknown section ?wroker?, did you mean ?worker??
faults.ini:5: unknown key 'leese' in ?worker?, did you mean 'lease'?
faults.ini:6: level does not belong in ?worker? but in ?log?
faults.ini:7: give ?section?, key = value, or a comment
faults.ini:9: lease is set twice, first at faults.ini:8
faults.ini:12: base of ?backoff mail.?? is set twice, first at faults.ini:11
faults.ini:13: unknown key 'colour' in ?backoff mail.??
faults.ini:16: topic 'a' has a handler already, from faults.ini:15
faults.ini:17: the handler of 'b' is 'run:/bin/cat': give exec:COMMAND or discard
faults.ini:18: the handler of 'c'*
faults.ini:19: the handler of 'd'*
FAULTS
is "one line for each fault and no more" 12 "$(wc -l <err.txt | tr -d ' ')"
unlike "an unknown section is complained about once" "*anything*" "$err"
refuses "a file that is not there" 2 "boxcar: config: missing.ini: No such file*" boxcar config --check missing.ini
refuses "a name that no subscription can have" 2 "*subscription is that of a main reader*" \
    boxcar config --check <(printf '[worker]\nsubscription = outbox\n')
refuses "a metrics address that is none" 2 "*:2: listen is 'xx': give ADDRESS:PORT*" \
    boxcar config --check <(printf '[metrics]\nlisten = xx\n')
refuses "a store that is none" 2 "*url has an unknown form*" boxcar config --check <(printf '[store]\nurl = foo\n')
refuses "a folder" 2 "boxcar: config: ./: *" boxcar config --check ./
refuses "a backoff of no topic" 2 "*:1: unknown section ?backoff ?, did you mean ?backoff??" boxcar config --check <(echo '[backoff ]')
refuses "a backoff of a topic that cannot be" 2 "*: *topics is too long: give at most 255 characters" \
    boxcar config --check <(printf '[backoff %s]\nbase = 1s\n' "$(printf 'x%.0s' $(seq 256))")
refuses "an empty unknown section" 2 "*:1: unknown section*" boxcar config --check <(echo '[strange]')
exits "a broken file stops every command" 2 boxcar version --config faults.ini

# What the format allows.
{
    printf '\xef\xbb\xbf[worker]\r\n  lease = 45s\r\n\tpoll=7ms\r\n; a comment\r\n[handlers]\r\n'
    printf 'semicolon = exec:/bin/echo a ; b # c\r\n'
    printf 'long = exec:/bin/echo %s\r\n' "$(printf 'x%.0s' $(seq 4000))"
    printf '[backoff %s]\r\ncap = 9s\r\n' "$(printf 'topic.%.0s' $(seq 30))"
} >format.ini
exits "a byte order mark, carriage returns, indented lines, long lines" 0 boxcar config -o json --config format.ini
is "an indented line is a line" "7ms format.ini:3" "$(value worker poll)"
is "a semicolon is no comment" "exec:/bin/echo a ; b # c" "$(json '.[]|select(.key=="semicolon").value')"
is "a long command is whole" 4015 "$(json '.[]|select(.key=="long").value|length')"
is "a long section is whole" 188 "$(json '.[]|select(.key=="cap" and .value=="9s").section|length')"
printf '[handlers]\nt = exec:%s\n' "$(printf 'x%.0s' $(seq 9000))" >toolong.ini
refuses "a line that is too long" 2 "*toolong.ini:2: the line is too long" boxcar config --check toolong.ini
printf '[handlers]\na\0b = discard\n' >nul.ini
refuses "a NUL byte" 2 "*nul.ini:2: the line contains a NUL byte" boxcar config --check nul.ini
printf '[handlers]\na\xff = discard\n' >latin.ini
refuses "bytes that are not UTF-8" 2 "*latin.ini:2: the line is not valid UTF-8" boxcar config --check latin.ini
: >empty.ini
exits "an empty file" 0 boxcar config --check empty.ini
is "is right" "empty.ini: ok" "$out"

printf '[handlers]\na:b = discard\n' >colon.ini
refuses "a topic with a colon" 2 "*colon.ini:2: the handler of 'a' is 'b = discard': give *" boxcar config --check colon.ini

# Handlers of the file and of the command line add up.
printf '[handlers]\na = discard\n' >handlers.ini
exits "handlers" 0 boxcar config -o json --config handlers.ini --handler 'b=c=exec:/bin/cat x=exec:y'
is "of the file" "discard handlers.ini:2" "$(value handlers a)"
printf '[inbox_handlers]\na = discard\n' >>handlers.ini
exits "handlers of both boxes" 0 boxcar config -o json --config handlers.ini --inbox-handler 'c=exec:/bin/cat'
is "of the inbox, the same topic" "discard handlers.ini:4" "$(value inbox_handlers a)"
is "of the inbox, of the command line" "exec:/bin/cat --inbox-handler" "$(value inbox_handlers c)"
refuses "two for one topic of the inbox" 2 "*--inbox-handler: topic 'a' has a handler already, from handlers.ini:4" \
    boxcar config --config handlers.ini --inbox-handler a=discard
exits "handlers" 0 boxcar config -o json --config handlers.ini --handler 'b=c=exec:/bin/cat x=exec:y'
is "of the command line, the topic with an equals sign" "exec:/bin/cat x=exec:y --handler" "$(value handlers 'b=c')"

# --defaults: an example that is right as it is, and right with every line switched on.
exits "--defaults" 0 boxcar config --defaults
boxcar config --defaults >example.ini
exits "parses" 0 boxcar config --check example.ini
exits "and changes nothing" 0 boxcar config -o json --config example.ini
is "everything is a default" default "$(json '[.[].from]|unique|join(",")')"
sed 's/^#\([^ ]\)/\1/' example.ini >all.ini
exits "with every line switched on it parses" 0 boxcar config --check all.ini
exits "and holds" 0 boxcar config -o json --config all.ini
is "a value for every setting" "" "$(json '.[]|select(.value==null or .from=="default")|.key')"
while read -r section key default _; do
    [ "$default" = null ] && continue
    is "$section.$key shows its default" "${default//\~/ }" "$(value "$section" "$key" | sed 's/ [^ ]*$//')"
done < <(settings)

# The documentation shows the table as it is.
exits "--docs" 0 boxcar config --docs
is "docs/configuration.md has this table" "$out" \
    "$(sed -n '/^<!-- settings: begin -->$/,/^<!-- settings: end -->$/p' "$docs" | sed '1d;$d')"

refuses "two forms at once" 2 "*only one of*" boxcar config --print --defaults
refuses "an argument" 2 "*unexpected argument*" boxcar config now
refuses "--check without a file" 2 "*--check needs a value*" boxcar config --check

# Passwords: masked wherever they come from; a file that everybody can read is warned about.
secret='postgres://user:sesame@127.0.0.1:1/db'
printf '[store]\nurl = %s\n' "$secret" >secret.ini
chmod 644 secret.ini
exits "a password in a file" 0 boxcar config -o json --config secret.ini
is "is masked" "postgres://user:***@127.0.0.1:1/db secret.ini:2" "$(value store url)"
is "and warned about" "boxcar: config: warning: secret.ini contains a password and every user can read it: chmod o-r it" "$err"
chmod 640 secret.ini
exits "a password in a private file" 0 boxcar config --config secret.ini
is "no warning" "" "$err"
for part in "[stores]\nacme = $secret" "[fleet]\ndiscover = sql:$secret"; do
    printf "$part\n" >secret.ini
    chmod 644 secret.ini
    exits "a password elsewhere in a file" 0 boxcar config --config secret.ini
    like "is warned about, ${part%%]*}]" "*secret.ini contains a password and every user can read it*" "$err"
done
unlike "masked" "*sesame*" "$out"
for hidden in 'p%61ssword=sesame' 'options=-csesame' 'user=u&sslpassword=sesame' 'password=x&password=sesame'; do
    exits "as $hidden" 0 env BOXCAR_STORE="postgres://127.0.0.1:1/db?$hidden" boxcar config -o json
    unlike "masked" "*sesame*" "$out$err"
done
for ambiguous in 'u:a@sesame@127.0.0.1:1/d' 'u:a@b,sesame@127.0.0.1:1,127.0.0.1:2/d' 'u:1/sesame@127.0.0.1:1/d' \
    '127.0.0.1:1?password=a@sesame'; do
    refuses "a password with an @, $ambiguous" 2 "boxcar: stats: BOXCAR_STORE: *write %40 for @*" env BOXCAR_STORE="postgres://$ambiguous" boxcar stats
    unlike "is not shown" "*sesame*" "$err"
done
exits "in the environment" 0 env BOXCAR_STORE="$secret" boxcar config
unlike "masked" "*sesame*" "$out$err"
exits "the worker" 5 boxcar worker --handler t=discard --config secret.ini
unlike "says it nowhere" "*sesame*" "$out$err"

# The other commands take [store] and [log] from the file as well, and mind nothing else.
boxcar init --store sqlite:other.db >/dev/null
boxcar enqueue t x --store sqlite:other.db >/dev/null
printf '[store]\nurl = sqlite:other.db\n[log]\nlevel = info\nformat = json\n' >other.ini
exits "ls" 0 boxcar ls -o json --config other.ini
is "looks into the store of the file" 1 "$(json length)"
exits "enqueue" 0 boxcar enqueue t y --config other.ini
is "logs as the file says" enqueue "$(jq -r .event err.txt)"
exits "a variable that is the worker's" 0 env BOXCAR_LEASE=nonsense boxcar ls --config other.ini
printf '[store]\nurl = nonsense\n' >other.ini
refuses "a bad URL in the file" 2 "boxcar: ls: other.ini:2*sqlite:PATH*" boxcar ls --config other.ini
printf '[store]\nschema = a b\n' >other.ini
refuses "a bad schema in the file" 2 "boxcar: ls: other.ini:2*" boxcar ls --config other.ini
refuses "a bad schema in the environment" 2 "boxcar: ls: BOXCAR_SCHEMA*" env BOXCAR_SCHEMA='a b' boxcar ls

finish
