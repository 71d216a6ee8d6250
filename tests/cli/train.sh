#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Learning: every method gives a model, the same whatever the threads; and what bad input gets.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"
export NIGH
labelled() { python3 "$NIGH_SOURCE_DIR/tests/cli/_labelled.py" "$@"; }
try="
try 'nigh train --help'"

labelled docs.jsonl 4 240 1

# Every method, and the same bytes for any number of threads and on every run.
for method in codewords s3h s3h-f simhash chi ssh klsh; do
    klsh=()
    [[ $method == klsh ]] && klsh=(--anchors 60 --anchor-sample 10)
    expect 0 '' ANY -- "$NIGH" train docs.jsonl --method $method "${klsh[@]}" -o $method.model --stats stats.json
    contains .err "learned from 240 documents (240 labelled, 4 classes) by $method; "
    contains .err "next: nigh index COLLECTION INPUT... --scheme learned:$method.model"
    contains stats.json '"documents":240'
    contains stats.json '"classes":4'
    contains stats.json '"collapsed":0'
    contains stats.json '"objective":'
    for threads in 1 3; do
        expect 0 '' '' -- "$NIGH" train -q docs.jsonl --method $method "${klsh[@]}" --threads $threads -o again.model
        same $method.model again.model
    done
    expect 0 ANY '' -- "$NIGH" info $method.model --top 5
    contains .out "  method        $method"
    contains .out '  width         32 bits'
    expect 0 ANY '' -- "$NIGH" info $method.model --top 5 --output jsonl
    METHOD=$method python3 - << 'PYTHON' || fail "the object of $method"
import json, os
info, stats = json.load(open(".out")), json.load(open("stats.json"))
assert info["method"] == os.environ["METHOD"] and info["width_bits"] == 32 and len(info["name"]) == 16, info
assert info["bytes"] == os.path.getsize(os.environ["METHOD"] + ".model") == stats["model_bytes"], info
assert info["features"] == stats["features"] and info["learned"]["language"] == "en", info
assert len(info["top"]) == 5 or info["method"] == "klsh", info
weights = [abs(feature["weight"]) for feature in info["top"]]
assert weights == sorted(weights, reverse=True), info
PYTHON
done
# The words that count are those of the labels.
for method in codewords s3h chi; do
    "$NIGH" info $method.model --top 10 --output jsonl > top.json
    python3 -c 'import json; assert not any("common" in f["feature"] for f in json.load(open("top.json"))["top"])' ||
        fail "$method thinks that common words count"
done
# Another seed, another model.
expect 0 '' '' -- "$NIGH" train -q docs.jsonl --seed 7 -o again.model
cmp -s codewords.model again.model && fail 'the seed does not matter'

# Options reach the model.
expect 0 '' '' -- "$NIGH" train -q docs.jsonl --method chi --bits 64 --max-features 50 --language none -o wide.model
expect 0 ANY '' -- "$NIGH" info wide.model
contains .out '  width         64 bits'
contains .out '  features      50'
contains .out 'language = none'
# Pipes, and a limit.
expect 0 '' ANY -- piped docs.jsonl "$NIGH" train --method chi - -o again.model
same chi.model again.model
expect 0 '' ANY -- "$NIGH" train --method chi --limit 100 docs.jsonl -o again.model
contains .err 'learned from 100 documents (100 labelled, 4 classes)'

# Labels: numbers, lists, under any key; some without.
python3 - << 'PYTHON'
import json
records = [json.loads(line) for line in open("docs.jsonl")]
numbers = {"cooking": 1, "sailing": 2.5, "physics": -3, "gardens": 4}
def write(name, change):
    with open(name + ".jsonl", "w") as file:
        for number, record in enumerate(records):
            record = dict(record)
            change(number, record)
            file.write(json.dumps(record) + "\n")
def nest(number, record): record["meta"] = {"kind": record.pop("label")}
def numeric(number, record): record["label"] = numbers[record["label"]]
def listed(number, record): record["label"] = [record["label"], "even" if number % 8 < 4 else "odd"]
def half(number, record):
    if number % 2: record["label"] = None
    elif number % 8 == 6: del record["label"]
def none(number, record): del record["label"]
def one(number, record): record["label"] = "same"
def each(number, record): record["label"] = record["id"]
def all_alike(number, record): record["label"] = [record["label"], "same"]
def lonely(number, record):
    if number == 5: record["label"] = "alone"
def objects(number, record): record["label"] = {"is": "an object"}
for change in (nest, numeric, listed, half, none, one, each, all_alike, lonely, objects):
    write(change.__name__, change)
PYTHON
expect 0 '' ANY -- "$NIGH" train nest.jsonl --label-key meta.kind -o again.model
same codewords.model again.model
expect 0 '' ANY -- "$NIGH" train numeric.jsonl -o again.model
contains .err '(240 labelled, 4 classes)'
expect 0 '' ANY -- "$NIGH" train listed.jsonl -o again.model
contains .err '(240 labelled, 6 classes)'
for method in codewords s3h ssh chi; do
    expect 0 '' ANY -- "$NIGH" train half.jsonl --method $method -o again.model
    contains .err 'learned from 240 documents (90 labelled, 2 classes)'
done
# A class of one document brings no pair that is alike; the others do.
expect 0 '' ANY -- "$NIGH" train lonely.jsonl --method s3h -o again.model
contains .err '5 classes'
# Without labels, methods that need none.
for method in simhash klsh; do
    expect 0 '' ANY -- "$NIGH" train none.jsonl --method $method -o again.model
done

# A width that is no multiple of 8: signed in whole bytes, the bits left over 0.
for method in codewords s3h ssh klsh; do
    expect 0 '' ANY -- "$NIGH" train docs.jsonl --method $method --bits 13 -o odd.model
    expect 0 '' '' -- "$NIGH" index -q "odd-$method.nigh" docs.jsonl --scheme learned:odd.model
    "$NIGH" check -q "odd-$method.nigh" || fail "check of 13 bits by $method"
    "$NIGH" export -q "odd-$method.nigh" -o odd.hex || fail export
    cut -f 2 odd.hex | grep -qvE '^[0-9a-f]{2}[01][0-9a-f]$' && fail "$method: more than 13 bits"
    [[ $(cut -f 2 odd.hex | sort -u | wc -l) -gt 3 ]] || fail "$method: all signatures are the same"
done

# Parts: those of "train" only.
labelled train.jsonl 4 240 1 train
labelled test.jsonl 4 80 2 test
expect 0 '' ANY -- "$NIGH" train train.jsonl test.jsonl --part-key part -o again.model
contains .err 'learned from 240 documents'
same codewords.model again.model
expect 2 '' ANY -- "$NIGH" train test.jsonl --part-key part -o never.model

# Labels that will not do: said, exit 2, nothing written.
refused() { # WHAT-IS-SAID COMMAND...
    expect 2 '' ANY -- "${@:2}"
    contains .err "$1"
    [[ -e never.model ]] && fail "a model was written by: ${*:2}"
    compgen -G '*.tmp' > /dev/null && fail "a file was left by: ${*:2}"
}
for method in codewords s3h s3h-f ssh chi; do
    refused "has a label under 'label'" "$NIGH" train none.jsonl --method $method -o never.model
    refused 'label' "$NIGH" train docs.jsonl --label-key kind --method $method -o never.model
    refused "all labels are 'same'" "$NIGH" train one.jsonl --method $method -o never.model
    refused 'have a label in common' "$NIGH" train each.jsonl --method $method -o never.model
done
refused 'label' "$NIGH" train objects.jsonl -o never.model
for method in codewords s3h ssh; do
    refused "every labelled document has the label 'same'" "$NIGH" train all_alike.jsonl --method $method -o never.model
done
# What is no number in JSON is a malformed line; with it go the labels.
printf '{"id":"%d","text":"some words here","label":NaN}\n' 1 2 3 4 > nan.jsonl
refused 'no documents to learn from' "$NIGH" train nan.jsonl -o never.model
: > empty.jsonl
refused 'no documents to learn from' "$NIGH" train empty.jsonl -o never.model
refused 'nowhere.jsonl' "$NIGH" train nowhere.jsonl -o never.model

# An optimisation that cannot go well is told of.
expect 2 '' "nigh train: --l2 takes a number above 0, such as 0.1 or 3, not 'nan'$try" -- "$NIGH" train docs.jsonl --method s3h --l2 nan -o never.model
expect 2 '' "nigh train: --l1 takes a number above 0, such as 0.1 or 3, not '-1'$try" -- "$NIGH" train docs.jsonl --method s3h --l1 -1 -o never.model
for l2 in 1e3 1e9 1e18; do
    "$NIGH" train docs.jsonl --method s3h --l2 $l2 -o absurd.model > .out 2> .err
    code=$?
    checks=$((checks + 1))
    if [[ $code == 0 ]]; then
        contains .err 'the model has collapsed'
        contains .err 'take a smaller --l2'
    elif [[ $code == 2 ]]; then
        [[ -s .err ]] || fail 'nothing was said'
    else
        fail "exit $code with --l2 $l2"
    fi
done
refused 'memory' "$NIGH" train docs.jsonl --memory 10K -o never.model
refused "documents says under 'nowhere' what it is for" "$NIGH" train docs.jsonl --part-key nowhere -o never.model

# Fewer anchors than are usually drawn for a bit; ssh as its paper has it.
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method klsh --anchors 20 -o few.model
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method ssh --as-paper -o paper.model
expect 0 ANY '' -- "$NIGH" info paper.model
contains .out 'as-paper = 1'

# S3H as it was published, and each of its parts by itself; a model of counts signs, and says so.
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method s3h --as-paper -o paper.model
expect 0 ANY '' -- "$NIGH" info paper.model
contains .out 'count-contribution = 1'
contains .out 'paper-lambda = 1'
contains .out 'l2-millionths = 500000'
contains .out 'values = counts'
expect 0 '' ANY -- "$NIGH" index paper.nigh docs.jsonl --scheme learned:paper.model
expect 0 '' ANY -- "$NIGH" index paper.nigh docs.jsonl
expect 0 ANY '' -- "$NIGH" info paper.nigh
contains .out 'tf'
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method s3h --as-paper --count-contribution off --count-values off --paper-lambda off -o stored.model
expect 0 ANY '' -- "$NIGH" info stored.model
contains .out 'count-contribution = 0'
contains .out 'paper-lambda = 0'
contains .out 'l2-millionths = 50000'
if grep -q 'values = counts' .out; then fail 'counts that nobody asked for'; fi
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method s3h --count-contribution on -o contribution.model
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method simhash --count-values on -o counts.model
expect 0 '' ANY -- "$NIGH" train docs.jsonl --method klsh --anchors 20 --kernel-width 2 -o wide.model
expect 0 ANY '' -- "$NIGH" info wide.model
contains .out 'kernel-width-millionths = 2000000'
for option in l1 l2; do
    for wrong in 0 -1 nan x; do
        expect 2 '' "nigh train: --$option takes a number above 0, such as 0.1 or 3, not '$wrong'$try" -- \
            "$NIGH" train docs.jsonl --method s3h "--$option=$wrong" -o never.model
    done
done
expect 2 '' "nigh train: --kernel-width takes a number above 0, such as 0.1 or 3, not '0'$try" -- \
    "$NIGH" train docs.jsonl --method klsh --kernel-width 0 -o never.model
refused 'from 0.001 to 1,000,000' "$NIGH" train docs.jsonl --method klsh --kernel-width 1e9 -o never.model
expect 2 '' "nigh train: --kernel-width goes with --method klsh, not with codewords$try" -- "$NIGH" train docs.jsonl --kernel-width 1 -o never.model
expect 2 '' "nigh train: --count-values goes with --method s3h, s3h-f, simhash and chi, not with ssh$try" -- "$NIGH" train docs.jsonl --method ssh --count-values on -o never.model
expect 2 '' "nigh train: --count-contribution goes with --method s3h, not with s3h-f$try" -- "$NIGH" train docs.jsonl --method s3h-f --count-contribution on -o never.model

# Wrong use.
expect 2 '' "nigh train: no INPUT given; '-' is standard input$try" -- "$NIGH" train -o never.model
expect 2 '' "nigh train: no -o FILE given for the model$try" -- "$NIGH" train docs.jsonl
expect 2 '' "nigh train: -o takes a file, not standard output$try" -- "$NIGH" train docs.jsonl -o -
expect 2 '' "nigh train: --bits takes a whole number from 1 to 1024, not '1025'$try" -- "$NIGH" train docs.jsonl --bits 1025 -o never.model
expect 2 '' "nigh train: --method takes one of codewords, s3h, s3h-f, simhash, chi, ssh, klsh; not 'svm'$try" -- "$NIGH" train docs.jsonl --method svm -o never.model
expect 2 '' "nigh train: --anchors goes with --method klsh, not with codewords$try" -- "$NIGH" train docs.jsonl --anchors 5 -o never.model
expect 2 '' "nigh train: --l2 goes with --method codewords, s3h and s3h-f, not with chi$try" -- "$NIGH" train docs.jsonl --method chi --l2 1 -o never.model
expect 2 '' "nigh train: --features takes words, ngrams:N or chars:N, not 'letters'$try" -- "$NIGH" train docs.jsonl --features letters -o never.model
expect_unchanged docs.jsonl 2 '' ANY -- "$NIGH" train docs.jsonl -o docs.jsonl
contains .err 'are the same file'
expect_unchanged docs.jsonl 2 '' ANY -- "$NIGH" train docs.jsonl -o no/where
contains .err 'no/where'
expect 2 '' ANY -- "$NIGH" train docs.jsonl --language tlh -o never.model
contains .err 'tlh'

# What is there is replaced by a whole model, or stays: also through a link, and keeping its mode.
cp chi.model kept.model
chmod 640 kept.model
expect_unchanged kept.model 2 '' ANY -- "$NIGH" train none.jsonl -o kept.model
ln -s kept.model link.model
expect 0 '' '' -- "$NIGH" train -q docs.jsonl -o link.model
same codewords.model kept.model
[[ -L link.model && $(stat -c %a kept.model) == 640 ]] || fail 'the link or the mode'
if [[ -w /dev/full ]]; then
    expect 2 '' "nigh: '/dev/full': cannot write: No space left on device" -- "$NIGH" train -q docs.jsonl -o /dev/full
fi
if [[ $EUID -ne 0 ]]; then
    mkdir locked
    cp chi.model locked/m.model
    chmod 500 locked
    expect_unchanged locked/m.model 2 '' ANY -- "$NIGH" train docs.jsonl -o locked/m.model
    chmod 700 locked
fi

# Ctrl-C while it reads: nothing is left.
mkfifo input
(head -50 docs.jsonl; sleep 60) > input &
feeder=$!
python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$NIGH" train input -o never.model > .out 2> .err &
pid=$!
is_reading() { find "/proc/$pid/fd" -lname "*/input" | grep -q .; }
if [[ -d /proc/self ]]; then wait_for is_reading; fi
sleep 0.5
kill -s INT $pid
wait $pid
code=$?
kill $feeder
wait $feeder 2> /dev/null
checks=$((checks + 1))
[[ $code == 130 ]] || fail "exit $code, not 130"
compare 'what was said' 'nigh: interrupted' .err
[[ -e never.model ]] && fail 'a model was written'

# Ctrl-C while it learns, once the progress line shows an iteration: the best so far is written, and it is said.
labelled big.jsonl 8 3000 4
python3 - << 'PYTHON' || fail 'Ctrl-C while it learns'
import os, pty, select, signal, subprocess, time
ours, theirs = pty.openpty()
command = [os.environ["NIGH"], "train", "big.jsonl", "--method", "s3h", "--pairs-alike", "500000",
           "--pairs-different", "1000000", "--iterations", "100000", "-o", "stopped.model"]
process = subprocess.Popen(command, stderr=theirs, env=dict(os.environ, TERM="xterm"), start_new_session=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
os.close(theirs)
said, sent, deadline = b"", False, time.time() + 100
while time.time() < deadline:
    ready, _, _ = select.select([ours], [], [], 1)
    try:
        more = os.read(ours, 4096) if ready else b""
    except OSError:
        break
    said += more
    if not sent and b"iteration " in said and b"objective " in said:
        process.send_signal(signal.SIGINT)
        sent = True
    if ready and not more:
        break
assert process.wait(60) == 130 and sent, (process.returncode, said)
assert b"interrupted: the model is the best after " in said, said
assert b"--scheme learned:stopped.model" in said, said
PYTHON
checks=$((checks + 1))
expect 0 ANY '' -- "$NIGH" info stopped.model
expect 0 ANY '' -- "$NIGH" sign -q docs.jsonl --scheme learned:stopped.model

finish
