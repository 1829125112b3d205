// Tables as people read them.
#pragma once

#include <string>
#include <vector>

namespace hlod::report {

// A table whose columns are as wide as their widest cell, with numbers aligned to the right. Cells are shown
// by Printable, because names in them are often another user's.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { Add(std::move(header)); }
  void Add(std::vector<std::string> row);
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hlod::report
