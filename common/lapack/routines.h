// The routines that custom calls name: one row each.
#pragma once

#include <string_view>
#include <vector>

#include "common/lapack/frame.h"

namespace hlod::lapack {

using Solve = void (*)(Frame&);

// An attribute, and the letters that it may be; none when it is any number.
struct Attribute {
  std::string_view name, letters;
};

struct Routine {
  // "getrf" is lapack_sgetrf_ffi and so on; a name with a capital is the target itself, of every type.
  std::string_view name;
  std::string_view types;                           // Of s, d, c and z, those that it exists for.
  std::vector<std::string_view> operands, results;  // Signatures.
  std::vector<Attribute> attributes;
  // What sizes must be beyond the signatures: null, or a sentence's end ("wants n <= m") when they are not.
  const char* (*check)(const Sizes&, const std::map<std::string, int64_t, std::less<>>&);
  Solve solve[4];  // By type.
  // Its iterations need not end for numbers that are not finite, or end the process (XERBLA of the reference
  // LAPACK): it is not called then. Its results are NaN, and its info says that operand 0 is wrong.
  bool iterates = false;
};

const std::vector<Routine>& Routines();

}  // namespace hlod::lapack
