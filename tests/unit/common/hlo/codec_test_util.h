// Shared by the tests of codec and text: the modules that JAX lowered, and a comparison of modules.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/hlo/module.h"
#include "gtest/gtest.h"
#include "tests/support/source_dir.h"

namespace hlod::hlo {

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// Returns the folders of the conformance cases: each has a module.pb and XLA's own text of it, module.txt.
inline std::vector<std::filesystem::path> JaxCases() {
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(CasesDir("jax"))) {
    if (std::filesystem::exists(entry.path() / "module.pb")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

inline bool SameAttributes(Instruction a, Instruction b) {
  if (a.opcode() == kConstant && b.opcode() == kConstant) return a.literal() == b.literal();
  return a.attributes() == b.attributes();
}

// Compares two modules instruction by instruction: opcode, shape with layouts, attributes, literals,
// operands, callees, control predecessors; and roots, entry, aliases and entry layout. Names, metadata and
// unmodelled fields are not compared.
inline void ExpectSameProgram(const Module& a, const Module& b) {
  ASSERT_EQ(a.computation_count(), b.computation_count());
  EXPECT_EQ(a.entry_id(), b.entry_id());
  EXPECT_EQ(a.config.input_output_alias, b.config.input_output_alias);
  EXPECT_EQ(a.config.buffer_donors, b.config.buffer_donors);
  EXPECT_EQ(a.config.frontend_attributes, b.config.frontend_attributes);
  EXPECT_EQ(a.config.entry_layout.parameters, b.config.entry_layout.parameters);
  EXPECT_TRUE(a.config.entry_layout.result == b.config.entry_layout.result);
  for (ComputationId c = 0; c < a.computation_count(); ++c) {
    const Computation &x = a.computation(c), &y = b.computation(c);
    ASSERT_EQ(x.size(), y.size()) << x.name();
    EXPECT_EQ(x.root_id(), y.root_id()) << x.name();
    for (NodeId id = 0; id < x.size(); ++id) {
      const std::string where = x.name() + ": " + x[id].name() + " and " + y[id].name();
      ASSERT_EQ(x[id].opcode(), y[id].opcode()) << where;
      EXPECT_EQ(ToString(x[id].shape()), ToString(y[id].shape())) << where;
      EXPECT_TRUE(x[id].shape() == y[id].shape()) << where;
      EXPECT_TRUE(SameAttributes(x[id], y[id])) << where;
      EXPECT_EQ(x[id].operands(), y[id].operands()) << where;
      EXPECT_EQ(x[id].called(), y[id].called()) << where;
      const Notes empty;
      const Notes &p = x.notes(id) ? *x.notes(id) : empty, &q = y.notes(id) ? *y.notes(id) : empty;
      EXPECT_EQ(p.control_predecessors, q.control_predecessors) << where;
      EXPECT_EQ(p.sharding, q.sharding) << where;
      EXPECT_EQ(p.frontend_attributes, q.frontend_attributes) << where;
      EXPECT_EQ(p.backend_config, q.backend_config) << where;
    }
  }
}

}  // namespace hlod::hlo
