// Tables as people read them.
#pragma once

#include <string>
#include <vector>

namespace hlod::analysis {

// Columns as wide as their widest cell, numbers to the right. Cells are shown by Printable: names in them are
// often another user's.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { Add(std::move(header)); }
  void Add(std::vector<std::string> row);
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hlod::analysis
