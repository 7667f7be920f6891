"""A study whose workers are jobs of SLURM, one for each lab, which come and go: `python3 jobs.py STUDY RESULTS JOBS`."""

import sys

from dask_jobqueue import SLURMCluster

import headway


def main(study: str, results: str, jobs: str) -> None:
    with SLURMCluster(
        cores=1,
        processes=1,
        memory="1 GB",
        walltime="01:00:00",
        # A worker ends its lab, and then itself, before SLURM ends its job.
        worker_extra_args=["--lifetime", "55m", "--lifetime-stagger", "4m"],
        scheduler_options={"dashboard_address": ":0"},
    ) as cluster:
        cluster.adapt(minimum_jobs=1, maximum_jobs=int(jobs))
        cluster.wait_for_workers(1)
        headway.run(study, results, cluster=cluster.scheduler_address, resume=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
