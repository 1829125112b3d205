// The tree of modules: its parts, their paths, and what goes through all of them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/base/text/edit_distance.h"
#include "hlod/nn/module.h"

namespace hlod::nn {

void Module::AddModules(const std::string& path, std::vector<std::pair<std::string, Module*>>& to) {
  to.emplace_back(path, this);
  for (const auto& [name, part] : parts_) {
    part->AddModules(path.empty() ? name : absl::StrCat(path, ".", name), to);
  }
}

std::vector<std::pair<std::string, Module*>> Module::NamedModules() {
  std::vector<std::pair<std::string, Module*>> modules;
  AddModules("", modules);
  return modules;
}

std::vector<Module*> Module::Modules() {
  std::vector<Module*> modules;
  for (const auto& [path, module] : NamedModules()) modules.push_back(module);
  return modules;
}

std::vector<std::pair<std::string, Module*>> Module::NamedChildren() { return parts_; }

std::vector<Module*> Module::Children() {
  std::vector<Module*> children;
  for (const auto& [name, part] : parts_) children.push_back(part);
  return children;
}

Module& Module::GetSubmodule(const std::string& path, Caller caller) {
  const std::vector<std::pair<std::string, Module*>> all = NamedModules();
  const auto distance = [&](const auto& module) { return EditDistance(module.first, path); };
  const auto nearest = std::ranges::min_element(all, {}, distance);
  if (nearest->first == path) return *nearest->second;
  Refuse(absl::StrCat("there is no part named ", path,
                      nearest->first.empty() ? "" : absl::StrCat("; the nearest is ", nearest->first)),
         "get_submodule", caller);
}

Module& Module::Apply(const std::function<void(Module&)>& f) {
  for (Module* const part : Children()) part->Apply(f);
  f(*this);
  return *this;
}

std::string Module::Path() const {
  if (parent_ == nullptr) return "";
  const auto mine = std::ranges::find(parent_->parts_, this, [](const auto& part) { return part.second; });
  const std::string before = parent_->Path();
  return before.empty() ? mine->first : absl::StrCat(before, ".", mine->first);
}

}  // namespace hlod::nn
