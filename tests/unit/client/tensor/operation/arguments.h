// A recorded case, and its arguments as a binding takes them: by PyTorch's parameter names.
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

// The array that a case's {"type", "dims", "values"} describes.
Literal DecodeLiteral(const nlohmann::json& json);
// Whether it describes one.
bool IsArray(const nlohmann::json& json);
// An array of any type as float and complex arrays in f64 and c128: to compare by.
double DecodeNumber(const nlohmann::json& json);

// The arguments of one call. Asking for one that was not given, without a default, throws std::runtime_error;
// so does End() when one was given that nobody asked for.
class Arguments {
 public:
  // `names` are the parameters in order: "input other alpha". Tensors are made on `device`.
  Arguments(const nlohmann::json& record, const std::string& names, const Device& device);

  bool Has(const std::string& name) const;  // Given, and not None.

  Tensor Array(const std::string& name);  // Undefined when it was not given, or None.
  Operand Arg(const std::string& name);   // A tensor or a number.
  std::optional<Operand> MaybeArg(const std::string& name);
  std::vector<Tensor> Arrays(const std::string& name);  // A list of tensors; of one, that.
  Scalar Number(const std::string& name, std::optional<Scalar> absent = {});
  std::optional<Scalar> MaybeNumber(const std::string& name);
  double Double(const std::string& name, std::optional<double> absent = {});
  int64_t Int(const std::string& name, std::optional<int64_t> absent = {});
  std::optional<int64_t> MaybeInt(const std::string& name);
  bool Bool(const std::string& name, std::optional<bool> absent = {});
  std::string Text(const std::string& name, std::optional<std::string> absent = {});
  // A list of integers; of one integer, that.
  Dims Ints(const std::string& name, std::optional<Dims> absent = {});
  std::optional<Dims> MaybeInts(const std::string& name);
  std::vector<double> Doubles(const std::string& name, std::optional<std::vector<double>> absent = {});
  std::optional<PrimitiveType> Type(const std::string& name);
  // The JSON itself; null when it was not given. `rest`: the positional arguments from there on.
  const nlohmann::json& Json(const std::string& name);
  std::vector<Tensor> RestOfTensors(size_t from);
  Dims RestOfInts(size_t from);

  const Device& device() const { return device_; }
  // Before any is asked for: the tensors of these arrays require gradients. leaves(): those that were made.
  void RequireGradients(std::set<const nlohmann::json*> arrays) { wanted_ = std::move(arrays); }
  const std::map<const nlohmann::json*, Tensor>& leaves() const { return leaves_; }
  // Fails when an argument was given and not used.
  void End() const;

 private:
  const nlohmann::json* Find(const std::string& name) const;
  const nlohmann::json& Get(const std::string& name);
  Tensor Decode(const nlohmann::json& json);

  std::map<std::string, const nlohmann::json*> given_;
  const nlohmann::json& positional_;
  std::set<std::string> used_;
  std::deque<Tensor> tensors_;  // What operands refer to.
  std::set<const nlohmann::json*> wanted_;
  std::map<const nlohmann::json*, Tensor> leaves_;
  Device device_;
};

// What an operation gave: one tensor, several, or a number of the host (as a tensor).
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
