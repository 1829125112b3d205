// XLA's figures of the costs and needs of modules: jax/judged.csv, by jax/judge.py, and peaks/judged.csv.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hlod::testing {

struct Judged {
  std::string name;
  std::map<std::string, double> values;  // The figures by the column's name.

  // Returns the peak in bytes, as memory_analysis() defines it.
  int64_t peak() const {
    return static_cast<int64_t>(values.at("argument_bytes") + values.at("output_bytes") -
                                values.at("alias_bytes") + values.at("temp_bytes"));
  }
};
// Reads the rows of a corpus, "jax" or "peaks".
std::vector<Judged> ReadJudged(std::string_view corpus);

}  // namespace hlod::testing
