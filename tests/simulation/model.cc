// Random programs, and the rules of outcomes.
#include "tests/simulation/model.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::simulation {
namespace {

hlo::Literal LiteralOf(const std::vector<float>& values) {
  hlo::Literal literal(hlo::Shape::Array(hlo::kF32, {static_cast<int64_t>(values.size())}));
  std::memcpy(literal.bytes().data(), values.data(), values.size() * sizeof(float));
  return literal;
}

std::vector<float> ValuesOf(const hlo::Literal& literal) {
  std::vector<float> values(literal.bytes().size() / sizeof(float));
  std::memcpy(values.data(), literal.bytes().data(), literal.bytes().size());
  return values;
}

}  // namespace

std::vector<std::vector<float>> Program::Evaluate(const std::vector<float>& a,
                                                  const std::vector<float>& b) const {
  const hlo::Literal first = LiteralOf(a), second = LiteralOf(b);
  const std::array<const hlo::Literal*, 2> arguments = {&first, &second};
  const hlo::Literal both = hlod::Evaluate(*module, arguments).value();
  return {ValuesOf(both.elements()[0]), ValuesOf(both.elements()[1])};
}

std::shared_ptr<Program> MakeProgram(Seed& seed, size_t elements, bool in_place) {
  auto program = std::make_shared<Program>();
  program->elements = elements;
  const std::string type = absl::StrFormat("f32[%d]", elements);
  // A name of its own, so that no two programs are the same to the daemon's cache.
  std::string text = absl::StrFormat("HloModule random%d%s\nENTRY main {\n", seed.Next() % 1000000,
                                     in_place ? ", input_output_alias={ {0}: (0, {}, may-alias) }" : "");
  struct Value {
    std::string name;
    bool uses[2];
  };
  std::vector<Value> values = {{"p0", {true, false}}, {"p1", {false, true}}};
  for (int p = 0; p < 2; ++p) absl::StrAppendFormat(&text, "  p%d = %s parameter(%d)\n", p, type, p);
  // Values stay small whole numbers, of which every order of operations has the same bits.
  static constexpr const char* kOpcodes[] = {"add", "subtract", "maximum", "minimum"};
  const size_t count = 2 + seed.Below(5);
  for (size_t i = 0; i < count; ++i) {
    const Value a = values[seed.Below(values.size())], b = values[seed.Below(values.size())];
    const std::string name = absl::StrCat("v", i);
    absl::StrAppendFormat(&text, "  %s = %s %s(%s, %s)\n", name, type, kOpcodes[seed.Below(4)], a.name,
                          b.name);
    values.push_back({name, {a.uses[0] || b.uses[0], a.uses[1] || b.uses[1]}});
  }
  const Value results[] = {values.back(), values[2 + seed.Below(values.size() - 2)]};
  absl::StrAppendFormat(&text, "  ROOT r = (%s, %s) tuple(%s, %s)\n}\n", type, type, results[0].name,
                        results[1].name);
  for (int r = 0; r < 2; ++r) std::copy_n(results[r].uses, 2, program->uses[r]);
  program->module = hlo::ParseModule(text).value();
  program->bytes = hlo::Serialize(*program->module);
  return program;
}

std::string Judge(const Command& command) {
  bool must_fail = command.program != nullptr && command.program->outcome == Outcome::kFailed;
  const bool consumed = command.perhaps_consumed != nullptr && command.perhaps_consumed->consumed;
  must_fail = must_fail || consumed;
  for (const NodePtr& node : command.uses) must_fail = must_fail || node->outcome == Outcome::kFailed;
  if (command.outcome == Outcome::kUnknown) return absl::StrCat(command.what, " is not answered");
  if (command.outcome == Outcome::kSucceeded) {
    if (consumed) return absl::StrCat(command.what, " succeeded, though its buffer was donated before");
    if (must_fail) return absl::StrCat(command.what, " succeeded, though what it uses has failed");
    if (command.reads_placeholder) return absl::StrCat(command.what, " read a placeholder");
    return "";
  }
  if (must_fail) return "";
  // A handle whose definition was refused may be dead, and forgotten.
  if (command.frees != nullptr && command.frees->outcome == Outcome::kFailed) return "";
  if (command.frees_program != nullptr && command.frees_program->outcome == Outcome::kFailed) return "";
  if (command.reads_placeholder && command.kind == ErrorKind::kPlaceholder) return "";
  if (command.cancelled && command.kind == ErrorKind::kCancelled) return "";
  if (command.may_be_late && command.kind == ErrorKind::kPending) return "";
  if (command.upload_bytes > 0 && !command.may_exceed_staging &&
      absl::StrContains(command.error, "the limit staging_bytes_max")) {
    return absl::StrCat(command.what, " was refused for bytes of uploads that have ended: ", command.error);
  }
  if (command.may_lack_memory && (command.kind == ErrorKind::kNoMemory || command.kind == ErrorKind::kLimit))
    return "";
  return absl::StrFormat("%s failed with the kind %s, without a reason", command.what, Name(command.kind));
}

}  // namespace hlod::simulation
