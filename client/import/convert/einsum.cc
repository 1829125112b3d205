// Converts einsums, whose operands' dimensions have letters: "ab,bc->ac" multiplies along equal letters and
// sums over those that the result does not have. Also converts torch_index_select.
#include <algorithm>
#include <bitset>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"
#include "common/base/text/strings.h"
#include "common/base/text/utf8.h"
#include "common/hlo/builder.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// A value whose dimensions have letters. "..." was replaced by hidden letters when it was read.
struct Lettered {
  Op value;
  std::string letters;
};

bool Has(std::string_view letters, char letter) { return letters.find(letter) != letters.npos; }
int64_t PlaceOf(std::string_view letters, char letter) { return static_cast<int64_t>(letters.find(letter)); }

// The hidden letters for the dimensions under "...", which no program can write: one per dimension, counted
// from the last.
constexpr char kFirstHidden = '\x01';
constexpr int64_t kHiddenMax = 26;

// Returns the text for an error: the start of a long one.
std::string Clipped(std::string_view text) {
  std::string clipped(text);
  ClipWithDots(clipped, 100);
  return clipped;
}

// Returns the letters of one operand of `rank`, or, with rank -1, of the result, whose "..." is `hidden`.
std::string LettersOf(Conversion& c, std::string_view text, int64_t rank, std::string& hidden) {
  std::string letters;
  const size_t dots = text.find("...");
  const size_t written = text.size() - (dots == text.npos ? 0 : 3);
  if (dots != text.npos && rank >= 0) {
    const int64_t count = rank - static_cast<int64_t>(written);
    std::string own;
    for (int64_t i = std::min(count, kHiddenMax); i > 0; --i) own += static_cast<char>(kFirstHidden + i - 1);
    if (own.size() > hidden.size()) hidden = own;
    letters = absl::StrCat(ToAbsl(text.substr(0, dots)), own, ToAbsl(text.substr(dots + 3)));
  } else {
    letters = dots == text.npos
                  ? std::string(text)
                  : absl::StrCat(ToAbsl(text.substr(0, dots)), hidden, ToAbsl(text.substr(dots + 3)));
  }
  std::bitset<256> seen;
  for (const char letter : letters) {
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= kFirstHidden && letter < kFirstHidden + kHiddenMax);
    const auto bit = static_cast<unsigned char>(letter);
    if (is_letter && !seen[bit]) {
      seen.set(bit);
      continue;
    }
    // Reports only the first wrong letter, because the text may be long.
    c.Fail(Unimplemented("Its einsum_config has \"%s\"; expected letters, each at most once per operand.",
                         Clipped(text)));
    return "";
  }
  if (rank >= 0 && static_cast<int64_t>(letters.size()) != rank)
    c.Fail(InvalidArgument(
        "Its einsum_config has \"%s\" for an operand of (%d) dimensions; expected one letter per dimension.",
        Clipped(text), rank));
  return letters;
}

// Sums over the dimensions whose letters are not in `kept`.
Lettered Summed(Conversion& c, Lettered x, std::string_view kept) {
  Dims summed;
  std::string letters;
  for (size_t d = 0; d < x.letters.size(); ++d) {
    if (Has(kept, x.letters[d])) {
      letters += x.letters[d];
    } else {
      summed.push_back(static_cast<int64_t>(d));
    }
  }
  if (summed.empty()) return x;
  const hlo::PrimitiveType type = c.b.shape(x.value).type;
  const ComputationId add = hlo::AddScalarReducer(c.scope.converter().module(), kAdd, type);
  return {c.b.Reduce(x.value, c.b.Constant(hlo::Literal(Shape::Scalar(type))), summed, add), letters};
}

Op Ordered(Conversion& c, const Lettered& x, std::string_view result) {
  Dims order;
  for (const char letter : result) order.push_back(PlaceOf(x.letters, letter));
  return std::ranges::is_sorted(order) ? x.value : c.b.Transpose(x.value, order);
}

// The letters on both sides of the arrow.
struct Config {
  std::vector<std::string> operands;
  std::string result;
};
Config ConfigOf(Conversion& c) {
  Config config;
  const std::string text = c.Text("einsum_config");
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  std::vector<std::string> operands;
  if (sides.size() == 2) operands = absl::StrSplit(sides[0], ',');
  if (operands.size() != c.operands.size()) {
    c.Fail(InvalidArgument("Its einsum_config is \"%s\", but it has (%d) operands.", Clipped(text),
                           c.operands.size()));
    return config;
  }
  std::string hidden;
  for (size_t i = 0; i < operands.size(); ++i)
    config.operands.push_back(LettersOf(c, operands[i], c.shape(i).rank(), hidden));
  config.result = LettersOf(c, sides[1], -1, hidden);
  for (const char letter : config.result) {
    if (std::ranges::none_of(config.operands, [&](const std::string& own) { return Has(own, letter); })) {
      c.Fail(InvalidArgument("Its einsum_config is \"%s\": the result has a letter that no operand has.",
                             Clipped(text)));
      break;
    }
  }
  return config;
}

Values UnaryEinsum(Conversion& c) {
  const Config config = ConfigOf(c);
  if (!c.status().ok()) return {};
  return {Ordered(c, Summed(c, {c.operand(0), config.operands[0]}, config.result), config.result)};
}

// A letter of both operands is a batch dimension when the result has it, else it is contracted.
Values Einsum(Conversion& c) {
  const Config config = ConfigOf(c);
  if (!c.status().ok()) return {};
  const Lettered lhs = Summed(c, {c.operand(0), config.operands[0]}, config.operands[1] + config.result);
  const Lettered rhs = Summed(c, {c.operand(1), config.operands[1]}, config.operands[0] + config.result);
  hlo::DotAttributes dot;
  std::string batch, left, right;
  for (const char letter : lhs.letters) {
    if (!Has(rhs.letters, letter)) {
      left += letter;
      continue;
    }
    const bool is_batch = Has(config.result, letter);
    (is_batch ? dot.lhs_batch : dot.lhs_contracting).push_back(PlaceOf(lhs.letters, letter));
    (is_batch ? dot.rhs_batch : dot.rhs_contracting).push_back(PlaceOf(rhs.letters, letter));
    if (is_batch) batch += letter;
  }
  for (const char letter : rhs.letters) {
    if (!Has(lhs.letters, letter)) right += letter;
  }
  TakePrecision(c, dot.precision);
  const Op product = c.b.Add(kDot, {lhs.value, rhs.value}, dot);
  return {Ordered(c, {product, batch + left + right}, config.result)};
}

// Returns the slices of dimension `dim` at the indices, whose first dimensions are the operand's batch
// dimensions.
Values TorchIndexSelect(Conversion& c) {
  const Shape &operand = c.shape(0), &indices = c.shape(1);
  int64_t dim = c.Integer("dim"), batch = c.Integer("batch_dims");
  if (dim < 0) dim += operand.rank();
  if (batch < 0) batch += indices.rank();
  if (dim < 0 || dim >= operand.rank() || batch < 0 || batch > dim || batch > indices.rank()) {
    c.Fail(InvalidArgument("Its dim is (%d) and its batch_dims (%d), of operands %s and %s.", dim, batch,
                           hlo::ToStringNoLayout(operand), hlo::ToStringNoLayout(indices)));
    return {};
  }
  hlo::GatherAttributes gather;
  gather.slice_sizes = operand.dims;
  for (int64_t d = 0; d < batch; ++d) {
    gather.operand_batching_dims.push_back(d);
    gather.start_indices_batching_dims.push_back(d);
    gather.slice_sizes[static_cast<size_t>(d)] = 1;
  }
  gather.collapsed_slice_dims = {dim};
  gather.slice_sizes[static_cast<size_t>(dim)] = 1;
  gather.start_index_map = {dim};
  gather.index_vector_dim = indices.rank();
  // The offset dimensions are those before dim and those after it; the indices' dimensions without the batch
  // are between them.
  const int64_t between = indices.rank() - batch;
  for (int64_t d = batch; d < dim; ++d) gather.offset_dims.push_back(d);
  for (int64_t d = dim + 1; d < operand.rank(); ++d) gather.offset_dims.push_back(d - 1 + between);
  return {c.b.Add(kGather, {c.operand(0), c.operand(1)}, gather)};
}

constexpr Rule kEinsumRules[] = {
    {"stablehlo.einsum", Einsum, 2},
    {"stablehlo.torch_index_select", TorchIndexSelect, 2},
    {"stablehlo.unary_einsum", UnaryEinsum, 1},
};

}  // namespace

absl::Span<const Rule> EinsumRules() { return kEinsumRules; }

}  // namespace hlod::stablehlo
