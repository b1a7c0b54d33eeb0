# Completion of boxcar's command line for bash. Commands, options and the values that options take
# are asked from the program itself (boxcar help --words), so they are those of the version that is
# installed. No store is opened: topics and ids are not completed.

# What the store keeps (boxcar settings).
_boxcar_settings='backoff_base backoff_cap backoff_factor backoff_jitter headers_bytes_max instance_timeout join_wait_topic max_attempts partition_count partitions_per_instance_max payload_bytes_max retention_dead retention_done retention_inbox retention_joins stream_policy'

# Lines of `boxcar help --words`: kind, command, and for options name, letter, metavar, choices.
# Empty fields would be lost between tabs, which are blanks to `read`.
_boxcar_words() {
    command "$1" help --words 2>/dev/null | tr '\t' '\037'
}

# _boxcar_candidates WORD...: those that begin with what is typed.
_boxcar_candidates() {
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$_boxcar_typed")
}

_boxcar_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$_boxcar_typed")
}

# _boxcar_scan WORDS: finds the command in what stands before the cursor, and the option whose
# value is being typed. Sets _boxcar_command, _boxcar_arguments (how many follow it),
# _boxcar_option and _boxcar_help (the command is what help is wanted about).
_boxcar_scan() {
    local words=$1 word i
    _boxcar_command='' _boxcar_arguments=0 _boxcar_option='' _boxcar_help=''
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $_boxcar_option ]]; then
            # bash splits --name=value at the equals sign
            [[ $word == = ]] || _boxcar_option=''
        elif [[ $word == -?* ]]; then
            ! _boxcar_takes_value "$words" "$word" || _boxcar_option=$word
        elif [[ $word == help && -z $_boxcar_command$_boxcar_help ]]; then
            _boxcar_help=help
        elif ((_boxcar_arguments == 0)) && _boxcar_is_command "$words" "${_boxcar_command:+$_boxcar_command }$word"; then
            _boxcar_command=${_boxcar_command:+$_boxcar_command }$word
        else
            _boxcar_arguments=$((_boxcar_arguments + 1))
        fi
    done
}

_boxcar_is_command() { # WORDS NAME
    [[ $'\n'$1 == *$'\n'command$'\037'"$2"$'\037'* ]]
}

# Prints the lines of the options that count here: global ones and those of the command.
_boxcar_options() { # WORDS
    local line command=${_boxcar_help:-$_boxcar_command}
    while IFS= read -r line; do
        case $line in
        option$'\037\037'* | option$'\037'"$command"$'\037'*) printf '%s\n' "$line" ;;
        esac
    done <<<"$1"
}

_boxcar_takes_value() { # WORDS OPTION
    local name letter metavar
    while IFS=$'\037' read -r _ _ name letter metavar _; do
        [[ $2 == "$name" || $2 == "$letter" ]] && [[ -n $metavar ]] && return 0
    done < <(_boxcar_options "$1")
    return 1
}

_boxcar_option_names() { # WORDS
    local name letter names=''
    while IFS=$'\037' read -r _ _ name letter _; do
        names+=" $name $letter"
    done < <(_boxcar_options "$1")
    printf '%s' "$names"
}

# The words that may come next inside the command that is known: "ls" after "dead".
_boxcar_command_names() { # WORDS
    local kind name rest names='' group=${_boxcar_command:+$_boxcar_command }
    while IFS=$'\037' read -r kind name _; do
        [[ $kind == command && $name == "$group"* ]] || continue
        rest=${name#"$group"}
        [[ $rest == *' '* ]] || names+=" $rest"
    done <<<"$1"
    printf '%s' "$names"
}

_boxcar_value() { # WORDS OPTION
    local name letter metavar choices
    while IFS=$'\037' read -r _ _ name letter metavar choices _; do
        [[ $2 == "$name" || $2 == "$letter" ]] || continue
        if [[ -n $choices ]]; then
            _boxcar_candidates "$choices"
        elif [[ $metavar == FILE* ]]; then
            _boxcar_files
        fi
        return
    done < <(_boxcar_options "$1")
}

_boxcar() {
    local words _boxcar_typed=${COMP_WORDS[COMP_CWORD]:-}
    local _boxcar_command _boxcar_arguments _boxcar_option _boxcar_help
    COMPREPLY=()
    words=$(_boxcar_words "${1:-boxcar}")
    _boxcar_scan "$words"
    [[ $_boxcar_typed != = ]] || _boxcar_typed=''
    if [[ -n $_boxcar_option ]]; then
        _boxcar_value "$words" "$_boxcar_option"
    elif [[ $_boxcar_typed == -* ]]; then
        _boxcar_candidates "$(_boxcar_option_names "$words")"
    elif ((_boxcar_arguments > 0)); then
        return 0
    elif [[ $_boxcar_command == settings && -z $_boxcar_help ]]; then
        _boxcar_candidates "$_boxcar_settings"
    else
        _boxcar_candidates "$(_boxcar_command_names "$words")"
    fi
}

complete -F _boxcar boxcar
