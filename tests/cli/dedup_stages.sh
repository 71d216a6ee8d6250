#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh dedup --work: the bytes of a plain run for any number of shards and processes, and what it refuses.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# Copies, near-copies, a crowd, malformed lines and an empty file; two of the inputs compressed.
python3 - << 'END' || fail 'no documents'
import gzip, json, random
rng = random.Random(5)
template = ["word%d" % i for i in range(80)]
lines = []
for i in range(1500):
    words = list(template) if i % 4 == 0 else ["t%dw%d" % (i % 150, k) for k in range(60)]
    for _ in range(rng.randint(0, 4)):
        words[rng.randrange(len(words))] = "other%d" % rng.randrange(10**9)
    lines.append(json.dumps({"id": i, "stars": rng.randrange(9), "text": " ".join(words)}))
    if i % 100 == 0:
        lines.append(lines[rng.randrange(len(lines))])
        lines.append("this is no JSON")
        lines.append("")
rng.shuffle(lines)
open("a.jsonl", "w").write("\n".join(lines[:600]) + "\n")
gzip.open("b.jsonl.gz", "wt").write("\n".join(lines[600:900]))
open("empty.jsonl", "w")
open("c.jsonl", "w").write("\ufeff" + "\n".join(lines[900:1100]))
gzip.open("d.jsonl.gz", "wt").write("\n".join(lines[1100:]) + "\n")
END
inputs=(a.jsonl b.jsonl.gz empty.jsonl c.jsonl d.jsonl.gz)

# same_page PLAIN STAGED: but for what the pages say of the work.
same_page() {
    for page in "$@"; do sed '/How it was done/,$d' "$page" > "$page.part"; done
    [[ -s $1.part ]] || fail 'no page'
    same "$1.part" "$2.part"
}

expect 0 '' ANY -- "$NIGH" dedup "${inputs[@]}" -o plain.jsonl
[[ $(wc -l < plain.jsonl) -lt 1400 ]] || fail 'nothing went'
for shards in 1 2 7; do
    expect 0 '' ANY -- "$NIGH" dedup --work "w$shards" --shards "$shards" "${inputs[@]}" -o out.jsonl
    same plain.jsonl out.jsonl
    contains .err 'documents:'
done
for form in gz zst; do
    "$NIGH" dedup "${inputs[@]}" -o "plain.jsonl.$form" --quiet || fail 'plain'
    expect 0 '' '' -- "$NIGH" dedup --work w2 -o "out.jsonl.$form" --quiet
    same "plain.jsonl.$form" "out.jsonl.$form"
done
"$NIGH" dedup "${inputs[@]}" -o - --quiet > plain.out
expect 0 ANY '' -- "$NIGH" dedup --work w2 -o - --quiet
same plain.out .out

# Options are the plan's; memory and threads are anybody's.
options=(--threshold 0.6 --features chars:6 --keep score:stars --cluster complete --budget 50 --seed 17 --min-words 3)
expect 0 '' ANY -- "$NIGH" dedup "${options[@]}" "${inputs[@]}" -o plain.jsonl
expect 0 ANY '' -- "$NIGH" dedup --work o --plan --shards 3 "${options[@]}" "${inputs[@]}"
cp .out table
contains table 'stage        tasks      memory        disk'
[[ $(grep -c '^[a-z]* *[13]  ' table) == 9 ]] || fail "$(cat table)"
for stage in sign copies postings buckets pairs; do
    for shard in 2 0 1; do
        expect 0 '' ANY -- "$NIGH" dedup --work o --stage $stage --shard $shard/3 --threads $((shard + 1)) --memory 2M
        contains .err "stage $stage, shard $shard/3: done,"
    done
done
expect 0 '' ANY -- "$NIGH" dedup --work o --stage components --shard 0/1
expect 0 '' ANY -- "$NIGH" dedup --work o --stage sign --shard 1/3
contains .err 'stage sign, shard 1/3: was done before'
expect 0 '' ANY -- "$NIGH" dedup --work o -o out.jsonl --stats stats.json
same plain.jsonl out.jsonl
contains .err '16 tasks had been done before'
grep -q '"tasks_done_before":16' stats.json || fail "$(cat stats.json)"
for shard in 0 1 2; do
    expect 0 '' '' -- "$NIGH" dedup --work o --stage rewrite --shard $shard/3 -o part.$shard
done
cat part.0 part.1 part.2 | sed $'s/\xef\xbb\xbf//' > parts # a mark of UTF-8 may begin a part
same plain.jsonl parts

# In processes of their own; and once more where one file was damaged and one is gone.
expect 0 '' ANY -- "$NIGH" dedup --work p --shards 4 --processes 2 --memory 64M "${options[@]}" "${inputs[@]}" -o out.jsonl
same plain.jsonl out.jsonl
printf 'x' | dd of=p/buckets-2 bs=1 seek=80 conv=notrunc status=none
rm p/verify-3
expect 0 '' ANY -- "$NIGH" dedup --work p -o out.jsonl
same plain.jsonl out.jsonl
grep -q "^warning: 'p/buckets-2', offset [0-9]*: a block failed its checksum; it was made again$" .err || fail "$(cat .err)"
contains .err '27 tasks had been done before'

# Folders and pages.
mkdir pages && for i in 1 2 3; do printf '<html><p>one page about %s and no other</p></html>' "$((i / 2))" > pages/$i.html; done
cp pages/1.html pages/copy.html
expect 0 '' ANY -- "$NIGH" dedup pages -o plain.jsonl
expect 0 '' ANY -- "$NIGH" dedup --work f --shards 2 pages -o out.jsonl
same plain.jsonl out.jsonl

# More documents than the memory has room for: in stages unasked, whose folder is gone afterwards.
expect 0 '' ANY -- "$NIGH" dedup "${inputs[@]}" -o plain.jsonl
mkdir large tmp
expect 0 '' ANY -- "$NIGH" dedup --memory 200K "${inputs[@]}" -o large/out.jsonl --stats stats.json
grep -q "^about [0-9,]* documents would take .* of memory, and there is 205 KB: in stages, in 'large/out.jsonl.nigh-work" .err ||
    fail "$(cat .err)"
same plain.jsonl large/out.jsonl
grep -q '"components":[1-9]' stats.json || fail "$(cat stats.json)"
expect 0 ANY ANY -- "$NIGH" dedup --memory 200K --temporary tmp "${inputs[@]}" -o -
contains .err "in 'tmp/nigh-work."
same plain.jsonl .out
expect 2 '' ANY -- "$NIGH" dedup --memory 200K a.jsonl cut.gz -o large/none.jsonl
head -c 2000 d.jsonl.gz > cut.gz
expect 2 '' ANY -- "$NIGH" dedup --memory 200K --format jsonl "${inputs[@]}" cut.gz -o large/none.jsonl
grep -q 'would be missing' .err || fail "$(cat .err)"
[[ $(ls large tmp) == $'large:\nout.jsonl\n\ntmp:' ]] || fail "$(ls large tmp)"
# So are clusters, pairs and the page; all pairs, of which stages list all or none, are done as ever.
told=(--pairs-per-cluster tree --clusters)
expect 0 '' ANY -- "$NIGH" dedup "${inputs[@]}" "${told[@]}" plain.clusters --pairs plain.pairs --report plain.html
expect 0 '' ANY -- "$NIGH" dedup --memory 200K "${inputs[@]}" "${told[@]}" large/clusters --pairs pairs --report page.html
grep -q "in stages, in 'large/clusters.nigh-work" .err || fail "$(cat .err)"
same plain.clusters large/clusters
same plain.pairs pairs
same_page plain.html page.html
expect 0 '' ANY -- "$NIGH" dedup --memory 200K "${inputs[@]}" -o out.jsonl --pairs pairs.jsonl
grep -q 'in stages' .err && fail 'stages with all pairs'
same plain.jsonl out.jsonl
rm large/clusters

# All that can be written of a plan that lists all pairs, together and each by itself.
expect 0 '' ANY -- "$NIGH" dedup "${inputs[@]}" -o plain.jsonl --clusters plain.clusters --pairs plain.pairs --report plain.html
for shards in 1 2 7; do
    expect 0 '' ANY -- "$NIGH" dedup --work "t$shards" --shards "$shards" "${inputs[@]}" \
        -o out.jsonl --clusters clusters --pairs pairs --report page.html --stats stats.json
    same plain.jsonl out.jsonl
    same plain.clusters clusters
    same plain.pairs pairs
    same_page plain.html page.html
    grep -q "\"listed\":$(wc -l < pairs)[,}]" stats.json || fail "$(cat stats.json)"
    expect 0 '' ANY -- "$NIGH" dedup --work "t$shards" --clusters clusters
    same plain.clusters clusters
    expect 0 ANY '' -- "$NIGH" dedup --work "t$shards" --pairs - --quiet
    same plain.pairs .out
    expect 0 '' '' -- "$NIGH" dedup --work "t$shards" --report page.html --quiet
    same_page plain.html page.html
done
expect 2 '' ANY -- "$NIGH" dedup --work t2 --pairs never.jsonl --pairs-per-cluster tree
contains .err "the plan of 't2' lists all pairs"
expect 2 '' ANY -- "$NIGH" dedup --work w2 --clusters c.jsonl
contains .err "--clusters 'c.jsonl' and the input 'c.jsonl' are the same file"
expect 2 '' ANY -- "$NIGH" dedup --work w2 --pairs never.jsonl
contains .err "the plan of 'w2' was made without --pairs"
"$NIGH" dedup "${inputs[@]}" --pairs plain.pairs --pairs-per-cluster tree --quiet || fail 'no tree'
expect 0 '' ANY -- "$NIGH" dedup --work w2 --pairs pairs --pairs-per-cluster tree
same plain.pairs pairs
expect 2 '' ANY -- "$NIGH" dedup --work few --pairs-limit 100 "${inputs[@]}" -o never.jsonl --pairs never.jsonl.pairs
contains .err 'for a limit of 100; stages list all or none; plan with a higher --pairs-limit, or with --pairs-per-cluster tree'
[[ ! -e never.jsonl && ! -e never.jsonl.pairs ]] || fail 'something was written'
expect 2 '' ANY -- "$NIGH" dedup --work few --report never.html
[[ ! -e never.html ]] || fail 'a page was written'
"$NIGH" dedup "${inputs[@]}" --clusters plain.clusters --quiet || fail 'no clusters'
expect 0 '' ANY -- "$NIGH" dedup --work few -o out.jsonl --clusters clusters
same plain.jsonl out.jsonl
same plain.clusters clusters

# What is refused, with nothing written.
expect 2 '' ANY -- "$NIGH" dedup --work pages/work pages -o never.jsonl
contains .err "--work 'pages/work' is in the folder 'pages', which is read"
[[ ! -e pages/work ]] || fail 'a work folder'
rm -f never.jsonl
printf '{"text":"one more"}\n' >> c.jsonl
expect 2 '' "nigh: 'c.jsonl': has changed since the plan was made; begin again in an empty directory" -- \
    "$NIGH" dedup --work w2 -o never.jsonl
expect 2 '' "nigh: 'w2': has another plan, of other inputs, options or shards; take an empty directory" -- \
    "$NIGH" dedup --work w2 --shards 3 a.jsonl -o never.jsonl
"$NIGH" dedup --work x --plan --shards 2 a.jsonl d.jsonl.gz > /dev/null || fail 'no plan'
expect 2 '' "nigh: 'x': the plan has 2 tasks for stage sign, not 3" -- "$NIGH" dedup --work x --stage sign --shard 0/3
expect 2 '' ANY -- "$NIGH" dedup --work x --stage copies --shard 0/2
contains .err "'x/sign-0': cannot open: No such file or directory"
expect 0 '' ANY -- "$NIGH" dedup --work x --stage sign --shard 0/2
expect 2 '' "nigh: 'x': another process is doing stage 'sign', shard 1/2" -- \
    flock x/sign-1.lock "$NIGH" dedup --work x --stage sign --shard 1/2
cp x/sign-0 x/sign-1
expect 2 '' "nigh: 'x/sign-1': is shard 0/2, not 1/2" -- "$NIGH" dedup --work x --stage copies --shard 0/2
expect 0 '' ANY -- "$NIGH" dedup --work x --stage sign --shard 1/2
contains .err "warning: 'x/sign-1': is shard 0/2, not 1/2; it was made again"
cp w2/sign-0 x/sign-0
expect 2 '' "nigh: 'x/sign-0': is of another plan" -- "$NIGH" dedup --work x --stage copies --shard 0/2
printf '\377' | dd of=x/plan bs=1 seek=8 conv=notrunc status=none
expect 2 '' "nigh: 'x/plan', offset 8: is of version 255; this one knows 2" -- "$NIGH" dedup --work x -o never.jsonl
mkdir none
expect 2 '' "nigh: 'none/plan': cannot open: No such file or directory" -- "$NIGH" dedup --work none -o never.jsonl
expect 2 '' ANY -- "$NIGH" dedup --work y --method exact a.jsonl -o never.jsonl
contains .err 'another method than minhash does not go with stages'
expect 2 '' ANY -- "$NIGH" dedup --work y --annotate a.jsonl -o never.jsonl
expect 2 '' ANY -- "$NIGH" dedup --work y --plan a.jsonl --clusters never.jsonl
expect 2 '' ANY -- "$NIGH" dedup --work w2 --stage rewrite --shard 0/2 -o never.jsonl --pairs never.jsonl.pairs
expect 2 '' ANY -- "$NIGH" dedup --work w2 --slurm -o never.jsonl --report never.html
expect 2 '' ANY -- "$NIGH" dedup --work w2 --report never.jsonl/page.html
expect 2 '' ANY -- "$NIGH" dedup --plan a.jsonl
expect 2 '' ANY -- "$NIGH" dedup --work y --plan -
expect 2 '' ANY -- "$NIGH" dedup --work w2 --stage sgin --shard 0/2
[[ ! -e never.jsonl ]] || fail 'something was written'

# A damaged input is a loss, which is refused unless it is allowed.
head -c 2000 d.jsonl.gz > cut.jsonl.gz
expect 2 '' ANY -- "$NIGH" dedup --work cut a.jsonl cut.jsonl.gz -o never.jsonl
grep -q 'would be missing' .err || fail "$(cat .err)"
[[ ! -e never.jsonl ]] || fail 'something was written'
finish
