# Standard output that cannot be written, standard input that cannot be read, log lines.
. "$BOXCAR_TEST_DIR/support/lib.sh"

enqueue t x

# A full disk or a closed pipe is a failure that is reported.
for line in "ls" "ls -o json" "stats" "version" "help" "settings -o jsonl" "show $id" "reap"; do
    status=0
    # shellcheck disable=SC2086
    boxcar $line >/dev/full 2>err.txt || status=$?
    is "boxcar $line to a full disk exits 1" 1 "$status"
    like "and says so" "boxcar: *cannot write to standard output: No space left*" "$(cat err.txt)"
    status=0
    # shellcheck disable=SC2086
    boxcar $line >&- 2>err.txt || status=$?
    is "boxcar $line to a closed output exits 1" 1 "$status"
    like "and says so" "boxcar: *cannot write to standard output: *" "$(cat err.txt)"
done
status=0
# Writing succeeds, or waits for a reader, until the other end is closed.
{ (trap '' PIPE; while printf x; do :; done) 2>/dev/null; boxcar ls 2>err.txt || echo $? >status.txt; } | true
is "a closed pipe exits 1" 1 "$(cat status.txt)"
like "and says so" "*cannot write to standard output: Broken pipe*" "$(cat err.txt)"
exits "with all descriptors closed the store is unharmed" 1 sh -c 'boxcar ls <&- >&- 2>&-'
exits "afterwards" 0 boxcar ls
status=0
boxcar enqueue t - <&- >out.txt 2>err.txt || status=$?
is "a closed standard input exits 1" 1 "$status"
like "and says so" "*cannot read standard input*" "$(cat err.txt)"
exits "standard error closed" 0 sh -c 'boxcar ls 2>&-'

# OBX-102, OBX-103, OBX-107, OBX-125, BX-010: log records of the library, one line each, no payload.
boxcar enqueue $'to\npic "q"' 'open sesame' --log-level debug >out.txt 2>err.txt
like "logfmt" 'time=????-??-??T??:??:??.??????Z level=*event=enqueue*' "$(grep event=enqueue err.txt)"
is "every line is one record" "$(wc -l <err.txt)" "$(grep -c '^time=.* level=.* event=.* store=.* text=' err.txt)"
unlike "without the payload" "*sesame*" "$(cat err.txt)"
boxcar enqueue $'to\npic "q"' 'open sesame' --log-level debug --log-format json >out.txt 2>err.txt
is "JSON, one object a line" "$(wc -l <err.txt | tr -d ' ')" "$(jq -c 'select(.time and .level and .event and .store)' err.txt | wc -l | tr -d ' ')"
is "the topic is a field" $'to\npic "q"' "$(jq -r 'select(.event=="enqueue").topic' err.txt)"
unlike "without the payload" "*sesame*" "$(cat err.txt)"
boxcar enqueue t x --log-level info >out.txt 2>err.txt
like "info shows an enqueue" "*level=info*event=enqueue*" "$(cat err.txt)"
unlike "and nothing of debug" "*level=debug*" "$(cat err.txt)"
boxcar enqueue t x >out.txt 2>err.txt
is "silent by default" "" "$(cat err.txt)"

finish
