// The routines that custom calls name, one row each.
#pragma once

#include <string_view>
#include <vector>

#include "common/lapack/frame.h"

namespace hlod::lapack {

using Solve = void (*)(Frame&);

// An attribute, and the letters that it may be; without letters it may be any number.
struct Attribute {
  std::string_view name, letters;
};

struct Routine {
  // The routine's name: "getrf" for lapack_sgetrf_ffi and so on. A name with a capital letter is the target
  // itself, for every type.
  std::string_view name;
  std::string_view types;  // The types that the routine exists for, among s, d, c and z.
  std::vector<std::string_view> operands, results;  // The signatures of operands and results.
  std::vector<Attribute> attributes;
  // Checks sizes beyond the signatures. Returns null if they are right, otherwise the end of a sentence
  // ("wants n <= m").
  const char* (*check)(const Sizes&, const std::map<std::string, int64_t, std::less<>>&);
  Solve solve[4];  // The functions by type.
  // True when its iterations may not end for numbers that are not finite, or may end the process (XERBLA of
  // the reference LAPACK). For such numbers it is not called: its results are NaN, and its info says that
  // operand 0 is wrong.
  bool iterates = false;
};

const std::vector<Routine>& Routines();

}  // namespace hlod::lapack
