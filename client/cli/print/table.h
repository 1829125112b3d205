// Tables and figures for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/report/graphs/table.h"

namespace hlod::cli {

class Table : public report::Table {
 public:
  using report::Table::Table;
  void Print() const;
};

// Print text that may hold foreign names, escaped by PrintableLines: to stdout, to stderr.
void Show(std::string_view text);
void ShowError(std::string_view text);

std::string N(int64_t n);
// "1.5 MiB"
std::string Bytes(int64_t bytes);
// "1m3s"
std::string Seconds(int64_t us);
// Prints "(120 in all)" when `total` is more than `listed`.
void PrintTotal(size_t listed, int64_t total);

}  // namespace hlod::cli
