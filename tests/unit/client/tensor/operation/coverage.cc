// Reads ops.csv.
#include "tests/unit/client/tensor/operation/coverage.h"

#include <fstream>
#include <sstream>

#include "tests/support/source_dir.h"

namespace hlod {

std::filesystem::path OperationFolder() { return SourceDir() / "tests/unit/client/tensor/operation"; }

std::vector<CoverageRow> ReadCoverage() {
  std::vector<CoverageRow> rows;
  std::ifstream file(OperationFolder() / "ops.csv");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    CoverageRow row;
    for (std::string* field : {&row.name, &row.state, &row.why, &row.gradient})
      std::getline(fields, *field, ',');
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hlod
