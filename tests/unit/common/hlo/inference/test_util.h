// Inference on shapes written as text: Infer(kAdd, {"f32[8]", "f32[8]"}) is "f32[8]", or the error's message.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "common/base/text/strings.h"
#include "common/hlo/inference/shape_inference.h"
#include "common/hlo/text/text.h"

namespace hlod::hlo {

inline Shape S(std::string_view text) { return ParseShape(text).value(); }

// Returns the signature "(f32[], f32[]) -> f32[]" from its parts.
inline ProgramShape Signature(std::initializer_list<std::string_view> parameters, std::string_view result) {
  ProgramShape signature;
  for (const std::string_view parameter : parameters) signature.parameters.push_back(S(parameter));
  signature.result = S(result);
  return signature;
}

struct Stated {
  std::string_view shape;  // Empty when there is none.
};

inline absl::StatusOr<Shape> InferStatus(Opcode opcode, std::initializer_list<std::string_view> operands,
                                         Attributes attributes = NoAttributes{}, Stated stated = {},
                                         const std::vector<ProgramShape>& called = {}) {
  std::vector<Shape> shapes;
  for (const std::string_view operand : operands) shapes.push_back(S(operand));
  std::vector<const Shape*> pointers;
  for (const Shape& shape : shapes) pointers.push_back(&shape);
  std::vector<const ProgramShape*> signatures;
  for (const ProgramShape& signature : called) signatures.push_back(&signature);
  Shape declared;
  if (!stated.shape.empty()) declared = S(stated.shape);
  return InferShape({opcode, attributes, pointers, signatures, stated.shape.empty() ? nullptr : &declared});
}

inline std::string Infer(Opcode opcode, std::initializer_list<std::string_view> operands,
                         Attributes attributes = NoAttributes{}, Stated stated = {},
                         const std::vector<ProgramShape>& called = {}) {
  const absl::StatusOr<Shape> shape = InferStatus(opcode, operands, std::move(attributes), stated, called);
  return shape.ok() ? ToString(*shape) : std::string(FromAbsl(shape.status().message()));
}

}  // namespace hlod::hlo
