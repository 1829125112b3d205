// ops.csv: the state of every operation of PyTorch's table. Operation.WritesCoverage writes it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hlod {

// Returns tests/unit/client/tensor/operation.
std::filesystem::path OperationFolder();

struct CoverageRow {
  std::string name, state, why, gradient;
};
std::vector<CoverageRow> ReadCoverage();

}  // namespace hlod
