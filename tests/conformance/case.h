// The cases under tests/conformance/jax/cases, stablehlo/cases, collectives/cases, manual/cases and
// optimised/cases: modules with arguments and XLA's own results. See the README.md beside each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::testing {

// The allowed difference from the expected result: |got - want| <= atol + rtol |want|. Both zero: the bits
// must be equal, except that any NaN matches a NaN.
struct Tolerance {
  double rtol = 0, atol = 0;
  bool exact() const { return rtol == 0 && atol == 0; }
};

// A result's leaf that may reuse a parameter's memory.
struct Donation {
  int64_t result = 0, parameter = 0;
  bool must = false;
};

struct Case {
  std::string name, about, folder;
  std::string module_proto;             // A serialized HloModuleProto; empty in the cases of collectives.
  std::string module_text;  // The module's text as XLA prints it; empty in the cases of stablehlo.
  std::vector<hlo::Literal> arguments;  // One array per parameter.
  std::vector<hlo::Literal> expected;   // One array per leaf of the result.
  std::vector<Tolerance> tolerances;    // One per leaf.
  std::vector<Donation> donated;
  std::vector<std::string> opcodes;
};

// Returns the sorted names of all cases of a corpus ("jax", "stablehlo", "collectives", "manual",
// "optimised") in the tree that the tests were built from.
std::vector<std::string> CaseNames(std::string_view corpus = "jax");
// Reads one case. Returns NOT_FOUND or DATA_LOSS, naming the file.
absl::StatusOr<Case> LoadCase(std::string_view name, std::string_view corpus = "jax");

// Reads an array of `type` from a .npy file (version 1.0, C order, little endian) whose elements must have
// the width of `type`.
absl::StatusOr<hlo::Literal> ReadNpy(const std::string& path, hlo::PrimitiveType type);

// Returns one participant's part of an array whose first dimension is over all participants: for the
// arguments and results of collectives.
hlo::Literal PartOf(const hlo::Literal& all, size_t participant);

// Returns OK when every element of `got` matches. Else the error has the number of mismatches, the first and
// the worst of them. Complex numbers are compared by modulus.
absl::Status CompareArrays(const hlo::Literal& got, const hlo::Literal& want, const Tolerance& tolerance);
// Calls CompareArrays for each leaf of a result.
absl::Status CompareResult(const hlo::Literal& got, const Case& want);

// Prints a case for GoogleTest, and names a parameterised test: case names are identifiers.
struct CaseName {
  std::string operator()(const auto& info) const { return info.param; }
};

}  // namespace hlod::testing
