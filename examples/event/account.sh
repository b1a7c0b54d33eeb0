#!/bin/sh
# account.sh [STORE]: an account kept as events, two writers at the same time, and a projection.
#
# STORE is sqlite:PATH or postgres://... (default $BOXCAR_STORE, else a temporary file). Needs
# boxcar and jq on the PATH. account.c is the same in C.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BOXCAR_STORE="${1:-${BOXCAR_STORE:-sqlite:$work/boxcar.db}}"
boxcar init

# The version and the balance of an account: the sum of its events.
load() {
    boxcar event read "$1" -o json |
        jq -r '"\(length) \(map(if .type == "withdrawn" then -(.payload|tonumber) else (.payload|tonumber) end)|add)"'
}

# withdraw WHO ACCOUNT VERSION BALANCE AMOUNT: decides by the state that WHO has seen. Exit status 4: the account has
# changed since.
withdraw() {
    who=$1 account=$2 version=$3 balance=$4 amount=$5
    while [ "$balance" -ge "$amount" ]; do
        status=0
        boxcar event append "$account" withdrawn "$amount" --expected "$version" --topic bank.statement \
            >/dev/null 2>&1 || status=$?
        [ "$status" != 0 ] || { echo "$who gets $amount"; return; }
        [ "$status" = 4 ] || exit "$status"
        echo "$who was too late at version $version"
        state=$(load "$account")
        version=${state% *} balance=${state#* }
    done
    echo "$who gets nothing: $balance are left"
}

# The projection keeps its position in a file.
project() {
    boxcar event follow --once --after "$(cat "$work/position" 2>/dev/null || echo 0)" --stream 'account-*' |
        while read -r event; do
            echo "$event" | jq -r '"\(.position). \(.stream), version \(.version): \(.type) \(.payload)"'
            echo "$event" | jq .position >"$work/position"
        done
}

boxcar event append account-ada paid-in 100 --expected 0 >/dev/null
boxcar event append account-bob paid-in 5 --expected 0 >/dev/null
project
state=$(load account-ada)
withdraw "the first" account-ada "${state% *}" "${state#* }" 70
withdraw "the second" account-ada "${state% *}" "${state#* }" 70
project

[ "$(load account-ada)" = "2 30" ] && [ "$(cat "$work/position")" = 3 ] || {
    echo "account.sh: the account is not as it should be" >&2
    exit 1
}
