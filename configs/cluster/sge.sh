#!/bin/bash
#$ -cwd -t 1-64 -pe smp 4 -r y
# A step with tasks of the script that `wordgeom jobs gbu.toml --shards 64 > steps.sh` prints, as a
# job array of Grid Engine. Submit one step after the other; those without tasks need no -t:
#
#     qsub -N words sge.sh words
#     qsub -N vocabulary -hold_jid words -t 1 sge.sh vocabulary
TASK_ID=$SGE_TASK_ID bash steps.sh "$1"
status=$?
# 75: interrupted, and to be continued. Grid Engine requeues a job that ends with 99.
if ((status == 75)); then
    exit 99
fi
exit "$status"
