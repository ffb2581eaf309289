"""datatrove's four stages of MinHash deduplication over a folder of Parquet files, two workers: python datatrove_dedup.py IN OUT (for dedup_speed.py)."""

import sys

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter

WORKERS = 2


def main(source: str, out: str) -> None:
    config = MinhashConfig()
    stages = [
        ([ParquetReader(source), MinhashDedupSignature(f"{out}/signatures", config)], WORKERS),
        ([MinhashDedupBuckets(f"{out}/signatures", f"{out}/buckets", config=config, only_dedup_in_index=False)], config.num_buckets),
        ([MinhashDedupCluster(f"{out}/buckets", f"{out}/remove", config=config)], 1),
        ([ParquetReader(source), MinhashDedupFilter(f"{out}/remove"), ParquetWriter(f"{out}/kept")], WORKERS),
    ]
    for number, (pipeline, tasks) in enumerate(stages):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=min(WORKERS, tasks), logging_dir=f"{out}/logs/{number}").run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
