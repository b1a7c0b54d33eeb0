#!/bin/sh
# partial_failure.sh [STORE]: a report of five sections is assembled from those that could be made.
#
# Section 3 fails for good. The join fails with it, but its wait allows failures: the assembler runs, and
# asks the join which sections there are. A second, strict wait takes its failure path.
#
# STORE is sqlite:PATH or postgres://... (default $BOXCAR_STORE, else a temporary file). Needs
# boxcar and jq on the PATH. partial_failure.c is the same in C.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BOXCAR_STORE="${1:-${BOXCAR_STORE:-sqlite:$work/boxcar.db}}"
unset BOXCAR_SCHEMA BOXCAR_CONFIG
boxcar init

# Handlers get a clean environment, without BOXCAR_STORE and passwords. Handlers that need them read a file.
export -p | grep -E ' (BOXCAR_STORE|PG[A-Z]+)=' >"$work/environment"

cat >"$work/make-section" <<'END'
#!/bin/sh
section=$(cat)
[ "$section" != 3 ] || { echo "no data for this section" >&2; exit 65; } # never again: a failed step
END
cat >"$work/assemble" <<'END'
#!/bin/sh
# assemble DIRECTORY: the payload is the id of the join whose members are the sections.
set -eu
. "$1/environment"
join=$(cat)
members=$(boxcar join show "$join" --limit 1000 -o json)
: >"$1/report.new"
for message in $(echo "$members" | jq -r '.members[] | select(.status == "completed") | .message_id'); do
    section=$(boxcar show "$message" -o json)
    echo "$section" | jq -r .payload >>"$1/report.new"
done
mv "$1/report.new" "$1/report" # it may run twice: the second time it writes the same
END
chmod +x "$work/make-section" "$work/assemble"

join=$(boxcar join start --expected 5 --grouping-key report-456 --deadline 1h)
for section in 1 2 3 4 5; do
    boxcar enqueue report.section "$section" --join "$join" >/dev/null
done
boxcar join wait "$join" --allow-failures --on-complete report.assemble "$join" >/dev/null
boxcar join wait "$join" --on-complete report.praise '' --on-fail report.complain 'a section is missing' >/dev/null

boxcar worker --drain --log-level error \
    --handler "report.section=exec:$work/make-section" \
    --handler "report.assemble=exec:$work/assemble $work" \
    --handler "report.praise=exec:tee -a $work/praised" \
    --handler "report.complain=exec:tee -a $work/complained"
boxcar join show "$join"

sections=$(sort "$work/report" | paste -s -d ' ' -)
[ "$sections" = "1 2 4 5" ] && [ -e "$work/complained" ] && [ ! -e "$work/praised" ] || {
    echo "partial_failure.sh: the report is not as it should be" >&2
    exit 1
}
echo
echo "Sections of the report: $sections. Complaint: $(cat "$work/complained")."
