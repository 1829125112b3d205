// Chooses a spec for each parameter, and marks it.
#include "hlod/nn/shard_module.h"

#include <regex>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"
#include "common/base/errors/status.h"
#include "hlod/tensor/sharding.h"

namespace hlod::nn {
namespace {

using lazy::Throw;

constexpr char kShard[] = "shard_module";

// Rules whose expressions were read.
class Rules {
 public:
  Rules(const std::vector<ShardRule>& rules, const Caller& caller) : rules_(rules), caller_(caller) {
    for (const ShardRule& rule : rules) {
      try {
        patterns_.emplace_back(rule.pattern);
      } catch (const std::regex_error& error) {
        Throw(ErrorKind::kArgument,
              absl::StrCat("the rule \"", rule.pattern, "\" is not a regular expression: ", error.what()),
              kShard, caller);
      }
    }
    used_.resize(rules.size());
  }

  // Returns the spec of the first rule that fits; one that divides nothing when none does.
  PartitionSpec SpecOf(const std::string& name, const Tensor& parameter) {
    const std::vector<PartitionSpec::Entry> whole(parameter.dims().size(), std::nullopt);
    PartitionSpec spec(whole);
    bool found = false;
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!std::regex_search(name, patterns_[i])) continue;
      used_[i] = true;
      if (!found) spec = rules_[i].spec;
      found = true;
    }
    if (spec.entries().size() == parameter.dims().size()) return spec;
    Throw(ErrorKind::kArgument,
          absl::StrCat("the spec ", spec.ToString(), " has ", spec.entries().size(), " dimensions; ", name,
                       " is ", hlo::ToStringNoLayout(parameter.shape())),
          kShard, caller_);
  }

  void RefuseUnused() const {
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (used_[i]) continue;
      Throw(ErrorKind::kArgument, absl::StrCat("the rule \"", rules_[i].pattern, "\" fits no parameter"),
            kShard, caller_);
    }
  }

 private:
  const std::vector<ShardRule>& rules_;
  const Caller& caller_;
  std::vector<std::regex> patterns_;
  std::vector<bool> used_;
};

// Returns the spec with the axis at the first dimension that it can divide.
PartitionSpec Further(const PartitionSpec& spec, const Dims& dims, const Mesh& mesh,
                      const std::string& axis) {
  std::vector<PartitionSpec::Entry> entries = spec.entries();
  const int64_t size = mesh.size(axis).value_or(1);
  for (const PartitionSpec::Entry& entry : entries) {
    for (const std::string& used : entry.axes()) {
      if (used == axis) return spec;
    }
  }
  for (size_t d = 0; d < entries.size(); ++d) {
    if (!entries[d].axes().empty() || dims[d] == 0 || dims[d] % size != 0) continue;
    entries[d] = PartitionSpec::Entry(axis);
    break;
  }
  return PartitionSpec(std::move(entries));
}

std::vector<std::pair<std::string, PartitionSpec>> Shard(Module& module, const Device& device,
                                                         const Mesh& mesh,
                                                         const std::vector<ShardRule>& rules,
                                                         const std::string& axis, const Caller& caller) {
  Rules chosen(rules, caller);
  std::vector<std::pair<std::string, PartitionSpec>> specs;
  for (const auto& [name, parameter] : module.NamedParameters()) {
    PartitionSpec spec = chosen.SpecOf(name, parameter);
    if (!axis.empty()) spec = Further(spec, parameter.dims(), mesh, axis);
    lazy::ThrowIfError(Annotate(hlod::ShardingOf(mesh, spec, parameter.dims().size()).status(),
                                absl::StrCat("sharding ", name)),
                       kShard, caller);
    specs.emplace_back(name, std::move(spec));
  }
  chosen.RefuseUnused();
  module.To(device, caller);
  size_t next = 0;
  for (auto& [name, parameter] : module.NamedParameters())
    MarkSharding(parameter, mesh, specs[next++].second, caller);
  return specs;
}

}  // namespace

std::vector<std::pair<std::string, PartitionSpec>> ShardModule(Module& module, const Device& device,
                                                               const Mesh& mesh,
                                                               const std::vector<ShardRule>& rules,
                                                               Caller caller) {
  return Shard(module, device, mesh, rules, /*axis=*/"", caller);
}

std::vector<std::pair<std::string, PartitionSpec>> FullyShardModule(Module& module, const Device& device,
                                                                    const Mesh& mesh, const std::string& axis,
                                                                    const std::vector<ShardRule>& rules,
                                                                    Caller caller) {
  if (!mesh.size(axis).has_value()) {
    Throw(ErrorKind::kArgument, absl::StrCat("the mesh ", mesh.ToString(), " has no axis ", axis), kShard,
          caller);
  }
  return Shard(module, device, mesh, rules, axis, caller);
}

}  // namespace hlod::nn
