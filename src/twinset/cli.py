"""The command line: each command parses its options, calls a verb of the library, and prints what it returns."""

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from twinset import __version__
from twinset.config import Config, parse_bytes
from twinset.errors import BadInput, BadOption, TwinsetError

app = typer.Typer(
    name="twinset",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Finds documents that are copies, near-copies or partial copies of each other, and says how sure it is.",
)

MISTAKE, INTERRUPTED = 2, 130  # exit codes

Bits = Annotated[str, typer.Option(help=Config.help("bits"))]
Samples = Annotated[int, typer.Option(help=Config.help("samples"))]
Shingle = Annotated[str, typer.Option(help=Config.help("shingle"))]
Case = Annotated[bool, typer.Option("--case", help=Config.help("case"))]
NoSpace = Annotated[bool, typer.Option("--no-space", help="In 'chars:K', drop white space instead of counting a run of it as one character.")]
Seed = Annotated[int, typer.Option(help=Config.help("seed"))]
Sizes = Annotated[str, typer.Option(help=Config.help("sizes"))]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse malformed UTF-8 instead of replacing and counting it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, as also happens when stdout is not a terminal.")]
Threads = Annotated[int | None, typer.Option(help="Threads; by default one for each core. No result depends on it.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"twinset {__version__}")
        raise typer.Exit


@app.callback()
def top(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")] = False) -> None:
    pass


@app.command()
def compare(
    left: Annotated[Path, typer.Argument(help="A text file, or - for stdin.")],
    right: Annotated[Path, typer.Argument(help="Another, or - for stdin.")],
    bits: Bits = Config.bits,
    samples: Samples = Config.samples,
    shingle: Shingle = Config.shingle,
    case: Case = Config.case,
    no_space: NoSpace = not Config.space,
    seed: Seed = Config.seed,
    sizes: Sizes = Config.sizes,
    level: Annotated[float, typer.Option(help="Confidence of the interval.")] = 0.95,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Say how much two documents share."""
    config = Config(bits=bits, samples=samples, shingle=shingle, case=case, space=not no_space, seed=seed, sizes=sizes)
    texts = _read_both(left, right)
    from twinset.comparing import compare as compared
    from twinset.report.compiling import announced

    with announced():
        found = compared(*texts, level=level, strict=strict, config=config)
    if _wants_json(as_json):
        return _print_json(found.to_dict())
    from twinset.report import tables

    tables.show(tables.comparison(found))


@app.command()
def sketch(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="Documents: .parquet, .jsonl or .ndjson, the last two also .gz or .zst.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The sketches: a .parquet or .arrow file.")],
    text_column: Annotated[str | None, typer.Option(help="The column of the text; by default text, content, document or body.")] = None,
    id_column: Annotated[str | None, typer.Option(help="The column that names documents; by default id, or the row number.")] = None,
    bits: Bits = Config.bits,
    samples: Samples = Config.samples,
    shingle: Shingle = Config.shingle,
    case: Case = Config.case,
    no_space: NoSpace = not Config.space,
    seed: Seed = Config.seed,
    sizes: Sizes = Config.sizes,
    strict: Strict = False,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Sketch a file of documents into a file of sketches, which appears when it is complete."""
    config = Config(bits=bits, samples=samples, shingle=shingle, case=case, space=not no_space, seed=seed, sizes=sizes)
    from twinset import pipeline
    from twinset.report import progress
    from twinset.report.compiling import announced

    with announced(), progress.bar("sketching") as move:
        done = pipeline.sketch(source, out, config, text_column=text_column, id_column=id_column, threads=threads, strict=strict, progress=move)
    if _wants_json(as_json):
        return _print_json(done.to_dict())
    from twinset.report import tables

    tables.show(tables.sketched(done, str(out)))


@app.command()
def scan(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders and files: .txt .md .tex .html .pdf .docx .odt .rtf .pptx .epub .doc, and tables.")],
    by: Annotated[str, typer.Option(help="Rank by containment, the share of one document that the other has, or by resemblance, the share of both.")] = "containment",
    threshold: Annotated[float, typer.Option(help="List pairs from this value on.")] = 0.3,
    ignore: Annotated[list[Path] | None, typer.Option(help="Template text, such as the call or the form: what documents share with it does not count.")] = None,
    max_share: Annotated[float | None, typer.Option(help="Leave out shingles that are in more than this share of the documents, such as 0.05.")] = None,
    old: Annotated[list[Path] | None, typer.Option(help="Older documents: new ones are compared with them too.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report for people into this .html file, which needs nothing else.")] = None,
    pairs: Annotated[Path | None, typer.Option(help="Write the pairs into this .parquet, .csv or .jsonl file.")] = None,
    anonymise: Annotated[bool, typer.Option("--anonymise", help="Show stable codes instead of names, in the report and everywhere else.")] = False,
    limit: Annotated[int, typer.Option(help="Show so many pairs on the terminal; 0 for all.")] = 20,
    text_column: Annotated[str | None, typer.Option(help="In tables, the column of the text; by default text, content, document or body.")] = None,
    id_column: Annotated[str | None, typer.Option(help="In tables, the column that names documents; by default id, or the row number.")] = None,
    shingle: Shingle = Config.shingle,
    case: Case = Config.case,
    no_space: NoSpace = not Config.space,
    threads: Threads = None,
    fail: Annotated[bool, typer.Option("--fail-on-duplicates", help="Exit with 1 if any pair was found.")] = False,
    as_json: Json = False,
) -> None:
    """Say which documents repeat one another, in whole or in part."""
    from twinset.pipeline import scanning
    from twinset.report import progress, scans, tables
    from twinset.report.compiling import announced

    tables.check_lists(pairs, report, [*paths, *(ignore or ()), *(old or ())])
    if limit < 0:
        raise BadOption(f"limit is {limit}; allowed: 0 or more")
    config = Config(shingle=shingle, case=case, space=not no_space)
    options: dict[str, Any] = {"text_column": text_column, "id_column": id_column, "max_share": max_share, "leave": [path for path in (pairs, report) if path is not None]}
    with announced(), progress.stages() as move:
        found = scanning.scan(paths, by=by, threshold=threshold, ignore=ignore or (), old=old or (), threads=threads, progress=move, config=config, **options)
        shown = scans.anonymised(found) if anonymise else found
        if pairs is not None:
            tables.write_pairs(shown, pairs)
        if report is not None:
            scans.write(found, report, anonymise=anonymise, progress=move)
        listed = tables.scanned(shown, limit, report, pairs) if not _wants_json(as_json) else []
    if _wants_json(as_json):
        _print_json(tables.scanned_dict(shown))
    else:
        tables.show(*listed)
    if fail and len(found):
        raise typer.Exit(1)


@app.command()
def dedup(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="IN...", help="Files of documents, globs, folders, or addresses such as s3://: .parquet .jsonl .ndjson (.gz .zst) .csv .tsv .arrow, or as datasets saves them."
        ),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="The copy: a file for one file, a folder for several. Same format, columns and order.")],
    threshold: Annotated[float, typer.Option(help="The resemblance from which on a document repeats another.")] = 0.8,
    recall: Annotated[float, typer.Option(help="The probability with which a pair at the threshold is to be found.")] = 0.99,
    keep: Annotated[str, typer.Option(help="Which of similar documents stays: first, longest, newest, highest or lowest (the last three with --by).")] = "first",
    by: Annotated[str | None, typer.Option(help="The column by which newest, highest and lowest judge.")] = None,
    against: Annotated[list[str] | None, typer.Option(help="Older files: what repeats them goes too. They are only read.")] = None,
    annotate: Annotated[bool, typer.Option("--annotate", help="Keep every row, and add the columns group, keep, witness and resemblance.")] = False,
    removed: Annotated[Path | None, typer.Option(help="List the documents that went, each with its witness: .parquet, .csv or .jsonl.")] = None,
    text_column: Annotated[str | None, typer.Option(help="The column of the text; by default text, content, document or body.")] = None,
    id_column: Annotated[str | None, typer.Option(help="The column that names documents; by default id, or the row number.")] = None,
    shingle: Shingle = Config.shingle,
    case: Case = Config.case,
    no_space: NoSpace = not Config.space,
    seed: Seed = Config.seed,
    memory: Annotated[str, typer.Option(help="About how much memory to use, such as 4GB. No result depends on it.")] = "2GB",
    threads: Threads = None,
    strict: Strict = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, say what it would take, and stop.")] = False,
    fail: Annotated[bool, typer.Option("--fail-on-duplicates", help="Exit with 1 if any document went.")] = False,
    as_json: Json = False,
) -> None:
    """Copy documents without those that repeat another. Killed and called again, it goes on where it was."""
    from twinset.documents.remote import staged
    from twinset.pipeline import deduping
    from twinset.report import progress
    from twinset.report.compiling import announced

    config = Config(shingle=shingle, case=case, space=not no_space, seed=seed, **deduping.LAYOUT)
    options: dict[str, Any] = {"removed": removed, "annotate": annotate, "text_column": text_column, "id_column": id_column}
    rule = deduping.Rule(threshold, recall, keep, by)
    with announced(), progress.stages() as move, staged(sources, out, against or ()) as at:
        run = deduping.dedup(at.sources, at.out, against=at.against, rule=rule, config=config, memory=parse_bytes(memory), threads=threads, strict=strict, progress=move, **options)
        done = None if dry_run else run.run()
    if done is None:
        return _print_json(run.plan())
    if _wants_json(as_json):
        _print_json(done.to_dict())
    else:
        from twinset.report import tables

        tables.show(tables.deduped(done, out))
    if fail and done.removed:
        raise typer.Exit(1)


@app.command()
def plan(
    threshold: Annotated[float, typer.Option(help="The resemblance from which on a pair counts.")],
    size: Annotated[int | None, typer.Option("--bytes", help="Best error within so many bytes of packed samples for each document.")] = None,
    error: Annotated[float | None, typer.Option(help="Fewest bytes for this standard error at the threshold.")] = None,
    precision: Annotated[float | None, typer.Option(help="Fewest bytes for this precision; needs --similarities.")] = None,
    similarities: Annotated[str | None, typer.Option(help="How resemblances are distributed: '0:0.9+0.5:0.05+0.85:0.05' or 'beta:0.5,5'.")] = None,
    permutations: Annotated[int | None, typer.Option(help="At most so many permutations; by default 4 for each stored bit.")] = None,
    lowest: Annotated[float | None, typer.Option(help="The resemblance that must be told from nothing; by default 0.1 below the threshold.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the variance against the resemblance into this .svg, .png or .pdf file.")] = None,
    as_json: Json = False,
) -> None:
    """Choose bits and samples for a threshold, by bytes, error or precision."""
    from twinset.planning import plan as planned
    from twinset.report.compiling import announced

    options = {"bytes": size, "error": error, "precision": precision, "similarities": similarities, "permutations": permutations, "lowest": lowest}
    with announced():
        found = planned(threshold, measure=True, **options)  # type: ignore[arg-type]
    if plot is not None:
        from twinset.report.plot import draw

        draw(found, plot)
    if _wants_json(as_json):
        return _print_json(found.to_dict())
    from twinset.report import tables

    tables.show(*tables.plan(found))


def main() -> None:
    """Run the command line. A user's mistake is one line and exit code 2; a closed pipe is success."""
    sys.exit(_guard(lambda: app(standalone_mode=False)))


def _guard(run: Callable[[], Any]) -> int:
    """The exit code of a run, and one line on stderr about what stopped it."""
    try:
        code = int(run() or 0)
        sys.stdout.flush()
    except TwinsetError as error:
        return _refused(str(error))
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):  # what Typer makes of a pipe that closes while it runs
            raise
        _silence()
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _silence()
            return _refused(f"the output cannot be written ({error.strerror}); allowed: a disk with room")
        if not hasattr(error, "format_message"):  # Typer's complaints about arguments have one
            raise
        return _refused(error.format_message())
    if code == INTERRUPTED:
        print("twinset: interrupted; nothing was left half-written", file=sys.stderr)
    return code


def _silence() -> None:
    """Send the rest of stdout nowhere, or the interpreter complains when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _refused(message: str) -> int:
    if message:
        print(f"twinset: {' '.join(message.split())}", file=sys.stderr)
    return MISTAKE


def _read_both(left: Path, right: Path) -> tuple[bytes, bytes]:
    if str(left) == str(right) == "-":
        raise BadInput("both documents are '-'; allowed: stdin for one of them")
    return _read(left), _read(right)


def _read(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise BadInput(f"{path} is a directory; allowed: a text file, or - for stdin") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); allowed: a text file, or - for stdin") from None


def _wants_json(asked: bool) -> bool:
    return asked or not sys.stdout.isatty()


def _print_json(found: dict[str, Any]) -> None:
    print(json.dumps(found, ensure_ascii=False))
