// Threefry-2x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) as instructions. The
// tensors' random keys and the expansion of JAX's GPU calls share it.
#pragma once

#include "common/hlo/builder.h"

namespace hlod::hlo {

// Two u32 arrays of equal dimensions: a key, or a block.
struct WordPair {
  Op first, second;
};

// Encrypts blocks in twenty rounds. The key's words are scalars, or have the blocks' dimensions: a key per
// element.
WordPair Threefry(const WordPair& key, const WordPair& block);

}  // namespace hlod::hlo
