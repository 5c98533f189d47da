#include "pipeline/graph.h"

#include <algorithm>
#include <cstddef>

namespace swarmkv::internal {
namespace {

std::size_t at(NodeId node) { return static_cast<std::size_t>(node); }

// Tarjan's strongly connected components with an explicit stack: chains may be 100,000 nodes long.
class Components {
 public:
  explicit Components(const std::vector<std::vector<NodeId>>& needs)
      : needs_(needs),
        order_(needs.size(), -1),
        low_(needs.size(), 0),
        component_(needs.size(), -1) {
    for (std::size_t root = 0; root < needs.size(); ++root) {
      if (order_[root] < 0) walk(static_cast<NodeId>(root));
    }
  }

  [[nodiscard]] const std::vector<int>& component() const { return component_; }
  [[nodiscard]] int size() const { return n_components_; }

 private:
  struct Frame {
    NodeId node;
    std::size_t next_need;
  };

  void enter(NodeId node) {
    order_[at(node)] = low_[at(node)] = n_seen_++;
    path_.push_back(node);
    frames_.push_back({node, 0});
  }

  void walk(NodeId root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const NodeId node = frame.node;
      if (frame.next_need < needs_[at(node)].size()) {
        const NodeId need = needs_[at(node)][frame.next_need++];
        if (order_[at(need)] < 0) {
          enter(need);
        } else if (component_[at(need)] < 0) {
          low_[at(node)] = std::min(low_[at(node)], order_[at(need)]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        int& parent = low_[at(frames_.back().node)];
        parent = std::min(parent, low_[at(node)]);
      }
      if (low_[at(node)] == order_[at(node)]) close(node);
    }
  }

  void close(NodeId root) {
    NodeId node = -1;
    do {
      node = path_.back();
      path_.pop_back();
      component_[at(node)] = n_components_;
    } while (node != root);
    ++n_components_;
  }

  const std::vector<std::vector<NodeId>>& needs_;
  std::vector<int> order_, low_, component_;
  std::vector<NodeId> path_;
  std::vector<Frame> frames_;
  int n_seen_ = 0;
  int n_components_ = 0;
};

// A shortest way from `start` back to itself inside its component, by breadth first; `from` is
// scratch, all -1 for the component's nodes.
std::vector<NodeId> shortest_circle(const std::vector<std::vector<NodeId>>& needs,
                                    const std::vector<int>& component, NodeId start,
                                    std::vector<NodeId>& from) {
  std::vector<NodeId> queue{start};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const NodeId node = queue[head];
    for (const NodeId need : needs[at(node)]) {
      if (component[at(need)] != component[at(start)] || need == node) continue;
      if (need == start) {
        std::vector<NodeId> circle;
        for (NodeId back = node; back != start; back = from[at(back)]) circle.push_back(back);
        circle.push_back(start);
        std::reverse(circle.begin(), circle.end());
        return circle;
      }
      if (from[at(need)] >= 0) continue;
      from[at(need)] = node;
      queue.push_back(need);
    }
  }
  return {};
}

}  // namespace

AgentIndex index_agents(const Pipeline& pipeline) {
  AgentIndex index;
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    index.emplace(pipeline.agents[i].name, static_cast<NodeId>(i));
  }
  return index;
}

std::vector<std::vector<NodeId>> need_ids(const Pipeline& pipeline) {
  const AgentIndex index = index_agents(pipeline);
  std::vector<std::vector<NodeId>> result(pipeline.agents.size());
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    for (const std::string& need : pipeline.agents[i].needs) {
      const auto found = index.find(need);
      if (found != index.end()) result[i].push_back(found->second);
    }
  }
  return result;
}

std::vector<std::vector<NodeId>> find_circles(const std::vector<std::vector<NodeId>>& needs) {
  const Components components(needs);
  const std::vector<int>& component = components.component();
  std::vector<int> n_members(static_cast<std::size_t>(components.size()), 0);
  for (const int c : component) ++n_members[static_cast<std::size_t>(c)];

  std::vector<std::vector<NodeId>> circles;
  std::vector<bool> reported(n_members.size(), false);
  std::vector<NodeId> from(needs.size(), -1);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    if (std::find(needs[i].begin(), needs[i].end(), node) != needs[i].end()) {
      circles.push_back({node});
    }
    const auto c = static_cast<std::size_t>(component[i]);
    if (n_members[c] < 2 || reported[c]) continue;
    reported[c] = true;
    circles.push_back(shortest_circle(needs, component, node, from));
  }
  return circles;
}

}  // namespace swarmkv::internal
