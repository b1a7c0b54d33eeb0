# Completion in bash: what it offers is what the program knows. The script is sourced, its function
# called as bash would.
. "$BOXCAR_TEST_DIR/support/lib.sh"

# complete_line WORD...: the last word is what is being typed; prints what is offered, sorted.
# In a bash of its own, without bash-completion, that forgives no unset variable.
complete_line() {
    bash --norc -uc '
        . "$BOXCAR_TEST_DIR/../../completions/boxcar.bash"
        COMP_WORDS=("$@")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        function=$(complete -p boxcar | sed "s/.*-F \([^ ]*\) .*/\1/")
        "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        [ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$@" 2>&1 | sort | xargs
}

# offers LINE EXPECTED: "_" is an empty word.
offers() {
    local words
    read -ra words <<<"$1"
    words=("${words[@]/#_/}")
    is "boxcar $1 <tab>" "$2" "$(complete_line boxcar "${words[@]}")"
}

sorted() { tr ' ' '\n' | sort | xargs; }

# Names as the help shows them, which is not what completion reads.
names_in_help() { # COMMAND... "Options"|"Global options"
    # shellcheck disable=SC2086
    boxcar help ${1:-} | sed -n "/^${2}:/,/^\$/s/^  \(-.,\)* *\(--[a-z-]*\).*/\2 \1/p" | tr -d ,
}

commands=$(boxcar help | sed -n '/^Set up:/,/^Global options:/s/^  \(.*[^ ]\)   *.*/\1/p' | sed 's/  .*//')
top=$(printf '%s\n' "$commands" | grep -v ' ' | sort | xargs)
offers "_" "$top"
offers "e" "enqueue event"
offers "de" "dead defer"
offers "dead _" "ls purge replay show"
offers "dead r" "replay"
offers "-o json dead _" "ls purge replay show"
offers "help _" "$top"
offers "help dead _" "ls purge replay show"
offers "join _" "attach cancel complete fail ls show start wait"
offers "stream _" "ls policy resume show skip"
offers "subscription _" "add change ls pause resume rewind rm show"
offers "subscription rew" "rewind"
offers "join wait --on" "--on-complete --on-fail"
offers "event _" "append follow read"
offers "event follow --o" "--once --output"
offers "enqueue _" ""
offers "ls ls _" ""
offers "frobnicate _" ""

while read -r command; do
    expected=$({ names_in_help "$command" Options; names_in_help "$command" 'Global options'; } | sorted)
    like "there are options in help $command" "*--store*" "$expected"
    offers "$command -" "$expected"
done <<<"$commands"
offers "--s" "--schema --store"
offers "ls --su" "--subscription"
offers "ls --st" "--status --store"
offers "ls --status ready --t" "--topic"
offers "dead --t" ""
offers "dead replay --n" "--note"

# Values: each is taken by the program, and no other is known.
offers "ls --status _" "done failed in_progress ready waiting"
offers "ls --status = _" "done failed in_progress ready waiting"
offers "ls --status =" "done failed in_progress ready waiting"
offers "ls --box _" "inbox outbox"
offers "join ls --status _" "cancelled completed failed pending"
offers "dead ls --reason _" "cancelled exhausted expired no_handler rejected"
offers "-o _" "json jsonl table"
offers "ls -o j" "json jsonl"
offers "--log-level _" "debug error info warn"
offers "worker --log-format _" "json logfmt"
offers "ls --topic _" ""
offers "ls --limit _" ""
for value in $(complete_line boxcar ls --status ''); do exits "$value is a status" 0 boxcar ls --status "$value"; done
for value in $(complete_line boxcar join ls --status ''); do exits "$value is a status of joins" 0 boxcar join ls --status "$value"; done
for value in $(complete_line boxcar ls --box ''); do exits "$value is a box" 0 boxcar ls --box "$value"; done
for value in $(complete_line boxcar dead ls --reason ''); do exits "$value is a reason" 0 boxcar dead ls --reason "$value"; done
for value in $(complete_line boxcar -o ''); do exits "$value is a format" 0 boxcar ls -o "$value"; done
for value in $(complete_line boxcar --log-level ''); do exits "$value is a level" 0 boxcar ls --log-level "$value"; done

mkdir files && touch files/a.jsonl files/b.conf
offers "enqueue --batch files/" "files/a.jsonl files/b.conf"
offers "worker --config files/b" "files/b.conf"
offers "config --check files/b" "files/b.conf"

# The one list that is not asked from the program.
offers "settings _" "$(boxcar settings -o json | jq -r '.[].name' | sorted)"
offers "settings max" "max_attempts"
offers "settings max_attempts _" ""

# No store is needed.
is "no store is opened" "$top" "$(BOXCAR_STORE=postgres://nowhere.invalid/x complete_line boxcar '')"
is "a program that is not there offers nothing" "" "$(complete_line ./boxcar '')"

finish
