#!/usr/bin/env python3
"""Packs and unpacks conformance cases.

    tests/conformance/pack.py --unpack FOLDER [NAME...]   the cases of those names, or all, as FOLDER/CORPUS/cases/NAME/
    tests/conformance/pack.py CORPUS/cases                packs the folders there

A case is one archive, cases/NAME.tar, with its module, arguments, results and case.json. Its StableHLO, which people read, lies
beside it as cases/NAME.mlir, and is module.mlir in the unpacked folder. Unpacking leaves alone what is up to date.
"""

import argparse
import io
import pathlib
import shutil
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
CORPORA = ("jax", "stablehlo", "collectives", "manual", "optimised")  # "sharded" is unpacked by its own test.
READ = "module.mlir"


def pack(folder: pathlib.Path) -> None:
    """Replaces a case's folder by its archive, which depends on nothing but the files' names and bytes."""
    archive = folder.with_suffix(".tar")
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(folder.iterdir()):
            if path.name == READ:
                path.replace(folder.with_suffix(".mlir"))
                continue
            entry = tarfile.TarInfo(path.name)
            data = path.read_bytes()
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    shutil.rmtree(folder)


def pack_all(cases: pathlib.Path) -> None:
    """Packs every folder of a corpus."""
    for folder in sorted(p for p in cases.iterdir() if p.is_dir()):
        pack(folder)


def unpack(archive: pathlib.Path, folder: pathlib.Path) -> None:
    """Writes a case's files into a folder, unless they are there and newer than the archive."""
    text = archive.with_suffix(".mlir")
    sources = [archive] + ([text] if text.exists() else [])
    stamp = folder / "case.json"
    if stamp.exists() and all(stamp.stat().st_mtime >= source.stat().st_mtime for source in sources):
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if text.exists():
        shutil.copyfile(text, folder / READ)
    with tarfile.open(archive) as tar:
        names = sorted(tar.getnames(), key=lambda name: name == stamp.name)  # The stamp comes last.
        for name in names:
            (folder / name).write_bytes(tar.extractfile(name).read())


def unpack_all(target: pathlib.Path, names: list[str] = (), corpora: tuple[str, ...] = CORPORA) -> pathlib.Path:
    """Unpacks the cases of these names, or all, and drops unpacked ones that do not exist any more."""
    for corpus in corpora:
        archives = {path.stem: path for path in (HERE / corpus / "cases").glob("*.tar")}
        cases = target / corpus / "cases"
        for name, archive in archives.items():
            if not names or name in names:
                unpack(archive, cases / name)
        for folder in cases.iterdir() if cases.exists() else ():
            if folder.name not in archives:
                shutil.rmtree(folder)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unpack", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.unpack:
        unpack_all(options.unpack, options.names)
    else:
        for cases in options.names:
            pack_all(pathlib.Path(cases))


if __name__ == "__main__":
    main()
