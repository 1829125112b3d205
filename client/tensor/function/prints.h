// The prints of functions. Printed values are further results of the function, from the innermost body to the
// program, where they are read and shown (hlod/transform/debug_print.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// A tree of texts. Its leaves take the values in order.
struct Print {
  enum class Kind {
    kText,    // One line with `values` values.
    kRepeat,  // Prints its parts once per index of a leading dimension of all their values.
    kMaybe,   // Prints its parts if the first value, a pred, is true.
  };
  Kind kind = Kind::kText;
  std::string text = {};
  size_t values = 0;
  int64_t size = 0;  // For kRepeat: the size of the leading dimension.
  bool reverse = false;
  std::vector<Print> parts = {};
};
// Returns the number of values that the prints take.
size_t ValuesOf(const std::vector<Print>& prints);

// Prints and their values: of a function that is being traced, or of a program.
struct Printed {
  std::vector<Print> prints;
  std::vector<Tensor> values;
  void Add(std::vector<Print> more, const std::vector<Tensor>& their);
};

// Hands prints with their values to the function that is being traced in this thread, or to the program.
void Emit(std::vector<Print> prints, const std::vector<Tensor>& values);
// Shows what the program has printed and computed, in order, up to the first that is still to be computed.
// Does nothing while a function is traced.
void ShowPrinted();

}  // namespace hlod::lazy
