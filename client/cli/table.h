// Tables and figures as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hlod::cli {

// Columns as wide as their widest cell, numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string ToString() const;
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string N(int64_t n);
// "1.5 MiB"
std::string Bytes(int64_t bytes);
// "1m3s"
std::string Seconds(int64_t us);
// "(120 in all)", when they are more than were listed.
void PrintTotal(size_t listed, int64_t total);

}  // namespace hlod::cli
