// The arguments of operations on tensors: a tensor or a number, together with the source line of the call.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <variant>

#include "hlod/runtime/caller.h"

namespace hlod {

class Tensor;

// A number of the host program: PyTorch's Scalar. It takes part in type promotion like PyTorch's wrapped
// numbers: an integer does not change the type of a float tensor, and 1.5 does not make an f32 tensor f64.
class Scalar {
 public:
  Scalar(bool value) : value_(value) {}  // NOLINT: implicit.
  template <std::integral T>
  Scalar(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT
  template <std::floating_point T>
  Scalar(T value) : value_(static_cast<double>(value)) {}  // NOLINT
  template <std::floating_point T>
  Scalar(std::complex<T> value) : value_(std::complex<double>(value)) {}  // NOLINT

  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<int64_t>(value_); }
  bool is_float() const { return std::holds_alternative<double>(value_); }
  bool is_complex() const { return std::holds_alternative<std::complex<double>>(value_); }

  int64_t ToInt() const;    // Truncates; takes the real part of a complex number.
  double ToDouble() const;  // Takes the real part of a complex number.
  std::complex<double> ToComplex() const;

  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  std::variant<bool, int64_t, double, std::complex<double>> value_;
};

// A tensor or a number as an argument. It refers to the tensor, so it must not outlive the call. It also
// carries the call's source line, as the default argument of its constructor, because an operator cannot have
// a further parameter.
class Operand {
 public:
  Operand(const Tensor& tensor, Caller caller = Caller::Here())  // NOLINT: implicit.
      : tensor_(&tensor), scalar_(false), caller_(caller) {}
  Operand(Scalar scalar, Caller caller = Caller::Here()) : scalar_(scalar), caller_(caller) {}  // NOLINT
  template <typename T>
    requires std::is_arithmetic_v<T>
  Operand(T value, Caller caller = Caller::Here()) : scalar_(value), caller_(caller) {}  // NOLINT
  template <std::floating_point T>
  Operand(std::complex<T> value, Caller caller = Caller::Here())  // NOLINT
      : scalar_(value), caller_(caller) {}

  const Tensor* tensor() const { return tensor_; }  // Null for a number.
  const Scalar& scalar() const { return scalar_; }
  const Caller& caller() const { return caller_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
  Caller caller_;
};

// A position, counted from the end when negative. It carries the call's source line, because operator[]
// cannot have a further parameter.
class IndexNumber {
 public:
  template <std::integral T>
  IndexNumber(T value, Caller caller = Caller::Here())  // NOLINT: implicit.
      : value_(static_cast<int64_t>(value)), caller_(caller) {}

  int64_t value() const { return value_; }
  const Caller& caller() const { return caller_; }

 private:
  int64_t value_;
  Caller caller_;
};

}  // namespace hlod
