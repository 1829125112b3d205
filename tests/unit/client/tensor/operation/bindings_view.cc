// Views and moves.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {

namespace {

Binding As(const char* name, Tensor (*call)(const Operand&, const Tensor&)) {
  return {name, "input other", [call](Arguments& a) { return call(a.Arg("input"), a.Array("other")); }};
}
Binding Itself(const char* name, Tensor (*call)(const Operand&)) {
  return {name, "input", [call](Arguments& a) { return call(a.Arg("input")); }};
}

// Divides a tensor into pieces of equal sizes, or pieces that end at indices, which may be a tensor.
Results Divided(Arguments& a, std::vector<Tensor> (*equal)(const Operand&, int64_t, int64_t),
                std::vector<Tensor> (*at)(const Operand&, DimList, int64_t)) {
  const nlohmann::json& pieces = a.Json("pieces");
  const int64_t dim = a.Int("dim", 0);
  if (IsArray(pieces)) {
    const Tensor values = a.Array("pieces").To(kS64);
    const std::vector<int64_t> list = values.ToVector<int64_t>();
    return values.rank() == 0 ? equal(a.Arg("input"), list[0], dim) : at(a.Arg("input"), list, dim);
  }
  if (pieces.is_array()) return at(a.Arg("input"), a.Ints("pieces"), dim);
  return equal(a.Arg("input"), a.Int("pieces"), dim);
}
template <std::vector<Tensor> (*equal)(const Operand&, int64_t),
          std::vector<Tensor> (*at)(const Operand&, DimList)>
Binding Division(const char* name) {
  return {name, "input pieces", [](Arguments& a) {
            return Divided(
                a, [](const Operand& x, int64_t sections, int64_t) { return equal(x, sections); },
                [](const Operand& x, DimList indices, int64_t) { return at(x, indices); });
          }};
}

}  // namespace

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
       [](Arguments& a) {
         if (IsArray(a.Json("start"))) {
           return Narrow(a.Arg("input"), a.Int("dim"), a.Array("start"), a.Int("length"));
         }
         return a.Array("input").Narrow(a.Int("dim"), a.Int("start"), a.Int("length"));
       }},
      {"narrow_copy", "input dim start length",
       [](Arguments& a) {
         return NarrowCopy(a.Arg("input"), a.Int("dim"), a.Int("start"), a.Int("length"));
       }},
      {"slice", "input dim start end step",
       [](Arguments& a) {
         return a.Array("input").Slice(a.Int("dim", 0), a.MaybeInt("start"), a.MaybeInt("end"),
                                       a.Int("step", 1));
       }},
      {"t", "input", [](Arguments& a) { return a.Array("input").T(); }},
      {"H", "input", [](Arguments& a) { return a.Array("input").H(); }},
      {"mT", "input", [](Arguments& a) { return a.Array("input").MT(); }},
      {"mH", "input", [](Arguments& a) { return a.Array("input").MH(); }},
  };
}

std::vector<Binding> BroadcastingBindings() {
  return {
      As("expand_as", ExpandAs),
      As("view_as", ViewAs),
      As("reshape_as", ReshapeAs),
      Itself("atleast_1d", Atleast1d),
      Itself("atleast_2d", Atleast2d),
      Itself("atleast_3d", Atleast3d),
      Itself("view_as_real", ViewAsReal),
      Itself("view_as_complex", ViewAsComplex),
      Itself("resolve_conj", ResolveConj),
      Itself("resolve_neg", ResolveNeg),
      {"sum_to_size", "input a b c d",
       [](Arguments& a) {
         if (a.Json("a").is_array()) return SumToSize(a.Arg("input"), a.Ints("a"));
         Dims dims;
         for (const char* name : {"a", "b", "c", "d"}) {
           if (const std::optional<int64_t> size = a.MaybeInt(name)) dims.push_back(*size);
         }
         return SumToSize(a.Arg("input"), dims);
       }},
      {"broadcast_shapes", "a b c d",
       [](Arguments& a) {
         std::vector<Dims> shapes;
         for (const char* name : {"a", "b", "c", "d"}) {
           if (std::optional<Dims> shape = a.MaybeInts(name)) shapes.push_back(*std::move(shape));
         }
         std::vector<Tensor> sizes;
         for (const int64_t size : BroadcastShapes(shapes)) {
           sizes.push_back(FromValues<int64_t>({size}, Dims{}));
         }
         return sizes;
       }},
  };
}

std::vector<Binding> SplittingBindings() {
  return {
      {"split", "input pieces dim", [](Arguments& a) { return Divided(a, Split, SplitWithSizes); }},
      {"tensor_split", "input pieces dim", [](Arguments& a) { return Divided(a, TensorSplit, TensorSplit); }},
      Division<Hsplit, Hsplit>("hsplit"),
      Division<Vsplit, Vsplit>("vsplit"),
      Division<Dsplit, Dsplit>("dsplit"),
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
