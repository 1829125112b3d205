// Views and moves.
#include "tests/tensor/operation/bindings.h"

namespace hlod {

std::vector<Binding> ViewBindings() {
  return {
      {"clone", "input", [](Arguments& a) { return a.Array("input").Clone(); }},
      {"contiguous", "input", [](Arguments& a) { return a.Array("input").Contiguous(); }},
      {"view", "input size", [](Arguments& a) { return a.Array("input").View(a.Ints("size")); }},
      {"reshape", "input shape", [](Arguments& a) { return a.Array("input").Reshape(a.Ints("shape")); }},
      {"permute", "input dims", [](Arguments& a) { return a.Array("input").Permute(a.Ints("dims")); }},
      {"transpose", "input dim0 dim1",
       [](Arguments& a) { return a.Array("input").Transpose(a.Int("dim0"), a.Int("dim1")); }},
      {"T", "input", [](Arguments& a) { return a.Array("input").T(); }},
      {"narrow", "input dim start length",
       [](Arguments& a) { return a.Array("input").Narrow(a.Int("dim"), a.Int("start"), a.Int("length")); }},
      {"select", "input dim index",
       [](Arguments& a) { return a.Array("input").Select(a.Int("dim"), a.Int("index")); }},
      {"squeeze", "input dim", [](Arguments& a) { return a.Array("input").Squeeze(a.MaybeInt("dim")); }},
      {"unsqueeze", "input dim", [](Arguments& a) { return a.Array("input").Unsqueeze(a.Int("dim")); }},
      {"flatten", "input start_dim end_dim",
       [](Arguments& a) { return a.Array("input").Flatten(a.Int("start_dim", 0), a.Int("end_dim", -1)); }},
      {"expand", "input size", [](Arguments& a) { return a.Array("input").Expand(a.Ints("size")); }},
      {"as_strided", "input size stride storage_offset",
       [](Arguments& a) {
         return a.Array("input").AsStrided(a.Ints("size"), a.Ints("stride"), a.MaybeInt("storage_offset"));
       }},
      {"diagonal", "input offset dim1 dim2",
       [](Arguments& a) {
         return a.Array("input").Diagonal(a.Int("offset", 0), a.Int("dim1", 0), a.Int("dim2", 1));
       }},
      {"unfold", "input dimension size step",
       [](Arguments& a) {
         return a.Array("input").Unfold(a.Int("dimension"), a.Int("size"), a.Int("step"));
       }},
  };
}

}  // namespace hlod
