#!/usr/bin/env bash
# nigh against --add --stream: an answer to each line, what one nigh dedup keeps, whatever the groups, and a log that
# outlives a kill.  needs: documents
. "${0%/*}/_lib.sh"

python3 - << 'PY'
import json, random
random.seed(6)
families = [[random.randrange(10**6) for _ in range(60)] for _ in range(40)]
with open("all.jsonl", "w") as out:
    for i in range(500):
        words = list(random.choice(families)) if i % 4 else [random.randrange(10**6) for _ in range(60)]
        for _ in range(random.randrange(9)):
            words[random.randrange(60)] = random.randrange(10**6)
        text = "!" * (i % 5 + 1) if i % 60 == 7 else " ".join(f"w{word}" for word in words)
        out.write(json.dumps({"id": f"d{i}", "text": text}) + "\n")
PY
expect 0 '' '' -- "$NIGH" dedup -q all.jsonl -o kept.jsonl --clusters clusters.jsonl

# held ANSWERS: they are what dedup says of each document.
held() {
    python3 - "$1" << 'PY' || fail "$1 is not what dedup says"
import json, sys
answers = [json.loads(line) for line in open(sys.argv[1])]
clusters = [json.loads(line) for line in open("clusters.jsonl")]
assert [a["id"] for a in answers] == [c["id"] for c in clusters], "not one for each"
for answer, cluster in zip(answers, clusters):
    assert answer["cluster"] == cluster["cluster"] and answer["new"] == cluster["keep"], (answer, cluster)
    assert answer["new"] or (answer["match"] == answer["cluster"] and answer["similarity"] >= 0.8), answer
PY
}

for group in 1 7 1024; do
    rm -rf s.nigh
    piped all.jsonl "$NIGH" against -q --add --stream --group $group --log-size 40K s.nigh > answers.jsonl
    held answers.jsonl
    expect 0 '' '' -- "$NIGH" check -q s.nigh
    [[ $(cd s.nigh && ls) != *log-* ]] || fail "a log is left"
done
for sync in each never; do
    rm -rf s.nigh
    expect 0 ANY '' -- "$NIGH" against -q --add --stream --sync $sync s.nigh all.jsonl
    cp .out answers.jsonl
    held answers.jsonl
done

# Through a pipe, one line at a time: each is answered before the next is sent.
python3 - "$NIGH" << 'PY' || fail "a line is not answered as it comes"
import json, subprocess, sys
tool = subprocess.Popen([sys.argv[1], "against", "-q", "--add", "--stream", "p.nigh"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
for i, line in enumerate(open("all.jsonl", "rb")):
    if i == 50:
        break
    tool.stdin.write(line)
    tool.stdin.flush()
    assert json.loads(tool.stdout.readline())["id"] == f"d{i}"
tool.kill()
tool.wait()
PY

# What was acknowledged is in the log: nobody else adds before it is taken up, and then it is there.
[[ $(cd p.nigh && ls) == *log-* ]] || fail "no log is left"
head -50 all.jsonl > 50.jsonl
"$NIGH" dedup -q 50.jsonl -o 50.kept
expect 0 ANY ANY -- "$NIGH" check p.nigh
[[ $(head -1 .out) == "'p.nigh' is sound: $(wc -l < 50.kept) documents in 3 files, "* ]] || fail "the log is not checked"
expect_unchanged p.nigh 2 '' "nigh: 'p.nigh': there is a log of documents that are in no segment yet; 'nigh against --add --stream' makes a segment of it" \
    -- "$NIGH" against -q --add p.nigh 50.jsonl
expect 0 ANY '' -- "$NIGH" against -q --add --stream p.nigh all.jsonl
tail -n +51 .out > answers.tail
python3 -c '
import json
for line in open("answers.tail"): json.loads(line)' || fail "answers are not JSON"
expect 0 '' '' -- "$NIGH" check -q p.nigh
"$NIGH" export p.nigh -o ids.hex 2> /dev/null
[[ $(cut -f1 ids.hex) == $(python3 -c '
import json
print("\n".join(json.loads(line)["id"] for line in open("kept.jsonl")))') ]] || fail "another collection than dedup keeps"

# A log that is cut loses its end; one with damage in its middle is refused, and repaired.
python3 - "$NIGH" << 'PY'
import subprocess, sys
tool = subprocess.Popen([sys.argv[1], "against", "-q", "--add", "--stream", "--group", "1", "q.nigh"],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in list(open("kept.jsonl", "rb"))[:20]:
    tool.stdin.write(line)
    tool.stdin.flush()
    tool.stdout.readline()
tool.kill()
tool.wait()
PY
cp -r q.nigh cut.nigh
truncate -s -5 cut.nigh/log-*
expect 0 '' 'took up a log that was left: 19 documents; '"$(python3 -c '
import os, glob
path = glob.glob("q.nigh/log-*")[0]
data = open(path, "rb").read()
print(len(data) - 5 - data.rfind(b"NGRD"))')"' bytes at its end were never acknowledged, and dropped
0 documents: 0 new, added; 0 there already; 0 syncs' -- "$NIGH" against --add --stream cut.nigh /dev/null
log=$(echo q.nigh/log-*)
printf X | dd of="$log" bs=1 seek=1000 conv=notrunc status=none
expect_unchanged q.nigh 2 '' ANY -- "$NIGH" against -q --add --stream q.nigh /dev/null
grep -q "'$log', offset [0-9]*: a damaged record, which was on the disk before later ones were written; 'nigh check --repair' saves the others" .err ||
    fail "the offset is not told: $(cat .err)"
expect 2 '' ANY -- "$NIGH" check -q q.nigh
expect 0 '' ANY -- "$NIGH" check -q --repair q.nigh
grep -q "'$log', offset [0-9]*: lost: [0-9]* bytes, of 1 document or more" .err || fail "what was lost is not told"
expect 0 '' '' -- "$NIGH" check -q q.nigh
expect 0 ANY '' -- "$NIGH" against -q --add --stream q.nigh kept.jsonl
[[ $(head -20 .out | grep -c '"new":true') == 1 ]] || fail "more than the damaged document was lost"

# Lines that are no documents are answered, and counted.
printf '{"id":"a","text":"some words to be read here"}\n\nno json\n{"id":"b"}\n' > bad.jsonl
expect 0 '{"id":"a","new":true,"cluster":"a"}
{"line":3,"error":"not JSON: neither true nor false nor null"}
{"line":4,"error":"no document in this line"}' '' -- "$NIGH" against -q --add --stream b.nigh bad.jsonl
expect 2 ANY 'nigh: 2 lines are no document; --strict ends here' -- "$NIGH" against -q --strict --add --stream b2.nigh bad.jsonl
expect 2 ANY 'nigh: 2 lines are no document; --max-errors allows no more' \
    -- "$NIGH" against -q --max-errors 1 --add --stream b3.nigh bad.jsonl

# Signatures, by lines of hex.
printf 'p\t0000000000000000\nq\t0000000000000001\nr\tffff000000000000\nzz\np\tffffffff00000000\n' > rows.hex
expect 0 '{"id":"p","new":true,"cluster":"p"}
{"id":"q","new":false,"match":"p","distance":1,"cluster":"p"}
{"id":"r","new":true,"cluster":"r"}
{"line":4,"error":"'"'z'"' in column 1 is not a hex digit"}
{"id":"p","new":true,"added":false,"why":"the id already exists"}' '' \
    -- "$NIGH" against -q --add --stream --bits 64 --format hex --radius 3 h.nigh rows.hex
expect 2 '' ANY -- "$NIGH" against -q --add --stream h.nigh rows.hex # without a radius

expect 2 '' ANY -- "$NIGH" against --stream s.nigh
expect 2 '' ANY -- "$NIGH" against --add --stream s.nigh -o new.jsonl
expect 2 '' ANY -- "$NIGH" against --add --stream
expect 2 '' ANY -- "$NIGH" against --add --stream x.chunks
expect 2 '' ANY -- "$NIGH" against --add --stream s.nigh a b
finish
