// A recorded case, and its arguments by the names of PyTorch's parameters, for a binding to use.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/tensors.h"
#include "nlohmann/json.hpp"

namespace hlod {

// Returns the array that a case's {"type", "dims", "values"} describes.
Literal DecodeLiteral(const nlohmann::json& json);
// Returns true when the JSON describes an array.
bool IsArray(const nlohmann::json& json);
// Returns a recorded number: bools as 1 and 0, NaN and infinities from their recorded text.
double DecodeNumber(const nlohmann::json& json);

// The arguments of one call. Reading an argument that was not recorded and has no default throws
// std::runtime_error; End() throws when a recorded argument was never read.
class Arguments {
 public:
  // `names` are the parameters in order: "input other alpha". Tensors are made on `device`.
  Arguments(const nlohmann::json& record, const std::string& names, const Device& device);

  bool Has(const std::string& name) const;  // True when recorded and not None.

  Tensor Array(const std::string& name);  // Undefined when not recorded, or None.
  Operand Arg(const std::string& name);   // A tensor or a number.
  std::optional<Operand> MaybeArg(const std::string& name);
  std::vector<Tensor> Arrays(const std::string& name);  // A list of tensors, or one tensor.
  Scalar Number(const std::string& name, std::optional<Scalar> absent = {});
  std::optional<Scalar> MaybeNumber(const std::string& name);
  double Double(const std::string& name, std::optional<double> absent = {});
  int64_t Int(const std::string& name, std::optional<int64_t> absent = {});
  std::optional<int64_t> MaybeInt(const std::string& name);
  bool Bool(const std::string& name, std::optional<bool> absent = {});
  std::string Text(const std::string& name, std::optional<std::string> absent = {});
  // A list of integers, or one integer.
  Dims Ints(const std::string& name, std::optional<Dims> absent = {});
  std::optional<Dims> MaybeInts(const std::string& name);
  std::vector<double> Doubles(const std::string& name, std::optional<std::vector<double>> absent = {});
  std::optional<PrimitiveType> Type(const std::string& name);
  // Returns the JSON itself; null when not recorded. RestOf...() return the positional arguments from `from`
  // on.
  const nlohmann::json& Json(const std::string& name);
  std::vector<Tensor> RestOfTensors(size_t from);
  Dims RestOfInts(size_t from);

  const Device& device() const { return device_; }
  // Makes the tensors of these arrays require gradients; must be called before arguments are read. leaves()
  // are the tensors made so far.
  void RequireGradients(std::set<const nlohmann::json*> arrays) { wanted_ = std::move(arrays); }
  const std::map<const nlohmann::json*, Tensor>& leaves() const { return leaves_; }
  // Throws when an argument was recorded and not used.
  void End() const;

 private:
  const nlohmann::json* Find(const std::string& name) const;
  const nlohmann::json& Get(const std::string& name);
  Tensor Decode(const nlohmann::json& json);

  std::map<std::string, const nlohmann::json*> given_;
  const nlohmann::json& positional_;
  std::set<std::string> used_;
  std::deque<Tensor> tensors_;  // The tensors that operands point to.
  std::set<const nlohmann::json*> wanted_;
  std::map<const nlohmann::json*, Tensor> leaves_;
  Device device_;
};

// The results of an operation: one tensor, several, or a number of the host (as a tensor).
struct Results {
  Results(Tensor tensor) : tensors{std::move(tensor)} {}                      // NOLINT: implicit.
  Results(std::vector<Tensor> several) : tensors(std::move(several)) {}       // NOLINT
  Results(std::pair<Tensor, Tensor> two) : tensors{two.first, two.second} {}  // NOLINT
  template <typename... T>
  Results(std::tuple<T...> several)  // NOLINT
      : tensors(std::apply([](auto... t) { return std::vector<Tensor>{t...}; }, several)) {}
  Results(bool value) : tensors{FromValues<bool>({value}, Dims{})} {}  // NOLINT

  std::vector<Tensor> tensors;
};

}  // namespace hlod
