#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No output takes the place of what is read, through whatever links; what is replaced stays whole, with its mode.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000000000000000\nb\tffff000000000000\n' > old.hex
printf 'v\t0700000000000000\nw\t00ff00ff00000000\n' > new.hex
"$NIGH" index -q c.nigh old.hex || fail index
"$NIGH" against -q -r 0 --add x.chunks old.hex
mkdir docs
for ((i = 0; i < 30; i++)); do
    printf '{"id":"%d","text":"%s"}\n' "$i" "$(seq -s ' ' -f 'word%g' $(((i - i % 2) * 20)) $(((i - i % 2) * 20 + 40)))"
done > docs/x.jsonl
cp docs/x.jsonl y.jsonl
"$NIGH" sign -q --make-vocabulary words y.jsonl || fail vocabulary
printf '1\t2\t0.9\n' > labels
printf '1 0 2 1\n' > judged

# refused SAID COMMAND ARGUMENT...: before anything is done, and everything is as it was.
refused() {
    local said=$1 command=$2
    shift
    [[ $command == eval ]] && command+=" $2"
    expect_unchanged . 2 '' "nigh $command: $said
try 'nigh $command --help'" -- "$NIGH" "$@"
}
# What the checks write themselves does not count, nor the size of the folder that it is in.
state() {
    find "$@" ! -path . ! -name '.out' ! -name '.err*' ! -name '.expected' -printf '%p %y %s\n' -type f \
        -exec sha256sum {} \; | sort
}

# ------------------------------------------------------------------ evaluation --

refused "--plot 'y.jsonl' and the input 'y.jsonl' are the same file" eval psm --plot y.jsonl y.jsonl
refused "--plot './y.jsonl' and the input 'y.jsonl' are the same file" eval signatures --plot ./y.jsonl --data y.jsonl
refused "--plot 'docs/p.svg' is in the folder 'docs', which is read" eval psm --plot docs/p.svg docs
refused "--plot 'docs/p.svg' is in the folder 'docs', which is read" eval psm --plot docs/p.svg --data docs
refused '--plot and --truth name the same file' eval signatures --truth labels --plot labels y.jsonl
refused '--plot and --vocabulary name the same file' eval signatures --vocabulary words --plot words y.jsonl
refused '--stats and --judgements name the same file' eval ranked --judgements judged --stats judged y.jsonl
refused '--stats and --labels name the same file' eval duplicates --labels labels --stats labels y.jsonl
expect 2 '' "nigh: 'no/p.svg': cannot write: No such file or directory" -- "$NIGH" eval psm --plot no/p.svg y.jsonl

# ---------------------------------------------------------------------- against --

refused '--new and COLLECTION name the same file' against --new x.chunks x.chunks new.hex
refused '--new and COLLECTION name the same file' against --add --new z.chunks z.chunks new.hex
refused "--new 'c.nigh/manifest-00000001' is in the folder 'c.nigh', which is read" \
    against -r 3 --new c.nigh/manifest-00000001 c.nigh new.hex
expect_unchanged x.chunks 2 '' "nigh: 'no/new': cannot write: No such file or directory" \
    -- "$NIGH" against --add --new no/new x.chunks new.hex

# ------------------------------------------------------------------------ stats --

refused "--stats 'x.chunks' and the input 'x.chunks' are the same file" against x.chunks new.hex --stats x.chunks
for command in 'against -r 3 c.nigh new.hex' 'pairs -r 3 c.nigh' 'info c.nigh' 'check c.nigh' 'export c.nigh -o e.hex' \
    'search c.nigh new.hex' 'index c.nigh new.hex' 'plan c.nigh'; do
    # shellcheck disable=SC2086 # several words
    refused "--stats 'c.nigh/s' is in the folder 'c.nigh', which is read" $command --stats c.nigh/s
done
refused "--stats 'docs/s' is in the folder 'docs', which is read" dedup docs -o d.jsonl --stats docs/s
refused '--stats and --ids name the same file' index d.nigh new.hex --ids labels --stats labels
expect_unchanged c.nigh 2 '' "nigh: 'c.nigh': cannot write: this names a folder; give the name of a file" -- "$NIGH" info c.nigh --stats c.nigh
refused "-o 'c.nigh/e.hex' is in the folder 'c.nigh', which is read" export c.nigh -o c.nigh/e.hex
expect 2 '' "nigh: 'clean/': cannot write: this names a folder; give the name of a file" -- "$NIGH" dedup docs -o clean/
refused "-o 'docs/s.hex' is in the folder 'docs', which is read" sign --scheme simhash docs -o docs/s.hex
# The first word of eval is no path.
mkdir signatures
expect 0 ANY '' -- "$NIGH" eval -q signatures --scheme simhash y.jsonl --stats signatures/s

# A log that standard error goes to is added to, by any name of it.
for name in /dev/stderr /dev/fd/2 /proc/self/fd/2 link.stderr; do
    ln -sf /dev/stderr link.stderr
    echo before > log
    "$NIGH" info c.nigh --stats "$name" > /dev/null 2>> log || fail "--stats $name"
    checks=$((checks + 1))
    [[ $(head -1 log) == before && $(wc -l < log) == 2 ]] || fail "--stats $name did not add to the log"
done
echo before > log
"$NIGH" info c.nigh --stats /dev/fd/7 > /dev/null 7>> log || fail '--stats /dev/fd/7'
[[ $(wc -l < log) == 2 ]] || fail 'a descriptor was not added to'
"$NIGH" dedup -q y.jsonl -o - > kept.jsonl

# ------------------------------------------------------------------------ links --

ln -s docs/x.jsonl inward
refused "-o 'inward' is in the folder 'docs', which is read" dedup docs -o inward
ln -s docs/new.jsonl inward2
refused "-o 'inward2' is in the folder 'docs', which is read" dedup docs -o inward2
ln -s y.jsonl linked
refused "-o 'linked' and the input 'y.jsonl' are the same file" dedup y.jsonl -o linked
# Two links to one file that is not there yet.
ln -s absent one
mkdir folder
ln -s ../absent folder/two
refused '-o and --clusters name the same file' dedup y.jsonl -o one --clusters folder/two
refused '-o and --ids name the same file' export c.nigh -o one --ids absent

# What a link leads to is replaced when it is whole, not emptied before; the link stays.
mkdir real
echo precious > real/target
ln -s real/target link.jsonl
ln -s link.jsonl chain
expect_unchanged real 2 '' ANY -- "$NIGH" dedup y.jsonl missing.jsonl -o chain
ln -s real/target link.hex
expect_unchanged real 2 '' ANY -- "$NIGH" sign --scheme simhash --strict missing.jsonl -o link.hex
ln real/target other-name # a second name of the file would see what is written into it
expect 0 '' '' -- "$NIGH" dedup -q y.jsonl -o chain
same kept.jsonl real/target
compare 'the file that was replaced' precious other-name
[[ -L chain && -L link.jsonl ]] || fail 'a link was replaced'
[[ $(ls real) == target ]] || fail 'a temporary file was left'
expect 0 '' '' -- "$NIGH" dedup -q y.jsonl --clusters one
[[ -L one && -f absent ]] || fail 'a link to nowhere did not lead there'
ln -s round about
ln -s about round
expect 2 '' ANY -- "$NIGH" dedup -q y.jsonl -o about

# ------------------------------------------------------------------------ modes --

umask 022
modes() { stat -c %a "$@" | tr '\n' ' '; }
for mode in 600 755; do
    for file in m.jsonl m.html m.clusters m.hex m.json m.words; do
        : > $file
        chmod $mode $file
    done
    expect 0 '' '' -- "$NIGH" dedup -q y.jsonl -o m.jsonl --report m.html --clusters m.clusters --stats m.json
    expect 0 '' '' -- "$NIGH" sign -q --scheme simhash y.jsonl -o m.hex
    expect 0 '' '' -- "$NIGH" sign -q y.jsonl --make-vocabulary m.words
    checks=$((checks + 1))
    [[ $(modes m.jsonl m.html m.clusters m.hex m.json m.words) == "$mode $mode $mode $mode $mode $mode " ]] ||
        fail "$mode became $(modes m.*)"
    [[ -s m.hex && -s m.jsonl && -s m.html && -s m.json ]] || fail 'nothing was written'
done
rm m.jsonl
expect 0 '' '' -- "$NIGH" dedup -q y.jsonl -o m.jsonl
[[ $(modes m.jsonl) == '644 ' ]] || fail 'a new file has another mode'

finish
