// Layouts as the framework holds them.
#pragma once

#include <cstddef>
#include <string>

namespace hlod::pjrt {

// The order of dimensions of an array, minor first, as XLA's text: "{1,0}".
class MemoryLayout {
 public:
  // The row-major one, which all of hlod's buffers have.
  explicit MemoryLayout(size_t rank);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace hlod::pjrt
