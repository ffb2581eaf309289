"""CSV and TSV files. Every value stays the text it is: only how it is quoted may change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc

from twinset.errors import BadInput

BLOCK = 1 << 23  # bytes read at a time; a row has to fit


class DelimitedTable:
    """A file of rows with a header, separated by commas, or by tabs if its name ends in .tsv."""

    def __init__(self, path: Path) -> None:
        self.path, self.size, self.position = path, path.stat().st_size, 0
        self._parse = pc.ParseOptions(delimiter="\t" if path.name.lower().split(".")[-1] == "tsv" else ",", newlines_in_values=True)
        with self._reading({}) as reader:
            names = reader.schema.names
        if len(set(names)) < len(names):
            raise BadInput(f"{path} has two columns of one name; allowed: a header of different names")
        self.schema = pa.schema([(name, pa.string()) for name in names])

    def batches(self, columns: list[str] | None, size: int) -> Iterator[pa.RecordBatch]:
        """These columns (all of them by default) of all rows, in order, a block of the file at a time."""
        with self._reading({name: pa.string() for name in self.schema.names}) as reader:
            for batch in reader:
                self.position = min(self.position + BLOCK, self.size)
                yield batch if columns is None else batch.select(columns)
        self.position = self.size

    @contextmanager
    def writer(self, path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], Any]]:
        """A function that adds batches to a new file of the same kind."""
        options = pc.WriteOptions(delimiter=self._parse.delimiter, quoting_style="needed")
        with pc.CSVWriter(str(path), schema, write_options=options) as out:
            yield out.write_batch

    @contextmanager
    def _reading(self, kinds: dict[str, pa.DataType]) -> Iterator[Any]:
        try:
            options = pc.ConvertOptions(column_types=kinds, strings_can_be_null=False, quoted_strings_can_be_null=False)
            reader = pc.open_csv(self.path, pc.ReadOptions(use_threads=False, block_size=BLOCK), self._parse, options)
            with reader:
                yield reader
        except (pa.ArrowException, OSError) as error:
            raise BadInput(f"{self.path} cannot be read as CSV ({str(error).splitlines()[0]}); allowed: UTF-8 rows with a header, of equal numbers of values") from None
