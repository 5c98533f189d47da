#include "pipeline/yaml_reader.h"

#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "pipeline/yaml_advice.h"
#include "pipeline/yaml_builder.h"
#include "pipeline/yaml_bytes.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/mark.h"
#include "yaml-cpp/parser.h"

namespace swarmkv::internal {
namespace {

std::size_t to_offset(const YAML::Mark& mark) {
  return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos);
}

// Passes the library's events on. Null values carry the position of the token after them.
class Events final : public YAML::EventHandler {
 public:
  explicit Events(YamlBuilder& builder) : builder_(builder) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    builder_.begin_document(to_offset(mark));
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.add_null(to_offset(mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    builder_.add_alias(to_offset(mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    builder_.add_text(to_offset(mark), tag, anchor, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    builder_.begin_collection(YamlNode::Kind::kSequence, to_offset(mark), tag, anchor);
  }
  void OnSequenceEnd() override { builder_.end_collection(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    builder_.begin_collection(YamlNode::Kind::kMap, to_offset(mark), tag, anchor);
  }
  void OnMapEnd() override { builder_.end_collection(); }

 private:
  YamlBuilder& builder_;
};

void report_syntax(const SourceText& source, std::size_t offset, std::string_view what,
                   DiagnosticList& diagnostics) {
  diagnostics.error(explain_syntax(source, source.pos(offset), what));
}

}  // namespace

std::optional<YamlTree> read_yaml(const SourceText& source, DiagnosticList& diagnostics) {
  const std::string_view text = source.text();
  if (text.size() > kMaxFileBytes) {
    diagnostics.error(
        {"SK004",
         fmt::format("the file has {} bytes, at most {} are allowed", text.size(), kMaxFileBytes),
         SourcePos{source.file_name(), 0, 0}, 1,
         "take long texts from files (file://), or read them as documents"});
    return std::nullopt;
  }
  if (const auto bad = find_bad_byte(text)) {
    diagnostics.error({"SK005", bad->what, source.pos(bad->offset), 1, bad->hint, false});
    return std::nullopt;
  }

  const std::size_t skipped = byte_order_mark_length(text);
  YamlBuilder builder(source, skipped, diagnostics);
  try {
    std::istringstream stream(hide_question_marks(text.substr(skipped)));
    YAML::Parser parser(stream);
    Events events(builder);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const YamlStopped&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    report_syntax(source, to_offset(error.mark) + skipped, unhide_question_marks(error.msg),
                  diagnostics);
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    report_syntax(source, 0, error.what(), diagnostics);
    return std::nullopt;
  }

  YamlTree tree = builder.take();
  if (tree.root < 0) {
    diagnostics.error({"SK001", "the file is empty", SourcePos{source.file_name(), 0, 0}, 1,
                       "a pipeline starts with 'version: 1'"});
    return std::nullopt;
  }
  return tree;
}

}  // namespace swarmkv::internal
