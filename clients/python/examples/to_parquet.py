"""Writes the record of a notebook to a Parquet file: one row for each event, for DuckDB, polars or Spark.

python to_parquet.py NOTEBOOK FILE.parquet
"""

import sys

import notarium
import pyarrow.parquet


def main() -> None:
    with notarium.connect() as nt, nt.open(sys.argv[1]) as nb:
        table = nb.history().to_arrow()
        pyarrow.parquet.write_table(table, sys.argv[2])
        print(f"{table.num_rows} events of {nb.title}")


if __name__ == "__main__":
    main()
