// The attributes of a call, in the form that handlers read.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "client/pjrt/ffi/abi.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt::ffi {

// Owns what `attributes()` points at. Not copyable.
class CallAttributes {
 public:
  // Reads a dictionary as MLIR prints it, {a = 1 : i64, b = "text"}; empty text is an empty one.
  // UNIMPLEMENTED for an attribute that foreign functions do not take.
  static absl::StatusOr<std::unique_ptr<CallAttributes>> Read(std::string_view text);
  CallAttributes() = default;
  CallAttributes(const CallAttributes&) = delete;
  CallAttributes& operator=(const CallAttributes&) = delete;

  const Attributes& attributes() const { return *root_; }

  // The name of an attribute that hlod adds: a flat list of pairs, each of a result and the operand whose
  // memory it shares.
  static constexpr std::string_view kAliases = "hlod.aliases";
  const std::vector<int64_t>& aliases() const { return aliases_; }

 private:
  struct Dictionary {
    std::vector<AttributeType> types;
    std::vector<ByteSpan*> names;
    std::vector<void*> values;
    Attributes attributes = {};
  };
  absl::StatusOr<Attributes*> Add(const stablehlo::AttributeMap& map);
  absl::Status Add(const std::string& name, const stablehlo::Attribute& attribute, Dictionary& dictionary);
  ByteSpan* Keep(std::string_view text);
  std::string* KeepBytes(std::string bytes) { return &bytes_.emplace_back(std::move(bytes)); }

  Attributes* root_ = nullptr;
  std::vector<int64_t> aliases_;
  std::deque<std::string> bytes_;
  std::deque<ByteSpan> spans_;
  std::deque<Scalar> scalars_;
  std::deque<Array> arrays_;
  std::deque<Dictionary> dictionaries_;
};

}  // namespace hlod::pjrt::ffi
