#!/bin/sh
# embed.sh SQL_DIR OUTPUT: writes every file named in postgres/manifest and sqlite/manifest
# as a C string, in that order.
set -eu
dir=$1 out=$2
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
