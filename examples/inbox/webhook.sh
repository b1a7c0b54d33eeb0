#!/bin/sh
# webhook.sh [STORE]: a webhook that is called more than once for each event; each is handled once.
#
# STORE is sqlite:PATH or postgres://... (default $BOXCAR_STORE, else a temporary file). Needs boxcar on
# the PATH, and jq. exactly_once.c shows more, in C.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BOXCAR_STORE="${1:-${BOXCAR_STORE:-sqlite:$work/boxcar.db}}"
boxcar init
owner=$(cat /proc/sys/kernel/random/uuid)

# What the webhook's script does for each call. SOURCE and ID are the key; the rest does not matter.
receive() { # ID BODY
    boxcar inbox enqueue payments.example "$1" payment.received "$2" --hash "$(printf %s "$2" | cksum)" -o json
}
for id in evt-1 evt-2 evt-1 evt-3 evt-1 evt-2; do
    echo "$id: $(receive "$id" "{\"event\": \"$id\"}" | jq -r 'if .duplicate then "known already" else "stored" end')"
done

# A worker by hand: claim, handle, ack. (`boxcar inbox check` asks about one without storing it.)
boxcar claim --box inbox --owner "$owner" | while read -r message; do
    echo "$message" | jq -r .external_id >>"$work/handled"
    boxcar ack --box inbox --owner "$owner" "$(echo "$message" | jq -r '"\(.work_id):\(.epoch)"')" >/dev/null
done

# Another call, after everything is done: the event is still known.
receive evt-1 '{"event": "evt-1"}' >/dev/null
boxcar inbox check payments.example evt-1
boxcar inbox show payments.example evt-1

[ "$(sort "$work/handled" | tr '\n' ' ')" = 'evt-1 evt-2 evt-3 ' ] || {
    echo "webhook.sh: not every event was handled once" >&2
    exit 1
}
