#include <string>

#include "pipeline/names.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"
#include "pipeline/scalars.h"

namespace swarmkv::internal {

void read_vars(const ReadContext& context, const Entry& entry, Pipeline& pipeline,
               ReadNotes& notes) {
  if (entry.value.kind != YamlNode::Kind::kMap) {
    wrong_type(context, entry, "a mapping of names to texts", "write vars: { buyer: Acme Ltd }");
    return;
  }
  for (const Entry& item : entries_of(context, entry.value)) {
    const std::string& name = item.key();
    if (name.rfind("x-", 0) == 0) continue;
    notes.top_pos["vars." + name] = context.pos(item.key_node);
    if (!has_name_form(name)) {
      context.error("SK201", "var name '" + name + "' is not allowed", item.key_node,
                    name_form_hint(name));
      continue;
    }
    std::string& text = pipeline.vars[name];
    const ScalarType type = scalar_type(item.value);
    if (type == ScalarType::kText || type == ScalarType::kInt || type == ScalarType::kFloat) {
      text = item.value.text;  // a number is kept as it was written
    } else if (type == ScalarType::kNull) {
      context.error("SK103", "var '" + name + "' has no text", item.key_node,
                    "write one, or give it with --var " + name + "=TEXT");
    } else {
      wrong_type(context, item, "text or a number",
                 type == ScalarType::kBool ? "put it in quotes if it is meant as text" : "");
    }
  }
}

}  // namespace swarmkv::internal
