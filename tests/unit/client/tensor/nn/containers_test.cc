// Lists and dictionaries of modules, the traversal of modules, hooks, and errors that name the layer.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

struct Block : nn::Module {
  Block(nn::Module& parent, std::string name, int64_t size)
      : nn::Module(parent, std::move(name)), size(size) {}
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
    return Forward(caller, {x}, [&](nn::Tensors in) { return up(in[0]); });
  }
  int64_t size;
  nn::Linear up{*this, "up", size, size};
};

struct Model : nn::Module {
  Model() {
    layers.Append(2);
    layers.Append(2);
    heads.Add<nn::Linear>("policy", 2, 3);
    heads.Add<nn::Embedding>("table", 4, 2);
  }
  nn::ModuleList<Block> layers{*this, "layers"};
  nn::ModuleDict<> heads{*this, "heads"};
};

template <typename T>
std::vector<std::string> Names(const std::vector<std::pair<std::string, T>>& named) {
  std::vector<std::string> names;
  for (const auto& [name, each] : named) names.push_back(name);
  return names;
}

class NnContainers : public TensorTest {};

TEST_F(NnContainers, NamesAreThoseOfPyTorch) {
  Model model;
  EXPECT_THAT(Names(model.NamedParameters()),
              ElementsAre("layers.0.up.weight", "layers.0.up.bias", "layers.1.up.weight", "layers.1.up.bias",
                          "heads.policy.weight", "heads.policy.bias", "heads.table.weight"));
  EXPECT_THAT(Names(model.NamedModules()),
              ElementsAre("", "layers", "layers.0", "layers.0.up", "layers.1", "layers.1.up", "heads",
                          "heads.policy", "heads.table"));
  EXPECT_EQ(model.Modules().size(), 9u);
  EXPECT_EQ(model.Modules()[0], &model);
  EXPECT_THAT(Names(model.NamedChildren()), ElementsAre("layers", "heads"));
  EXPECT_EQ(model.layers.Children().size(), 2u);
  EXPECT_EQ(&model.GetSubmodule("layers.1.up"), &model.layers[1].up);
  EXPECT_EQ(model.layers[1].up.Path(), "layers.1.up");
  EXPECT_EQ(&model.GetSubmodule(""), &model);
  EXPECT_EQ(KindOf(Thrown([&] { model.GetSubmodule("layers.1.pu"); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("no part named layers.1.pu; the nearest is layers.1.up"));
}

TEST_F(NnContainers, ApplyVisitsPartsBeforeTheirWhole) {
  Model model;
  std::vector<std::string> visited;
  model.Apply([&](nn::Module& module) { visited.push_back(module.Path()); });
  EXPECT_THAT(visited, ElementsAre("layers.0.up", "layers.0", "layers.1.up", "layers.1", "layers",
                                   "heads.policy", "heads.table", "heads", ""));
  model.Apply([](nn::Module& module) {
    if (auto* linear = dynamic_cast<nn::Linear*>(&module)) nn::init::Ones_(linear->weight);
  });
  EXPECT_THAT(model.layers[0].up.weight.ToVector<float>(), ElementsAre(1, 1, 1, 1));
}

TEST_F(NnContainers, PartsAreFoundAndRemoved) {
  Model model;
  EXPECT_EQ(&model.layers[-1], &model.layers[1]);
  int64_t sum = 0;
  for (const Block& block : model.layers) sum += block.size;
  EXPECT_EQ(sum, 4);
  EXPECT_EQ(model.heads.Get<nn::Linear>("policy")(Ones({1, 2})).dims(), (Dims{1, 3}));
  EXPECT_THAT(model.heads.Keys(), ElementsAre("policy", "table"));
  EXPECT_EQ(KindOf(Thrown([&] { model.layers[2]; })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("in layers: place 2 is not one of 2"));
  Throws([&] { model.heads.Get("value"); });
  EXPECT_THAT(last_what_, HasSubstr("in heads: there is no part named value"));
  Throws([&] { model.heads.Get<nn::Linear>("table"); });
  EXPECT_THAT(last_what_, HasSubstr("part table is of another type"));
  Throws([&] { model.heads.Add<nn::Linear>("table", 1, 1); });
  EXPECT_THAT(last_what_, HasSubstr("is taken"));
  EXPECT_THAT(last_what_, HasSubstr("containers_test.cc"));
  Throws([&] { model.heads.Add<nn::Linear>("other", -1, 1); });
  EXPECT_THAT(last_what_, HasSubstr("containers_test.cc"));
  // Append() has the arguments of any part, and no place for a line: it names none rather than its own.
  Throws([&] { model.layers.Append(-1); });
  EXPECT_THAT(last_what_, ::testing::Not(HasSubstr("unique_ptr")));
  model.layers.Pop();
  model.heads.Pop("policy");
  EXPECT_FALSE(model.heads.Contains("policy"));
  EXPECT_THAT(Names(model.NamedModules()),
              ElementsAre("", "layers", "layers.0", "layers.0.up", "heads", "heads.table"));
}

TEST_F(NnContainers, HooksSeeAndReplaceInputsAndOutputs) {
  Model model;
  nn::Linear& up = model.layers[0].up;
  nn::init::Eye_(up.weight);
  nn::init::Zeros_(up.bias);
  std::vector<std::string> calls;
  nn::RemovableHandle doubled = up.RegisterForwardPreHook([&](const nn::Module& module, auto& inputs) {
    calls.push_back("before " + module.Path());
    inputs[0] = inputs[0] * 2;
  });
  nn::RemovableHandle added =
      up.RegisterForwardHook([&](const nn::Module&, nn::Tensors inputs, auto& outputs) {
        calls.push_back("after");
        EXPECT_THAT(inputs[0].ToVector<float>(), ElementsAre(2, 4));
        outputs[0] = outputs[0] + 1;
      });
  const nn::RemovableHandle last =
      model.layers[0].RegisterForwardHook([&](const nn::Module&, nn::Tensors, auto& outputs) {
        calls.push_back("block");
        outputs[0] = outputs[0] * 10;
      });
  const Tensor x = FromValues<float>({1, 2});
  EXPECT_THAT(model.layers[0](x).ToVector<float>(), ElementsAre(30, 50));
  EXPECT_THAT(calls, ElementsAre("before layers.0.up", "after", "block"));
  added.Remove();
  added.Remove();
  doubled.Remove();
  EXPECT_THAT(model.layers[0](x).ToVector<float>(), ElementsAre(10, 20));
}

TEST_F(NnContainers, AHookMayRemoveItselfAndOutliveItsModule) {
  nn::RemovableHandle handle;
  {
    Model model;
    int calls = 0;
    handle = model.layers[0].up.RegisterForwardHook([&](const nn::Module&, nn::Tensors, auto&) {
      ++calls;
      handle.Remove();
    });
    model.layers[0](Ones({2}));
    model.layers[0](Ones({2}));
    EXPECT_EQ(calls, 1);
    handle =
        model.layers[0].up.RegisterForwardPreHook([](const nn::Module&, auto& inputs) { inputs.clear(); });
    Throws([&] { model.layers[0](Ones({2})); });
    EXPECT_THAT(last_what_, HasSubstr("in layers.0.up: a hook left 0 inputs of 1"));
  }
  handle.Remove();
}

TEST_F(NnContainers, ARecurrentLayersHookSeesItsStates) {
  struct Root : nn::Module {
  } root;
  nn::Lstm lstm(root, "lstm", 2, 3);
  lstm.RegisterForwardHook([](const nn::Module&, nn::Tensors inputs, auto& outputs) {
    EXPECT_EQ(inputs.size(), 3u);
    EXPECT_FALSE(inputs[1].defined());
    outputs[2] = outputs[2] * 0;
  });
  EXPECT_THAT(lstm(Ones({4, 1, 2})).state.cell.ToVector<float>(), ElementsAre(0, 0, 0));
}

TEST_F(NnContainers, ErrorsNameTheLayerBesideTheLine) {
  Model model;
  Throws([&] { model.layers[1](Ones({3})); });
  EXPECT_THAT(last_what_, HasSubstr("containers_test.cc:"));
  EXPECT_THAT(last_what_, HasSubstr("), in layers.1.up: "));
  Throws([] { Ones({3}) + Ones({2}); });
  EXPECT_THAT(last_what_, ::testing::Not(HasSubstr("), in "))) << "outside of layers";
  struct Root : nn::Module {
  } root;
  nn::TransformerEncoder encoder(root, "encoder", 1, 4, 2);
  Throws([&] { encoder(Ones({1, 2, 3})); });
  EXPECT_THAT(last_what_, HasSubstr("in encoder.layers.0.self_attn: "));
  Throws([&] { nn::MultiheadAttention(encoder.layers[0], "more", 5, 2); });
  EXPECT_THAT(last_what_,
              HasSubstr("in encoder.layers.0.more: the size (5) is not a multiple of the 2 heads"));
  Throws([&] { nn::Conv(encoder.layers[0], "conv", 3, 4, {2}, {.groups = 2}); });
  EXPECT_THAT(last_what_, HasSubstr("in encoder.layers.0.conv: groups (2) must divide"));
}

TEST_F(NnContainers, ADropoutsScheduleCompilesTwice) {
  struct Root : nn::Module {
  } root;
  nn::Dropout dropout(root, "dropout", 0.1);
  const Tensor x = Ones({1000}, {.device = device()});
  const auto kept = [&](double p) {
    dropout.p = p;
    return Sum(Ne(dropout(x), 0)).Item<int64_t>();
  };
  // A setting is a constant until it changes; from then on it is a parameter of the program.
  EXPECT_GT(kept(0.1), 800);
  EXPECT_LT(kept(0.9), 200);
  const int64_t compiles = Account().compiles;
  EXPECT_LT(kept(0.8), 300);
  EXPECT_GT(kept(0.2), 700);
  EXPECT_EQ(Account().compiles, compiles);
}

}  // namespace
}  // namespace hlod
