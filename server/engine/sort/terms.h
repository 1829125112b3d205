// A comparator's computation as terms, which can be simplified when some of its operands are known.
//
// Only computations that depend on just the order of their parameters become terms: comparisons of parameters
// and of a few constants, selections between them, and logic. The value of such a term for some numbers
// follows from how these compare with one another and with the constants, so a few samples represent all
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::engine {

// A number of any type except the complex ones: for floats the bits of the double, for signed integers those
// of the int64, for others the number itself.
using SampleBits = uint64_t;

// Returns samples of a type: any two numbers of the type compare with each other, and with the constants that
// terms may have, like two of the samples.
absl::Span<const SampleBits> SamplesOf(hlo::PrimitiveType type);
bool IsNanSample(hlo::PrimitiveType type, SampleBits bits);

class Terms {
 public:
  using Id = uint32_t;
  static constexpr Id kFalse = 0, kTrue = 1;
  static constexpr int kOperandsMax = 32;

  Terms();

  // Returns the root of a computation over pairs of scalars, in which parameters 2i and 2i + 1 are the two
  // sides of operand i. Returns nullopt if the computation is not of this class, or too long.
  std::optional<Id> Read(const hlo::Computation& computation);
  // Returns the term after both sides of one operand became known.
  Id With(Id term, int operand, SampleBits left, SampleBits right);
  // Returns the operands that the term depends on, as bits.
  uint32_t operands(Id term) const { return terms_[term].depends; }
  // Returns true when more work would not be worthwhile. Answers remain correct.
  bool exhausted() const { return work_ > kWorkMax; }

 private:
  enum class Kind : uint8_t {
    kNumber,
    kParameter,
    kCompare,
    kSelect,
    kAnd,
    kOr,
    kXor,
    kNot,
    kNegate,
    kConvert
  };
  struct Term {
    Kind kind = Kind::kNumber;
    hlo::PrimitiveType type = hlo::kPred;
    hlo::CompareAttributes compare = {};
    uint64_t number = 0;  // The value of a number, or the index of a parameter.
    Id operands[3] = {0, 0, 0};
    uint32_t depends = 0;

    friend bool operator==(const Term&, const Term&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Term& t) {
      return H::combine(std::move(h), t.kind, t.type, t.compare.direction, t.compare.type, t.number,
                        t.operands[0], t.operands[1], t.operands[2]);
    }
  };
  using Ids = absl::flat_hash_map<Id, Id>;

  // Enough for a comparator of the largest number of keys. Substitution recurses to the same depth.
  static constexpr size_t kInstructionsMax = 512;
  // The limit on visited terms, which take some milliseconds.
  static constexpr int64_t kWorkMax = 1 << 16;

  std::optional<Id> ReadInstruction(hlo::Instruction instruction, const std::vector<std::optional<Id>>& read);
  Id Intern(Term term);
  // Returns the term, simplified where its operands are numbers.
  Id Make(Term term);
  Id Number(hlo::PrimitiveType type, SampleBits bits);
  bool IsNumber(Id id) const { return terms_[id].kind == Kind::kNumber; }
  Id Logic(Kind kind, Id a, Id b);
  Id Not(Id a);
  Id Substitute(Id id, int operand, const SampleBits (&sides)[2], Ids& done);

  std::vector<Term> terms_;
  absl::flat_hash_map<Term, Id> ids_;
  int64_t work_ = 0;
};

}  // namespace hlod::engine
