"""The SBOM: sbom_test.py SOURCE_DIR PROGRAM... It has the fields that SPDX 2.3 requires, names every library that
the programs load, and is the same when it is made again."""
import json
import os
import re
import subprocess
import sys

source, programs = sys.argv[1], sys.argv[2:]
command = [f"{source}/deploy/sbom", "0.1.0", *programs]
text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
assert text == subprocess.run(command, check=True, capture_output=True, text=True).stdout, "it does not repeat"
document = json.loads(text)

# SPDX 2.3, sections 6 (the document) and 7 (packages).
assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
assert document["SPDXID"] == "SPDXRef-DOCUMENT" and document["documentNamespace"].startswith("https://")
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"])
identifiers = [document["SPDXID"]] + [package["SPDXID"] for package in document["packages"]]
assert len(set(identifiers)) == len(identifiers), "an SPDXID is used twice"
for identifier in identifiers:
    assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identifier), identifier
for package in document["packages"]:
    for field in ("name", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
        assert package[field], (package["SPDXID"], field)
for relationship in document["relationships"]:
    assert relationship["spdxElementId"] in identifiers and relationship["relatedSpdxElement"] in identifiers

# The loader's own list: each library is named, with a sum.
listed = "\n".join(package.get("comment", "") for package in document["packages"])
for program in programs:
    for path in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True).stdout):
        assert os.path.basename(os.path.realpath(path)) in listed, f"{path} is missing"
names = {package["name"].split(":")[0]: package for package in document["packages"]}
if os.path.exists("/usr/bin/dpkg-query"):
    assert re.match(r"\d", names["libgrpc29"]["versionInfo"]), "gRPC has no version"
    assert names["libgrpc29"]["externalRefs"][0]["referenceLocator"].startswith("pkg:deb/debian/grpc@")
