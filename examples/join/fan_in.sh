#!/bin/sh
# fan_in.sh [STORE]: three extractions at once, and one transformation when all of them are done.
#
# STORE is sqlite:PATH or postgres://... (default $BOXCAR_STORE, else a temporary file). Needs
# boxcar on the PATH. fan_in.c is the same in C.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BOXCAR_STORE="${1:-${BOXCAR_STORE:-sqlite:$work/boxcar.db}}"
boxcar init

join=$(boxcar join start --expected 3 --grouping-key customer-7 --metadata '{"type": "etl", "phase": "extract"}')
for what in customers orders products; do
    boxcar enqueue "extract.$what" '{"customer": 7}' --join "$join" >/dev/null
done
boxcar join wait "$join" --on-complete etl.transform '{"customer": 7}' --on-fail etl.failed '{"customer": 7}' >/dev/null
echo "Before:"
boxcar join show "$join"

# The handlers know nothing of the join. Waits need no handler: every worker evaluates them.
boxcar worker --drain --log-level warn \
    --handler 'extract.*=exec:grep -q customer' \
    --handler "etl.transform=exec:tee -a $work/transformed" \
    --handler "etl.failed=exec:tee -a $work/failed"
echo
echo "After:"
boxcar join show "$join"

[ ! -e "$work/failed" ] && [ "$(cat "$work/transformed")" = '{"customer": 7}' ] || {
    echo "fan_in.sh: the transformation did not run once" >&2
    exit 1
}
echo
echo "The transformation got: $(cat "$work/transformed")"
