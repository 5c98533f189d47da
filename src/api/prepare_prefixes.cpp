// Which documents an agent has before its prompt, and up to where it waits for them.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "api/prepare.h"

namespace swarmkv::internal {
namespace {

const SourcePos& ready_after_position(const AgentSpec& agent) {
  const auto key = agent.key_pos.find("ready_after");
  return key != agent.key_pos.end() ? key->second : agent.pos;
}

Diagnostic warning(const AgentSpec& agent, std::string message) {
  Diagnostic found;
  found.severity = Diagnostic::Severity::kWarning;
  found.code = "SK606";
  found.message = std::move(message);
  found.pos = ready_after_position(agent);
  return found;
}

std::vector<std::size_t> documents_of(const Prepared& prepared, const AgentSpec& agent) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < prepared.documents.size(); ++i) {
    if (!agent.reads) found.push_back(i);
  }
  for (const std::string& name : agent.reads.value_or(std::vector<std::string>{})) {
    const auto it = std::find_if(prepared.documents.begin(), prepared.documents.end(),
                                 [&](const LoadedDocument& d) { return d.name == name; });
    found.push_back(static_cast<std::size_t>(it - prepared.documents.begin()));
  }
  return found;
}

std::span<const Token> tokens_of(const ReadList& list, std::size_t i) {
  const auto begin = static_cast<std::size_t>(list.prefix.document_begins[i]);
  const auto end = static_cast<std::size_t>(list.prefix.document_ends[i]);
  return std::span<const Token>(*list.prefix.tokens).subspan(begin, end - begin);
}

// Document tokens alone: what stands in front of and between documents does not count.
int n_document_tokens(const ReadList& list) {
  int n = 0;
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    n += static_cast<int>(tokens_of(list, i).size());
  }
  return n;
}

int n_before_text(const Prepared& prepared, const ReadList& list, const AgentSpec& agent) {
  int n = 0;
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    const std::string& text = prepared.documents[list.documents[i]].text;
    const std::size_t at = text.find(agent.ready_after.text);
    if (at != std::string::npos) {
      return n + prepared.prompts->n_tokens_before(tokens_of(list, i), text, at);
    }
    n += static_cast<int>(tokens_of(list, i).size());
  }
  const std::string place = to_string(ready_after_position(agent));
  throw Error(ErrorCode::kInvalidArgument,
              "[plan] " + (place.empty() ? "" : place + ": ") + "agent '" + agent.name +
                  "' starts before '" + agent.ready_after.text +
                  "', which stands in none of its documents [SK402]\n"
                  "   help: it has to stand there letter for letter, line breaks included");
}

/// Document tokens before a text, by list and text: many agents may name one, it is looked for
/// once.
using TextPlaces = std::map<std::pair<std::size_t, std::string>, int>;

// The number of document tokens the agent waits for; all of them if that is what it comes to.
int n_waited_for(Prepared& prepared, std::size_t reads, const AgentSpec& agent,
                 TextPlaces& places) {
  const ReadList& list = prepared.read_lists[reads];
  const int n_all = n_document_tokens(list);
  switch (agent.ready_after.kind) {
    case ReadyAfter::Kind::kEnd:
      return n_all;
    case ReadyAfter::Kind::kPercent:
      return static_cast<int>(std::floor(n_all * agent.ready_after.value / 100));
    case ReadyAfter::Kind::kBefore: {
      const auto [place, is_new] = places.emplace(std::pair(reads, agent.ready_after.text), 0);
      if (is_new) place->second = n_before_text(prepared, list, agent);
      if (place->second == 0) {
        prepared.warnings.push_back(
            warning(agent, "'" + agent.name + "' reads nothing: its documents begin with '" +
                               agent.ready_after.text + "'"));
      }
      return place->second;
    }
    case ReadyAfter::Kind::kTokens:
      break;
  }
  if (agent.ready_after.value > n_all) {
    prepared.warnings.push_back(warning(
        agent, "'" + agent.name + "' waits for " +
                   std::to_string(static_cast<std::int64_t>(agent.ready_after.value)) +
                   " document tokens, there are " + std::to_string(n_all) + ": it waits for all"));
    return n_all;
  }
  return static_cast<int>(agent.ready_after.value);
}

// Where in the prefix the first `n` document tokens end.
int position_after(const ReadList& list, int n) {
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    const int size = static_cast<int>(tokens_of(list, i).size());
    if (n <= size) return list.prefix.document_begins[i] + n;
    n -= size;
  }
  return list.n_tokens();
}

// A point inside of a document is the same in every list that reads the same documents up to it,
// whoever declared it: a cut of the computation has to be known to whoever computes it first.
void share_fork_points(std::vector<ReadList>& lists) {
  std::map<std::vector<std::size_t>, std::set<int>> points;  // by the documents read up to them
  for (const ReadList& list : lists) {
    for (const int point : list.fork_points) {
      std::size_t n = 0;
      while (n < list.documents.size() && (n == 0 || point > list.end(n - 1))) ++n;
      points[{list.documents.begin(), list.documents.begin() + static_cast<std::ptrdiff_t>(n)}]
          .insert(point);
    }
  }
  for (ReadList& list : lists) {
    std::set<int> along;
    for (std::size_t n = 0; n <= list.documents.size(); ++n) {
      const auto found = points.find(
          {list.documents.begin(), list.documents.begin() + static_cast<std::ptrdiff_t>(n)});
      if (found != points.end()) along.insert(found->second.begin(), found->second.end());
    }
    along.erase(0);  // nothing stands before it
    list.fork_points.assign(along.begin(), along.end());
  }
}

void cut_prefix(PreparedAgent& agent, const ReadList& list, int at) {
  agent.prefix = list.prefix.tokens;
  if (at < list.n_tokens()) {
    agent.prefix = std::make_shared<const Tokens>(list.prefix.tokens->begin(),
                                                  list.prefix.tokens->begin() + at);
  }
  for (const int point : list.fork_points) {
    if (point <= at) agent.fork_points.push_back(point);
  }
}

}  // namespace

void prepare_prefixes(Prepared& prepared) {
  std::map<std::vector<std::size_t>, std::size_t> known;
  std::vector<int> cuts(prepared.agents.size(), 0);
  TextPlaces places;
  const auto has_own_prefix = [&](std::size_t i) {
    return !prepared.pipeline.agents[i].function && prepared.agents[i].continues < 0;
  };
  for (std::size_t i = 0; i < prepared.agents.size(); ++i) {
    if (!has_own_prefix(i)) continue;
    const AgentSpec& spec = prepared.pipeline.agents[i];
    PreparedAgent& agent = prepared.agents[i];
    const std::vector<std::size_t> documents = documents_of(prepared, spec);
    const auto [entry, is_new] = known.emplace(documents, prepared.read_lists.size());
    if (is_new) {
      std::vector<DocumentText> texts;
      texts.reserve(documents.size());
      for (const std::size_t d : documents) {
        texts.push_back({prepared.documents[d].name, prepared.documents[d].text});
      }
      ReadList list{documents, prepared.prompts->prefix(texts), {}, {}};
      list.fork_points = list.prefix.document_ends;
      prepared.read_lists.push_back(std::move(list));
    }
    agent.reads = entry->second;
    ReadList& list = prepared.read_lists[agent.reads];
    const int n = n_waited_for(prepared, agent.reads, spec, places);
    const bool is_early = !list.documents.empty() && n < n_document_tokens(list);
    if (is_early) agent.ready_after = n;
    cuts[i] = is_early ? position_after(list, n) : list.n_tokens();
    if (list.fork_points.empty() || list.fork_points.back() != cuts[i]) {
      list.fork_points.push_back(cuts[i]);
    }
  }
  share_fork_points(prepared.read_lists);

  // Many agents may start at one point: they share its tokens, too.
  std::map<std::pair<std::size_t, int>, std::size_t> first_at;
  for (std::size_t i = 0; i < prepared.agents.size(); ++i) {
    if (!has_own_prefix(i)) continue;
    PreparedAgent& agent = prepared.agents[i];
    const auto [first, is_new] = first_at.emplace(std::pair(agent.reads, cuts[i]), i);
    if (is_new) {
      cut_prefix(agent, prepared.read_lists[agent.reads], cuts[i]);
    } else {
      agent.prefix = prepared.agents[first->second].prefix;
      agent.fork_points = prepared.agents[first->second].fork_points;
    }
  }
}

}  // namespace swarmkv::internal
