#!/bin/sh
# embed.sh SQL_DIR OUTPUT DEPFILE: writes every file that postgres/manifest and sqlite/manifest name as a C string, in
# that order; and into DEPFILE, as make would, what OUTPUT was made from. The name of a folder (it ends in /) stands for
# all files below it that were not named before. What is in functions/public/both is for the outbox; the same is made for
# the inbox.
set -eu
dir=$1 out=$2 depfile=$3
names() { sed -e '/^#/d' -e '/^$/d' "$dir/$1/manifest"; } # store
both=functions/public/both
files() { # store: every file once, where it is named first
    names "$1" | while read -r name; do
        case $name in
        */) (cd "$dir/$1" && find "${name%/}" -name '*.sql' | LC_ALL=C sort) ;;
        *) echo "$name" ;;
        esac
    done | awk '!seen[$0]++'
}
folders() { # store: a file that comes or goes changes its folder
    names "$1" | while read -r name; do
        case $name in */) (cd "$dir/$1" && find "${name%/}" -type d) ;; esac
    done | sort -u
}
emit_text() { # name: the text is read
    printf '    {"%s",\n' "$1"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/     "/' -e 's/$/\\n"/'
    echo '    },'
}
emit() { # store array
    echo "const struct sql_file $2[] = {"
    files "$1" | while read -r name; do
        emit_text "$name" <"$dir/$1/$name"
        case $name in
        $both/outbox_*)
            sed -e 's/outbox_/inbox_/g' -e 's/0::smallint/1::smallint/g' "$dir/$1/$name" |
                emit_text "$both/inbox_${name#"$both/outbox_"}" ;;
        esac
    done
    echo '    {0, 0}'
    echo '};'
}

# A function's name is that of its file: two files of one name would make one function, the last one.
twice=$(files postgres | sed "s|^$both/outbox_\(.*\)|&\n$both/inbox_\1|" | sed -n 's|^functions/.*/||p' | sort | uniq -d)
[ -z "$twice" ] || { echo "embed.sh: two files have the name" $twice >&2; exit 1; }
{
    echo '#include "embedded.h"'
    emit postgres SQL_POSTGRES
    emit sqlite SQL_SQLITE
} > "$out.tmp"
mv "$out.tmp" "$out"

{
    printf '%s:' "$out"
    for store in postgres sqlite; do
        { echo manifest; files $store; folders $store; } |
            sed -e "s|^|$dir/$store/|" -e 's/ /\\ /g' | while read -r name; do printf ' %s' "$name"; done
    done
    echo
} > "$depfile"
