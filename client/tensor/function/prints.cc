// Keeps what a thread's program prints until it is computed, and shows it.
#include "client/tensor/function/prints.h"

#include <cstdio>
#include <cstring>
#include <deque>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/impl.h"
#include "client/tensor/value/text.h"
#include "client/tensor/value/throw.h"
#include "common/base/system/mutex.h"
#include "common/base/text/count.h"
#include "common/base/text/strings.h"
#include "hlod/runtime/error.h"
#include "hlod/transform/debug_print.h"

namespace hlod::lazy {
namespace {

constexpr char kWhat[] = "debug_print";
constexpr size_t kWaitingMost = 1000;  // Prints that are kept while nothing is read.

thread_local std::deque<Printed> waiting;
thread_local bool showing = false;

Mutex& PrinterMutex() {
  static auto* const mutex = new Mutex;
  return *mutex;
}
DebugPrinter& Printer() {
  static auto* const printer = new DebugPrinter([](const std::string& line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
  });
  return *printer;
}

// Splits a format at its "{}": one more piece than there are values.
std::vector<std::string> PiecesOf(const PrintFormat& format) {
  const std::string& text = format.text();
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '{' && next == '}') {
      pieces.emplace_back();
      ++i;
      continue;
    }
    if (text[i] == '{' || text[i] == '}') {
      if (next != text[i]) {
        Throw(ErrorKind::kArgument,
              absl::StrCat("the format \"", text, "\" has a single brace at ", i, ": write {} or {{ and }}"),
              kWhat, format.caller());
      }
      ++i;
    }
    pieces.back() += text[i];
  }
  return pieces;
}

// Returns the part of a value at `index` of its first `leading` dimensions, together.
Literal PartOf(const Literal& value, int64_t index, size_t leading) {
  const Dims& dims = value.shape().dims;
  Literal part(
      Shape::Array(value.shape().type, Dims(dims.begin() + static_cast<ptrdiff_t>(leading), dims.end())));
  const size_t size = part.bytes().size();
  if (size > 0)
    std::memcpy(part.bytes().data(), value.bytes().data() + static_cast<size_t>(index) * size, size);
  return part;
}

// A value that was read, or the reason why it cannot be.
struct Shown {
  Literal literal;
  std::string instead;
};

class Show {
 public:
  explicit Show(const std::vector<Shown>& values) : values_(values) {}

  void All(const std::vector<Print>& prints, int64_t index, size_t leading) {
    for (const Print& print : prints) One(print, index, leading);
  }

 private:
  void One(const Print& print, int64_t index, size_t leading) {
    const size_t begin = next_;
    switch (print.kind) {
      case Print::Kind::kText: return Line(print, index, leading);
      case Print::Kind::kRepeat:
        for (int64_t i = 0; i < print.size; ++i) {
          next_ = begin;
          All(print.parts, index * print.size + (print.reverse ? print.size - 1 - i : i), leading + 1);
        }
        next_ = begin + ValuesOf({print});
        return;
      case Print::Kind::kMaybe: {
        const Shown& taken = values_[next_++];
        if (!taken.instead.empty() || PartOf(taken.literal, index, leading).data<bool>()[0]) {
          All(print.parts, index, leading);
        }
        next_ = begin + ValuesOf({print});
        return;
      }
    }
  }
  void Line(const Print& print, int64_t index, size_t leading) {
    std::string line;
    size_t begin = 0;
    for (size_t i = 0; i < print.values; ++i) {
      const size_t end = print.text.find('\0', begin);
      line += print.text.substr(begin, end - begin);
      const Shown& value = values_[next_++];
      line += value.instead.empty() ? ValueText(PartOf(value.literal, index, leading)) : value.instead;
      begin = end + 1;
    }
    line += print.text.substr(begin);
    const MutexLock lock(&PrinterMutex());
    if (Printer() != nullptr) Printer()(line);
  }

  const std::vector<Shown>& values_;
  size_t next_ = 0;
};

// Returns true when a value of the program is not computed yet: its trace is open.
bool IsOpen(const Printed& printed) {
  const TraceLock lock;
  for (const Tensor& value : printed.values) {
    const Value& held = value.impl()->value();
    if (held.state() == Value::State::kNode) return true;
  }
  return false;
}

Shown ReadFor(const Tensor& value) {
  try {
    if (value.is_placeholder()) {
      return {{}, absl::StrCat("<", hlo::ToStringNoLayout(value.shape()), " of a placeholder>")};
    }
    return {value.ToLiteral(), ""};
  } catch (const Error& error) {
    return {{}, absl::StrCat("<", error.what(), ">")};
  }
}

}  // namespace

size_t ValuesOf(const std::vector<Print>& prints) {
  size_t count = 0;
  for (const Print& print : prints) {
    count += print.values + (print.kind == Print::Kind::kMaybe ? 1 : 0) + ValuesOf(print.parts);
  }
  return count;
}

void Printed::Add(std::vector<Print> more, const std::vector<Tensor>& their) {
  for (Print& print : more) prints.push_back(std::move(print));
  values.insert(values.end(), their.begin(), their.end());
}

void Emit(std::vector<Print> prints, const std::vector<Tensor>& values) {
  if (prints.empty()) return;
  if (FunctionTrace* const inside = FunctionTrace::Innermost(); inside != nullptr) {
    inside->printed().Add(std::move(prints), values);
    return;
  }
  waiting.push_back({std::move(prints), values});
  if (waiting.size() > kWaitingMost || !IsOpen(waiting.front())) ShowPrinted();
}

void ShowPrinted() {
  if (waiting.empty() || showing || FunctionTrace::Innermost() != nullptr) return;
  showing = true;
  const absl::Cleanup shown = [] { showing = false; };  // Also when the printer throws.
  while (!waiting.empty() && !IsOpen(waiting.front())) {
    const Printed printed = std::move(waiting.front());
    waiting.pop_front();
    std::vector<Shown> values;
    for (const Tensor& value : printed.values) values.push_back(ReadFor(value));
    Show(values).All(printed.prints, 0, 0);
  }
}

void DebugPrint(const PrintFormat& format, const std::vector<Operand>& values) {
  const CallerScope scope(format.caller());
  const std::vector<std::string> pieces = PiecesOf(format);
  if (pieces.size() != values.size() + 1) {
    Throw(ErrorKind::kArgument,
          absl::StrCat("the format \"", format.text(), "\" has ", pieces.size() - 1, " {} for ",
                       CountText(static_cast<int64_t>(values.size()), "value")),
          kWhat, format.caller());
  }
  Print print;
  std::vector<Tensor> taken;
  for (size_t i = 0; i < values.size(); ++i) {
    print.text += pieces[i];
    if (values[i].tensor() == nullptr) {  // A number is a part of the text.
      const Scalar number = values[i].scalar();
      const PrimitiveType type = number.is_complex() ? hlo::kC128
                                 : number.is_float() ? hlo::kF64
                                 : number.is_bool()  ? hlo::kPred
                                                     : hlo::kS64;
      print.text += ValueText(NumberLiteral(type, number));
      continue;
    }
    print.text += '\0';
    ++print.values;
    const Tensor& value = TensorOf(Operation{"DebugPrint", kWhat, Promotion::kNone, "a print"}, values[i]);
    // A copy of the value as it is now: later updates in place make others.
    taken.push_back(value.Detach().Clone());
  }
  print.text += pieces.back();
  Emit({std::move(print)}, taken);
}

}  // namespace hlod::lazy

namespace hlod {

DebugPrinter SetDebugPrinter(DebugPrinter printer) {
  const MutexLock lock(&lazy::PrinterMutex());
  return std::exchange(lazy::Printer(), std::move(printer));
}

}  // namespace hlod
