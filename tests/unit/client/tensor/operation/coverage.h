// ops.csv: how every operation of PyTorch's table stands here. Written by Operation.WritesCoverage.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hlod {

// tests/unit/client/tensor/operation.
std::filesystem::path OperationFolder();

struct CoverageRow {
  std::string name, state, why, gradient;
};
std::vector<CoverageRow> ReadCoverage();

}  // namespace hlod
