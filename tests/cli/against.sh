#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# New against old: what matches, what is new, what is added; as if one came after the other.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# ---------------------------------------------------------------- signatures --

printf 'a\t0000000000000000\nb\tffff000000000000\nc\tffffffffffffffff\nd\t0000000000000000\n' > old.hex
# Of these v is within 3 of a and d, w of nothing, x of w, y of x alone (which is no new one itself), z of c.
printf 'v\t0700000000000000\nw\t00ff00ff00000000\nx\t00ff00ff07000000\ny\t00ff00ff3f000000\nz\tfffffffffffffffe\n' > new.hex
"$NIGH" index -q c.nigh old.hex || fail index

matches='{"id1":"v","id2":"a","distance":3}
{"id1":"v","id2":"d","distance":3}
{"id1":"x","id2":"w","distance":3,"input":true}
{"id1":"z","id2":"c","distance":1}'
for method in auto scan tables 'tables --blocks 4 --leading 1' 'tables --blocks 5 --leading 2' 'auto --recall 0.9'; do
    # shellcheck disable=SC2086 # several words
    expect_unchanged c.nigh 0 "$matches" '' -- "$NIGH" against -q --radius 3 --method $method c.nigh new.hex
done
expect 0 $'v\ta\t3\tcollection\nv\td\t3\tcollection\nx\tw\t3\tinput\nz\tc\t1\tcollection' \
    "5 signatures against 4 of 'c.nigh' within 3 bits: 2 there, 1 repeats an earlier one of the input, 2 new; exact (scan); # s (#/s)" \
    -- "$NIGH" against -r 3 --output tsv c.nigh new.hex
expect 0 $'v\ta\t3\tcollection\nx\tw\t3\tinput\nz\tc\t1\tcollection' '' \
    -- "$NIGH" against -q -r 3 --find first --output tsv c.nigh new.hex

# All new, or nothing at all: it did what was asked, unless a script wants to hear of it.
expect 0 '' '' -- "$NIGH" against -q -r 0 c.nigh new.hex
expect 1 '' '' -- "$NIGH" against -q -r 0 --fail-if-new c.nigh new.hex
expect 0 '' '' -- "$NIGH" against -q -r 0 --fail-if-found c.nigh new.hex
: > none.hex
expect 0 '' "0 signatures against 4 of 'c.nigh' within 3 bits: 0 there, 0 new; exact (scan); # s (#/s)" \
    -- "$NIGH" against -r 3 c.nigh none.hex

# --new: those that matched nothing.
expect_unchanged c.nigh 0 "$matches" '' -- "$NIGH" against -q -r 3 --new fresh.txt c.nigh new.hex
compare fresh.txt $'w\ny' fresh.txt

# --add adds them, in one commit; the second time they are there.
cp -r c.nigh before.nigh
expect 0 "$matches" "5 signatures against 4 of 'c.nigh' within 3 bits: 2 there, 1 repeats an earlier one of the input, 2 new, 2 added; exact (scan); # s (#/s)" \
    -- "$NIGH" against -r 3 --add c.nigh new.hex
"$NIGH" export -q -o - c.nigh > all.hex || fail export
compare all.hex "$(cat old.hex)"$'\nw\t00ff00ff00000000\ny\t00ff00ff3f000000' all.hex
expect_unchanged c.nigh 0 $'v\ta\t3\tcollection\nw\tw\t0\tcollection\nx\tw\t3\tcollection\ny\ty\t0\tcollection\nz\tc\t1\tcollection' '' \
    -- "$NIGH" against -q -r 3 --find first --add --output tsv c.nigh new.hex
expect 0 '' '' -- "$NIGH" check -q c.nigh

# One by one it is the same.
cp -r before.nigh single.nigh
while read -r line; do
    printf '%s\n' "$line" | "$NIGH" against -q -r 3 --add single.nigh - > /dev/null
done < new.hex
"$NIGH" export -q -o - single.nigh > single.hex
same all.hex single.hex

# An id that is there with other bits: nothing of signatures is added.
printf 'n\t0f0f0f0f0f0f0f0f\na\tf0f0f0f0f0f0f0f0\n' > clash.hex
expect_unchanged c.nigh 2 '' "nigh: the id 'a' already exists; nothing was added" \
    -- "$NIGH" against -r 3 --add c.nigh clash.hex

# More than a thousand equal ones whose first repeats an earlier one: all of them do.
{
    printf 'k\t0000000000000007\n'
    for ((i = 0; i < 3001; i++)); do printf 'c%d\t0000000000000000\n' "$i"; done
} > crowd.hex
for place in crowd.nigh crowd.chunks; do
    [[ $place == *.nigh ]] && printf 'far\tffffffffffffffff\n' | "$NIGH" index -q $place -
    expect 0 ANY ANY -- "$NIGH" against -r 3 --add --new crowd.new --stats s.json $place crowd.hex
    contains .err '3,001 repeat an earlier one of the input, 1 new, 1 added'
    compare crowd.new k crowd.new
    contains .out '{"id1":"c3000","id2":"k","distance":3,"input":true}'
    [[ $(wc -l < .out) == 3001 ]] || fail 'not one match for each'
    contains s.json '"untold":0'
done
# Two earlier ones that they all match: one is told of each but the first, and the others are counted.
{
    printf 'k\t0000000000000007\nl\t0000000000000038\n'
    for ((i = 0; i < 3001; i++)); do printf 'c%d\t0000000000000000\n' "$i"; done
} > two.hex
printf 'far\tffffffffffffffff\n' | "$NIGH" index -q far.nigh -
expect 0 ANY ANY -- "$NIGH" against -r 3 --stats s.json far.nigh two.hex
[[ $(wc -l < .out) == 3002 ]] || fail "$(wc -l < .out) matches"
contains s.json '"untold":3000'
contains .err '3,000 more matches are not listed'

# ------------------------------------------------------------------- methods --

"$NIGH" generate -q --bits 64 -n 5000 -o many.hex || fail generate
head -4000 many.hex > base.hex
tail -1000 many.hex > rest.hex
"$NIGH" index -q big.nigh base.hex
"$NIGH" against -q -r 3 --method scan big.nigh rest.hex > scan.jsonl
[[ -s scan.jsonl ]] || fail 'nothing matched'
for method in auto tables 'tables --blocks 6 --leading 3' 'auto --threads 1' 'tables --threads 3'; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" against -q -r 3 --method $method big.nigh rest.hex > other.jsonl
    same scan.jsonl other.jsonl
done
"$NIGH" against -q -r 12 --method tables --blocks 4 --leading 1 --approximate big.nigh rest.hex > some.jsonl
"$NIGH" against -q -r 12 --method scan big.nigh rest.hex > every.jsonl
sort every.jsonl some.jsonl | uniq -d | grep -v input > both.jsonl
sort some.jsonl | grep -v input > some.sorted
same some.sorted both.jsonl

# -------------------------------------------------------------------- chunks --

expect 2 '' "nigh: 'f.chunks': cannot open: No such file or directory" -- "$NIGH" against f.chunks new.hex
expect 0 '{"id1":"d","id2":"a","distance":0,"input":true}' "4 signatures against 0 of 'f.chunks' within 0 bits: 0 there, 1 repeats an earlier one of the input, 3 new, 3 added; exact; # s (#/s)" \
    -- "$NIGH" against --radius 0 --add f.chunks old.hex
expect_unchanged f.chunks 0 $'v\t0\t3\tcollection\nx\tw\t3\tinput\nz\t2\t1\tcollection' '' \
    -- "$NIGH" against -q --output tsv f.chunks new.hex
for method in scan tables; do
    expect_unchanged f.chunks 0 $'v\t0\t3\tcollection\nx\tw\t3\tinput\nz\t2\t1\tcollection' '' \
        -- "$NIGH" against -q --method $method --output tsv f.chunks new.hex
done
expect 0 ANY '' -- "$NIGH" against -q --add f.chunks new.hex
expect_unchanged f.chunks 0 $'v\t0\t3\tcollection\nw\t3\t0\tcollection\nx\t3\t3\tcollection\ny\t4\t0\tcollection\nz\t2\t1\tcollection' '' \
    -- "$NIGH" against -q --find first --add --output tsv f.chunks new.hex
expect 2 '' ANY -- "$NIGH" against -q old.hex new.hex # a file, but no chunks
expect_unchanged f.chunks 2 '' ANY -- "$NIGH" against -q --add f.chunks f.chunks
# What is empty, or zeros, is made one only where its name says so.
: > notes.txt
head -c 4096 /dev/zero > zeros
for file in notes.txt zeros; do
    expect_unchanged $file 2 '' ANY -- "$NIGH" against --add $file new.hex
    contains .err 'not a file of chunks'
    contains .err '--add starts a file of chunks only by a name that ends in .chunks'
done
cp f.chunks nameless
expect 0 ANY '' -- "$NIGH" against -q --add nameless new.hex
: > empty.chunks
expect 0 ANY '' -- "$NIGH" against -q --add empty.chunks new.hex
expect_unchanged f.chunks 2 '' "nigh: 1 of 4 blocks find all within 3 bits, not 5
nigh: give more --blocks, a smaller --radius, or --method scan" \
    -- "$NIGH" against -r 5 --method tables --blocks 4 --leading 1 f.chunks new.hex
# What --new cannot write is not added either.
mkdir full
for name in fresh.nigh.tmp $(seq -f 'fresh.nigh.%g.tmp' 99); do mkdir "full/$name"; done
printf 'n\t0f0f0f0f0f0f0f0f\n' > one.hex
for place in f.chunks c.nigh; do
    expect_unchanged $place 2 '' "nigh: 'full/fresh': cannot write: File exists" \
        -- "$NIGH" against -r 3 --add --new full/fresh $place one.hex
done

for options in '-o o.jsonl' '--threshold 0.9' --no-verify; do
    # shellcheck disable=SC2086 # two words
    expect_unchanged f.chunks 2 '' ANY -- "$NIGH" against $options f.chunks one.hex
    contains .err 'for a collection for near-copies, not for chunks'
done

# ----------------------------------------------------------------- documents --

words() { for ((i = $1; i < $1 + 80; i++)); do printf 'word%d ' $((i * 7919 % 1009)); done; }
{
    printf '{"id":"one","text":"%s"}\n' "$(words 1)"
    printf '{"id":"two","text":"%s"}\n' "$(words 500)"
} > old.jsonl
{
    printf '{"id":"copy","text":"%s"}\n' "$(words 1)"
    printf '{"id":"fresh","text":"%s"}\n' "$(words 2000)"
    printf '{"id":"again","text":"%s"}\n' "$(words 2000)"
    printf '{"id":"two","text":"%s"}\n' "$(words 2700)"
} > new.jsonl
for way in --stream ''; do # what --add makes; nothing: all at once
    expect 2 '' "nigh against: --add makes a collection for near-copies, of --scheme minhash; 'nigh index' makes others
try 'nigh against --help'" -- "$NIGH" against none.nigh --scheme simhash --add $way new.jsonl
    [[ ! -e none.nigh ]] || fail 'made although the scheme was refused'
done
for scheme in simhash minhash; do # by bits alone
    bits_alone=()
    [[ $scheme == minhash ]] && bits_alone=(--threshold 0)
    "$NIGH" index -q --scheme $scheme "${bits_alone[@]}" $scheme.nigh old.jsonl || fail index
    expect_unchanged $scheme.nigh 0 $'copy\tone\t0\tcollection\nagain\tfresh\t0\tinput' '' \
        -- "$NIGH" against -q --output tsv $scheme.nigh new.jsonl
    expect 0 ANY "nigh: not added: the id 'two' already exists
4 documents against 2 of '$scheme.nigh' within $([[ $scheme == simhash ]] && echo 3 || echo 36) bits: 1 there, 1 repeats an earlier one of the input, 2 new, 1 added; all within them (scan), texts not verified; # s (#/s)" \
        -- "$NIGH" against --add --new fresh.txt $scheme.nigh new.jsonl
    expect 0 '' '' -- "$NIGH" check -q $scheme.nigh
    compare fresh.txt fresh fresh.txt # but not 'two', which was not added
done
"$NIGH" search -q --text "$(words 2000)" -k 1 --output tsv simhash.nigh | cut -f 2,3 > found
compare found $'fresh\t0' found
"$NIGH" search -q --id fresh -k 1 --output jsonl simhash.nigh > shown
contains shown '"text":"word'
expect 0 $'copy\tone\t0\tcollection\nfresh\tfresh\t0\tcollection\nagain\tfresh\t0\tcollection' ANY \
    -- "$NIGH" against --method psm --output tsv simhash.nigh new.jsonl
contains .err 'approximate (psm, '
expect 0 '' '' -- "$NIGH" against -q --add docs.chunks old.jsonl
expect 0 $'copy\t0\t0\tcollection\nagain\tfresh\t0\tinput' '' \
    -- piped new.jsonl "$NIGH" against -q --output tsv docs.chunks -
expect 0 $'copy\t0\t0\tcollection\nagain\tfresh\t0\tinput' '' \
    -- "$NIGH" against -q --output tsv --method psm docs.chunks new.jsonl

# --find: one match of each, the first or any, and looking ends with it.  Of a hundred new ones ninety are there.
probes() { sed 's/.*"probes":\([0-9]*\).*/\1/' "$1"; }
python3 - << 'EOF'
import random
random.seed(3)
def text(): return [f"word{random.randrange(20000)}" for _ in range(120)]
old = [text() for _ in range(2000)]
def put(path, texts):
    with open(path, "w") as file:
        for i, words in enumerate(texts): print('{"id":"%s%d","text":"%s"}' % (path[0], i, " ".join(words)), file=file)
put("old_texts.jsonl", old)
put("new_texts.jsonl", [old[i] if i % 10 else text() for i in range(100)])
EOF
"$NIGH" index -q --scheme simhash texts.nigh old_texts.jsonl || fail index
"$NIGH" against -q --add texts.chunks old_texts.jsonl > /dev/null || fail against
for place in texts.nigh texts.chunks; do
    for find in all first any; do
        expect 0 ANY '' -- "$NIGH" against -q --method psm --probes 64 --find $find --output tsv --stats $find.json \
            $place new_texts.jsonl
        cp .out $find.tsv
        [[ $(wc -l < .out) == 90 ]] || fail "$(wc -l < .out) matches of $place, --find $find"
    done
    same all.tsv any.tsv
    # In memory with the first look-up; in a block of chunks, whose rows are sorted, by half of them.
    (($(probes any.json) * 3 < $(probes all.json) * $([[ $place == texts.nigh ]] && echo 1 || echo 2))) ||
        fail "$place: $(probes any.json) probes for any, $(probes all.json) for all"
    expect 0 ANY '' -- "$NIGH" against -q --method psm --model linear --output tsv $place new_texts.jsonl
    same all.tsv .out
    expect 0 ANY '' -- "$NIGH" against -q --recall 0.9 --model linear --output tsv $place new_texts.jsonl
done
for find in all any; do
    "$NIGH" against -q --method tables --find $find --stats $find.json --output tsv texts.nigh new_texts.jsonl > $find.tsv
done
same all.tsv any.tsv
(($(probes any.json) < $(probes all.json))) || fail 'tables: any looks up as much as all'
# Without numbers the finder is smaller, and nobody knows which it was.
"$NIGH" against -q --method psm --find any --stats numbers.json texts.nigh new_texts.jsonl > numbers.jsonl
expect 0 ANY '' -- "$NIGH" against -q --method psm --find any --without-numbers --stats none.json --new fresh.txt \
    texts.nigh new_texts.jsonl
sed 's/"id2":"[^"]*",//' numbers.jsonl > unnamed.jsonl
same unnamed.jsonl .out
[[ $(wc -l < fresh.txt) == 10 ]] || fail 'not ten are new'
finder_bytes() { sed 's/.*"finder_bytes":\([0-9]*\).*/\1/' "$1"; }
(($(finder_bytes none.json) + 4 * 2000 <= $(finder_bytes numbers.json))) || fail 'numbers are kept'
expect 0 ANY '' -- "$NIGH" against -q --method psm --find any --without-numbers --output tsv texts.nigh new_texts.jsonl
head -1 .out > got
compare 'the first' $'n1\t\t0\tcollection' got

# What it took.
expect 0 ANY '' -- "$NIGH" against -q --stats s.json simhash.nigh new.jsonl
for key in '"queries":4' '"matches":' '"there":' '"new":' '"radius":3' '"exact":1' '"truncated":0'; do contains s.json "$key"; done

# Many copies on both sides: all are told, whatever the memory; with --max-matches the nearest, and the rest is counted.
python3 -c 'for i in range(3000): print("s%d\t0123456789abcdef" % i)' > crowd.hex
python3 -c 'for i in range(40): print("n%d\t0123456789abcdee" % i)' > many.hex
"$NIGH" index -q crowd.nigh crowd.hex || fail index
expect 0 ANY ANY -- "$NIGH" against -r 3 --output tsv --stats s.json crowd.nigh many.hex
[[ $(wc -l < .out) == 120000 ]] || fail "$(wc -l < .out) matches"
contains s.json '"matches":120000'
contains s.json '"untold":0'
cp .out all.tsv
expect 0 ANY '' -- "$NIGH" against -q -r 3 --memory 1M --output tsv crowd.nigh many.hex
same all.tsv .out
head -2 .out > got
compare 'the first' $'n0\ts0\t1\tcollection\nn0\ts1\t1\tcollection' got
"$NIGH" against -q -r 0 --add copies.chunks base.hex > /dev/null || fail against
for place in crowd.nigh copies.chunks; do
    expect 0 ANY ANY -- "$NIGH" against -r "$([[ $place == crowd.nigh ]] && echo 3 || echo 64)" --max-matches 1000 \
        --output tsv --stats s.json $place many.hex
    [[ $(wc -l < .out) == 40000 ]] || fail "$(wc -l < .out) matches"
    contains .err 'not listed: of each document the nearest are, up to --max-matches'
done
contains s.json '"untold":1'

# ------------------------------------------------------------------ wrong use --

expect 2 '' "nigh against: 'c.nigh' holds signatures of your own; say with --radius how many bits may differ
try 'nigh against --help'" -- "$NIGH" against c.nigh new.hex
expect 2 '' "nigh against: --method psm needs to know how sure each bit is, which signatures cannot tell
try 'nigh against --help'" -- "$NIGH" against -r 3 --method psm c.nigh new.hex
expect 2 '' "nigh against: --blocks, --leading and --approximate go with --method tables
try 'nigh against --help'" -- "$NIGH" against -r 3 --blocks 4 --leading 1 c.nigh new.hex
expect 2 '' "nigh against: --blocks and --leading go together
try 'nigh against --help'" -- "$NIGH" against -r 3 --method tables --blocks 4 c.nigh new.hex
expect 2 '' "nigh against: '--first' is now '--find first'
try 'nigh against --help'" -- "$NIGH" against -r 3 --first c.nigh new.hex
expect 2 '' ANY -- "$NIGH" against -r 3 --find some c.nigh new.hex
expect 2 '' "nigh: 1 of 4 blocks find all within 3 bits, not 5: ask for a radius up to 3, or allow it to miss some that are farther (approximate)
nigh: give more --blocks, a smaller --radius, or --approximate, which may miss some" \
    -- "$NIGH" against -r 5 --find any --method tables --blocks 4 --leading 1 c.nigh new.hex
for method in scan tables auto; do
    expect 2 '' "nigh against: --model goes with --method psm, or with --recall
try 'nigh against --help'" -- "$NIGH" against --method $method --model linear simhash.nigh new.jsonl
done
for options in '--method psm' '--method psm --find first' '--find any' '--method tables --find any'; do
    # shellcheck disable=SC2086 # several words
    expect 2 '' "nigh against: --without-numbers goes with --method psm and --find any
try 'nigh against --help'" -- "$NIGH" against $options --without-numbers simhash.nigh new.jsonl
done
expect 2 '' "nigh against: --without-numbers goes with one of the --rotations
try 'nigh against --help'" -- "$NIGH" against --method psm --find any --rotations 2 --without-numbers simhash.nigh new.jsonl
expect 2 '' "nigh against: --without-numbers is for a collection; chunks are not loaded
try 'nigh against --help'" -- "$NIGH" against --method psm --find any --without-numbers docs.chunks new.jsonl
"$NIGH" index -q --scheme simhash --bits 128 wide.nigh old.jsonl || fail index
expect 2 '' "nigh: 'wide.nigh': holds signatures of 128 bits; only rows of 64 bits are kept without numbers" \
    -- "$NIGH" against -r 6 --method psm --find any --without-numbers wide.nigh new.jsonl
"$NIGH" against -q --add copies.nigh old.jsonl > /dev/null || fail against
for find in first any; do
    expect_unchanged copies.nigh 2 '' ANY -- "$NIGH" against --find $find copies.nigh new.jsonl
    contains .err 'near-copies are found by --threshold'
done
expect 2 '' "nigh against: --recall takes a number above 0 and up to 1, not '2'
try 'nigh against --help'" -- "$NIGH" against -r 3 --recall 2 c.nigh new.hex
expect 2 '' "nigh against: --memory takes a number of bytes such as 500M or 2G, not '2X'
try 'nigh against --help'" -- "$NIGH" against -r 3 --memory 2X c.nigh new.hex
expect 2 '' ANY -- "$NIGH" against -r 3 --memory 1 c.nigh new.hex
expect 2 '' "nigh against: --new 'new.hex' and the input 'new.hex' are the same file
try 'nigh against --help'" -- "$NIGH" against -r 3 --new new.hex c.nigh new.hex
expect 2 '' "nigh against: no INPUT given; '-' is standard input
try 'nigh against --help'" -- "$NIGH" against c.nigh
expect_unchanged c.nigh 2 '' ANY -- "$NIGH" against -r 5 --method tables --blocks 4 --leading 1 --add c.nigh new.hex
contains .err '3'
expect_unchanged c.nigh 2 '' ANY -- "$NIGH" against -r 3 --add c.nigh missing.hex
expect 2 '' "nigh: 'simhash.nigh' holds simhash signatures, not minhash" \
    -- "$NIGH" against --scheme minhash simhash.nigh new.jsonl
# Signatures of one's own do not go into what nigh has signed; the width is not the reason.
expect_unchanged simhash.nigh 2 '' ANY -- "$NIGH" against --add simhash.nigh new.hex
grep -q 'holds signatures of' .err && fail 'the width is told though it is right'
printf 'q\t00\n' > narrow.hex
expect_unchanged c.nigh 2 '' ANY -- "$NIGH" against -r 3 --add c.nigh narrow.hex
expect 2 '' ANY -- "$NIGH" against -r 3 no.nigh new.hex

finish
