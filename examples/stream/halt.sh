#!/bin/sh
# halt.sh [STORE]: the changes of an account are handled in order, and halt where one fails.
#
# STORE is sqlite:PATH or postgres://... (default $BOXCAR_STORE, else a temporary file). Needs
# boxcar on the PATH. halt.c is the same in C.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BOXCAR_STORE="${1:-${BOXCAR_STORE:-sqlite:$work/boxcar.db}}"
boxcar init

# The handler: rejects withdrawals (exit status 65) until there is a file called `open`.
cat >"$work/account" <<EOF
#!/bin/sh
read -r what
[ -e "$work/open" ] || [ "\${what%% *}" != withdraw ] || exit 65
echo "\$what" >>"$work/done"
EOF
chmod +x "$work/account"
work_off() { boxcar worker --drain --poll 100ms --concurrency 1 --log-level error --handler "account.*=exec:$work/account"; }

boxcar stream policy 'account-*' halt
for what in open 'deposit 10' 'withdraw 5'; do
    boxcar enqueue account.change "$what" --stream account-7 >/dev/null
done
work_off
boxcar enqueue account.change close --stream account-7 >/dev/null
echo
echo "The withdrawal was rejected, and what comes behind it waits:"
work_off
boxcar stream ls --halted

touch "$work/open"
boxcar stream resume account-7 --replay >/dev/null
work_off
echo
echo "After one more try of it:"
cat "$work/done"

[ "$(tr '\n' , <"$work/done")" = 'open,deposit 10,withdraw 5,close,' ] || {
    echo "halt.sh: that is not the order in which it was enqueued" >&2
    exit 1
}
