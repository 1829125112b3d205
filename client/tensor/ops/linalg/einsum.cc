// torch.einsum: parses the equation, then multiplies the operands pair by pair, one dot each.
#include <algorithm>
#include <map>
#include <string>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/linear_algebra.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

// The dimensions of "..." have labels from kEllipsis on, numbered from the last one, because they broadcast
// from the right.
constexpr int kEllipsis = 1000;
using Labels = std::vector<int>;

struct Term {
  Labels labels;
  Op op;
};

bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
int64_t At(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) - labels.begin();
}

std::string Name(int label) {
  return label >= kEllipsis ? std::string("...") : std::string(1, static_cast<char>(label));
}

// Returns the labels of one side; `hidden` is the number of dimensions of its "...".
Labels Read(std::string_view text, std::string_view equation, int64_t hidden) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (Has(labels, kEllipsis) || (!labels.empty() && labels.back() >= kEllipsis)) {
        Refuse("equation \"%s\" has \"...\" twice in one operand", std::string(equation));
      }
      for (int64_t k = hidden; k-- > 0;) labels.push_back(kEllipsis + static_cast<int>(k));
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else {
      Refuse("equation \"%s\" has '%c', which is not an index", std::string(equation), c);
    }
  }
  return labels;
}

int64_t Letters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return c != ' ' && c != '.'; });
}

// Replaces a label that the operand has twice by the diagonal of its dimensions.
Term WithoutRepeats(Lowering& l, Term term) {
  for (size_t j = 0; j < term.labels.size();) {
    const int64_t i = At(term.labels, term.labels[j]), at = static_cast<int64_t>(j);
    if (i == at) {
      ++j;
      continue;
    }
    const Dims dims = l.dims(term.op);
    if (dims[i] != dims[at]) {
      Refuse("index %s has sizes %d and %d in one operand", Name(term.labels[j]), dims[i], dims[at]);
    }
    const Op same =
        l.b.Compare(lazy::IndexIota(l, dims, i), lazy::IndexIota(l, dims, at), hlo::ComparisonDirection::kEq);
    term.op = l.Reduce(hlo::kAdd, l.b.Select(same, term.op, l.Full(l.type(term.op), dims, 0)), {at});
    term.labels.erase(term.labels.begin() + at);
  }
  return term;
}

// Sums over the labels for which `keep` is false.
template <typename F>
Term Summed(Lowering& l, Term term, F keep) {
  Dims gone;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (keep(term.labels[i])) left.push_back(term.labels[i]);
    else gone.push_back(static_cast<int64_t>(i));
  }
  return {left, l.Reduce(hlo::kAdd, term.op, gone)};
}

// Drops sizes of 1 if another operand has a larger size for the same label.
Term WithoutOnes(Lowering& l, Term term, const std::map<int, int64_t>& sizes) {
  Dims dims;
  Labels left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const int64_t size = l.dims(term.op)[i];
    if (size == 1 && sizes.at(term.labels[i]) != 1) continue;
    dims.push_back(size);
    left.push_back(term.labels[i]);
  }
  term.op = l.Reshape(term.op, dims);
  term.labels = left;
  return term;
}

// Returns the dot of two terms over the labels that both have and that no other term or the result needs. The
// result has the common labels first, then x's own, then y's.
template <typename F>
Term Multiplied(Lowering& l, Term x, Term y, F wanted) {
  x = Summed(l, x, [&](int label) { return Has(y.labels, label) || wanted(label); });
  y = Summed(l, y, [&](int label) { return Has(x.labels, label) || wanted(label); });
  hlo::DotAttributes dot;
  Term result;
  for (const int label : x.labels) {
    if (!Has(y.labels, label)) continue;
    (wanted(label) ? dot.lhs_batch : dot.lhs_contracting).push_back(At(x.labels, label));
    (wanted(label) ? dot.rhs_batch : dot.rhs_contracting).push_back(At(y.labels, label));
    if (wanted(label)) result.labels.push_back(label);
  }
  for (const int label : x.labels) {
    if (!Has(y.labels, label)) result.labels.push_back(label);
  }
  for (const int label : y.labels) {
    if (!Has(x.labels, label)) result.labels.push_back(label);
  }
  result.op = l.b.Dot(x.op, y.op, dot);
  return result;
}

struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};

Equation Parse(std::string_view text, Lowering& l, Operands operands) {
  Equation equation;
  const size_t arrow = text.find("->");
  const std::string_view left = text.substr(0, arrow);
  std::vector<std::string_view> inputs;
  for (size_t start = 0; start <= left.size();) {
    const size_t comma = std::min(left.find(',', start), left.size());
    inputs.push_back(left.substr(start, comma - start));
    start = comma + 1;
  }
  if (inputs.size() != operands.size()) {
    Refuse("equation \"%s\" has %d operands, and %d are given", std::string(text), inputs.size(),
           operands.size());
  }
  int64_t hidden_most = 0;
  std::map<int, int> uses;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto rank = static_cast<int64_t>(l.dims(operands[i]).size());
    const bool dots = inputs[i].find("...") != std::string_view::npos;
    const int64_t hidden = rank - Letters(inputs[i]);
    if (hidden < 0 || (!dots && hidden != 0)) {
      Refuse("operand %d of shape %s does not have the %d dimensions of \"%s\"", i,
             ListText(l.dims(operands[i])), Letters(inputs[i]), std::string(inputs[i]));
    }
    equation.inputs.push_back(Read(inputs[i], text, hidden));
    if (dots) hidden_most = std::max(hidden_most, hidden);
    for (const int label : equation.inputs.back()) ++uses[label];
  }
  if (arrow != std::string_view::npos) {
    equation.output = Read(text.substr(arrow + 2), text, hidden_most);
    for (size_t i = 0; i < equation.output.size(); ++i) {
      const int label = equation.output[i];
      if (!uses.contains(label)) Refuse("index %s of the result is unknown: no operand has it", Name(label));
      if (At(equation.output, label) != static_cast<int64_t>(i))
        Refuse("index %s is twice in the result", Name(label));
    }
    return equation;
  }
  for (int64_t k = hidden_most; k-- > 0;) equation.output.push_back(kEllipsis + static_cast<int>(k));
  for (const auto& [label, count] : uses) {
    if (label < kEllipsis && count == 1) equation.output.push_back(label);
  }
  return equation;
}

// Returns the pair with the smallest product.
template <typename F>
std::pair<size_t, size_t> Cheapest(const std::vector<Term>& terms, const std::map<int, int64_t>& sizes,
                                   F wanted_by_others) {
  std::pair<size_t, size_t> best = {0, 1};
  double least = -1;
  for (size_t i = 0; terms.size() > 2 && i < terms.size(); ++i) {
    for (size_t j = i + 1; j < terms.size(); ++j) {
      double size = 1;
      Labels both = terms[i].labels;
      for (const int label : terms[j].labels) {
        if (!Has(both, label)) both.push_back(label);
      }
      for (const int label : both) {
        if (wanted_by_others(i, j, label)) size *= static_cast<double>(sizes.at(label));
      }
      if (least < 0 || size < least) least = size, best = {i, j};
    }
  }
  return best;
}

// Integers that are added but not multiplied become s64, as by Sum().
void WidenForSum(Lowering& l, Term& term, const Labels& output) {
  const PrimitiveType type = l.type(term.op);
  const bool is_sum = !std::ranges::all_of(term.labels, [&](int label) { return Has(output, label); });
  if (is_sum && !hlo::IsFloat(type) && !hlo::IsComplex(type)) term.op = l.Convert(term.op, hlo::kS64);
}

Op EinsumOps(Lowering& l, Operands operands, std::string_view text) {
  const Equation equation = Parse(text, l, operands);
  std::map<int, int64_t> sizes;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t k = 0; k < equation.inputs[i].size(); ++k) {
      const int label = equation.inputs[i][k];
      const int64_t size = l.dims(operands[i])[k];
      const auto [known, added] = sizes.try_emplace(label, size);
      if (added || known->second == size || size == 1) continue;
      if (known->second != 1) {
        Refuse("index %s has size %d in operand %d and %d before", Name(label), size, i, known->second);
      }
      known->second = size;
    }
  }
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i) {
    terms.push_back(WithoutOnes(l, WithoutRepeats(l, {equation.inputs[i], operands[i]}), sizes));
  }
  const auto wanted = [&](size_t i, size_t j, int label) {
    if (Has(equation.output, label)) return true;
    for (size_t k = 0; k < terms.size(); ++k) {
      if (k != i && k != j && Has(terms[k].labels, label)) return true;
    }
    return false;
  };
  while (terms.size() > 1) {
    auto [i, j] = Cheapest(terms, sizes, wanted);
    const auto kept = [&, i = i, j = j](int label) { return wanted(i, j, label); };
    // The operand whose own labels come first in the result becomes the left one, so that no transpose is
    // needed.
    if (terms.size() == 2) {
      for (const int label : equation.output) {
        const bool in_i = Has(terms[i].labels, label), in_j = Has(terms[j].labels, label);
        if (in_i == in_j) continue;
        if (in_j) std::swap(i, j);
        break;
      }
    }
    Term product = Multiplied(l, terms[i], terms[j], kept);
    terms[std::min(i, j)] = std::move(product);
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  }
  if (operands.size() == 1) WidenForSum(l, terms[0], equation.output);
  Term result = Summed(l, terms[0], [&](int label) { return Has(equation.output, label); });
  Dims order, dims, mapping;
  for (const int label : equation.output) {
    dims.push_back(sizes.at(label));
    // No term has the label any more, because all its sizes were 1.
    if (!Has(result.labels, label)) continue;
    order.push_back(At(result.labels, label));
    mapping.push_back(static_cast<int64_t>(dims.size()) - 1);
  }
  const Op ordered = lazy::Permuted(l, result.op, order);
  return mapping.size() == dims.size() ? ordered : l.b.Broadcast(ordered, dims, mapping);
}

}  // namespace

Tensor Einsum(std::string_view equation, const std::vector<Tensor>& operands, Caller caller) {
  lazy::Explain(lazy::ops::Einsum, {}, caller, [&] {
    if (operands.empty()) Refuse("an equation needs at least one operand");
  });
  return lazy::Call(lazy::ops::Einsum, lazy::OperandsOf(operands, caller),
                    [&](Lowering& l, Operands o) { return EinsumOps(l, o, equation); });
}

}  // namespace hlod
