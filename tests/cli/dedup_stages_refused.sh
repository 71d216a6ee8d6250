#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What stages refuse, each stage as the one that meets it: files that are missing, doubled, damaged, of another plan or
# of another version, inputs that change on the way, and two runs at once.  Each error names the file and nothing is
# written.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'END' || fail 'no documents'
import json, os, random
rng = random.Random(9)
os.mkdir("folder")
for name in ("a.jsonl", "b.jsonl", "folder/1.jsonl", "folder/2.jsonl"):
    with open(name, "w") as out:
        for i in range(200):
            which = rng.randrange(80)
            words = ["t%dw%d" % (which, k) for k in range(40)]
            for k in range(rng.randrange(3)):
                words[rng.randrange(40)] = "other%d" % rng.randrange(1000)
            out.write(json.dumps({"id": i, "text": " ".join(words)}) + "\n")
END
stages=(sign copies postings buckets pairs components sets verify)

# tasks STAGE: how many it has.
tasks() { if [[ $1 == components ]]; then echo 1; else echo 2; fi; }

# task WORK STAGE SHARD: does it, with what is kept in "out" where it is the last stage.
task() {
    local output=()
    [[ $2 != rewrite ]] || output=(-o out)
    "$NIGH" dedup --work "$1" --stage "$2" --shard "$3/$(tasks "$2")" "${output[@]}"
}

# Two works of the same inputs, done but for the output; the second is another plan.
for work in w other; do
    "$NIGH" dedup --work $work --plan --shards 2 a.jsonl b.jsonl > /dev/null || fail 'no plan'
    for stage in "${stages[@]}"; do
        for ((shard = 0; shard < $(tasks "$stage"); shard++)); do
            expect 0 '' ANY -- task $work "$stage" $shard
        done
    done
done

# refused FILE WHY NEXT: task 0 of the stage NEXT, not done yet, is refused for what is wrong with the file.
refused() {
    [[ ! -e w/$3-0 ]] || mv "w/$3-0" done-before
    expect 2 '' ANY -- task w "$3" 0
    grep -q "^nigh: '$1'.*$2" .err || fail "$3 with $1: $(cat .err)"
    [[ ! -e w/$3-0 && ! -e out ]] || fail "$3 wrote something in spite of $1"
    [[ ! -e done-before ]] || mv done-before "w/$3-0"
}

# wrong FILE NEXT: every way in which the file of a stage can be wrong, met by the stage NEXT.
wrong() {
    local file=$1 next=$2
    mv "$file" sound
    refused "$file" 'cannot open: No such file or directory' "$next"
    cp "other/${file##*/}" "$file"
    refused "$file" 'is of another plan' "$next"
    if [[ $file != w/components-* ]]; then
        cp "${file%-*}-$((1 - ${file##*-}))" "$file"
        refused "$file" "is shard $((1 - ${file##*-}))/2, not ${file##*-}/2" "$next"
    fi
    head -c 40 sound > "$file"
    refused "$file" 'is not a file of a stage' "$next"
    head -c -8 sound > "$file"
    refused "$file" 'the index is not where it should be' "$next"
    cp sound "$file"
    printf '\011' | dd of="$file" bs=1 seek=8 conv=notrunc status=none
    refused "$file" 'is of version 9; this one knows 2' "$next"
    expect 2 '' ANY -- task w "${file:2:-2}" "${file##*-}" # nor is what another version made made again
    contains .err "'$file', offset 8: is of version 9; this one knows 2"
    mv sound "$file"
}

wrong w/sign-1 copies
wrong w/copies-1 postings
wrong w/postings-1 buckets
wrong w/buckets-1 pairs
wrong w/pairs-1 components
wrong w/components-0 sets
wrong w/sets-1 verify
wrong w/verify-1 rewrite
wrong w/sign-1 buckets
wrong w/copies-1 rewrite
for shard in 0 1; do expect 0 '' '' -- task w rewrite $shard; done
rm out

# Inputs that change between stages: by length or time, whoever reads them; and what cannot be seen so, when it is read.
for stage in "${stages[@]}" rewrite; do
    [[ ! -e w/$stage-0 ]] || mv "w/$stage-0" done-before
    cp -p b.jsonl b.before
    echo '{"text":"one more"}' >> b.jsonl
    expect 2 '' "nigh: 'b.jsonl': has changed since the plan was made; begin again in an empty directory" -- \
        task w "$stage" 0
    rm b.jsonl
    expect 2 '' "nigh: 'b.jsonl': cannot open: No such file or directory" -- task w "$stage" 0
    mv b.before b.jsonl
    [[ ! -e w/$stage-0 && ! -e out ]] || fail "$stage wrote something"
    [[ ! -e done-before ]] || mv done-before "w/$stage-0"
done
cp -p a.jsonl a.before
sed -i 's/w1 /W7 /g' a.jsonl
touch -r a.before a.jsonl
mv w/sets-0 done-before
expect 2 '' ANY -- task w sets 0
grep -q "^nigh: 'a.jsonl'.*changed" .err || fail "$(cat .err)"
[[ ! -e w/sets-0 ]] || fail 'sets wrote something'
mv done-before w/sets-0
mv a.before a.jsonl

# A folder that has one more file, or one less.
"$NIGH" dedup --work f --plan folder > /dev/null || fail 'no plan'
for stage in "${stages[@]:0:6}"; do expect 0 '' ANY -- "$NIGH" dedup --work f --stage "$stage" --shard 0/1; done
cp a.jsonl folder/0.jsonl
expect 2 '' ANY -- "$NIGH" dedup --work f -o out
grep -q "^nigh: .*folder.*changed" .err || fail "$(cat .err)"
rm folder/0.jsonl
mv folder/2.jsonl kept
expect 2 '' ANY -- "$NIGH" dedup --work f -o out
grep -q "^nigh: .*changed" .err || fail "$(cat .err)"
mv kept folder/2.jsonl
[[ ! -e out ]] || fail 'something was written'
expect 0 '' ANY -- "$NIGH" dedup --work f -o out
rm out

# A work folder or an output among the inputs.
expect 2 '' ANY -- "$NIGH" dedup --work folder/w folder -o out
contains .err "--work 'folder/w' is in the folder 'folder', which is read"
expect 2 '' ANY -- "$NIGH" dedup --work folder folder -o out
contains .err "is in the folder 'folder', which is read"
expect 2 '' ANY -- "$NIGH" dedup --work w -o b.jsonl
contains .err "-o 'b.jsonl' and the input 'b.jsonl' are the same file"
expect 2 '' ANY -- "$NIGH" dedup --work f -o folder/out
contains .err "-o 'folder/out' is in the folder 'folder', which is read"
[[ ! -e folder/w && ! -e folder/plan && ! -e folder/out ]] || fail 'something was written among the inputs'

# Two runs in one folder: whoever comes second at a task is told so; the first goes on, and its output is whole.
"$NIGH" dedup a.jsonl b.jsonl -o plain --quiet || fail 'no plain run'
for stage in "${stages[@]}"; do
    last=$(($(tasks "$stage") - 1))
    expect 2 '' "nigh: 'w': another process is doing stage '$stage', shard $last/$((last + 1))" -- \
        flock "w/$stage-$last.lock" "$NIGH" dedup --work w -o out --quiet
    [[ ! -e out ]] || fail 'something was written'
done
"$NIGH" dedup --work both --shards 2 a.jsonl b.jsonl -o out.1 --quiet 2> err.1 &
first=$!
"$NIGH" dedup --work both --shards 2 a.jsonl b.jsonl -o out.2 --quiet 2> err.2
second=$?
wait $first
first=$?
for run in 1 2; do
    code=$first
    [[ $run == 1 ]] || code=$second
    if [[ $code == 0 ]]; then same plain out.$run; elif [[ -e out.$run ]]; then fail "run $run failed, and wrote"; fi
    [[ $code == 0 ]] || grep -q "^nigh: 'both" err.$run || fail "run $run: $(cat err.$run)"
done
expect 0 '' '' -- "$NIGH" dedup --work both -o out --quiet
same plain out
finish
