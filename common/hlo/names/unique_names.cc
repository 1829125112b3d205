// Makes the names of a module unique.
#include "common/hlo/names/unique_names.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace hlod::hlo::codec {
namespace {

class NameSpace {
 public:
  explicit NameSpace(bool identifiers) : identifiers_(identifiers) {}

  std::string Add(std::string wanted) {
    if (identifiers_) MakeIdentifier(wanted);
    if (wanted.empty()) wanted = "_";
    if (taken_.insert(wanted).second) return wanted;
    // Continues at the number where the last clash of this name ended, so that a thousand equal names need a
    // thousand steps, not a million.
    int64_t& suffix = next_suffix_[wanted];
    std::string unique;
    do {
      unique = absl::StrCat(wanted, ".", ++suffix);
    } while (!taken_.insert(unique).second);
    return unique;
  }

 private:
  static void MakeIdentifier(std::string& name) {
    for (char& c : name) {
      if (!IsNameCharacter(c)) c = '_';
    }
    // Keywords of the grammar.
    for (const char* word : {"ENTRY", "ROOT", "HloModule"}) {
      if (name == word) name.insert(0, 1, '_');
    }
    const bool letter_first =
        !name.empty() && (name[0] == '_' || !IsNameCharacter(name[0]) || (name[0] >= 'a' && name[0] <= 'z') ||
                          (name[0] >= 'A' && name[0] <= 'Z'));
    if (!letter_first) name.insert(0, 1, '_');
  }

  const bool identifiers_;
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int64_t> next_suffix_;
};

}  // namespace

ModuleNames UniqueNames(const Module& module, bool identifiers) {
  ModuleNames names;
  NameSpace computations(identifiers), instructions(identifiers);
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    names.computations.push_back(computations.Add(computation.name()));
    std::vector<std::string>& list = names.instructions.emplace_back();
    list.reserve(computation.size());
    for (NodeId id = 0; id < computation.size(); ++id)
      list.push_back(instructions.Add(computation[id].name()));
  }
  return names;
}

}  // namespace hlod::hlo::codec
