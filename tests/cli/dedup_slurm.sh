#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh dedup --slurm: the scripts it writes, word for word, and what they do, submitted to a stand-in for sbatch that
# does the tasks of each array at once.  tests/cluster/test_slurm.py has a real one.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# A folder that no shell and no scheduler likes.
folder=$PWD/$'it\'s %A "$HOME" \\ #SBATCH\t`x`'
mkdir -p "$folder/bin" && cd "$folder" || exit 2

python3 - << 'END' || fail 'no documents'
import json, random
rng = random.Random(3)
for name in ("a.jsonl", "b 'c'\n.jsonl", "d.jsonl"):
    with open(name, "w") as out:
        for i in range(120):
            which = rng.randrange(60)
            words = ["t%dw%d" % (which, k) for k in range(40)]
            words[rng.randrange(40)] = "other%d" % rng.randrange(1000)
            out.write(json.dumps({"id": i, "text": " ".join(words)}) + "\n")
END
inputs=(a.jsonl $'b \'c\'\n.jsonl' d.jsonl)
"$NIGH" dedup "${inputs[@]}" --threshold 0.7 -o plain.jsonl --quiet || fail 'no plain run'

# sbatch, squeue and scancel as they are here: calls are noted, and jobs whose tasks have all ended well.
cat > bin/sbatch << 'END'
#!/bin/bash
here=${BASH_SOURCE[0]%/*}
script=${*: -1}
[[ ! -e $here/refused || $script != "./$(< "$here/refused")" ]] || exit 1
id=$(($(cat "$here/last" 2> /dev/null || echo 100) + 1))
echo $id > "$here/last"
printf '%s\n' "$*" >> "$here/calls"
echo "$id;cluster"
for word in "$@"; do
    [[ $word != --dependency=afterok:* ]] || grep -qx "${word##*:}" "$here/ended" || exit 0
done
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
for ((task = last; task >= 0; task--)); do
    (cd / && SLURM_ARRAY_JOB_ID=$id SLURM_ARRAY_TASK_ID=$task SLURMD_NODENAME=n1 bash "$OLDPWD/$script") || exit 0
done
echo $id >> "$here/ended"
END
# shellcheck disable=SC2016 # for these scripts to read
printf '#!/bin/bash\n[[ ! -e ${BASH_SOURCE[0]%%/*}/busy ]] || echo "101_1 nigh-sign"\n' > bin/squeue
# shellcheck disable=SC2016
printf '#!/bin/bash\necho "$*" >> "${BASH_SOURCE[0]%%/*}/cancelled"\n' > bin/scancel
chmod +x bin/*
touch bin/ended
PATH=$PWD/bin:$PATH

# Without --submit, scripts only.
work='w "%j"'
logs=$work/slurm/log
expect 0 ANY '' -- "$NIGH" dedup --work "$work" --shards 3 --slurm --memory 32M --threshold 0.7 \
    --sbatch --partition=long --sbatch "--comment=it's" "${inputs[@]}" -o out.jsonl
cp .out said
contains said 'copies           3'
contains said 'rewrite          1'
contains said "10 scripts for Slurm are in '$work/slurm'"
contains said "submit them with: bash 'w \"%j\"'/slurm/submit.sh"
[[ ! -e bin/calls ]] || fail 'something was submitted'
[[ $(cd "$work/slurm" && echo *)" " == "1-sign.sh 2-copies.sh 3-postings.sh 4-buckets.sh 5-pairs.sh 6-components.sh \
7-sets.sh 8-verify.sh 9-rewrite.sh log submit.sh " ]] || fail "$(ls "$work/slurm")"
if command -v shellcheck > /dev/null; then
    shellcheck "$work"/slurm/*.sh || fail 'shellcheck has something to say'
fi

# One of them, and submit.sh, word for word.
escaped=$(sed -e "s/[\\\\']/\\\\&/g" -e 's/\t/\\011/g' <<< "$folder")
expected() { # FILE: with the places of this run
    NIGH_WORD="'${NIGH//\'/\'\\\'\'}'" FOLDER_WORD="\$'$escaped'" python3 -c '
import os, sys
text = sys.stdin.read().replace("NIGH", os.environ["NIGH_WORD"]).replace("FOLDER", os.environ["FOLDER_WORD"])
sys.stdout.write(text)' > "$1"
}
expected sign.sh << 'END'
#!/bin/bash
# Stage sign of a de-duplication: 3 tasks.
# Written by 'nigh dedup --slurm'; submit.sh submits it.  Memory (MB) and time (minutes) are estimates: change
# them here, or give sbatch others, which come before these.
#SBATCH --job-name=nigh-sign
#SBATCH --array=0-2
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=77M
#SBATCH --time=11
#SBATCH --requeue
#SBATCH --output=/dev/null

nigh=NIGH
folder=FOLDER
work='w "%j"'
task=$SLURM_ARRAY_TASK_ID

cd "$folder" || exit
exec >> "$work/slurm/log/sign-$task" 2>&1 || exit
printf '== %s on %s: job %s, requeued %s times\n' "$(date '+%F %T')" "${SLURMD_NODENAME:-$HOSTNAME}" \
    "${SLURM_ARRAY_JOB_ID}_$task" "${SLURM_RESTART_COUNT:-0}"

"$nigh" dedup --work "$work" --stage sign --shard "$task/3" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --memory '32M'
code=$?

# Killed with -9, for example for want of memory: back to the queue, twice at most.
if ((code == 137 && ${SLURM_RESTART_COUNT:-0} < 2)); then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$task" && sleep 300
fi
exit "$code"
END
diff sign.sh "$work/slurm/1-sign.sh" || fail 'the script of a stage differs'
expected submit.sh << 'END'
#!/bin/bash
# Submits the stages of a de-duplication, each to begin once all tasks of the one before it have ended well; where one
# fails, Slurm takes the rest from the queue.  Written by 'nigh dedup --slurm'.  May be run again once the jobs have left
# the queue: what was done is not done again.
folder=FOLDER
work='w "%j"'
options=('--partition=long' '--comment=it'\''s')

command -v sbatch > /dev/null || { echo 'submit.sh: there is no sbatch here' >&2; exit 2; }
cd "$folder" && cd "$work/slurm" || exit 2

# One run at a time.
if [[ -s jobs.txt ]] && left=$(squeue --noheader --jobs="$(paste -sd , jobs.txt)" 2> /dev/null) && [[ $left ]]; then
    echo "submit.sh: these jobs are in the queue; wait for them, or end them with scancel" >&2
    echo "$left" >&2
    exit 2
fi

jobs=()
submit() {
    local after=() id
    ((${#jobs[@]} == 0)) || after=(--dependency="afterok:$id_before" --kill-on-invalid-dep=yes)
    if ! id=$(sbatch --parsable --chdir=/ "${options[@]}" "${after[@]}" "./$1"); then
        echo "submit.sh: sbatch does not take $1" >&2
        ((${#jobs[@]} == 0)) || scancel "${jobs[@]}"
        exit 2
    fi
    id_before=${id%%;*}
    jobs+=("$id_before")
    printf '%s\n' "${jobs[@]}" > jobs.txt
    echo "$id_before  $1"
}

submit 1-sign.sh
submit 2-copies.sh
submit 3-postings.sh
submit 4-buckets.sh
submit 5-pairs.sh
submit 6-components.sh
submit 7-sets.sh
submit 8-verify.sh
submit 9-rewrite.sh

echo "follow them with: squeue --jobs=$(paste -sd , jobs.txt)"
echo "what they say is in $PWD/log"
END
diff submit.sh "$work/slurm/submit.sh" || fail 'submit.sh differs'

# Submitted from anywhere: the output of a plain run, each array after the one before it.
(cd / && bash "$folder/$work/slurm/submit.sh") > said || fail 'submit.sh failed'
same plain.jsonl out.jsonl
contains said '109  9-rewrite.sh'
contains said 'follow them with: squeue --jobs=101,102,103,104,105,106,107,108,109'
[[ $(wc -l < bin/calls) == 9 ]] || fail "$(cat bin/calls)"
[[ $(sed -n 1p bin/calls) == "--parsable --chdir=/ --partition=long --comment=it's ./1-sign.sh" ]] ||
    fail "$(cat bin/calls)"
[[ $(sed -n 9p bin/calls) == "--parsable --chdir=/ --partition=long --comment=it's --dependency=afterok:108 \
--kill-on-invalid-dep=yes ./9-rewrite.sh" ]] || fail "$(cat bin/calls)"
grep -q '^== .* on n1: job 101_2, requeued 0 times$' "$logs/sign-2" || fail "$(cat "$logs/sign-2")"
contains "$logs/sign-2" 'stage sign, shard 2/3: done,'

# Once more: all was done before, and only what is missing is made.
rm "$work/postings-1" out.jsonl
expect 0 ANY '' -- "$NIGH" dedup --work "$work" --slurm --submit -o out.jsonl
same plain.jsonl out.jsonl
[[ $(cat "$logs"/* | grep -c 'was done before') == 21 ]] || fail "$(cat "$logs"/*)"
[[ $(grep -c ': done,' "$logs/postings-1") == 2 ]] || fail "$(cat "$logs/postings-1")"

# A file for each shard, numbered.
expect 0 ANY '' -- "$NIGH" dedup --work "$work" --slurm --submit --temporary "$PWD" -o "part's-{}.jsonl"
cat part\'s-[012].jsonl > parts
same plain.jsonl parts
# shellcheck disable=SC2016 # as it stands there
contains "$work/slurm/9-rewrite.sh" "output='part'\\''s-'\$part'.jsonl'"
# shellcheck disable=SC2016
contains "$work/slurm/9-rewrite.sh" ' --temporary "$temporary"'

# A task that fails says why in its log; what depends on it does not begin, and nothing is written.
rm out.jsonl
touch -r d.jsonl before
touch d.jsonl
bash "$work/slurm/submit.sh" > said || fail 'submit.sh failed'
contains "$logs/sign-2" "nigh: 'd.jsonl': has changed since the plan was made; begin again in an empty directory"
[[ $(grep -c '^==' "$logs/copies-0") == 3 ]] || fail 'a stage began before the one before it had ended well'
[[ ! -e out.jsonl ]] || fail 'something was written'
touch -r before d.jsonl

# What is refused.
touch bin/busy
expect 2 ANY ANY -- "$NIGH" dedup --work "$work" --slurm --submit -o out.jsonl
contains .err 'submit.sh: these jobs are in the queue; wait for them, or end them with scancel'
contains .err '101_1 nigh-sign'
rm bin/busy
echo 3-postings.sh > bin/refused
expect 2 ANY 'submit.sh: sbatch does not take 3-postings.sh' -- \
    "$NIGH" dedup --work "$work" --slurm --submit -o out.jsonl
[[ $(wc -w < bin/cancelled) == 2 ]] || fail "$(cat bin/cancelled)"
rm bin/refused bin/sbatch
if ! command -v sbatch > /dev/null; then
    expect 2 ANY 'submit.sh: there is no sbatch here' -- "$NIGH" dedup --work "$work" --slurm --submit -o out.jsonl
fi
expect 2 '' ANY -- "$NIGH" dedup --work "$work" --slurm
contains .err 'nothing to write: give -o FILE'
expect 2 '' ANY -- "$NIGH" dedup --work "$work" --slurm -o -
contains .err 'jobs have no standard output'
expect 2 '' ANY -- "$NIGH" dedup --work "$work" --submit -o out.jsonl
contains .err '--submit and --sbatch go with --slurm'
expect 2 '' ANY -- "$NIGH" dedup --work "$work" --slurm --plan "${inputs[@]}" -o out.jsonl
contains .err 'one of --plan, --stage and --slurm, not two'
for option in --array=0-1 -a0 --dependency=afterany:7 -dsingleton long; do
    expect 2 ANY ANY -- "$NIGH" dedup --work "$work" --slurm --sbatch "$option" -o out.jsonl
    contains .err '--sbatch'
done
expect 2 '' ANY -- "$NIGH" dedup --work "$work" --slurm -o a.jsonl
contains .err "-o 'a.jsonl' and the input 'a.jsonl' are the same file"
[[ ! -e out.jsonl ]] || fail 'something was written'
finish
