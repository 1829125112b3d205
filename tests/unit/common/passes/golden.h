// Golden tests of passes: HLO text in, HLO text out; names are not compared.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "common/base/text/strings.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "common/passes/passes.h"

namespace hlod::passes {

// Returns the text of the instructions with names derived from their opcodes and positions.
inline std::string Nameless(const hlo::Module& module) {
  hlo::Module plain("m", module.shared_tables());
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& from = module.computation(c);
    hlo::Computation& to = plain.AddComputation(absl::StrCat("c", c));
    for (hlo::NodeId id = 0; id < from.size(); ++id) {
      const hlo::Instruction i = from[id];
      to.Append(i.opcode(), i.shape_id(), i.attributes_id(), i.operands(), i.called());
    }
    to.set_root(from.root_id());
  }
  plain.set_entry(module.entry_id());
  return hlo::ToText(plain);
}

inline std::unique_ptr<hlo::Module> Parsed(const std::string& text) {
  auto module = hlo::ParseModule("HloModule m\n" + text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return std::make_unique<hlo::Module>("broken");
  EXPECT_TRUE(hlo::Verify(**module).ok()) << hlo::Verify(**module) << "\n" << text;
  return *std::move(module);
}

// A pass: a function of a module, with or without a PassWatch.
class Pass {
 public:
  template <typename F>
  Pass(F function) {
    if constexpr (std::is_invocable_v<F, const hlo::Module&, PassWatch*>) {
      run_ = [function](const hlo::Module& module) { return function(module, nullptr); };
    } else {
      run_ = function;
    }
  }
  std::unique_ptr<hlo::Module> operator()(const hlo::Module& module) const { return run_(module); }

 private:
  std::function<std::unique_ptr<hlo::Module>(const hlo::Module&)> run_;
};

// Expects pass(before) to be `after`, and to verify.
inline void ExpectGolden(const Pass& pass, const std::string& before, const std::string& after) {
  const auto module = Parsed(before);
  const auto result = pass(*module);
  EXPECT_TRUE(hlo::Verify(*result).ok()) << hlo::Verify(*result);
  EXPECT_EQ(Nameless(*result), Nameless(*Parsed(after)));
}

// Like ExpectGolden for an entry of one computation with this body: "x = f32[4] parameter(0)
//  ROOT y = ...".
inline void ExpectBody(const Pass& pass, const std::string& before, const std::string& after) {
  ExpectGolden(pass, "ENTRY e {\n" + before + "\n}\n", "ENTRY e {\n" + after + "\n}\n");
}

}  // namespace hlod::passes
