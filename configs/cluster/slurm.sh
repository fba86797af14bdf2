#!/bin/bash
# Made by wordgeom jobs gbu.toml --shards 64 --slurm --memory 8 --time 4:00:00
# Submits each job after those that it needs. Jobs that are interrupted are requeued.
set -euo pipefail
cd .

job_words=$(sbatch --parsable <<'JOB'
#!/bin/bash
#SBATCH --job-name=wordgeom-words
#SBATCH --array=1-64
#SBATCH --cpus-per-task=4
#SBATCH --mem=9793M
#SBATCH --time=4:00:00
#SBATCH --output=%x-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
TASK_ID=$SLURM_ARRAY_TASK_ID
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
run wordgeom build-cooc corpus.txt --shard "$TASK_ID/64" --vocab-only -o cooc.words --threads 4 --memory 8 --resume
JOB
)
job_words=${job_words%%;*}
printf '%s\t%s\n' words "$job_words"

job_vocabulary=$(sbatch --parsable --dependency="afterok:${job_words}" <<'JOB'
#!/bin/bash
#SBATCH --job-name=wordgeom-vocabulary
#SBATCH --cpus-per-task=4
#SBATCH --mem=9793M
#SBATCH --time=4:00:00
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
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
run wordgeom merge cooc.words.shard-*-of-64 -o cooc.words --threads 4 --memory 8 --resume
JOB
)
job_vocabulary=${job_vocabulary%%;*}
printf '%s\t%s\n' vocabulary "$job_vocabulary"

job_count=$(sbatch --parsable --dependency="afterok:${job_vocabulary}" <<'JOB'
#!/bin/bash
#SBATCH --job-name=wordgeom-count
#SBATCH --array=1-64
#SBATCH --cpus-per-task=4
#SBATCH --mem=9793M
#SBATCH --time=4:00:00
#SBATCH --output=%x-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
TASK_ID=$SLURM_ARRAY_TASK_ID
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
run wordgeom build-cooc corpus.txt --read-vocab cooc.words --window 10 --shard "$TASK_ID/64" -o cooc --threads 4 --memory 8 --resume
JOB
)
job_count=${job_count%%;*}
printf '%s\t%s\n' count "$job_count"

job_merge=$(sbatch --parsable --dependency="afterok:${job_count}" <<'JOB'
#!/bin/bash
#SBATCH --job-name=wordgeom-merge
#SBATCH --cpus-per-task=4
#SBATCH --mem=9793M
#SBATCH --time=4:00:00
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
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
run wordgeom merge cooc.shard-*-of-64 -o cooc --threads 4 --memory 8 --resume
JOB
)
job_merge=${job_merge%%;*}
printf '%s\t%s\n' merge "$job_merge"

job_run=$(sbatch --parsable --dependency="afterok:${job_merge}" <<'JOB'
#!/bin/bash
#SBATCH --job-name=wordgeom-run
#SBATCH --cpus-per-task=4
#SBATCH --mem=9793M
#SBATCH --time=4:00:00
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@90
#SBATCH --requeue
#SBATCH --kill-on-invalid-dep=yes
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
run wordgeom run gbu.toml --resume
JOB
)
job_run=${job_run%%;*}
printf '%s\t%s\n' run "$job_run"
