// Printing values of functions that are traced.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// A text with a "{}" for each value; "{{" and "}}" stand for braces. It takes the caller's line with it.
class PrintFormat {
 public:
  PrintFormat(const char* text, Caller caller = Caller::Here()) : text_(text), caller_(caller) {}  // NOLINT
  PrintFormat(std::string text, Caller caller = Caller::Here())                                    // NOLINT
      : text_(std::move(text)), caller_(caller) {}
  const std::string& text() const { return text_; }
  const Caller& caller() const { return caller_; }

 private:
  std::string text_;
  Caller caller_;
};

namespace lazy {

void DebugPrint(const PrintFormat& format, const std::vector<Operand>& values);

}  // namespace lazy

// Prints the values each time that the line is computed: in a function given to Jit, Grad, Vjp, Jvp or Vmap
// (per example), in each iteration of Scan and ForiLoop and each step of a Kernel, and in the branch of Cond
// or Switch that is taken. Derivatives do not print again, and print the primal values. In a While, a
// Checkpoint and a custom rule it throws: their bodies return nothing but their results. jax.debug.print.
//
//   hlod::DebugPrint("loss {} at {}", loss, x);
//
// The values are results of the program beside those that it returns, so a line appears when the program
// next reads a value or calls Sync(), in the order of recording, and not at all when neither follows.
template <typename... Values>
void DebugPrint(const PrintFormat& format, const Values&... values) {
  lazy::DebugPrint(format, {Operand(values, format.caller())...});
}

// Receives the lines; the default writes them to standard output. Returns the one before. For all threads, of
// which one calls it at a time. It must not set another printer. Its exceptions leave the call that read.
using DebugPrinter = std::function<void(const std::string& line)>;
DebugPrinter SetDebugPrinter(DebugPrinter printer);

}  // namespace hlod
