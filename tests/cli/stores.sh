# Stores that cannot be used: the error text and the exit status; passwords stay unseen.
. "$BOXCAR_TEST_DIR/support/lib.sh"

# BX-011
for url in '' nonsense mysql://localhost/db sqlite: /tmp/x.db; do
    refuses "the store URL '$url'" 2 "boxcar: ls: --store*sqlite:PATH*" boxcar ls --store "$url"
done
for url in sqlite:file::memory: sqlite::memory: 'sqlite:file:x.db?nolock=1' 'sqlite:x.db?mode=memory'; do
    refuses "the store URL '$url'" 2 "boxcar: init: --store*give sqlite:PATH*" boxcar init --store "$url"
done
is "no file came of them" "" "$(ls | grep 'x.db' || true)"
refuses "a bad URL from the environment" 2 "boxcar: ls: BOXCAR_STORE*" env BOXCAR_STORE=nonsense boxcar ls
long=$(printf 'x%.0s' $(seq 64))
for schema in 'a b' 'a"b' "a'b" 1a '' "$long" 'a;b' 'é'; do
    refuses "the schema name '$schema'" 2 "boxcar: ls: --schema*" boxcar ls --schema "$schema"
done

# OBX-109
refuses "a file that is not there" 1 "*boxcar init*" boxcar ls --store sqlite:missing.db
[ -e missing.db ] && not_ok "and is not made" || ok "and is not made"
: >empty.db
refuses "an empty file" 1 "*boxcar init*" boxcar ls --store sqlite:empty.db
is "and stays empty" 0 "$(wc -c <empty.db | tr -d ' ')"
refuses "enqueueing into it" 1 "*boxcar init*" boxcar enqueue t x --store sqlite:empty.db
head -c 4096 /dev/urandom >noise.db
exits "a file that is no database" 1 boxcar ls --store sqlite:noise.db
like "says so" "boxcar: ls: *" "$err"
exits "init of a file that is no database" 1 boxcar init --store sqlite:noise.db
exits "a folder that is not there" 5 boxcar init --store sqlite:nowhere/x.db

# Root may write to anything, so it becomes somebody else where it can.
somebody=()
[ "$(id -u)" != 0 ] || somebody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
boxcar init --store sqlite:readonly.db >/dev/null
boxcar enqueue t x --store sqlite:readonly.db >/dev/null
chmod a-w readonly.db
chmod 755 .
if "${somebody[@]}" boxcar version >/dev/null 2>&1; then
    exits "a file that cannot be written" 1 "${somebody[@]}" boxcar enqueue t y --store sqlite:readonly.db
    like "says so" "boxcar: enqueue: *read*only*" "$err"
    is "and is unchanged" 1 "$(boxcar ls --store sqlite:readonly.db -o json | jq length)"
fi
exits "the default store" 0 env -u BOXCAR_STORE boxcar init
[ -f boxcar.db ] && ok "is boxcar.db in this folder" || not_ok "is boxcar.db in this folder"
exits "--store wins over the environment" 0 env BOXCAR_STORE=nonsense boxcar ls --store "$BOXCAR_TEST_STORE"
refuses "a server that is not there" 5 "boxcar: ls: *" env BOXCAR_STORE=postgres://127.0.0.1:1/db boxcar ls
refuses "init on a server that is not there" 5 "boxcar: init: *" env BOXCAR_STORE=postgres://127.0.0.1:1/db boxcar init
if [ "$BOXCAR_TEST_KIND" = postgres ]; then
    refuses "a schema that is not deployed" 1 "*boxcar init*" boxcar ls --schema cli_not_deployed
    exits "the schema name is quoted" 0 boxcar init --schema "${BOXCAR_SCHEMA}_SELECT" -o json
    psql -qX "$BOXCAR_TEST_STORE" -c "drop schema \"${BOXCAR_SCHEMA}_SELECT\" cascade" >/dev/null 2>&1
fi

refuses "two stores" 2 "boxcar: show: --store is given twice*" boxcar show 1 --store sqlite:one.db --store sqlite:two.db
refuses "one before and one behind the command" 2 "*--store is given twice*" boxcar --store sqlite:one.db show 1 --store sqlite:two.db

# Passwords: warned about on the command line, printed nowhere. OBX-126
unseen() { # NAME
    unlike "$1: no password on standard error" "*sesame*" "$err"
    unlike "$1: no password on standard output" "*sesame*" "$out"
}
exits "a password in --store" 5 boxcar ls --store 'postgres://user:sesame@127.0.0.1:1/db'
unseen "in --store"
like "is warned about" "boxcar: ls: warning: --store contains a password*BOXCAR_STORE*PGPASSFILE*" "$err"
is "once" 1 "$(grep -c warning err.txt)"
exits "a password as a parameter" 5 boxcar ls --store 'postgres://127.0.0.1:1/db?user=u&password=sesame'
unseen "as a parameter"
like "is warned about" "*warning: --store contains a password*" "$err"
exits "a password with odd characters" 2 boxcar ls --log-level error --store 'postgres://user:op/en:ses@me sesame@127.0.0.1:1/db'
unseen "odd characters"
unlike "no warning at level error" "*warning*" "$err"
exits "a password in the environment" 5 env BOXCAR_STORE=postgres://user:sesame@127.0.0.1:1/db boxcar ls --log-level debug
unseen "environment"
unlike "is not warned about" "*warning: --store*" "$err"
exits "a URL in the wrong place" 2 boxcar postgres://user:sesame@127.0.0.1/db
unseen "wrong place"
exits "a URL behind a misspelt option" 2 boxcar ls --stoer=postgres://user:sesame@127.0.0.1/db
unseen "misspelt option"
exits "a URL as an argument" 2 boxcar show postgres://user:sesame@127.0.0.1/db
unseen "argument"
exits "an unknown scheme" 2 boxcar ls --store mysql://user:sesame@127.0.0.1/db
unseen "unknown scheme"
exits "a URL without a password" 5 boxcar ls --store postgres://user@127.0.0.1:1/db
unlike "no warning" "*warning*" "$err"

finish
