// Which beginnings of what agents read may come from a snapshot, or become one.
#pragma once

#include <string>
#include <vector>

#include "api/prepare.h"

namespace swarmkv::internal {

/// The documents that some agents read, in their order, up to the last one whose snapshots are not
/// off.
struct SnapshotTarget {
  std::shared_ptr<const Tokens> tokens;  ///< [0, end of that document)
  std::vector<std::size_t> documents;    ///< those with snapshots, of Prepared::documents
  std::vector<std::size_t> contents;     ///< all documents in it, in the order of reading
  std::vector<int> document_ends;        ///< of `contents`, ascending
  std::size_t list = 0;                  ///< the first of Prepared::read_lists that begins with it
  std::vector<int> cuts;                 ///< fork points inside it, ascending
  bool is_auto = false;                  ///< the store is used for it

  [[nodiscard]] int n_tokens() const { return static_cast<int>(tokens->size()); }
};

/// A file that a document names.
struct NamedSnapshot {
  std::string path;
  std::size_t document = 0;
  std::vector<std::size_t> targets;  ///< in which it is read
};

struct SnapshotPlan {
  std::vector<SnapshotTarget> targets;  ///< different token lists
  std::vector<NamedSnapshot> files;
};

/// What stands in the documents' `snapshot`, else `use`, applied to what agents read.
[[nodiscard]] SnapshotPlan plan_snapshots(const Prepared& prepared, const std::string& use);

/// The documents whose state the first `n` tokens are, by name; of less than one the whole
/// target's.
[[nodiscard]] std::vector<std::string> names_in(const Prepared& prepared,
                                                const SnapshotTarget& target, int n);

/// "rules + contract": what they are called in a file's header, where room is limited.
[[nodiscard]] std::string label_of(const std::vector<std::string>& names);

/// The attention kernel with what else decides a result's bits: its version, as kernels change, and
/// the instruction set it is held to, if it is.
[[nodiscard]] std::string exact_kernel(std::string kernel, const std::string& target);

/// How a state of the first `n` tokens comes about in deterministic mode; the same text, the same
/// bits. `kernel`: exact_kernel(). `grid` 0: the pieces do not matter. Another processor may sum in
/// another order, so it is in it, too.
[[nodiscard]] std::string recipe_of(const SnapshotTarget& target, int n, int grid,
                                    const std::string& kernel);

}  // namespace swarmkv::internal
