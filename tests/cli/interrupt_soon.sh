#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every command ends within a second of being told to, also inside one large document or comparison.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# Under a sanitizer the last resort is reached, which ends the process with its threads.
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}report_thread_leaks=0"

python3 - << 'END' || exit 2
import gzip, json
with open("large.jsonl", "w") as file:
    file.write(json.dumps({"id": "large", "text": " ".join(f"word{number:x}" for number in range(7000000))}) + "\n")
with gzip.open("long.gz", "wb", 1) as file:
    for _ in range(300):
        file.write(b"." * 1000000)
END
"$NIGH" generate -q -n 120000 --bits 1024 -o a.npy
"$NIGH" index -q a.nigh a.npy || fail index

# soon COMMAND...: starts it, lets it work, and stops it.  Ending by itself before that is fine too.
cat > soon.py << 'END'
import signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(0.4)
child.send_signal(signal.SIGTERM)
begun = time.monotonic()
code = child.wait()
seconds = time.monotonic() - begun
print(f"{seconds:.2f} s, exit {code}: {' '.join(sys.argv[2:5])}")
sys.exit(code not in (143, 0) or seconds > 2.5) # one, and something for a busy machine
END
soon() {
    checks=$((checks + 1))
    python3 soon.py "$NIGH" "$@" || fail "it did not end: $*"
}

soon sign large.jsonl -o signed.hex --max-document 1G
soon sign large.jsonl -o signed.hex --scheme minhash --max-document 1G
soon index new.nigh large.jsonl --max-document 1G
soon index new.nigh long.gz --max-document 1G
soon dedup large.jsonl -o out.jsonl --max-document 1G
soon terms index new.terms large.jsonl --max-document 1G
soon pairs a.nigh --radius 300
soon against a.nigh a.npy --radius 300
soon index a.nigh --graph
# What it leaves the next command removes.
expect 0 ANY ANY -- "$NIGH" check a.nigh
[[ -e new.nigh ]] && { expect 0 ANY ANY -- "$NIGH" index new.nigh a.npy; }

finish
