#!/bin/bash
#PBS -J 1-64
#PBS -l select=1:ncpus=4:mem=8gb
#PBS -r y
# A step with tasks of the script that `wordgeom jobs gbu.toml --shards 64 > steps.sh` prints, as a
# job array of PBS. Submit one step after the other; those without tasks need no -J:
#
#     qsub -v STEP=words pbs.sh
cd "$PBS_O_WORKDIR" || exit 1
TASK_ID=$PBS_ARRAY_INDEX exec bash steps.sh "$STEP"
