#!/bin/sh
# multi_stage.sh [STORE]: a workflow of phases. Each phase begins when the one before it is complete.
#
# ingest three sources -> validate in two ways -> publish. A program starts each phase. It cannot do that
# in one transaction, as multi_stage.c does, and it may run twice for its message. So it derives every
# id from the message's id: a second run finds everything there and changes nothing. To show it, the program
# fails once after it has started the second phase.
#
# STORE is sqlite:PATH or postgres://... (default $BOXCAR_STORE, else a temporary file). Needs
# boxcar on the PATH. Takes some seconds, for the backoff.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BOXCAR_STORE="${1:-${BOXCAR_STORE:-sqlite:$work/boxcar.db}}"
unset BOXCAR_SCHEMA BOXCAR_CONFIG
boxcar init

# Handlers get a clean environment, without BOXCAR_STORE and passwords. Handlers that need them read a file.
export -p | grep -E ' (BOXCAR_STORE|PG[A-Z]+)=' >"$work/environment"

cat >"$work/start-phase" <<'END'
#!/bin/sh
# start-phase DIRECTORY NEXT-TOPIC STEP-TOPIC...: handles the message that starts a phase.
set -eu
. "$1/environment"
next=$2
shift 2
uuid_of() { # a UUID (version 8) that stands for a text
    printf %s "$1" | sha256sum |
        sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-8\3-8\4-\5/'
}
join=$BOXCAR_MESSAGE_ID # joins have names of their own, so a message's will do
boxcar join start --join-id "$join" --expected $# --grouping-key "$BOXCAR_CORRELATION_ID" \
    --metadata "{\"started_by\": \"$BOXCAR_TOPIC\"}"
for step; do
    boxcar enqueue "$step" '' --key "$join/$step" --join "$join"
done
boxcar join wait "$join" --message-id "$(uuid_of "$join/wait")" --correlation-id "$BOXCAR_CORRELATION_ID" \
    --on-complete "$next" '' --on-fail workflow.failed ''
case $BOXCAR_TOPIC/$BOXCAR_ATTEMPT in
workflow.validate/1) echo "crashed when all was done" >&2; exit 75 ;;
esac
END
chmod +x "$work/start-phase"

workflow=workflow-$$
phase="exec:$work/start-phase $work"
boxcar enqueue workflow.ingest '' --correlation-id "$workflow" >/dev/null
boxcar worker --drain --log-level error \
    --handler "workflow.ingest=$phase workflow.validate ingest.source1 ingest.source2 ingest.source3" \
    --handler "workflow.validate=$phase workflow.publish validate.schema validate.business-rules" \
    --handler 'ingest.*=exec:true' --handler 'validate.*=exec:true' \
    --handler "workflow.publish=exec:sh -c 'echo \"\$BOXCAR_CORRELATION_ID\" >>\"\$0\"' $work/published" \
    --handler "workflow.failed=exec:sh -c 'echo \"\$BOXCAR_CORRELATION_ID\" >>\"\$0\"' $work/failed"
boxcar join ls --grouping-key "$workflow"

completed=$(boxcar join ls --grouping-key "$workflow" --status completed -o jsonl | wc -l)
[ "$completed" -eq 2 ] && [ "$(cat "$work/published")" = "$workflow" ] && [ ! -e "$work/failed" ] || {
    echo "multi_stage.sh: the workflow did not run through once" >&2
    exit 1
}
echo
echo "Published once: $(cat "$work/published")"
