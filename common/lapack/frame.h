// The data of one problem while it is solved: matrices in scratch memory, column by column, as in Fortran.
//
// A routine's code runs twice: when a call is planned, to measure its scratch memory (then only the routine's
// own query of its workspace is made, and matrices are a few bytes that it may write to), and for each
// problem.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/lapack/library.h"
#include "common/lapack/signature.h"

namespace hlod::lapack {

using Integer = int32_t;  // Fortran's integer type in the loaded library.

template <typename T>
inline constexpr bool kIsComplex = !std::is_floating_point_v<T>;
template <typename T>
struct RealOf {
  using Type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using Type = R;
};
template <typename T>
using Real = typename RealOf<T>::Type;

template <typename T>
constexpr char kTypeLetter = std::is_same_v<T, float>                 ? 's'
                             : std::is_same_v<T, double>              ? 'd'
                             : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                      : 'z';

// Returns the routine of a type: Find<T, void(const Integer* n, ...)>("getrf").
template <typename T, typename F>
F* Find(const char* name) {
  return reinterpret_cast<F*>(FindRoutine(kTypeLetter<T> + std::string(name) + "_"));
}

class Frame {
 public:
  // `scratch` is null while measuring.
  Frame(const Sizes& sizes, const std::map<std::string, int64_t, std::less<>>& config, std::byte* scratch,
        size_t operands, size_t results)
      : sizes_(sizes),
        config_(config),
        scratch_(scratch),
        operands_(operands, spare_),
        results_(results, spare_) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  bool measuring() const { return scratch_ == nullptr; }
  int64_t used() const { return used_; }

  Integer size(char letter) const { return static_cast<Integer>(sizes_[letter]); }
  // Returns a leading dimension, which Fortran requires to be at least one.
  Integer leading(char letter) const { return std::max<Integer>(1, size(letter)); }
  // Return an attribute, whose name is a literal: from the second time on it is found by its address, because
  // a problem may be as small as a comparison of strings.
  template <size_t kSize>
  char letter(const char (&attribute)[kSize]) const {
    return static_cast<char>(number(attribute));
  }
  template <size_t kSize>
  int64_t number(const char (&attribute)[kSize]) const {
    for (const auto& [name, value] : known_) {
      if (name == attribute) return value;
    }
    known_.emplace_back(attribute, config_.find(std::string_view(attribute))->second);
    return known_.back().second;
  }

  // Returns operand i, which may be written to.
  template <typename T>
  T* operand(size_t i) const {
    return static_cast<T*>(operands_[i]);
  }
  // Returns result i. Initially it holds zeros, or operand `from` if it overwrites that operand.
  template <typename T>
  T* result(size_t i) const {
    return static_cast<T*>(results_[i]);
  }
  template <typename T>
  T* Take(size_t i, size_t from) {
    results_[i] = operands_[from];
    return result<T>(i);
  }

  template <typename T>
  T* Scratch(int64_t count) {
    std::byte* const at = measuring() ? spare_ : scratch_ + used_;
    used_ += (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(at);
  }
  // Calls `routine(work, lwork)` twice, as LAPACK requires: with a length of -1 to get the best length, then
  // with that length.
  template <typename T, typename F>
  void WithWork(F&& routine) {
    T best[1] = {};
    const Integer question = -1;
    routine(best, &question);
    // The length is returned as a float when T is float, so lengths above 2^24 are rounded.
    const double length = static_cast<double>(std::real(best[0])) * (1 + 1e-6) + 1;
    const auto size = static_cast<Integer>(std::min(length, 2147483647.0));
    T* const work = Scratch<T>(size);
    if (!measuring()) routine(work, &size);
  }

  // Begins a problem, whose arrays are set anew: results and scratch memory of the one before are free.
  void Begin() { used_ = 0; }
  void set_operand(size_t i, void* memory) { operands_[i] = memory; }
  void set_result(size_t i, void* memory) { results_[i] = memory; }

 private:
  const Sizes& sizes_;
  const std::map<std::string, int64_t, std::less<>>& config_;
  mutable std::vector<std::pair<const char*, int64_t>> known_;  // The attributes that were asked for.
  std::byte* const scratch_;
  int64_t used_ = 0;
  // In a query of the workspace size, some routines write the first element of another array (cgeev: of
  // rwork).
  alignas(64) std::byte spare_[64] = {};
  std::vector<void*> operands_, results_;
};

}  // namespace hlod::lapack
