// Where documents are read. Behind others a document is other tokens to the model than the same one
// in front: each such place is computed, kept and restored for itself.
#include <map>
#include <utility>

#include "api/prepare.h"

namespace swarmkv::internal {

void number_readings(Prepared& prepared) {
  // By what is read in front (-1 = nothing) and the document: which place of all this is, and which
  // of the document's.
  std::map<std::pair<int, std::size_t>, std::pair<int, int>> places;
  prepared.n_readings.assign(prepared.documents.size(), 0);
  for (ReadList& list : prepared.read_lists) {
    int front = -1;
    for (const std::size_t document : list.documents) {
      const auto [place, is_new] = places.emplace(std::pair(front, document), std::pair(0, 0));
      if (is_new) {
        place->second = {static_cast<int>(places.size()), prepared.n_readings[document]++};
      }
      front = place->second.first;
      list.readings.push_back(place->second.second);
    }
  }
}

}  // namespace swarmkv::internal
