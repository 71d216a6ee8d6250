#!/usr/bin/env bash
# Six days of nigh against --add with all that happens to people, and in the end exactly what one nigh dedup of
# everything gives.  needs: documents
. "${0%/*}/_lib.sh"

# Days of documents: families of near-copies, copies, and texts without a word.
python3 - << 'PY'
import json, random
random.seed(5)
day = [[] for _ in range(6)]
families = [[random.randrange(10**6) for _ in range(60)] for _ in range(40)]
for i in range(900):
    words = list(random.choice(families)) if i % 4 else [random.randrange(10**6) for _ in range(60)]
    for _ in range(random.randrange(9)):
        words[random.randrange(60)] = random.randrange(10**6)
    text = "!" * (i % 5 + 1) if i % 60 == 7 else " ".join(f"w{word}" for word in words)
    day[i * 6 // 900].append({"id": f"d{i}", "text": text})
day[4].append({"id": "d3", "text": "another text under an id that is there, long enough to have features of its own"})
for n, records in enumerate(day):
    with open(f"day{n}.jsonl", "w") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)
PY
cat day0.jsonl day1.jsonl day2.jsonl day3.jsonl day4.jsonl day5.jsonl > all.jsonl
expect 0 '' '' -- "$NIGH" dedup -q all.jsonl -o expected.jsonl

# Day 0 makes the collection.  Nothing was there: that is no error, and not exit 1.
expect 0 ANY '' -- "$NIGH" against -q --add c.nigh day0.jsonl -o new0.jsonl
expect 0 '' '' -- "$NIGH" check -q c.nigh
# Sent again: nothing is new, nothing is added.
expect_unchanged c.nigh 0 ANY '' -- "$NIGH" against -q --add c.nigh day0.jsonl -o again.jsonl
[[ ! -s again.jsonl ]] || fail "a file that was sent again has something new"
expect 0 ANY '' -- "$NIGH" against -q --fail-if-new c.nigh day0.jsonl
expect 1 ANY '' -- "$NIGH" against -q --fail-if-found c.nigh day0.jsonl

# Day 1 by a pipe.
expect 0 ANY '' -- piped day1.jsonl "$NIGH" against -q --add c.nigh - -o new1.jsonl --new ids1.txt
python3 -c '
import json
assert [json.loads(line)["id"] for line in open("new1.jsonl")] == open("ids1.txt").read().split()' || fail "ids and records differ"

# Day 2 comes cut off: an error, and nothing is added; then whole.
gzip -k day2.jsonl
head -c 3000 day2.jsonl.gz > cut.jsonl.gz
expect_unchanged c.nigh 2 '' ANY -- "$NIGH" against -q --add c.nigh cut.jsonl.gz -o new2.jsonl
[[ ! -e new2.jsonl ]] || fail "a list of what was not added"
expect 0 ANY '' -- "$NIGH" against -q --add c.nigh day2.jsonl.gz -o new2.jsonl

# Days 3 and 4 are killed at random moments, again and again, and in the end the lists are whole all the same.
for day in 3 4; do
    for _ in 1 2 3 4 5 6; do
        "$NIGH" against -q --add c.nigh day$day.jsonl -o new$day.jsonl > /dev/null 2>&1 &
        sleep 0.0$((RANDOM % 5))$((RANDOM % 10))
        kill -KILL $! 2> /dev/null && wait $! 2> /dev/null
        # One that came to its end has told its list, which is therefore kept; the next finds nothing new.
        if [[ -e new$day.jsonl && ! -e new$day.jsonl.pending ]]; then break; fi
    done
    [[ -e new$day.jsonl && ! -e new$day.jsonl.pending ]] ||
        expect 0 ANY ANY -- "$NIGH" against -q --add c.nigh day$day.jsonl -o new$day.jsonl
    [[ ! -e new$day.jsonl.pending ]] || fail "a list that is told is pending"
done

# Day 5, with matches that name what is kept.
expect 0 ANY '' -- "$NIGH" against -q --add c.nigh day5.jsonl -o new5.jsonl
python3 - .out << 'PY' || fail "matches of day 5"
import json, sys
kept = {json.loads(line)["id"] for line in open("expected.jsonl")}
lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines
for match in lines:
    assert match["similarity"] >= .8 and match["cluster"] == match["id2"], match
    assert match["id2"].split("~")[0] in kept, match
PY
cat new0.jsonl new1.jsonl new2.jsonl new3.jsonl new4.jsonl new5.jsonl > got.jsonl
cmp expected.jsonl got.jsonl || fail "six days and one run differ"
expect 0 '' '' -- "$NIGH" check -q c.nigh
"$NIGH" export --ids c.nigh -o /dev/null 2> /dev/null || true

# What is decided by a collection cannot be decided otherwise.
expect_unchanged c.nigh 2 '' "nigh: 'c.nigh' was made for near-copies at 0.8, not at 0.9" \
    -- "$NIGH" against -q --threshold 0.9 c.nigh day0.jsonl
expect_unchanged c.nigh 2 '' ANY -- "$NIGH" against -q --radius 3 c.nigh day0.jsonl
# By bits alone nothing is called verified.
expect 0 ANY ANY -- "$NIGH" against --no-verify --stats s.json c.nigh day0.jsonl
contains .err 'unverified'
contains s.json '"verified":0'
grep -q similarity .out && fail "a similarity that nobody verified"
# Signatures do not make one.
printf 'q\t00\n' > narrow.hex
expect 2 '' ANY -- "$NIGH" against -r 3 --add no.nigh narrow.hex
[[ ! -e no.nigh ]] || fail "a collection made of nothing"
finish
