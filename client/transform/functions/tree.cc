// Paths into trees, and the errors when two trees differ.
#include "hlod/transform/tree.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"

namespace hlod::tree {

std::string Path::Text() const {
  std::string text = parent == nullptr ? std::string() : parent->Text();
  if (name == "[") absl::StrAppend(&text, "[", index, "]");
  else if (name == ".") absl::StrAppend(&text, ".", index);
  else if (parent == nullptr) text += name;
  else text += "[\"" + std::string(name) + "\"]";
  return text;
}

void CheckLeafCount(size_t taken, size_t given, const Caller& caller) {
  if (taken == given) return;
  lazy::Throw(ErrorKind::kArgument,
              absl::StrCat("a tree with ", taken, " tensors to replace is given ", given), "tree", caller);
}

void CheckSame(const Flattened& a, const std::vector<std::string>& a_paths, const Flattened& b,
               const std::vector<std::string>& b_paths, const Caller& caller) {
  if (a.structure == b.structure) return;
  size_t i = 0;
  while (i < a_paths.size() && i < b_paths.size() && a_paths[i] == b_paths[i]) ++i;
  const std::string where = i < a_paths.size()   ? a_paths[i]
                            : i < b_paths.size() ? b_paths[i]
                                                 : std::string("their static members");
  lazy::Throw(ErrorKind::kArgument,
              absl::StrCat("trees do not match: they differ at ", where.empty() ? "the root" : where, " (",
                           a_paths.size(), " and ", b_paths.size(), " tensors)"),
              "tree", caller);
}

}  // namespace hlod::tree
