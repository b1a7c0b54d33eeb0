#!/bin/sh
# embed.sh SQL_DIR OUTPUT DEPFILE: writes every file named in postgres/manifest and sqlite/manifest
# as a C string, in that order; and into DEPFILE, as make would, what OUTPUT was made from.
set -eu
dir=$1 out=$2 depfile=$3
emit() { # store array
    echo "const struct sql_file $2[] = {"
    while read -r name; do
        case $name in ''|'#'*) continue ;; esac
        printf '    {"%s",\n' "$name"
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/     "/' -e 's/$/\\n"/' "$dir/$1/$name"
        echo '    },'
    done < "$dir/$1/manifest"
    echo '    {0, 0}'
    echo '};'
}
{
    echo '#include "embedded.h"'
    emit postgres SQL_POSTGRES
    emit sqlite SQL_SQLITE
} > "$out.tmp"
mv "$out.tmp" "$out"

{
    printf '%s:' "$out"
    for store in postgres sqlite; do
        { echo manifest; sed -e '/^#/d' -e '/^$/d' "$dir/$store/manifest"; } |
            sed -e "s|^|$dir/$store/|" -e 's/ /\\ /g' | while read -r name; do printf ' %s' "$name"; done
    done
    echo
} > "$depfile"
