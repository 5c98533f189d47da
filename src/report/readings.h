// The places in which a document is read, as the texts and pictures of a report show them.
#pragma once

#include <string>
#include <vector>

#include "swarmkv/report.h"

namespace swarmkv::internal {

/// At least one: of a document that nobody reads, or of which only the sums are known, these.
inline std::vector<DocumentReading> shown_readings(const DocumentReport& d) {
  if (!d.readings.empty()) return d.readings;
  DocumentReading all;
  all.n_tokens = d.n_tokens;
  all.source = d.source;
  all.computed_tokens = d.computed_tokens;
  all.restored_tokens = d.restored_tokens;
  all.prefill_ms = d.prefill_ms;
  all.prefill_tokens_per_s = d.prefill_tokens_per_s;
  all.ready_ms = d.ready_ms;
  all.snapshot = d.snapshot;
  return {all};
}

/// "rules", or, where it is read in several places, "rules after other".
inline std::string reading_name(const DocumentReport& d, const DocumentReading& reading) {
  const bool is_one_of_several = d.readings.size() > 1 && !reading.after.empty();
  return is_one_of_several ? d.name + " after " + reading.after : d.name;
}

}  // namespace swarmkv::internal
