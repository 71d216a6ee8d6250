#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Libraries that the tool opens when it first needs them: not before, and with a message where they cannot be used.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

grep -q '^NIGH_LATE:[A-Z]*=ON' "$NIGH_BUILD_DIR/CMakeCache.txt" ||
    { echo 'this build opens no library late'; exit 77; }
[[ -z ${NIGH_SANITIZE:-} ]] || { echo 'a sanitizer brings libraries of its own'; exit 77; }

# Those that a run of the tool opened, by the loader's own report.
opened() {
    LD_DEBUG=files LD_DEBUG_OUTPUT=.loader "$@" > .out 2> .err || fail "$* fails"
    sed -nE 's/.*calling init: .*\/(lib[a-z0-9]*)\.so.*/\1/p' .loader.* | sort -u
    rm -f .loader.*
}

late='libarchive libmicrohttpd libxml2 libicuuc libgnutls liblbfgs libarpack liblapack libgfortran'
opened "$NIGH" --version > libraries
for library in $late; do
    ! grep -qx "$library" libraries || fail "--version opens $library"
done

echo '<html><body><p>Some words that are long enough to be read.</p></body></html>' > page.html
tar -cf pages.tar page.html
opened "$NIGH" sign pages.tar -o left.hex > libraries
grep -qx libarchive libraries || fail 'an archive is read without libarchive'
! grep -qx libmicrohttpd libraries || fail 'an archive opens the library of HTTP'

# One that is there and cannot be used.
library=$(sed -nE 's/.*LATE_LIBARCHIVE=\\"([^\\]*)\\".*/\1/p' "$NIGH_BUILD_DIR/build.ninja" | head -1)
mkdir broken
echo 'no library' > "broken/$library"
LD_LIBRARY_PATH=broken expect 2 '' ANY -- "$NIGH" sign pages.tar -o none.hex
contains .err "nigh: cannot use $library: "
[[ ! -e none.hex ]] || fail 'an output is left'

finish
