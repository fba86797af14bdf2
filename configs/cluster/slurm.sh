#!/bin/bash
# Made by wordgeom jobs gbu.toml --shards 64 --slurm --memory 8 --time 4:00:00
set -euo pipefail
cd .

# All jobs begin with this. An interrupted (status 75) or killed command is run again.
head=$(cat <<'HEAD'
#!/bin/bash
#SBATCH --signal=B:TERM@90
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --kill-on-invalid-dep=yes
#SBATCH --time=4:00:00
export WORDGEOM_JOB=1
run() {
    local child status=0
    "$@" &
    child=$!
    trap 'kill -TERM "$child" 2>/dev/null' TERM
    wait "$child" || status=$?
    while kill -0 "$child" 2>/dev/null; do
        status=0
        wait "$child" || status=$?
    done
    if ((status == 75 || status > 128)) && ((${SLURM_RESTART_COUNT:-0} < 20)); then
        scontrol requeue "$SLURM_JOB_ID"
    fi
    exit "$status"
}
HEAD
)

# submit NAME OPTION...: submit the commands on standard input, and print their name and number.
submit() {
    local name=$1
    shift
    number=$(sbatch --parsable --job-name="wordgeom-$name" "$@" <<<"$head"$'\n'"$(cat)")
    number=${number%%;*}
    printf '%s\t%s\n' "$name" "$number"
}

submit words --array=1-64 --output=%x-%A_%a.log --cpus-per-task=4 --mem=9793M <<'JOB'
TASK_ID=$SLURM_ARRAY_TASK_ID
run wordgeom build-cooc corpus.txt --shard "$TASK_ID/64" --vocab-only -o cooc.words --threads 4 --memory 8 --resume
JOB
job_words=$number

submit vocabulary --output=%x-%j.log --cpus-per-task=4 --mem=9793M --dependency="afterok:$job_words" <<'JOB'
run wordgeom merge cooc.words.shard-*-of-64 -o cooc.words --threads 4 --memory 8 --resume
JOB
job_vocabulary=$number

submit count --array=1-64 --output=%x-%A_%a.log --cpus-per-task=4 --mem=9793M --dependency="afterok:$job_vocabulary" <<'JOB'
TASK_ID=$SLURM_ARRAY_TASK_ID
run wordgeom build-cooc corpus.txt --read-vocab cooc.words --window 10 --shard "$TASK_ID/64" -o cooc --threads 4 --memory 8 --resume
JOB
job_count=$number

submit merge --output=%x-%j.log --cpus-per-task=4 --mem=9793M --dependency="afterok:$job_count" <<'JOB'
run wordgeom merge cooc.shard-*-of-64 -o cooc --threads 4 --memory 8 --resume
JOB
job_merge=$number

submit run --output=%x-%j.log --cpus-per-task=4 --mem=9793M --dependency="afterok:$job_merge" <<'JOB'
run wordgeom run gbu.toml --resume
JOB
job_run=$number
