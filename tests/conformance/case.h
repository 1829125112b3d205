// The cases under tests/conformance/jax/cases, stablehlo/cases, collectives/cases, manual/cases and optimised/cases: modules with arguments
// and XLA's own results. See the README.md beside each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::testing {

// How far a result may be from the expected one: |got - want| <= atol + rtol |want|. Both zero: equal bits,
// but any NaN for a NaN.
struct Tolerance {
  double rtol = 0, atol = 0;
  bool exact() const { return rtol == 0 && atol == 0; }
};

// A result's leaf that may take over a parameter's memory.
struct Donation {
  int64_t result = 0, parameter = 0;
  bool must = false;
};

struct Case {
  std::string name, about, folder;
  std::string module_proto;             // A serialized HloModuleProto; the cases of collectives have none.
  std::string module_text;              // The same as XLA prints it; the cases of stablehlo have none.
  std::vector<hlo::Literal> arguments;  // One array a parameter.
  std::vector<hlo::Literal> expected;   // One array a leaf of the result.
  std::vector<Tolerance> tolerances;    // One a leaf.
  std::vector<Donation> donated;
  std::vector<std::string> opcodes;
};

// Names of all cases of a corpus ("jax", "stablehlo", "collectives", "manual", "optimised") in the tree the tests were built from,
// sorted.
std::vector<std::string> CaseNames(std::string_view corpus = "jax");
// Reads one case. NOT_FOUND or DATA_LOSS naming the file.
absl::StatusOr<Case> LoadCase(std::string_view name, std::string_view corpus = "jax");

// An array from a .npy file (version 1.0, C order, little endian) as the element type `type`, whose width the
// file's must have.
absl::StatusOr<hlo::Literal> ReadNpy(const std::string& path, hlo::PrimitiveType type);

// What one member has of an array over all of them, its first dimension: collectives' arguments and results.
hlo::Literal PartOf(const hlo::Literal& all, size_t member);

// OK when every element of `got` matches; else how many do not and the first and worst of them. Complex
// numbers by modulus.
absl::Status CompareArrays(const hlo::Literal& got, const hlo::Literal& want, const Tolerance& tolerance);
// CompareArrays for each leaf of a result.
absl::Status CompareResult(const hlo::Literal& got, const Case& want);

// What GoogleTest prints for a case, and the name of a parameterised test: case names are identifiers.
struct CaseName {
  std::string operator()(const auto& info) const { return info.param; }
};

}  // namespace hlod::testing
