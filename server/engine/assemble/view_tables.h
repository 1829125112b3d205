// Tables in machine code: the places of a view's elements in the memory that is viewed.
#pragma once

#include <asmjit/x86.h>

#include <cstdint>
#include <list>
#include <vector>

#include "server/engine/assemble/lanes.h"
#include "server/engine/tile/view.h"

namespace hlod::engine::assemble {

// The places of a view's elements without the view's offset, whole vectors of them: the last one is repeated.
struct ViewTable {
  absl::InlinedVector<View::Dimension, 4> dims;  // The view's.
  int64_t count = 0;                             // The view's elements.
  std::vector<int32_t> places;
  asmjit::Label places_label;
  // If there are windows, the elements of each, at most a vector's. A vector's places are in one window, and
  // count from its start; windows have nothing before the view's first element nor behind the last one.
  bool has_windows = false;
  int window = 0;
  bool in_order = false;        // True if element i of each vector is element i of its window.
  std::vector<int32_t> starts;  // One for as many bytes as a vector has elements.
  asmjit::Label starts_label;
};

// The tables of a function.
class ViewTables {
 public:
  ViewTables(x86::Compiler& cc, int lanes) : cc_(cc), lanes_(lanes) {}

  // Returns true if there may be a table of the view.
  static bool Fits(const View& view);
  // Returns the table of a view that fits. Views that differ by their offsets share one. It has no windows
  // unless `windows`, and if places are too far from each other.
  const ViewTable& Of(const View& view, bool windows);
  // Puts the tables behind the code.
  void Embed();

 private:
  void FindWindows(ViewTable& table) const;

  x86::Compiler& cc_;
  const int lanes_;
  std::list<ViewTable> tables_[2];  // Without and with windows.
};

}  // namespace hlod::engine::assemble
