// Matches shapes with signatures.
#include "common/lapack/signature.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/errors/status.h"

namespace hlod::lapack {
namespace {

// Returns the size of a letter that is determined by other sizes.
int64_t Derived(char letter, const Sizes& sizes) {
  if (letter == 'k' && sizes['m'] >= 0 && sizes['n'] >= 0) return std::min(sizes['m'], sizes['n']);
  if (letter == 'h' && sizes['n'] >= 0) return std::max<int64_t>(0, sizes['n'] - 1);
  return Sizes::kUnknown;
}

std::string Expected(std::string_view signature, hlo::PrimitiveType type, const Sizes& sizes,
                     bool batch_known) {
  std::vector<std::string> dims;
  if (!batch_known) dims.push_back("...");
  for (const int64_t size : sizes.batch) dims.push_back(absl::StrCat(size));
  for (const char letter : signature.substr(1)) {
    const int64_t known = sizes[letter] >= 0 ? sizes[letter] : Derived(letter, sizes);
    dims.push_back(known >= 0 ? absl::StrCat(known) : std::string(1, letter));
  }
  return absl::StrCat(std::string(hlo::Name(TypeOf(signature[0], type))), "[", absl::StrJoin(dims, ","), "]");
}

}  // namespace

hlo::PrimitiveType TypeOf(char letter, hlo::PrimitiveType type) {
  switch (letter) {
    case 'T': return type;
    case 'R': return hlo::RealType(type);
    case 'C': return hlo::ComplexType(hlo::RealType(type));
    default: return hlo::kS32;
  }
}

absl::Status Match(std::string_view signature, hlo::PrimitiveType type, const hlo::Shape& shape,
                   std::string_view what, Sizes& sizes) {
  // The first operand determines the number of batch dimensions.
  const bool first = std::ranges::all_of(sizes.of, [](int64_t size) { return size < 0; });
  const std::string expected = Expected(signature, type, sizes, !first);
  const auto rank = static_cast<int64_t>(signature.size()) - 1;
  bool fits = shape.IsArray() && shape.type == TypeOf(signature[0], type) && shape.rank() >= rank;
  if (fits) {
    const hlo::Dims batch(shape.dims.begin(), shape.dims.end() - rank);
    if (first) sizes.batch = batch;
    fits = batch == sizes.batch;
  }
  for (int64_t d = 0; fits && d < rank; ++d) {
    const char letter = signature[1 + d];
    int64_t& size = sizes.of[letter - 'a'];
    if (size < 0) size = Derived(letter, sizes);
    const int64_t given = shape.dims[shape.rank() - rank + d];
    if (size < 0) size = given;
    fits = size == given;
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument("%s is %s, and %s is expected", what, hlo::ToStringNoLayout(shape), expected);
}

}  // namespace hlod::lapack
